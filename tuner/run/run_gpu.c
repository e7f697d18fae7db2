// Requests to the GPU workers and their answers: see run.h.
#include "tuner/base/clock.h"
#include "tuner/base/limits.h"
#include "tuner/base/protocol.h"
#include "tuner/run/run.h"

// Times in s that are assumed until a batch has been counted: for a session, and for a candidate with the basic
// metrics.
static const double count_session = 0.2, count_candidate = 0.02;

double run_sum_of_times(const struct run *r)
{
    double sum = 0;
    for (size_t p = 0; p < r->job->tuned_count; p++) sum += r->search.incumbent.times[p];
    return isfinite(sum) ? sum : 0;
}

double run_count_seconds(const struct run *r)
{
    const struct run_statistics *s = &r->statistics;
    const struct task_queue *q = &r->policy.queue;
    double each = s->counted ? s->count_wall / (double)s->counted : count_candidate,
           left = (double)(task_queue_count(q, TASK_COUNTABLE) + q->numbers[TASK_COUNT][TASK_QUEUED]);
    return left > 0 ? count_session + left * each : 0;
}

void run_measure(struct run *r, struct task *t, size_t gpu)
{
    double best[JOB_MAX_PROBLEMS];
    bool in_full = job_is_fallback(r->job, t->config); // it must not be cut off as slow
    for (size_t p = 0; p < r->job->tuned_count; p++) best[p] = in_full ? (double)NAN : r->search.incumbent.times[p];
    t->device_id = r->pool.gpus[gpu].uuid;
    const struct trial_request request = {
        .candidate = {.config = t->text, .cubin = t->compiled.cubin, .written = t->problems},
        .verify = r->job->verify.enabled,
        .best = best,
        .best_count = r->job->tuned_count};
    slot_send(&r->pool.gpus[gpu], request_write("trial", &trial_request_record, &request), r->job->measure.timeout);
}

void run_count(struct run *r, const struct policy_request *batch, size_t gpu)
{
    autofree struct counted_candidate *list = memory_new(batch->task_count, sizeof *list);
    struct count_request request = {.trials = list};
    for (size_t i = 0; i < batch->task_count; i++) {
        const struct task *t = (const struct task *)batch->tasks[i];
        struct error err;
        json_t *problems = request_problems(r->job, t->config, &t->compiled, true, NULL, NULL, &err);
        if (problems)
            list[request.trial_count++] = (struct counted_candidate){
                .trial = t->trial, .candidate = {.config = t->text, .cubin = t->compiled.cubin, .written = problems}};
        else // cannot happen, because the candidate ran; the answer would have no counters for it
            display_log(&r->display, "trial %" PRId64 " cannot be counted: %s", t->trial, err.message);
    }
    slot_send(&r->pool.gpus[gpu], request_write("count", &count_request_record, &request),
              r->job->measure.timeout + 2.0 * (double)batch->task_count);
    for (size_t i = 0; i < request.trial_count; i++)
        json_decref((json_t *)(uintptr_t)request.trials[i].candidate.written);
}

static void take_trial(struct run *r, struct task *t, size_t gpu, const struct trial_answer *answer,
                       struct arena *memory)
{
    int status = status_find(answer->head.status);
    run_watch_measured(&r->watch, gpu, status != STATUS_OK && status != STATUS_SLOW, answer);
    if (status >= 0) {
        run_commit(r, t, (enum trial_status)status, answer->head.reason, answer, memory);
        return;
    }
    autofree char *text = text_format("the worker answered '%s' %s",
                                      *answer->head.status ? answer->head.status : "nothing", answer->head.reason);
    run_commit(r, t, STATUS_CRASHED, text, NULL, NULL);
}

static const struct counted_trial *find_trial(const struct count_answer *answer, int64_t trial)
{
    for (size_t i = 0; i < answer->trial_count; i++)
        if (answer->trials[i].trial == trial) return &answer->trials[i];
    return NULL;
}

