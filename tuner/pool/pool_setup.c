// Opening a pool, and the blocking questions of a run's set-up: see worker_pool.h.
#include <errno.h>
#include <unistd.h>

#include "tuner/base/clock.h"
#include "tuner/base/installation.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/protocol.h"
#include "tuner/pool/pool_slots.h"
#include "tuner/protocol/message.h"

// Reads a list such as "0,2" and adds one GPU worker for each device.
static int read_device_list(struct worker_pool *p, struct error *err)
{
    for (const char *at = p->settings.device;; at++) {
        char *end;
        errno = 0;
        long index = strtol(at, &end, 10);
        if (end == at || errno || index < 0 || (*end && *end != ','))
            return error_set(err,
                             "--device must be a number, a list such as 0,1, replay:FILE or, for tune, part of a GPU's "
                             "name, not '%s'",
                             p->settings.device);
        for (const char *before = p->settings.device; before < at; before = strchr(before, ',') + 1)
            if (strtol(before, NULL, 10) == index)
                return error_set(err, "--device has the GPU %ld twice: '%s'", index, p->settings.device);
        pool_add_gpu(p, POOL_HERE, text_format("gpu %ld", index), text_format("%ld", index));
        if (!*end) return 0;
        at = end;
    }
}

static int choose_programs(struct worker_pool *p, struct error *err)
{
    const char *device = p->settings.device;
    p->replay = !strncmp(device, "replay:", 7);
    p->lockstep = p->replay && !p->settings.nodes;
    if (!p->replay) {
        p->gpu_program = installation_worker("SWEETSPOT_GPU_WORKER", "sweetspot-gpu");
        p->compile_program = installation_worker("SWEETSPOT_COMPILE_WORKER", "sweetspot-compile");
        return 0;
    }
    p->replay_file = text_join_path(".", device + 7);
    p->gpu_program = installation_worker("SWEETSPOT_REPLAY_WORKER", "sweetspot-replay");
    p->compile_program = text_copy(p->gpu_program);
    return access(p->replay_file, R_OK) ? error_set(err, "cannot read '%s': %s", device + 7, strerror(errno)) : 0;
}

// Compilers on this machine: one per core, unless the settings give a number.
static int64_t count_compilers(const struct worker_pool *p)
{
    int64_t compilers = p->settings.compilers ? p->settings.compilers : installation_cores();
    return p->replay || compilers < 1 ? 1 : compilers;
}

static int choose_workers(struct worker_pool *p, struct error *err)
{
    if (choose_programs(p, err)) return -1;
    if (p->settings.nodes) return pool_nodes_open(p, err);
    if (p->replay)
        pool_add_gpu(p, POOL_HERE, text_copy("replay"), NULL);
    else if (read_device_list(p, err))
        return -1;
    for (int64_t i = 0, count = count_compilers(p); i < count; i++)
        pool_add_compiler(p, POOL_HERE, text_format("compiler %" PRId64, i));
    return 0;
}

// Gets a worker's hello, and refuses a worker from another build. A worker that dies meanwhile is restarted.
static json_t *greet(struct worker_pool *p, struct pool_slot *slot, struct error *err)
{
    struct worker *w = &slot->worker;
    json_t *hello = NULL;
    w->failure = WORKER_DIED;
    for (int i = 0; i < POOL_FAILED_STARTS && !hello && w->failure == WORKER_DIED;
         i += pool_start_weight(worker_ended_from_outside(w))) {
        if (!worker_running(w) && slot_start(p, slot, err)) return NULL;
        hello = slot->compiles ? worker_ask(w, pool_compiler_hello(p), POOL_HELLO_TIMEOUT, err)
                               : worker_wait(w, slot->setup_id, POOL_HELLO_TIMEOUT, err);
        if (!hello || !greeting_check(hello, err)) continue;
        error_prefix(err, "%s", slot->compiles ? p->compile_program : p->gpu_program);
        json_decref(hello);
        hello = NULL;
    }
    return hello;
}

static struct pool_slot *first_gpu(struct worker_pool *p)
{
    return &p->gpus[p->first_gpu];
}

