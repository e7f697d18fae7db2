// The final: the best candidates and the baselines, measured side by side on fresh data.
//
// Candidates are proved in their order, best first, until all places are taken: on two sets of new data, twice on each,
// and in launches that are timed; the memory is checked after each, so that the culprit of any damage is known. Then,
// in each round, every entry is timed once, in an order drawn for the round, so that a warming device, a drifting
// clock or a neighbour's traffic affects all alike; times of one round belong together and are compared in pairs. Every
// timed launch of a candidate is judged. Where the race left damage, the culprit is found and the others race again;
// where no candidate passes, the next ones take the places.
#include "tuner/gpu/gpu_requests.h"

#include "tuner/base/base.h"
#include "tuner/base/clock.h"
#include "tuner/base/protocol.h"
#include "tuner/base/stats.h"
#include "tuner/gpu/graph_check.h"
#include "tuner/gpu/pipeline.h"
#include "tuner/gpu/plausibility.h"
#include "tuner/gpu/reference.h"
#include "tuner/gpu/sizes.h"
#include "tuner/gpu/soak.h"
#include "tuner/gpu/verify.h"

// With objective "each" a candidate may be there for its set of kernels or for its problem: two for each, and
// baselines.
enum { RACERS_MAX = 3 * WORKLOAD_PROBLEMS_MAX, RETAKES = 5, RACES_MAX = 4, SUSPECT_ROUNDS = 4 };

_Static_assert(RACERS_MAX >= FINAL_CANDIDATES_MAX + 8 + JOB_MAX_BASELINES,
               "room for all candidates of a job, the libraries and programs");

struct timed_entry {
    int64_t trial;                  // -1: a baseline
    const struct candidate *kernel; // or the current kernel, or a program; NULL: a library's
    const char *binary;             // whose build it is; borrowed from the request
    struct pipeline pipeline;       // of the kernel, opened when it is its turn
    struct baseline *baseline;      // NULL: a candidate
    enum trial_status status;
    struct error reason;
    struct verify_result results[WORKLOAD_PROBLEMS_MAX];
    struct measure_plan plan;
    bool enters;   // has been proved, and races
    double *times; // [round] of the problem being measured
    int64_t launches_judged, sizes_verified;
    struct final_times *problems; // in the answer's memory, room for all
    size_t problem_count;
};

struct gpu_final {
    struct workload *w;
    size_t count, rounds, places;
    bool first;           // of the processes that share the rounds
    struct arena *memory; // of the answer
    struct timed_entry *entries;
    uint64_t random;
    int64_t at;          // the trial whose turn it is; 0: all are racing; -1: a baseline
    const char *program; // the baseline whose turn it is, where it is a program of the user's
    gpu_progress *progress;
    void *user;
};

static struct work entry_work(struct timed_entry *e, size_t problem)
{
    return pipeline_work(e->kernel ? &e->pipeline : &e->baseline->pipeline, problem);
}

static bool takes_part(const struct timed_entry *e, size_t problem)
{
    return e->enters && e->status == STATUS_OK &&
           pipeline_does(e->kernel ? &e->pipeline : &e->baseline->pipeline, problem);
}

static void disqualify(struct timed_entry *e, enum trial_status status, const char *reason)
{
    e->status = status;
    error_set(&e->reason, "%s", reason);
}

static int enter(struct gpu_final *f, struct baselines *baselines, const struct final_request *request,
                 struct error *err)
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
        struct baseline *b = baselines_find(baselines, request->baselines[i]);
        if (!b) return error_set(err, "the job has no baseline '%s'", request->baselines[i]);
        struct timed_entry *e = &f->entries[f->count++];
        e->trial = -1;
        e->baseline = b;
        e->kernel = b->kernel;
        if (b->reason[0]) disqualify(e, STATUS_LAUNCH_ERROR, b->reason);
    }
    for (size_t i = 0; i < f->count; i++) {
        f->entries[i].times = memory_try(f->rounds, sizeof(double), err);
        f->entries[i].problems = arena_new(f->memory, f->w->problem_count * sizeof *f->entries[i].problems);
        if (!f->entries[i].times) return -1;
    }
    return 0;
}

