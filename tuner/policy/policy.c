// See policy.h.
#include "tuner/policy/policy.h"
#include "tuner/base/limits.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"

static const double slow_kernel = 0.1;      // s on the GPU; kernels above this are slow
static const double forgotten_share = 0.25; // of the measured trials; 1.25 are compiled for each measured one

void policy_init(struct policy *p, const struct policy_settings *settings)
{
    *p = (struct policy){.settings = *settings};
    p->gpus = memory_new(settings->gpus, sizeof *p->gpus);
    p->compilers = memory_new(settings->compilers, sizeof *p->compilers);
    stop_init(&p->stop, &settings->stop);
    look_ahead_init(&p->ahead, settings->compilers, settings->gpus);
}

void policy_release(struct policy *p)
{
    for (size_t i = 0; p->gpus && i < p->settings.gpus; i++)
        for (size_t k = 0; k < p->gpus[i].queued; k++) free(p->gpus[i].queue[k].tasks);
    free(p->gpus);
    free(p->compilers);
    free(p->queue.tasks);
    stop_release(&p->stop);
    *p = (struct policy){0};
}

void policy_grow(struct policy *p, size_t compilers, size_t gpus)
{
    struct policy_settings *s = &p->settings;
    if (compilers > s->compilers) p->compilers = memory_grow(p->compilers, compilers, sizeof *p->compilers);
    for (; s->compilers < compilers; s->compilers++) p->compilers[s->compilers] = (struct policy_compiler){0};
    if (gpus > s->gpus) p->gpus = memory_grow(p->gpus, gpus, sizeof *p->gpus);
    for (; s->gpus < gpus; s->gpus++) p->gpus[s->gpus] = (struct policy_gpu){0};
    look_ahead_workers(&p->ahead, s->compilers, s->gpus);
}

void policy_compiler_there(struct policy *p, size_t compiler, bool there)
{
    p->compilers[compiler].absent = !there;
}

void policy_begin(struct policy *p, double now)
{
    p->started = now;
}

void policy_skip_search(struct policy *p)
{
    p->end = SEARCH_NOT_WANTED;
}

void policy_limit(struct policy *p, double time, double latest)
{
    p->settings.time = time;
    p->settings.latest = latest;
}

void policy_begin_final(struct policy *p)
{
    p->deciding = true;
    p->final_gpu = POLICY_NO_WORKER;
    policy_continue_final(p);
}

void policy_continue_final(struct policy *p)
{
    p->final_sent = p->final_over = false;
}

// Whether trials are so slow that milliseconds in the driver do not matter. A worker then gets its next request only
// after it has answered, so that the choice can use its result. (Ranking the waiting candidates of fast kernels gave
// worse results.)
static bool is_slow(const struct policy *p)
{
    return !p->settings.lockstep && p->ahead.gpu.mean > slow_kernel;
}

// The largest number of requests that a worker may hold.
static size_t gpu_depth(const struct policy *p)
{
    return p->settings.lockstep || is_slow(p) ? 1 : POLICY_GPU_QUEUE;
}

// Proposals ----------------------------------------------------------------------------------------------------------

// A candidate that waits behind another request at a worker cannot be taken by other workers.
static size_t look_ahead(const struct policy *p)
{
    if (p->settings.lockstep) return POLICY_LOCKSTEP_WINDOW;
    return p->ahead.number + (p->ahead.gpu.mean > 0 ? (gpu_depth(p) - 1) * (p->settings.gpus - 1) : 0);
}

static bool wants_proposal(struct policy *p)
{
    size_t outstanding = task_queue_outstanding(&p->queue);
    bool wanted = !p->end && !p->no_proposal && outstanding < look_ahead(p) &&
                  !(p->settings.evaluations && (int64_t)(p->stop.evaluations + outstanding) >= p->settings.evaluations);
    if (!wanted) look_ahead_full(&p->ahead);
    return wanted;
}

void policy_add(struct policy *p, struct queued_task *t, enum task_purpose purpose, enum task_known known)
{
    task_queue_add(&p->queue, t, purpose, known);
    if (purpose == TASK_TRIAL && !known) look_ahead_proposed(&p->ahead, p->now);
}

void policy_no_proposal(struct policy *p, bool exhausted)
{
    p->no_proposal = true; // results still outstanding may lead to new proposals
    if (!p->end && !task_queue_outstanding(&p->queue)) p->end = exhausted ? SEARCH_EXHAUSTED : SEARCH_NO_PROPOSALS;
}

