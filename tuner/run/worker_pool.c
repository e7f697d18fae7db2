// See worker_pool.h.
#include "tuner/run/worker_pool.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/clock.h"
#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/run/answer_check.h"
#include "tuner/run/interrupt.h"

enum { HELLO_TIMEOUT = 120, MAX_FAILED_STARTS = 3 };

static void on_chatter(void *user, const struct worker *w, const char *line)
{
    const struct pool_settings *s = user;
    if (!s->log) return;
    char *text = text_format("%s: %s", w->name, line);
    s->log(s->user, text);
    free(text);
}

static void on_progress(void *user, const struct worker *w, const char *what, double share)
{
    const struct pool_settings *s = user;
    if (s->progress) s->progress(s->user, w->name, what, share);
}

static struct worker new_worker(struct worker_pool *p)
{
    return (struct worker){.to = -1,
                           .from = -1,
                           .errors = -1,
                           .chatter = on_chatter,
                           .progress = on_progress,
                           .chatter_user = &p->settings};
}

// Opening ------------------------------------------------------------------------------------------------------------

static void add_gpu(struct worker_pool *p, char *name, char *device)
{
    p->gpus = memory_grow(p->gpus, p->gpu_count + 1, sizeof *p->gpus);
    p->gpus[p->gpu_count++] = (struct gpu_slot){.worker = new_worker(p), .name = name, .device = device};
}

// "0,2": one GPU worker each.
static int read_device_list(struct worker_pool *p, struct error *err)
{
    for (const char *at = p->settings.device;; at++) {
        char *end;
        errno = 0;
        long index = strtol(at, &end, 10);
        if (end == at || errno || index < 0 || (*end && *end != ','))
            return error_set(err, "--device must be a number, a list such as 0,1, or replay:FILE, not '%s'",
                             p->settings.device);
        add_gpu(p, text_format("gpu %ld", index), text_format("%ld", index));
        if (!*end) return 0;
        at = end;
    }
}

static int choose_workers(struct worker_pool *p, struct error *err)
{
    const char *device = p->settings.device;
    if (!strncmp(device, "replay:", 7)) {
        p->replay = true;
        p->replay_file = text_join_path(".", device + 7);
        if (access(p->replay_file, R_OK)) return error_set(err, "cannot read '%s': %s", device + 7, strerror(errno));
        p->gpu_program = worker_program("SWEETSPOT_REPLAY_WORKER", "sweetspot-replay");
        p->compile_program = text_copy(p->gpu_program);
        p->compiler_count = 1;
        add_gpu(p, text_copy("replay"), NULL);
    } else {
        p->gpu_program = worker_program("SWEETSPOT_GPU_WORKER", "sweetspot-gpu");
        p->compile_program = worker_program("SWEETSPOT_COMPILE_WORKER", "sweetspot-compile");
        int64_t compilers = p->settings.compilers ? p->settings.compilers : sysconf(_SC_NPROCESSORS_ONLN);
        p->compiler_count = compilers < 1 ? 1 : (size_t)compilers;
        if (read_device_list(p, err)) return -1;
    }
    p->compilers = memory_new(p->compiler_count, sizeof *p->compilers);
    for (size_t i = 0; i < p->compiler_count; i++)
        p->compilers[i] = (struct compile_slot){.worker = new_worker(p), .name = text_format("compiler %zu", i)};
    return 0;
}

static int start_compiler(struct worker_pool *p, size_t i, struct error *err)
{
    struct compile_slot *slot = &p->compilers[i];
    char *argv[] = {p->compile_program, p->replay_file, NULL};
    slot->dead = false;
    return worker_start(&slot->worker, slot->name, argv, err);
}

static void forget_head(struct gpu_slot *slot)
{
    json_decref(slot->queue[0].request);
    memmove(&slot->queue[0], &slot->queue[1], --slot->queued * sizeof slot->queue[0]);
}

static void forget_queue(struct gpu_slot *slot)
{
    while (slot->queued) forget_head(slot);
}

