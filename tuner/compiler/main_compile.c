// sweetspot-compile: one of several workers that turn a source and a configuration's macros into a cubin. Uses the
// protocol of protocol.h on stdin and stdout; knows nothing about jobs, spaces or devices.
#include <errno.h>
#include <limits.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tuner/base/clock.h"
#include "tuner/base/hash.h"
#include "tuner/base/nvcc_recipe.h"
#include "tuner/base/output_file.h"
#include "tuner/base/protocol.h"
#include "tuner/base/run_program.h"
#include "tuner/base/units.h"
#include "tuner/compiler/compile_job.h"
#include "tuner/compiler/library_build.h"
#include "tuner/compiler/nvcc.h"
#include "tuner/compiler/nvrtc.h"
#include "tuner/source/cache.h"

#ifndef SWEETSPOT_CUDA_HOME
#define SWEETSPOT_CUDA_HOME "/usr/local/cuda"
#endif

static const char *cuda_home(void)
{
    const char *home = getenv("CUDA_HOME");
    return home && *home ? home : SWEETSPOT_CUDA_HOME;
}

static json_t *describe(const struct compilation *c)
{
    const char *warnings[] = {c->warnings};
    return record_write(&compile_answer_record, &(struct compile_answer){.head.status = status_name(STATUS_OK),
                                                                         .seconds = c->seconds,
                                                                         .entries = c->entries,
                                                                         .entry_count = c->entry_count,
                                                                         .warnings = warnings,
                                                                         .warning_count = *c->warnings != 0});
}

// Puts a compiler's result into the cache and returns the answer.
static json_t *take(const struct compilation *c, const char *cache, const char *key)
{
    struct error err;
    if (c->result == COMPILE_FAILED) return compilation_refuse(c->log);
    if (c->result == COMPILE_TIMED_OUT) return compilation_refuse_late();
    if (c->result == COMPILE_NO_MEMORY)
        return answer_refuse(status_name(STATUS_COMPILE_ERROR),
                             "the compiler exceeded its memory limit (compile.memory)");
    autojson json_t *answer = describe(c);
    if (cache && cache_add(cache, key, ".cubin", c->cubin, c->cubin_size, answer, &err))
        return answer_refuse(PROTOCOL_ERROR, err.message);
    return json_incref(answer);
}

// Adds the path of the cubin, and whether the cache had it.
static json_t *complete(json_t *answer, const char *cache, const char *key, bool cached)
{
    if (cache && status_find(json_get_string(answer, "status", "")) == STATUS_OK) {
        autofree char *path = cache_path(cache, key, ".cubin");
        json_object_set_new(answer, "cubin", json_string(path));
    }
    json_object_set_new(answer, "cached", json_boolean(cached));
    return answer;
}

static json_t *compile_again(const struct compile_job *j, double deadline, const char *cache, const char *key)
{
    struct error err;
    autorelease(compilation_release) struct compilation c = {0};
    autorelease(source_texts_release) struct source_texts texts = {0};
    if (source_texts_make(&texts, &j->source, &err))
        return answer_refuse(status_name(STATUS_COMPILE_ERROR), err.message);
    size_t count;
    autofree const char **options = compile_job_options(j, &count);
    const struct nvrtc_program program = {.text = texts.program,
                                          .name = j->name,
                                          .header_count = texts.header_count,
                                          .header = (const char *const *)texts.text,
                                          .header_name = (const char *const *)texts.name,
                                          .option_count = count,
                                          .option = options,
                                          .entry_count = j->asked->entry_count,
                                          .entry = j->asked->entries,
                                          .deadline = deadline};
    int failed = nvrtc_compile(&program, &c, &err);
    if (!failed) return take(&c, cache, key);
    return answer_refuse(failed == NVRTC_NO_MEMORY ? PROTOCOL_ERROR : status_name(STATUS_COMPILE_ERROR), err.message);
}

// Opens the job of a request. Returns NULL, or the answer if that is impossible.
static json_t *open_job(struct compile_job *job, const struct compile_request *request)
{
    struct error err;
    if (compile_job_read(job, request, cuda_home(), &err)) return answer_refuse(PROTOCOL_ERROR, err.message);
    if (!*request->program.source_hash || !strcmp(request->program.source_hash, job->source.hash)) return NULL;
    return answer_refuse(PROTOCOL_SOURCE_CHANGED, request->program.source);
}

