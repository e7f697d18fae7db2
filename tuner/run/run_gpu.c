// Requests to the GPU workers and their answers: see run.h. Every request has a deadline from the moment it is at the
// head of its worker's queue.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/clock.h"
#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/run/run.h"

enum { SETUP_TIMEOUT = 600, MAX_FAILED_STARTS = 3 };

bool run_gpus_idle(const struct run *r)
{
    for (size_t i = 0; i < r->gpu_count; i++)
        if (r->gpus[i].queued) return false;
    return true;
}

static void push(struct gpu_slot *slot, enum request_kind kind, int64_t id, double timeout, struct task **tasks,
                 size_t count)
{
    struct gpu_request *q = &slot->queue[slot->queued++];
    *q = (struct gpu_request){.kind = kind, .id = id, .timeout = timeout, .task_count = count, .tasks = tasks};
    if (slot->queued == 1) slot->deadline = clock_now() + timeout;
}

static void pop(struct gpu_slot *slot)
{
    free(slot->queue[0].tasks);
    memmove(&slot->queue[0], &slot->queue[1], (RUN_GPU_QUEUE - 1) * sizeof slot->queue[0]);
    if (--slot->queued) slot->deadline = clock_now() + slot->queue[0].timeout;
}

static void send_trial(struct run *r, struct gpu_slot *slot, struct task *t)
{
    json_t *cutoff = json_array();
    for (size_t p = 0; p < r->job->tuned_count; p++)
        json_array_append_new(cutoff, isfinite(r->best_times[p])
                                          ? json_real(r->best_times[p] * r->job->measure.slow_factor)
                                          : json_null());
    json_t *request =
        json_pack("{s:s, s:s, s:s, s:o, s:O, s:b}", "op", "trial", "config", t->text, "cubin", t->compiled.cubin,
                  "cutoff", cutoff, "problems", t->problems, "verify", (int)r->job->verify.enabled);
    struct task **tasks = memory_new(1, sizeof(struct task *));
    tasks[0] = t;
    t->state = TASK_ON_GPU;
    t->device_id = slot->uuid;
    push(slot, REQUEST_TRIAL, worker_send(&slot->worker, request), r->job->measure.timeout, tasks, 1);
}

static void send_count(struct run *r, struct gpu_slot *slot)
{
    struct task **batch = memory_new(RUN_COUNT_BATCH, sizeof *batch);
    json_t *trials = json_array();
    size_t n = 0;
    for (size_t i = 0; i < r->task_count && n < RUN_COUNT_BATCH; i++) {
        struct task *t = r->tasks[i];
        struct error err;
        if (t->state != TASK_COUNTABLE || (t->alone && n)) continue;
        json_t *problems = request_problems(r->job, t->config, &t->compiled, true, NULL, NULL, &err);
        if (!problems) { // cannot be: it ran
            run_commit_counters(r, t, NULL);
            i--;
            continue;
        }
        json_array_append_new(trials, json_pack("{s:I, s:s, s:s, s:o}", "trial", (json_int_t)t->trial, "config",
                                                t->text, "cubin", t->compiled.cubin, "problems", problems));
        t->state = TASK_COUNTING;
        batch[n++] = t;
        if (t->alone) break;
    }
    if (!n) {
        free(batch);
        json_decref(trials);
        return;
    }
    json_t *request = json_pack("{s:s, s:o}", "op", "count", "trials", trials);
    push(slot, REQUEST_COUNT, worker_send(&slot->worker, request), r->job->measure.timeout + 2.0 * (double)n, batch, n);
}

// A count is due when a batch is full, or when there is nothing else left to do.
static bool count_due(const struct run *r)
{
    size_t countable = run_count_tasks(r, TASK_COUNTABLE);
    if (!countable) return false;
    if (countable >= RUN_COUNT_BATCH) return true;
    return r->ask_ended && !run_count_tasks(r, TASK_READY) && !run_count_tasks(r, TASK_QUEUED) &&
           !run_count_tasks(r, TASK_COMPILING) && !run_count_tasks(r, TASK_ON_GPU);
}