static json_t *greet_compiler(struct worker_pool *p, struct error *err)
{
    autojson json_t *hello = greet(p, &p->compilers[p->first_compiler], err);
    if (!hello || !p->settings.nvcc || json_get_string(hello, "compiler", NULL)) return json_incref(hello);
    error_set(err, "the job is compiled by nvcc: %s", answer_reason(hello, "the compiler does not know it"));
    return NULL;
}

static size_t first_usable_gpu(const struct worker_pool *p)
{
    size_t i = 0;
    while (i < p->gpu_count && !pool_gpu_usable(p, i)) i++;
    return i;
}

static const char *no_device(const json_t *hello)
{
    return answer_reason(hello, "the GPU worker does not report its device");
}

// Finds the first compiler and the first GPU that answer, on nodes that are up.
static int meet_nodes(struct worker_pool *p, struct error *err)
{
    double since = 0;
    while (!p->first.hello) {
        struct error why;
        if (interrupt_count()) return error_set(err, "interrupted");
        pool_nodes_serve(p);
        size_t gpu = first_usable_gpu(p), compiler = pool_first_compiler(p);
        bool no_compiler = !p->first.compiler_hello && compiler == p->compiler_count;
        if (no_compiler || gpu == p->gpu_count) {
            if (pool_nodes_give_up(p, no_compiler ? "compiler" : "GPU", &since, err)) return -1;
            node_links_wait(&p->remote.links, NULL, 0, 200);
            continue;
        }
        since = 0;
        p->first_gpu = gpu;
        if (!p->first.compiler_hello) {
            size_t node = p->compilers[compiler].node;
            p->first_compiler = compiler;
            p->first.compiler_hello = greet_compiler(p, &why);
            if (p->first.compiler_hello) {
                p->first.compiler = json_get_string(p->first.compiler_hello, "compiler", "?");
                p->remote.nodes[node]->compilers = COMPILERS_GOOD;
            } else if (pool_node_is_up(p, node)) {
                pool_node_disable(p, node, why.message);
            }
            continue;
        }
        json_t *hello = greet(p, first_gpu(p), &why);
        if (json_object_get(hello, "device")) {
            if (!pool_gpu_differs(p, gpu, hello)) p->first.hello = hello;
        } else if (pool_node_is_up(p, p->gpus[gpu].node)) {
            pool_gpu_disable(p, gpu, hello ? no_device(hello) : why.message);
        }
        if (!p->first.hello) json_decref(hello);
    }
    return 0;
}

static int meet(struct worker_pool *p, struct error *err)
{
    if (p->settings.nodes) return meet_nodes(p, err);
    if (slot_start(p, &p->compilers[0], err) || slot_start(p, first_gpu(p), err)) return -1; // both start at once
    p->first.compiler_hello = greet_compiler(p, err);
    if (!p->first.compiler_hello) return -1;
    p->first.compiler = json_get_string(p->first.compiler_hello, "compiler", "?");
    p->first.hello = greet(p, first_gpu(p), err);
    if (!p->first.hello) return -1;
    if (json_object_get(p->first.hello, "device")) return 0;
    return error_set(err, "%s (`sweetspot doctor` shows what works here)", no_device(p->first.hello));
}

int pool_open(struct worker_pool *p, const struct pool_settings *settings, struct error *err)
{
    *p = (struct worker_pool){.settings = *settings};
    if (choose_workers(p, err)) return EXIT_USAGE;
    if (meet(p, err)) {
        const char *said = p->replay && !settings->nodes ? p->compilers[0].worker.words.last : "";
        if (*said) error_set(err, "%s", said); // the replay program ends if it cannot read the recording
        return *said ? EXIT_USAGE : EXIT_ENVIRONMENT;
    }
    const json_t *device = json_object_get(p->first.hello, "device");
    p->first.device_name = json_get_string(device, "name", "?");
    p->first.arch = json_get_string(device, "arch", "?");
    p->first.driver = json_get_string(device, "driver", "");
    const json_t *counters = json_object_get(p->first.hello, "counters");
    if (!json_get_bool(counters, "available", false))
        p->first.no_counters = json_get_string(counters, "reason", "unknown reason");
    p->recorded = json_object_get(p->first.hello, "recorded");
    p->recording = json_object_get(p->first.hello, "recording");
    slot_set_uuid(first_gpu(p), device);
    p->first.limits = device_limits_h200;
    if (device_limits_read(device, &p->first.limits, err)) return EXIT_ENVIRONMENT;
    p->first.memory = json_get_integer(device, "memory_free", p->first.limits.memory_bytes);
    pool_node_count_gpus(p, p->first_gpu, p->first.hello);
    return 0;
}

