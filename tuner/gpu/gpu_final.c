// The final: the best candidates and the baselines, measured side by side on fresh data.
//
// Candidates are checked in order, best first, until all places are taken. Each one is verified on two sets of new
// data, twice on each set, and in timed launches. Memory is checked after each candidate, so that the culprit of any
// damage is known. Then every entry is timed once per round, in an order drawn for the round. So a warming device, a
// drifting clock or a neighbour's traffic affects all entries alike. Times of one round belong together and are
// compared in pairs. Every timed launch of a candidate is judged. If the race damaged memory, the culprit is found and
// the other entries race again. If no candidate passes, the next ones take the places.
//
// Each request runs one part of the rounds, so that the driver can drop candidates that have already lost. Between
// parts, modules stay loaded, and graphs and the final's data are kept. A last part measures energy instead.
#include "tuner/gpu/gpu_requests.h"

#include "tuner/base/clock.h"
#include "tuner/base/stats.h"
#include "tuner/gpu/energy.h"
#include "tuner/gpu/graph_check.h"
#include "tuner/gpu/pipeline.h"
#include "tuner/gpu/plausibility.h"
#include "tuner/gpu/reference.h"
#include "tuner/gpu/sizes.h"
#include "tuner/gpu/soak.h"
#include "tuner/gpu/verify.h"

// With objective "each", a candidate may race for the set of kernels or for its own problem. So there are up to two
// candidates for each problem, and the baselines.
enum { RACERS_MAX = 3 * WORKLOAD_PROBLEMS_MAX, RETAKES = 5, RACES_MAX = 4, SUSPECT_ROUNDS = 4, SOAKS = 3 };

_Static_assert(RACERS_MAX >= FINAL_CANDIDATES_MAX + 8 + JOB_MAX_BASELINES,
               "room for all candidates of a job, the libraries and programs");

struct timed_entry {
    int64_t trial;                  // -1: a baseline
    const struct candidate *kernel; // or the current kernel, or a program; NULL: a library
    const char *binary;             // which build it is; borrowed from the request
    struct pipeline pipeline;       // of the kernel, opened when it is its turn
    struct baseline *baseline;      // NULL: a candidate
    enum trial_status status;
    struct error reason;
    struct verify_result results[WORKLOAD_PROBLEMS_MAX];
    struct measure_plan *plans; // by problem
    bool enters;                // its checks have begun; it races if it passes
    bool left;                  // it is not in this part
    // Of this part, in the answer's memory:
    double *times; // [round] of the problem being measured
    int64_t launches_judged, sizes_verified;
    struct final_times *problems; // room for all
    size_t problem_count;
};

struct gpu_final {
    struct workload *w;
    struct baselines *baselines;
    struct arena kept; // for the request that it began with
    uint64_t old_seed; // of the data before the final
    int64_t process;   // number of this process among those that share the rounds
    size_t count, places;
    bool graphs_checked; // no new graph has been made since
    // Of this part:
    int64_t part;
    size_t rounds;
    double until;         // clock_now() at which rounds end early. INFINITY: no limit
    struct arena *memory; // of the answer
    struct timed_entry *entries;
    uint64_t random;
    int64_t at;          // the trial whose turn it is; 0: all are racing; -1: a baseline
    const char *program; // the baseline whose turn it is, if it is a user program
    gpu_progress *progress;
    void *user;
};

static struct work entry_work(struct timed_entry *e, size_t problem)
{
    return pipeline_work(e->kernel ? &e->pipeline : &e->baseline->pipeline, problem);
}

static bool takes_part(const struct timed_entry *e, size_t problem)
{
    return e->enters && !e->left && e->status == STATUS_OK &&
           pipeline_does(e->kernel ? &e->pipeline : &e->baseline->pipeline, problem);
}

static void disqualify(struct timed_entry *e, enum trial_status status, const char *reason)
{
    e->status = status;
    error_set(&e->reason, "%s", reason);
}

