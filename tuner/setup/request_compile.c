// Requests to compile a configuration or another kernel, and their answers.
#include "tuner/base/input_file.h"
#include "tuner/base/protocol.h"
#include "tuner/setup/request.h"

int compiled_read(const json_t *answer, struct compiled *c, struct error *err)
{
    struct compile_answer reported;
    *c = (struct compiled){0};
    if (record_read(&compile_answer_record, answer, &reported, &c->memory, err)) return -1;
    c->cubin = reported.cubin;
    c->cached = reported.cached;
    c->seconds = isnan(reported.seconds) ? 0 : reported.seconds;
    c->warnings = reported.warning_count ? reported.warnings[0] : "";
    c->entries = reported.entries;
    c->entry_count = reported.entry_count;
    return c->entries ? 0 : error_set(err, "the compiler's answer lacks \"entries\"");
}

void compiled_release(struct compiled *c)
{
    arena_release(&c->memory);
    *c = (struct compiled){0};
}

const struct entry_answer *compiled_find(const struct compiled *c, const struct stage *stage)
{
    for (size_t i = 0; i < c->entry_count; i++)
        if (c->entries[i].unit == stage->unit && !strcmp(c->entries[i].entry, stage->entry)) return &c->entries[i];
    return NULL;
}

int request_stage_used(const struct job *job, size_t stage, const int64_t *values, struct error *err)
{
    int64_t used = 1;
    if (job->stages[stage].when && expr_eval(job->stages[stage].when, values, &used, err)) return -1;
    return used != 0;
}

static void define(void *defines, const char *name, const char *value)
{
    json_object_set_new(defines, name, json_string(value));
}

// Adds the entries of a unit's stages that the configuration uses for at least one problem, each entry once. The kernel
// of an unused stage need not exist.
static void add_entries(const struct job *job, const uint16_t *config, size_t unit, json_t *entries)
{
    autofree int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    for (size_t i = 0; i < job->stage_count; i++) {
        if (job->stages[i].operation || job->stages[i].unit != unit) continue;
        bool used = !job->stages[i].when;
        for (size_t p = 0; p < job->problem_count && !used; p++)
            used = job_problem_values(job, config, p, values, NULL) || request_stage_used(job, i, values, NULL) != 0;
        size_t same = 0; // stages may share an entry
        while (same < json_array_size(entries) &&
               strcmp(json_string_value(json_array_get(entries, same)), job->stages[i].entry))
            same++;
        if (used && same == json_array_size(entries)) json_array_append_new(entries, json_string(job->stages[i].entry));
    }
}

// The units, which are compiled separately. Stages with the same macros share a unit. If no stage has macros of its
// own, there is one unit, and it is the request itself.
static json_t *describe_units(const struct job *job, const uint16_t *config)
{
    json_t *units = json_array();
    for (size_t u = 0; u < job->code.unit_count; u++) {
        autojson json_t *entries = json_array(), *defines = json_object();
        size_t s = 0;
        add_entries(job, config, u, entries);
        while (job->stages[s].operation || job->stages[s].unit != u) s++;
        for (size_t i = 0; i < job->stages[s].define_count; i++)
            define(defines, job->stages[s].defines[i].name, job->stages[s].defines[i].value);
        if (json_array_size(entries))
            json_array_append_new(
                units, json_pack("{s:I, s:O, s:O}", "unit", (json_int_t)u, "defines", defines, "entries", entries));
    }
    return units;
}

static bool has_units(const struct job *job)
{
    bool any = false;
    for (size_t s = 0; s < job->stage_count; s++) any |= job->stages[s].define_count > 0;
    return any;
}

// A reference in the template is compiled with the macros of the first configuration, because the candidates' kernels
// are in the same file and may not compile without them. The reference's results must not depend on these macros.
static void define_for_reference(const struct job *job, json_t *defines)
{
    uint16_t first[SPACE_MAX_PARAMETERS];
    if (job->code.template && !strcmp(job->code.template, job->others.reference.path) && job->space &&
        space_size(job->space)) {
        space_get(job->space, 0, first);
        job_defines(job, first, define, defines);
        return;
    }
    for (size_t i = 0; i < job->code.define_count; i++)
        define(defines, job->code.defines[i].name, job->code.defines[i].value);
}

int request_source_open(const struct job *job, const char *path, struct source *source, struct error *err)
{
    autofree char *folder = text_directory(path);
    struct source_request request = {.path = path,
                                     .include_count = job->code.include_count + 1,
                                     .option_count = job->code.option_count,
                                     .option = (const char *const *)job->code.options,
                                     .host_headers = job->code.compiler == JOB_NVRTC,
                                     .edits = job->code.edits,
                                     .edit_count = job->code.edit_count};
    autofree const char **folders = memory_new(request.include_count, sizeof *folders);
    folders[0] = folder;
    for (size_t i = 0; i < job->code.include_count; i++) folders[i + 1] = job->code.includes[i];
    request.include = folders;
    int result = source_open(source, &request, err);
    for (size_t i = 0; i < job->code.edit_count && !result && !strcmp(path, job->code.template); i++)
        if (!source_has(source, job->code.edits[i].file))
            result =
                error_set(err, "kernel.edits names '%s', which '%s' does not include", job->code.edits[i].file, path);
    return result;
}

