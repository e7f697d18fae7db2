// The candidates of a final: see final.h.
#include <inttypes.h>

#include "tuner/base/protocol.h"
#include "tuner/final/final.h"

struct task *final_add(struct final_run *f, const uint16_t *config, int64_t trial)
{
    struct task *t = task_add(f->with.policy, f->with.job->space, config, TASK_FINALIST, TASK_UNKNOWN);
    t->trial = trial;
    return t;
}

struct task *final_find(const struct final_run *f, int64_t trial)
{
    const struct task_queue *queue = &f->with.policy->queue;
    for (size_t i = 0; i < queue->count; i++) {
        struct task *t = (struct task *)queue->tasks[i];
        if (t->queued.purpose == TASK_FINALIST && t->trial == trial) return t;
    }
    return NULL;
}

void final_drop(struct final_run *f)
{
    const struct task_queue *queue = &f->with.policy->queue;
    for (size_t i = queue->count; i-- > 0;) {
        struct task *t = (struct task *)queue->tasks[i];
        if (t->queued.purpose == TASK_FINALIST) task_drop(f->with.policy, t);
    }
}

void final_condemn(struct final_run *f, int64_t trial, enum trial_status status, const char *reason)
{
    struct error err;
    display_message(f->with.display, "trial %" PRId64 " is out of the final: %s: %s", trial, status_name(status),
                    reason);
    if (store_add_verdict(f->with.store, trial, status, reason, &err))
        fatal_error_set(f->with.failure, EXIT_ENVIRONMENT, &err);
}
