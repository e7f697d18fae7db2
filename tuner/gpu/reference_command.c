// A reference that is a user's command. It gets a new folder as its last argument:
//
//     job.json      the problem's name, the seed, sizes and scalars, inputs and outputs with file, type and shape
//     in/x.npy      each input, and each inout buffer as it is before a launch; bf16 as f4
//     out/y.npy     to be written: each output, in any type of numbers
//
// It runs in the job file's folder. Its results are kept in the compile cache's folder, under a hash of the command and
// its input.
#include "tuner/gpu/reference_library.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/npy.h"
#include "kernels/parallel.h"
#include "tuner/base/input_file.h"
#include "tuner/base/run_program.h"
#include "tuner/gpu/reference_cache.h"

enum { LAST_WORDS = 600 };

struct command_run {
    struct workload *w;
    struct device_problem *p;
    const char *text, *folder; // as in the request
    char *work;                // the folder that the command gets
    void *values[BUFFERS_MAX]; // of outputs: dense doubles or int64_t
    size_t bytes[BUFFERS_MAX];
    char inputs[BUFFERS_MAX][HASH_TEXT_SIZE]; // of inputs: hash of the file that we wrote
};

static const char *path_in(const struct command_run *c, const char *folder, const char *name, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s/%s.npy", c->work, folder, name);
    return path;
}

// ---- the command's input -------------------------------------------------------------------------------------------

static json_t *describe_buffer(const struct device_buffer *b, const char *folder)
{
    json_t *shape = b->view.rows > 1 ? json_pack("[I, I]", (json_int_t)b->view.rows, (json_int_t)b->view.cols)
                                     : json_pack("[I]", (json_int_t)b->view.cols);
    return json_pack("{s:s, s:o, s:s, s:o}", "name", b->name, "file", json_sprintf("%s/%s.npy", folder, b->name),
                     "type", element_name(b->view.type), "shape", shape);
}

static json_t *describe(const struct command_run *c)
{
    json_t *inputs = json_array(), *outputs = json_array();
    for (size_t i = 0; i < c->p->buffers.count; i++) {
        const struct device_buffer *b = &c->p->buffers.list[i];
        if (buffer_is_input(b)) json_array_append_new(inputs, describe_buffer(b, "in"));
        if (buffer_is_output(b)) json_array_append_new(outputs, describe_buffer(b, "out"));
    }
    json_t *about = json_pack("{s:s, s:o}", "problem", c->p->name, "seed",
                              json_sprintf("%llu", (unsigned long long)c->p->filled->seed));
    record_write_into(&problem_values_record, c->p->request, about);
    json_object_set_new(about, "inputs", inputs);
    json_object_set_new(about, "outputs", outputs);
    return about;
}

static int write_description(const struct command_run *c, const char *text, struct error *err)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/job.json", c->work);
    FILE *file = fopen(path, "we");
    bool good = file && fputs(text, file) >= 0;
    if (file && fclose(file)) good = false;
    return good ? 0 : error_set(err, "cannot write '%s': %s", path, strerror(errno));
}

static int hash_file(const char *path, char hash[HASH_TEXT_SIZE], struct error *err)
{
    autorelease(npy_release) struct npy npy;
    size_t size = 0;
    int failed = npy_read_bytes(&npy, path, &size, err);
    if (!failed) hash_content(npy.memory, size, hash);
    return failed;
}

static int write_npy(const struct device_buffer *b, const char *path, const void *data, struct error *err)
{
    return npy_write(path, b->view.type, b->view.rows, b->view.cols, b->view.ld, data, err);
}

static int write_inputs(struct command_run *c, struct error *err)
{
    int failed = 0;
    for (size_t i = 0; i < c->p->buffers.count && !failed; i++) {
        const struct device_buffer *b = &c->p->buffers.list[i];
        char path[PATH_MAX];
        autofree void *data = NULL;
        if (!buffer_is_input(b)) continue;
        failed = buffer_download(c->w->cuda, b, &data, err);
        if (!failed) failed = write_npy(b, path_in(c, "in", b->name, path), data, err);
        if (!failed) failed = hash_file(path, c->inputs[i], err);
    }
    return failed;
}

// ---- running the command -------------------------------------------------------------------------------------------

// The end of the command's output, in whole lines.
static const char *last_lines(char *output)
{
    size_t length = strlen(output);
    while (length && output[length - 1] == '\n') output[--length] = 0;
    const char *from = length > LAST_WORDS ? strchr(output + length - LAST_WORDS, '\n') : NULL;
    return from ? from + 1 : length > LAST_WORDS ? output + length - LAST_WORDS : output;
}

