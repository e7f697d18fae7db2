// Tasks and what becomes of them: see run.h.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/run/run.h"
#include "tuner/run/trial_record.h"

void run_fail(struct run *r, int exit_status, const struct error *why)
{
    if (r->fatal) return;
    r->fatal = true;
    r->fatal_status = exit_status;
    r->failure = *why;
}

struct task *run_add_task(struct run *r, const uint16_t *config, enum task_purpose purpose)
{
    struct task *t = memory_new(1, sizeof *t);
    char text[TUNE_CONFIG_TEXT];
    memcpy(t->config, config, space_parameter_count(r->job->space) * sizeof *config);
    space_format(r->job->space, config, text, sizeof text);
    t->text = text_copy(text);
    t->purpose = purpose;
    t->objective = NAN;
    if (r->task_count == r->task_room) {
        r->task_room = 2 * r->task_room + 64;
        r->tasks = memory_grow(r->tasks, r->task_room, sizeof(struct task *));
    }
    r->tasks[r->task_count++] = t;
    return t;
}

void run_drop_task(struct run *r, struct task *t)
{
    size_t i = 0;
    while (i < r->task_count && r->tasks[i] != t) i++;
    if (i < r->task_count) {
        memmove(&r->tasks[i], &r->tasks[i + 1], (r->task_count - i - 1) * sizeof(struct task *));
        r->task_count--;
    }
    compiled_release(&t->compiled);
    json_decref(t->problems);
    free(t->launches);
    free(t->text);
    free(t);
}

size_t run_count_tasks(const struct run *r, enum task_state state)
{
    size_t n = 0;
    for (size_t i = 0; i < r->task_count; i++) n += r->tasks[i]->state == state;
    return n;
}

struct task *run_first_task(const struct run *r, enum task_state state)
{
    for (size_t i = 0; i < r->task_count; i++)
        if (r->tasks[i]->state == state) return r->tasks[i];
    return NULL;
}

static enum outcome outcome_of(enum trial_status status)
{
    switch (status) {
    case STATUS_OK:
        return OUTCOME_OK;
    case STATUS_SLOW:
        return OUTCOME_SLOW;
    case STATUS_PRUNED:
        return OUTCOME_PRUNED;
    default:
        return OUTCOME_INVALID;
    }
}

// With a kernel for each problem, the best is what the best kernels of all of them do together.
static void note_each(struct run *r, const double *times, const char *text, int64_t trial)
{
    size_t better = r->job->tuned_count;
    for (size_t p = r->job->tuned_count; p-- > 0;) {
        if (!(times[p] < r->best_times[p])) continue;
        r->best_times[p] = times[p];
        better = p;
    }
    if (better == r->job->tuned_count) return;
    r->best = job_objective(r->job, r->best_times);
    snprintf(r->best_text, sizeof r->best_text, "%s", text);
    r->best_trial = trial;
    char shown[32];
    run_log(r, "new best for %s: %s (trial %" PRId64 "): %s", r->job->problems[better].name,
            text_show_duration(times[better], shown, sizeof shown), trial, text);
}

static void note_best(struct run *r, double objective, const double *times, const char *text, int64_t trial)
{
    if (r->job->objective == OBJECTIVE_EACH) return note_each(r, times, text, trial);
    if (!(objective < r->best)) return;
    bool first = !isfinite(r->best);
    char shown[32], ratio[48] = "";
    r->best = objective;
    memcpy(r->best_times, times, r->job->tuned_count * sizeof *times);
    snprintf(r->best_text, sizeof r->best_text, "%s", text);
    r->best_trial = trial;
    if (isfinite(r->baseline)) snprintf(ratio, sizeof ratio, ", %.3f of %s", r->baseline / objective, r->baseline_name);
    run_log(r, "%s %s%s (trial %" PRId64 "): %s",
            first ? "first result:" : "new best:", text_show_duration(objective, shown, sizeof shown), ratio, trial,
            text);
}

// What the stop rules look at: a result's objective, or with a kernel for each problem what all results together come
// to.
static double stop_objective(const struct run *r, double objective, const double *times)
{
    double best[JOB_MAX_PROBLEMS];
    if (r->job->objective != OBJECTIVE_EACH || !isfinite(r->best)) return objective;
    for (size_t p = 0; p < r->job->tuned_count; p++) best[p] = fmin(times[p], r->best_times[p]);
    return job_objective(r->job, best);
}

// Which of the store's trials the strategy has been told, by their numbers.
static void mark_told(struct run *r, int64_t trial)
{
    if ((size_t)trial >= r->told_room) {
        size_t room = 2 * (size_t)trial + 256;
        r->told = memory_grow(r->told, room, sizeof *r->told);
        memset(r->told + r->told_room, 0, (room - r->told_room) * sizeof *r->told);
        r->told_room = room;
    }
    r->told[trial] = true;
}

