// A run in simulated time, for tests of the driver's decisions (policy.h): compilers and GPUs that take as long as they
// are told to, and nothing real.
#ifndef SWEETSPOT_POLICY_SIM_H
#define SWEETSPOT_POLICY_SIM_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "search/random.h"
#include "tuner/base/memory.h"
#include "tuner/run/policy.h"

enum { MOST_TASKS = 4000, MOST_WORKERS = 32 };

struct sim_task {
    struct queued_task queued; // first
    int number;                // from 1, in order of proposal
    double compile, gpu;       // s that it takes
    bool fails_to_compile;
    bool kills_counting;
};

// A run in simulated time. Everything that is decided is appended to `trace`: "p3" proposed, "c3" compiled, "r3"
// recalled, "m3" measured, "d3" dropped, "n2" two counted together, "f" final.
struct sim {
    struct policy policy;
    struct random random;
    double now;
    struct sim_task tasks[MOST_TASKS];
    int proposed, most; // proposals made, and how many there are
    bool counts;        // what was measured is counted
    double compiled_at[MOST_WORKERS], answered_at[MOST_WORKERS];
    double gpu_busy[MOST_WORKERS];
    double (*compile_time)(struct sim *);
    double gpu_time;
    enum task_known (*known)(int number);
    double (*objective)(int number);
    int told[MOST_TASKS], told_count, dropped, counted, without_counters, batches[MOST_TASKS], batch_count;
    size_t left_countable[MOST_TASKS]; // after each batch
    char trace[65536];
    size_t trace_length;
    bool done;
};

static inline double one_second(struct sim *s)
{
    (void)s;
    return 1;
}

static inline double falling(int number)
{
    return 1.0 / number;
}

static inline struct sim *new_sim(const struct policy_settings *settings, int most)
{
    struct sim *s = memory_new(1, sizeof *s);
    policy_init(&s->policy, settings);
    random_seed(&s->random, 1);
    s->most = most;
    s->compile_time = one_second;
    s->gpu_time = 1;
    s->objective = falling;
    for (int i = 0; i < MOST_WORKERS; i++) s->compiled_at[i] = s->answered_at[i] = INFINITY;
    for (size_t i = 0; i < settings->gpus; i++) policy_gpu_ready(&s->policy, i);
    policy_begin(&s->policy, 0);
    return s;
}

static inline void free_sim(struct sim *s)
{
    policy_release(&s->policy);
    free(s);
}

static inline void trace(struct sim *s, char what, int number)
{
    if (s->trace_length + 16 > sizeof s->trace) return;
    s->trace_length += (size_t)snprintf(s->trace + s->trace_length, sizeof s->trace - s->trace_length,
                                        number ? "%s%c%d" : "%s%c", s->trace_length ? " " : "", what, number);
}

static inline void propose(struct sim *s)
{
    if (s->proposed == s->most) {
        policy_no_proposal(&s->policy, !task_queue_outstanding(&s->policy.queue));
        return;
    }
    struct sim_task *t = &s->tasks[s->proposed++];
    t->number = s->proposed;
    t->compile = s->compile_time(s);
    t->gpu = s->gpu_time;
    policy_add(&s->policy, &t->queued, TASK_TRIAL, s->known ? s->known(t->number) : TASK_UNKNOWN);
    trace(s, 'p', t->number);
}

static inline void tell(struct sim *s, const struct sim_task *t, double objective)
{
    s->told[s->told_count++] = t->number;
    policy_told(&s->policy, objective);
}

// When the head of a GPU's queue will be answered.
static inline void plan_answer(struct sim *s, size_t gpu)
{
    const struct policy_gpu *g = &s->policy.gpus[gpu];
    double seconds = 0;
    if (g->queued && g->queue[0].kind == REQUEST_TRIAL) seconds = ((struct sim_task *)g->queue[0].tasks[0])->gpu;
    if (g->queued && g->queue[0].kind == REQUEST_COUNT) seconds = 1;
    s->answered_at[gpu] = g->queued ? s->now + seconds : INFINITY;
}