static bool is_below(const char *folder, const char *path)
{
    autofree char *real = realpath(path, NULL);
    return real && input_file_is_below(folder, real);
}

int request_source_confine(const struct job *job, const char *folder, struct error *err)
{
    autorelease(source_release) struct source s = {0};
    if (request_source_open(job, job->code.source, &s, err)) return -1;
    for (size_t i = 0; i < s.file_count; i++) {
        const struct source_file *file = &s.files[i];
        for (size_t k = 0; k < file->includes.count && (!i || is_below(folder, file->path)); k++) {
            const char *name = file->includes.list[k].name;
            bool by_path = *name && (name[1] == '/' || strstr(name, ".."));
            if (by_path && file->target[k] != SOURCE_NONE && !is_below(folder, s.files[file->target[k]].path))
                return error_set(err, "it includes %s, which is not below '%s'", name, folder);
        }
    }
    return 0;
}

int request_source_hash(const struct job *job, char hash[HASH_TEXT_SIZE], struct error *err)
{
    autorelease(source_release) struct source s = {0};
    int result = request_source_open(job, job->code.source, &s, err);
    memcpy(hash, s.hash, sizeof s.hash);
    return result;
}

static void add_text(void *list, const char *text)
{
    json_array_append_new(list, json_string(text));
}

// Takes ownership of `defines` and `entries`. `config` is NULL for a kernel that is not a candidate.
static json_t *describe_compilation(const struct job *job, const char *source, const uint16_t *config, json_t *defines,
                                    json_t *entries, const char *arch, const char *cache)
{
    autofree char *folder = text_directory(source);
    json_t *include = json_pack("[s]", folder), *options = json_array();
    for (size_t i = 0; i < job->code.include_count; i++) add_text(include, job->code.includes[i]);
    job_options(job, config, add_text, options);
    json_t *request = json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:s, s:f}", "op", "compile", "arch", arch,
                                "source", source, "include", include, "options", options, "entries", entries, "defines",
                                defines, "cache", cache, "deadline", job->code.compile_timeout);
    if (job->code.compiler == JOB_NVCC) {
        json_object_set_new(request, "compiler", json_string(PROTOCOL_NVCC));
        json_object_set_new(request, "alone", json_true());
        json_object_set_new(request, "host_headers", json_false());
    }
    json_object_set_new(request, "memory", json_integer(job->code.compile_memory));
    if (job->code.edit_count) {
        json_t *edits = json_array();
        for (size_t i = 0; i < job->code.edit_count; i++)
            json_array_append_new(edits, record_write(&text_edit_record, &job->code.edits[i]));
        json_object_set_new(request, "edits", edits);
    }
    return request;
}

json_t *request_compile(const struct job *job, const uint16_t *config, const char *arch, const char *source_hash,
                        const char *cache)
{
    json_t *defines = json_object(), *entries = json_array();
    job_defines(job, config, define, defines);
    if (!has_units(job)) add_entries(job, config, 0, entries);
    json_t *request = describe_compilation(job, job->code.source, config, defines, entries, arch, cache);
    if (has_units(job)) json_object_set_new(request, "units", describe_units(job, config));
    if (source_hash) json_object_set_new(request, "source_hash", json_string(source_hash));
    return request;
}

json_t *request_implementation(const struct job *job, const struct implementation *m, const char *arch,
                               const char *cache)
{
    enum { BUILD_TIMEOUTS = 5 }; // in units of `compile.timeout`
    if (m->kind == IMPLEMENTATION_CONFIGURATION) return request_compile(job, m->config, arch, NULL, cache);
    if (m->kind == IMPLEMENTATION_KERNEL) {
        json_t *defines = json_object();
        if (m == &job->others.reference) define_for_reference(job, defines);
        return describe_compilation(job, m->path, NULL, defines, json_pack("[s]", m->stage.entry), arch, cache);
    }
    if (!implementation_is_built(m)) return NULL;
    json_t *options = json_array(), *functions = json_array();
    for (size_t i = 0; i < m->option_count; i++) add_text(options, m->options[i]);
    for (size_t i = 0; i < IMPLEMENTATION_FUNCTIONS; i++)
        if (m->functions[i]) add_text(functions, m->functions[i]);
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:s, s:f, s:I, s:b}", "op", "build", "arch", arch, "source", m->path,
                     "options", options, "functions", functions, "cache", cache, "deadline",
                     job->code.compile_timeout * BUILD_TIMEOUTS, "memory", (json_int_t)job->code.compile_memory,
                     "host_headers", 0);
}