// Sends hello; the rest of the set-up follows from its answer.
static int start_gpu(struct worker_pool *p, size_t i, struct error *err)
{
    struct gpu_slot *slot = &p->gpus[i];
    char *argv[] = {p->gpu_program, p->replay ? p->replay_file : "--device", slot->device, NULL};
    slot->dead = slot->ending = false;
    forget_queue(slot);
    if (worker_start(&slot->worker, slot->name, argv, err)) return -1;
    slot->state = GPU_HELLO;
    slot->stopped = 0;
    slot->setup_id =
        worker_send(&slot->worker, json_pack("{s:s, s:b}", "op", "hello", "counters", (int)p->settings.counters));
    slot->deadline = clock_now() + POOL_SETUP_TIMEOUT;
    return 0;
}

static void set_uuid(struct gpu_slot *slot, const json_t *device)
{
    free(slot->uuid);
    slot->uuid = text_copy(json_get_string(device, "uuid", ""));
}

// What the driver divides by is at least 1.
static int read_limits(const json_t *device, struct device_limits *l, struct error *err)
{
    static const char *const may_be_zero[] = {"l2_bytes", "memory_bytes", "max_cluster", "compute", NULL};
    const struct {
        const char *name;
        int64_t *value;
    } members[] = {
        {"sm_count", &l->sm_count},           {"max_shared", &l->max_shared},
        {"shared_per_sm", &l->shared_per_sm}, {"registers_per_sm", &l->registers_per_sm},
        {"max_threads", &l->max_threads},     {"threads_per_sm", &l->threads_per_sm},
        {"blocks_per_sm", &l->blocks_per_sm}, {"warp_size", &l->warp_size},
        {"l2_bytes", &l->l2_bytes},           {"memory_bytes", &l->memory_bytes},
        {"max_cluster", &l->max_cluster},     {"compute", &l->compute},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        int64_t value = json_get_integer(device, members[i].name, *members[i].value), low = 1;
        for (size_t k = 0; may_be_zero[k]; k++) low -= !strcmp(may_be_zero[k], members[i].name);
        if (value < low || value > (int64_t)1 << 50)
            return error_set(err, "the GPU worker says of its device that '%s' is %" PRId64, members[i].name, value);
        *members[i].value = value;
    }
    return 0;
}

// What the first workers say of themselves. One that dies meanwhile is started again.
static json_t *greet_compiler(struct worker_pool *p, struct error *err)
{
    struct worker *w = &p->compilers[0].worker;
    json_t *hello = NULL;
    w->failure = WORKER_DIED;
    for (int i = 0; i < MAX_FAILED_STARTS && !hello && w->failure == WORKER_DIED; i++) {
        if (!worker_running(w) && start_compiler(p, 0, err)) return NULL;
        hello = pool_ask_compiler(
            p, json_pack("{s:s, s:s}", "op", "hello", "compiler", p->settings.nvcc ? PROTOCOL_NVCC : PROTOCOL_NVRTC),
            HELLO_TIMEOUT, err);
    }
    if (hello && p->settings.nvcc && !json_get_string(hello, "compiler", NULL)) {
        error_set(err, "the job is compiled by nvcc: %s",
                  json_get_string(hello, "reason", "the compiler does not know it"));
        json_decref(hello);
        return NULL;
    }
    return hello;
}

static json_t *greet_gpu(struct worker_pool *p, struct error *err)
{
    struct worker *w = &p->gpus[0].worker;
    json_t *hello = NULL;
    w->failure = WORKER_DIED;
    for (int i = 0; i < MAX_FAILED_STARTS && !hello && w->failure == WORKER_DIED; i++) {
        if (!worker_running(w) && start_gpu(p, 0, err)) return NULL;
        hello = worker_wait(w, p->gpus[0].setup_id, HELLO_TIMEOUT, err);
    }
    return hello;
}