// Carries out all that can be done now. False when the policy is done.
static inline bool decide(struct sim *s)
{
    for (;;) {
        struct policy_action a = policy_next(&s->policy, s->now);
        struct sim_task *t = (struct sim_task *)a.task;
        switch (a.kind) {
        case POLICY_WAIT:
            return true;
        case POLICY_DONE:
            s->done = true;
            return false;
        case POLICY_PROPOSE:
            propose(s);
            break;
        case POLICY_COMPILE:
            trace(s, 'c', t->number);
            assert_true(isinf(s->compiled_at[a.worker]));
            s->compiled_at[a.worker] = s->now + t->compile;
            break;
        case POLICY_RECALL:
            trace(s, 'r', t->number);
            tell(s, t, t->fails_to_compile ? NAN : s->objective(t->number));
            policy_remove(&s->policy, &t->queued);
            break;
        case POLICY_MEASURE:
            trace(s, 'm', t->number);
            assert_true(s->policy.gpus[a.worker].ready);
            if (s->policy.gpus[a.worker].queued == 1) plan_answer(s, a.worker);
            break;
        case POLICY_COUNT:
            trace(s, 'n', (int)a.request->task_count);
            s->left_countable[s->batch_count] = task_queue_count(&s->policy.queue, TASK_COUNTABLE);
            s->batches[s->batch_count++] = (int)a.request->task_count;
            if (s->policy.gpus[a.worker].queued == 1) plan_answer(s, a.worker);
            break;
        case POLICY_DROP:
            trace(s, 'd', t->number);
            assert_int_equal(a.worker == POLICY_NOBODY, t->queued.state != TASK_COMPILING);
            if (a.worker != POLICY_NOBODY) s->compiled_at[a.worker] = INFINITY;
            policy_remove(&s->policy, &t->queued);
            s->dropped++;
            break;
        case POLICY_FINAL:
            trace(s, 'f', 0);
            break;
        }
    }
}

static inline void compiler_answers(struct sim *s, size_t compiler)
{
    struct sim_task *t = (struct sim_task *)s->policy.compiling[compiler];
    s->compiled_at[compiler] = INFINITY;
    if (!t->fails_to_compile) {
        policy_compiled(&s->policy, &t->queued);
    } else {
        tell(s, t, NAN);
        policy_remove(&s->policy, &t->queued);
    }
}

static inline void gpu_answers(struct sim *s, size_t gpu)
{
    struct policy_request request = policy_gpu_answered(&s->policy, gpu);
    for (size_t i = 0; i < request.task_count; i++) {
        struct sim_task *t = (struct sim_task *)request.tasks[i];
        if (request.kind == REQUEST_TRIAL) {
            tell(s, t, s->objective(t->number));
            s->gpu_busy[gpu] += t->gpu;
        }
        s->counted += request.kind == REQUEST_COUNT;
        if (request.kind == REQUEST_TRIAL && s->counts)
            policy_countable(&s->policy, &t->queued);
        else
            policy_remove(&s->policy, &t->queued);
    }
    free(request.tasks);
    plan_answer(s, gpu);
}

// Loses a GPU's worker as the driver does: what is to blame gets a failure.
static inline void lose(struct sim *s, size_t gpu, bool announced)
{
    struct policy_request blamed = policy_gpu_lost(&s->policy, gpu, announced);
    s->answered_at[gpu] = INFINITY;
    for (size_t i = 0; i < blamed.task_count; i++) {
        struct sim_task *t = (struct sim_task *)blamed.tasks[i];
        if (blamed.kind == REQUEST_TRIAL) tell(s, t, NAN);
        s->without_counters += blamed.kind == REQUEST_COUNT;
        policy_remove(&s->policy, &t->queued);
    }
    free(blamed.tasks);
}

// The next thing that happens. False when nothing will.
static inline bool step(struct sim *s)
{
    double *first = NULL;
    size_t worker = 0;
    for (size_t i = 0; i < MOST_WORKERS; i++) {
        if (isfinite(s->compiled_at[i]) && (!first || s->compiled_at[i] < *first)) first = &s->compiled_at[worker = i];
        if (isfinite(s->answered_at[i]) && (!first || s->answered_at[i] < *first)) first = &s->answered_at[worker = i];
    }
    if (!first) return false;
    s->now = *first;
    if (first == &s->compiled_at[worker]) {
        compiler_answers(s, worker);
        return true;
    }
    const struct policy_request *head = &s->policy.gpus[worker].queue[0];
    bool killed = false;
    for (size_t i = 0; i < head->task_count && head->kind == REQUEST_COUNT; i++)
        killed |= ((struct sim_task *)head->tasks[i])->kills_counting;
    if (killed) {
        lose(s, worker, false);
        policy_gpu_ready(&s->policy, worker);
    } else {
        gpu_answers(s, worker);
    }
    return true;
}

static inline void run_to_the_end(struct sim *s)
{
    for (int steps = 0; decide(s); steps++)
        if (!step(s) || steps > 10 * MOST_TASKS) fail_msg("the run stands still after: %s", s->trace);
}

#endif