static json_t *compile_by_nvrtc(const struct compile_request *request, const char *version)
{
    autorelease(compile_job_release) struct compile_job job = {0};
    const char *cache = *request->cache ? request->cache : NULL;
    json_t *answer = open_job(&job, request);
    if (answer) return answer;
    char key[HASH_TEXT_SIZE];
    compile_job_key(&job, version, key);
    answer = cache ? cache_find(cache, key, ".cubin") : NULL;
    bool cached = answer != NULL;
    if (!cached) answer = compile_again(&job, fmax(request->deadline, 0), cache, key);
    return complete(answer, cache, key, cached);
}

// The source that nvcc compiles: the macros, the template, the request's text after it, and an instantiation of each
// entry that needs one. `root` is a folder that contains copies of the files, or "" if there are no copies.
static char *nvcc_unit(const struct compile_job *j, const char *root, bool marked)
{
    const struct compile_request *request = j->asked;
    struct text unit = {0};
    autofree char *real = *root ? text_copy(j->source.files->path) : realpath(request->program.source, NULL);
    for (size_t i = 0; i < request->define_count; i++)
        text_add(&unit, "#define %s %s\n", request->defines[i].name, request->defines[i].value);
    text_add(&unit, "#include \"%s%s\"\n%s", root, real ? real : request->program.source, request->program.after);
    for (size_t i = 0; i < request->entry_count; i++) {
        autofree char *instantiation = nvcc_instantiation(request->entries[i]),
                      *marker = marked ? nvcc_symbol_marker(request->entries[i], i) : NULL;
        text_add(&unit, "%s\n%s\n", instantiation ? instantiation : "", marker ? marker : "");
    }
    return unit.text;
}

static struct text_list unit_options(const struct compile_request *request, const char *root, bool marked)
{
    struct text_list options =
        nvcc_options(*request->arch ? request->arch : "sm_90a", request->options, request->option_count);
    if (marked) text_list_add(&options, text_copy("-lineinfo")); // as for NVRTC
    for (size_t i = 0; i < request->include_count; i++)
        text_list_add(&options, text_format("-I%s%s", source_options_toolkit(request->include[i]) ? "" : root,
                                            request->include[i]));
    return options;
}

// nvcc reads the files itself. If some are edited, all are written below a folder, under their original paths. With
// *bare, host functions lose their bodies, and #line keeps the original paths; *bare is then set to whether the source
// has host functions with bodies.
static int write_files(const struct source *s, char root[PATH_MAX], bool *bare, struct error *err)
{
    const bool wanted = *bare;
    int failed = work_folder_make("edited", root, err);
    *bare = false;
    for (size_t i = 0; i < s->file_count && !failed; i++) {
        const struct source_file *file = &s->files[i];
        autofree char *path = text_format("%s%s", root, file->path),
                      *less = wanted ? source_without_host(file->text) : NULL,
                      *text = wanted && !strpbrk(file->path, "\"\\\n")
                                  ? text_format("#line 1 \"%s\"\n%s", file->path, less ? less : file->text)
                                  : text_copy(less ? less : file->text);
        if (*file->path != '/') continue;
        *bare |= less != NULL;
        failed = output_make_folders(path, err);
        if (!failed) failed = nvcc_write(path, text, err);
    }
    return failed;
}

// With *bare, host functions lose their bodies; *bare is then set as by write_files.
static int run_nvcc(const struct nvcc *nvcc, const struct compile_job *j, const char **symbols, bool *bare,
                    double deadline, struct compilation *c, struct error *err)
{
    const struct compile_request *request = j->asked;
    char root[PATH_MAX] = "";
    const bool wanted = *bare;
    int failed = request->program.edit_count || wanted ? write_files(&j->source, root, bare, err) : 0;
    autofree char *unit = nvcc_unit(j, root, !symbols);
    autorelease(text_list_release) struct text_list options = unit_options(request, root, !symbols);
    if (!failed && wanted == *bare)
        failed = nvcc_compile(nvcc, unit, &options, request->entry_count, request->entries, symbols, fmax(deadline, 0),
                              c, err);
    if (*root) work_folder_remove(root);
    return failed;
}