int pool_refresh(struct worker_pool *p, struct error *err)
{
    json_t *request = json_pack("{s:s, s:b}", "op", "hello", "counters", (int)p->settings.counters);
    autojson json_t *hello = worker_ask(&first_gpu(p)->worker, request, POOL_HELLO_TIMEOUT, err);
    p->first.memory = json_get_integer(json_object_get(hello, "device"), "memory_free", p->first.memory);
    return hello ? 0 : -1;
}

void pool_open_compilers(struct worker_pool *p)
{
    *p = (struct worker_pool){.compile_program = installation_worker("SWEETSPOT_COMPILE_WORKER", "sweetspot-compile")};
    for (int64_t i = count_compilers(p); i > 0; i--) pool_add_compiler(p, POOL_HERE, text_copy("compiler"));
}

void pool_stop(struct worker_pool *p, double seconds)
{
    for (size_t i = 0; i < p->gpu_count; i++) worker_stop(&p->gpus[i].worker, seconds);
}

void pool_release(struct worker_pool *p)
{
    pool_release_slots(p);
    pool_nodes_release(p);
    free(p->replay_file);
    free(p->gpu_program);
    free(p->compile_program);
    json_decref(p->first.hello);
    json_decref(p->first.compiler_hello);
    json_decref(p->job_request);
    *p = (struct worker_pool){0};
}

// Questions ----------------------------------------------------------------------------------------------------------

json_t *pool_ask_compiler(struct worker_pool *p, json_t *request, double seconds, struct error *err)
{
    return worker_ask(&p->compilers[p->first_compiler].worker, request, seconds, err);
}

json_t *pool_ask_gpu(struct worker_pool *p, json_t *request, double seconds, struct error *err)
{
    return worker_ask(&first_gpu(p)->worker, request, seconds, err);
}

struct question {
    json_t *request, *answer;
    bool sent;
    int ended; // how often its compiler was killed from outside
};

// Handles the compilers' answers. A request is sent again if its compiler was killed from outside (up to ENDED_MOST
// times) or its node was lost (without limit).
static int take_answers(struct worker_pool *p, struct question *questions, size_t *left, size_t *which,
                        struct error *err)
{
    pool_poll_stops(p, clock_now());
    for (size_t i = 0; i < p->compiler_count; i++) {
        struct pool_event event = {0};
        struct question *q = &questions[p->compilers[i].compiler.question];
        if (!pool_next_of(p, &p->compilers[i], clock_now(), &event)) continue;
        if (event.kind == POOL_COMPILER_ANSWER) {
            q->answer = event.answer;
            --*left;
        } else if (event.busy && (event.node || (event.outside && q->ended++ < ENDED_MOST))) {
            q->sent = false;
        } else if (event.busy || event.kind == POOL_FAILED) {
            *which = (size_t)(q - questions);
            *err = event.why;
            return -1;
        }
    }
    return 0;
}

static int send_next(struct worker_pool *p, size_t compiler, struct question *questions, size_t count, double seconds,
                     size_t *which, struct error *err)
{
    struct pool_slot *slot = &p->compilers[compiler];
    size_t next = 0;
    while (next < count && questions[next].sent) next++;
    if (next == count || slot->queued || !pool_compiler_usable(p, compiler)) return 0;
    *which = slot->compiler.question = next;
    questions[next].sent = true;
    if (!pool_send_compiler(p, compiler, json_incref(questions[next].request), seconds, err)) return 0;
    if (slot->node == POOL_HERE) return -1;
    questions[next].sent = false; // its node is lost
    return 0;
}

