// Requests to the compilers and their answers: see run.h. If a compiler dies or misses its deadline (NVRTC's callback
// enforces an earlier one), its candidate fails with that reason and the compiler is restarted. If another process
// killed it, the candidate gets a second try.
#include "tuner/run/run.h"

void run_compile(struct run *r, struct task *t, size_t compiler)
{
    struct error err;
    json_t *request = job_setup_compile(&r->setup, &r->pool, t->config, t->text, t->by_nvcc);
    double deadline = r->job->code.compile_timeout + COMPILE_GRACE;
    if (t->by_nvcc) deadline *= 2; // NVRTC compiles first
    if (!pool_send_compiler(&r->pool, compiler, request, deadline, &err)) return;
    if (pool_compiler_usable(&r->pool, compiler))
        fatal_error_set(&r->failure, EXIT_ENVIRONMENT, &err);
    else
        policy_compiler_gone(&r->policy, &t->queued);
}

static struct task *task_of(const struct run *r, size_t compiler)
{
    return (struct task *)r->policy.compilers[compiler].task;
}

static void drop_build(struct run *r, struct task *t, const char *reason)
{
    builds_failed(&r->final, t, reason);
    task_drop(&r->policy, t);
}

static void finish(struct run *r, struct task *t, enum trial_status status, const char *reason)
{
    if (t->queued.purpose == TASK_TRIAL)
        run_commit(r, t, status, reason, NULL, NULL);
    else if (t->queued.purpose == TASK_COUNT)
        run_commit_counters(r, t, NULL);
    else if (r->final.builds.on)
        drop_build(r, t, reason);
    else
        task_drop(&r->policy, t);
}

static void take_compiled(struct run *r, struct task *t)
{
    struct error err;
    // A task that only needs counting has been measured before.
    if (builds_over(&r->final)) {
        task_drop(&r->policy, t);
        return;
    }
    if (t->queued.purpose != TASK_COUNT && job_setup_launches(r->job, &r->pool.first.limits, t->config, &t->compiled,
                                                              &t->problems, &t->launches, &t->launch_count, &err)) {
        finish(r, t, STATUS_PRUNED, err.message);
        return;
    }
    policy_compiled(&r->policy, &t->queued);
}

void run_take_compiler_answer(struct run *r, size_t compiler, const json_t *answer)
{
    struct task *t = task_of(r, compiler);
    struct error err;
    enum trial_status status;
    const char *reason;
    if (t->by_nvcc) builds_compiled(&r->final, answer);
    enum compile_result result = compile_result_read(answer, r->job, &t->compiled, &status, &reason, &err);
    run_watch_compiled(&r->watch, compiler, result != COMPILE_DONE);
    if (result != COMPILE_DONE && r->final.builds.on) { // the final's decision stays valid
        drop_build(r, t, reason);
        return;
    }
    switch (result) {
    case COMPILE_DONE:
        take_compiled(r, t);
        break;
    case COMPILE_FAILED:
        finish(r, t, status, reason);
        break;
    case COMPILE_SOURCE_CHANGED:
        fatal_error_set(&r->failure, EXIT_USAGE, &err);
        break;
    case COMPILE_IMPOSSIBLE:
        if (pool_refuse_compiler(&r->pool, compiler, err.message)) // another node compiles it
            policy_compiler_gone(&r->policy, &t->queued);
        else
            fatal_error_set(&r->failure, EXIT_ENVIRONMENT, &err);
        break;
    }
}

void run_take_compiler_loss(struct run *r, const struct pool_event *event)
{
    display_log(&r->display, "%s", event->why.message);
    r->watch.compilers.list[event->worker].restarts++;
    if (!event->busy) return;
    if (event->node) {
        policy_compiler_gone(&r->policy, &task_of(r, event->worker)->queued);
        return;
    }
    if (event->outside && policy_try_again(&r->policy, &task_of(r, event->worker)->queued, false)) return;
    run_watch_compiled(&r->watch, event->worker, true);
    autofree char *reason =
        event->late ? text_copy(event->why.message) : text_format("the compiler failed: %s", event->why.message);
    finish(r, task_of(r, event->worker), event->late ? STATUS_COMPILE_TIMEOUT : STATUS_COMPILE_ERROR, reason);
}