static void take_counts(struct run *r, const struct policy_request *batch, const json_t *message)
{
    struct count_answer answer;
    autorelease(arena_release) struct arena memory = {NULL};
    record_read(&count_answer_record, message, &answer, &memory, NULL); // the pool has checked it
    if (isfinite(answer.wall)) r->statistics.count_wall += answer.wall;
    r->statistics.counted += (int64_t)batch->task_count;
    for (size_t i = 0; i < batch->task_count; i++) {
        struct task *t = (struct task *)batch->tasks[i];
        const struct counted_trial *mine = find_trial(&answer, t->trial);
        if (isfinite(t->objective)) // each pass has one launch to warm up and one counted launch
            r->statistics.count_busy += 2 * (double)answer.passes * t->objective;
        if (mine && *mine->reason) display_log(&r->display, "trial %" PRId64 " counters: %s", t->trial, mine->reason);
        run_commit_counters(r, t, mine);
    }
}

// Handles the answer to a check; if the check failed, `answer` is NULL, and `why` is the reason. If the GPU is then
// disabled, corrects the counts of its valid trials, which got the verdict `slow`, and finds the best again. First
// commits the trials whose answers came earlier.
static void take_check(struct run *r, size_t gpu, const struct trial_answer *answer, const char *why)
{
    struct error err;
    run_commit_all(r);
    size_t count = answer ? gpu_checks_take(&r->checks, gpu, answer) : gpu_checks_failed(&r->checks, gpu, why);
    r->search.counts[STATUS_OK] -= (int64_t)count;
    r->search.counts[STATUS_SLOW] += (int64_t)count;
    if (count && search_find_best(&r->search, &err)) fatal_error_set(&r->failure, EXIT_ENVIRONMENT, &err);
}

void run_take_gpu_answer(struct run *r, size_t gpu, const json_t *message)
{
    struct trial_answer answer; // has the time that the request took, even if the status is not ok
    autorelease(arena_release) struct arena memory = {NULL};
    record_read(&trial_answer_record, message, &answer, &memory, NULL); // the pool has checked it
    run_watch_answered(&r->watch, gpu, answer.figures.gpu_seconds);
    double took = clock_now() - r->policy.gpus[gpu].since;
    struct policy_request request = policy_gpu_answered(&r->policy, gpu);
    run_watch_gpu(&r->watch, gpu);
    if (request.kind == REQUEST_TRIAL && answer_is_ok(&answer.head)) final_clock_trial(&r->final.clock, took);
    if (request.kind == REQUEST_TRIAL)
        take_trial(r, (struct task *)request.tasks[0], gpu, &answer, &memory);
    else if (request.kind == REQUEST_COUNT)
        take_counts(r, &request, message);
    else if (request.kind == REQUEST_CHECK)
        take_check(r, gpu, &answer, NULL);
    else
        final_take(&r->final, message);
    free(request.tasks);
}

void run_take_gpu_loss(struct run *r, const struct pool_event *event)
{
    if (!event->announced) display_log(&r->display, "%s", event->why.message);
    bool was_over = r->policy.final_over,
         retryable = event->announced || (event->node && policy_lost_with_node(&r->policy, event->worker));
    struct policy_request blamed = policy_gpu_lost(&r->policy, event->worker, retryable);
    run_watch_gpu(&r->watch, event->worker);
    r->watch.gpus.list[event->worker].restarts++;
    if (!was_over && r->policy.final_over && event->node) {
        final_move(&r->final);
    } else if (!was_over && r->policy.final_over && event->outside && r->final.ended++ < ENDED_MOST) {
        final_resume(&r->final);
    } else if (!was_over && r->policy.final_over) {
        r->final.blamed.trial = event->trial;
        r->final.blamed.status = event->late ? STATUS_TIMEOUT : STATUS_CRASHED;
        r->final.blamed.reason = event->why;
    }
    for (size_t i = 0; i < blamed.task_count; i++) {
        struct task *t = (struct task *)blamed.tasks[i];
        if (event->outside && policy_try_again(&r->policy, &t->queued, event->begun)) {
            display_log(&r->display, "that may not be the candidate's fault: it is tried again: %s", t->text);
        } else if (blamed.kind == REQUEST_TRIAL) {
            run_watch_measured(&r->watch, event->worker, true, NULL);
            run_commit(r, t, event->late ? STATUS_TIMEOUT : STATUS_CRASHED, event->why.message, NULL, NULL);
        } else {
            display_log(&r->display, "trial %" PRId64 " has no counters: the worker ended while counting it", t->trial);
            run_commit_counters(r, t, NULL);
        }
    }
    if (blamed.kind == REQUEST_CHECK && !event->outside) take_check(r, event->worker, NULL, event->why.message);
    free(blamed.tasks);
}
