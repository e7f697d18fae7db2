// Runs the real programs from a test, and returns their exit status, stdout and stderr. Each test has its own folder
// under out/. Folders, outputs and strings are released after the test (testing.h).
#pragma once

#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/testing.h"
#include "tuner/base/json.h"

struct e2e_result {
    int status; // exit status, or 128 + signal
    char *out, *err;
};

// The folder of this test's executable. The programs are there too.
static inline const char *e2e_bin(void)
{
    static char path[4096];
    if (!*path) {
        ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
        assert_true(n > 0);
        path[n] = 0;
        *strrchr(path, '/') = 0;
    }
    return path;
}

static inline void e2e_remove(void *folder)
{
    autofree char *command = text_format("rm -rf '%s'", (char *)folder);
    if (!testing.failed && system(command)) abort();
    free(folder);
}

// A new empty folder, "out/test/<name>.<pid>", which is removed after the test unless the test failed.
static inline char *e2e_folder(const char *name)
{
    char *folder = text_format("out/test/%s.%ld", name, (long)getpid()),
         *command = text_format("rm -rf '%s' && mkdir -p '%s/out'", folder, folder); // so that results stay in it
    assert_int_equal(system(command), 0);
    free(command);
    testing_later(e2e_remove, folder);
    return folder;
}

// Runs a shell command line and captures its output in files of the folder. $DIR is this folder, and $BIN is the folder
// of the programs.
static inline struct e2e_result e2e_run(const char *folder, const char *format, ...)
{
    va_list args;
    char *line = NULL, *out = text_format("%s/stdout", folder), *err = text_format("%s/stderr", folder);
    va_start(args, format);
    assert_true(vasprintf(&line, format, args) >= 0);
    va_end(args);
    autofree char *command =
        text_format("export BIN='%s' DIR='%s'; { %s\n} >'%s' 2>'%s' </dev/null", e2e_bin(), folder, line, out, err);
    int status = system(command);
    struct e2e_result result = {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                                text_read_file(out, NULL), text_read_file(err, NULL)};
    free(line);
    free(out);
    free(err);
    assert_non_null(result.out);
    assert_non_null(result.err);
    testing_later(free, result.out);
    testing_later(free, result.err);
    return result;
}

// Like e2e_run, but runs inside the folder: e2e_in(folder, "ls %s", name).
#define e2e_in(folder, ...) e2e_run(folder, "cd $DIR && " __VA_ARGS__)

// Fails unless the command has ended with this status.
static inline struct e2e_result e2e_ended(int status, struct e2e_result r)
{
    if (r.status != status) fail_msg("status %d instead of %d: %s%s", r.status, status, r.out, r.err);
    return r;
}

// Fails unless the command has succeeded.
static inline struct e2e_result e2e_passed(struct e2e_result r)
{
    return e2e_ended(0, r);
}
#define e2e_pass(...) e2e_passed(e2e_run(__VA_ARGS__))

static inline void e2e_write(const char *folder, const char *name, const char *text)
{
    autofree char *path = text_format("%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

// Takes ownership of the reference.
static inline void e2e_write_json(const char *folder, const char *name, json_t *value)
{
    autofree char *text = json_dumps(value, JSON_COMPACT);
    assert_non_null(text);
    e2e_write(folder, name, text);
    json_decref(value);
}