// Only kernels are judged in the race: libraries may differ from run to run, and compute something else.
static struct measure_subject entry_subject(struct gpu_final *f, struct timed_entry *e, size_t problem)
{
    struct work work = entry_work(e, problem);
    return verify_subject(f->w, problem, &work, e->kernel && f->w->verify.enabled);
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
        if (status == STATUS_OK || !w->verify.enabled || (!e->kernel && status == STATUS_NONDETERMINISTIC)) continue;
        error_prefix(&reason, "problem %s", w->problems[k].name);
        disqualify(e, status, reason.message);
    }
    return 0;
}

// Whether an entry damaged memory; it is then out.
static int check_memory(struct gpu_final *f, struct timed_entry *e, bool *damaged, struct error *err)
{
    enum trial_status status;
    struct error reason;
    int failed = workload_mend(f->w, &status, &reason, err);
    *damaged = !failed && status != STATUS_OK;
    if (*damaged && e && f->w->verify.enabled) disqualify(e, status, reason.message);
    return failed;
}

// A few samples, as the race takes them.
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

// Many launches of a candidate in the module that will race.
static int soak(struct gpu_final *f, struct timed_entry *e, struct error *err)
{
    const struct soak_budget *budget = f->first ? &soak_of_finalist : &soak_of_process;
    enum trial_status status;
    struct error reason;
    bool late;
    if (e->baseline || !f->w->verify.enabled || e->status != STATUS_OK) return 0;
    announce(f, 0, e->trial);
    int failed = soak_run(f->w, &e->pipeline, budget, &status, &reason, err);
    if (!failed && status == STATUS_OK && f->first)
        failed = sizes_run(f->w, e->kernel, true, &e->sizes_verified, &status, &reason, err);
    if (failed == CUDA_REFUSED) disqualify(e, STATUS_LAUNCH_ERROR, err->message);
    if (failed) return failed == CUDA_REFUSED ? 0 : failed;
    if (status != STATUS_OK) disqualify(e, status, reason.message);
    return pipeline_scan(&e->pipeline, &late, err);
}

// All of a trial's checks, on the final's data. A candidate that fails one is out, and what it may have damaged is
// restored.
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
    if (failed && e->status == STATUS_OK) disqualify(e, STATUS_LAUNCH_ERROR, err->message); // nothing is proved
    return check_memory(f, e, &damaged, err);
}

static int prove(struct gpu_final *f, struct timed_entry *e, struct error *err)
{
    if (e->status != STATUS_OK) return 0;
    announce(f, 0, e->trial);
    f->program = e->baseline && e->baseline->program ? e->baseline->name : NULL;
    baseline_allow_differences(e->baseline, f->w, true);
    int64_t before = f->w->launches_judged;
    int failed = prove_entry(f, e, err);
    e->launches_judged += f->w->launches_judged - before;
    baseline_allow_differences(e->baseline, f->w, false);
    if (failed != CUDA_CRASHED) f->program = NULL;
    return failed;
}

static int plan(struct gpu_final *f, struct timed_entry *e, size_t problem, struct error *err)
{
    double estimate;
    int failed = try_out(f, e, problem, &estimate, err);
    if (failed) return failed;
    struct measure_subject subject = entry_subject(f, e, problem);
    return measure_plan(f->w->measure, &subject, estimate, &e->plan, err);
}

// One sample of each entry, however many there are. hot: the device was throttled meanwhile.
static int sample_all(struct gpu_final *f, struct measure_plan *const *plans, size_t n, double *times, bool *hot,
                      struct error *err)
{
    *hot = false;
    for (size_t i = 0; i < n; i += MEASURE_BATCH) {
        size_t some = n - i < MEASURE_BATCH ? n - i : MEASURE_BATCH;
        int failed = measure_samples(f->w->measure, plans + i, some, 1, times + i, err);
        if (failed) return failed;
        *hot |= measure_reading(f->w->measure).hot;
    }
    return 0;
}

