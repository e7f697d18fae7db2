// Tasks and their results: see run.h.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/recorded/observation.h"
#include "tuner/run/run.h"
#include "tuner/setup/work_check.h"

void run_fail(struct run *r, int exit_status, const struct error *why)
{
    if (r->fatal) return;
    r->fatal = true;
    r->fatal_status = exit_status;
    r->failure = *why;
}

static struct task *add(struct run *r, const uint16_t *config, char *text, enum task_purpose purpose,
                        enum task_known known)
{
    struct task *t = memory_new(1, sizeof *t);
    memcpy(t->config, config, space_parameter_count(r->job->space) * sizeof *config);
    t->text = text;
    t->objective = NAN;
    policy_add(&r->policy, &t->queued, purpose, known);
    return t;
}

struct task *run_add_task(struct run *r, const uint16_t *config, enum task_purpose purpose)
{
    return add(r, config, space_text(r->job->space, config), purpose, TASK_UNKNOWN);
}

struct task *run_add_proposal(struct run *r, const uint16_t *config)
{
    char *text = space_text(r->job->space, config);
    enum task_known known = TASK_UNKNOWN;
    struct trial trial;
    struct error err;
    int found = store_find(r->store, text, &trial, &err);
    if (found < 0)
        run_fail(r, EXIT_ENVIRONMENT, &err);
    else if (!found) // measured in an earlier run
        known = trial.status == STATUS_COMPILE_ERROR || trial.status == STATUS_COMPILE_TIMEOUT ||
                        trial.status == STATUS_PRUNED
                    ? TASK_KNOWN_TO_FAIL_BEFORE_GPU
                    : TASK_KNOWN_FROM_GPU;
    return add(r, config, text, TASK_TRIAL, known);
}

static void free_task(struct task *t)
{
    compiled_release(&t->compiled);
    json_decref(t->problems);
    free(t->launches);
    free(t->text);
    free(t);
}

void run_drop_task(struct run *r, struct task *t)
{
    policy_remove(&r->policy, &t->queued);
    free_task(t);
}

void run_rank(struct run *r)
{
    size_t count;
    struct queued_task **waiting = policy_waiting(&r->policy, &count);
    const uint16_t **configs = memory_new(count, sizeof *configs);
    double *acquisition = memory_new(count, sizeof *acquisition);
    for (size_t i = 0; i < count; i++) configs[i] = ((const struct task *)waiting[i])->config;
    strategy_rank(r->strategy, configs, count, acquisition);
    for (size_t i = 0; i < count; i++) // the header needs the fallback's result
        waiting[i]->acquisition = job_is_fallback(r->job, configs[i]) ? INFINITY : acquisition[i];
    free(acquisition);
    free(configs);
    free(waiting);
}

void run_forget(struct run *r, struct task *t)
{
    display_log(&r->display, "dropped before it was measured, since others promise more: %s", t->text);
    strategy_forget(r->strategy, t->config);
    run_drop_task(r, t);
}

void run_free_tasks(struct run *r)
{
    for (size_t i = 0; i < r->policy.queue.count; i++) free_task((struct task *)r->policy.queue.tasks[i]);
}

bool run_in_flight(const struct run *r, const uint16_t *config)
{
    size_t bytes = space_parameter_count(r->job->space) * sizeof *config;
    for (size_t i = 0; i < r->policy.queue.count; i++) {
        const struct task *t = (const struct task *)r->policy.queue.tasks[i];
        if (t->queued.purpose == TASK_TRIAL && t->queued.state <= TASK_ON_GPU && !memcmp(t->config, config, bytes))
            return true;
    }
    return false;
}