void run_dispatch_gpus(struct run *r)
{
    size_t depth = r->lockstep ? 1 : RUN_GPU_QUEUE;
    for (size_t i = 0; i < r->gpu_count && !r->fatal; i++) {
        struct gpu_slot *slot = &r->gpus[i];
        if (slot->state == GPU_DOWN) {
            struct error err;
            if (run_start_gpu(r, i, &err)) run_fail(r, EXIT_ENVIRONMENT, &err);
            continue;
        }
        while (slot->state == GPU_READY && !slot->stopping && slot->queued < depth) {
            if (r->lockstep && (run_count_tasks(r, TASK_QUEUED) || run_count_tasks(r, TASK_COMPILING))) break;
            if (count_due(r)) {
                send_count(r, slot);
                continue;
            }
            struct task *t = run_first_task(r, TASK_READY);
            if (!t) break;
            if (t->known)
                run_tell_known(r, t);
            else
                send_trial(r, slot, t);
            if (r->lockstep) break; // one told, then one asked
        }
    }
}

static void requeue(struct run *r, struct gpu_slot *slot, size_t first)
{
    for (size_t q = first; q < slot->queued; q++) {
        for (size_t i = 0; i < slot->queue[q].task_count; i++) {
            struct task *t = slot->queue[q].tasks[i];
            t->state = slot->queue[q].kind == REQUEST_TRIAL ? TASK_READY : TASK_COUNTABLE;
        }
        if (slot->queue[q].kind == REQUEST_FINAL) r->final_failed = true;
        free(slot->queue[q].tasks);
    }
    slot->queued = first < slot->queued ? first : slot->queued;
}

// Counting killed the worker: the batch is counted again one by one, and the one that kills it alone goes without
// counters.
static void count_failed(struct run *r, struct gpu_request *q)
{
    for (size_t i = 0; i < q->task_count; i++) {
        if (q->task_count == 1) {
            run_log(r, "trial %" PRId64 " has no counters: counting it ended the worker", q->tasks[0]->trial);
            run_commit_counters(r, q->tasks[0], NULL);
        } else {
            q->tasks[i]->state = TASK_COUNTABLE;
            q->tasks[i]->alone = true;
        }
    }
}

void run_gpu_died(struct run *r, struct gpu_slot *slot, const char *why, enum trial_status status)
{
    struct error err;
    worker_kill(&slot->worker);
    bool during_setup = slot->state != GPU_READY;
    slot->state = GPU_DOWN;
    if (!slot->stopping) run_log(r, "%s", why);
    slot->stopping = false;
    requeue(r, slot, 1);
    if (slot->queued) {
        struct gpu_request q = slot->queue[0];
        slot->queued = 0;
        if (q.kind == REQUEST_TRIAL)
            run_commit(r, q.tasks[0], status, why, NULL);
        else if (q.kind == REQUEST_COUNT)
            count_failed(r, &q);
        else
            r->final_failed = true;
        free(q.tasks);
    }
    if (during_setup && ++slot->failed_starts >= MAX_FAILED_STARTS) {
        error_set(&err, "%s", why);
        run_fail(r, EXIT_ENVIRONMENT, &err);
    }
}

static void take_trial(struct run *r, struct task *t, const json_t *answer)
{
    int status = status_find(json_get_string(answer, "status", ""));
    const char *reason = json_get_string(answer, "reason", "");
    char text[256];
    if (status < 0) {
        snprintf(text, sizeof text, "the worker answered '%.100s' %.100s", json_get_string(answer, "status", "nothing"),
                 reason);
        run_commit(r, t, STATUS_CRASHED, text, NULL);
    } else {
        run_commit(r, t, (enum trial_status)status, reason, answer);
    }
}

static void take_counts(struct run *r, struct gpu_request *q, const json_t *answer)
{
    r->count_wall += json_get_number(answer, "wall", 0);
    double passes = json_get_number(answer, "passes", 0);
    for (size_t i = 0; i < q->task_count; i++) {
        size_t k;
        json_t *one, *mine = NULL;
        json_array_foreach(json_object_get(answer, "trials"), k, one)
        {
            if (json_get_integer(one, "trial", -1) == q->tasks[i]->trial) mine = one;
        }
        if (isfinite(q->tasks[i]->objective))
            r->count_busy += 2 * passes * q->tasks[i]->objective; // a pass: one launch to warm up, one counted
        const char *reason = json_get_string(mine, "reason", "");
        if (*reason) run_log(r, "trial %" PRId64 " counters: %s", q->tasks[i]->trial, reason);
        run_commit_counters(r, q->tasks[i], mine);
    }
}

