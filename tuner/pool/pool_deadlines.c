// See pool_slots.h.
#include "tuner/pool/pool_slots.h"

#include <math.h>

// A worker that is stopped does not use up its time; one that stays stopped is given up.
static void allow_for_stop(const struct worker *w, double seconds, double *stopped, double *deadline)
{
    if (*stopped >= WORKER_LONGEST_STOP || !worker_stopped(w)) return;
    *stopped += seconds;
    if (*stopped < WORKER_LONGEST_STOP)
        *deadline += seconds;
    else
        *deadline = 0;
}

// The same for the time for which the driver was suspended (a container that was paused, a laptop that slept), `all`.
static void allow_for_pauses(struct worker_pool *p, double seconds, bool all)
{
    for (size_t i = 0; i < p->gpu_count; i++) {
        struct gpu_slot *slot = &p->gpus[i];
        if (slot->state == GPU_DOWN || (slot->state == GPU_READY && !slot->queued)) continue;
        if (all)
            slot->deadline += seconds;
        else
            allow_for_stop(&slot->worker, seconds, &slot->stopped, &slot->deadline);
    }
    for (size_t i = 0; i < p->compiler_count; i++) {
        struct compile_slot *slot = &p->compilers[i];
        if (slot->busy && all)
            slot->deadline += seconds;
        else if (slot->busy)
            allow_for_stop(&slot->worker, seconds, &slot->stopped, &slot->deadline);
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