static void note_best(struct run *r, double objective, const double *times, const char *text, int64_t trial,
                      bool stored)
{
    const struct incumbent *best = &r->incumbent;
    bool first = !isfinite(best->objective);
    size_t problem;
    char shown[32], ratio[64] = "";
    if (!incumbent_take(&r->incumbent, r->job, objective, times, text, trial, &problem)) return;
    run_event_best(r, first, stored, problem);
    if (r->job->objective == OBJECTIVE_EACH) {
        display_log(&r->display, "new best for %s: %s (trial %" PRId64 "): %s", r->job->problems[problem].name,
                    text_show_duration(times[problem], shown, sizeof shown), trial, text);
        return;
    }
    if (isfinite(best->baseline)) snprintf(ratio, sizeof ratio, ", %.3f of ", best->baseline / objective);
    display_log(&r->display, "%s %s%s%s (trial %" PRId64 "): %s",
                first ? "first result:" : "new best:", text_show_duration(objective, shown, sizeof shown), ratio,
                *ratio ? best->baseline_name : "", trial, text);
}

// Where a trial's number is, or would be put.
static int64_t *reported_slot(const struct reported_trials *reported, int64_t trial)
{
    size_t at = (size_t)((uint64_t)trial * 0x9e3779b97f4a7c15u >> 20) & (reported->room - 1);
    while (reported->ids[at] && reported->ids[at] != trial) at = (at + 1) & (reported->room - 1);
    return &reported->ids[at];
}

static void mark_reported(struct reported_trials *reported, int64_t trial)
{
    if (2 * reported->count >= reported->room) {
        struct reported_trials more = {.count = reported->count, .room = reported->room ? 2 * reported->room : 1024};
        more.ids = memory_new(more.room, sizeof *more.ids);
        for (size_t i = 0; i < reported->room; i++)
            if (reported->ids[i]) *reported_slot(&more, reported->ids[i]) = reported->ids[i];
        free(reported->ids);
        *reported = more;
    }
    int64_t *slot = reported_slot(reported, trial);
    reported->count += !*slot;
    *slot = trial;
}

static bool was_reported(const struct reported_trials *reported, int64_t trial)
{
    return reported->room && *reported_slot(reported, trial);
}

static void tell(struct run *r, const uint16_t *config, enum trial_status status, double objective, const double *times)
{
    struct observation o = observation_of(config, status, objective);
    if (r->job->objective == OBJECTIVE_EACH && (o.outcome == OUTCOME_OK || o.outcome == OUTCOME_SLOW))
        o.objectives = times;
    strategy_tell(r->strategy, &o);
    policy_reported(&r->policy,
                    o.outcome == OUTCOME_OK ? incumbent_together(&r->incumbent, r->job, objective, times) : NAN);
    r->statistics.counts[status]++;
}

// Once a run.
static void doubt_work(struct run *r, const double *times)
{
    struct error warning;
    for (size_t p = 0; p < r->job->tuned_count && !r->work_doubted; p++)
        if (work_is_doubtful(r->job, p, times[p], r->ceilings, &warning)) {
            display_message(&r->display, "warning: %s", warning.message);
            r->work_doubted = true;
        }
}

void run_tell_committed(struct run *r, struct task *t, const struct trial_record *record)
{
    const struct trial *trial = &record->trial;
    t->trial = trial->id;
    t->objective = trial->objective;
    struct run_statistics *s = &r->statistics;
    if (!t->queued.retry)
        s->new_trials++;
    else if (s->counts[STATUS_CRASHED]) // an earlier run may have had it
        s->counts[STATUS_CRASHED]--;
    s->compile_seconds += t->compiled.cached ? 0 : t->compiled.seconds;
    s->cache_hits += t->compiled.cached;
    if (isfinite(trial->gpu_busy)) s->gpu_busy += trial->gpu_busy;
    if (isfinite(trial->gpu_seconds)) s->gpu_wall += trial->gpu_seconds;
    if (isfinite(trial->clock_mhz)) s->clock_mhz = trial->clock_mhz;
    if (isfinite(trial->temperature)) s->temperature = trial->temperature;
    if (t->queued.retry)
        s->counts[trial->status]++; // the search is over: there is no strategy to tell
    else
        tell(r, t->config, trial->status, trial->objective, record->times);
    mark_reported(&r->reported, trial->id);
    if (trial->status == STATUS_OK) {
        note_best(r, trial->objective, record->times, t->text, trial->id, false);
        doubt_work(r, record->times);
    }
    if (trial->status != STATUS_OK && trial->status != STATUS_SLOW &&
        (s->counts[trial->status] <= 3 || trial->status == STATUS_CRASHED || trial->status == STATUS_TIMEOUT))
        display_log(&r->display, "trial %" PRId64 " %s: %.300s (%s)", trial->id, status_name(trial->status),
                    trial->reason, t->text);
    if (trial->counted)
        run_drop_task(r, t);
    else
        policy_countable(&r->policy, &t->queued);
}

