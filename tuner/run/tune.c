// The loop of a run. One thread, one poll(2): workers' pipes are the only events. See run.h for the states of a task,
// request.c and protocol.h for what is said to the workers.
#include "tuner/run/tune.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tuner/base/clock.h"
#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/run/interrupt.h"
#include "tuner/run/run.h"

static size_t outstanding(const struct run *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->task_count; i++)
        n += r->tasks[i]->purpose == TASK_TRIAL && r->tasks[i]->state <= TASK_ON_GPU;
    return n;
}

// As many as keep every compiler busy, also for the second in which the GPU counts a batch, and leave compiled
// candidates to choose from.
static size_t window(const struct run *r)
{
    return r->lockstep ? RUN_LOCKSTEP_WINDOW : 2 * r->compile_count + 8 * r->gpu_count;
}

static void end_asking(struct run *r, const char *why)
{
    if (r->ask_ended) return;
    r->ask_ended = true;
    r->stopped_by = why;
    run_log(r, "search ends: %s", why);
}

// What has not reached the GPU is forgotten: it was never committed, and will be proposed again.
static void drop_unmeasured(struct run *r)
{
    for (size_t i = r->task_count; i-- > 0;) {
        struct task *t = r->tasks[i];
        if (t->purpose == TASK_TRIAL && (t->state == TASK_QUEUED || t->state == TASK_READY)) run_drop_task(r, t);
    }
    for (size_t i = 0; i < r->compile_count; i++) {
        struct compile_slot *slot = &r->compilers[i];
        if (!slot->task || slot->task->purpose != TASK_TRIAL) continue;
        run_drop_task(r, slot->task);
        slot->task = NULL;
        worker_kill(&slot->worker);
    }
}

static void check_budget(struct run *r)
{
    if (r->ask_ended) return;
    if (interrupt_count()) {
        end_asking(r, "interrupted");
        drop_unmeasured(r);
    } else if (r->options->time > 0 && clock_now() - r->search_started >= r->options->time) {
        end_asking(r, "time is up");
        drop_unmeasured(r);
    } else if (stop_reason(&r->stop)) {
        end_asking(r, stop_reason(&r->stop));
        drop_unmeasured(r);
    }
}

static bool under_way(const struct run *r, const uint16_t *config)
{
    size_t bytes = space_parameter_count(r->job->space) * sizeof *config;
    for (size_t i = 0; i < r->task_count; i++)
        if (r->tasks[i]->purpose == TASK_TRIAL && r->tasks[i]->state <= TASK_ON_GPU &&
            !memcmp(r->tasks[i]->config, config, bytes))
            return true;
    return false;
}

static void ask(struct run *r)
{
    while (!r->ask_ended && !r->fatal && outstanding(r) < window(r)) {
        uint16_t config[SPACE_MAX_PARAMETERS];
        if (r->options->evaluations && r->evaluations + (int64_t)outstanding(r) >= r->options->evaluations) {
            if (!outstanding(r)) end_asking(r, "evaluations are used up");
            return;
        }
        if (r->start_next < r->start_count) {
            memcpy(config, r->starts[r->start_next++], sizeof config);
            if (strategy_seen(r->strategy, config)) continue;
        } else if (!strategy_ask(r->strategy, config)) {
            if (!outstanding(r))
                end_asking(r, strategy_exhausted(r->strategy) ? "the strategy has nothing more to propose"
                                                              : "no proposals");
            return;
        }
        if (under_way(r, config)) continue; // a start that the strategy now proposes: its result is told all the same
        struct task *t = run_add_task(r, config, TASK_TRIAL);
        struct trial trial;
        struct error err;
        int found = store_find(r->store, t->text, &trial, &err);
        if (found < 0) run_fail(r, EXIT_ENVIRONMENT, &err);
        t->known = !found; // measured in an earlier run
    }
}

static void wait_and_handle(struct run *r, int timeout_ms)
{
    struct pollfd *p = memory_new(3 * (r->gpu_count + r->compile_count), sizeof *p);
    int n = 0;
    for (size_t i = 0; i < r->gpu_count; i++) n += worker_poll(&r->gpus[i].worker, p + n);
    for (size_t i = 0; i < r->compile_count; i++) n += worker_poll(&r->compilers[i].worker, p + n);
    int events = poll(p, (nfds_t)n, timeout_ms);
    free(p);
    if (events <= 0) return;
    for (size_t i = 0; i < r->gpu_count; i++) {
        struct gpu_slot *slot = &r->gpus[i];
        struct error err;
        if (!worker_running(&slot->worker)) continue;
        int dead = worker_io(&slot->worker, &err);
        run_handle_gpu(r, slot);
        if (dead && slot->state != GPU_DOWN) run_gpu_died(r, slot, err.message, STATUS_CRASHED);
    }
    for (size_t i = 0; i < r->compile_count; i++) {
        struct compile_slot *slot = &r->compilers[i];
        struct error err;
        if (!worker_running(&slot->worker)) continue;
        int dead = worker_io(&slot->worker, &err);
        run_handle_compiler(r, slot);
        if (dead) run_compiler_died(r, slot, err.message);
    }
}

