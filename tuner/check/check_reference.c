// Checks that the reference can compute the outputs: shapes and directions for an operation, launches and arguments of
// a kernel. See check.h.
#include "kernels/operation.h"
#include "tuner/check/check.h"
#include "tuner/protocol/job_message.h"
#include "tuner/setup/request.h"

// Binds the roles of one problem as the GPU worker does, and asks the operation.
static int check_problem(const struct job *job, const struct job_request *request, size_t p, struct error *err)
{
    const struct operation *op = job_operation(job);
    const struct problem_request *problem = &request->problems[p];
    const struct implementation_request *reference = request->reference;
    struct operation_problem given = {.value = {0}};
    autofree int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    if (job_problem_values(job, NULL, p, values, err)) return -1;
    for (int i = 0; op->roles[i].name; i++) {
        const struct operation_role *role = &op->roles[i];
        given.value[i] = named_number(problem->roles, problem->role_count, role->name, role->fallback);
        for (size_t k = 0; k < reference->buffer_count; k++) {
            if (strcmp(reference->buffers[k].name, role->name) != 0) continue;
            int b = job_find_buffer(job, reference->buffers[k].value);
            if (job_buffer_shape(&job->buffers[b], values, &given.operand[i], err)) return -1;
            if (direction_writes(job->buffers[b].direction) != (role->kind == ROLE_OUTPUT))
                return error_set(err, "'%s' %s, so buffer '%s' cannot have the direction \"%s\"", role->name,
                                 role->kind == ROLE_OUTPUT ? "is a result" : "is only read", job->buffers[b].name,
                                 direction_text[job->buffers[b].direction]);
        }
    }
    return op->check(&given, err);
}

static void check_operation(struct check *c)
{
    const struct job *job = c->job;
    autorelease(arena_release) struct arena memory = {NULL};
    struct job_request request;
    struct error err;
    autojson json_t *text = request_job(job, 0, NULL, 1, &err);
    if (!text || record_read(&job_request_record, text, &request, &memory, &err)) return; // reported elsewhere
    for (size_t p = 0; p < job->problem_count; p++) {
        if (!check_problem(job, &request, p, &err)) continue;
        check_add(&c->mistakes, job_location(job, "reference.operation"), "operation '%s' on problem %s: %s",
                  job->others.reference.operation, job->problems[p].name, err.message);
        break;
    }
}

static void check_own_launch(struct check *c, const struct implementation *m)
{
    struct launch_shape shape;
    struct error err;
    autofree int64_t *values = memory_new(symbols_count(c->job->symbols), sizeof *values);
    for (size_t p = 0; p < c->job->problem_count; p++) {
        if (job_problem_values(c->job, NULL, p, values, &err) || request_shape(&m->stage, values, &shape, &err))
            continue; // reported elsewhere
        if (!launch_check(c->limits, &shape, -1, -1, &err)) continue;
        check_add(&c->mistakes, job_location(c->job, "%s.launch", m->setting),
                  "the kernel cannot be launched on sm_%" PRId64 ": problem %s: %s", c->limits->compute,
                  c->job->problems[p].name, err.message);
        return;
    }
}

// Finds outputs that the reference kernel is not given. A kernel may reach a buffer through an address in other data.
static void check_outputs(struct check *c)
{
    const struct job *job = c->job;
    const struct stage *s = &job->others.reference.stage;
    for (size_t i = 0; i < s->argument_count; i++)
        if (s->arguments[i].member_count) return;
    for (size_t b = 0; b < job->buffer_count; b++)
        if (job->buffers[b].fill.address_count) return;
    for (size_t b = 0; b < job->buffer_count && s->argument_count; b++) {
        size_t i = 0;
        while (i < s->argument_count && s->arguments[i].buffer != (int)b) i++;
        if (i == s->argument_count && job->buffers[b].direction == DIRECTION_OUT && !job->buffers[b].symbol)
            check_add(&c->mistakes, job_location(job, "reference.arguments"),
                      "the reference kernel does not get output '%s', so its values would be unknown",
                      job->buffers[b].name);
    }
}

void check_reference(struct check *c)
{
    const struct implementation *m;
    if (job_operation(c->job)) check_operation(c);
    for (size_t i = 0; (m = job_implementation(c->job, i)); i++)
        if (m->kind == IMPLEMENTATION_KERNEL || m->kind == IMPLEMENTATION_BINARY) check_own_launch(c, m);
    if (c->job->others.reference.kind == IMPLEMENTATION_KERNEL) check_outputs(c);
    if (!job_operation(c->job) && c->job->verify.relative >= 1)
        check_add(&c->doubts, job_location(c->job, "verification.relative"),
                  "'relative' allows an error as large as the expected value, so zeros would pass; 0.01 is 1%%");
}