void run_commit_counters(struct run *r, struct task *t, const struct counted_trial *answer)
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
    mark_reported(&r->reported, trial->id);
    if (trial->status == STATUS_OK) note_best(r, trial->objective, times, trial->config, trial->id, true);
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

// A trial whose values the job file does not have, or whose configuration is not valid, is skipped.
static bool is_awake(const struct run *r, const struct trial *trial, uint16_t *config)
{
    return !space_parse(r->job->space, trial->config, config, NULL) && space_index(r->job->space, config) >= 0;
}

static int replay_stored(void *user, const struct trial *trial)
{
    struct run *r = user;
    uint16_t config[SPACE_MAX_PARAMETERS];
    if (!was_reported(&r->reported, trial->id) && is_awake(r, trial, config)) tell_trial(r, config, trial);
    return 0;
}

static int take_best(void *user, const struct trial *trial)
{
    struct run *r = user;
    uint16_t config[SPACE_MAX_PARAMETERS];
    double times[JOB_MAX_PROBLEMS];
    size_t problem;
    if (!is_awake(r, trial, config)) return 0;
    for (size_t p = 0; p < r->job->tuned_count; p++)
        times[p] = p < trial->problem_count ? trial->problems[p].time : NAN;
    incumbent_take(&r->incumbent, r->job, trial->objective, times, trial->config, trial->id, &problem);
    return r->job->objective != OBJECTIVE_EACH; // the first is the best
}

void run_find_best(struct run *r)
{
    struct error err;
    incumbent_forget(&r->incumbent);
    if (store_each(r->store, true, 0, take_best, r, &err) < 0) run_fail(r, EXIT_ENVIRONMENT, &err);
}

struct awake_count {
    const struct run *r;
    uint64_t count;
};

static int count_awake(void *user, const struct trial *trial)
{
    struct awake_count *a = user;
    uint16_t config[SPACE_MAX_PARAMETERS];
    a->count += is_awake(a->r, trial, config);
    return 0;
}

bool run_knows_all(struct run *r)
{
    struct awake_count awake = {.r = r};
    int64_t counts[STATUS_COUNT];
    uint64_t stored = 0, size = space_size(r->job->space);
    struct error err;
    bool failed = store_counts(r->store, counts, &err) != 0;
    for (int s = 0; s < STATUS_COUNT && !failed; s++) stored += (uint64_t)counts[s];
    if (!failed && stored >= size) failed = store_each(r->store, false, 0, count_awake, &awake, &err) < 0;
    if (failed) run_fail(r, EXIT_ENVIRONMENT, &err);
    return awake.count >= size;
}

int run_replay_stored(struct run *r)
{
    struct error err;
    if (store_each(r->store, false, 0, replay_stored, r, &err) >= 0) return 0;
    run_fail(r, EXIT_ENVIRONMENT, &err);
    return -1;
}

void run_condemn(struct run *r, int64_t trial, enum trial_status status, const char *reason)
{
    struct error err;
    display_message(&r->display, "trial %" PRId64 " is out of the final: %s: %s", trial, status_name(status), reason);
    if (store_add_verdict(r->store, trial, status, reason, &err)) run_fail(r, EXIT_ENVIRONMENT, &err);
}
