// Requests to the GPU workers and their answers: see run.h.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/run/run.h"

void run_measure(struct run *r, struct task *t, size_t gpu)
{
    json_t *best = json_array();
    bool in_full = job_is_fallback(r->job, t->config); // it is not to be cut off as slow
    for (size_t p = 0; p < r->job->tuned_count; p++)
        json_array_append_new(best, json_real_or_null(in_full ? (double)NAN : r->incumbent.times[p]));
    t->device_id = r->pool.gpus[gpu].uuid;
    pool_send_gpu(&r->pool, gpu,
                  json_pack("{s:s, s:s, s:s, s:o, s:O, s:b}", "op", "trial", "config", t->text, "cubin",
                            t->compiled.cubin, "best", best, "problems", t->problems, "verify",
                            (int)r->job->verify.enabled),
                  r->job->measure.timeout);
}

void run_count(struct run *r, const struct policy_request *batch, size_t gpu)
{
    json_t *trials = json_array();
    for (size_t i = 0; i < batch->task_count; i++) {
        const struct task *t = (const struct task *)batch->tasks[i];
        struct error err;
        json_t *problems = request_problems(r->job, t->config, &t->compiled, true, NULL, NULL, &err);
        if (!problems) { // cannot happen, since it ran; it gets no counters, since the answer has none for it
            run_log(r, "trial %" PRId64 " cannot be counted: %s", t->trial, err.message);
            continue;
        }
        json_array_append_new(trials, json_pack("{s:I, s:s, s:s, s:o}", "trial", (json_int_t)t->trial, "config",
                                                t->text, "cubin", t->compiled.cubin, "problems", problems));
    }
    pool_send_gpu(&r->pool, gpu, json_pack("{s:s, s:o}", "op", "count", "trials", trials),
                  r->job->measure.timeout + 2.0 * (double)batch->task_count);
}

static void take_trial(struct run *r, struct task *t, size_t gpu, const json_t *answer)
{
    const char *word = json_get_string(answer, "status", "nothing"), *reason = json_get_string(answer, "reason", "");
    int status = status_find(word);
    run_watch_measured(r, gpu, status != STATUS_OK && status != STATUS_SLOW, answer);
    if (status >= 0) {
        run_commit(r, t, (enum trial_status)status, reason, answer);
        return;
    }
    char *text = text_format("the worker answered '%s' %s", word, reason);
    run_commit(r, t, STATUS_CRASHED, text, NULL);
    free(text);
}

static const json_t *find_trial(const json_t *answer, int64_t trial)
{
    const json_t *one;
    size_t i;
    json_array_foreach(json_object_get(answer, "trials"), i, one)
    {
        if (json_get_integer(one, "trial", -1) == trial) return one;
    }
    return NULL;
}

static void take_counts(struct run *r, const struct policy_request *batch, const json_t *answer)
{
    r->statistics.count_wall += json_get_number(answer, "wall", 0);
    double passes = json_get_number(answer, "passes", 0);
    for (size_t i = 0; i < batch->task_count; i++) {
        struct task *t = (struct task *)batch->tasks[i];
        const json_t *mine = find_trial(answer, t->trial);
        if (isfinite(t->objective))
            r->statistics.count_busy += 2 * passes * t->objective; // a pass: one launch to warm up, one counted
        const char *reason = json_get_string(mine, "reason", "");
        if (*reason) run_log(r, "trial %" PRId64 " counters: %s", t->trial, reason);
        run_commit_counters(r, t, mine);
    }
}

void run_take_gpu_answer(struct run *r, size_t gpu, const json_t *answer)
{
    run_watch_answered(r, gpu, answer);
    struct policy_request request = policy_gpu_answered(&r->policy, gpu);
    run_watch_gpu(r, gpu);
    if (request.kind == REQUEST_TRIAL)
        take_trial(r, (struct task *)request.tasks[0], gpu, answer);
    else if (request.kind == REQUEST_COUNT)
        take_counts(r, &request, answer);
    else if (request.kind == REQUEST_CHECK)
        run_take_check(r, gpu, answer);
    else
        r->final_answer = json_deep_copy(answer);
    free(request.tasks);
}

void run_take_gpu_loss(struct run *r, const struct pool_event *event)
{
    if (!event->announced) run_log(r, "%s", event->why.message);
    bool was_over = r->policy.final_over,
         innocent = event->announced || (event->node && policy_lost_with_node(&r->policy, event->worker));
    struct policy_request blamed = policy_gpu_lost(&r->policy, event->worker, innocent);
    run_watch_gpu(r, event->worker);
    r->watch.gpus.list[event->worker].restarts++;
    if (!was_over && r->policy.final_over && event->node) {
        run_final_move(r);
    } else if (!was_over && r->policy.final_over && event->outside && !r->final_again) {
        r->final_again = true;
        policy_continue_final(&r->policy);
    } else if (!was_over && r->policy.final_over) {
        r->final_blamed.trial = event->trial;
        r->final_blamed.status = event->late ? STATUS_TIMEOUT : STATUS_CRASHED;
        r->final_blamed.reason = event->why;
    }
    for (size_t i = 0; i < blamed.task_count; i++) {
        struct task *t = (struct task *)blamed.tasks[i];
        if (event->outside && policy_try_again(&r->policy, &t->queued)) {
            run_log(r, "that may not be the candidate's fault: it is tried again, once: %s", t->text);
        } else if (blamed.kind == REQUEST_TRIAL) {
            run_watch_measured(r, event->worker, true, NULL);
            run_commit(r, t, event->late ? STATUS_TIMEOUT : STATUS_CRASHED, event->why.message, NULL);
        } else {
            run_log(r, "trial %" PRId64 " has no counters: counting it ended the worker", t->trial);
            run_commit_counters(r, t, NULL);
        }
    }
    if (blamed.kind == REQUEST_CHECK && !event->outside) run_check_failed(r, event->worker, event->why.message);
    free(blamed.tasks);
}