int pool_open(struct worker_pool *p, const struct pool_settings *settings, struct error *err)
{
    *p = (struct worker_pool){.settings = *settings};
    if (choose_workers(p, err)) return EXIT_USAGE;
    if (start_compiler(p, 0, err) || start_gpu(p, 0, err)) return EXIT_ENVIRONMENT; // at the same time
    p->compiler_hello = greet_compiler(p, err);
    if (!p->compiler_hello) return EXIT_ENVIRONMENT;
    p->compiler = json_get_string(p->compiler_hello, "compiler", "?");
    p->hello = greet_gpu(p, err);
    if (!p->hello) return EXIT_ENVIRONMENT;
    const json_t *device = json_object_get(p->hello, "device");
    if (!device) {
        error_set(err, "%s (`sweetspot doctor` says what works here)",
                  json_get_string(p->hello, "reason", "the GPU worker does not say which device it has"));
        return EXIT_ENVIRONMENT;
    }
    p->device_name = json_get_string(device, "name", "?");
    p->arch = json_get_string(device, "arch", "?");
    p->driver = json_get_string(device, "driver", "");
    set_uuid(&p->gpus[0], device);
    p->limits = device_limits_h200;
    if (read_limits(device, &p->limits, err)) return EXIT_ENVIRONMENT;
    p->memory = json_get_integer(device, "memory_free", p->limits.memory_bytes);
    return 0;
}

void pool_stop(struct worker_pool *p, double seconds)
{
    for (size_t i = 0; i < p->gpu_count; i++) worker_stop(&p->gpus[i].worker, seconds);
}

void pool_release(struct worker_pool *p)
{
    for (size_t i = 0; i < p->gpu_count; i++) {
        worker_release(&p->gpus[i].worker);
        free(p->gpus[i].name);
        free(p->gpus[i].device);
        free(p->gpus[i].uuid);
        forget_queue(&p->gpus[i]);
        free(p->gpus[i].queue);
    }
    for (size_t i = 0; p->compilers && i < p->compiler_count; i++) {
        worker_release(&p->compilers[i].worker);
        json_decref(p->compilers[i].request);
        free(p->compilers[i].name);
    }
    free(p->gpus);
    free(p->compilers);
    free(p->replay_file);
    free(p->gpu_program);
    free(p->compile_program);
    json_decref(p->hello);
    json_decref(p->compiler_hello);
    json_decref(p->job_request);
    *p = (struct worker_pool){0};
}

// Questions and requests ---------------------------------------------------------------------------------------------

json_t *pool_ask_compiler(struct worker_pool *p, json_t *request, double seconds, struct error *err)
{
    return worker_ask(&p->compilers[0].worker, request, seconds, err);
}

json_t *pool_ask_gpu(struct worker_pool *p, json_t *request, double seconds, struct error *err)
{
    return worker_ask(&p->gpus[0].worker, request, seconds, err);
}

// A worker that refuses its set-up blames the machine or the job.
static int refusal(const json_t *answer, struct error *err)
{
    const char *word = json_get_string(answer, "status", "");
    error_set(err, "%s", json_get_string(answer, "reason", "the GPU worker refuses the job"));
    return strcmp(word, PROTOCOL_ENVIRONMENT) ? EXIT_USAGE : EXIT_ENVIRONMENT;
}

// Whether an answer says that one of the job's baselines, a program, has crashed its worker. Then workers that are set
// up from now on do not call it.
static bool give_up_baseline(struct worker_pool *p, const json_t *answer)
{
    const char *name = json_get_string(answer, "baseline", NULL);
    size_t i;
    json_t *each;
    if (!name || status_find(json_get_string(answer, "status", "")) != STATUS_CRASHED) return false;
    json_array_foreach(json_object_get(p->job_request, "baselines"), i, each)
    {
        if (!json_is_object(each) || strcmp(json_get_string(each, "name", ""), name) != 0) continue;
        if (json_object_get(each, "reason")) return false; // it was not called
        json_object_set_new(each, "reason", json_string(json_get_string(answer, "reason", "it crashed")));
        return true;
    }
    return false;
}

