// See request.h.
#include "tuner/setup/request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/operation.h"
#include "tuner/base/command_files.h"
#include "tuner/base/hash.h"
#include "tuner/base/memory.h"
#include "tuner/base/shared_library.h"
#include "tuner/base/text.h"
#include "tuner/setup/request_parts.h"

enum { BASELINE_TIMEOUTS = 4 }; // times `measure.timeout`, for a baseline to be verified and timed on all problems

static json_t *number_value(const struct expr *expression, double real, const int64_t *values)
{
    int64_t value;
    if (!expression) return json_real(real);
    return expr_eval(expression, values, &value, NULL) ? NULL : json_integer(value);
}

// The value of a size or scalar role: a scalar argument or member of that name, or any name expressions know.
static json_t *role_value(const struct job *job, const char *name, const int64_t *values)
{
    for (size_t s = 0; s < job->stage_count; s++)
        for (size_t i = 0; i < job->stages[s].argument_count; i++) {
            const struct argument *a = &job->stages[s].arguments[i];
            bool plain = a->buffer < 0 && !a->member_count && !strcmp(a->name, name);
            json_t *value = plain ? number_value(a->value, a->real, values) : NULL;
            for (size_t k = 0; k < a->member_count && !value; k++)
                if (!strcmp(a->members[k].name, name))
                    value = number_value(a->members[k].value, a->members[k].real, values);
            if (value) return value;
        }
    int slot = symbols_find(job->symbols, name);
    return slot >= 0 ? json_integer(values[slot]) : NULL;
}

static const char *bound_name(const struct job *job, const char *role)
{
    for (size_t i = 0; i < job->reference.binding_count; i++)
        if (!strcmp(job->reference.bindings[i].role, role) && job->reference.bindings[i].name)
            return job->reference.bindings[i].name;
    return role;
}

// The constant that the job file gives for a role (`transpose_b = true`), or NULL.
static json_t *constant_role(const struct job *job, const char *role)
{
    for (size_t i = 0; i < job->reference.binding_count; i++)
        if (!strcmp(job->reference.bindings[i].role, role) && !job->reference.bindings[i].name)
            return json_real(job->reference.bindings[i].value);
    return NULL;
}

static json_t *describe_roles(const struct job *job, const int64_t *values)
{
    json_t *roles = json_object();
    const struct operation *op =
        job->reference.kind == REFERENCE_OPERATION ? operation_find(job->reference.operation, NULL) : NULL;
    for (size_t k = 0; op && op->roles[k].name; k++) {
        if (op->roles[k].kind == ROLE_INPUT || op->roles[k].kind == ROLE_OUTPUT) continue;
        json_t *value = constant_role(job, op->roles[k].name);
        if (!value) value = role_value(job, bound_name(job, op->roles[k].name), values);
        if (value) json_object_set_new(roles, op->roles[k].name, value);
    }
    if (job->reference.kind != REFERENCE_LIBRARY && job->reference.kind != REFERENCE_COMMAND) return roles;
    // A user's program gets every size and scalar under its own name.
    for (size_t i = 0; i < job->size_count; i++)
        json_object_set_new(roles, job->size_names[i], role_value(job, job->size_names[i], values));
    for (size_t st = 0; st < job->stage_count; st++)
        for (size_t i = 0; i < job->stages[st].argument_count; i++) {
            const struct argument *a = &job->stages[st].arguments[i];
            if (a->buffer < 0 && !a->member_count)
                json_object_set_new(roles, a->name, role_value(job, a->name, values));
            for (size_t k = 0; k < a->member_count; k++)
                json_object_set_new(roles, a->members[k].name, role_value(job, a->members[k].name, values));
        }
    return roles;
}

// The present kernel as an entry of "baselines".
static json_t *describe_current(const struct job *job, const struct compiled *compiled, struct error *err)
{
    const struct current_kernel *c = &job->current;
    struct stage stage = job_current_stage(job);
    json_t *problems = c->source ? request_kernel_problems(job, &stage, compiled, err)
                                 : request_problems(job, c->own.config, compiled, false, NULL, NULL, err);
    if (!problems) return error_prefix(err, "%s: 'current'", job->path), NULL;
    const char *slash = c->source ? strrchr(c->source, '/') : NULL;
    char *detail = c->source ? text_format("%s of %s", c->stage.entry, slash ? slash + 1 : c->source)
                             : space_text(job->space, c->own.config);
    json_t *baseline = json_pack("{s:s, s:s, s:s, s:o}", "name", CURRENT_KERNEL, "detail", detail, "cubin",
                                 compiled && compiled->cubin ? compiled->cubin : "", "problems", problems);
    free(detail);
    return baseline;
}

