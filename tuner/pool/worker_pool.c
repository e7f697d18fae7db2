// See worker_pool.h.
#include "tuner/pool/worker_pool.h"

#include "tuner/pool/answer_check.h"
#include "tuner/pool/pool_slots.h"
#include "tuner/protocol/message.h"

bool pool_compiler_usable(const struct worker_pool *p, size_t compiler)
{
    size_t node = p->compilers[compiler].node;
    return node == POOL_HERE || (pool_node_is_up(p, node) && p->remote.nodes[node]->compilers == COMPILERS_GOOD);
}

bool pool_gpu_usable(const struct worker_pool *p, size_t gpu)
{
    return !p->gpus[gpu].disabled && pool_node_is_up(p, p->gpus[gpu].node);
}

bool pool_refuse_compiler(struct worker_pool *p, size_t compiler, const char *reason)
{
    size_t node = p->compilers[compiler].node;
    if (node == POOL_HERE) return false;
    pool_node_disable(p, node, reason);
    return true;
}

int pool_start_gpus(struct worker_pool *p, struct error *err)
{
    for (size_t i = 0; i < p->gpu_count; i++) {
        struct pool_slot *slot = &p->gpus[i];
        if (slot->state != GPU_DOWN || !pool_gpu_usable(p, i)) continue;
        if (slot_start(p, slot, err) && slot->node == POOL_HERE) return -1; // on a node, its loss will be reported
    }
    return 0;
}

int pool_send_compiler(struct worker_pool *p, size_t compiler, json_t *request, double seconds, struct error *err)
{
    struct pool_slot *slot = &p->compilers[compiler];
    if (!worker_running(&slot->worker) && slot_start(p, slot, err)) {
        json_decref(request);
        return -1;
    }
    slot_send(slot, request, seconds);
    return 0;
}

// Deadlines ----------------------------------------------------------------------------------------------------------

// Slots by number: the GPU workers, then the compilers.
static struct pool_slot *slot_at(const struct worker_pool *p, size_t i)
{
    return i < p->gpu_count ? &p->gpus[i] : &p->compilers[i - p->gpu_count];
}

// Whether an answer is expected from the slot.
static bool slot_waits(const struct pool_slot *slot)
{
    return slot->queued || slot->state == GPU_HELLO || slot->state == GPU_JOB;
}

// Time in which the driver was suspended (a paused container, a sleeping laptop) does not count for any worker (`all`).
// Time in which a worker itself is stopped does not count for it, but a worker that stays stopped is given up.
static void allow_for_pauses(struct worker_pool *p, double seconds, bool all)
{
    for (size_t i = 0; i < p->gpu_count + p->compiler_count; i++) {
        struct pool_slot *slot = slot_at(p, i);
        if (!slot_waits(slot)) continue;
        bool stands = !all && slot->stopped < WORKER_LONGEST_STOP && worker_stopped(&slot->worker);
        if (stands) slot->stopped += seconds;
        if (all || (stands && slot->stopped < WORKER_LONGEST_STOP))
            slot->deadline += seconds;
        else if (stands)
            slot->deadline = 0;
    }
}

void pool_poll_stops(struct worker_pool *p, double now)
{
    if (now - p->polled < WORKER_POLL) return;
    allow_for_pauses(p, fmin(now - p->polled, WORKER_OVERSLEPT), false);
    p->polled = now;
}

// Events -------------------------------------------------------------------------------------------------------------

void pool_wait(struct worker_pool *p, bool gpus, int milliseconds)
{
    size_t first = gpus ? 0 : p->gpu_count, all = p->gpu_count + p->compiler_count;
    autofree struct pollfd *polled = memory_new(CHILD_POLLED * (all - first), sizeof *polled);
    int n = 0;
    for (size_t i = first; i < all; i++) n += worker_poll(&slot_at(p, i)->worker, polled + n);
    double before = clock_now();
    node_links_wait(&p->remote.links, polled, n, milliseconds);
    double slept = clock_now() - before;
    if (slept > 1e-3 * milliseconds + WORKER_OVERSLEPT) allow_for_pauses(p, slept, true);
    const struct pollfd *at = polled;
    for (size_t i = first; i < all; i++) {
        struct pool_slot *slot = slot_at(p, i);
        if (worker_polled(&slot->worker, &at, &slot->death)) slot->dead = true;
    }
    pool_nodes_serve(p); // this may start workers
}