void policy_reported(struct policy *p, double objective)
{
    stop_tell(&p->stop, objective);
    p->no_proposal = false;
    p->ranked = false;
}

void policy_clock(struct policy *p, double now)
{
    p->now = now;
}

// Compilers ----------------------------------------------------------------------------------------------------------

static size_t idle_compiler(const struct policy *p)
{
    for (size_t i = 0; i < p->settings.compilers; i++)
        if (!p->compilers[i].task && !p->compilers[i].absent) return i;
    return POLICY_NO_WORKER;
}

// A configuration that the store knows keeps its position in the order of compilations, so that a resumed run reports
// in the same order as an uninterrupted run.
static bool next_for_compilers(struct policy *p, struct policy_action *a)
{
    struct queued_task *t;
    size_t compiler = idle_compiler(p);
    while (compiler != POLICY_NO_WORKER && (t = task_queue_first(&p->queue, TASK_QUEUED))) {
        if (t->known == TASK_KNOWN_FROM_GPU) {
            task_queue_move(&p->queue, t, TASK_READY);
            continue;
        }
        *a = (struct policy_action){.kind = t->known ? POLICY_RECALL : POLICY_COMPILE, .worker = compiler, .task = t};
        if (t->known) return true;
        task_queue_move(&p->queue, t, TASK_COMPILING);
        t->worker = compiler;
        t->since = p->now;
        p->compilers[compiler].task = t;
        return true;
    }
    return false;
}

static void leave_compiler(struct policy *p, const struct queued_task *t)
{
    if (t->state != TASK_COMPILING) return;
    p->compilers[t->worker].task = NULL;
    look_ahead_compiled(&p->ahead, p->now - t->since);
}

void policy_compiled(struct policy *p, struct queued_task *t)
{
    static const enum task_state next[TASK_PURPOSES] = {TASK_READY, TASK_COUNTABLE, TASK_FINAL};
    leave_compiler(p, t);
    task_queue_move(&p->queue, t, next[t->purpose]);
    p->ranked = false;
}

void policy_countable(struct policy *p, struct queued_task *t)
{
    task_queue_move(&p->queue, t, TASK_COUNTABLE);
}

void policy_remove(struct policy *p, struct queued_task *t)
{
    leave_compiler(p, t);
    if (t->purpose == TASK_TRIAL && t->state <= TASK_READY && !t->known) {
        look_ahead_freed(&p->ahead, p->now);
        look_ahead_measured(&p->ahead, 0);
    }
    task_queue_remove(&p->queue, t);
}

// GPUs ---------------------------------------------------------------------------------------------------------------

// The GPU with the shortest queue among those whose worker can accept another request.
static size_t free_gpu(const struct policy *p, size_t depth)
{
    size_t best = POLICY_NO_WORKER;
    for (size_t i = 0; i < p->settings.gpus; i++) {
        const struct policy_gpu *g = &p->gpus[i];
        if (g->ready && g->queued < depth && (best == POLICY_NO_WORKER || g->queued < p->gpus[best].queued)) best = i;
    }
    return best;
}

static struct policy_request *push(struct policy *p, size_t gpu, enum request_kind kind, size_t room)
{
    struct policy_gpu *g = &p->gpus[gpu];
    struct policy_request *request = &g->queue[g->queued++];
    *request = (struct policy_request){.kind = kind};
    if (g->queued == 1) g->since = p->now;
    if (room) request->tasks = memory_new(room, sizeof(struct queued_task *));
    return request;
}

static void put(struct policy *p, struct policy_request *request, struct queued_task *t, size_t gpu)
{
    task_queue_move(&p->queue, t, request->kind == REQUEST_COUNT ? TASK_COUNTING : TASK_ON_GPU);
    t->worker = gpu;
    request->tasks[request->task_count++] = t;
}

static bool too_late_to_count(const struct policy *p)
{
    return p->end && p->settings.latest > 0 && p->now - p->started >= p->settings.latest;
}

// Counting is due if a batch is full, or if no other work is left.
static bool count_due(const struct policy *p)
{
    const struct task_queue *q = &p->queue;
    size_t countable = task_queue_count(q, TASK_COUNTABLE);
    if (!countable || p->interrupted || too_late_to_count(p)) return false;
    if (countable >= POLICY_COUNT_BATCH) return true;
    return p->end && !task_queue_count(q, TASK_READY) && !task_queue_count(q, TASK_QUEUED) &&
           !task_queue_count(q, TASK_COMPILING) && !task_queue_count(q, TASK_ON_GPU);
}