// Nothing is under way, so nothing would wake poll: there is something to do at once.
static bool nothing_under_way(const struct run *r)
{
    for (size_t i = 0; i < r->gpu_count; i++)
        if (r->gpus[i].queued || r->gpus[i].state != GPU_READY) return false;
    return !run_count_tasks(r, TASK_COMPILING);
}

static void step(struct run *r)
{
    if (run_dispatch_compilers(r)) return;
    run_dispatch_gpus(r);
    wait_and_handle(r, nothing_under_way(r) ? 0 : 200);
    double now = clock_now();
    run_check_gpu_deadlines(r, now);
    run_check_compile_deadlines(r, now);
    run_progress(r, false);
}

static void search(struct run *r)
{
    r->search_started = clock_now();
    while (!r->fatal && interrupt_count() < 2) {
        check_budget(r);
        ask(r);
        bool interrupted = interrupt_count() > 0;
        if (r->ask_ended && !outstanding(r) && (interrupted || (!r->task_count && run_gpus_idle(r)))) break;
        step(r);
    }
}

static void final(struct run *r)
{
    int candidates = run_final_begin(r);
    if (!candidates) return;
    bool sent = false;
    while (!r->fatal && !interrupt_count() && !r->final_answer && !r->final_failed) {
        struct gpu_slot *slot = &r->gpus[0];
        bool compiled = !run_count_tasks(r, TASK_QUEUED) && !run_count_tasks(r, TASK_COMPILING);
        if (compiled && !sent && slot->state == GPU_READY && !slot->queued) {
            if (!run_count_tasks(r, TASK_FINAL)) break;
            run_final_send(r, slot);
            sent = true;
        }
        step(r);
    }
    if (r->final_answer)
        run_final_finish(r);
    else if (r->final_failed)
        run_message(r, "the final ended the GPU worker (the log says how); there is no decided winner yet");
    while (r->task_count) run_drop_task(r, r->tasks[r->task_count - 1]);
}

static void put_run(struct run *r)
{
    json_t *document =
        json_pack("{s:f, s:f, s:i, s:s, s:I, s:I, s:I, s:s, s:s, s:f, s:f, s:f, s:I}", "started", r->started, "ended",
                  (double)time(NULL), "pid", (int)getpid(), "strategy", r->strategy_class->name, "seed",
                  (json_int_t)r->seed, "evaluations", (json_int_t)r->evaluations, "new", (json_int_t)r->new_trials,
                  "stopped_by", r->stopped_by ? r->stopped_by : "", "device", r->options->device, "search_seconds",
                  clock_now() - r->search_started, "gpu_busy", r->gpu_busy, "compile_seconds", r->compile_seconds,
                  "cache_hits", (json_int_t)r->cache_hits);
    json_object_set_new(document, "gpu_wall", json_real(r->gpu_wall));
    json_object_set_new(document, "count_wall", json_real(r->count_wall));
    json_object_set_new(document, "count_busy", json_real(r->count_busy));
    char *text = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(17));
    struct error err;
    if (store_put_document(r->store, "run", text, &err)) run_fail(r, EXIT_ENVIRONMENT, &err);
    free(text);
    json_decref(document);
}

static void report(struct run *r)
{
    double seconds = clock_now() - r->search_started;
    char shown[32];
    char busy[64] = "";
    if (!r->replay)
        snprintf(busy, sizeof busy, "; GPU executing %.0f%% of the time",
                 100 * (r->gpu_busy + r->count_busy) / seconds);
    run_message(
        r, "%" PRId64 " new trials in %s (%.1f a second), %" PRId64 " in all%s; %" PRId64 " from the compile cache",
        r->new_trials, text_show_duration(seconds, shown, sizeof shown), (double)r->new_trials / seconds,
        r->evaluations, busy, r->cache_hits);
    for (int s = 0; s < STATUS_COUNT; s++)
        if (r->counts[s]) run_log(r, "%s: %" PRId64, status_name((enum trial_status)s), r->counts[s]);
}

