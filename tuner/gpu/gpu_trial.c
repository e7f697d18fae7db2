// One trial: verify, screen, measure, verify again. The order of its steps, with the waits marked:
//
//     load -> all problems run and compared -> [wait] -> tuned problems timed, in batches, some launches compared ->
//     [wait each] -> all problems run again, on both sets of data, and compared -> [wait] -> a new best: the soak
//     (soak.h), and drawn sizes (sizes.h) -> memory checked -> [wait] -> times checked for plausibility
//
// A trial is a race against the best candidate so far. If a candidate is certainly more than `race` times slower, its
// trial ends after the first run or after a problem, with the status `slow`. The times of its first runs are then used.
//
// Memory is checked at the end of each trial, and filled again if needed. So it is intact when a trial begins, and any
// damage was done by the candidate.
#include "tuner/gpu/gpu_requests.h"

#include "tuner/base/clock.h"
#include "tuner/gpu/pipeline.h"
#include "tuner/gpu/plausibility.h"
#include "tuner/gpu/sizes.h"
#include "tuner/gpu/soak.h"
#include "tuner/gpu/verify.h"
#include "tuner/gpu/zeros_needed.h"
#include "tuner/trial/trial_field.h"

struct gpu_trial {
    struct workload *w;
    const struct candidate *candidate;
    double begin; // by clock_now()
    gpu_progress *progress;
    void *user;
    struct pipeline pipeline;
    double best[WORKLOAD_PROBLEMS_MAX]; // s, of the best candidate so far; 0: not timed, or no best is known
    bool verify;
    enum trial_status status;
    struct error reason;
    struct measurement times[WORKLOAD_PROBLEMS_MAX];
    struct verify_result results[WORKLOAD_PROBLEMS_MAX];
    double first[WORKLOAD_PROBLEMS_MAX]; // s; time of the verified run
    bool timed[WORKLOAD_PROBLEMS_MAX], judged;
};

// Sets the trial's status, which was found on one of its problems.
static void settle(struct gpu_trial *t, enum trial_status status, size_t problem, struct error *reason)
{
    t->status = status;
    t->reason = *reason;
    error_prefix(&t->reason, "problem %s", t->w->problems[problem].name);
}

// Combines the verdicts on all problems: the most severe one decides.
static void judge(struct gpu_trial *t)
{
    static const int gravity[STATUS_COUNT] = {
        [STATUS_WRONG] = 1, [STATUS_NONDETERMINISTIC] = 2, [STATUS_OUT_OF_BOUNDS] = 3};
    for (size_t k = 0; k < t->w->problem_count; k++) {
        struct error reason;
        struct verify_result result;
        if (!pipeline_does(&t->pipeline, k)) continue;
        enum trial_status status = verify_outputs(t->w, k, &result, &reason);
        // The worse figures of two passes are kept.
        if (!t->judged || !(result.error <= t->results[k].error)) t->results[k] = result;
        if (gravity[status] > gravity[t->status]) settle(t, status, k, &reason);
    }
    t->judged = true;
}

// KEPT: for a module whose variables change, several launches in a row on alternating data.
enum pass { PASS_FIRST, PASS_KEPT, PASS_AGAIN, PASS_SECOND };
enum { KEPT_PASSES = 4 };

static int pass(struct gpu_trial *t, enum pass which, struct error *err)
{
    struct workload *w = t->w;
    struct work works[WORKLOAD_PROBLEMS_MAX] = {{0}};
    static const enum verify_runs runs[] = {[PASS_FIRST] = VERIFY_FIRST,
                                            [PASS_KEPT] = VERIFY_BOTH,
                                            [PASS_AGAIN] = VERIFY_SAME,
                                            [PASS_SECOND] = VERIFY_BOTH};
    for (size_t k = 0; k < w->problem_count; k++)
        if (pipeline_does(&t->pipeline, k)) works[k] = pipeline_work(&t->pipeline, k);
    int failed = verify_pass(w, works, runs[which], err);
    if (failed) return failed;
    for (size_t k = 0; k < w->problem_count && !failed && which != PASS_KEPT; k++) {
        double seconds;
        if (!pipeline_does(&t->pipeline, k) || (failed = verify_time(w, k, &seconds, err))) continue;
        if (!(t->first[k] > 0 && t->first[k] < seconds)) t->first[k] = seconds;
    }
    judge(t);
    return failed;
}