static int enter(struct gpu_final *f, const struct final_request *request, struct error *err)
{
    size_t total = request->candidate_count + request->baseline_count;
    if (f->places + request->baseline_count > RACERS_MAX)
        return error_set(err, "the final has %zu entries; at most %d are possible", f->places + request->baseline_count,
                         RACERS_MAX);
    f->entries = memory_try(total, sizeof *f->entries, err);
    if (!f->entries) return -1;
    for (size_t i = 0; i < request->candidate_count; i++) {
        const struct final_candidate *c = &request->candidates[i];
        f->entries[f->count++] = (struct timed_entry){
            .trial = c->trial, .kernel = &c->candidate, .binary = *c->binary ? c->binary : PROTOCOL_NVRTC};
    }
    for (size_t i = 0; i < request->baseline_count; i++) {
        struct baseline *b = baselines_find(f->baselines, request->baselines[i]);
        if (!b) return error_set(err, "the job has no baseline '%s'", request->baselines[i]);
        struct timed_entry *e = &f->entries[f->count++];
        e->trial = -1;
        e->baseline = b;
        e->kernel = b->kernel;
        if (b->reason[0]) disqualify(e, STATUS_LAUNCH_ERROR, b->reason);
    }
    for (size_t i = 0; i < f->count; i++) {
        f->entries[i].plans = memory_try(f->w->problem_count, sizeof *f->entries[i].plans, err);
        if (!f->entries[i].plans) return -1;
    }
    return 0;
}

// Only kernels are judged in the race, since a library's results may differ between runs or from the job's.
static struct measure_subject entry_subject(struct gpu_final *f, struct timed_entry *e, size_t problem)
{
    struct work work = entry_work(e, problem);
    return verify_subject(f->w, problem, &work, e->kernel && f->w->settings.verify.enabled);
}

// One pass over all problems, on both sets of data.
static int pass(struct gpu_final *f, struct timed_entry *e, bool keep, struct error *err)
{
    struct workload *w = f->w;
    struct work works[WORKLOAD_PROBLEMS_MAX] = {{0}};
    for (size_t k = 0; k < w->problem_count; k++)
        if (takes_part(e, k)) works[k] = entry_work(e, k);
    int failed = verify_pass(w, works, VERIFY_BOTH, err);
    if (failed == CUDA_REFUSED) disqualify(e, STATUS_LAUNCH_ERROR, err->message);
    if (failed) return failed == CUDA_REFUSED ? 0 : failed;
    for (size_t k = 0; k < w->problem_count && e->status == STATUS_OK; k++) {
        struct verify_result result;
        struct error reason;
        if (!takes_part(e, k)) continue;
        enum trial_status status = verify_outputs(w, k, &result, &reason);
        // Baselines that compute something else are timed too, and have no error.
        if (e->baseline && !baseline_same_result(e->baseline)) continue;
        if (keep) e->results[k] = result;
        // A library's bits may change from run to run.
        if (status == STATUS_OK || !w->settings.verify.enabled || (!e->kernel && status == STATUS_NONDETERMINISTIC))
            continue;
        error_prefix(&reason, "problem %s", w->problems[k].name);
        disqualify(e, status, reason.message);
    }
    return 0;
}

// Whether an entry damaged memory. If so, it is disqualified.
static int check_memory(struct gpu_final *f, struct timed_entry *e, bool *damaged, struct error *err)
{
    enum trial_status status;
    struct error reason;
    int failed = workload_mend(f->w, &status, &reason, err);
    *damaged = !failed && status != STATUS_OK;
    if (*damaged && e && f->w->settings.verify.enabled) disqualify(e, status, reason.message);
    return failed;
}