// What is at the path of a library, which may be built anew there. One that is given by its source has the hash of what
// it is built from (job_setup.c).
static void name_content(json_t *reference, const char *library)
{
    char hash[HASH_TEXT_SIZE];
    size_t size;
    char *content = shared_library_is_source(library) ? NULL : text_read_file(library, &size);
    if (!content) return;
    hash_content(content, size, hash);
    json_object_set_new(reference, "hash", json_string(hash));
    free(content);
}

// A reference in a library, or what is left of it where nothing is judged: the function that makes the inputs.
static json_t *describe_functions(const struct reference *r, const char *kind)
{
    bool judged = strcmp(kind, "none") != 0;
    json_t *out = json_pack("{s:s}", "kind", kind);
    if (judged || r->generate) {
        json_object_set_new(out, "path", json_string(r->library));
        name_content(out, r->library);
        json_object_set_new(out, "timeout", json_real(r->timeout));
    }
    if (r->function && judged) json_object_set_new(out, "function", json_string(r->function));
    if (r->generate) json_object_set_new(out, "generate", json_string(r->generate));
    if (r->verify && judged) json_object_set_new(out, "verify", json_string(r->verify));
    return out;
}

static json_t *describe_command(const struct job *job)
{
    const struct reference *r = &job->reference;
    char hash[HASH_TEXT_SIZE];
    command_files_hash(r->command, job->directory, hash);
    return json_pack("{s:s, s:s, s:s, s:s, s:f}", "kind", "command", "command", r->command, "folder", job->directory,
                     "hash", hash, "timeout", r->timeout);
}

static json_t *describe_reference(const struct job *job, const struct compiled *reference, struct error *err)
{
    const struct reference *r = &job->reference;
    json_t *out, *map = json_object();
    switch (r->kind) {
    case REFERENCE_OPERATION: {
        const struct operation *op = operation_find(r->operation, NULL);
        for (size_t k = 0; op && op->roles[k].name; k++)
            if (op->roles[k].kind == ROLE_INPUT || op->roles[k].kind == ROLE_OUTPUT)
                json_object_set_new(map, op->roles[k].name, json_string(bound_name(job, op->roles[k].name)));
        return json_pack("{s:s, s:s, s:s, s:o}", "kind", "operation", "name", r->operation, "by", r->by, "buffers",
                         map);
    }
    case REFERENCE_KERNEL: {
        struct stage stage = r->stage;
        if (!stage.argument_count) { // the job's own
            stage.arguments = job->stages[0].arguments;
            stage.argument_count = job->stages[0].argument_count;
        }
        json_t *problems = request_kernel_problems(job, &stage, reference, err);
        json_decref(map);
        if (!problems) return error_prefix(err, "%s: reference kernel", job->path), NULL;
        return json_pack("{s:s, s:s, s:o}", "kind", "kernel", "cubin",
                         reference && reference->cubin ? reference->cubin : "", "problems", problems);
    }
    case REFERENCE_LIBRARY:
        out = describe_functions(r, "library");
        break;
    case REFERENCE_COMMAND:
        out = describe_command(job);
        break;
    case REFERENCE_NPY:
        for (size_t i = 0; i < r->file_count; i++)
            json_object_set_new(map, r->files[i].buffer, json_string(r->files[i].path));
        return json_pack("{s:s, s:o}", "kind", "npy", "files", map);
    default:
        out = json_pack("{s:s}", "kind", "none");
    }
    json_decref(map);
    return out;
}