static int finish(struct run *r)
{
    const char *path = r->job->path;
    if (r->fatal) {
        run_message(r, "sweetspot: %s", r->failure.message);
        if (r->store && r->new_trials)
            fprintf(stderr, "%" PRId64 " finished trials are kept in %s\n", r->new_trials, r->options->store_path);
        return r->fatal_status;
    }
    if (interrupt_count()) {
        char shown[32];
        if (isfinite(r->best))
            fprintf(stderr, "best so far %s: %s\n", text_show_duration(r->best, shown, sizeof shown), r->best_text);
        fprintf(stderr, "stopped; everything finished is in %s. To go on: sweetspot tune %s%s%s%s%s\n",
                r->options->store_path, path, strcmp(r->options->device, "0") ? " --device " : "",
                strcmp(r->options->device, "0") ? r->options->device : "", r->options->store_given ? " --store " : "",
                r->options->store_given ? r->options->store_path : "");
    }
    if (!isfinite(r->best)) {
        fprintf(stderr, "no valid result: ");
        for (int s = 0; s < STATUS_COUNT; s++)
            if (r->counts[s]) fprintf(stderr, "%s %" PRId64 "  ", status_name((enum trial_status)s), r->counts[s]);
        fprintf(stderr, "(reasons: %s)\n", r->options->log_path);
        return EXIT_NOTHING;
    }
    return r->final_failed ? EXIT_NOTHING : EXIT_DONE;
}

static void tell_outcome(const struct run *r, uint64_t before, struct tune_outcome *out)
{
    const struct stop *s = &r->stop;
    *out = (struct tune_outcome){.best = r->best,
                                 .baseline = r->baseline,
                                 .evaluations = r->evaluations,
                                 .seconds = clock_now() - r->search_started};
    snprintf(out->best_config, sizeof out->best_config, "%s", r->best_text);
    snprintf(out->baseline_name, sizeof out->baseline_name, "%s", r->baseline_name);
    out->exhausted =
        r->ask_ended && r->stopped_by && strcmp(r->stopped_by, "time is up") && strcmp(r->stopped_by, "interrupted");
    uint64_t half = before + (s->evaluations - before) / 2;
    if (s->evaluations < before + 2) return;
    double then = half ? s->trace[half - 1] : INFINITY, now = s->trace[s->evaluations - 1];
    out->gain =
        isfinite(now) && out->seconds > 0 ? fmin(isfinite(then) ? log(then / now) : 1, 1) / (0.5 * out->seconds) : 0;
}

int tune(struct job *job, const struct tune_options *options, struct tune_outcome *outcome)
{
    struct run *r = memory_new(1, sizeof *r);
    if (outcome) *outcome = (struct tune_outcome){.best = INFINITY, .baseline = NAN};
    r->job = job;
    r->options = options;
    r->best = INFINITY;
    for (size_t p = 0; p < JOB_MAX_PROBLEMS; p++) r->best_times[p] = INFINITY;
    r->baseline = NAN;
    r->started = (double)time(NULL);
    r->search_started = clock_now();
    r->terminal = isatty(STDERR_FILENO);
    for (size_t i = 0; i < RUN_MAX_GPUS; i++) r->gpus[i].worker = (struct worker){.to = -1, .from = -1, .errors = -1};
    r->log = fopen(options->log_path, "a");
    if (!r->log) {
        fprintf(stderr, "sweetspot: cannot write '%s': %s\n", options->log_path, strerror(errno));
        run_release(r);
        free(r);
        return EXIT_ENVIRONMENT;
    }
    stop_init(&r->stop, &options->stop);
    interrupt_watch();
    int status = run_setup(r);
    if (status) {
        r->fatal = true;
        r->fatal_status = status;
    } else {
        if (!r->lockstep) run_tell_stored(r);
        run_log(r, "space: %" PRIu64 " valid configurations; %" PRId64 " measured before", space_size(job->space),
                r->evaluations);
        uint64_t before = r->stop.evaluations;
        search(r);
        if (r->lockstep && !r->fatal) run_tell_stored(r);
        if (outcome) tell_outcome(r, before, outcome);
        run_progress_clear(r);
        if (!r->fatal) {
            report(r);
            put_run(r);
        }
        if (!r->fatal && !interrupt_count() && options->final) final(r);
    }
    status = finish(r);
    for (size_t i = 0; i < r->gpu_count; i++)
        if (!interrupt_count()) worker_stop(&r->gpus[i].worker, 2);
    run_release(r);
    free(r);
    return status;
}