static void fill_batch(struct policy *p, struct policy_request *request, size_t gpu)
{
    for (size_t i = 0; i < p->queue.count && request->task_count < POLICY_COUNT_BATCH; i++) {
        struct queued_task *t = p->queue.tasks[i];
        bool alone = t->alone;
        if (t->state != TASK_COUNTABLE || (alone && request->task_count)) continue;
        put(p, request, t, gpu);
        if (alone) break;
    }
}

struct queued_task **policy_waiting(const struct policy *p, size_t *count)
{
    struct queued_task **waiting = memory_new(p->queue.count, sizeof(struct queued_task *));
    *count = 0;
    for (size_t i = 0; i < p->queue.count; i++) {
        struct queued_task *t = p->queue.tasks[i];
        if (t->purpose == TASK_TRIAL && t->state == TASK_READY && !t->known) waiting[(*count)++] = t;
    }
    return waiting;
}

// Whether ranking can change anything. It cannot if all waiting candidates get a GPU at once.
static bool has_choice(const struct policy *p, size_t waiting)
{
    size_t free = 0;
    for (size_t i = 0; i < p->settings.gpus; i++) free += p->gpus[i].ready && !p->gpus[i].queued;
    return free < 2 || waiting > free;
}

// Chooses the waiting candidate to measure or forget next, and writes the action to `a`. Returns false if no candidate
// waits.
static bool next_trial(struct policy *p, struct policy_action *a, size_t gpu)
{
    struct queued_task *t = task_queue_first(&p->queue, TASK_READY), *worst = t;
    if (!t) return false;
    size_t waiting = p->queue.numbers[TASK_TRIAL][TASK_READY];
    if (p->settings.ranks && is_slow(p) && !p->end && !t->known && (p->ranked || has_choice(p, waiting))) {
        if (!p->ranked) {
            *a = (struct policy_action){.kind = POLICY_RANK, .worker = POLICY_NO_WORKER};
            p->ranked = true;
            return true;
        }
        for (size_t i = 0; i < p->queue.count; i++) {
            struct queued_task *other = p->queue.tasks[i];
            if (other->state != TASK_READY || other->purpose != TASK_TRIAL) continue;
            if (other->acquisition > t->acquisition) t = other;
            if (other->acquisition < worst->acquisition) worst = other;
        }
        if (waiting > 1 && worst->acquisition < 0 &&
            (double)(p->forgotten + 1) <= forgotten_share * (double)p->measured) {
            p->forgotten++;
            *a = (struct policy_action){.kind = POLICY_FORGET, .worker = POLICY_NO_WORKER, .task = worst};
            return true;
        }
    }
    *a = (struct policy_action){.kind = t->known ? POLICY_RECALL : POLICY_MEASURE, .worker = gpu, .task = t};
    if (!t->known) put(p, push(p, gpu, REQUEST_TRIAL, 1), t, gpu);
    return true;
}

static bool next_for_gpus(struct policy *p, struct policy_action *a)
{
    const struct task_queue *q = &p->queue;
    bool lockstep = p->settings.lockstep;
    size_t gpu = free_gpu(p, gpu_depth(p));
    if (gpu == POLICY_NO_WORKER) return false;
    if (lockstep && (task_queue_count(q, TASK_QUEUED) || task_queue_count(q, TASK_COMPILING))) return false;
    if (count_due(p)) {
        struct policy_request *request = push(p, gpu, REQUEST_COUNT, POLICY_COUNT_BATCH);
        fill_batch(p, request, gpu);
        *a = (struct policy_action){.kind = POLICY_COUNT, .worker = gpu, .request = request};
        return true;
    }
    return next_trial(p, a, gpu);
}

void policy_use_reference(struct policy *p, bool use)
{
    p->checks = use;
}

void policy_check_again(struct policy *p, size_t gpu)
{
    p->gpus[gpu].check_again = true;
}

void policy_check_device(struct policy *p, size_t gpu)
{
    p->gpus[gpu].checked = p->gpus[gpu].check_again = false;
    p->gpus[gpu].unchecked = 0;
}

static bool check_due(const struct policy *p, const struct policy_gpu *g)
{
    double passed = p->now - g->checked_at;
    if (!g->ready || g->checking) return false;
    if (g->check_again) return true;
    if (!g->checked) return !p->end || g->unchecked;
    if (p->end) return g->unchecked && passed >= POLICY_CHECK_LATE * g->check_took;
    return passed >= POLICY_CHECK_SECONDS && passed >= POLICY_CHECK_SHARE * g->check_took;
}

