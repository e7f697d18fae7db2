// See baselines.h.
#include "tuner/gpu/baselines.h"

#include "tuner/gpu/gpu_requests.h"
#include "tuner/gpu/plausibility.h"
#include "tuner/gpu/verify.h"

bool baseline_same_result(const struct baseline *b)
{
    return b->kernel || (b->about && b->about->same_result);
}

// Ranks the library's algorithms on one problem, once for all baselines, and checks that there are enough of them for
// the baseline's place.
static int take_places(struct baselines *all, const struct operation_baseline *about, size_t problem, struct error *err)
{
    struct library_places *places = &all->places[problem];
    int failed = places->raced ? 0 : library_race(all->workload, about, problem, places->best, &places->count, err);
    if (failed) return failed;
    places->raced = true;
    if (places->count >= (size_t)about->place) return 0;
    return error_set(err, "%s: the library has only %zu algorithm%s that can run",
                     all->workload->problems[problem].name, places->count, places->count == 1 ? "" : "s");
}

// Prepares a library with the ways (library_race.h) that the request lists. If there are none, or if they fail, uses
// the fastest ways.
static int open_ways(struct baselines *all, struct baseline *b, struct error *err)
{
    struct workload *w = all->workload;
    const char *ways[WORKLOAD_PROBLEMS_MAX] = {NULL};
    size_t tuned = 0;
    int failed = 0;
    for (size_t k = 0; k < w->problem_count && tuned < b->request.way_count; k++)
        if (w->problems[k].tune) ways[k] = b->request.ways[tuned++];
    if (tuned && tuned == w->tuned_count) {
        failed = pipeline_open_operation(&b->pipeline, w, b->about, ways, err);
        if (!failed || failed == CUDA_CRASHED) return failed;
        pipeline_release(&b->pipeline); // another version of the library has other ways
    }
    b->ways = arena_new(&all->memory, w->tuned_count * sizeof *b->ways);
    b->detail = "";
    tuned = 0;
    for (size_t k = 0; k < w->problem_count; k++) {
        if (!w->problems[k].tune) continue;
        if ((failed = take_places(all, b->about, k, err))) return failed;
        const struct operation_way *way = &all->places[k].best[b->about->place - 1];
        b->ways[tuned++] = ways[k] = way->text;
        b->detail = w->tuned_count == 1 ? way->detail
                                        : arena_format(&all->memory, "%s%s%s: %s", b->detail, *b->detail ? "; " : "",
                                                       w->problems[k].name, way->detail);
    }
    return pipeline_open_operation(&b->pipeline, w, b->about, ways, err);
}

static int open_one(struct baselines *all, struct baseline *b, struct error *err)
{
    if (b->kernel) return pipeline_open(&b->pipeline, all->workload, b->kernel, err);
    if (!b->about) return error_set(err, "the job's reference has no baseline '%s'", b->name);
    return b->about->place ? open_ways(all, b, err)
                           : pipeline_open_operation(&b->pipeline, all->workload, b->about, NULL, err);
}

// With `begin`, sets a program's time limit; without it, removes the limit.
static void limit(const struct baseline *b, bool begin)
{
    if (b->program) program_call_limit(b->name, begin && b->request.timeout > 0 ? b->request.timeout : 0);
}

void baseline_allow_differences(struct baseline *b, struct workload *w, bool begin)
{
    if (!b || !b->program) return;
    if (begin) b->deterministic = w->settings.verify.deterministic;
    w->settings.verify.deterministic = !begin && b->deterministic;
}

int baselines_open(struct baselines *all, struct workload *w, const struct job_request *job, struct error *err)
{
    memset(all, 0, sizeof *all);
    all->workload = w;
    all->list = memory_try(job->baseline_count, sizeof *all->list, err);
    if (!all->list) return -1;
    for (size_t i = 0; i < job->baseline_count; i++) {
        struct baseline *b = &all->list[all->count++];
        struct error why = {""};
        b->request = job->baselines[i];
        b->name = b->request.candidate.name;
        b->detail = b->request.detail;
        if (!*b->name) return error_set(err, "entry %zu of 'baselines' has no name", i);
        b->kernel = b->request.kind == IMPLEMENTATION_OPERATION ? NULL : &b->request.candidate;
        b->program = b->request.kind == IMPLEMENTATION_LIBRARY;
        b->about = w->operation && !b->kernel ? operation_baseline(w->operation, b->name) : NULL;
        bool known = *b->request.reason;
        if (known) error_set(&why, "%s", b->request.reason);
        limit(b, true);
        int failed = known ? -1 : open_one(all, b, &why);
        limit(b, false);
        if (failed) snprintf(b->reason, sizeof b->reason, "%s", why.message);
        if (failed == CUDA_CRASHED) {
            if (b->program) all->culprit = b->name;
            *err = why;
            return error_prefix(err, "baseline %s", b->name), failed;
        }
    }
    return 0;
}

