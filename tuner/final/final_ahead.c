// Lets nvcc compile the likely winner during the rounds: see final.h.
#include "tuner/base/clock.h"
#include "tuner/base/interrupt.h"
#include "tuner/final/final.h"

bool builds_wanted(const struct final_run *f)
{
    const char *given = getenv("SWEETSPOT_NVCC"); // "none", or a path: tuner/compiler/nvcc.h
    if (given && !strcmp(given, "none")) return false;
    if (f->with.job->code.compiler == JOB_NVCC) return false; // nvcc's is the only build
    return !f->with.pool->replay && f->with.checks;
}

// Uses a separate compiler process, since the policy uses the others. The binary stays in the cache until it is needed.
// Does nothing with a pool of nodes, whose compilers run on other machines.
void builds_ahead(struct final_run *f, int64_t trial)
{
    struct worker_pool *pool = f->with.pool;
    const struct task *t = final_find(f, trial);
    char *const argv[] = {pool->compile_program, NULL};
    int status;
    if (f->builds.ahead_of == trial || !t || f->builds.on || pool->remote.node_count || !builds_wanted(f)) return;
    if (f->builds.ahead_of && f->builds.ahead.pid && !child_ended(&f->builds.ahead, &status)) return;
    if (f->builds.ahead_of) child_close_all(&f->builds.ahead);
    f->builds.ahead_of = 0;
    if (child_start(&f->builds.ahead, argv, NULL, true, NULL)) return;
    f->builds.ahead_of = trial;
    autojson json_t *request = job_setup_compile(f->with.setup, pool, t->config, t->text, true);
    json_write_line(f->builds.ahead.to, request, NULL);
    child_close(&f->builds.ahead.to); // the compiler ends when it has answered
}

// Waits for the build that was begun. If no time is left or the user interrupts, kills it; nvcc's files then stay
// behind.
void builds_end_ahead(struct final_run *f)
{
    if (!f->builds.ahead_of) return;
    double now = clock_now(), left = final_clock_left(&f->clock, now);
    double until = now + fmin(f->with.job->code.compile_timeout + COMPILE_GRACE, left);
    int status;
    while (f->builds.ahead.pid && !child_ended(&f->builds.ahead, &status))
        if (clock_now() < until && !interrupt_count())
            poll(NULL, 0, 20);
        else
            child_kill(&f->builds.ahead, &status);
    child_close_all(&f->builds.ahead);
    f->builds.ahead_of = 0;
}