// Takes a few samples in the same way as the race.
static int try_out(struct gpu_final *f, struct timed_entry *e, size_t problem, double *estimate, struct error *err)
{
    struct measure_plan bare = {.subject = entry_subject(f, e, problem), .repeats = 1},
                        *plans[3] = {&bare, &bare, &bare};
    double times[3];
    int failed = measure_samples(f->w->measure, plans, 3, 1, times, err);
    if (!failed && bare.status != STATUS_OK) disqualify(e, bare.status, bare.reason.message);
    *estimate = times[2];
    return failed;
}

static void announce(struct gpu_final *f, double share, int64_t trial)
{
    f->at = trial;
    f->progress(f->user, share, trial);
}

// Launches a candidate many times in the module that will race. More than three candidates share the time of three.
static int soak(struct gpu_final *f, struct timed_entry *e, struct error *err)
{
    bool first = !f->process;
    struct soak_budget budget = first ? soak_of_finalist : soak_of_process;
    if (f->places > SOAKS) budget.seconds *= (double)SOAKS / (double)f->places;
    enum trial_status status;
    struct error reason;
    bool late;
    if (e->baseline || !f->w->settings.verify.enabled || e->status != STATUS_OK) return 0;
    announce(f, 0, e->trial);
    int failed = soak_run(f->w, &e->pipeline, &budget, &status, &reason, err);
    if (!failed && status == STATUS_OK && first)
        failed = sizes_run(f->w, e->kernel, true, &e->sizes_verified, &status, &reason, err);
    if (failed == CUDA_REFUSED) disqualify(e, STATUS_LAUNCH_ERROR, err->message);
    if (failed) return failed == CUDA_REFUSED ? 0 : failed;
    if (status != STATUS_OK) disqualify(e, status, reason.message);
    return pipeline_scan(&e->pipeline, &late, err);
}

// Performs all of a trial's checks on the final's data. A candidate that fails one is disqualified, and any damage it
// did is repaired.
static int prove_entry(struct gpu_final *f, struct timed_entry *e, struct error *err)
{
    bool damaged, late;
    double estimate;
    int failed = 0;
    if (e->kernel && (failed = pipeline_open(&e->pipeline, f->w, e->kernel, err))) {
        if (failed == CUDA_CRASHED || pipeline_blameless(f->w, failed)) return failed;
        disqualify(e, STATUS_LAUNCH_ERROR, err->message);
        return 0;
    }
    e->enters = true;
    verify_forget(f->w);
    failed = pass(f, e, true, err);
    if (!failed) failed = pipeline_scan(&e->pipeline, &late, err);
    for (size_t k = 0; k < f->w->problem_count && !failed; k++)
        if (f->w->problems[k].tune && takes_part(e, k)) failed = try_out(f, e, k, &estimate, err);
    if (!failed) failed = soak(f, e, err);
    if (!failed && e->status == STATUS_OK) failed = pass(f, e, false, err);
    if (!failed) failed = pipeline_scan(&e->pipeline, &late, err);
    if (failed == CUDA_CRASHED) return failed;
    if (failed && e->status == STATUS_OK) disqualify(e, STATUS_LAUNCH_ERROR, err->message); // not checked to the end
    return check_memory(f, e, &damaged, err);
}

static int prove(struct gpu_final *f, struct timed_entry *e, struct error *err)
{
    if (e->status != STATUS_OK) return 0;
    announce(f, 0, e->trial);
    f->program = e->baseline && e->baseline->program ? e->baseline->name : NULL;
    baseline_allow_differences(e->baseline, f->w, true);
    int64_t before = f->w->judged.launches;
    int failed = prove_entry(f, e, err);
    e->launches_judged += f->w->judged.launches - before;
    baseline_allow_differences(e->baseline, f->w, false);
    if (failed != CUDA_CRASHED) f->program = NULL;
    return failed;
}

static int plan(struct gpu_final *f, struct timed_entry *e, size_t problem, struct error *err)
{
    if (e->plans[problem].repeats) return 0; // it has one from an earlier part
    double estimate;
    int failed = try_out(f, e, problem, &estimate, err);
    if (failed) return failed;
    struct measure_subject subject = entry_subject(f, e, problem);
    return measure_plan(f->w->measure, &subject, estimate, &e->plans[problem], err);
}

