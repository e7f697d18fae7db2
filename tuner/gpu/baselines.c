// See baselines.h.
#include "tuner/gpu/baselines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/gpu/gpu_trial.h"
#include "tuner/gpu/plausibility.h"
#include "tuner/gpu/verify.h"

static int enqueue(void *self, int64_t shift, struct error *err)
{
    struct baseline_part *part = self;
    struct operation_problem p = part->problem->operation;
    const struct operation_role *role = part->workload->operation->roles;
    for (int i = 0; role[i].name; i++)
        if (p.operand[i].device) p.operand[i].device += (uint64_t)shift;
    return part->about->run(&part->workload->operations, &p, part->state, err);
}

struct work baseline_work(struct baseline *b, size_t problem)
{
    if (b->kernel) return pipeline_work(&b->pipeline, problem);
    return (struct work){.enqueue = enqueue, .self = &b->parts[problem]};
}

bool baseline_same_result(const struct baseline *b)
{
    return b->kernel || (b->about && b->about->same_result);
}

const char *baseline_detail(const struct baseline *b)
{
    return b->kernel ? json_get_string(b->kernel, "detail", "") : b->detail;
}

bool baseline_does(const struct baseline *b, size_t problem)
{
    return b->kernel ? pipeline_does(&b->pipeline, problem) : b->parts && b->parts[problem].ready;
}

static int prepare(struct baseline *b, struct workload *w, struct error *err)
{
    b->parts = memory_try(w->problem_count, sizeof *b->parts, err);
    if (!b->parts) return -1;
    if (!b->about) return error_set(err, "the job's reference has no baseline '%s'", b->name);
    for (size_t k = 0; k < w->problem_count; k++) {
        struct baseline_part *part = &b->parts[k];
        *part = (struct baseline_part){w, b->about, &w->problems[k], NULL, false};
        if (!w->problems[k].tune) continue;
        if (b->about->prepare) {
            int failed = b->about->prepare(&w->operations, &w->problems[k].operation, &part->state, b->detail, err);
            if (failed) return failed;
        }
        part->ready = true;
        struct work work = baseline_work(b, k);
        int failed = work.enqueue(work.self, 0, err);
        if (!failed) failed = cuda_sync(w->cuda, err);
        if (failed) return failed;
    }
    return 0;
}

// A program may take so long and no longer, with `begin`.
static void limit(const struct baseline *b, bool begin)
{
    if (b->program) program_call_limit(b->name, begin ? json_get_number(b->kernel, "timeout", 0) : 0);
}

void baseline_allow_differences(struct baseline *b, struct workload *w, bool begin)
{
    if (!b || !b->program) return;
    if (begin) b->deterministic = w->verify.deterministic;
    w->verify.deterministic = !begin && b->deterministic;
}

