// Requests to the compilers and their answers: see run.h. A compiler that dies or misses its deadline (its own, by
// NVRTC's callback, comes first) costs its candidate, which gets the reason, and is started again.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/clock.h"
#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/run/run.h"

enum { DEADLINE_GRACE = 10, MAX_FAILED_STARTS = 3 }; // s beyond the worker's own deadline

// A configuration that the store knows takes the compiler's place in the sequence, so that a resumed run tells in the
// order of an undisturbed one.
static void pass_known(struct run *r, struct task *t)
{
    struct trial trial;
    struct error err;
    if (store_find(r->store, t->text, &trial, &err)) {
        run_fail(r, EXIT_ENVIRONMENT, &err);
    } else if (trial.status == STATUS_COMPILE_ERROR || trial.status == STATUS_COMPILE_TIMEOUT ||
               trial.status == STATUS_PRUNED) {
        run_tell_known(r, t);
    } else {
        t->state = TASK_READY;
    }
}

bool run_dispatch_compilers(struct run *r)
{
    for (size_t i = 0; i < r->compile_count && !r->fatal; i++) {
        struct compile_slot *slot = &r->compilers[i];
        struct task *t = slot->task ? NULL : run_first_task(r, TASK_QUEUED);
        if (!t) continue;
        if (t->known) {
            pass_known(r, t);
            return true;
        }
        if (!worker_running(&slot->worker)) {
            struct error err;
            if (run_start_compiler(r, i, &err)) {
                run_fail(r, EXIT_ENVIRONMENT, &err);
                return false;
            }
        }
        json_t *request = request_compile(r->job, t->config, r->arch, r->source_hash, r->options->cache);
        json_object_set_new(request, "config", json_string(t->text));
        t->state = TASK_COMPILING;
        slot->task = t;
        slot->deadline = clock_now() + r->job->compile_timeout + DEADLINE_GRACE;
        slot->id = worker_send(&slot->worker, request);
    }
    return false;
}

// A configuration that leaves out every stage for a problem cannot do it. That is fine where every problem may have a
// kernel of its own, as long as there is a tuned one that it can do.
static int does_too_little(const struct run *r, const struct task *t, struct error *err)
{
    size_t done = 0;
    for (size_t p = 0; p < r->job->problem_count; p++) {
        bool does = false;
        for (size_t i = 0; i < t->launch_count && !does; i++) does = t->launches[i].problem == (int)p;
        done += does && p < r->job->tuned_count;
        if (!does && r->job->objective != OBJECTIVE_EACH)
            return error_set(err, "it has no stage for problem %s", r->job->problems[p].name);
    }
    return done ? 0 : error_set(err, "it has no stage for any problem");
}

// A compiled task's launches, and whether they fit. False after it was committed as a failure.
static bool check_launches(struct run *r, struct task *t)
{
    struct error err;
    t->launches = memory_new(REQUEST_MAX_LAUNCHES, sizeof *t->launches);
    t->problems = request_problems(r->job, t->config, &t->compiled, false, t->launches, &t->launch_count, &err);
    if (!t->problems) {
        t->launch_count = 0;
        run_commit(r, t, STATUS_PRUNED, err.message, NULL);
        return false;
    }
    t->launches = memory_grow(t->launches, t->launch_count + 1, sizeof *t->launches);
    if (does_too_little(r, t, &err)) {
        run_commit(r, t, STATUS_PRUNED, err.message, NULL);
        return false;
    }
    for (size_t i = 0; i < t->launch_count; i++) {
        const struct planned_launch *l = &t->launches[i];
        const struct compiled_entry *e = compiled_find(&t->compiled, r->job->stages[l->stage].entry);
        if (!e) continue;
        if (launch_check(&r->limits, &l->shape, e->figures.registers, e->figures.shared_static, &err)) {
            error_prefix(&err, "%s on %s", r->job->stages[l->stage].name, r->job->problems[l->problem].name);
            run_commit(r, t, STATUS_PRUNED, err.message, NULL);
            return false;
        }
    }
    return true;
}

static void finish(struct run *r, struct task *t, enum trial_status status, const char *reason)
{
    if (t->purpose == TASK_TRIAL)
        run_commit(r, t, status, reason, NULL);
    else if (t->purpose == TASK_COUNT)
        run_commit_counters(r, t, NULL);
    else
        run_drop_task(r, t);
}

static void take_answer(struct run *r, struct task *t, const json_t *answer)
{
    struct error err;
    const char *status = json_get_string(answer, "status", ""), *reason = json_get_string(answer, "reason", "");
    if (!strcmp(status, "source_changed")) {
        error_set(&err,
                  "'%s' has changed while it was being tuned; everything measured so far is kept under the old source. "
                  "Run the same command again",
                  r->job->source);
        run_fail(r, EXIT_USAGE, &err);
    } else if (!strcmp(status, "ok")) {
        if (compiled_read(answer, &t->compiled, &err)) {
            finish(r, t, STATUS_COMPILE_ERROR, err.message);
        } else if (t->purpose == TASK_COUNT) {
            t->state = TASK_COUNTABLE;
        } else if (check_launches(r, t)) {
            t->state = t->purpose == TASK_TRIAL ? TASK_READY : TASK_FINAL;
        }
    } else if (!strcmp(status, "compile_error") || !strcmp(status, "compile_timeout") || !strcmp(status, "pruned")) {
        finish(r, t, (enum trial_status)status_find(status), reason);
    } else {
        error_set(&err, "compiler: %s", *reason ? reason : "an answer without status");
        run_fail(r, EXIT_ENVIRONMENT, &err);
    }
}

void run_compiler_died(struct run *r, struct compile_slot *slot, const char *why)
{
    struct task *t = slot->task;
    struct error err;
    slot->task = NULL;
    worker_kill(&slot->worker);
    run_log(r, "%s", why);
    if (t) {
        error_set(&err, "the compiler failed: %s", why);
        finish(r, t, STATUS_COMPILE_ERROR, err.message);
    } else if (++slot->failed_starts >= MAX_FAILED_STARTS) {
        error_set(&err, "%s", why);
        run_fail(r, EXIT_ENVIRONMENT, &err);
    }
}

void run_handle_compiler(struct run *r, struct compile_slot *slot)
{
    json_t *answer;
    struct error err;
    int got;
    while ((got = worker_receive(&slot->worker, &answer, &err)) > 0) {
        if (slot->task && json_get_integer(answer, "id", -1) == slot->id) {
            struct task *t = slot->task;
            slot->task = NULL;
            slot->failed_starts = 0;
            take_answer(r, t, answer);
        }
        json_decref(answer);
    }
    if (got < 0) run_compiler_died(r, slot, err.message);
}

void run_check_compile_deadlines(struct run *r, double now)
{
    for (size_t i = 0; i < r->compile_count; i++) {
        struct compile_slot *slot = &r->compilers[i];
        struct task *t = slot->task;
        if (!t || now < slot->deadline) continue;
        slot->task = NULL;
        worker_kill(&slot->worker);
        finish(r, t, STATUS_COMPILE_TIMEOUT, "the compiler missed its deadline and was killed");
    }
}