// Whether the medians of a finished race are possible. Libraries come first, since their times are believed.
static int check_times(struct gpu_final *f, const size_t *order, size_t n, size_t problem, struct error *err)
{
    int failed = 0;
    for (int kernels = 0; kernels < 2; kernels++)
        for (size_t i = 0; i < n && !failed && f->w->verify.enabled; i++) {
            struct timed_entry *e = &f->entries[order[i]];
            enum trial_status status;
            struct error reason;
            if ((e->kernel != NULL) != kernels || e->status != STATUS_OK) continue;
            double median = stats_median(e->times, f->rounds);
            if (!e->kernel) {
                if (baseline_same_result(e->baseline))
                    failed = plausibility_trust(f->w, problem, e->baseline->name, median, err);
                continue;
            }
            failed = plausibility_check(f->w, problem, median, &status, &reason, err);
            if (failed || status == STATUS_OK) continue;
            error_prefix(&reason, "problem %s", f->w->problems[problem].name);
            disqualify(e, status, reason.message);
        }
    return failed;
}

// Whether the medians of candidates that were timed in graphs hold without what earlier launches left.
static int check_graphs(struct gpu_final *f, const size_t *order, size_t n, size_t problem, double done,
                        struct error *err)
{
    int failed = 0;
    for (size_t i = 0; i < n && !failed; i++) {
        struct timed_entry *e = &f->entries[order[i]];
        enum trial_status status;
        struct error reason;
        if (e->baseline || e->status != STATUS_OK || !e->plan.graph || !f->w->verify.enabled) continue;
        announce(f, done, e->trial);
        verify_forget(f->w);
        failed = graph_check(f->w, problem, &e->plan, stats_median(e->times, f->rounds), &status, &reason, err);
        if (failed || status == STATUS_OK) continue;
        error_prefix(&reason, "problem %s", f->w->problems[problem].name);
        disqualify(e, status, reason.message);
    }
    return failed;
}

// All rounds of one problem. `done` and `share` are for the progress.
static int builds_problem(struct gpu_final *f, size_t problem, double done, double share, struct error *err)
{
    struct workload *w = f->w;
    size_t order[RACERS_MAX], n = 0;
    struct measure_plan *plans[RACERS_MAX];
    double times[RACERS_MAX], reported = clock_now();
    int failed = 0;
    for (size_t i = 0; i < f->count && !failed; i++) {
        if (!takes_part(&f->entries[i], problem)) continue;
        order[n++] = i;
        announce(f, done, f->entries[i].trial);
        verify_forget(w);
        failed = plan(f, &f->entries[i], problem, err);
    }
    verify_several(w);
    announce(f, done, 0);
    for (size_t round = 0, retakes = 0; round < f->rounds && n && !failed;) {
        for (size_t i = n - 1; i > 0; i--) {
            size_t j = stats_random(&f->random) % (i + 1), kept = order[i];
            order[i] = order[j];
            order[j] = kept;
        }
        for (size_t i = 0; i < n; i++) plans[i] = &f->entries[order[i]].plan;
        bool hot;
        if ((failed = sample_all(f, plans, n, times, &hot, err))) break;
        if (hot && retakes++ < RETAKES) continue;
        for (size_t i = 0; i < n; i++) f->entries[order[i]].times[round] = times[i];
        round++;
        if (clock_now() - reported < 0.5) continue;
        reported = clock_now();
        f->progress(f->user, done + share * (double)round / (double)f->rounds, 0);
    }
    if (!failed) failed = check_graphs(f, order, n, problem, done + share, err);
    for (size_t i = 0; i < n && failed != CUDA_CRASHED; i++) {
        struct timed_entry *e = &f->entries[order[i]];
        if (e->status == STATUS_OK && e->plan.status != STATUS_OK)
            disqualify(e, e->plan.status, e->plan.reason.message);
        e->launches_judged += e->plan.launches_judged;
        measure_plan_free(&e->plan);
    }
    if (!failed) failed = check_times(f, order, n, problem, err);
    for (size_t i = 0; i < n && failed != CUDA_CRASHED; i++) {
        struct timed_entry *e = &f->entries[order[i]];
        double *kept = arena_new(f->memory, f->rounds * sizeof *kept);
        memcpy(kept, e->times, f->rounds * sizeof *kept);
        e->problems[e->problem_count++] = (struct final_times){
            (int)problem, kept, f->rounds, e->results[problem].error_max, e->results[problem].error_rms};
    }
    return failed;
}