// Hands the job to the first GPU worker. One that dies meanwhile is started again.
static int set_up(struct worker_pool *p, json_t **answer, struct error *err)
{
    struct gpu_slot *slot = &p->gpus[0];
    *answer = NULL;
    for (int i = 0; i < MAX_FAILED_STARTS && !*answer; i++) {
        json_t *hello = worker_running(&slot->worker) ? NULL : greet_gpu(p, err);
        if (!hello && !worker_running(&slot->worker)) return EXIT_ENVIRONMENT;
        json_decref(hello);
        *answer = pool_ask_gpu(p, json_deep_copy(p->job_request), POOL_SETUP_TIMEOUT, err);
        if (*answer && give_up_baseline(p, *answer)) {
            worker_kill(&slot->worker);
            json_decref(*answer);
            *answer = NULL;
            i--;
            continue;
        }
        if (!*answer && slot->worker.failure != WORKER_DIED) break;
    }
    if (!*answer) return EXIT_ENVIRONMENT;
    if (status_find(json_get_string(*answer, "status", "")) != STATUS_OK) return refusal(*answer, err);
    slot->state = GPU_READY;
    return 0;
}

int pool_set_up(struct worker_pool *p, json_t *request, json_t **answer, struct error *err)
{
    p->job_request = request;
    return set_up(p, answer, err);
}

int pool_set_up_again(struct worker_pool *p, struct error *err)
{
    json_t *answer;
    worker_kill(&p->gpus[0].worker);
    int status = set_up(p, &answer, err);
    json_decref(answer);
    return status;
}

int pool_start_gpus(struct worker_pool *p, struct error *err)
{
    for (size_t i = 0; i < p->gpu_count; i++)
        if (p->gpus[i].state == GPU_DOWN && start_gpu(p, i, err)) return -1;
    return 0;
}

int pool_send_compiler(struct worker_pool *p, size_t compiler, json_t *request, double seconds, struct error *err)
{
    struct compile_slot *slot = &p->compilers[compiler];
    if (!worker_running(&slot->worker) && start_compiler(p, compiler, err)) {
        json_decref(request);
        return -1;
    }
    slot->busy = true;
    slot->stopped = 0;
    slot->deadline = clock_now() + seconds;
    json_decref(slot->request);
    slot->request = json_incref(request);
    slot->id = worker_send(&slot->worker, request);
    return 0;
}

void pool_send_gpu(struct worker_pool *p, size_t gpu, json_t *request, double seconds)
{
    struct gpu_slot *slot = &p->gpus[gpu];
    slot->queue = memory_grow(slot->queue, slot->queued + 1, sizeof *slot->queue);
    json_incref(request);
    slot->queue[slot->queued++] = (struct gpu_request){worker_send(&slot->worker, request), request, seconds};
    if (slot->queued > 1) return;
    slot->stopped = 0;
    slot->deadline = clock_now() + seconds;
}

static void forget_gpu(struct gpu_slot *slot)
{
    worker_kill(&slot->worker);
    slot->state = GPU_DOWN;
    forget_queue(slot);
    slot->at = 0;
    slot->dead = slot->ending = false;
}

void pool_stop_gpu(struct worker_pool *p, size_t gpu)
{
    forget_gpu(&p->gpus[gpu]);
}

void pool_stop_compiler(struct worker_pool *p, size_t compiler)
{
    p->compilers[compiler].busy = p->compilers[compiler].dead = false;
    worker_kill(&p->compilers[compiler].worker);
}

// Deadlines -----------------------------------------------------------------------------------------------------------

// A worker that is stopped does not use up its time; one that stays stopped is given up.
static void allow_for_stop(const struct worker *w, double seconds, double *stopped, double *deadline)
{
    if (*stopped >= WORKER_LONGEST_STOP || !worker_stopped(w)) return;
    *stopped += seconds;
    if (*stopped < WORKER_LONGEST_STOP)
        *deadline += seconds;
    else
        *deadline = 0;
}

// Likewise the time for which the driver was suspended (a container that was paused, a laptop that slept), `all`.
static void allow_for_pauses(struct worker_pool *p, double seconds, bool all)
{
    for (size_t i = 0; i < p->gpu_count; i++) {
        struct gpu_slot *slot = &p->gpus[i];
        if (slot->state == GPU_DOWN || (slot->state == GPU_READY && !slot->queued)) continue;
        if (all)
            slot->deadline += seconds;
        else
            allow_for_stop(&slot->worker, seconds, &slot->stopped, &slot->deadline);
    }
    for (size_t i = 0; i < p->compiler_count; i++) {
        struct compile_slot *slot = &p->compilers[i];
        if (slot->busy && all)
            slot->deadline += seconds;
        else if (slot->busy)
            allow_for_stop(&slot->worker, seconds, &slot->stopped, &slot->deadline);
    }
}