// hello -> job -> ready.
static void take_setup(struct run *r, struct gpu_slot *slot, const json_t *answer)
{
    struct error err;
    const char *status = json_get_string(answer, "status", "ok");
    const json_t *device = json_object_get(answer, "device");
    if (slot->state == GPU_HELLO && device && strcmp(json_get_string(device, "name", ""), r->device_name)) {
        error_set(&err, "%s is a %s, but the first is a %s: GPUs of one run must be alike", slot->name,
                  json_get_string(device, "name", "?"), r->device_name);
        run_fail(r, EXIT_USAGE, &err);
    } else if (slot->state == GPU_HELLO && device) {
        snprintf(slot->uuid, sizeof slot->uuid, "%s", json_get_string(device, "uuid", ""));
        slot->state = GPU_JOB;
        slot->setup_id = worker_send(&slot->worker, run_job_request(r));
    } else if (slot->state == GPU_JOB && !strcmp(status, "ok")) {
        slot->state = GPU_READY;
        slot->failed_starts = 0;
        if (!r->job_answer) r->job_answer = json_deep_copy(answer);
    } else {
        error_set(&err, "%s: %s", slot->name, json_get_string(answer, "reason", "no reason given"));
        run_fail(r, !strcmp(status, PROTOCOL_ENVIRONMENT) ? EXIT_ENVIRONMENT : EXIT_USAGE, &err);
    }
}

void run_handle_gpu(struct run *r, struct gpu_slot *slot)
{
    json_t *answer;
    struct error err;
    int got;
    while ((got = worker_receive(&slot->worker, &answer, &err)) > 0) {
        int64_t id = json_get_integer(answer, "id", -1);
        if (slot->state != GPU_READY) {
            if (id == slot->setup_id && json_object_get(answer, "progress"))
                slot->deadline = clock_now() + SETUP_TIMEOUT;
            else if (id == slot->setup_id)
                take_setup(r, slot, answer);
        } else if (slot->queued && id == slot->queue[0].id) {
            if (json_object_get(answer, "progress")) {
                slot->deadline = clock_now() + slot->queue[0].timeout;
            } else {
                struct gpu_request q = slot->queue[0];
                slot->queue[0].tasks = NULL;
                slot->stopping = !strcmp(json_get_string(answer, "status", ""), "crashed"); // it says so, then it ends
                pop(slot);
                if (q.kind == REQUEST_TRIAL)
                    take_trial(r, q.tasks[0], answer);
                else if (q.kind == REQUEST_COUNT)
                    take_counts(r, &q, answer);
                else
                    r->final_answer = json_incref(answer);
                free(q.tasks);
                if (slot->stopping) { // what is behind goes to its successor
                    requeue(r, slot, 0);
                    json_decref(answer);
                    run_gpu_died(r, slot, "the worker ended after a crash", STATUS_CRASHED);
                    return;
                }
            }
        }
        json_decref(answer);
    }
    if (got < 0) run_gpu_died(r, slot, err.message, STATUS_CRASHED);
}

void run_check_gpu_deadlines(struct run *r, double now)
{
    for (size_t i = 0; i < r->gpu_count; i++) {
        struct gpu_slot *slot = &r->gpus[i];
        char why[160];
        if (slot->state == GPU_DOWN || now < slot->deadline || (slot->state == GPU_READY && !slot->queued)) continue;
        if (slot->state == GPU_READY)
            snprintf(why, sizeof why, "no answer within %.3g s: the kernel hangs, or the worker does",
                     slot->queue[0].timeout);
        else
            snprintf(why, sizeof why, "%s: not ready within %d s", slot->name, SETUP_TIMEOUT);
        run_gpu_died(r, slot, why, STATUS_TIMEOUT);
    }
}