void baselines_release(struct baselines *all)
{
    for (size_t i = 0; i < all->count; i++) pipeline_release(&all->list[i].pipeline);
    free(all->list);
    arena_release(&all->memory);
    memset(all, 0, sizeof *all);
}

struct baseline *baselines_find(struct baselines *all, const char *name)
{
    for (size_t i = 0; i < all->count; i++)
        if (!strcmp(all->list[i].name, name)) return &all->list[i];
    return NULL;
}

// A trial of the current kernel, or of a program. If it passes, its times are copied to the answer's problems.
static int try_kernel(struct baselines *all, struct baseline *b, struct baseline_answer *to, struct error *err)
{
    struct workload *w = all->workload;
    struct problem_answer *problems = arena_new(&all->memory, w->tuned_count * sizeof *problems);
    struct trial_request request = {.candidate = *b->kernel, .verify = w->settings.verify.enabled};
    struct trial_answer answer;
    record_clear(&trial_answer_record, &answer);
    limit(b, true);
    baseline_allow_differences(b, w, true);
    int failed = gpu_trial_run(w, &request, &answer, &all->memory, NULL, NULL, err);
    baseline_allow_differences(b, w, false);
    limit(b, false);
    if (failed == CUDA_CRASHED)
        error_set(err, "%s%s%sit crashes: %s", b->program ? "" : "baseline ", b->program ? "" : b->name,
                  b->program ? "" : ": ", answer.head.reason);
    else if (!failed && answer.head.restart)
        error_set(err, "it uses the device's heap or printf, which cannot be restored between launches"), failed = -1;
    else if (!failed && !answer_is_ok(&answer.head))
        error_set(err, "%s: %s", answer.head.status, answer.head.reason), failed = -1;
    to->problems = problems;
    for (size_t k = 0; k < answer.problem_count && !failed; k++) {
        if (!w->problems[k].tune) continue;
        problems[to->problem_count] = answer.problems[k];
        problems[to->problem_count++].status = answer.head.status;
    }
    return failed;
}

// Times one baseline on one problem. If it computes the same as a candidate, also compares its results, as for a
// candidate.
static int measure(struct baselines *all, struct baseline *b, size_t k, struct problem_answer *to, struct error *err)
{
    struct workload *w = all->workload;
    struct work work = pipeline_work(&b->pipeline, k);
    struct measurement times;
    struct measure_subject subject = verify_subject(w, k, &work, false);
    struct error reason;
    enum trial_status status;
    int failed = measure_work(w->measure, &subject, 0, 0, &times, &status, &reason, err);
    if (failed) return failed;
    gpu_trial_times(&to->figures, &times, &all->memory);
    if (!b->about->same_result) return 0;
    struct verify_result result;
    verify_forget(w);
    struct work works[WORKLOAD_PROBLEMS_MAX] = {{0}};
    works[k] = work;
    if ((failed = verify_pass(w, works, VERIFY_FIRST, err))) return failed;
    // Only this problem is judged: the others did not run, so they have no findings from this pass.
    status = verify_outputs(w, k, &result, &reason);
    if (status == STATUS_OK && (failed = plausibility_trust(w, k, b->name, times.time, err))) return failed;
    to->status = status_name(status);
    to->reason = arena_copy(&all->memory, reason.message);
    to->figures.error = result.error;
    to->error_max = result.error_max;
    to->error_rms = result.error_rms;
    return 0;
}

static int measure_all(struct baselines *all, struct baseline *b, struct baseline_answer *to, struct error *err)
{
    struct problem_answer *problems = arena_new(&all->memory, all->workload->tuned_count * sizeof *problems);
    int failed = 0;
    to->problems = problems;
    for (size_t k = 0; k < all->workload->problem_count && !failed; k++) {
        if (!all->workload->problems[k].tune) continue;
        struct problem_answer *one = &problems[to->problem_count++];
        record_clear(&problem_answer_record, one);
        one->problem = (int)k;
        failed = measure(all, b, k, one, err);
    }
    return failed;
}

struct baseline_answer *baselines_measure(struct baselines *all, struct error *err)
{
    struct baseline_answer *list = arena_new(&all->memory, all->count * sizeof *list);
    for (size_t i = 0; i < all->count; i++) {
        struct baseline *b = &all->list[i];
        struct error why = {""};
        int failed = b->reason[0] ? 0
                     : b->kernel  ? try_kernel(all, b, &list[i], &why)
                                  : measure_all(all, b, &list[i], &why);
        if (failed) snprintf(b->reason, sizeof b->reason, "%s", why.message);
        if (failed == CUDA_CRASHED) {
            if (b->program) all->culprit = b->name;
            *err = why;
            return NULL;
        }
        if (b->reason[0]) list[i].problem_count = 0;
        list[i].name = b->name;
        list[i].detail = b->detail;
        list[i].reason = b->reason;
        list[i].same_result = baseline_same_result(b);
        list[i].ways = b->ways;
        list[i].way_count = b->ways && !b->reason[0] ? all->workload->tuned_count : 0;
    }
    return list;
}