static void look_for_stops(struct worker_pool *p, double now)
{
    if (now - p->looked < WORKER_LOOK) return;
    allow_for_pauses(p, fmin(now - p->looked, WORKER_OVERSLEPT), false);
    p->looked = now;
}

// Events -------------------------------------------------------------------------------------------------------------

static void read_compilers(struct worker_pool *p)
{
    for (size_t i = 0; i < p->compiler_count; i++) {
        struct compile_slot *slot = &p->compilers[i];
        if (worker_running(&slot->worker)) slot->dead = worker_io(&slot->worker, &slot->death) != 0;
    }
}

void pool_wait(struct worker_pool *p, int milliseconds)
{
    struct pollfd *polled = memory_new(3 * (p->gpu_count + p->compiler_count), sizeof *polled);
    int n = 0;
    for (size_t i = 0; i < p->gpu_count; i++) n += worker_poll(&p->gpus[i].worker, polled + n);
    for (size_t i = 0; i < p->compiler_count; i++) n += worker_poll(&p->compilers[i].worker, polled + n);
    double before = clock_now();
    int events = poll(polled, (nfds_t)n, milliseconds);
    double slept = clock_now() - before;
    free(polled);
    if (slept > 1e-3 * milliseconds + WORKER_OVERSLEPT) allow_for_pauses(p, slept, true);
    if (events <= 0) return;
    for (size_t i = 0; i < p->gpu_count; i++) {
        struct gpu_slot *slot = &p->gpus[i];
        if (worker_running(&slot->worker)) slot->dead = worker_io(&slot->worker, &slot->death) != 0;
    }
    read_compilers(p);
}

// hello -> job -> ready. True where there is an event in it.
static bool take_setup(struct worker_pool *p, size_t i, const json_t *answer, struct pool_event *event)
{
    struct gpu_slot *slot = &p->gpus[i];
    const json_t *device = json_object_get(answer, "device");
    event->kind = POOL_FAILED;
    if (slot->state == GPU_HELLO && device && strcmp(json_get_string(device, "name", ""), p->device_name)) {
        error_set(&event->why,
                  "%s is a %s, but the first is a %s: GPUs of one run must be alike; choose them with --device",
                  slot->name, json_get_string(device, "name", "?"), p->device_name);
        event->exit_status = EXIT_USAGE;
        return true;
    }
    if (slot->state == GPU_HELLO && device) {
        set_uuid(slot, device);
        slot->state = GPU_JOB;
        slot->setup_id = worker_send(&slot->worker, json_deep_copy(p->job_request));
        return false;
    }
    if (slot->state == GPU_JOB && status_find(json_get_string(answer, "status", "ok")) == STATUS_OK) {
        slot->state = GPU_READY;
        slot->failed_starts = 0;
        event->kind = POOL_GPU_READY;
        return true;
    }
    if (slot->state == GPU_JOB && give_up_baseline(p, answer)) {
        slot->failed_starts = 0;
        slot->ending = true;
        return false;
    }
    event->exit_status = refusal(answer, &event->why);
    error_prefix(&event->why, "%s", slot->name);
    return true;
}

// The worker is gone, for the reason in event->why.
static bool lose_gpu(struct gpu_slot *slot, struct pool_event *event)
{
    event->kind = POOL_GPU_LOST;
    event->busy = slot->queued;
    event->announced = slot->ending;
    event->trial = slot->at;
    if (slot->state != GPU_READY && ++slot->failed_starts >= MAX_FAILED_STARTS) {
        event->kind = POOL_FAILED;
        event->exit_status = EXIT_ENVIRONMENT;
    }
    forget_gpu(slot);
    return true;
}