static bool was_told(const struct run *r, int64_t trial)
{
    return (size_t)trial < r->told_room && r->told[trial];
}

static void tell(struct run *r, const uint16_t *config, enum trial_status status, double objective, const double *times)
{
    struct observation o = {.config = config, .outcome = outcome_of(status), .objective = objective};
    bool each = r->job->objective == OBJECTIVE_EACH;
    if (o.outcome != OUTCOME_OK && o.outcome != OUTCOME_SLOW)
        o.objective = NAN;
    else if (each)
        o.objectives = times;
    strategy_tell(r->strategy, &o);
    stop_tell(&r->stop, o.outcome == OUTCOME_OK ? stop_objective(r, objective, times) : NAN);
    r->evaluations++;
    r->counts[status]++;
}

void run_commit(struct run *r, struct task *t, enum trial_status status, const char *reason, const json_t *answer)
{
    struct trial_record record;
    struct trial *trial = &record.trial;
    struct error err;
    trial_record_make(&record,
                      &(struct trial_facts){.job = r->job,
                                            .limits = &r->limits,
                                            .config = t->text,
                                            .device_id = t->device_id,
                                            .compiled = &t->compiled,
                                            .launches = t->launches,
                                            .launch_count = t->launch_count,
                                            .answer = answer,
                                            .counts = r->metric_count > 0},
                      status, reason);
    if (store_add(r->store, trial, &err)) {
        run_fail(r, EXIT_ENVIRONMENT, &err);
        trial_record_release(&record);
        return;
    }
    t->trial = trial->id;
    t->objective = trial->objective;
    r->new_trials++;
    r->compile_seconds += t->compiled.cached ? 0 : t->compiled.seconds;
    r->cache_hits += t->compiled.cached;
    if (isfinite(trial->gpu_busy)) r->gpu_busy += trial->gpu_busy;
    if (isfinite(trial->gpu_seconds)) r->gpu_wall += trial->gpu_seconds;
    if (isfinite(trial->clock_mhz)) r->clock_mhz = trial->clock_mhz;
    if (isfinite(trial->temperature)) r->temperature = trial->temperature;
    tell(r, t->config, trial->status, trial->objective, record.times);
    mark_told(r, trial->id);
    if (trial->status == STATUS_OK) note_best(r, trial->objective, record.times, t->text, trial->id);
    if (trial->status != STATUS_OK && trial->status != STATUS_SLOW &&
        (r->counts[trial->status] <= 3 || trial->status == STATUS_CRASHED || trial->status == STATUS_TIMEOUT))
        run_log(r, "trial %" PRId64 " %s: %.300s (%s)", trial->id, status_name(trial->status), trial->reason, t->text);
    bool counted = trial->counted;
    trial_record_release(&record);
    if (counted)
        run_drop_task(r, t);
    else
        t->state = TASK_COUNTABLE;
}

void run_commit_counters(struct run *r, struct task *t, const json_t *answer)
{
    size_t count;
    struct trial_counter *counters = trial_record_counters(answer, r->metrics, r->metric_count, &count);
    struct error err;
    if (store_add_counters(r->store, t->trial, counters, count, &err)) run_fail(r, EXIT_ENVIRONMENT, &err);
    free(counters);
    run_drop_task(r, t);
}

static void tell_trial(struct run *r, const uint16_t *config, const struct trial *trial)
{
    double times[JOB_MAX_PROBLEMS];
    for (size_t p = 0; p < r->job->tuned_count; p++)
        times[p] = p < trial->problem_count ? trial->problems[p].time : NAN;
    tell(r, config, trial->status, trial->objective, times);
    mark_told(r, trial->id);
    if (trial->status == STATUS_OK) note_best(r, trial->objective, times, trial->config, trial->id);
}

void run_tell_known(struct run *r, struct task *t)
{
    struct trial trial;
    struct error err;
    int found = store_find(r->store, t->text, &trial, &err);
    if (found < 0) run_fail(r, EXIT_ENVIRONMENT, &err);
    if (!found) tell_trial(r, t->config, &trial);
    run_drop_task(r, t);
}

static int tell_stored(void *user, const struct trial *trial)
{
    struct run *r = user;
    uint16_t config[SPACE_MAX_PARAMETERS];
    // A trial whose values the job file no longer has, or whose configuration is no longer valid, sleeps.
    if (!was_told(r, trial->id) && !space_parse(r->job->space, trial->config, config, NULL) &&
        space_index(r->job->space, config) >= 0)
        tell_trial(r, config, trial);
    return 0;
}

int run_tell_stored(struct run *r)
{
    struct error err;
    if (store_each(r->store, false, 0, tell_stored, r, &err) >= 0) return 0;
    run_fail(r, EXIT_ENVIRONMENT, &err);
    return -1;
}