int pool_ask_compilers(struct worker_pool *p, json_t *const *requests, size_t count, double seconds, json_t **answers,
                       size_t *which, struct error *err)
{
    autofree struct question *questions = memory_new(count, sizeof *questions);
    size_t left = count;
    double alone = 0;
    int failed = 0;
    for (size_t i = 0; i < count; i++) questions[i].request = requests[i];
    while (left && !failed) {
        for (size_t i = 0; i < p->compiler_count && !failed; i++)
            failed = send_next(p, i, questions, count, seconds, which, err);
        if (!failed) pool_wait(p, false, 100); // slots may be added
        if (!failed) failed = take_answers(p, questions, &left, which, err);
        if (pool_has_compiler(p)) alone = 0;
        if (!failed && left && p->remote.node_count)
            failed =
                pool_has_compiler(p) ? pool_nodes_unusable(p, err) : pool_nodes_give_up(p, "compiler", &alone, err);
        if (!failed && left && interrupt_count()) failed = error_set(err, "interrupted");
    }
    for (size_t i = 0; i < p->compiler_count && failed; i++)
        if (p->compilers[i].queued) slot_stop(&p->compilers[i]);
    for (size_t i = 0; i < count; i++) {
        json_decref(requests[i]);
        answers[i] = failed ? NULL : questions[i].answer;
        if (failed) json_decref(questions[i].answer);
    }
    return failed;
}

// If the first GPU's node is lost, another GPU takes its place.
static int find_first_gpu(struct worker_pool *p, struct error *err)
{
    double since = 0;
    if (pool_gpu_usable(p, p->first_gpu)) return 0;
    for (;;) {
        pool_nodes_serve(p);
        p->first_gpu = first_usable_gpu(p);
        if (p->first_gpu < p->gpu_count) return 0;
        p->first_gpu = 0;
        if (interrupt_count()) return error_set(err, "interrupted");
        if (pool_nodes_give_up(p, "GPU", &since, err)) return -1;
        node_links_wait(&p->remote.links, NULL, 0, 200);
    }
}

// Hands the job to the first GPU worker. If the worker dies meanwhile, it is restarted.
static int set_up(struct worker_pool *p, json_t **answer, struct error *err)
{
    struct pool_slot *slot = NULL;
    *answer = NULL;
    for (int failed = 0; failed < POOL_FAILED_STARTS && !*answer;) {
        if (find_first_gpu(p, err)) return EXIT_ENVIRONMENT;
        slot = first_gpu(p);
        autojson json_t *hello = worker_running(&slot->worker) ? NULL : greet(p, first_gpu(p), err);
        if (!hello && !worker_running(&slot->worker) && slot->node == POOL_HERE) return EXIT_ENVIRONMENT;
        bool other = hello && pool_gpu_differs(p, p->first_gpu, hello);
        if (hello && !other) slot_set_uuid(slot, json_object_get(hello, "device"));
        if (!other && pool_gpu_refuses_job(p, p->first_gpu)) continue; // this is not a failed start
        failed += other || !worker_running(&slot->worker) ? pool_start_weight(false) : 0;
        if (other || !worker_running(&slot->worker)) continue;
        *answer = pool_ask_gpu(p, json_deep_copy(p->job_request), POOL_SETUP_TIMEOUT, err);
        if (*answer && pool_give_up_baseline(p, *answer)) {
            worker_kill(&slot->worker);
            json_decref(*answer);
            *answer = NULL;
            continue;
        }
        if (!*answer && slot->worker.failure != WORKER_DIED) break;
        failed += pool_start_weight(worker_ended_from_outside(&slot->worker));
    }
    if (!*answer) return EXIT_ENVIRONMENT;
    if (answer_status(*answer) != STATUS_OK) return pool_refusal(*answer, err);
    pool_keep_libraries(p, *answer);
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
    autojson json_t *answer = NULL;
    worker_kill(&first_gpu(p)->worker);
    return set_up(p, &answer, err);
}