// One message of a GPU worker (takes the reference). True where there is an event in it.
static bool take_gpu_message(struct worker_pool *p, size_t i, json_t *message, double now, struct pool_event *event)
{
    struct gpu_slot *slot = &p->gpus[i];
    int64_t id = json_get_integer(message, "id", -1);
    bool progress = json_object_get(message, "progress") != NULL, happened = false,
         ready = slot->state == GPU_READY && slot->queued;
    const json_t *request = ready ? slot->queue[0].request : slot->state == GPU_JOB ? p->job_request : NULL;
    if (id == (ready ? slot->queue[0].id : slot->setup_id) && answer_check(request, message, &event->why)) {
        happened = lose_gpu(slot, event);
    } else if (slot->state != GPU_READY) {
        if (id == slot->setup_id && progress)
            slot->deadline = now + POOL_SETUP_TIMEOUT;
        else if (id == slot->setup_id)
            happened = take_setup(p, i, message, event);
    } else if (slot->queued && id == slot->queue[0].id) {
        if (progress) {
            slot->deadline = now + slot->queue[0].timeout;
            slot->at = json_get_integer(message, "trial", 0);
        } else {
            slot->ending = status_find(json_get_string(message, "status", "")) == STATUS_CRASHED ||
                           json_get_bool(message, "restart", false);
            give_up_baseline(p, message);
            slot->at = 0;
            forget_head(slot);
            slot->stopped = 0;
            if (slot->queued) slot->deadline = now + slot->queue[0].timeout;
            event->kind = POOL_GPU_ANSWER;
            event->answer = json_incref(message);
            happened = true;
        }
    }
    json_decref(message);
    return happened;
}

static bool next_of_gpu(struct worker_pool *p, size_t i, double now, struct pool_event *event)
{
    struct gpu_slot *slot = &p->gpus[i];
    json_t *message;
    int got = 0;
    if (slot->state == GPU_DOWN) return false;
    while (!slot->ending && (got = worker_receive(&slot->worker, &message, &event->why)) > 0)
        if (take_gpu_message(p, i, message, now, event)) return true;
    if (got < 0) return lose_gpu(slot, event);
    if (slot->ending) {
        error_set(&event->why, "the worker ended, as it had announced");
        return lose_gpu(slot, event);
    }
    if (slot->dead) {
        event->why = slot->death;
        event->outside = worker_ended_from_outside(&slot->worker);
        return lose_gpu(slot, event);
    }
    if (now < slot->deadline || (slot->state == GPU_READY && !slot->queued)) return false;
    event->outside = slot->stopped >= WORKER_LONGEST_STOP;
    if (event->outside)
        error_set(&event->why, "worker '%s' was stopped from outside, and replaced after %d s", slot->name,
                  WORKER_LONGEST_STOP);
    else if (slot->state == GPU_READY)
        error_set(&event->why, "no answer within %.3g s: the kernel hangs, or the job's measure.timeout is too short",
                  slot->queue[0].timeout);
    else
        error_set(&event->why, "%s: not ready within %d s", slot->name, POOL_SETUP_TIMEOUT);
    event->late = true;
    return lose_gpu(slot, event);
}

static bool lose_compiler(struct compile_slot *slot, struct pool_event *event)
{
    event->kind = POOL_COMPILER_LOST;
    event->busy = slot->busy;
    worker_kill(&slot->worker);
    if (!slot->busy && ++slot->failed_starts >= MAX_FAILED_STARTS) {
        event->kind = POOL_FAILED;
        event->exit_status = EXIT_ENVIRONMENT;
    }
    slot->busy = slot->dead = false;
    return true;
}