// The smallest factor by which this candidate can be slower than the best one, judging by the measured problems and by
// the first launches on the other problems.
static double slowdown(const struct gpu_trial *t)
{
    double least[WORKLOAD_PROBLEMS_MAX], best[WORKLOAD_PROBLEMS_MAX], weight[WORKLOAD_PROBLEMS_MAX];
    const struct workload *w = t->w;
    size_t n = 0;
    for (size_t k = 0; k < w->problem_count; k++) {
        const struct device_problem *p = &w->problems[k];
        if (!p->tune || !pipeline_does(&t->pipeline, k)) continue;
        // A single launch of short work tells little: most of its time is overhead that a graph avoids.
        bool telling = t->first[k] > 2 * w->settings.measure.graph_below;
        least[n] = t->timed[k] ? t->times[k].low : telling ? early_stop_bound(&p->early_stop, t->first[k]) : 0;
        if (least[n] < w->settings.measure.graph_below) least[n] = fmax(0, least[n] - GRAPH_SPREAD);
        best[n] = t->best[k];
        weight[n++] = p->weight;
    }
    return objective_ratio(w->settings.objective, weight, least, best, n);
}

// Ends the trial if the candidate can no longer win. An unmeasured problem gets the time of its first launch.
static bool is_lost(struct gpu_trial *t)
{
    struct workload *w = t->w;
    double ratio = slowdown(t);
    if (!(ratio > w->settings.measure.early_stop)) return false;
    for (size_t k = 0; k < w->problem_count; k++) {
        if (!w->problems[k].tune || !pipeline_does(&t->pipeline, k) || t->timed[k]) continue;
        t->times[k] = (struct measurement){.time = t->first[k],
                                           .low = t->first[k],
                                           .high = t->first[k],
                                           .count = 1,
                                           .shown = {t->first[k]},
                                           .shown_count = 1};
        t->timed[k] = true;
    }
    t->status = STATUS_SLOW;
    error_set(&t->reason, "takes at least %.3g times as long as the best so far; the limit is %.3g", ratio,
              w->settings.measure.early_stop);
    return true;
}

// Whether a first launch was so short that it may have been disturbed. It is then repeated before it can end the trial.
static bool is_short(const struct gpu_trial *t)
{
    for (size_t k = 0; k < t->w->problem_count; k++)
        if (t->w->problems[k].tune && pipeline_does(&t->pipeline, k) && t->first[k] < early_stop_long_launch)
            return true;
    return false;
}

// Decides after the first pass whether the candidate can still win.
static int early_stop(struct gpu_trial *t, struct error *err)
{
    if (!t->verify || t->status != STATUS_OK || !(slowdown(t) > t->w->settings.measure.early_stop)) return 0;
    int failed = is_short(t) ? pass(t, PASS_AGAIN, err) : 0;
    if (!failed && t->status == STATUS_OK) is_lost(t);
    return failed;
}

static int measure(struct gpu_trial *t, struct error *err)
{
    struct workload *w = t->w;
    size_t slow = 0;
    for (size_t k = 0; k < w->problem_count && t->status == STATUS_OK; k++) {
        if (!w->problems[k].tune) continue;
        struct work work = pipeline_work(&t->pipeline, k);
        if (!pipeline_does(&t->pipeline, k)) {
            slow++; // it may be fast for other problems
            continue;
        }
        struct measure_subject subject = verify_subject(w, k, &work, t->verify);
        struct error reason;
        enum trial_status status;
        int failed = measure_work(w->measure, &subject, t->first[k], t->best[k], &t->times[k], &status, &reason, err);
        if (failed) return failed;
        if (status != STATUS_OK) return settle(t, status, k, &reason), 0;
        t->timed[k] = true;
        slow += t->times[k].slow;
        if (!t->times[k].slow && !t->times[k].throttled)
            early_stop_learn(&w->problems[k].early_stop, t->first[k], t->times[k].time);
        if (is_lost(t) || !t->times[k].slow || (w->settings.objective == OBJECTIVE_EACH && slow < w->tuned_count))
            continue;
        t->status = STATUS_SLOW;
        error_set(&t->reason, "problem %s takes %.4g s; the limit is %.4g s", w->problems[k].name, t->times[k].time,
                  t->best[k] * w->settings.measure.slow_factor);
    }
    return 0;
}

// Whether the candidate is faster than the best so far, or no best is known.
static bool is_best(const struct gpu_trial *t)
{
    double times[WORKLOAD_PROBLEMS_MAX], best[WORKLOAD_PROBLEMS_MAX], weight[WORKLOAD_PROBLEMS_MAX];
    size_t n = 0;
    for (size_t k = 0; k < t->w->problem_count; k++) {
        if (!t->timed[k]) continue;
        times[n] = t->times[k].time;
        best[n] = t->best[k];
        weight[n++] = t->w->problems[k].weight;
    }
    return objective_ratio(t->w->settings.objective, weight, times, best, n) < 1;
}