// The signal that ended the shell or the program that it ran; 0: none.
static int signal_of(int status)
{
    if (WIFSIGNALED(status)) return WTERMSIG(status);
    return WEXITSTATUS(status) > 128 && WEXITSTATUS(status) < 128 + SIGRTMAX ? WEXITSTATUS(status) - 128 : 0;
}

// *said: the command's output, which the caller frees.
static int run(const struct command_run *c, char **said, struct error *err)
{
    double timeout = c->w->reference.timeout;
    char shell[] = "/bin/sh", option[] = "-c", *line = memory_try(strlen(c->text) + 8, 1, err);
    struct program_end end = {0};
    if (!line) return -1;
    sprintf(line, "%s \"$1\"", c->text);
    char *argv[] = {shell, option, line, shell, c->work, NULL};
    const struct program_run child = {.argv = argv, .folder = c->folder, .deadline = timeout, .watch = parallel_tell};
    int failed = run_program(&child, &end, err);
    const char *last = failed ? "" : last_lines(end.output), *colon = *last ? ":\n" : "";
    if (!failed && end.late)
        failed = error_set(err, "the reference command '%s' did not end within %g s (reference.timeout)%s%s", c->text,
                           timeout, colon, last);
    else if (!failed && signal_of(end.status))
        failed = error_set(err, "the reference command '%s' was ended by a signal (%s)%s%s", c->text,
                           strsignal(signal_of(end.status)), colon, last);
    else if (!failed && WEXITSTATUS(end.status))
        failed = error_set(err, "the reference command '%s' failed with status %d%s%s", c->text,
                           WEXITSTATUS(end.status), colon, last);
    free(line);
    *said = end.output;
    return failed;
}

static int check_inputs(const struct command_run *c, struct error *err)
{
    int failed = 0;
    for (size_t i = 0; i < c->p->buffers.count && !failed; i++) {
        const struct device_buffer *b = &c->p->buffers.list[i];
        char path[PATH_MAX], hash[HASH_TEXT_SIZE];
        if (!buffer_is_input(b)) continue;
        if (hash_file(path_in(c, "in", b->name, path), hash, err) || strcmp(hash, c->inputs[i]) != 0)
            failed = error_set(err, "the reference command '%s' changed its input in/%s.npy", c->text, b->name);
    }
    return failed;
}

// ---- the command's output ------------------------------------------------------------------------------------------

static int check_shape(const struct npy *npy, const struct device_buffer *b, struct error *err)
{
    char shape[128] = "";
    for (size_t i = 0, at = 0; i < npy->dimensions && at < sizeof shape; i++)
        at += (size_t)snprintf(shape + at, sizeof shape - at, "%s%zu", i ? " x " : "", npy->shape[i]);
    bool same = npy->count == buffer_elements(b) &&
                (npy->dimensions < 2 || b->view.rows == 1 || npy->shape[npy->dimensions - 1] == (size_t)b->view.cols);
    return same ? 0
                : error_set(err, "out/%s.npy has the shape %s, but %s has %lld x %lld", b->name, shape, b->name,
                            (long long)b->view.rows, (long long)b->view.cols);
}

// NaN can be correct only if the inputs contain NaN.
static bool may_be_nan(const struct device_problem *p)
{
    for (size_t i = 0; i < p->buffers.count; i++)
        if (buffer_is_input(&p->buffers.list[i]) && p->buffers.list[i].fill == FILL_NONFINITE) return true;
    return false;
}

static int read_output(const struct command_run *c, size_t i, struct error *err)
{
    const struct device_buffer *b = &c->p->buffers.list[i];
    bool floats = element_is_float(b->view.type), nan = may_be_nan(c->p);
    char path[PATH_MAX];
    autorelease(npy_release) struct npy npy;
    int failed = npy_read(&npy, path_in(c, "out", b->name, path), err);
    if (failed && access(path, F_OK)) error_set(err, "there is no out/%s.npy", b->name);
    if (!failed) failed = check_shape(&npy, b, err);
    if (!failed) failed = npy_check(&npy, path, b->view.type, err);
    for (size_t j = 0; j < npy.count && !failed; j++) {
        if (floats)
            ((double *)c->values[i])[j] = npy_number(&npy, j);
        else
            ((int64_t *)c->values[i])[j] = npy_integer(&npy, j);
        if (floats && !nan && isnan(((double *)c->values[i])[j]))
            failed = error_set(err, "out/%s.npy: element %zu is NaN", b->name, j);
    }
    return failed;
}

