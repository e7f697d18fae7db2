// See run_watch.h.
#include "tuner/run/run_watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/clock.h"
#include "tuner/base/memory.h"
#include "tuner/base/text.h"
#include "tuner/run/run.h"
#include "tuner/watch/live_status.h"

static const double poll_every = 1;     // s
static const double write_share = 0.02; // of the driver's time, at most, for the live file
static const double least_search = 2;   // s: a shorter search is nothing but its beginning and its end

void run_watch_init(struct run *r)
{
    r->watch.every = poll_every;
    r->watch.phase_began = clock_now();
}

void run_watch_release(struct run *r)
{
    if (r->watch.path) live_status_remove(r->watch.path);
    free(r->watch.path);
    free(r->watch.gpus.list);
    free(r->watch.compilers.list);
    r->watch = (struct run_watch){0};
}

// Shares -------------------------------------------------------------------------------------------------------------

static void account(struct run *r, double now)
{
    struct busy_shares *s = &r->watch.shares;
    const struct watched_workers *gpus = &r->watch.gpus, *compilers = &r->watch.compilers;
    double seconds = now - s->at;
    if (r->watch.phase != WATCH_SEARCH || !(seconds > 0)) return;
    s->at = now;
    s->seconds += seconds;
    s->gpus += seconds * (double)gpus->count;
    s->measuring += seconds * (double)gpus->in[USAGE_MEASURING];
    s->compilers += seconds * (double)(compilers->in[USAGE_IDLE] + compilers->in[USAGE_COMPILING]);
    s->compiling += seconds * (double)compilers->in[USAGE_COMPILING];
    if (!r->watch.waits) s->driver += seconds;
}

void run_watch_waits(struct run *r, bool waits)
{
    if (waits == r->watch.waits) return;
    account(r, clock_now());
    r->watch.waits = waits;
}

static double share_of(double part, double whole)
{
    return whole > 0 ? fmin(1, fmax(0, part) / whole) : (double)NAN;
}

static double gpu_share(const struct busy_shares *s)
{
    return share_of(s->measuring - fmax(0, s->pending_answers), s->gpus);
}

void run_watch_phase(struct run *r, enum watch_phase phase)
{
    double now = clock_now();
    account(r, now);
    r->watch.seconds[r->watch.phase] += now - r->watch.phase_began;
    r->watch.phase_began = now;
    if (phase == WATCH_SEARCH && r->watch.phase != phase) r->watch.shares = (struct busy_shares){.at = now};
    r->watch.phase = phase;
    r->watch.next_look = r->watch.next_write = 0; // who watches sees it at once
}

// Workers ------------------------------------------------------------------------------------------------------------

static enum usage_state state_of_gpu(const struct run *r, size_t i)
{
    static const enum usage_state by_request[] = {
        [REQUEST_NONE] = USAGE_IDLE,   [REQUEST_TRIAL] = USAGE_MEASURING, [REQUEST_COUNT] = USAGE_COUNTING,
        [REQUEST_FINAL] = USAGE_FINAL, [REQUEST_CHECK] = USAGE_MEASURING,
    };
    const struct gpu_slot *slot = &r->pool.gpus[i];
    if (pool_gpu_aside(&r->pool, i)) return USAGE_ASIDE;
    if (!pool_gpu_usable(&r->pool, i)) return USAGE_LOST;
    if (slot->state == GPU_JOB) return USAGE_SETTING_UP;
    if (slot->state != GPU_READY) return USAGE_STARTING;
    if (i >= r->policy.settings.gpus || !r->policy.gpus[i].queued) return USAGE_IDLE;
    return by_request[r->policy.gpus[i].queue[0].kind];
}

static enum usage_state state_of_compiler(const struct run *r, size_t i)
{
    const struct compile_slot *slot = &r->pool.compilers[i];
    if (pool_compiler_aside(&r->pool, i)) return USAGE_ASIDE;
    if (!pool_node_is_up(&r->pool, slot->node)) return USAGE_LOST;
    if (slot->greeting || !pool_compiler_usable(&r->pool, i)) return USAGE_STARTING;
    return slot->busy ? USAGE_COMPILING : USAGE_IDLE;
}

static void grow(struct watched_workers *w, size_t count, double now)
{
    if (count <= w->count) return;
    w->list = memory_grow(w->list, count, sizeof *w->list);
    for (; w->count < count; w->count++) {
        usage_init(&w->list[w->count], now);
        w->in[USAGE_STARTING]++;
    }
}

static void enter(struct run *r, struct watched_workers *w, size_t i, enum usage_state state, double now)
{
    struct worker_usage *u = &w->list[i];
    if (state != u->state) {
        account(r, now);
        w->in[u->state]--;
        w->in[state]++;
    }
    usage_enter(u, state, now);
}