// Checks whether the medians of a finished race are possible. Libraries come first, since their times are trusted.
static int check_times(struct gpu_final *f, const size_t *order, size_t n, size_t problem, size_t rounds,
                       struct error *err)
{
    int failed = 0;
    for (int kernels = 0; kernels < 2; kernels++)
        for (size_t i = 0; i < n && !failed && f->w->settings.verify.enabled; i++) {
            struct timed_entry *e = &f->entries[order[i]];
            enum trial_status status;
            struct error reason;
            if ((e->kernel != NULL) != kernels || e->status != STATUS_OK) continue;
            double median = stats_median(e->times, rounds);
            if (!e->kernel) {
                if (baseline_same_result(e->baseline))
                    failed = plausibility_trust(f->w, problem, e->baseline->name, median, err);
                continue;
            }
            if (pipeline_prepares(&e->pipeline, problem)) continue;
            failed = plausibility_check(f->w, problem, median, &status, &reason, err);
            if (failed || status == STATUS_OK) continue;
            error_prefix(&reason, "problem %s", f->w->problems[problem].name);
            disqualify(e, status, reason.message);
        }
    return failed;
}

// Checks whether the medians of candidates that were timed in graphs hold when earlier launches leave nothing in shared
// memory.
static int check_graphs(struct gpu_final *f, const size_t *order, size_t n, size_t problem, size_t rounds, double done,
                        struct error *err)
{
    int failed = 0;
    for (size_t i = 0; i < n && !failed; i++) {
        struct timed_entry *e = &f->entries[order[i]];
        enum trial_status status;
        struct error reason;
        const struct measure_plan *plan = &e->plans[problem];
        if (e->baseline || e->status != STATUS_OK || !plan->graph || !f->w->settings.verify.enabled) continue;
        announce(f, done, e->trial);
        verify_forget(f->w);
        failed = graph_check(f->w, problem, plan, stats_median(e->times, rounds), &status, &reason, err);
        if (failed || status == STATUS_OK) continue;
        error_prefix(&reason, "problem %s", f->w->problems[problem].name);
        disqualify(e, status, reason.message);
    }
    return failed;
}

// Runs the rounds of one problem; *rounds is their number. They stop at `until`, but not before FINAL_LEAST rounds.
static int take_rounds(struct gpu_final *f, size_t *order, size_t n, size_t problem, double until, double done,
                       double share, size_t *rounds, struct error *err)
{
    struct measure_plan *plans[RACERS_MAX];
    double times[RACERS_MAX], reported = clock_now();
    *rounds = 0;
    for (size_t retakes = 0; *rounds < f->rounds && n;) {
        for (size_t i = n - 1; i > 0; i--) {
            size_t j = stats_random(&f->random) % (i + 1);
            memory_swap(order[i], order[j]);
        }
        for (size_t i = 0; i < n; i++) plans[i] = &f->entries[order[i]].plans[problem];
        bool hot;
        int failed = measure_plans(f->w->measure, plans, n, times, &hot, err);
        if (failed) return failed;
        if (hot && retakes++ < RETAKES) continue;
        for (size_t i = 0; i < n; i++) f->entries[order[i]].times[*rounds] = times[i];
        ++*rounds;
        double now = clock_now();
        if (*rounds >= FINAL_LEAST && now >= until) break;
        if (now - reported < 0.5) continue;
        reported = now;
        f->progress(f->user, done + share * (double)*rounds / (double)f->rounds, 0);
    }
    return 0;
}

// Gives the entry the verdict that the plan for a problem collected during the race.
static void settle(struct timed_entry *e, size_t problem)
{
    struct measure_plan *plan = &e->plans[problem];
    if (e->status == STATUS_OK && plan->status != STATUS_OK) disqualify(e, plan->status, plan->reason.message);
    e->launches_judged += plan->launches_judged;
    plan->launches_judged = 0;
}

