// Trials that have ended, on their way into the store: see run.h.
#include <stdlib.h>

#include "tuner/base/memory.h"
#include "tuner/run/run.h"

void run_commit(struct run *r, struct task *t, enum trial_status status, const char *reason,
                const struct trial_answer *answer, struct arena *memory)
{
    struct finished_trial *f = memory_new(1, sizeof *f);
    f->task = t;
    f->measured = answer != NULL;
    if (f->measured) f->check = run_check_candidate(r, t);
    trial_record_make(&f->record,
                      &(struct trial_facts){.job = r->job,
                                            .limits = &r->pool.limits,
                                            .config = t->text,
                                            .device_id = t->device_id,
                                            .compiled = &t->compiled,
                                            .launches = t->launches,
                                            .launch_count = t->launch_count,
                                            .answer = answer,
                                            .memory = memory,
                                            .counts = r->metric_count > 0},
                      status, reason);
    r->finished = memory_grow(r->finished, r->finished_count + 1, sizeof(struct finished_trial *));
    r->finished[r->finished_count++] = f;
}

static int put(struct run *r, struct finished_trial *f, struct error *err)
{
    if (!f->task->queued.retry) return store_add(r->store, &f->record.trial, err);
    f->record.trial.id = f->task->trial;
    return store_add_retry(r->store, &f->record.trial, err);
}

void run_commit_all(struct run *r)
{
    struct error err;
    size_t count = r->finished_count;
    if (!count) return;
    struct trial **trials = memory_new(count, sizeof(struct trial *));
    bool apart = count == 1, failed = false;
    for (size_t i = 0; i < count; i++) {
        trials[i] = &r->finished[i]->record.trial;
        apart |= r->finished[i]->task->queued.retry;
    }
    bool together = !apart && !store_add_all(r->store, trials, count, &err);
    for (size_t i = 0; i < count; i++) {
        struct finished_trial *f = r->finished[i];
        // Where they cannot be stored together (a full disk), as many as can be are.
        if (!together && !failed && put(r, f, &err)) {
            run_fail(r, EXIT_ENVIRONMENT, &err);
            failed = true;
        }
        if (!failed) run_tell_committed(r, f->task, &f->record);
        bool valid = !failed && trials[i]->status == STATUS_OK;
        if (f->measured) run_check_note(r, &f->check, valid ? trials[i]->id : 0, trials[i]->objective);
        trial_record_release(&f->record);
        free(f);
    }
    free(trials);
    r->finished_count = 0;
}