void run_watch_gpu(struct run *r, size_t gpu)
{
    double now = clock_now();
    grow(&r->watch.gpus, r->pool.gpu_count, now);
    enter(r, &r->watch.gpus, gpu, state_of_gpu(r, gpu), now);
}

void run_watch_compiler(struct run *r, size_t compiler)
{
    double now = clock_now();
    grow(&r->watch.compilers, r->pool.compiler_count, now);
    enter(r, &r->watch.compilers, compiler, state_of_compiler(r, compiler), now);
}

static void look(struct run *r, double now)
{
    struct run_watch *w = &r->watch;
    account(r, now);
    grow(&w->gpus, r->pool.gpu_count, now);
    grow(&w->compilers, r->pool.compiler_count, now);
    for (size_t i = 0; i < w->gpus.count; i++) enter(r, &w->gpus, i, state_of_gpu(r, i), now);
    for (size_t i = 0; i < w->compilers.count; i++) enter(r, &w->compilers, i, state_of_compiler(r, i), now);
    w->next_look = now + poll_every;
}

void run_watch_answered(struct run *r, size_t gpu, double took)
{
    double now = clock_now(), seen = now - r->policy.gpus[gpu].since;
    if (r->watch.phase != WATCH_SEARCH || state_of_gpu(r, gpu) != USAGE_MEASURING || !isfinite(took)) return;
    r->watch.shares.pending_answers += seen - took;
    grow(&r->watch.gpus, r->pool.gpu_count, now);
    enter(r, &r->watch.gpus, gpu, USAGE_MEASURING, now);
    usage_pending_answers(&r->watch.gpus.list[gpu], seen - took);
}

void run_watch_measured(struct run *r, size_t gpu, bool failed, const struct trial_answer *answer)
{
    double power = NAN;
    grow(&r->watch.gpus, r->pool.gpu_count, clock_now());
    struct worker_usage *u = &r->watch.gpus.list[gpu];
    u->done++;
    u->failed += failed;
    if (!answer) return;
    if (isfinite(answer->figures.clock_mhz)) u->clock_mhz = answer->figures.clock_mhz;
    if (isfinite(answer->figures.temperature)) u->temperature = answer->figures.temperature;
    for (size_t p = 0; p < answer->problem_count; p++) power = fmax(power, answer->problems[p].figures.power);
    if (isfinite(power)) u->power = power;
}

void run_watch_compiled(struct run *r, size_t compiler, bool failed)
{
    grow(&r->watch.compilers, r->pool.compiler_count, clock_now());
    r->watch.compilers.list[compiler].done++;
    r->watch.compilers.list[compiler].failed += failed;
}

// What is told of them -----------------------------------------------------------------------------------------------

static void put_number(json_t *to, const char *key, double value)
{
    if (isfinite(value)) json_object_set_new(to, key, json_real(value));
}

static json_t *worker_json(const struct run *r, const char *name, const char *kind, size_t node,
                           const struct worker_usage *u, const char *aside)
{
    const char *place = pool_node_name(&r->pool, node), *host = live_status_host();
    json_t *w = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I}", "name", name, "kind", kind, "node",
                          place ? place : host, "state", usage_state_text(u->state), "done", (json_int_t)u->done,
                          "failed", (json_int_t)u->failed, "restarts", (json_int_t)u->restarts);
    json_t *seconds = json_object();
    for (int s = 0; s < USAGE_STATES; s++)
        if (u->seconds[s] > 0) put_number(seconds, usage_state_text((enum usage_state)s), u->seconds[s]);
    json_object_set_new(w, "seconds", seconds);
    if (aside) json_object_set_new(w, "reason", json_text(aside, strlen(aside)));
    put_number(w, "busy", usage_share(u));
    put_number(w, "busy_minute", usage_minute_share(u));
    return w;
}

static json_t *gpu_json(const struct run *r, size_t i)
{
    const struct gpu_slot *slot = &r->pool.gpus[i];
    const struct worker_usage *u = &r->watch.gpus.list[i];
    json_t *w = worker_json(r, slot->name, "gpu", slot->node, u, pool_gpu_aside(&r->pool, i));
    double since = usage_is_busy(u->state) ? r->policy.gpus[i].since : u->since;
    json_object_set_new(w, "for", json_real(fmax(0, u->seen - since)));
    json_object_set_new(w, "device", json_string(slot->device ? slot->device : ""));
    json_object_set_new(w, "uuid", json_string(slot->uuid ? slot->uuid : ""));
    put_number(w, "clock_mhz", u->clock_mhz);
    put_number(w, "temperature", u->temperature);
    put_number(w, "power", u->power);
    if (u->state == USAGE_MEASURING) {
        const struct policy_request *head = &r->policy.gpus[i].queue[0];
        const char *text = head->task_count ? ((const struct task *)head->tasks[0])->text : r->checks.config;
        if (text) json_object_set_new(w, "config", json_string(text));
    }
    if (slot->at && usage_is_busy(u->state)) json_object_set_new(w, "trial", json_integer((json_int_t)slot->at));
    return w;
}