// Runs all rounds of one problem. For progress reports, `done` is the fraction of the final that comes before this
// problem, and `share` is the fraction that this problem takes.
static int race_problem(struct gpu_final *f, size_t problem, double until, double done, double share, struct error *err)
{
    struct workload *w = f->w;
    size_t order[RACERS_MAX], n = 0, rounds = 0;
    int failed = 0;
    for (size_t i = 0; i < f->count && !failed; i++) {
        if (!takes_part(&f->entries[i], problem)) continue;
        order[n++] = i;
        f->entries[i].times = arena_new(f->memory, f->rounds * sizeof(double));
        announce(f, done, f->entries[i].trial);
        verify_forget(w);
        failed = plan(f, &f->entries[i], problem, err);
    }
    verify_several(w);
    announce(f, done, 0);
    if (!failed) failed = take_rounds(f, order, n, problem, until, done, share, &rounds, err);
    if (!failed && !f->graphs_checked) failed = check_graphs(f, order, n, problem, rounds, done + share, err);
    for (size_t i = 0; i < n && failed != CUDA_CRASHED; i++) settle(&f->entries[order[i]], problem);
    if (!failed) failed = check_times(f, order, n, problem, rounds, err);
    for (size_t i = 0; i < n && failed != CUDA_CRASHED; i++) {
        struct timed_entry *e = &f->entries[order[i]];
        e->problems[e->problem_count++] = (struct final_times){
            (int)problem, e->times, rounds, e->results[problem].error_max, e->results[problem].error_rms, NULL};
    }
    return failed;
}

// After a race that damaged memory, runs the entries one by one, as they are timed, until the culprit is found.
static int find_author(struct gpu_final *f, bool *found, struct error *err)
{
    int failed = 0;
    for (int round = 0; round < SUSPECT_ROUNDS && !failed; round++)
        for (size_t i = 0; i < f->count && !failed; i++)
            for (size_t k = 0; k < f->w->problem_count && !failed; k++) {
                struct timed_entry *e = &f->entries[i];
                double estimate;
                bool damaged = false;
                if (!f->w->problems[k].tune || !takes_part(e, k)) continue;
                announce(f, 0, e->trial);
                verify_forget(f->w);
                failed = try_out(f, e, k, &estimate, err);
                if (!failed) failed = check_memory(f, e, &damaged, err);
                *found |= damaged;
            }
    return failed;
}

static void forget_plans(struct gpu_final *f)
{
    f->graphs_checked = false;
    for (size_t i = 0; i < f->count; i++)
        for (size_t k = 0; k < f->w->problem_count && f->entries[i].plans; k++)
            measure_plan_free(&f->entries[i].plans[k]);
}

// Races on all tuned problems, then checks the memory. *again: the race is invalid and must be repeated.
static int race(struct gpu_final *f, bool *again, struct error *err)
{
    struct workload *w = f->w;
    size_t raced = 0, tuned = w->tuned_count;
    bool damaged = false;
    int failed = 0;
    *again = false;
    for (size_t i = 0; i < f->count; i++) {
        f->entries[i].problem_count = 0;
        f->entries[i].problems = arena_new(f->memory, w->problem_count * sizeof *f->entries[i].problems);
    }
    for (size_t k = 0; k < w->problem_count && !failed; k++) {
        if (!w->problems[k].tune) continue;
        double now = clock_now(), until = now + (f->until - now) / (double)(tuned - raced);
        failed = race_problem(f, k, until, (double)raced++ / (double)tuned, 1 / (double)tuned, err);
    }
    for (size_t i = 0; i < f->count && !failed; i++) {
        bool late;
        failed = pipeline_scan(&f->entries[i].pipeline, &late, err);
        *again |= !failed && late; // the race was run without restoring its variables
    }
    if (!failed) failed = check_memory(f, NULL, &damaged, err);
    if (!failed && damaged) failed = find_author(f, again, err);
    f->graphs_checked = !failed;
    if (*again && failed != CUDA_CRASHED) forget_plans(f);
    return failed;
}

