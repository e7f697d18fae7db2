// Implementations that are no candidates, in requests: what has to be compiled or built for them, and how a GPU worker
// gets them, all by one record (tuner/protocol/job_message.h).
#include "kernels/operation.h"
#include "tuner/base/base.h"
#include "tuner/base/hash.h"
#include "tuner/base/input_file.h"
#include "tuner/protocol/job_message.h"
#include "tuner/setup/request_parts.h"
#include "tuner/trial/trial.h"

enum { BASELINE_TIMEOUTS = 4, BUILD_TIMEOUTS = 5 }; // times `measure.timeout`, `compile.timeout`

json_t *request_implementation(const struct job *job, const struct implementation *m, const char *arch,
                               const char *cache)
{
    if (m->kind == IMPLEMENTATION_CONFIGURATION) return request_compile(job, m->config, arch, NULL, cache);
    if (m->kind == IMPLEMENTATION_KERNEL) return request_compile_kernel(job, m, arch, cache);
    if (!implementation_is_built(m)) return NULL;
    json_t *list = json_array(), *names = json_array();
    for (size_t i = 0; i < m->option_count; i++) json_array_append_new(list, json_string(m->options[i]));
    for (size_t i = 0; i < IMPLEMENTATION_FUNCTIONS; i++)
        if (m->functions[i]) json_array_append_new(names, json_string(m->functions[i]));
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:s, s:f, s:I, s:b}", "op", "build", "arch", arch, "source", m->path,
                     "options", list, "functions", names, "cache", cache, "deadline",
                     job->compile_timeout * BUILD_TIMEOUTS, "memory", (json_int_t)job->compile_memory, "host_headers",
                     0);
}

