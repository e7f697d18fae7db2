// The finals of a run: what the final (tuner/final) asks of the run, and how often there is one.
#include <math.h>

#include "tuner/base/interrupt.h"
#include "tuner/run/run.h"

enum { FINALS_MOST = 10 }; // tried at most, until candidates pass

static struct task *add_task(void *run, const uint16_t *config, enum task_purpose purpose)
{
    return run_add_task(run, config, purpose);
}

static void drop_task(void *run, struct task *t)
{
    run_drop_task(run, t);
}

static void condemn(void *run, int64_t trial, enum trial_status status, const char *reason)
{
    run_condemn(run, trial, status, reason);
}

static void fail(void *run, int exit_status, const struct error *why)
{
    run_fail(run, exit_status, why);
}

static bool failed(const void *run)
{
    return ((const struct run *)run)->fatal;
}

void run_final_open(struct run *r)
{
    r->final.with = (struct final_parts){.host = {r, add_task, drop_task, condemn, fail, failed},
                                         .job = r->job,
                                         .job_answer = r->job_answer,
                                         .seed = r->seed,
                                         .nvcc = r->options->nvcc,
                                         .events = r->options->events,
                                         .pool = &r->pool,
                                         .setup = &r->setup,
                                         .policy = &r->policy,
                                         .store = r->store,
                                         .display = &r->display};
}

// Of the finalists' tasks that there are; in all processes.
static void race(struct run *r)
{
    policy_begin_final(&r->policy);
    do run_follow_policy(r);
    while (final_goes_on(&r->final));
}

static enum final_outcome race_builds(struct run *r)
{
    if (r->fatal || interrupt_count() || !builds_begin(&r->final)) return FINAL_DECIDED;
    race(r);
    return builds_finish(&r->final) == FINAL_AGAIN ? FINAL_AGAIN : FINAL_DECIDED;
}

void run_final(struct run *r)
{
    enum final_outcome outcome = FINAL_AGAIN;
    for (int i = 0; i < FINALS_MOST && r->final.open < FINALS_OPEN_MOST && !r->fatal; i++) {
        if (!final_begin(&r->final)) {
            if (i) display_message(&r->display, "the final has no winner: no candidate is left");
            if (i) final_event_outcome(&r->final, FINAL_FAILED, "no candidate is left");
            break;
        }
        race(r);
        if (!r->final.answer && !r->policy.final_over) return; // interrupted
        outcome = final_finish(&r->final);
        if (outcome == FINAL_DECIDED) outcome = race_builds(r);
        r->final.open += outcome == FINAL_OPEN;
        if (outcome != FINAL_AGAIN && outcome != FINAL_OPEN) break;
    }
    if (outcome == FINAL_OPEN && !r->fatal)
        display_message(&r->display,
                        "no winner is decided: stop other work on the GPU and run the same command again with "
                        "--evaluations 1, or raise the job's measure.final.rounds");
    r->final_failed = outcome != FINAL_DECIDED && isfinite(r->incumbent.objective);
}
