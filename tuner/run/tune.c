// The loop of a run: the policy (policy.h) decides what to do, the pool (worker_pool.h) reports what has happened. One
// thread, one poll(2). See run.h for the states of a task, request.c and protocol.h for the requests to workers.
#include "tuner/run/tune.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/clock.h"
#include "tuner/base/colour.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/run/run.h"

enum { LONGEST_WAIT = 200 }; // ms: progress is drawn, deadlines are looked at
// s of taking answers, and of doing what follows from them, in one go. What a few answers call for (one proposal for
// each, and that a model learns now and then) is done before the next are taken: else all GPUs would wait for the last.
static const double longest_taking = 5e-3, longest_doing = 10e-3;
static void propose(struct run *r)
{
    uint16_t config[SPACE_MAX_PARAMETERS];
    if (r->starts.next < r->starts.count) {
        memcpy(config, r->starts.configs[r->starts.next++], sizeof config);
        if (strategy_seen(r->strategy, config)) return;
    } else {
        if (!strategy_ask(r->strategy, config)) {
            policy_no_proposal(&r->policy, strategy_exhausted(r->strategy));
            return;
        }
    }
    policy_clock(&r->policy, clock_now());
    // The strategy may propose a start that is already under way: its result is told anyway.
    if (!run_in_flight(r, config)) run_add_proposal(r, config);
}

// The worker that an action is about does something else now.
static void watch_worker(struct run *r, const struct policy_action *action)
{
    if (action->worker == POLICY_NOBODY) return;
    if (action->kind == POLICY_COMPILE || action->kind == POLICY_DROP)
        run_watch_compiler(r, action->worker);
    else if (action->kind == POLICY_MEASURE || action->kind == POLICY_COUNT || action->kind == POLICY_FINAL)
        run_watch_gpu(r, action->worker);
}

static void carry_out(struct run *r, const struct policy_action *action)
{
    struct task *t = (struct task *)action->task;
    switch (action->kind) {
    case POLICY_PROPOSE:
        propose(r);
        break;
    case POLICY_COMPILE:
        run_compile(r, t, action->worker);
        break;
    case POLICY_RECALL:
        run_tell_known(r, t);
        break;
    case POLICY_RANK:
        run_rank(r);
        break;
    case POLICY_FORGET:
        run_forget(r, t);
        break;
    case POLICY_MEASURE:
        run_measure(r, t, action->worker);
        break;
    case POLICY_COUNT:
        run_count(r, action->request, action->worker);
        break;
    case POLICY_CHECK:
        run_check_send(r, action->worker);
        break;
    case POLICY_FINAL:
        final_send(&r->final, action->worker);
        break;
    case POLICY_DROP:
        if (action->worker != POLICY_NOBODY) pool_stop_compiler(&r->pool, action->worker);
        run_drop_task(r, t);
        break;
    case POLICY_WAIT:
    case POLICY_DONE:
        break;
    }
    watch_worker(r, action);
}

static void take(struct run *r, const struct pool_event *event)
{
    policy_clock(&r->policy, clock_now());
    switch (event->kind) {
    case POOL_GPU_READY:
        run_check_ready(r, event->worker);
        policy_gpu_ready(&r->policy, event->worker);
        run_watch_gpu(r, event->worker);
        break;
    case POOL_GPU_ANSWER:
        run_take_gpu_answer(r, event->worker, event->answer);
        break;
    case POOL_GPU_LOST:
        run_take_gpu_loss(r, event);
        break;
    case POOL_COMPILER_ANSWER:
        run_watch_compiler(r, event->worker);
        run_take_compiler_answer(r, event->worker, event->answer);
        break;
    case POOL_COMPILER_LOST:
        run_watch_compiler(r, event->worker);
        run_take_compiler_loss(r, event);
        break;
    case POOL_FAILED:
        run_fail(r, event->exit_status, &event->why);
        break;
    }
}

// Nodes come and go.
static void tell_workers(struct run *r)
{
    if (!r->pool.node_count) return;
    policy_grow(&r->policy, r->pool.compiler_count, r->pool.gpu_count);
    for (size_t i = 0; i < r->pool.compiler_count; i++)
        policy_compiler_there(&r->policy, i, pool_compiler_usable(&r->pool, i));
    const struct policy *p = &r->policy;
    if (p->deciding && !p->final_sent && !p->final_over && p->final_gpu != POLICY_NOBODY &&
        !pool_gpu_usable(&r->pool, p->final_gpu))
        final_move(&r->final);
}

