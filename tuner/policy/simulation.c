// See simulation.h.
#include "tuner/policy/simulation.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "tuner/base/memory.h"

void simulation_init(struct simulation *s, const struct policy_settings *settings, const struct simulation_calls *calls)
{
    policy_init(&s->policy, settings);
    s->calls = calls;
    s->now = 0;
    s->done = false;
    s->compiled_at = memory_new(settings->compilers, sizeof *s->compiled_at);
    s->answered_at = memory_new(settings->gpus, sizeof *s->answered_at);
    s->busy = memory_new(settings->gpus, sizeof *s->busy);
    for (size_t i = 0; i < settings->compilers; i++) s->compiled_at[i] = INFINITY;
    for (size_t i = 0; i < settings->gpus; i++) {
        s->answered_at[i] = INFINITY;
        policy_gpu_ready(&s->policy, i);
    }
    policy_begin(&s->policy, 0);
}

void simulation_release(struct simulation *s)
{
    policy_release(&s->policy);
    free(s->compiled_at);
    free(s->answered_at);
    free(s->busy);
}

// The request at the head of a GPU's queue begins.
static void begin(struct simulation *s, size_t gpu)
{
    const struct policy_gpu *g = &s->policy.gpus[gpu];
    double seconds = g->queued ? s->calls->begin(s, &g->queue[0]) : INFINITY;
    s->answered_at[gpu] = s->now + seconds;
    if (g->queued) s->busy[gpu] += seconds;
}

bool simulation_decide(struct simulation *s)
{
    for (;;) {
        struct policy_action a = policy_next(&s->policy, s->now);
        if (s->calls->decided) s->calls->decided(s, &a);
        switch (a.kind) {
        case POLICY_WAIT:
            return true;
        case POLICY_DONE:
            s->done = true;
            return false;
        case POLICY_PROPOSE:
            s->calls->propose(s);
            break;
        case POLICY_COMPILE:
            assert(isinf(s->compiled_at[a.worker]));
            s->compiled_at[a.worker] = s->now + s->calls->compile(s, a.task);
            break;
        case POLICY_MEASURE:
        case POLICY_COUNT:
        case POLICY_CHECK:
        case POLICY_FINAL:
            assert(s->policy.gpus[a.worker].ready);
            if (s->policy.gpus[a.worker].queued == 1) begin(s, a.worker);
            break;
        case POLICY_DROP:
            if (a.worker != POLICY_NO_WORKER) s->compiled_at[a.worker] = INFINITY;
            s->calls->gone(s, &a);
            break;
        case POLICY_RANK:
            s->calls->rank(s);
            break;
        case POLICY_RECALL:
        case POLICY_FORGET:
            s->calls->gone(s, &a);
            break;
        }
    }
}

void simulation_compiler_answers(struct simulation *s, size_t compiler)
{
    s->compiled_at[compiler] = INFINITY;
    policy_clock(&s->policy, s->now);
    s->calls->compiled(s, s->policy.compilers[compiler].task);
}

void simulation_gpu_answers(struct simulation *s, size_t gpu)
{
    policy_clock(&s->policy, s->now);
    struct policy_request request = policy_gpu_answered(&s->policy, gpu);
    s->calls->answered(s, &request, false);
    free(request.tasks);
    begin(s, gpu);
}

void simulation_gpu_lost(struct simulation *s, size_t gpu, bool announced)
{
    policy_clock(&s->policy, s->now);
    struct policy_request blamed = policy_gpu_lost(&s->policy, gpu, announced);
    s->answered_at[gpu] = INFINITY;
    s->calls->answered(s, &blamed, true);
    free(blamed.tasks);
}

// Finds the earliest of `count` times. If it is before `*least`, sets `*least` to it and returns its index; otherwise
// returns POLICY_NO_WORKER.
static size_t earliest(const double *times, size_t count, double *least)
{
    size_t first = POLICY_NO_WORKER;
    for (size_t i = 0; i < count; i++)
        if (times[i] < *least) *least = times[first = i];
    return first;
}

bool simulation_step(struct simulation *s)
{
    double when = INFINITY;
    size_t compiler = earliest(s->compiled_at, s->policy.settings.compilers, &when);
    size_t gpu = earliest(s->answered_at, s->policy.settings.gpus, &when);
    if (isinf(when)) return false;
    s->now = when;
    if (gpu == POLICY_NO_WORKER) {
        simulation_compiler_answers(s, compiler);
    } else if (s->calls->kills && s->calls->kills(s, &s->policy.gpus[gpu].queue[0])) {
        simulation_gpu_lost(s, gpu, false);
        policy_gpu_ready(&s->policy, gpu); // restarted
    } else {
        simulation_gpu_answers(s, gpu);
    }
    return true;
}
