// The results of a run: trials that have ended are committed to the store together, and then reported to the strategy.
#include "tuner/run/run.h"
#include "tuner/setup/work_bounds.h"

void run_add_proposal(struct run *r, const uint16_t *config)
{
    autofree char *text = space_text(r->job->space, config);
    enum task_known known = TASK_UNKNOWN;
    struct trial trial;
    struct error err;
    int found = store_find(r->store, text, &trial, &err);
    if (found < 0)
        fatal_error_set(&r->failure, EXIT_ENVIRONMENT, &err);
    else if (!found) // measured in an earlier run
        known = trial.status == STATUS_COMPILE_ERROR || trial.status == STATUS_COMPILE_TIMEOUT ||
                        trial.status == STATUS_PRUNED
                    ? TASK_KNOWN_TO_FAIL_BEFORE_GPU
                    : TASK_KNOWN_FROM_GPU;
    task_add(&r->policy, r->job->space, config, TASK_TRIAL, known);
}

void run_commit(struct run *r, struct task *t, enum trial_status status, const char *reason,
                const struct trial_answer *answer, struct arena *memory)
{
    struct commit_queue *q = &r->finished;
    memory_add(q->list, q->count) = (struct finished_trial){.task = t, .measured = answer != NULL};
    run_record_trial(r, &q->list[q->count - 1], status, reason, answer, memory);
}

// Reports a result to the search, and logs it if it is the best so far.
static void take_result(struct run *r, const struct search_result *x, bool stored)
{
    const struct incumbent *best = &r->search.incumbent;
    bool first = !isfinite(best->objective);
    size_t problem;
    char ratio[64] = "";
    if (!search_take(&r->search, x, &problem)) return;
    run_event_best(r, first, stored, problem);
    if (r->job->search.objective == OBJECTIVE_EACH) {
        display_log(&r->display, "new best for %s: %s (trial %" PRId64 "): %s", r->job->problems[problem].name,
                    text_show_duration(x->times[problem], TEXT_ROOM), x->trial, x->text);
        return;
    }
    if (isfinite(best->baseline)) snprintf(ratio, sizeof ratio, ", %.3fx as fast as ", best->baseline / x->objective);
    display_log(&r->display, "%s %s%s%s (trial %" PRId64 "): %s",
                first ? "first result:" : "new best:", text_show_duration(x->objective, TEXT_ROOM), ratio,
                *ratio ? best->baseline_name : "", x->trial, x->text);
}

// Warns once per run if the job's work figures are doubtful.
static void doubt_work(struct run *r, const double *times)
{
    struct error warning;
    for (size_t p = 0; p < r->job->tuned_count && !r->work_doubted; p++)
        if (work_is_doubtful(r->job, p, times[p], r->ceilings, &warning)) {
            display_message(&r->display, "warning: %s", warning.message);
            r->work_doubted = true;
        }
}

static void add_to_statistics(struct run_statistics *s, const struct trial *trial, const struct task *t)
{
    s->new_trials += !t->queued.retry;
    s->compile_seconds += t->compiled.cached ? 0 : t->compiled.seconds;
    s->cache_hits += t->compiled.cached;
    if (isfinite(trial->gpu_busy)) s->gpu_busy += trial->gpu_busy;
    if (isfinite(trial->gpu_seconds)) s->gpu_wall += trial->gpu_seconds;
    if (isfinite(trial->clock_mhz)) s->clock_mhz = trial->clock_mhz;
    if (isfinite(trial->temperature)) s->temperature = trial->temperature;
}

// Handles a trial that is now in the store.
static void take_committed(struct run *r, const struct finished_trial *f)
{
    const struct trial *trial = &f->trial;
    struct task *t = f->task;
    enum trial_status status = trial->status;
    t->trial = trial->id;
    t->objective = trial->objective;
    add_to_statistics(&r->statistics, trial, t);
    take_result(
        r, &(struct search_result){t->config, t->text, trial->id, status, trial->objective, f->times, t->queued.retry},
        false);
    if (status == STATUS_OK) doubt_work(r, f->times);
    bool common = status != STATUS_CRASHED && status != STATUS_TIMEOUT && r->search.counts[status] > 3;
    if (status != STATUS_OK && status != STATUS_SLOW && !common)
        display_log(&r->display, "trial %" PRId64 " %s: %.300s (%s)", trial->id, status_name(status), trial->reason,
                    t->text);
    if (trial->counted)
        task_drop(&r->policy, t);
    else
        policy_countable(&r->policy, &t->queued);
}

static int put(struct run *r, struct finished_trial *f, struct error *err)
{
    if (!f->task->queued.retry) return store_add(r->store, &f->trial, err);
    f->trial.id = f->task->trial;
    return store_add_retry(r->store, &f->trial, err);
}

void run_commit_all(struct run *r)
{
    struct error err;
    size_t count = r->finished.count;
    if (!count) return;
    autofree struct trial **trials = memory_new(count, sizeof(struct trial *));
    bool apart = count == 1, failed = false;
    for (size_t i = 0; i < count; i++) {
        trials[i] = &r->finished.list[i].trial;
        apart |= r->finished.list[i].task->queued.retry;
    }
    bool together = !apart && !store_add_all(r->store, trials, count, &err);
    for (size_t i = 0; i < count; i++) {
        struct finished_trial *f = &r->finished.list[i];
        // If the trials cannot be stored together (for example on a full disk), store as many as possible one by one.
        if (!together && !failed && put(r, f, &err)) {
            fatal_error_set(&r->failure, EXIT_ENVIRONMENT, &err);
            failed = true;
        }
        if (!failed && f->measured && trials[i]->status == STATUS_OK)
            gpu_checks_note(&r->checks, f->task, trials[i]->id, trials[i]->objective);
        if (!failed) take_committed(r, f);
        arena_release(&f->memory);
    }
    r->finished.count = 0;
}

void run_commit_counters(struct run *r, struct task *t, const struct counted_trial *answer)
{
    size_t count;
    autofree struct trial_counter *counters = run_record_counters(r, answer, &count);
    struct error err;
    if (store_add_counters(r->store, t->trial, counters, count, &err))
        fatal_error_set(&r->failure, EXIT_ENVIRONMENT, &err);
    task_drop(&r->policy, t);
}

// Takes the result of a trial measured by an earlier run.
static void take_stored(struct run *r, const struct trial *trial)
{
    struct search_result x;
    uint16_t config[SPACE_MAX_PARAMETERS];
    double times[JOB_MAX_PROBLEMS];
    if (search_read(&r->search, trial, &x, config, times)) take_result(r, &x, true);
}

void run_replay_known(struct run *r, struct task *t)
{
    struct trial trial;
    struct error err;
    int found = store_find(r->store, t->text, &trial, &err);
    if (found < 0) fatal_error_set(&r->failure, EXIT_ENVIRONMENT, &err);
    if (!found) take_stored(r, &trial);
    task_drop(&r->policy, t);
}

static int visit(void *user, const struct trial *trial)
{
    struct run *r = user;
    if (!search_has_reported(&r->search, trial->id)) take_stored(r, trial);
    return 0;
}

void run_replay_stored(struct run *r)
{
    struct error err;
    if (store_each(r->store, false, 0, STORE_PROBLEMS, visit, r, &err) < 0)
        fatal_error_set(&r->failure, EXIT_ENVIRONMENT, &err);
}
