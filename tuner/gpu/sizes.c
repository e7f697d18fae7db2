// See sizes.h.
#include "tuner/gpu/sizes.h"

#include "tuner/base/entropy.h"
#include "tuner/gpu/integrity.h"
#include "tuner/gpu/soak.h"
#include "tuner/gpu/verify.h"
#include "tuner/gpu/workload.h"

enum { SIZES_OF_BEST = 3 };
// 1/LEFT_OF of the device's memory stays free.
enum { LEFT_OF = 32 };
static const struct soak_budget soak_of_some = {12, 24, 0.02}, soak_of_all = {32, 96, 0.1};

static const char advice[] = "'verification.supported' says which sizes a kernel is made for";

// Checks whether the reference stayed within its buffers. A reference kernel may access memory outside its buffers at
// sizes that its author did not try.
static int check_reference(struct workload *s, struct error *err)
{
    enum trial_status status;
    struct error reason;
    int failed = integrity_check(s, &status, &reason, err);
    if (failed || status == STATUS_OK) return failed;
    return error_set(err, "the reference: %s", reason.message);
}

int sizes_open(struct workload *w, const struct job_request *request, struct error *err)
{
    if (!request || !(w->sizes = memory_try(1, sizeof *w->sizes, err))) return 0;
    int failed = workload_open(w->sizes, w->machine, request, err);
    if (!failed && w->sizes->problem_count) failed = check_reference(w->sizes, err);
    const size_t left = cuda_memory_left(), needed = (size_t)cuda_info(w->cuda)->memory_bytes / LEFT_OF;
    if (!failed && left < needed)
        failed = error_set(err, "they would leave only %zu MiB of memory to libraries and candidates", left >> 20);
    if (failed == CUDA_CRASHED) return error_prefix(err, "on sizes that were drawn (%s)", advice), failed;
    if (failed) fprintf(stderr, "no drawn sizes are verified (%s): %s\n", advice, err->message);
    if (failed || !w->sizes->problem_count) sizes_close(w);
    return 0;
}

void sizes_close(struct workload *w)
{
    if (w->sizes) workload_release(w->sizes);
    free(w->sizes);
    w->sizes = NULL;
}

// Chooses up to `most` of the sizes at random, and sets their work.
static size_t choose(struct workload *s, struct pipeline *pipeline, size_t most, struct work *works)
{
    size_t chosen = 0, left = 0;
    for (size_t k = 0; k < s->problem_count; k++) left += pipeline_does(pipeline, k);
    for (size_t k = 0; k < s->problem_count && chosen < most; k++) {
        if (!pipeline_does(pipeline, k)) continue;
        if (entropy_below(left--) < most - chosen) works[k] = pipeline_work(pipeline, k), chosen++;
    }
    return chosen;
}

static int pass(struct workload *s, struct pipeline *pipeline, bool all, int64_t *verified, enum trial_status *status,
                struct error *reason, struct error *err)
{
    struct work works[WORKLOAD_PROBLEMS_MAX] = {{0}};
    *verified = (int64_t)choose(s, pipeline, all ? s->problem_count : SIZES_OF_BEST, works);
    if (!*verified) return 0;
    verify_forget(s);
    int failed = verify_pass(s, works, VERIFY_BOTH, err);
    for (size_t k = 0; k < s->problem_count && !failed && *status == STATUS_OK; k++) {
        struct verify_result result;
        if (!works[k].enqueue) continue;
        *status = verify_outputs(s, k, &result, reason);
        if (*status != STATUS_OK) error_prefix(reason, "problem %s", s->problems[k].name);
    }
    bool late;
    if (!failed) failed = pipeline_scan(pipeline, &late, err);
    if (failed || *status != STATUS_OK) return failed;
    return soak_run(s, pipeline, all ? &soak_of_all : &soak_of_some, status, reason, err);
}

int sizes_run(struct workload *w, const struct candidate *candidate, bool all, int64_t *verified,
              enum trial_status *status, struct error *reason, struct error *err)
{
    struct workload *s = w->sizes;
    struct pipeline pipeline = {0};
    *status = STATUS_OK;
    *verified = 0;
    if (!s) return 0;
    s->judged.launches = 0;
    int failed = workload_sound(s, err); // an earlier candidate may have written to this memory
    if (!failed) failed = pipeline_open(&pipeline, s, candidate, err);
    if (!failed) failed = pass(s, &pipeline, all, verified, status, reason, err);
    if (!failed) {
        enum trial_status damaged;
        struct error words;
        failed = workload_mend(s, &damaged, &words, err);
        if (!failed && damaged != STATUS_OK) *status = damaged, *reason = words;
    }
    if (failed != CUDA_CRASHED) pipeline_release(&pipeline);
    w->judged.launches += s->judged.launches;
    measure_add_busy(w->measure, measure_take_busy(s->measure));
    static const char where[] = "with sizes and values that the header accepts";
    if (failed == CUDA_MEMORY) { // this says nothing about the candidate
        fprintf(stderr, "not verified %s: %s\n", where, err->message);
        *verified = failed = 0;
    }
    if (failed) error_prefix(err, "%s (%s)", where, advice);
    if (*status != STATUS_OK) error_prefix(reason, "%s (%s)", where, advice);
    return failed;
}
