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

void run_free_tasks(struct run *r)
{
    for (size_t i = 0; i < r->policy.queue.count; i++) free_task((struct task *)r->policy.queue.tasks[i]);
}

bool run_under_way(const struct run *r, const uint16_t *config)
{
    size_t bytes = space_parameter_count(r->job->space) * sizeof *config;
    for (size_t i = 0; i < r->policy.queue.count; i++) {
        const struct task *t = (const struct task *)r->policy.queue.tasks[i];
        if (t->queued.purpose == TASK_TRIAL && t->queued.state <= TASK_ON_GPU && !memcmp(t->config, config, bytes))
            return true;
    }
    return false;
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

static void note_best(struct run *r, double objective, const double *times, const char *text, int64_t trial)
{
    const struct incumbent *best = &r->incumbent;
    bool first = !isfinite(best->objective);
    size_t problem;
    char shown[32], ratio[64] = "";
    if (!incumbent_take(&r->incumbent, r->job, objective, times, text, trial, &problem)) return;
    if (r->job->objective == OBJECTIVE_EACH) {
        run_log(r, "new best for %s: %s (trial %" PRId64 "): %s", r->job->problems[problem].name,
                text_show_duration(times[problem], shown, sizeof shown), trial, text);
        return;
    }
    if (isfinite(best->baseline)) snprintf(ratio, sizeof ratio, ", %.3f of ", best->baseline / objective);
    run_log(r, "%s %s%s%s (trial %" PRId64 "): %s",
            first ? "first result:" : "new best:", text_show_duration(objective, shown, sizeof shown), ratio,
            *ratio ? best->baseline_name : "", trial, text);
}

static void mark_told(struct told_trials *told, int64_t trial)
{
    if ((size_t)trial >= told->room) {
        size_t room = 2 * (size_t)trial + 256;
        told->marks = memory_grow(told->marks, room, sizeof *told->marks);
        memset(told->marks + told->room, 0, (room - told->room) * sizeof *told->marks);
        told->room = room;
    }
    told->marks[trial] = true;
}

static bool was_told(const struct told_trials *told, int64_t trial)
{
    return (size_t)trial < told->room && told->marks[trial];
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
    policy_told(&r->policy,
                o.outcome == OUTCOME_OK ? incumbent_together(&r->incumbent, r->job, objective, times) : NAN);
    r->statistics.counts[status]++;
}

static void read_times(const struct run *r, const json_t *answer, struct trial_problem *problems, double *times)
{
    const struct job *job = r->job;
    for (size_t p = 0; p < job->problem_count; p++)
        problems[p] = (struct trial_problem){.name = job->problems[p].name,
                                             .tuned = job->problems[p].tune,
                                             .time = NAN,
                                             .low = NAN,
                                             .high = NAN,
                                             .error = NAN};
    for (size_t p = 0; p < job->tuned_count; p++) times[p] = NAN;
    size_t i, k;
    json_t *value, *sample;
    json_array_foreach(json_object_get(answer, "problems"), i, value)
    {
        int64_t p = json_get_integer(value, "problem", -1);
        if (p < 0 || p >= (int64_t)job->problem_count) continue;
        problems[p].time = json_get_number(value, "time", NAN);
        problems[p].low = json_get_number(value, "low", NAN);
        problems[p].high = json_get_number(value, "high", NAN);
        problems[p].samples_taken = json_get_integer(value, "count", 0);
        problems[p].error = json_get_number(value, "error", NAN);
        json_array_foreach(json_object_get(value, "samples"), k, sample)
        {
            if (problems[p].sample_count < STORE_MAX_SAMPLES && json_is_number(sample))
                problems[p].samples[problems[p].sample_count++] = json_number_value(sample);
        }
        if (p < (int64_t)job->tuned_count) times[p] = problems[p].time;
    }
}

// One row a stage that this configuration uses, from its launch on the first problem that it does.
static size_t describe_stages(const struct run *r, const struct task *t, const json_t *answer,
                              struct trial_stage *stages)
{
    size_t count = 0;
    for (size_t i = 0; i < t->launch_count; i++) {
        const struct planned_launch *l = &t->launches[i];
        if (l->problem != t->launches[0].problem) continue;
        const struct stage *s = &r->job->stages[l->stage];
        const struct compiled_entry *e = compiled_find(&t->compiled, s->entry);
        struct trial_stage *out = &stages[count++];
        *out = (struct trial_stage){.name = s->name,
                                    .registers = -1,
                                    .spill_loads = -1,
                                    .spill_stores = -1,
                                    .shared_static = -1,
                                    .shared_dynamic = l->shape.shared,
                                    .stack = -1,
                                    .code_bytes = -1,
                                    .occupancy = NAN,
                                    .warnings = t->compiled.warnings ? t->compiled.warnings : ""};
        if (!e) continue;
        out->registers = e->registers;
        out->spill_loads = e->spill_loads;
        out->spill_stores = e->spill_stores;
        out->shared_static = e->shared;
        out->stack = e->stack;
        out->code_bytes = e->code_bytes;
        out->occupancy =
            theoretical_occupancy(&r->pool.limits, l->shape.block[0] * l->shape.block[1] * l->shape.block[2],
                                  e->registers, l->shape.shared + (e->shared > 0 ? e->shared : 0));
        size_t k;
        json_t *seen; // the driver's own figure, where the kernel was loaded
        json_array_foreach(json_object_get(answer, "stages"), k, seen)
        {
            if (json_get_integer(seen, "problem", -1) == l->problem &&
                json_get_integer(seen, "stage", -1) == (int64_t)count - 1)
                out->occupancy = json_get_number(seen, "occupancy", out->occupancy);
        }
    }
    return count;
}

void run_commit(struct run *r, struct task *t, enum trial_status status, const char *reason, const json_t *answer)
{
    struct trial_problem problems[JOB_MAX_PROBLEMS];
    struct trial_stage stages[JOB_MAX_STAGES];
    double times[JOB_MAX_PROBLEMS];
    struct error err;
    read_times(r, answer, problems, times);
    double objective = status == STATUS_OK || status == STATUS_SLOW ? job_objective(r->job, times) : NAN;
    if (status == STATUS_OK && !isfinite(objective)) {
        status = STATUS_CRASHED;
        reason = "the worker called it ok but gave no time";
    }
    struct trial trial = {
        .config = t->text,
        .status = status,
        .reason = reason ? reason : "",
        .objective = objective,
        .compile_seconds = t->compiled.seconds,
        .compile_cached = t->compiled.cached,
        .gpu_busy = json_get_number(answer, "busy", 0),
        .gpu_wall = json_get_number(answer, "wall", 0),
        .device_id = t->device_id ? t->device_id : "",
        .clock_mhz = json_get_number(answer, "clock_mhz", NAN),
        .temperature = json_get_number(answer, "temperature", NAN),
        .counted = status != STATUS_OK || !r->metric_count,
        .problem_count = answer ? r->job->problem_count : 0,
        .problems = problems,
        .stage_count = describe_stages(r, t, answer, stages),
        .stages = stages,
    };
    if (store_add(r->store, &trial, &err)) {
        run_fail(r, EXIT_ENVIRONMENT, &err);
        return;
    }
    t->trial = trial.id;
    t->objective = objective;
    r->statistics.new_trials++;
    r->statistics.compile_seconds += t->compiled.cached ? 0 : t->compiled.seconds;
    r->statistics.cache_hits += t->compiled.cached;
    r->statistics.gpu_busy += trial.gpu_busy;
    r->statistics.gpu_wall += trial.gpu_wall;
    if (isfinite(trial.clock_mhz)) r->statistics.clock_mhz = trial.clock_mhz;
    if (isfinite(trial.temperature)) r->statistics.temperature = trial.temperature;
    tell(r, t->config, status, objective, times);
    mark_told(&r->told, trial.id);
    if (status == STATUS_OK) note_best(r, objective, times, t->text, trial.id);
    if (status != STATUS_OK && status != STATUS_SLOW &&
        (r->statistics.counts[status] <= 3 || status == STATUS_CRASHED || status == STATUS_TIMEOUT))
        run_log(r, "trial %" PRId64 " %s: %.300s (%s)", trial.id, status_name(status), trial.reason, t->text);
    if (trial.counted)
        run_drop_task(r, t);
    else
        policy_countable(&r->policy, &t->queued);
}

void run_commit_counters(struct run *r, struct task *t, const json_t *answer)
{
    struct trial_counter *counters = NULL;
    size_t count = 0, i, k;
    json_t *launch, *value;
    struct error err;
    json_array_foreach(json_object_get(answer, "counters"), i, launch)
    {
        json_array_foreach(json_object_get(launch, "values"), k, value)
        {
            if (k >= r->metric_count || !json_is_number(value)) continue;
            counters = memory_grow(counters, count + 1, sizeof *counters);
            counters[count++] = (struct trial_counter){(int)json_get_integer(launch, "problem", 0),
                                                       (int)json_get_integer(launch, "stage", 0), r->metrics[k],
                                                       json_number_value(value)};
        }
    }
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
    mark_told(&r->told, trial->id);
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
    if (!was_told(&r->told, trial->id) && !space_parse(r->job->space, trial->config, config, NULL) &&
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
