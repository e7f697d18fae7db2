// See library_build.h.
#include "tuner/compiler/library_build.h"

#include <sys/wait.h>

#include "tuner/base/elf_file.h"
#include "tuner/base/hash.h"
#include "tuner/base/input_file.h"
#include "tuner/base/installation.h"
#include "tuner/base/nvcc_recipe.h"
#include "tuner/base/run_program.h"
#include "tuner/compiler/compile_job.h"
#include "tuner/compiler/nvcc.h"
#include "tuner/source/cache.h"

static const double version_deadline = 20; // s

struct library_source {
    struct compile_job job;
    char *program;
    char version[256];        // version of the compiler
    struct text_list options; // all but output and source
};

// Reads the first line of a compiler's --version.
static int ask_version(struct library_source *b, struct error *err)
{
    char option[] = "--version", *argv[] = {b->program, option, NULL};
    struct program_end end = {0};
    if (run_program(&(struct program_run){.argv = argv, .deadline = version_deadline}, &end, err)) return -1;
    size_t length = strcspn(end.output, "\n");
    if (length >= sizeof b->version) length = sizeof b->version - 1;
    memcpy(b->version, end.output, length);
    b->version[length] = 0;
    free(end.output);
    return *b->version ? 0 : error_set(err, "'%s --version' prints nothing", b->program);
}

static void add(struct library_source *b, const char *option)
{
    text_list_add(&b->options, text_copy(option));
}

// After the user's folders, adds the folder of the headers for users' functions, so that these headers are found by
// name.
static void add_headers(struct library_source *b)
{
    autofree char *folder = installation_headers();
    if (folder) text_list_add(&b->options, text_format("-I%s", folder));
}

static int choose_compiler(struct library_source *b, const struct compile_request *request, const char *home,
                           struct error *err)
{
    const char *source = request->program.source, *name = text_before(source, ".c") ? "cc" : "c++";
    if (text_before(source, ".cu")) {
        autorelease(nvcc_release) struct nvcc nvcc = {0};
        if (nvcc_find(&nvcc, home, err)) return -1;
        b->program = text_copy(nvcc.program);
        b->options = nvcc_options(request->arch, request->options, request->option_count);
        memcpy(b->version, nvcc.version, sizeof nvcc.version);
        add(b, "-shared");
        add(b, "-Xcompiler=-fPIC");
        add(b, "-O3");
        add_headers(b);
        return 0;
    }
    b->program = program_on_path(name);
    if (!b->program) return error_set(err, "there is no compiler '%s' on the PATH", name);
    add(b, "-shared");
    add(b, "-fPIC");
    add(b, "-O2");
    for (size_t i = 0; i < request->option_count; i++) add(b, request->options[i]);
    add_headers(b);
    return ask_version(b, err);
}

static void make_key(const struct library_source *b, const struct compile_request *request, char key[HASH_TEXT_SIZE])
{
    struct hash *h = hash_new();
    hash_text(h, "shared library");
    hash_text(h, request->program.source); // the extension selects the language, and the source may use __FILE__
    hash_text(h, b->job.source.hash);
    hash_text(h, b->version);
    for (size_t i = 0; i < b->options.count; i++) hash_text(h, b->options.list[i]);
    hash_finish(h, key);
}

// Checks that the library has the functions that the job calls.
static json_t *check_functions(const struct compile_request *request, const char *path)
{
    autorelease(shared_library_release) struct shared_library l = {0};
    const char *wrong = shared_library_read(&l, path);
    if (wrong) return answer_refuse(status_name(STATUS_COMPILE_ERROR), wrong);
    for (size_t i = 0; i < request->function_count; i++) {
        autofree char *lack = shared_library_lacks(&l, request->program.source, request->functions[i]);
        if (lack) return answer_refuse(status_name(STATUS_COMPILE_ERROR), lack);
    }
    return NULL;
}

// Runs the compiler and puts the library into the cache. Returns NULL on success.
static json_t *build_again(const struct library_source *b, const struct compile_request *request, const char *cache,
                           const char *key)
{
    struct error err;
    struct program_end end = {0};
    char folder[PATH_MAX], output[] = "-o", hash[HASH_TEXT_SIZE];
    size_t size, count = 0;
    json_t *answer = NULL;
    if (work_folder_make("library", folder, &err)) return answer_refuse(PROTOCOL_ERROR, err.message);
    autofree char *library = text_join_path(folder, "library.so"), *source = text_copy(request->program.source),
                  *bytes = NULL, **argv = memory_new(b->options.count + 5, sizeof *argv);
    argv[count++] = b->program;
    for (size_t i = 0; i < b->options.count; i++) argv[count++] = b->options.list[i];
    argv[count++] = output;
    argv[count++] = library;
    argv[count++] = source;
    const struct program_run child = {.argv = argv, .temporary = folder, .deadline = fmax(request->deadline, 0)};
    if (run_program(&child, &end, &err)) {
        answer = answer_refuse(PROTOCOL_ERROR, err.message);
    } else if (end.late) {
        answer = compilation_refuse_late();
    } else if (!WIFEXITED(end.status) || WEXITSTATUS(end.status)) {
        answer = compilation_refuse(*end.output ? end.output : "the compiler failed without a message");
    } else if (!(answer = check_functions(request, library))) {
        autojson json_t *figures = json_pack("{s:f}", "seconds", end.seconds);
        if (source_hash(&b->job.request, hash, NULL) || strcmp(hash, b->job.source.hash) != 0)
            answer = answer_refuse(PROTOCOL_SOURCE_CHANGED, source);
        else if (!(bytes = input_file_read(library, 0, &size, &err)) ||
                 cache_add(cache, key, ".so", bytes, size, figures, &err))
            answer = answer_refuse(PROTOCOL_ERROR, err.message);
    }
    free(end.output);
    work_folder_remove(folder);
    return answer;
}

json_t *library_build(const struct compile_request *request, const char *home)
{
    struct error err;
    struct library_source b = {0};
    const char *cache = request->cache;
    json_t *answer = NULL;
    if (!*cache || !*request->program.source) {
        answer = answer_refuse(PROTOCOL_ERROR, "a build needs 'source' and 'cache'");
    } else if (compile_job_read(&b.job, request, home, &err)) {
        answer = answer_refuse(status_name(STATUS_COMPILE_ERROR), err.message);
    } else if (choose_compiler(&b, request, home, &err)) {
        answer = answer_refuse(PROTOCOL_ENVIRONMENT, err.message);
    } else {
        char key[HASH_TEXT_SIZE];
        make_key(&b, request, key);
        autojson json_t *known = cache_find(cache, key, ".so");
        autofree char *path = cache_path(cache, key, ".so");
        answer = known ? check_functions(request, path) : build_again(&b, request, cache, key);
        if (!answer)
            answer = json_pack("{s:s, s:s, s:s, s:s, s:b}", "status", status_name(STATUS_OK), "library", path, "hash",
                               key, "compiler", b.version, "cached", known != NULL);
    }
    compile_job_release(&b.job);
    free(b.program);
    text_list_release(&b.options);
    return answer;
}