int baselines_open(struct baselines *all, struct workload *w, const json_t *list, struct error *err)
{
    size_t i;
    json_t *each;
    memset(all, 0, sizeof *all);
    all->workload = w;
    all->list = memory_try(json_array_size(list), sizeof *all->list, err);
    if (!all->list) return -1;
    json_array_foreach(list, i, each)
    {
        const json_t *name = json_is_object(each) ? json_object_get(each, "name") : each;
        if (!json_is_string(name)) return error_set(err, "entry %zu of 'baselines' has no name", i);
        struct baseline *b = &all->list[all->count++];
        struct error why = {""};
        b->name = json_string_value(name);
        b->kernel = json_is_object(each) ? each : NULL;
        b->program = b->kernel && !json_object_get(each, "cubin");
        b->about = w->operation && !b->kernel ? operation_baseline(w->operation, b->name) : NULL;
        const char *known = json_get_string(b->kernel, "reason", NULL);
        if (known) error_set(&why, "%s", known);
        limit(b, true);
        int failed = known ? -1 : b->kernel ? pipeline_open(&b->pipeline, w, each, &why) : prepare(b, w, &why);
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
    for (size_t i = 0; i < all->count; i++) {
        struct baseline *b = &all->list[i];
        for (size_t k = 0; b->parts && k < all->workload->problem_count; k++)
            if (b->parts[k].state && b->about->release)
                b->about->release(&all->workload->operations, b->parts[k].state);
        free(b->parts);
        if (b->kernel) pipeline_release(&b->pipeline);
    }
    free(all->list);
    memset(all, 0, sizeof *all);
}

struct baseline *baselines_find(struct baselines *all, const char *name)
{
    for (size_t i = 0; i < all->count; i++)
        if (!strcmp(all->list[i].name, name)) return &all->list[i];
    return NULL;
}

// A trial of the present kernel, or of a program. Its times are the problems' of the answer, where it passes.
static int try_kernel(struct baselines *all, struct baseline *b, json_t *problems, struct error *err)
{
    struct workload *w = all->workload;
    json_t *request = json_copy((json_t *)(uintptr_t)b->kernel), *answer = json_object(), *one;
    json_object_set_new(request, "verify", json_boolean(w->verify.enabled));
    size_t i;
    limit(b, true);
    baseline_allow_differences(b, w, true);
    int failed = gpu_trial_run(w, request, answer, err);
    baseline_allow_differences(b, w, false);
    limit(b, false);
    const char *status = json_get_string(answer, "status", ""), *reason = json_get_string(answer, "reason", "");
    if (failed == CUDA_CRASHED)
        error_set(err, "%s%s%sit crashes: %s", b->program ? "" : "baseline ", b->program ? "" : b->name,
                  b->program ? "" : ": ", reason);
    else if (!failed && json_get_bool(answer, "restart", false))
        error_set(err, "it uses the device's heap or printf, which cannot be restored between launches"), failed = -1;
    else if (!failed && status_find(status) != STATUS_OK)
        error_set(err, "%s: %s", status, reason), failed = -1;
    json_array_foreach(json_object_get(answer, "problems"), i, one)
    {
        if (failed || !w->problems[i].tune) continue;
        json_object_set_new(one, "status", json_string(status));
        json_object_set_new(one, "reason", json_string(""));
        json_array_append(problems, one);
    }
    json_decref(request);
    json_decref(answer);
    return failed;
}

// One baseline on one problem: timed, and compared like a candidate if it computes the same thing.
static int measure(struct baselines *all, struct baseline *b, size_t k, json_t *to, struct error *err)
{
    struct workload *w = all->workload;
    struct work work = baseline_work(b, k);
    struct measurement times;
    struct measure_subject subject = verify_subject(w, k, &work, false);
    struct error reason;
    enum trial_status status;
    int failed = measure_work(w->measure, &subject, 0, 0, &times, &status, &reason, err);
    if (failed) return failed;
    gpu_trial_times(to, &times);
    if (!b->about->same_result) return 0;
    struct verify_result result;
    verify_forget(w);
    if ((failed = verify_begin(w, err)) || (failed = verify_run(w, k, 0, &work, err)) || (failed = verify_end(w, err)))
        return failed;
    // Problems that did not run have no findings of this pass: only this one is judged.
    status = verify_judge(w, k, &result, &reason);
    if (status == STATUS_OK && (failed = plausibility_trust(w, k, b->name, times.time, err))) return failed;
    json_object_set_new(to, "status", json_string(status_name(status)));
    json_object_set_new(to, "reason", json_string(reason.message));
    json_object_set_new(to, "error", json_real_or_null(result.error));
    json_object_set_new(to, "error_max", json_real_or_null(result.error_max));
    json_object_set_new(to, "error_rms", json_real_or_null(result.error_rms));
    return 0;
}

static int measure_all(struct baselines *all, struct baseline *b, json_t *problems, struct error *err)
{
    int failed = 0;
    for (size_t k = 0; k < all->workload->problem_count && !failed; k++) {
        if (!all->workload->problems[k].tune) continue;
        json_t *times = json_pack("{s:I}", "problem", (json_int_t)k);
        json_array_append_new(problems, times);
        failed = measure(all, b, k, times, err);
    }
    return failed;
}

json_t *baselines_measure(struct baselines *all, struct error *err)
{
    json_t *array = json_array();
    for (size_t i = 0; i < all->count; i++) {
        struct baseline *b = &all->list[i];
        json_t *problems = json_array(), *one = json_object();
        struct error why = {""};
        int failed = b->reason[0] ? 0
                     : b->kernel  ? try_kernel(all, b, problems, &why)
                                  : measure_all(all, b, problems, &why);
        if (failed) snprintf(b->reason, sizeof b->reason, "%s", why.message);
        if (failed == CUDA_CRASHED) {
            if (b->program) all->culprit = b->name;
            *err = why;
            json_decref(problems);
            json_decref(one);
            json_decref(array);
            return NULL;
        }
        if (b->reason[0]) json_array_clear(problems);
        json_object_set_new(one, "name", json_string(b->name));
        json_object_set_new(one, "problems", problems);
        json_object_set_new(one, "detail", json_string(baseline_detail(b)));
        json_object_set_new(one, "reason", json_string(b->reason));
        json_object_set_new(one, "same_result", json_boolean(baseline_same_result(b)));
        json_array_append_new(array, one);
    }
    return array;
}