static json_t *workers_json(const struct run *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->watch.gpus.count; i++) json_array_append_new(list, gpu_json(r, i));
    for (size_t i = 0; i < r->watch.compilers.count; i++) {
        const struct compile_slot *slot = &r->pool.compilers[i];
        json_array_append_new(list, worker_json(r, slot->name, "compiler", slot->node, &r->watch.compilers.list[i],
                                                pool_compiler_aside(&r->pool, i)));
    }
    return list;
}

static void add_shares(const struct busy_shares *s, json_t *to)
{
    json_object_set_new(to, "busy", json_real_or_null(gpu_share(s)));
    json_object_set_new(to, "compilers_busy", json_real_or_null(share_of(s->compiling, s->compilers)));
    json_object_set_new(to, "driver_busy", json_real_or_null(share_of(s->driver, s->seconds)));
}

json_t *run_watch_document(struct run *r)
{
    struct run_watch *w = &r->watch;
    run_watch_phase(r, w->phase);
    look(r, clock_now());
    json_t *document =
        json_pack("{s:f, s:f, s:s, s:{s:f, s:f, s:f}}", "started", r->statistics.started, "ended", clock_wall(), "host",
                  live_status_host(), "seconds", "setting_up", w->seconds[WATCH_SETTING_UP], "search",
                  w->seconds[WATCH_SEARCH], "final", w->seconds[WATCH_FINAL]);
    add_shares(&w->shares, document);
    json_object_set_new(document, "workers", workers_json(r));
    return document;
}

static json_t *live_document(struct run *r, double every)
{
    static const char *const phases[WATCH_PHASES] = {"setting up", "search", "final"};
    double now = clock_now();
    bool searched = r->watch.phase != WATCH_SETTING_UP;
    json_t *document = live_status_begin(every);
    const struct {
        const char *key;
        json_t *value;
    } members[] = {
        {"job", json_string(r->job->name)},
        {"store", json_text(r->options->store_path, strlen(r->options->store_path))},
        {"device", json_string(r->pool.device_name)},
        {"started", json_real(r->statistics.started)},
        {"phase", json_string(phases[r->watch.phase])},
        {"phase_seconds", json_real(now - r->watch.phase_began)},
        {"search_seconds", json_real(searched ? now - r->statistics.search_started : 0)},
        {"time_limit", r->options->time > 0 ? json_real(r->options->time) : json_null()},
        {"evaluations_limit", r->options->evaluations > 0 ? json_integer(r->options->evaluations) : json_null()},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        json_object_set_new(document, members[i].key, members[i].value);
    json_t *so_far = run_event_so_far(r);
    json_object_update(document, so_far);
    json_object_del(document, "seconds");
    json_decref(so_far);
    json_object_set_new(document, "best_config", r->incumbent.config ? json_string(r->incumbent.config) : json_null());
    add_shares(&r->watch.shares, document);
    json_object_set_new(document, "workers", workers_json(r));
    return document;
}

static void write_live(struct run *r)
{
    struct error err;
    double began = clock_now();
    json_t *document = live_document(r, r->watch.every);
    if (live_status_write(r->watch.path, document, &err) && !r->watch.failed) {
        r->watch.failed = true;
        display_log(&r->display, "%s: the run goes on, but 'status' elsewhere cannot follow it", err.message);
    }
    json_decref(document);
    double now = clock_now();
    r->watch.every = fmax(poll_every, (now - began) / write_share);
    r->watch.next_write = now + r->watch.every;
}

void run_watch_publish(struct run *r)
{
    r->watch.path = live_status_path(r->options->store_path);
    look(r, clock_now());
    write_live(r);
}

void run_watch_poll(struct run *r)
{
    double now = clock_now();
    if (now >= r->watch.next_look) look(r, now);
    if (r->watch.path && now >= r->watch.next_write) write_live(r);
}

void run_watch_report(struct run *r)
{
    const struct busy_shares *s = &r->watch.shares;
    look(r, clock_now());
    double compilers = share_of(s->compiling, s->compilers);
    if (r->pool.lockstep || s->seconds < least_search) return; // in lockstep one thing follows the other
    display_message(
        &r->display, "GPUs were busy with candidates %.0f%% of the time, compilers %.0f%%, the driver %.0f%%",
        100 * gpu_share(s), isfinite(compilers) ? 100 * compilers : 0, 100 * share_of(s->driver, s->seconds));
}