// After a race that damaged memory, runs one entry after another as it is timed, until the culprit is found.
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

// Races on all tuned problems, then checks the memory. *again: the race does not count, since an entry is out.
static int race(struct gpu_final *f, bool *again, struct error *err)
{
    struct workload *w = f->w;
    size_t raced = 0;
    bool damaged = false;
    int failed = 0;
    *again = false;
    for (size_t i = 0; i < f->count; i++) f->entries[i].problem_count = 0;
    for (size_t k = 0; k < w->problem_count && !failed; k++)
        if (w->problems[k].tune)
            failed = builds_problem(f, k, (double)raced++ / (double)w->tuned_count, 1 / (double)w->tuned_count, err);
    for (size_t i = 0; i < f->count && !failed; i++) {
        bool late;
        failed = pipeline_scan(&f->entries[i].pipeline, &late, err);
        *again |= !failed && late; // the race was run without restoring its variables
    }
    if (!failed) failed = check_memory(f, NULL, &damaged, err);
    return failed || !damaged ? failed : find_author(f, again, err);
}

static size_t standing(const struct gpu_final *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->count; i++)
        n += f->entries[i].enters && !f->entries[i].baseline && f->entries[i].status == STATUS_OK;
    return n;
}

// Proves candidates in their order until all places are taken or none is left. False when there was none left to prove.
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
        if (!e->enters && e->status == STATUS_OK) continue; // a spare that was not needed
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
                                        .detail = e->baseline ? baseline_detail(e->baseline) : "",
                                        .error = worst,
                                        .launches_judged = e->baseline ? 0 : e->launches_judged,
                                        .sizes_verified = e->sizes_verified,
                                        .cubin_hash = arena_copy(f->memory, e->baseline ? "" : e->pipeline.image_hash),
                                        .problems = e->problems,
                                        .problem_count = e->problem_count};
    }
}

// Repeats until a race counts and has a candidate in it, or no candidate is left.
static int decide(struct gpu_final *f, struct error *err)
{
    bool more = true, again = true;
    int failed = 0;
    for (size_t i = 0; i < f->count && !failed; i++)
        if (f->entries[i].baseline) failed = prove(f, &f->entries[i], err);
    for (int races = 0; !failed && more && again && races < RACES_MAX; races++) {
        if ((failed = fill_places(f, &more, err)) || !standing(f)) break;
        if ((failed = race(f, &again, err))) break;
        more = true;
        again |= !standing(f);
    }
    return failed;
}

int gpu_final_run(struct workload *w, struct baselines *baselines, const struct final_request *request,
                  struct final_answer *answer, struct arena *memory, gpu_progress *progress, void *user,
                  struct error *err)
{
    size_t most = request->candidate_count;
    uint64_t old_seed = w->seed, seed = (uint64_t)request->seed;
    struct gpu_final f = {.w = w,
                          .rounds = (size_t)request->rounds,
                          .places =
                              request->places < 0 || (size_t)request->places > most ? most : (size_t)request->places,
                          .first = request->process == 0,
                          .memory = memory,
                          .random = seed + ((uint64_t)request->process << 32), // each has its own order
                          .progress = progress,
                          .user = user};
    int failed = enter(&f, baselines, request, err);
    if (!failed && !reference_is_fixed(w)) failed = workload_fill(w, seed, err);
    if (!failed) failed = decide(&f, err);
    if (!failed && !reference_is_fixed(w)) failed = workload_fill(w, old_seed, err);
    if (!failed) {
        answer->head.status = status_name(STATUS_OK);
        answer_entries(&f, answer);
    }
    if (failed == CUDA_CRASHED && f.at > 0) answer->head.trial = f.at; // the culprit
    if (failed == CUDA_CRASHED && f.program) answer->head.baseline = f.program;
    for (size_t i = 0; i < f.count; i++) {
        if (failed != CUDA_CRASHED) pipeline_release(&f.entries[i].pipeline);
        free(f.entries[i].times);
    }
    free(f.entries);
    return failed;
}
