// For tests of headers that embed a binary: the finished job with different stages, its binary, and programs that
// include its header.
#pragma once

#include "tests/finished_job.h"
#include "tuner/cli/commands.h"
#include "tuner/store/binary.h"

#ifndef TEST_CUDA_HOME
#define TEST_CUDA_HOME "/usr/local/cuda"
#endif
#define STRICT \
    " -pedantic -Wall -Wextra -Wshadow -Wconversion -Wundef -Wcast-qual -Werror -isystem " TEST_CUDA_HOME "/include "

// The text of the job with these stages instead of its only launch, and with another reference. malloc'ed.
static inline char *finished_stages(const char *stages, const char *reference)
{
    autofree char *text = text_replaced(finished_job_text, "entry = \"mini\"; ", "");
    const char *rest = strstr(text, "work = ");
    *strstr(text, "launch = ") = 0;
    return text_format("%s%sreference = { %s };\n%s", text, stages, reference, rest);
}

// Stores the binary of trial 1, as a final does. `symbols`: {"entry":"symbol"}.
static inline void finished_binary(const struct finished *f, const void *bytes, size_t size, const char *symbols)
{
    struct error err = {""};
    struct store *store;
    struct environment environment;
    char hash[HASH_TEXT_SIZE];
    if (store_open(&store, f->store, false, &err) || store_last_environment(store, &environment, &err) ||
        store_put_blob(store, bytes, size, hash, &err) || store_set_trial_blob(store, 1, BINARY_BLOB, hash, &err))
        fail_msg("%s", err.message);
    char *document = test_text("{\"hash\":\"%s\",\"bytes\":%zu,\"symbols\":%s}", hash, size, symbols);
    assert_int_equal(put_text(store, 1, BINARY_DOCUMENT, document, &err), 0);
    store_close(store);
}

// Writes the header, including the binary.
static inline void finished_embed(const struct finished *f)
{
    finished_says(f, 0, "header JOB --store STORE -o HEADER --embed");
}

// Builds a program in the header's folder and runs it; `run` is put before its path in the command line. Any output of
// the compiler or linker is a failure. Returns the program's exit status, or -1 if there is no compiler.
static inline int finished_program(const struct finished *f, const char *compiler, const char *source,
                                   const char *libraries, const char *run)
{
    int status = system(test_text("command -v %.*s >/dev/null 2>&1", (int)strcspn(compiler, " "), compiler));
    if (status) return -1;
    char *command = test_text("%s -I%s -Itests/launch %s -o %s/program %s >%s/messages 2>&1", compiler, f->folder,
                              source, f->folder, libraries, f->folder);
    status = system(command);
    char *path = test_text("%s/messages", f->folder), *messages = test_owned(text_read_file(path, NULL));
    if (status || *messages) fail_msg("%s\n%s", command, messages);
    command = test_text("%s%s/program", run, f->folder);
    status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}