// hello -> job -> ready. Returns true if the answer causes an event.
static bool take_setup(struct worker_pool *p, size_t i, const json_t *answer, struct pool_event *event)
{
    struct pool_slot *slot = &p->gpus[i];
    const json_t *device = json_object_get(answer, "device");
    event->kind = POOL_FAILED;
    if (slot->state == GPU_HELLO && greeting_check(answer, &event->why)) {
        error_prefix(&event->why, "%s", slot->name);
        event->exit_status = EXIT_ENVIRONMENT;
        if (slot->node != POOL_HERE) pool_gpu_disable(p, i, event->why.message);
        return slot->node == POOL_HERE;
    }
    if (slot->state == GPU_HELLO && slot->node != POOL_HERE && (!device || pool_gpu_differs(p, i, answer))) {
        if (!device) pool_gpu_disable(p, i, answer_reason(answer, "it does not report its device"));
        return false;
    }
    if (slot->state == GPU_HELLO && device && strcmp(json_get_string(device, "name", ""), p->first.device_name)) {
        error_set(
            &event->why,
            "%s is a %s, but the first is a %s: the GPUs of a run must be of the same kind; choose them with --device",
            slot->name, json_get_string(device, "name", "?"), p->first.device_name);
        event->exit_status = EXIT_USAGE;
        return true;
    }
    const struct pool_slot *twin = slot->state == GPU_HELLO ? pool_gpu_twin(p, i, answer) : NULL;
    if (twin) {
        error_set(&event->why, "--device %s names one GPU twice: %s and %s are both %s", p->settings.device, twin->name,
                  slot->name, twin->uuid);
        event->exit_status = EXIT_USAGE;
        return true;
    }
    if (slot->state == GPU_HELLO && device) {
        slot_set_uuid(slot, device);
        if (pool_gpu_refuses_job(p, i)) return false;
        slot->state = GPU_JOB;
        slot->setup_id = worker_send(&slot->worker, json_deep_copy(p->job_request));
        pool_node_count_gpus(p, i, answer); // this may add slots later
        return false;
    }
    if (slot->state == GPU_JOB && answer_status(answer) == STATUS_OK) {
        slot->state = GPU_READY;
        slot->failed_starts = 0;
        event->kind = POOL_GPU_READY;
        return true;
    }
    if (slot->state == GPU_JOB && pool_give_up_baseline(p, answer)) {
        slot->failed_starts = 0;
        slot->ending = true;
        return false;
    }
    // The device faulted while the worker was set up. Set-up has worked before, so the worker's successor tries again.
    if (slot->state == GPU_JOB && answer_status(answer) == STATUS_CRASHED &&
        slot->failed_starts + pool_start_weight(false) < POOL_FAILED_STARTS) {
        slot->ending = true;
        return false;
    }
    event->exit_status = pool_refusal(answer, &event->why);
    if (slot->node != POOL_HERE) { // the first GPU took the job, so this GPU or its node is the cause
        pool_gpu_disable(p, i, event->why.message);
        return false;
    }
    error_prefix(&event->why, "%s", slot->name);
    return true;
}

// Whether a message answers a request that its worker was not given. `id`: the request that the worker was given.
static bool is_foreign(const json_t *message, int64_t id, const json_t *request, struct error *why)
{
    int64_t reported = message_id(message);
    if (reported != id && !message_is_progress(message))
        return error_set(why, "the worker answers request %lld, but was given %lld", (long long)reported,
                         (long long)id) != 0;
    return reported == id && request && answer_is_foreign(request, message) && answer_check(request, message, why);
}

// Handles the loss of a worker, for the reason in event->why.
static bool lose(struct worker_pool *p, struct pool_slot *slot, struct pool_event *event)
{
    bool here = slot->node == POOL_HERE, idle = slot->compiles ? !slot->queued && here : slot->state != GPU_READY;
    event->kind = slot->compiles ? POOL_COMPILER_LOST : POOL_GPU_LOST;
    event->busy = slot->queued && !slot->compiler.greeting;
    event->announced = slot->ending;
    event->trial = slot->at;
    event->begun = slot->begun;
    if (slot->compiler.greeting && !event->node) pool_node_not_greeted(p, slot->node, event->why.message);
    bool failed =
        idle && !event->node && (slot->failed_starts += pool_start_weight(event->outside)) >= POOL_FAILED_STARTS;
    slot_stop(slot);
    if (failed && !here) {
        pool_gpu_disable(p, event->worker, event->why.message);
    } else if (failed) {
        event->kind = POOL_FAILED;
        event->exit_status = EXIT_ENVIRONMENT;
    }
    return true;
}

// Handles a GPU worker's message about its set-up or the head of its queue. Returns true if it causes an event.
static bool take_gpu_message(struct worker_pool *p, struct pool_slot *slot, json_t *message, double now,
                             struct pool_event *event)
{
    bool progress = message_is_progress(message);
    if (slot->state != GPU_READY) {
        if (!progress) return take_setup(p, event->worker, message, event);
        slot->deadline = now + POOL_SETUP_TIMEOUT;
        return false;
    }
    if (progress) {
        slot->deadline = now + slot->queue[0].timeout;
        slot->begun = true;
        slot->at = json_get_integer(message, "trial", 0);
        return false;
    }
    slot->ending = answer_status(message) == STATUS_CRASHED || json_get_bool(message, "restart", false);
    pool_give_up_baseline(p, message);
    slot->at = 0;
    slot_forget_head(slot);
    slot->stopped = 0;
    if (slot->queued) slot->deadline = now + slot->queue[0].timeout;
    event->kind = POOL_GPU_ANSWER;
    event->answer = json_incref(message);
    return true;
}