// A job's candidate is first compiled without the bodies of host functions. If this fails, for example because a macro
// hides `__device__`, the candidate is compiled unchanged. If only the unchanged candidate compiles, the source's other
// candidates are compiled unchanged too.
static int run_alone(const struct nvcc *nvcc, const struct compile_job *j, const char **symbols, struct compilation *c,
                     struct error *err)
{
    static char needed[HASH_TEXT_SIZE]; // of a source that needs its host functions
    const double begin = clock_now(), deadline = j->asked->deadline;
    bool whole = false, bare = !symbols && strcmp(needed, j->source.hash) != 0, tried = false;
    if (bare) {
        int failed = run_nvcc(nvcc, j, symbols, &bare, deadline, c, err);
        if (!failed && bare && c->result != COMPILE_FAILED) return 0;
        tried = bare;
        if (!failed) compilation_release(c);
    }
    int failed = run_nvcc(nvcc, j, symbols, &whole, deadline - (clock_now() - begin), c, err);
    if (tried && !failed && c->result == COMPILED) snprintf(needed, sizeof needed, "%s", j->source.hash);
    return failed;
}

// A build by nvcc. Its entries get their names from NVRTC's answer or, if there is no such answer, from their markers.
static json_t *build(const struct nvcc *nvcc, const struct compile_job *j, const struct compile_answer *own)
{
    struct error err;
    autorelease(compilation_release) struct compilation c = {0};
    const struct compile_request *request = j->asked;
    const char *cache = *request->cache ? request->cache : NULL;
    char key[HASH_TEXT_SIZE];
    autofree char *unit = nvcc_unit(j, "", !own);
    autorelease(text_list_release) struct text_list options = unit_options(request, "", !own);
    autofree const char **symbols = memory_new(request->entry_count, sizeof *symbols);
    struct hash *h = hash_new();
    hash_text(h, j->source.hash);
    hash_text(h, nvcc->version);
    hash_text(h, unit);
    for (size_t i = 0; i < options.count; i++) hash_text(h, options.list[i]);
    for (size_t i = 0; own && i < own->entry_count && i < request->entry_count; i++)
        hash_text(h, symbols[i] = own->entries[i].symbol);
    hash_finish(h, key);
    json_t *answer = cache ? cache_find(cache, key, ".cubin") : NULL;
    bool cached = answer != NULL;
    if (!cached && run_alone(nvcc, j, own ? symbols : NULL, &c, &err))
        answer = answer_refuse(status_name(STATUS_COMPILE_ERROR), err.message);
    else if (!cached)
        answer = take(&c, cache, key);
    return complete(answer, cache, key, cached);
}

// nvcc reads the files itself, so its result is valid only if they still have the hashed content.
static json_t *unless_changed(json_t *answer, const struct compile_job *j)
{
    char hash[HASH_TEXT_SIZE];
    if (!source_hash(&j->request, hash, NULL) && !strcmp(hash, j->source.hash)) return answer;
    json_decref(answer);
    return answer_refuse(PROTOCOL_SOURCE_CHANGED, j->request.path);
}

// NVRTC compiles first (its result is usually in the cache), because it knows the names of the entries in a cubin. With
// "alone", NVRTC is not used, because it cannot read the source.
static json_t *compile_by_nvcc(const struct compile_request *request, const char *version)
{
    struct error err;
    autorelease(compile_job_release) struct compile_job job = {0};
    autorelease(nvcc_release) struct nvcc nvcc = {0};
    autorelease(arena_release) struct arena memory = {NULL};
    struct compile_answer by_nvrtc, *own = request->alone ? NULL : &by_nvrtc;
    autojson json_t *first = request->alone ? NULL : compile_by_nvrtc(request, version);
    if (first && (record_read(&compile_answer_record, first, own, &memory, NULL) || !answer_is_ok(&own->head)))
        return json_incref(first);
    json_t *answer = *request->program.source
                         ? open_job(&job, request)
                         : answer_refuse(PROTOCOL_ERROR, "nvcc builds only a source that is a file");
    if (!answer && nvcc_find(&nvcc, cuda_home(), &err))
        answer = answer_refuse(status_name(STATUS_COMPILE_ERROR), err.message);
    if (!answer) answer = unless_changed(build(&nvcc, &job, own), &job);
    if (*nvcc.version) json_object_set_new(answer, "compiler", json_string(nvcc.version));
    return answer;
}

// The compiler of this worker, or why it cannot compile.
static json_t *hello(const struct compile_request *request, const char *version)
{
    struct error err;
    autorelease(nvcc_release) struct nvcc nvcc = {0};
    bool by_nvcc = !strcmp(request->compiler, PROTOCOL_NVCC);
    if (by_nvcc && nvcc_find(&nvcc, cuda_home(), &err)) return answer_refuse(PROTOCOL_ERROR, err.message);
    return json_pack("{s:i, s:s}", "protocol", PROTOCOL_VERSION, "compiler", by_nvcc ? nvcc.version : version);
}

