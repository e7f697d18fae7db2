// See base_version.h.
#include "tuner/cli/base_version.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tuner/base/input_file.h"
#include "tuner/base/protocol.h"
#include "tuner/base/run_program.h"
#include "tuner/base/text.h"
#include "tuner/cli/options.h"
#include "tuner/cli/session.h"

enum { REVISION_DEADLINE = 120 }; // s

// Runs a script with three arguments. Returns its output without newlines at the end, malloc'ed. NULL if the script
// failed; the error is then the script's output or another message.
static char *run_script(const char *script, const char *first, const char *second, const char *third, struct error *err)
{
    char *const argv[] = {"/bin/sh",
                          "-c",
                          (char *)(uintptr_t)script,
                          "sh",
                          (char *)(uintptr_t)first,
                          (char *)(uintptr_t)second,
                          (char *)(uintptr_t)third,
                          NULL};
    const struct program_run program = {.argv = argv, .deadline = REVISION_DEADLINE};
    struct program_end end;
    if (run_program(&program, &end, err)) return NULL;
    size_t length = strlen(end.output);
    while (length && end.output[length - 1] == '\n') end.output[--length] = '\0';
    if (!end.late && WIFEXITED(end.status) && !WEXITSTATUS(end.status)) return end.output;
    error_set(err, "%s", end.late ? "it takes too long" : *end.output ? end.output : "git failed");
    free(end.output);
    return NULL;
}

// Finds the top of the repository that contains the job file, and the file's path below it. False if there is none.
static bool find_repository(const struct job *job, char **top, char **below, struct error *err)
{
    autofree char *path = realpath(job->path, NULL);
    if (!path) return error_set(err, "cannot find %s", job->path), false;
    autofree char *folder = text_format("%.*s", (int)(strrchr(path, '/') - path), path);
    *top = run_script("git -C \"$1\" rev-parse --show-toplevel", folder, "", "", err);
    if (*top) *below = text_copy(path + strlen(*top) + 1);
    return *top != NULL;
}

static int check_out(struct base_version *base, const struct job *job, const char *revision)
{
    static const char script[] =
        "tree=$(git -C \"$1\" rev-parse --verify --quiet --end-of-options \"$2^{tree}\") || { echo 'there is no such "
        "file, folder or revision'; exit 1; }\ngit -C \"$1\" archive --format=tar \"$tree\" | tar -xf - -C \"$3\"";
    struct error err;
    autofree char *top = NULL, *below = NULL, *said = NULL;
    if (!find_repository(job, &top, &below, &err))
        return complain(EXIT_USAGE, "--base %s: it is not a file or folder, and %s is not in a repository: %s",
                        revision, job->path, err.message);
    if (work_folder_make("base", base->folder, &err)) return session_complain(EXIT_ENVIRONMENT, &err);
    said = run_script(script, top, revision, base->folder, &err);
    if (!said) return complain(EXIT_USAGE, "--base %s: %s", revision, err.message);
    base->job_path = text_format("%s/%s", base->folder, below);
    return 0;
}

static int look_into(struct base_version *base, const struct job *job, const char *folder)
{
    struct error err;
    autofree char *top = NULL, *below = NULL;
    const char *slash = strrchr(job->path, '/'), *name = slash ? slash + 1 : job->path;
    struct stat at;
    if (find_repository(job, &top, &below, &err)) base->job_path = text_format("%s/%s", folder, below);
    if (base->job_path && !stat(base->job_path, &at)) return 0;
    free(base->job_path);
    base->job_path = text_format("%s/%s", folder, name);
    if (!stat(base->job_path, &at)) return 0;
    return complain(EXIT_USAGE, "--base %s: it has no %s", folder, below ? below : name);
}

// Reads the line `#define NAME_CONFIGURATION "BLOCK=128,..."`.
static int read_header(struct base_version *base, const char *path)
{
    static const char word[] = "_CONFIGURATION \"";
    struct error err;
    autofree char *text = input_file_read(path, INPUT_FILE_TEXT_MOST, NULL, &err);
    if (!text) return session_complain(EXIT_USAGE, &err);
    const char *at = strstr(text, word);
    if (!at) return complain(EXIT_USAGE, "--base %s: it is not a header that sweetspot wrote", path);
    at += sizeof word - 1;
    base->config = text_format("%.*s", (int)strcspn(at, "\"\n"), at);
    return 0;
}

int base_version_find(struct base_version *base, const struct job *job, const char *text)
{
    struct stat at;
    *base = (struct base_version){0};
    if (stat(text, &at)) return check_out(base, job, text);
    return S_ISDIR(at.st_mode) ? look_into(base, job, text) : read_header(base, text);
}

void base_version_release(struct base_version *base)
{
    free(base->job_path);
    free(base->config);
    if (*base->folder) work_folder_remove(base->folder);
    *base = (struct base_version){0};
}