static bool next_check(struct policy *p, struct policy_action *a)
{
    size_t ready = 0;
    if (!p->checks || p->settings.lockstep || p->interrupted) return false;
    for (size_t i = 0; i < p->settings.gpus; i++) ready += p->gpus[i].ready;
    for (size_t i = 0; ready > 1 && i < p->settings.gpus; i++) {
        struct policy_gpu *g = &p->gpus[i];
        if (!check_due(p, g) || g->queued >= gpu_depth(p)) continue;
        push(p, i, REQUEST_CHECK, 0);
        g->checking = true;
        g->check_again = false;
        *a = (struct policy_action){.kind = POLICY_CHECK, .worker = i};
        return true;
    }
    return false;
}

void policy_gpu_ready(struct policy *p, size_t gpu)
{
    p->gpus[gpu].ready = true;
}

static struct policy_request take_head(struct policy *p, size_t gpu)
{
    struct policy_gpu *g = &p->gpus[gpu];
    assert(g->queued);
    struct policy_request head = g->queue[0];
    g->queued--;
    memmove(&g->queue[0], &g->queue[1], g->queued * sizeof g->queue[0]);
    if (head.kind == REQUEST_FINAL) p->final_over = true;
    if (head.kind == REQUEST_CHECK) g->checking = false;
    return head;
}

static void note_measured(struct policy *p, double seconds)
{
    look_ahead_freed(&p->ahead, p->now);
    look_ahead_measured(&p->ahead, seconds);
    p->measured++;
}

struct policy_request policy_gpu_answered(struct policy *p, size_t gpu)
{
    struct policy_request head = take_head(p, gpu);
    double seconds = p->now - p->gpus[gpu].since;
    if (head.kind == REQUEST_TRIAL) note_measured(p, seconds);
    struct policy_gpu *g = &p->gpus[gpu];
    g->unchecked += head.kind == REQUEST_TRIAL;
    if (head.kind == REQUEST_CHECK) {
        g->checked = true;
        g->checked_at = p->now;
        g->check_took = seconds;
        g->unchecked = 0;
    }
    g->since = p->now;
    return head;
}

// Puts the tasks of a lost request back into their waiting state. With `alone`, each task is then counted by itself.
static void give_back(struct policy *p, struct policy_request *request, bool alone)
{
    for (size_t i = 0; i < request->task_count; i++) {
        struct queued_task *t = request->tasks[i];
        task_queue_move(&p->queue, t, request->kind == REQUEST_COUNT ? TASK_COUNTABLE : TASK_READY);
        t->alone |= alone;
    }
    if (request->kind == REQUEST_FINAL) p->final_over = true;
    free(request->tasks);
    *request = (struct policy_request){0};
}

struct policy_request policy_gpu_lost(struct policy *p, size_t gpu, bool announced)
{
    struct policy_gpu *g = &p->gpus[gpu];
    struct policy_request head = {0};
    g->ready = false;
    if (g->queued && !announced) head = take_head(p, gpu);
    while (g->queued) {
        struct policy_request after = take_head(p, gpu);
        give_back(p, &after, false);
    }
    if (head.kind == REQUEST_COUNT && head.task_count > 1) give_back(p, &head, true);
    return head;
}

bool policy_lost_with_node(struct policy *p, size_t gpu)
{
    const struct policy_gpu *g = &p->gpus[gpu];
    bool retryable = true;
    for (size_t i = 0; g->queued && i < g->queue[0].task_count; i++)
        retryable &= ++g->queue[0].tasks[i]->lost <= POLICY_NODES_LOST;
    return retryable;
}

bool policy_try_again(struct policy *p, struct queued_task *t, bool begun)
{
    if (begun ? t->again : t->ended++ == ENDED_MOST) return false;
    t->again |= begun;
    if (t->state == TASK_COMPILING) {
        p->compilers[t->worker].task = NULL;
        task_queue_move(&p->queue, t, TASK_QUEUED);
    } else {
        task_queue_move(&p->queue, t, t->state == TASK_COUNTING ? TASK_COUNTABLE : TASK_READY);
    }
    return true;
}

void policy_compiler_gone(struct policy *p, struct queued_task *t)
{
    p->compilers[t->worker].task = NULL;
    task_queue_move(&p->queue, t, TASK_QUEUED);
}