static size_t standing(const struct gpu_final *f)
{
    size_t n = 0;
    for (const struct timed_entry *e = f->entries; e < f->entries + f->count; e++)
        n += e->enters && !e->left && !e->baseline && e->status == STATUS_OK;
    return n;
}

// Checks candidates in order until all places are taken or no candidate is left. *more: false if no candidate is left.
static int fill_places(struct gpu_final *f, bool *more, struct error *err)
{
    int failed = 0;
    *more = false;
    for (size_t i = 0; i < f->count && !failed && standing(f) < f->places; i++) {
        if (f->entries[i].baseline || f->entries[i].enters || f->entries[i].status != STATUS_OK) continue;
        *more = true;
        failed = prove(f, &f->entries[i], err);
    }
    return failed;
}

static void answer_entries(const struct gpu_final *f, struct final_answer *answer)
{
    struct final_entry_answer *list = arena_new(f->memory, f->count * sizeof *list);
    answer->entries = list;
    for (size_t i = 0; i < f->count; i++) {
        const struct timed_entry *e = &f->entries[i];
        double worst = 0;
        if (e->left || (!e->enters && e->status == STATUS_OK)) continue; // a spare candidate that was not needed
        for (size_t k = 0; k < f->w->problem_count; k++)
            if (!(e->results[k].error <= worst)) worst = e->results[k].error;
        char name[32];
        snprintf(name, sizeof name, "%lld", (long long)e->trial);
        list[answer->entry_count++] =
            (struct final_entry_answer){.name = arena_copy(f->memory, e->baseline ? e->baseline->name : name),
                                        .trial = e->baseline ? 0 : e->trial,
                                        .binary = e->baseline ? "" : e->binary,
                                        .status = e->status,
                                        .reason = arena_copy(f->memory, e->reason.message),
                                        .detail = e->baseline ? e->baseline->detail : "",
                                        .error = worst,
                                        .launches_judged = e->baseline ? 0 : e->launches_judged,
                                        .sizes_verified = e->sizes_verified,
                                        .cubin_hash = arena_copy(f->memory, e->baseline ? "" : e->pipeline.image_hash),
                                        .problems = e->problems,
                                        .problem_count = e->problem_count};
    }
}

// Repeats the race until it is valid and a candidate has taken part, or no candidate is left.
static int decide(struct gpu_final *f, struct error *err)
{
    bool more = true, again = true;
    int failed = 0;
    for (size_t i = 0; i < f->count && !failed && !f->part; i++)
        if (f->entries[i].baseline) failed = prove(f, &f->entries[i], err);
    for (int races = 0; !failed && more && again && races < RACES_MAX; races++) {
        if (!f->part) failed = fill_places(f, &more, err);
        if (failed || !standing(f)) break;
        if ((failed = race(f, &again, err))) break;
        more = true;
        again |= !f->part && !standing(f);
    }
    return failed;
}

// The part without rounds, which measures energy. An entry that damages memory is disqualified, as in the race.
static int take_energy(struct gpu_final *f, struct error *err)
{
    int failed = 0;
    for (size_t i = 0; i < f->count && !failed; i++) {
        struct timed_entry *e = &f->entries[i];
        bool damaged;
        e->problem_count = 0;
        e->problems = arena_new(f->memory, f->w->problem_count * sizeof *e->problems);
        for (size_t k = 0; k < f->w->problem_count && !failed; k++) {
            if (!f->w->problems[k].tune || !takes_part(e, k)) continue;
            struct energy_figures *energy = arena_new(f->memory, sizeof *energy);
            e->problems[e->problem_count++] = (struct final_times){(int)k, NULL, 0, NAN, NAN, energy};
            announce(f, (double)i / (double)f->count, e->trial);
            verify_forget(f->w);
            failed = plan(f, e, k, err);
            if (!failed) failed = energy_measure(f->w, &e->plans[k], f->until, energy, err);
        }
        if (!failed) failed = check_memory(f, e, &damaged, err);
    }
    return failed;
}