// What workers have said, as much as a turn takes. What they have finished is committed together, and then told; one by
// one in lockstep, where the sequence must not depend on the time.
static void take_events(struct run *r)
{
    struct pool_event event;
    bool lockstep = r->pool.lockstep;
    double from = clock_now(), now = from;
    do {
        r->pending_answers = pool_next(&r->pool, now, &event);
        if (!r->pending_answers) break;
        take(r, &event);
        json_decref(event.answer);
        if (lockstep) run_commit_all(r);
        now = clock_now();
    } while (!r->fatal && (lockstep || now - from < longest_taking));
    run_commit_all(r);
}

static void wait_for_workers(struct run *r, double until)
{
    struct error err;
    if (pool_start_gpus(&r->pool, &err)) {
        run_fail(r, EXIT_ENVIRONMENT, &err);
        return;
    }
    double left = r->pending_answers ? 0 : fmax(0, 1e3 * (until - clock_now()));
    run_watch_poll(r); // what can be handed out is: nobody seems idle who is not
    run_watch_waits(r, true);
    pool_wait(&r->pool, left < LONGEST_WAIT ? (int)ceil(left) : LONGEST_WAIT);
    run_watch_waits(r, false);
    take_events(r);
    tell_workers(r);
    r->polled = clock_now();
}

// Until the policy is done, the run fails, or a second interrupt ends it.
static void follow_policy(struct run *r)
{
    enum search_end end = r->policy.end;
    tell_workers(r);
    while (!r->fatal && interrupt_count() < 2) {
        if (interrupt_count()) policy_interrupt(&r->policy);
        struct policy_action action = policy_next(&r->policy, clock_now());
        if (r->policy.end != end) display_log(&r->display, "search ends: %s", search_end_text(end = r->policy.end));
        if (action.kind == POLICY_DONE) return;
        if (action.kind != POLICY_WAIT) carry_out(r, &action);
        if (action.kind == POLICY_WAIT)
            wait_for_workers(r, action.until);
        else if (!r->pool.lockstep && clock_now() - r->polled > longest_doing)
            wait_for_workers(r, 0);
        run_progress(r, false);
    }
}

static void search(struct run *r)
{
    r->statistics.search_started = clock_now();
    policy_begin(&r->policy, r->statistics.search_started);
    run_watch_phase(r, WATCH_SEARCH);
    follow_policy(r);
    if (r->options->final && !r->fatal && !interrupt_count() && run_retry_begin(r)) follow_policy(r);
}

enum { FINALS_MOST = 10 }; // tried at most, until candidates pass

// Of the finalists' tasks that there are; in all processes.
static void race(struct run *r)
{
    policy_begin_final(&r->policy);
    do follow_policy(r);
    while (final_goes_on(&r->final));
}

static enum final_outcome time_builds(struct run *r)
{
    if (r->fatal || interrupt_count() || !builds_begin(&r->final)) return FINAL_DECIDED;
    race(r);
    return builds_finish(&r->final) == FINAL_AGAIN ? FINAL_AGAIN : FINAL_DECIDED;
}

static void decide(struct run *r)
{
    enum final_outcome outcome = FINAL_AGAIN;
    for (int i = 0; i < FINALS_MOST && r->final.open < FINALS_OPEN_MOST && !r->fatal; i++) {
        if (!final_begin(&r->final)) {
            if (i) display_message(&r->display, "the final has no winner: no candidate is left");
            if (i) final_event_outcome(&r->final, FINAL_FAILED, "no candidate is left");
            break;
        }
        race(r);
        if (!r->final.answer && !r->policy.final_over) return; // interrupted
        outcome = final_finish(&r->final);
        if (outcome == FINAL_DECIDED) outcome = time_builds(r);
        r->final.open += outcome == FINAL_OPEN;
        if (outcome != FINAL_AGAIN && outcome != FINAL_OPEN) break;
    }
    if (outcome == FINAL_OPEN && !r->fatal)
        display_message(&r->display,
                        "no winner is decided: stop other work on the GPU and run the same command again with "
                        "--evaluations 1, or raise the job's measure.final.rounds");
    r->final_failed = outcome != FINAL_DECIDED && isfinite(r->incumbent.objective);
}

// Takes the reference.
static void put_document(struct run *r, const char *kind, json_t *document)
{
    char *text = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(17));
    struct error err;
    if (store_put_document(r->store, kind, text, &err)) run_fail(r, EXIT_ENVIRONMENT, &err);
    free(text);
    json_decref(document);
}