// "the reference command 'x' has ended, but ..", with the end of its output.
static int blame(const struct command_run *c, char *said, struct error *err)
{
    const char *last = last_lines(said);
    struct error whole;
    error_set(&whole, "the reference command '%s' has ended, but %s%s%s", c->text, err->message,
              *last ? "; it said:\n" : "; it printed nothing", last);
    *err = whole;
    return -1;
}

static int make_folder(struct command_run *c, char *path, struct error *err)
{
    static const char *const inside[] = {"in", "out"};
    if (work_folder_make("reference", path, err)) return -1;
    c->work = path;
    for (int i = 0; i < 2; i++) {
        char folder[PATH_MAX];
        if (snprintf(folder, sizeof folder, "%s/%s", path, inside[i]) >= PATH_MAX || mkdir(folder, 0700))
            return error_set(err, "cannot create a folder in '%s': %s", path, strerror(errno));
    }
    return 0;
}

static int compute(struct command_run *c, const char *description, struct error *err)
{
    char path[PATH_MAX];
    autofree char *said = NULL;
    int failed = make_folder(c, path, err);
    if (!failed) failed = write_description(c, description, err);
    if (!failed) failed = write_inputs(c, err);
    if (!failed) failed = run(c, &said, err);
    if (!failed) failed = check_inputs(c, err);
    for (size_t i = 0; i < c->p->buffers.count && !failed; i++)
        if (c->values[i] && read_output(c, i, err)) failed = blame(c, said, err);
    if (c->work) work_folder_remove(c->work);
    return failed;
}

// The file that keeps the values. Its name depends on the command, the files that the command names, and all of its
// input.
static int cache_path(struct command_run *c, const char *description, char path[PATH_MAX], struct error *err)
{
    const char *cache = c->w->reference.cache;
    char digest[HASH_TEXT_SIZE];
    int failed = 0;
    command_files_hash(c->text, c->folder, digest);
    struct hash *h = hash_new();
    hash_text(h, digest);
    hash_text(h, description);
    for (size_t i = 0; i < c->p->buffers.count && !failed; i++) {
        const struct device_buffer *b = &c->p->buffers.list[i];
        autofree void *data = NULL;
        if (!buffer_is_input(b)) continue;
        failed = buffer_download(c->w->cuda, b, &data, err);
        if (!failed) hash_bytes(h, data, b->bytes);
    }
    hash_finish(h, digest);
    *path = 0;
    if (*cache && snprintf(path, PATH_MAX, "%s/command-%s", cache, digest) >= PATH_MAX) *path = 0;
    return failed;
}

int reference_command_compute(struct workload *w, size_t problem, struct error *err)
{
    struct device_problem *p = &w->problems[problem];
    autofree struct command_run *c = memory_try(1, sizeof *c, err);
    char path[PATH_MAX];
    const unsigned first = 0;
    if (!c) return -1;
    c->w = w;
    c->p = p;
    c->text = w->reference.command;
    c->folder = *w->reference.folder ? w->reference.folder : ".";
    autojson json_t *about = describe(c);
    autofree char *description = json_dumps(about, JSON_INDENT(2));
    int failed = buffers_restore(&p->buffers, &first, 1, CONTENT_ZEROS, err);
    for (size_t i = 0; i < p->buffers.count && !failed; i++) {
        const struct device_buffer *b = &p->buffers.list[i];
        if (strchr(b->name, '/')) failed = error_set(err, "a reference command needs names of files: '%s'", b->name);
        if (!buffer_is_output(b)) continue;
        c->bytes[i] = buffer_elements(b) * 8;
        if (!(c->values[i] = memory_try(c->bytes[i], 1, err))) failed = -1;
    }
    if (!failed) failed = cache_path(c, description, path, err);
    if (!failed && !(*path && reference_cache_read_arrays(path, c->values, c->bytes, p->buffers.count))) {
        failed = compute(c, description, err);
        if (!failed && *path) reference_cache_write_arrays(path, c->values, c->bytes, p->buffers.count);
    }
    for (size_t i = 0; i < p->buffers.count; i++) {
        if (c->values[i] && !failed)
            failed = cuda_store(w->cuda, p->filled->bound[i].expected, c->values[i], c->bytes[i], err);
        free(c->values[i]);
    }
    return failed;
}