static json_t *compile_one(const struct compile_request *request, const char *version)
{
    if (!*request->compiler || !strcmp(request->compiler, PROTOCOL_NVRTC)) return compile_by_nvrtc(request, version);
    if (!strcmp(request->compiler, PROTOCOL_NVCC)) return compile_by_nvcc(request, version);
    return answer_refuse(PROTOCOL_ERROR, "unknown compiler");
}

// For a request whose stages have different macros, every unit is compiled separately, and the cubins are joined. Each
// unit has its own entry in the cache. The key of the joined file is the hash of its content, so that equal units give
// the same file.
struct joined {
    struct arena memory;
    struct entry_answer *entries; // of all units; the array has room for all
    size_t entry_count;
    struct text warnings;
    double seconds;
    bool cached;
    const char *compiler; // from the last answer; "" if none names it
    void *image[UNITS_MAX];
    size_t size[UNITS_MAX], count;
};

// Takes the answer for one unit. Returns -1 with a message on failure.
static int take_unit(struct joined *all, size_t unit, const struct compile_answer *answer, struct error *err)
{
    for (size_t i = 0; i < answer->entry_count; i++) {
        all->entries[all->entry_count] = answer->entries[i];
        all->entries[all->entry_count++].unit = unit;
    }
    for (size_t i = 0; i < answer->warning_count; i++)
        text_add(&all->warnings, "%s%s", all->warnings.length ? "\n" : "", answer->warnings[i]);
    if (!isnan(answer->seconds)) all->seconds += answer->seconds;
    all->cached &= answer->cached;
    if (*answer->compiler) all->compiler = answer->compiler;
    if (unit >= all->count) all->count = unit + 1;
    if (*answer->cubin && !(all->image[unit] = text_read_file(answer->cubin, &all->size[unit])))
        return error_set(err, "cannot read '%s': %s", answer->cubin, strerror(errno));
    return 0;
}

static json_t *join_units(struct joined *all, const char *cache, struct error *err)
{
    const char *warnings[] = {all->warnings.text};
    struct compile_answer answer = {.head.status = status_name(STATUS_OK),
                                    .seconds = all->seconds,
                                    .warnings = warnings,
                                    .warning_count = all->warnings.length != 0,
                                    .entries = all->entries,
                                    .entry_count = all->entry_count,
                                    .compiler = all->compiler};
    if (*cache) {
        size_t size;
        char key[HASH_TEXT_SIZE];
        autojson json_t *kept = record_write(&compile_answer_record, &answer);
        autofree void *file = units_join((const void *const *)all->image, all->size, all->count, &size, err);
        if (file) hash_content(file, size, key);
        if (!file || cache_add(cache, key, ".cubin", file, size, kept, err)) return NULL;
        autofree char *path = cache_path(cache, key, ".cubin");
        answer.cubin = arena_copy(&all->memory, path);
    }
    answer.cached = all->cached;
    return record_write(&compile_answer_record, &answer);
}

// The request for one unit, with its additional macros and its entries.
static struct compile_request unit_request(const struct compile_request *request, const struct compile_unit *unit,
                                           struct arena *memory)
{
    struct compile_request one = *request;
    struct record_named_text *defines =
        arena_new(memory, (request->define_count + unit->define_count) * sizeof *defines);
    one.define_count = 0;
    for (size_t i = 0; i < request->define_count; i++) defines[one.define_count++] = request->defines[i];
    for (size_t i = 0; i < unit->define_count; i++) {
        size_t k = 0;
        while (k < one.define_count && strcmp(defines[k].name, unit->defines[i].name) != 0) k++;
        defines[k] = unit->defines[i];
        if (k == one.define_count) one.define_count++;
    }
    one.defines = defines;
    one.entries = unit->entries;
    one.entry_count = unit->entry_count;
    one.units = NULL;
    one.unit_count = 0;
    return one;
}