void policy_move_final(struct policy *p)
{
    p->final_gpu = POLICY_NO_WORKER;
    policy_continue_final(p);
}

// The end ------------------------------------------------------------------------------------------------------------

void policy_interrupt(struct policy *p)
{
    p->interrupted = true;
}

bool policy_exhausted(const struct policy *p)
{
    return p->end && p->end != SEARCH_TIME_UP && p->end != SEARCH_INTERRUPTED && p->end != SEARCH_NOT_WANTED;
}

static void check_end(struct policy *p, double now)
{
    const struct policy_settings *s = &p->settings;
    if (p->end) return;
    if (p->interrupted)
        p->end = SEARCH_INTERRUPTED;
    else if (s->time > 0 && now - p->started >= s->time)
        p->end = SEARCH_TIME_UP;
    else if ((p->end = stop_check(&p->stop)))
        return;
    else if (s->evaluations && !task_queue_outstanding(&p->queue) && (int64_t)p->stop.evaluations >= s->evaluations)
        p->end = SEARCH_EVALUATIONS_USED;
}

// Candidates that have not reached a GPU when the search ends are dropped: they will be proposed again. Candidates that
// are not counted in time are counted by the next run.
static bool next_to_drop(const struct policy *p, struct policy_action *a)
{
    const size_t *n = p->queue.numbers[TASK_TRIAL];
    bool late = too_late_to_count(p);
    if (!p->end || !(late || n[TASK_QUEUED] + n[TASK_READY] + n[TASK_COMPILING])) return false;
    for (size_t i = p->queue.count; i-- > 0;) {
        struct queued_task *t = p->queue.tasks[i];
        bool unmeasured = t->purpose == TASK_TRIAL && t->state <= TASK_READY && (!t->retry || p->interrupted),
             uncounted = t->state == TASK_COUNTABLE || (t->purpose == TASK_COUNT && t->state != TASK_COUNTING);
        if (!unmeasured && !(late && uncounted)) continue;
        *a = (struct policy_action){
            .kind = POLICY_DROP, .task = t, .worker = t->state == TASK_COMPILING ? t->worker : POLICY_NO_WORKER};
        return true;
    }
    return false;
}

static bool search_is_over(const struct policy *p)
{
    if (!p->end || task_queue_outstanding(&p->queue)) return false;
    if (p->interrupted) return true;
    for (size_t i = 0; i < p->settings.gpus; i++)
        if (p->gpus[i].queued) return false;
    return !p->queue.count;
}

static struct policy_action next_of_final(struct policy *p, struct policy_action a)
{
    const struct task_queue *q = &p->queue;
    size_t gpu = p->final_gpu == POLICY_NO_WORKER ? free_gpu(p, 1) : p->final_gpu;
    if (p->interrupted || p->final_over) {
        a.kind = POLICY_DONE;
    } else if (!next_for_compilers(p, &a) && !p->final_sent && !task_queue_count(q, TASK_COMPILING)) {
        if (!task_queue_count(q, TASK_FINAL)) {
            a.kind = POLICY_DONE;
        } else if (gpu != POLICY_NO_WORKER && p->gpus[gpu].ready) {
            push(p, gpu, REQUEST_FINAL, 0);
            p->final_gpu = gpu;
            p->final_sent = true;
            a.kind = POLICY_FINAL;
            a.worker = gpu;
        }
    }
    return a;
}

static bool next_of_search(struct policy *p, struct policy_action *a)
{
    if (!p->settings.lockstep && next_for_compilers(p, a)) return true; // compilers work during proposals
    if (!wants_proposal(p)) return next_for_compilers(p, a);
    a->kind = POLICY_PROPOSE;
    return true;
}

struct policy_action policy_next(struct policy *p, double now)
{
    p->now = now;
    struct policy_action a = {.kind = POLICY_WAIT, .worker = POLICY_NO_WORKER, .until = INFINITY};
    if (p->deciding) return next_of_final(p, a);
    check_end(p, now);
    if (next_to_drop(p, &a) || next_check(p, &a)) return a;
    if (search_is_over(p))
        a.kind = POLICY_DONE;
    else if (p->settings.lockstep ? next_of_search(p, &a) || next_for_gpus(p, &a)
                                  : next_for_gpus(p, &a) || next_of_search(p, &a)) // last, because proposals take time
        return a;
    else if (!p->end && p->settings.time > 0)
        a.until = p->started + p->settings.time;
    return a;
}