// Handles a compiler's answer. Returns true if it causes an event.
static bool take_compiler_answer(struct worker_pool *p, struct pool_slot *slot, json_t *answer,
                                 struct pool_event *event)
{
    slot_forget_head(slot);
    slot->failed_starts = 0;
    if (slot->compiler.greeting) {
        slot->compiler.greeting = false;
        pool_node_greeted(p, slot->node, answer);
        return false;
    }
    event->kind = POOL_COMPILER_ANSWER;
    event->answer = json_incref(answer);
    return true;
}

// Handles one message of a worker. Returns true if it causes an event.
static bool take_message(struct worker_pool *p, struct pool_slot *slot, json_t *message, double now,
                         struct pool_event *event)
{
    const struct pool_sent *head = slot->queued ? &slot->queue[0] : NULL;
    const json_t *request = head ? head->request : slot->state == GPU_JOB ? p->job_request : NULL;
    if (head && is_foreign(message, head->id, slot->compiles ? NULL : request, &event->why)) {
        pool_node_foreign(p, slot->node, event);
        return lose(p, slot, event);
    }
    if (!slot_waits(slot) || message_id(message) != (head ? head->id : slot->setup_id)) return false;
    if (answer_check(request, message, &event->why)) return lose(p, slot, event);
    return slot->compiles ? take_compiler_answer(p, slot, message, event)
                          : take_gpu_message(p, slot, message, now, event);
}

static void describe_lateness(const struct pool_slot *slot, struct pool_event *event)
{
    event->late = true;
    if (slot->stopped >= WORKER_LONGEST_STOP) {
        event->outside = true;
        error_set(&event->why, "worker '%s' was stopped from outside, and replaced after %d s", slot->name,
                  WORKER_LONGEST_STOP);
    } else if (slot->compiles) {
        error_set(
            &event->why,
            "the compiler missed its deadline and was killed: raise the job's compile.timeout if it is too short");
    } else if (slot->state == GPU_READY) {
        error_set(&event->why, "no answer within %.3g s: the kernel hangs, or the job's measure.timeout is too short",
                  slot->queue[0].timeout);
    } else {
        error_set(&event->why, "%s: not ready within %d s", slot->name, POOL_SETUP_TIMEOUT);
    }
}

bool pool_next_of(struct worker_pool *p, struct pool_slot *slot, double now, struct pool_event *event)
{
    json_t *received;
    int got = 0;
    while (!slot->ending && (got = worker_receive(&slot->worker, &received, &event->why)) > 0) {
        autojson json_t *message = received;
        if (take_message(p, slot, message, now, event)) return true;
    }
    if (got < 0) return lose(p, slot, event);
    if (slot->ending) {
        error_set(&event->why, "the worker ended, as it had announced");
        return lose(p, slot, event);
    }
    // If the GPU worker had not begun its request, the previous request may have damaged it.
    event->outside = slot->state == GPU_READY && slot->queued && !slot->begun;
    if (slot->dead) {
        event->why = slot->death;
        event->outside |= worker_ended_from_outside(&slot->worker);
        event->node = slot->worker.lost;
        return lose(p, slot, event);
    }
    if (!slot_waits(slot) || now < slot->deadline) return false;
    describe_lateness(slot, event);
    return lose(p, slot, event);
}

size_t pool_first_compiler(const struct worker_pool *p)
{
    for (size_t i = 0; i < p->compiler_count; i++) {
        size_t node = p->compilers[i].node;
        if (node == POOL_HERE || (pool_node_is_up(p, node) && p->remote.nodes[node]->compilers != COMPILERS_REFUSED))
            return i;
    }
    return p->compiler_count;
}

bool pool_has_compiler(const struct worker_pool *p)
{
    return pool_first_compiler(p) < p->compiler_count;
}

// Whether there has been no worker to measure, or to compile, for so long that the run has to end.
static bool is_deserted(struct worker_pool *p, double now, struct pool_event *event)
{
    bool gpu = !p->remote.node_count, compiler = !p->remote.node_count || pool_has_compiler(p);
    for (size_t i = 0; i < p->gpu_count && !gpu; i++) gpu = pool_gpu_usable(p, i);
    if (gpu && compiler) {
        p->remote.deserted = 0;
        return false;
    }
    const char *missing = gpu ? "compiler" : "GPU";
    if (p->remote.deserted <= 0) {
        p->remote.deserted = now;
        pool_report(&p->settings, true, "no %s is left; waiting %.3g s for one", missing, pool_timeout());
    }
    if (now - p->remote.deserted < pool_timeout() || !pool_nodes_give_up(p, missing, &p->remote.deserted, &event->why))
        return false;
    event->kind = POOL_FAILED;
    event->exit_status = EXIT_ENVIRONMENT;
    return true;
}

bool pool_next(struct worker_pool *p, double now, struct pool_event *event)
{
    *event = (struct pool_event){.exit_status = EXIT_DONE};
    if (!p->next) pool_poll_stops(p, now);
    for (; p->next < p->gpu_count + p->compiler_count; p->next++) {
        event->worker = p->next < p->gpu_count ? p->next : p->next - p->gpu_count;
        if (pool_next_of(p, slot_at(p, p->next), now, event)) return true;
    }
    p->next = 0;
    return is_deserted(p, now, event);
}