// Compiles the units, which share the deadline.
static json_t *compile_units(const struct compile_request *request, const char *version)
{
    struct joined all = {.cached = true, .compiler = ""};
    double begin = clock_now();
    json_t *answer = NULL;
    struct error err = {"'units' is not a list of units"};
    size_t entries = 0;
    int failed = !request->unit_count ? -1 : 0;
    for (size_t i = 0; i < request->unit_count; i++) entries += request->units[i].entry_count;
    all.entries = arena_new(&all.memory, entries * sizeof *all.entries);
    for (size_t i = 0; i < request->unit_count && !failed && !answer; i++) {
        const struct compile_unit *unit = &request->units[i];
        if (all.image[unit->unit]) {
            failed = error_set(&err, "unit %zu has no number of its own", i);
            break;
        }
        struct compile_request one = unit_request(request, unit, &all.memory);
        if (request->deadline > 0) one.deadline = fmax(request->deadline - (clock_now() - begin), 1e-3);
        autojson json_t *made = compile_one(&one, version);
        struct compile_answer reported;
        failed = record_read(&compile_answer_record, made, &reported, &all.memory, &err);
        if (!failed && !answer_is_ok(&reported.head))
            answer = json_incref(made);
        else if (!failed)
            failed = reported.entry_count == unit->entry_count ? take_unit(&all, (size_t)unit->unit, &reported, &err)
                                                               : error_set(&err, "unit %zu has %zu entries, not %zu", i,
                                                                           reported.entry_count, unit->entry_count);
    }
    if (!failed && !answer) answer = join_units(&all, request->cache, &err);
    if (!answer) answer = answer_refuse(PROTOCOL_ERROR, err.message);
    for (size_t i = 0; i < UNITS_MAX; i++) free(all.image[i]);
    free(all.warnings.text);
    arena_release(&all.memory);
    return answer;
}

// The memory of the process at the first call, including a sanitizer's shadow memory.
static int64_t begun_with(void)
{
    static int64_t bytes = -1;
    FILE *file = bytes < 0 ? fopen("/proc/self/statm", "re") : NULL;
    char line[256] = "", *at = line;
    if (file && !fgets(line, sizeof line, file)) *line = 0;
    for (int i = 0; i < 5; i++) (void)strtoll(at, &at, 10);
    int64_t pages = strtoll(at, NULL, 10); // the sixth number: data and stack
    if (file) fclose(file);
    if (bytes < 0) bytes = pages * sysconf(_SC_PAGESIZE);
    return bytes;
}

// Limits this process, and each process that it starts, to the private memory that it had at the beginning plus this
// many bytes. 0: no limit. NVRTC reserves a lot of address space, which RLIMIT_DATA does not count.
static int limit_memory(int64_t bytes, struct error *err)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_DATA, &limit)) return error_set(err, "cannot limit memory: %s", strerror(errno));
    rlim_t wanted = bytes > 0 ? (rlim_t)(bytes + begun_with()) : limit.rlim_max;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    return setrlimit(RLIMIT_DATA, &limit) ? error_set(err, "cannot limit memory: %s", strerror(errno)) : 0;
}

static json_t *serve(const json_t *message, const char *version)
{
    struct error err;
    autorelease(arena_release) struct arena memory = {NULL};
    struct compile_request request;
    const char *op = json_get_string(message, "op", "");
    bool builds = !strcmp(op, "build"), compiles = builds || !strcmp(op, "compile");
    if (record_read(&compile_request_record, message, &request, &memory, &err) ||
        (compiles && limit_memory(request.memory, &err)))
        return answer_refuse(PROTOCOL_ERROR, err.message);
    if (!strcmp(op, "hello")) return hello(&request, version);
    if (!compiles) return answer_refuse(PROTOCOL_ERROR, "unknown op");
    if (builds) return library_build(&request, cuda_home());
    return request.units ? compile_units(&request, version) : compile_one(&request, version);
}

int main(int argc, char **argv)
{
    struct error err;
    char version[64];
    autofree char *line = NULL;
    size_t room = 0;
    setenv("CUDA_CACHE_DISABLE", "1",
           1); // NVRTC 13 has its own cache, whose results lack ptxas's figures
    if (nvrtc_version(version, sizeof version, &err)) {
        fprintf(stderr, "sweetspot-compile: %s\n", err.message);
        return EXIT_ENVIRONMENT;
    }
    if (argc > 1 && !strcmp(argv[1], "--version")) {
        printf("%-9s %s\n", "NVRTC", version + strcspn(version, " ") + 1);
        return EXIT_DONE;
    }
    if (argc > 1) {
        fprintf(stderr, "usage: sweetspot-compile [--version]   (requests on standard input, see protocol.h)\n");
        return EXIT_USAGE;
    }
    while (getline(&line, &room, stdin) > 0) {
        autojson json_t *request = json_parse(line, &err), *answer = NULL;
        answer = request ? serve(request, version) : answer_refuse(PROTOCOL_ERROR, err.message);
        if (!answer) answer = answer_refuse(PROTOCOL_ERROR, "out of host memory");
        json_object_set_new(answer, "id", json_integer(json_get_integer(request, "id", -1)));
        if (json_write_line(STDOUT_FILENO, answer, &err)) break;
    }
    return EXIT_DONE;
}