static void put_run(struct run *r)
{
    json_t *given = run_given_devices(r);
    json_t *document = json_pack(
        "{s:f, s:f, s:i, s:s, s:I, s:I, s:I, s:s, s:s?, s:f, s:f, s:f, s:I}", "started", r->statistics.started, "ended",
        clock_wall(), "pid", (int)getpid(), "strategy", r->strategy_class->name, "seed", (json_int_t)r->seed,
        "evaluations", (json_int_t)run_evaluations(r), "new", (json_int_t)r->statistics.new_trials, "stopped_by",
        search_end_text(r->policy.end), "device", json_get_string(given, "device", NULL), "search_seconds",
        clock_now() - r->statistics.search_started, "gpu_busy", r->statistics.gpu_busy, "compile_seconds",
        r->statistics.compile_seconds, "cache_hits", (json_int_t)r->statistics.cache_hits);
    json_object_set_new(document, "gpu_wall", json_real(r->statistics.gpu_wall));
    json_object_set_new(document, "count_wall", json_real(r->statistics.count_wall));
    json_object_set_new(document, "count_busy", json_real(r->statistics.count_busy));
    json_object_update(document, given);
    if (!r->pool.lockstep) json_object_set_new(document, "gpus", run_gpus_document(r));
    if (r->checks.trial)
        json_object_set_new(document, "reference",
                            json_pack("{s:I, s:f}", "trial", (json_int_t)r->checks.trial, "gpu_wall", r->checks.wall));
    json_decref(given);
    put_document(r, "run", document);
}

static void report(struct run *r)
{
    double seconds = clock_now() - r->statistics.search_started;
    size_t gpus = r->pool.gpu_count ? r->pool.gpu_count : 1;
    char shown[32];
    char busy[64] = "";
    if (!r->pool.replay)
        snprintf(busy, sizeof busy, "; GPU%s executing %.0f%% of the time", gpus > 1 ? "s" : "",
                 100 * (r->statistics.gpu_busy + r->statistics.count_busy) / (seconds * (double)gpus));
    display_message(&r->display,
                    "%" PRId64 " new trials in %s (%.1f a second), %" PRId64 " in all%s; %" PRId64
                    " from the compile cache",
                    r->statistics.new_trials, text_show_duration(seconds, shown, sizeof shown),
                    (double)r->statistics.new_trials / seconds, run_evaluations(r), busy, r->statistics.cache_hits);
    for (int s = 0; s < STATUS_COUNT; s++)
        if (r->statistics.counts[s])
            display_log(&r->display, "%s: %" PRId64, status_name((enum trial_status)s), r->statistics.counts[s]);
}

// The gain that more time is expected to bring.
static void report_outlook(struct run *r)
{
    uint64_t n = r->policy.stop.evaluations, size = space_size(r->job->space), left = size > n ? size - n : 0;
    uint64_t more = n < left ? n : left;
    double share = r->options->stop.until > 0 ? r->options->stop.until : OUTLOOK_SHARE;
    struct stop_outlook o = stop_outlook(&r->policy.stop, share, more, left);
    if (!more || isnan(o.chance)) return;
    double seconds = clock_now() - r->statistics.search_started;
    char shown[32], time[64] = "";
    if (r->statistics.new_trials)
        snprintf(time, sizeof time, " (%s)",
                 text_show_duration(seconds * (double)more / (double)r->statistics.new_trials, shown, sizeof shown));
    display_message(&r->display,
                    "another %" PRIu64
                    " evaluations%s: %.0f%% chance of a gain of at least %.3g%%, expected gain %.2g%%",
                    more, time, 100 * o.chance, 100 * share, 100 * o.gain);
}

