// The documents of a run: those in the store (kinds "run", "workers", "device", "job"), and the live file next to it
// (live_status.h).
#include <unistd.h>

#include "tuner/base/clock.h"
#include "tuner/run/run.h"
#include "tuner/watch/live_status.h"

static const double write_every = 1;    // minimum s between two versions of the live file
static const double write_share = 0.02; // largest share of the driver's time that writing the live file may take

int run_put_document(struct run *r, const char *kind, json_t *document)
{
    struct error err;
    int failed = store_put_document(r->store, 0, kind, document, &err);
    if (failed) fatal_error_set(&r->failure, EXIT_ENVIRONMENT, &err);
    json_decref(document);
    return failed;
}

// The devices as the user named them: "device", "pool". New reference.
static json_t *given_devices(const struct run *r)
{
    const struct pool_request *pool = r->options->pool;
    autojson json_t *pools = json_array();
    json_t *given = json_object();
    if (!pool || r->pool.replay) json_object_set_new(given, "device", json_string(r->options->device));
    for (size_t i = 0; pool && i < pool->text_count; i++) json_array_append_new(pools, json_string(pool->texts[i]));
    if (pool) json_object_set(given, "pool", pools);
    return given;
}

// The greeting of the first GPU worker, and the options that other commands repeat in their advice.
static json_t *device_document(const struct run *r)
{
    json_t *document = json_copy(r->pool.first.hello), *given = given_devices(r);
    if (r->options->files.cache_given) json_object_set_new(given, "cache", json_string(r->options->files.cache));
    json_object_set_new(document, "given", given);
    return document;
}

int run_put_origin(struct run *r)
{
    // With this path, a store can be shown together with facts that are only in the job file.
    autofree char *path = realpath(r->job->path, NULL);
    const char *file = path ? path : r->job->path;
    int failed = run_put_document(r, "device", device_document(r));
    if (!failed && json_takes(file)) failed = run_put_document(r, "job", json_pack("{s:s}", "file", file));
    return failed;
}

json_t *run_document(struct run *r)
{
    const struct run_statistics *s = &r->statistics;
    autojson json_t *given = given_devices(r);
    json_t *document = json_pack(
        "{s:f, s:f, s:i, s:s, s:I, s:I, s:I, s:s, s:s?, s:f, s:f, s:f, s:I, s:f, s:f, s:f}", "started", s->started,
        "ended", clock_wall(), "pid", (int)getpid(), "strategy", r->search.strategy_class->name, "seed",
        (json_int_t)r->setup.seed, "evaluations", (json_int_t)run_evaluations(r), "new", (json_int_t)s->new_trials,
        "stopped_by", search_end_text(r->policy.end), "device", NULL, "search_seconds", clock_now() - s->search_started,
        "gpu_busy", s->gpu_busy, "compile_seconds", s->compile_seconds, "cache_hits", (json_int_t)s->cache_hits,
        "gpu_wall", s->gpu_wall, "count_wall", s->count_wall, "count_busy", s->count_busy);
    json_object_update(document, given);
    if (!r->pool.lockstep) json_object_set_new(document, "gpus", gpu_checks_document(&r->checks));
    if (r->checks.trial)
        json_object_set_new(document, "reference",
                            json_pack("{s:I, s:f}", "trial", (json_int_t)r->checks.trial, "gpu_wall", r->checks.wall));
    return document;
}

static void put_number(json_t *to, const char *key, double value)
{
    if (isfinite(value)) json_object_set_new(to, key, json_real(value));
}

static json_t *worker_json(const struct run *r, const char *name, const char *kind, size_t node,
                           const struct worker_usage *u, const char *disabled)
{
    const char *place = pool_node_name(&r->pool, node), *host = live_status_host();
    json_t *w = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I}", "name", name, "kind", kind, "node",
                          place ? place : host, "state", usage_state_text(u->state), "done", (json_int_t)u->done,
                          "failed", (json_int_t)u->failed, "restarts", (json_int_t)u->restarts);
    json_t *seconds = json_object();
    for (int s = 0; s < USAGE_STATES; s++)
        if (u->seconds[s] > 0) put_number(seconds, usage_state_text((enum usage_state)s), u->seconds[s]);
    json_object_set_new(w, "seconds", seconds);
    if (disabled) json_object_set_new(w, "reason", json_string(disabled));
    put_number(w, "busy", usage_share(u));
    return w;
}