// The length of the soak for a correct candidate that is not a new best: this share of its trial's time so far, but at
// least soak_least seconds.
static const double soak_share = 0.25, soak_least = 2e-3;

// A new best is soaked before it limits other candidates. All others get a short soak, since they cannot win without
// passing a soak in the final.
static int soak(struct gpu_trial *t, struct error *err)
{
    const struct soak_budget brief = {0, soak_of_best.most, fmax(soak_share * (clock_now() - t->begin), soak_least)};
    if (!t->verify || t->status != STATUS_OK) return 0;
    if (t->progress) t->progress(t->user, 0, 0);
    if (!is_best(t)) return soak_run(t->w, &t->pipeline, &brief, &t->status, &t->reason, err);
    int failed = soak_run(t->w, &t->pipeline, &soak_of_best, &t->status, &t->reason, err);
    if (failed || t->status != STATUS_OK) return failed;
    int64_t verified;
    return sizes_run(t->w, t->candidate, false, &verified, &t->status, &t->reason, err);
}

static int run(struct gpu_trial *t, struct error *err)
{
    bool late;
    int failed;
    verify_forget(t->w);
    if (t->verify && (failed = pass(t, PASS_FIRST, err))) return failed;
    if ((failed = pipeline_scan(&t->pipeline, &late, err))) return failed;
    for (int i = 0; i < KEPT_PASSES && late && t->verify && t->status == STATUS_OK; i++) {
        if ((failed = pass(t, PASS_KEPT, err))) return failed;
        if (t->status != STATUS_OK)
            error_prefix(&t->reason,
                         "in consecutive launches, because its variables keep their values between launches");
    }
    // A wrong result that changes from run to run is a race condition. Saying so helps more than "wrong".
    if (t->status == STATUS_WRONG && !late && t->w->settings.verify.deterministic) return pass(t, PASS_AGAIN, err);
    if ((failed = early_stop(t, err))) return failed;
    if (t->status == STATUS_OK && (failed = measure(t, err))) return failed;
    if (t->status == STATUS_OK && t->verify && (failed = pass(t, PASS_SECOND, err))) return failed;
    // If variables change only in later launches, the times that were measured without restoring them are discarded.
    if ((failed = pipeline_scan(&t->pipeline, &late, err)) || !late || t->status != STATUS_OK) return failed;
    memset(t->timed, 0, sizeof t->timed);
    if (pipeline_restore(&t->pipeline, err) || (failed = measure(t, err))) return failed;
    return t->status == STATUS_OK && t->verify ? pass(t, PASS_SECOND, err) : 0;
}

// Damage to memory that the candidate must not change outweighs everything else.
static int check_memory(struct gpu_trial *t, struct error *err)
{
    enum trial_status status;
    struct error reason;
    int failed = workload_mend(t->w, &status, &reason, err);
    if (failed || status == STATUS_OK || !t->verify) return failed;
    t->status = status;
    t->reason = reason;
    return 0;
}

// Even if a candidate's results are correct, its time may be impossible.
static int check_times(struct gpu_trial *t, struct error *err)
{
    int failed = 0;
    for (size_t k = 0; k < t->w->problem_count && t->status == STATUS_OK && !failed; k++) {
        struct error reason;
        if (!t->timed[k] || pipeline_prepares(&t->pipeline, k)) continue;
        failed = plausibility_check(t->w, k, t->times[k].time, &t->status, &reason, err);
        if (!failed && t->status != STATUS_OK) settle(t, t->status, k, &reason);
    }
    return failed;
}

void gpu_trial_times(struct trial_problem *problem, const struct measurement *m, struct arena *memory)
{
    double *samples = arena_new(memory, sizeof m->shown);
    memcpy(samples, m->shown, sizeof m->shown);
    problem->time = m->time;
    problem->low = m->low;
    problem->high = m->high;
    problem->samples = samples;
    problem->sample_count = m->shown_count;
    problem->samples_taken = (int64_t)m->count;
    if (m->power > 0) problem->power = m->power;
    if (m->energy > 0) problem->energy = m->energy;
}

static void answer_problems(const struct gpu_trial *t, struct trial_answer *answer, struct arena *memory)
{
    struct problem_answer *list = arena_new(memory, t->w->problem_count * sizeof *list);
    answer->problems = list;
    answer->problem_count = t->w->problem_count;
    for (size_t k = 0; k < t->w->problem_count; k++) {
        const struct verify_result *r = &t->results[k];
        struct problem_answer *one = &list[k];
        record_clear(&problem_answer_record, one);
        one->problem = (int)k;
        if (t->timed[k]) gpu_trial_times(&one->figures, &t->times[k], memory);
        if (!t->judged || !pipeline_does(&t->pipeline, k)) continue;
        one->figures.error = r->error;
        one->bad = (int64_t)r->bad;
        one->got = r->got;
        one->want = r->want;
        if (r->row < 0) continue;
        int64_t *worst = arena_new(memory, 2 * sizeof *worst);
        worst[0] = r->row;
        worst[1] = r->col;
        one->worst = worst;
        one->worst_count = 2;
    }
}