static int finish(struct run *r)
{
    if (r->fatal) {
        display_clear(&r->display);
        fprintf(stderr, "sweetspot: %s%s%s\n", colour_begin(stderr, COLOUR_BAD), r->failure.message,
                colour_end(stderr));
        display_log(&r->display, "%s", r->failure.message);
        if (r->store && r->statistics.new_trials && !store_rescued_copy(r->store))
            fprintf(stderr, "%" PRId64 " finished trials are kept in %s\n", r->statistics.new_trials,
                    r->options->store_path);
        if (r->pool.node_count && r->store) fprintf(stderr, "To go on: %s\n", r->options->again);
        return r->fatal_status;
    }
    if (interrupt_count()) {
        char shown[32];
        if (isfinite(r->incumbent.objective))
            fprintf(stderr, "best so far %s: %s\n", text_show_duration(r->incumbent.objective, shown, sizeof shown),
                    r->incumbent.config);
        fprintf(stderr, "stopped; everything finished is in %s. To go on: %s\n", r->options->store_path,
                r->options->again);
    }
    if (!isfinite(r->incumbent.objective)) {
        fprintf(stderr, "no valid result: ");
        for (int s = 0; s < STATUS_COUNT; s++)
            if (r->statistics.counts[s])
                fprintf(stderr, "%s %" PRId64 "  ", status_name((enum trial_status)s), r->statistics.counts[s]);
        fprintf(stderr, "(reasons: %s)\n", r->options->log_path);
        return EXIT_NOTHING;
    }
    return r->final_failed ? EXIT_NOTHING : EXIT_DONE;
}

void tune_outcome_init(struct tune_outcome *o)
{
    *o = (struct tune_outcome){.best = INFINITY, .baseline = NAN};
}

void tune_outcome_release(struct tune_outcome *o)
{
    free(o->best_config);
    free(o->baseline_name);
    tune_outcome_init(o);
}

static void tell_outcome(const struct run *r, uint64_t before, struct tune_outcome *out)
{
    const struct stop *s = &r->policy.stop;
    const struct incumbent *best = &r->incumbent;
    *out = (struct tune_outcome){.best = best->objective,
                                 .baseline = best->baseline,
                                 .best_config = best->config ? text_copy(best->config) : NULL,
                                 .baseline_name = best->baseline_name ? text_copy(best->baseline_name) : NULL,
                                 .evaluations = run_evaluations(r),
                                 .seconds = clock_now() - r->statistics.search_started,
                                 .exhausted = policy_exhausted(&r->policy)};
    uint64_t half = before + (s->evaluations - before) / 2;
    if (s->evaluations < before + 2) return;
    double then = half ? s->trace[half - 1] : INFINITY, now = s->trace[s->evaluations - 1];
    out->gain =
        isfinite(now) && out->seconds > 0 ? fmin(isfinite(then) ? log(then / now) : 1, 1) / (0.5 * out->seconds) : 0;
}

int tune(struct job *job, const struct tune_options *options, struct tune_outcome *outcome)
{
    struct run *r = memory_new(1, sizeof *r);
    if (outcome) tune_outcome_init(outcome);
    r->job = job;
    r->options = options;
    incumbent_init(&r->incumbent);
    r->statistics.started = clock_wall();
    r->statistics.search_started = clock_now();
    run_watch_init(r);
    if (display_open(&r->display, options->log_path, options->quiet)) {
        r->fatal = true;
        error_set(&r->failure, "cannot write '%s': %s", options->log_path, strerror(errno));
        fprintf(stderr, "sweetspot: %s\n", r->failure.message);
        run_event_end(r, EXIT_ENVIRONMENT);
        run_release(r);
        free(r);
        return EXIT_ENVIRONMENT;
    }
    interrupt_watch();
    int status = run_setup(r);
    if (status) {
        r->fatal = true;
        r->fatal_status = status;
    } else {
        // In lockstep, stored results come in their turn, which takes proposals: unless nothing is left to propose.
        bool in_turn = r->pool.lockstep && !run_knows_all(r);
        if (!in_turn) run_replay_stored(r);
        display_log(&r->display, "space: %" PRIu64 " valid configurations; %" PRId64 " measured before",
                    space_size(job->space), run_evaluations(r));
        uint64_t before = r->policy.stop.evaluations;
        search(r);
        if (in_turn && !r->fatal) run_replay_stored(r);
        if (outcome) tell_outcome(r, before, outcome);
        display_clear(&r->display);
        if (!r->fatal) {
            report(r);
            run_watch_report(r);
            report_outlook(r);
            put_run(r);
            run_event_searched(r);
        }
        if (!r->fatal && !interrupt_count() && options->final) {
            run_watch_phase(r, WATCH_FINAL);
            decide(r);
        }
        json_t *workers = run_watch_document(r);
        if (r->fatal)
            json_decref(workers);
        else
            put_document(r, "workers", workers);
    }
    status = finish(r);
    if (interrupt_count()) status = interrupt_status();
    run_event_end(r, status);
    if (!interrupt_count()) pool_stop(&r->pool, 2);
    run_release(r);
    free(r);
    return status;
}