static json_t *gpu_json(const struct run *r, size_t i)
{
    const struct pool_slot *slot = &r->pool.gpus[i];
    const struct worker_usage *u = &r->watch.gpus.list[i];
    json_t *w = worker_json(r, slot->name, "gpu", slot->node, u, pool_gpu_disabled(&r->pool, i));
    double since = usage_is_busy(u->state) ? r->policy.gpus[i].since : u->since;
    json_object_set_new(w, "for", json_real(fmax(0, u->seen - since)));
    json_object_set_new(w, "device", json_string(slot->device ? slot->device : ""));
    json_object_set_new(w, "uuid", json_string(slot->uuid ? slot->uuid : ""));
    put_number(w, "clock_mhz", u->clock_mhz);
    put_number(w, "temperature", u->temperature);
    put_number(w, "power", u->power);
    if (u->state == USAGE_MEASURING) {
        const struct policy_request *head = &r->policy.gpus[i].queue[0];
        const char *text = head->task_count ? ((const struct task *)head->tasks[0])->text : r->checks.reference.config;
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
        const struct pool_slot *slot = &r->pool.compilers[i];
        json_array_append_new(list, worker_json(r, slot->name, "compiler", slot->node, &r->watch.compilers.list[i],
                                                pool_compiler_disabled(&r->pool, i)));
    }
    return list;
}

static void add_workers(const struct run *r, json_t *to)
{
    const struct busy_figures figures = run_watch_figures(&r->watch);
    json_object_set_new(to, "busy", json_real(figures.gpus));
    json_object_set_new(to, "compilers_busy", json_real(figures.compilers));
    json_object_set_new(to, "driver_busy", json_real(figures.driver));
    json_object_set_new(to, "workers", workers_json(r));
}

static void look(struct run *r)
{
    r->watch.next_look = 0;
    run_watch_poll(&r->watch, clock_now());
}

json_t *run_workers_document(struct run *r)
{
    const double *seconds = r->watch.seconds;
    run_phase(r, r->watch.phase);
    look(r);
    json_t *document =
        json_pack("{s:f, s:f, s:s, s:{s:f, s:f, s:f}}", "started", r->statistics.started, "ended", clock_wall(), "host",
                  live_status_host(), "seconds", "setting_up", seconds[WATCH_SETTING_UP], "search",
                  seconds[WATCH_SEARCH], "final", seconds[WATCH_FINAL]);
    add_workers(r, document);
    return document;
}

double run_time_left(const struct run *r)
{
    double now = clock_now(), left = final_clock_left(&r->final.clock, now), search = r->options->search_time;
    if (search > 0) left = fmin(left, r->statistics.search_started + search - now);
    return fmax(left, 0);
}

// The time limit from the search's beginning to the end of the run, s; NaN: no limit.
static double limit_of_search(const struct run *r)
{
    double left = run_time_left(r);
    return isfinite(left) ? clock_now() - r->statistics.search_started + left : (double)NAN;
}

static json_t *live_document(struct run *r)
{
    static const char *const phases[WATCH_PHASES] = {"setting up", "search", "final"};
    double now = clock_now();
    bool searched = r->watch.phase != WATCH_SETTING_UP;
    json_t *document = live_status_begin(r->live.every);
    const struct tune_options *o = r->options;
    autojson json_t *begun = json_pack(
        "{s:s, s:s, s:s, s:f, s:s, s:f, s:f, s:f, s:o}", "job", r->job->name, "store", o->files.store_path, "device",
        r->pool.first.device_name, "started", r->statistics.started, "phase", phases[r->watch.phase], "phase_seconds",
        now - r->watch.phase_began, "search_seconds", searched ? now - r->statistics.search_started : 0.0, "time_limit",
        limit_of_search(r), "evaluations_limit", o->evaluations > 0 ? json_integer(o->evaluations) : NULL);
    autojson json_t *so_far = run_event_so_far(r);
    json_object_update(document, begun);
    json_object_update(document, so_far);
    json_object_del(document, "seconds");
    json_object_set_new(document, "best_config", json_string(r->search.incumbent.config));
    add_workers(r, document);
    return document;
}

static void write_live(struct run *r)
{
    struct live_file *live = &r->live;
    struct error err;
    double began = clock_now();
    autojson json_t *document = live_document(r);
    if (live_status_write(live->path, document, &err) && !live->failed) {
        live->failed = true;
        display_log(&r->display, "%s: the run continues, but 'status' elsewhere cannot follow it", err.message);
    }
    double now = clock_now();
    live->every = fmax(write_every, (now - began) / write_share);
    live->next = now + live->every;
}

void run_live_begin(struct run *r)
{
    r->live.path = live_status_path(r->options->files.store_path);
    r->live.every = write_every;
    look(r);
    write_live(r);
}

void run_live_end(struct run *r)
{
    if (r->live.path) unlink(r->live.path);
    free(r->live.path);
}

void run_live_look(struct run *r)
{
    double now = clock_now();
    run_watch_poll(&r->watch, now);
    if (r->live.path && now >= r->live.next) write_live(r);
}

void run_phase(struct run *r, enum watch_phase phase)
{
    run_watch_phase(&r->watch, phase);
    r->live.next = 0; // so that watchers see it immediately
}