// Releases the entries of an earlier request, but keeps the final's data.
static void leave(struct gpu_final *f)
{
    forget_plans(f);
    for (size_t i = 0; i < f->count; i++) {
        pipeline_release(&f->entries[i].pipeline);
        free(f->entries[i].plans);
    }
    free(f->entries);
    f->entries = NULL;
    f->count = 0;
    arena_release(&f->kept);
}

static int begin(struct gpu_final *f, const json_t *json, struct error *err)
{
    leave(f);
    struct final_request *request = arena_new(&f->kept, sizeof *request);
    if (record_read(&final_request_record, json, request, &f->kept, err)) return -1;
    uint64_t seed = (uint64_t)request->seed;
    f->places = request->candidate_count;
    if (request->places >= 0 && (size_t)request->places < f->places) f->places = (size_t)request->places;
    f->process = request->process;
    f->random = seed + ((uint64_t)request->process << 32); // each process has its own order
    int failed = enter(f, request, err);
    if (!failed && !reference_is_fixed(f->w) && f->w->settings.seed != seed) failed = workload_fill(f->w, seed, err);
    return failed;
}

// Prepares the next part. Leaves out entries that failed and entries that the request no longer names.
static int resume(struct gpu_final *f, const struct final_request *request, struct error *err)
{
    if (!f->count || request->process != f->process || request->part != f->part + 1)
        return error_set(err, "part %lld of process %lld of the final does not follow", (long long)request->part,
                         (long long)request->process);
    for (size_t i = 0; i < f->count; i++) {
        struct timed_entry *e = &f->entries[i];
        e->left |= !final_request_has(request, e->trial, e->binary, e->baseline ? e->baseline->name : NULL) ||
                   e->status != STATUS_OK;
        e->launches_judged = e->sizes_verified = 0;
    }
    return 0;
}

int gpu_final_run(struct gpu_final **final, struct workload *w, struct baselines *baselines, const json_t *json,
                  struct final_answer *answer, struct arena *memory, gpu_progress *progress, void *user,
                  struct error *err)
{
    struct final_request *request = arena_new(memory, sizeof *request);
    if (record_read(&final_request_record, json, request, memory, err)) return -1;
    if (!*final && !(* final = memory_try(1, sizeof **final, err))) return -1;
    struct gpu_final *f = *final;
    if (!f->w) f->old_seed = w->settings.seed;
    f->w = w;
    f->baselines = baselines;
    f->memory = memory;
    f->progress = progress;
    f->user = user;
    f->at = 0;
    f->program = NULL;
    f->rounds = (size_t)request->rounds;
    f->until = request->seconds > 0 ? clock_now() + request->seconds : INFINITY;
    int failed = request->part ? resume(f, request, err) : begin(f, json, err);
    f->part = request->part;
    if (!failed) failed = request->energy ? take_energy(f, err) : decide(f, err);
    if (!failed) {
        answer->head.status = status_name(STATUS_OK);
        answer_entries(f, answer);
    }
    if (failed == CUDA_CRASHED && f->at > 0) answer->head.trial = f->at; // the culprit
    if (failed == CUDA_CRASHED && f->program) answer->head.baseline = f->program;
    if (failed && failed != CUDA_CRASHED) leave(f);
    return failed;
}

void gpu_final_free(struct gpu_final **final)
{
    if (*final) leave(*final);
    free(*final);
    *final = NULL;
}

int gpu_final_end(struct gpu_final **final, struct error *err)
{
    if (!*final) return 0;
    struct workload *w = (*final)->w;
    uint64_t seed = (*final)->old_seed;
    gpu_final_free(final);
    return reference_is_fixed(w) || w->settings.seed == seed ? 0 : workload_fill(w, seed, err);
}