// A program as an entry of "baselines".
static json_t *describe_program(const struct job *job, size_t number, struct error *err)
{
    const struct job_baseline *b = &job->baselines[number];
    struct stage stage = job_baseline_stage(job, number);
    const char *slash = strrchr(b->library, '/');
    size_t p, i;
    json_t *problems = request_kernel_problems(job, &stage, NULL, err), *each;
    if (!problems) return error_prefix(err, "%s: baseline '%s'", job->path, b->name), NULL;
    json_array_foreach(problems, p, each)
    {
        json_t *launch = json_array_get(json_object_get(each, "stages"), 0), *sizes = json_array(),
               *call = json_pack("{s:s, s:s, s:O}", "library", b->library, "function", b->function, "args",
                                 json_object_get(launch, "args"));
        for (i = 0; i < job->size_count; i++) json_array_append_new(sizes, json_integer(job->problems[p].sizes[i]));
        json_object_set_new(call, "sizes", sizes);
        if (b->init) json_object_set_new(call, "init", json_string(b->init));
        json_object_set_new(each, "stages", json_pack("[o]", call));
    }
    return json_pack("{s:s, s:o, s:f, s:o}", "name", b->name, "detail",
                     json_sprintf("%s of %s", b->function, slash ? slash + 1 : b->library), "timeout",
                     BASELINE_TIMEOUTS * job->measure.timeout, "problems", problems);
}

static json_t *describe_problem(const struct job *job, size_t p, int64_t memory, int64_t *values, struct error *err)
{
    const struct problem *problem = &job->problems[p];
    int64_t flops = 0, bytes = 0, needed = job_problem_bytes(job, p, err);
    if (needed > memory && memory > 0) {
        error_set(err, "the buffers of problem %s take %.1f GiB; the device has %.1f", problem->name,
                  (double)needed / (1 << 30), (double)memory / (1 << 30));
        needed = -1;
    }
    if (needed < 0 || job_problem_values(job, NULL, p, values, err)) {
        error_prefix(err, "%s:%d", job->path, problem->line);
        return NULL;
    }
    if ((job->flops && expr_eval(job->flops, values, &flops, err)) ||
        (job->bytes && expr_eval(job->bytes, values, &bytes, err))) {
        error_prefix(err, "%s:%d: work of this problem", job->path, problem->line);
        return NULL;
    }
    json_t *buffers = request_buffers(job, values, err), *sizes = json_object();
    if (!buffers) {
        error_prefix(err, "%s:%d", job->path, problem->line);
        json_decref(sizes);
        return NULL;
    }
    for (size_t i = 0; i < job->size_count; i++)
        json_object_set_new(sizes, job->size_names[i], json_integer(problem->sizes[i]));
    return json_pack("{s:s, s:b, s:f, s:o, s:o, s:I, s:I, s:o}", "name", problem->name, "tune", (int)problem->tune,
                     "weight", problem->weight, "sizes", sizes, "roles", describe_roles(job, values), "flops",
                     (json_int_t)flops, "bytes", (json_int_t)bytes, "buffers", buffers);
}

json_t *request_job(const struct job *job, int64_t memory, const struct compiled *reference,
                    const struct compiled *current, uint64_t seed, struct error *err)
{
    int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    json_t *problems = json_array(), *baselines = json_array(), *how = NULL;
    if (job->current.own.given) { // first, as what progress is shown against
        json_t *baseline = describe_current(job, current, err);
        if (!baseline) goto fail;
        json_array_append_new(baselines, baseline);
    }
    for (size_t p = 0; p < job->problem_count; p++) {
        json_t *problem = describe_problem(job, p, memory, values, err);
        if (!problem) goto fail;
        json_array_append_new(problems, problem);
    }
    how = describe_reference(job, reference, err);
    if (!how) goto fail;
    const struct operation *op =
        job->reference.kind == REFERENCE_OPERATION ? operation_find(job->reference.operation, NULL) : NULL;
    for (size_t i = 0; op && op->baselines && op->baselines[i].name; i++)
        json_array_append_new(baselines, json_string(op->baselines[i].name));
    for (size_t i = 0; i < job->baseline_count; i++) {
        json_t *program = describe_program(job, i, err);
        if (!program) goto fail;
        json_array_append_new(baselines, program);
    }
    free(values);
    return json_pack("{s:s, s:I, s:o, s:s, s:o, s:o, s:o, s:o}", "op", "job", "seed", (json_int_t)seed, "problems",
                     problems, "objective", objective_text[job->objective], "reference", how, "verify",
                     settings_write(verify_table, &job->verify), "measure",
                     settings_write(measure_table, &job->measure), "baselines", baselines);
fail:
    free(values);
    json_decref(problems);
    json_decref(baselines);
    json_decref(how);
    return NULL;
}
