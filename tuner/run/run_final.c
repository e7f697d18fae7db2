// What the final (tuner/final) asks of the run.
#include "tuner/run/run.h"

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
