// See gpu_final.h.
#include "tuner/gpu/gpu_final.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/base/clock.h"
#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/gpu/pipeline.h"
#include "tuner/gpu/reference.h"
#include "tuner/gpu/verify.h"

// With objective "each" a candidate may be there for its set of kernels or for its problem: two for each, and
// baselines.
enum { ENTRIES_MAX = 3 * WORKLOAD_PROBLEMS_MAX, RETAKES = 5, ROUNDS_MAX = 10000 };

struct race_entry {
    int64_t trial; // -1: a baseline
    struct pipeline pipeline;
    struct baseline *baseline;
    enum trial_status status;
    struct error reason;
    struct verify_result results[WORKLOAD_PROBLEMS_MAX];
    struct measure_plan plan;
    double *times; // [round] of the problem being measured
    json_t *problems;
};

struct gpu_final {
    struct workload *w;
    size_t count, rounds;
    struct race_entry *entries;
    uint64_t random;
    void (*progress)(void *user, double share);
    void *user;
};

// splitmix64 (Steele, Lea, Flood 2014).
static uint64_t draw(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static struct work entry_work(struct race_entry *e, size_t problem)
{
    return e->baseline ? baseline_work(e->baseline, problem) : pipeline_work(&e->pipeline, problem);
}

static bool takes_part(const struct race_entry *e, size_t problem)
{
    return e->status == STATUS_OK &&
           (e->baseline ? e->baseline->parts[problem].ready : pipeline_does(&e->pipeline, problem));
}

static void disqualify(struct race_entry *e, enum trial_status status, const char *reason)
{
    e->status = status;
    error_set(&e->reason, "%s", reason);
}

static int enter(struct gpu_final *f, struct baselines *baselines, const json_t *request, struct error *err)
{
    const json_t *candidates = json_object_get(request, "candidates"), *names = json_object_get(request, "baselines");
    size_t i, total = json_array_size(candidates) + json_array_size(names);
    json_t *each;
    if (total > ENTRIES_MAX) return error_set(err, "%zu entries in the final, more than %d", total, ENTRIES_MAX);
    f->entries = memory_try(total, sizeof *f->entries, err);
    if (!f->entries) return -1;
    json_array_foreach(candidates, i, each)
    {
        struct race_entry *e = &f->entries[f->count++];
        struct error why = {""};
        e->trial = json_get_integer(each, "trial", 0);
        int failed = pipeline_open(&e->pipeline, f->w, each, &why);
        if (failed == CUDA_CRASHED) return *err = why, failed;
        if (failed) disqualify(e, STATUS_LAUNCH_ERROR, why.message);
    }
    json_array_foreach(names, i, each)
    {
        const char *name = json_is_string(each) ? json_string_value(each) : "";
        struct baseline *b = baselines_find(baselines, name);
        if (!b) return error_set(err, "the job has no baseline '%s'", name);
        struct race_entry *e = &f->entries[f->count++];
        e->trial = -1;
        e->baseline = b;
        if (b->reason[0]) disqualify(e, STATUS_LAUNCH_ERROR, b->reason);
    }
    for (i = 0; i < f->count; i++) {
        f->entries[i].times = memory_try(f->rounds, sizeof(double), err);
        f->entries[i].problems = json_array();
        if (!f->entries[i].times) return -1;
    }
    return 0;
}

// One entry, all its problems. A wrong one is out, and what it may have damaged is mended.
static int verify(struct gpu_final *f, struct race_entry *e, enum verify_pass which, struct error *err)
{
    struct workload *w = f->w;
    int failed = verify_begin(w, err);
    for (size_t k = 0; k < w->problem_count && !failed; k++) {
        struct work work;
        if (!takes_part(e, k)) continue;
        work = entry_work(e, k);
        // Baselines and candidates share the copy of an earlier output, so bits are compared within one entry only.
        failed = verify_run(w, k, &work, VERIFY_FIRST, err);
        if (!failed && which == VERIFY_SECOND && !e->baseline) failed = verify_run(w, k, &work, VERIFY_SECOND, err);
    }
    if (failed) {
        int ended = cuda_sync(w->cuda, failed == CUDA_CRASHED ? NULL : err);
        if (ended || failed != CUDA_REFUSED) return ended ? ended : failed;
        disqualify(e, STATUS_LAUNCH_ERROR, err->message);
        return 0;
    }
    if ((failed = verify_end(w, err))) return failed;
    for (size_t k = 0; k < w->problem_count; k++) {
        struct verify_result result;
        struct error reason;
        if (!takes_part(e, k)) continue;
        enum trial_status status = verify_judge(w, k, &result, &reason);
        // Baselines that compute something else are timed all the same, and have no error.
        if (e->baseline && !e->baseline->about->same_result) continue;
        if (which == VERIFY_FIRST) e->results[k] = result;
        if (status != STATUS_OK && w->verify.enabled) {
            error_prefix(&reason, "problem %s", w->problems[k].name);
            disqualify(e, status, reason.message);
        }
    }
    bool damaged;
    return e->status == STATUS_OK ? 0 : workload_mend(w, &damaged, err);
}

// The same; if the entry takes the context with it, the answer says whose fault it was.
static int verify_named(struct gpu_final *f, struct race_entry *e, enum verify_pass which, json_t *answer,
                        struct error *err)
{
    int failed = verify(f, e, which, err);
    if (failed == CUDA_CRASHED) json_object_set_new(answer, "trial", json_integer(e->trial));
    return failed;
}

static int plan(struct gpu_final *f, struct race_entry *e, size_t problem, struct error *err)
{
    struct measure_plan bare = {.work = entry_work(e, problem), .repeats = 1}, *plans[3] = {&bare, &bare, &bare};
    double times[3];
    int failed = measure_samples(f->w->measure, plans, 3, times, err);
    return failed ? failed
                  : measure_plan(f->w->measure, &bare.work, &f->w->problems[problem].buffers, times[2], &e->plan, err);
}

// One sample of each, whatever their number. hot: the device was throttled meanwhile.
static int sample_all(struct gpu_final *f, struct measure_plan *const *plans, size_t n, double *times, bool *hot,
                      struct error *err)
{
    *hot = false;
    for (size_t i = 0; i < n; i += MEASURE_BATCH) {
        size_t some = n - i < MEASURE_BATCH ? n - i : MEASURE_BATCH;
        int failed = measure_samples(f->w->measure, plans + i, some, times + i, err);
        if (failed) return failed;
        *hot |= measure_reading(f->w->measure).hot;
    }
    return 0;
}

// All rounds of one problem. `done` and `share` are for the progress.
static int race(struct gpu_final *f, size_t problem, double done, double share, struct error *err)
{
    struct workload *w = f->w;
    size_t order[ENTRIES_MAX], n = 0;
    struct measure_plan *plans[ENTRIES_MAX];
    double times[ENTRIES_MAX], told = clock_now();
    int failed = 0;
    for (size_t i = 0; i < f->count && !failed; i++) {
        if (!takes_part(&f->entries[i], problem)) continue;
        order[n++] = i;
        failed = plan(f, &f->entries[i], problem, err);
    }
    for (size_t round = 0, retakes = 0; round < f->rounds && n && !failed;) {
        for (size_t i = n - 1; i > 0; i--) {
            size_t j = draw(&f->random) % (i + 1), kept = order[i];
            order[i] = order[j];
            order[j] = kept;
        }
        for (size_t i = 0; i < n; i++) plans[i] = &f->entries[order[i]].plan;
        bool hot;
        if ((failed = sample_all(f, plans, n, times, &hot, err))) break;
        if (hot && retakes++ < RETAKES) continue;
        for (size_t i = 0; i < n; i++) f->entries[order[i]].times[round] = times[i];
        round++;
        if (clock_now() - told < 0.5) continue;
        told = clock_now();
        f->progress(f->user, done + share * (double)round / (double)f->rounds);
    }
    for (size_t i = 0; i < n && failed != CUDA_CRASHED; i++) {
        struct race_entry *e = &f->entries[order[i]];
        json_t *list = json_array();
        measure_plan_free(w->measure, &e->plan);
        for (size_t round = 0; round < f->rounds; round++)
            json_array_append_new(list, json_real_or_null(e->times[round]));
        json_array_append_new(e->problems,
                              json_pack("{s:I, s:o, s:o, s:o}", "problem", (json_int_t)problem, "times", list,
                                        "error_max", json_real_or_null(e->results[problem].error_max), "error_rms",
                                        json_real_or_null(e->results[problem].error_rms)));
    }
    return failed;
}

static json_t *entries_json(struct gpu_final *f)
{
    json_t *array = json_array();
    for (size_t i = 0; i < f->count; i++) {
        struct race_entry *e = &f->entries[i];
        double worst = 0;
        for (size_t k = 0; k < f->w->problem_count; k++)
            if (!(e->results[k].error <= worst)) worst = e->results[k].error;
        json_t *one = json_object();
        json_object_set_new(one, "name",
                            e->baseline ? json_string(e->baseline->name) : json_sprintf("%lld", (long long)e->trial));
        json_object_set_new(one, "trial", e->baseline ? json_null() : json_integer(e->trial));
        json_object_set_new(one, "status", json_string(status_name(e->status)));
        json_object_set_new(one, "reason", json_string(e->reason.message));
        json_object_set_new(one, "detail", json_string(e->baseline ? e->baseline->detail : ""));
        json_object_set_new(one, "error", json_real_or_null(worst));
        json_object_set(one, "problems", e->problems);
        json_array_append_new(array, one);
    }
    return array;
}

int gpu_final_run(struct workload *w, struct baselines *baselines, const json_t *request, json_t *answer,
                  void (*progress)(void *user, double share), void *user, struct error *err)
{
    double begin = clock_now();
    int64_t rounds = json_get_integer(request, "rounds", 40);
    uint64_t old_seed = w->seed, seed = (uint64_t)json_get_integer(request, "seed", 1);
    struct gpu_final f = {.w = w, .random = seed, .progress = progress, .user = user};
    if (rounds < 1 || rounds > ROUNDS_MAX)
        return error_set(err, "%lld rounds; 1 to %d are possible", (long long)rounds, ROUNDS_MAX);
    f.rounds = (size_t)rounds;
    measure_take_busy(w->measure);
    size_t raced = 0;
    int failed = enter(&f, baselines, request, err);
    if (!failed && !reference_is_fixed(w)) failed = workload_fill(w, seed, err);
    for (size_t i = 0; i < f.count && !failed; i++)
        if (f.entries[i].status == STATUS_OK) failed = verify_named(&f, &f.entries[i], VERIFY_FIRST, answer, err);
    for (size_t k = 0; k < w->problem_count && !failed; k++)
        if (w->problems[k].tune)
            failed = race(&f, k, (double)raced++ / (double)w->tuned_count, 1 / (double)w->tuned_count, err);
    for (size_t i = 0; i < f.count && !failed; i++)
        if (f.entries[i].status == STATUS_OK) failed = verify_named(&f, &f.entries[i], VERIFY_SECOND, answer, err);
    if (!failed && !reference_is_fixed(w)) failed = workload_fill(w, old_seed, err);
    if (!failed) {
        json_object_set_new(answer, "status", json_string(status_name(STATUS_OK)));
        json_object_set_new(answer, "entries", entries_json(&f));
    }
    json_object_set_new(answer, "busy", json_real(measure_take_busy(w->measure)));
    json_object_set_new(answer, "wall", json_real(clock_now() - begin));
    for (size_t i = 0; i < f.count; i++) {
        if (failed != CUDA_CRASHED) pipeline_release(&f.entries[i].pipeline);
        json_decref(f.entries[i].problems);
        free(f.entries[i].times);
    }
    free(f.entries);
    return failed;
}