char *implementation_label(const struct job *job, const struct implementation *m)
{
    if (m == &job->reference) return text_copy("the reference");
    return m == job_current(job) ? text_copy("the current kernel") : text_format("baseline '%s'", m->name);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// Launches, or calls of a function, for every problem, and the file that has the code: a cubin, PTX or a library.
static int describe_launches(const struct job *job, const struct implementation *m, const json_t *answer,
                             struct implementation_request *to, struct arena *memory, json_t **problems,
                             struct error *err)
{
    struct compiled compiled = {0};
    bool compiles = m->kind == IMPLEMENTATION_KERNEL || m->kind == IMPLEMENTATION_CONFIGURATION;
    if (compiles && answer && compiled_read(answer, &compiled, err)) return -1;
    const char *library = json_get_string(answer, "library", m->path);
    *problems = m->kind == IMPLEMENTATION_CONFIGURATION
                    ? request_problems(job, m->config, &compiled, false, NULL, NULL, err)
                    : request_own_problems(job, m, &compiled, library, err);
    if (m->kind == IMPLEMENTATION_LIBRARY) to->timeout = BASELINE_TIMEOUTS * job->measure.timeout;
    to->candidate.cubin = m->kind == IMPLEMENTATION_BINARY ? m->path : arena_copy(memory, compiled.cubin);
    to->candidate.written = *problems;
    compiled_release(&compiled);
    return *problems ? 0 : -1;
}

// A baseline's name and description, or why there is none.
static void name_baseline(const struct job *job, const struct implementation *m, const json_t *answer,
                          struct implementation_request *to, struct arena *memory)
{
    char *detail = m->kind == IMPLEMENTATION_CONFIGURATION
                       ? space_text(job->space, m->config)
                       : text_format("%s of %s", m->stage.entry, last_part(m->path));
    bool made = !answer || status_find(json_get_string(answer, "status", "")) == STATUS_OK;
    to->candidate.name = m->name;
    to->detail = arena_copy(memory, detail);
    if (!made) to->reason = json_get_string(answer, "reason", "it could not be built");
    free(detail);
}

// The functions of the reference's library. What is at its path may be built again there. A library that is given by
// its source has the hash of what it is built from.
static void describe_library(const struct implementation *m, const json_t *answer, struct implementation_request *to,
                             struct arena *memory)
{
    char hash[HASH_TEXT_SIZE];
    size_t size;
    char *content = implementation_is_built(m) ? NULL : text_read_file(m->path, &size);
    if (content) hash_content(content, size, hash);
    free(content);
    to->path = m->path;
    to->hash = content ? arena_copy(memory, hash) : json_get_string(answer, "hash", "");
    to->built = json_get_string(answer, "library", "");
    to->function = arena_copy(memory, m->functions[FUNCTION_RESULT]);
    to->generate = arena_copy(memory, m->functions[FUNCTION_GENERATE]);
    to->verify = arena_copy(memory, m->functions[FUNCTION_VERIFY]);
    to->timeout = m->timeout;
}

static void describe_command(const struct job *job, struct implementation_request *to, struct arena *memory)
{
    char hash[HASH_TEXT_SIZE];
    command_files_hash(job->reference.command, job->directory, hash);
    to->command = job->reference.command;
    to->folder = job->directory;
    to->hash = arena_copy(memory, hash);
    to->timeout = job->reference.timeout;
}

const char *request_bound_name(const struct job *job, const char *role)
{
    for (size_t i = 0; i < job->reference.binding_count; i++)
        if (!strcmp(job->reference.bindings[i].role, role) && job->reference.bindings[i].name)
            return job->reference.bindings[i].name;
    return role;
}

// Which buffer plays each role; and for files, which file has each buffer's values.
static void describe_buffers(const struct job *job, struct implementation_request *to, struct arena *memory)
{
    const struct implementation *m = &job->reference;
    const struct operation *op = job_operation(job);
    struct record_named_text *list = arena_new(memory, (OPERATION_ROLES_MAX + m->binding_count) * sizeof *list);
    size_t count = 0;
    for (size_t k = 0; op && op->roles[k].name; k++)
        if (op->roles[k].kind == ROLE_INPUT || op->roles[k].kind == ROLE_OUTPUT)
            list[count++] = (struct record_named_text){op->roles[k].name, request_bound_name(job, op->roles[k].name)};
    for (size_t i = 0; !op && i < m->binding_count; i++)
        list[count++] = (struct record_named_text){m->bindings[i].role, m->bindings[i].name};
    if (op) {
        to->candidate.name = m->operation;
        to->by = m->by;
        to->buffers = list;
        to->buffer_count = count;
    } else {
        to->files = list;
        to->file_count = count;
    }
}

json_t *request_describe(const struct job *job, const struct implementation *m, const json_t *answer, struct error *err)
{
    struct arena memory = {NULL};
    struct implementation_request r;
    json_t *problems = NULL, *written = NULL;
    bool is_reference = m == &job->reference;
    int failed = 0;
    record_clear(&implementation_request_record, &r);
    r.kind =
        m->kind == IMPLEMENTATION_CONFIGURATION || m->kind == IMPLEMENTATION_BINARY ? IMPLEMENTATION_KERNEL : m->kind;
    if (!is_reference) name_baseline(job, m, answer, &r, &memory);
    if (!is_reference || r.kind == IMPLEMENTATION_KERNEL) {
        failed = describe_launches(job, m, *r.reason ? NULL : answer, &r, &memory, &problems, err);
        if (failed && is_reference)
            error_prefix(err, "%s: reference kernel", job->path);
        else if (failed)
            error_prefix(err, m == job_current(job) ? "%s: '%s'" : "%s: baseline '%s'", job->path, m->name);
    } else if (r.kind == IMPLEMENTATION_LIBRARY) {
        describe_library(m, answer, &r, &memory);
    } else if (r.kind == IMPLEMENTATION_COMMAND) {
        describe_command(job, &r, &memory);
    } else {
        describe_buffers(job, &r, &memory);
    }
    if (!failed) written = record_write(&implementation_request_record, &r);
    json_decref(problems);
    arena_release(&memory);
    return written;
}