static void answer_stages(const struct gpu_trial *t, struct trial_answer *answer, struct arena *memory)
{
    struct stage_answer *list = arena_new(memory, t->w->problem_count * PIPELINE_STAGES_MAX * sizeof *list);
    answer->stages = list;
    for (size_t k = 0; t->pipeline.parts && k < t->w->problem_count; k++)
        for (unsigned i = 0; i < t->pipeline.parts[k].stage_count; i++) {
            const struct pipeline_launch *s = pipeline_stage(&t->pipeline.parts[k], i);
            struct stage_answer *one = &list[answer->stage_count++];
            *one = (struct stage_answer){.problem = (int)k, .stage = (int)i};
            trial_clear(FIELD_STAGE, &one->figures);
            one->figures.occupancy = s->occupancy;
        }
}

static void answer_with(const struct gpu_trial *t, struct trial_answer *answer, struct arena *memory)
{
    answer->head.status = status_name(t->status);
    answer->head.reason = arena_copy(memory, t->reason.message);
    answer_problems(t, answer, memory);
    answer_stages(t, answer, memory);
}

static int attempt(struct gpu_trial *t, const struct trial_request *request, struct trial_answer *answer,
                   struct arena *memory, struct error *err)
{
    struct error why = {""};
    t->status = STATUS_OK;
    t->reason = (struct error){""};
    for (size_t k = 0, tuned = 0; k < t->w->problem_count; k++)
        if (t->w->problems[k].tune && tuned < request->best_count)
            t->best[k] = fmax(request->best[tuned++], 0); // NaN: there is none
    t->candidate = &request->candidate;
    t->verify = request->verify;
    int failed = pipeline_open(&t->pipeline, t->w, &request->candidate, &why);
    if (pipeline_blameless(t->w, failed)) failed = CUDA_FAILED;
    if (!failed) failed = run(t, &why);
    if (!failed) failed = soak(t, &why);
    if (!failed && t->verify && (t->status == STATUS_WRONG || t->status == STATUS_NONDETERMINISTIC))
        failed = zeros_needed(t->w, &t->pipeline, &t->reason, &why) == CUDA_CRASHED ? CUDA_CRASHED : 0;
    if (!failed || failed == CUDA_REFUSED || failed == CUDA_MEMORY) {
        int lost = check_memory(t, failed ? NULL : &why);
        if (!lost && !failed && t->verify) lost = check_times(t, &why);
        if (lost) failed = lost;
    }
    if (failed == CUDA_REFUSED || failed == CUDA_CRASHED || failed == CUDA_MEMORY) {
        t->status = failed == CUDA_CRASHED ? STATUS_CRASHED : STATUS_LAUNCH_ERROR;
        t->reason = why;
        if (failed != CUDA_CRASHED) failed = 0;
    } else if (failed) {
        *err = why;
    }
    if (!failed || failed == CUDA_CRASHED) answer_with(t, answer, memory);
    // The device's heap and printf's buffer cannot be reset: the next candidate gets a new process.
    answer->head.restart = pipeline_leaves_traces(&t->pipeline);
    // After a crash, the context's modules cannot be unloaded, nor can anything else be released.
    if (failed != CUDA_CRASHED) pipeline_release(&t->pipeline);
    return failed;
}

// Writes the figures of the whole trial, once it is over.
static void write_figures(const struct workload *w, double begin, struct trial *figures)
{
    struct nvml_reading reading = measure_reading(w->measure);
    figures->gpu_busy = measure_take_busy(w->measure);
    figures->gpu_seconds = clock_now() - begin;
    figures->launches_judged = w->judged.launches;
    if (reading.clock_mhz) figures->clock_mhz = reading.clock_mhz;
    if (reading.temperature) figures->temperature = reading.temperature;
}

int gpu_trial_run(struct workload *w, const struct trial_request *request, struct trial_answer *answer,
                  struct arena *memory, gpu_progress *progress, void *user, struct error *err)
{
    double begin = clock_now();
    autofree struct gpu_trial *t = memory_try(1, sizeof *t, err);
    if (!t) return -1;
    *t = (struct gpu_trial){.w = w, .begin = begin, .progress = progress, .user = user};
    measure_take_busy(w->measure);
    w->judged.launches = 0;
    int failed = attempt(t, request, answer, memory, err);
    write_figures(w, begin, &answer->figures);
    return failed;
}
