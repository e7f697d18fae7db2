// See request.h.
#include "tuner/setup/request.h"

#include "kernels/operation.h"
#include "tuner/base/base.h"
#include "tuner/setup/request_parts.h"

// The value of a size or scalar role: a number that kernels get by value, or any name expressions know.
static json_t *role_value(const struct job *job, const struct job_number *numbers, const char *name,
                          const int64_t *values)
{
    int slot = symbols_find(job->symbols, name);
    int64_t value;
    for (const struct job_number *n = numbers; n->name; n++) {
        if (strcmp(n->name, name) != 0) continue;
        if (!n->value) return json_real(n->real);
        if (!expr_eval(n->value, values, &value, NULL)) return json_integer(value);
    }
    return slot >= 0 ? json_integer(values[slot]) : NULL;
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
    struct job_number *numbers = job_numbers(job);
    const struct operation *op = job_operation(job);
    for (size_t k = 0; op && op->roles[k].name; k++) {
        if (op->roles[k].kind == ROLE_INPUT || op->roles[k].kind == ROLE_OUTPUT) continue;
        json_t *value = constant_role(job, op->roles[k].name);
        if (!value) value = role_value(job, numbers, request_bound_name(job, op->roles[k].name), values);
        if (value) json_object_set_new(roles, op->roles[k].name, value);
    }
    // A user's program gets every size and scalar under its own name.
    bool program = job->reference.kind == IMPLEMENTATION_LIBRARY || job->reference.kind == IMPLEMENTATION_COMMAND;
    for (size_t i = 0; i < job->size_count && program; i++)
        json_object_set_new(roles, job->size_names[i], role_value(job, numbers, job->size_names[i], values));
    for (const struct job_number *n = numbers; n->name && program; n++)
        json_object_set_new(roles, n->name, role_value(job, numbers, n->name, values));
    free(numbers);
    return roles;
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
    json_t *buffers = request_buffers(job, problem, values, err), *sizes = json_object();
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

// The current kernel, as what progress is shown against, the libraries of the reference's operation, and the rest.
static json_t *describe_baselines(const struct job *job, json_t *const *answers, struct error *err)
{
    const struct operation *op = job_operation(job);
    json_t *list = json_array();
    for (size_t i = 0; i < job->baseline_count; i++) {
        json_t *one = request_describe(job, &job->baselines[i], answers ? answers[i + 1] : NULL, err);
        if (!one) return json_decref(list), NULL;
        json_array_append_new(list, one);
    }
    for (size_t i = 0; op && op->baselines && op->baselines[i].name; i++)
        json_array_insert_new(list, i + (job_current(job) != NULL),
                              json_pack("{s:s, s:s}", "kind", implementation_words[IMPLEMENTATION_OPERATION], "name",
                                        op->baselines[i].name));
    return list;
}

json_t *request_job(const struct job *job, int64_t memory, json_t *const *answers, uint64_t seed, struct error *err)
{
    int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    json_t *problems = json_array(), *baselines = describe_baselines(job, answers, err), *how = NULL;
    bool failed = !baselines;
    for (size_t p = 0; p < job->problem_count && !failed; p++) {
        json_t *problem = describe_problem(job, p, memory, values, err);
        failed = !problem;
        if (problem) json_array_append_new(problems, problem);
    }
    if (!failed) how = request_describe(job, &job->reference, answers ? answers[0] : NULL, err);
    free(values);
    if (how)
        return json_pack("{s:s, s:I, s:o, s:s, s:o, s:o, s:o, s:o}", "op", "job", "seed", (json_int_t)seed, "problems",
                         problems, "objective", objective_text[job->objective], "reference", how, "verify",
                         settings_write(verify_table, &job->verify), "measure",
                         settings_write(measure_table, &job->measure), "baselines", baselines);
    json_decref(problems);
    json_decref(baselines);
    return NULL;
}
