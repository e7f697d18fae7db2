// See pool_slots.h.
#include "tuner/pool/pool_slots.h"

#include <math.h>

// Time for which the driver was suspended (a container that was paused, a laptop that slept), `all`, does not count for
// a worker, nor does time for which it is stopped itself; one that stays stopped is given up.
static void allow(const struct worker *w, double seconds, bool all, double *stopped, double *deadline)
{
    bool stands = !all && *stopped < WORKER_LONGEST_STOP && worker_stopped(w);
    if (stands) *stopped += seconds;
    if (all || (stands && *stopped < WORKER_LONGEST_STOP))
        *deadline += seconds;
    else if (stands)
        *deadline = 0;
}

static void allow_for_pauses(struct worker_pool *p, double seconds, bool all)
{
    for (size_t i = 0; i < p->gpu_count; i++) {
        struct gpu_slot *slot = &p->gpus[i];
        if (slot->state == GPU_DOWN || (slot->state == GPU_READY && !slot->queued)) continue;
        allow(&slot->worker, seconds, all, &slot->stopped, &slot->deadline);
    }
    for (size_t i = 0; i < p->compiler_count; i++) {
        struct compile_slot *slot = &p->compilers[i];
        if (slot->busy) allow(&slot->worker, seconds, all, &slot->stopped, &slot->deadline);
    }
}

void pool_poll_stops(struct worker_pool *p, double now)
{
    if (now - p->polled < WORKER_POLL) return;
    allow_for_pauses(p, fmin(now - p->polled, WORKER_OVERSLEPT), false);
    p->polled = now;
}

void pool_allow_for_pause(struct worker_pool *p, double seconds)
{
    allow_for_pauses(p, seconds, true);
}