static bool next_of_compiler(struct worker_pool *p, size_t i, double now, struct pool_event *event)
{
    struct compile_slot *slot = &p->compilers[i];
    json_t *message;
    int got;
    while ((got = worker_receive(&slot->worker, &message, &event->why)) > 0) {
        if (slot->busy && json_get_integer(message, "id", -1) == slot->id) {
            if (answer_check(slot->request, message, &event->why)) {
                json_decref(message);
                return lose_compiler(slot, event);
            }
            slot->busy = false;
            slot->failed_starts = 0;
            event->kind = POOL_COMPILER_ANSWER;
            event->answer = message;
            return true;
        }
        json_decref(message);
    }
    if (got < 0) return lose_compiler(slot, event);
    if (slot->dead) {
        event->why = slot->death;
        event->outside = worker_ended_from_outside(&slot->worker);
        return lose_compiler(slot, event);
    }
    if (!slot->busy || now < slot->deadline) return false;
    event->outside = slot->stopped >= WORKER_LONGEST_STOP;
    if (event->outside)
        error_set(&event->why, "worker '%s' was stopped from outside, and replaced after %d s", slot->name,
                  WORKER_LONGEST_STOP);
    else
        error_set(
            &event->why,
            "the compiler missed its deadline and was killed: raise the job's compile.timeout if it is too short");
    event->late = true;
    return lose_compiler(slot, event);
}

bool pool_next(struct worker_pool *p, double now, struct pool_event *event)
{
    *event = (struct pool_event){.exit_status = EXIT_DONE};
    look_for_stops(p, now);
    for (event->worker = 0; event->worker < p->gpu_count; event->worker++)
        if (next_of_gpu(p, event->worker, now, event)) return true;
    for (event->worker = 0; event->worker < p->compiler_count; event->worker++)
        if (next_of_compiler(p, event->worker, now, event)) return true;
    return false;
}

// Several requests at once -------------------------------------------------------------------------------------------

// Waits for compilers alone: answers of GPU workers are left for their callers.
static void wait_for_compilers(struct worker_pool *p, int milliseconds)
{
    struct pollfd *polled = memory_new(3 * p->compiler_count, sizeof *polled);
    int n = 0;
    for (size_t i = 0; i < p->compiler_count; i++) n += worker_poll(&p->compilers[i].worker, polled + n);
    if (poll(polled, (nfds_t)n, milliseconds) > 0) read_compilers(p);
    free(polled);
}

// Takes the compilers' answers; given[i] is the number of the request that compiler i has. A request whose compiler was
// ended from outside is sent once more.
static int take_answers(struct worker_pool *p, const size_t *given, json_t *const *requests, bool *again,
                        json_t **answers, size_t *left, size_t *which, double seconds, struct error *err)
{
    look_for_stops(p, clock_now());
    for (size_t i = 0; i < p->compiler_count; i++) {
        struct pool_event event = {0};
        if (!next_of_compiler(p, i, clock_now(), &event)) continue;
        if (event.kind == POOL_COMPILER_ANSWER) {
            answers[given[i]] = event.answer;
            --*left;
        } else if (event.outside && event.busy && !again[given[i]]) {
            again[given[i]] = true;
            *which = given[i];
            if (pool_send_compiler(p, i, json_incref(requests[given[i]]), seconds, err)) return -1;
        } else if (event.busy || event.kind == POOL_FAILED) {
            *which = given[i];
            *err = event.why;
            return -1;
        }
    }
    return 0;
}

int pool_ask_compilers(struct worker_pool *p, json_t *const *requests, size_t count, double seconds, json_t **answers,
                       size_t *which, struct error *err)
{
    size_t *given = memory_new(p->compiler_count, sizeof *given), sent = 0, left = count;
    bool *again = memory_new(count, sizeof *again);
    int failed = 0;
    memset(answers, 0, count * sizeof *answers);
    while (left && !failed) {
        for (size_t i = 0; i < p->compiler_count && sent < count && !failed; i++) {
            if (p->compilers[i].busy) continue;
            *which = given[i] = sent;
            failed = pool_send_compiler(p, i, json_incref(requests[sent++]), seconds, err);
        }
        if (!failed) wait_for_compilers(p, 100);
        if (!failed) failed = take_answers(p, given, requests, again, answers, &left, which, seconds, err);
        if (!failed && left && interrupt_count()) failed = error_set(err, "interrupted");
    }
    for (size_t i = 0; i < p->compiler_count && failed; i++)
        if (p->compilers[i].busy) pool_stop_compiler(p, i);
    for (size_t i = 0; i < count; i++) {
        json_decref(requests[i]);
        if (!failed) continue;
        json_decref(answers[i]);
        answers[i] = NULL;
    }
    free(again);
    free(given);
    return failed;
}
