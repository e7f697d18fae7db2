// The loop of a run: the policy (policy.h) decides what to do, the pool (worker_pool.h) reports what has happened. One
// thread, one poll(2). See run.h for the states of a task, request.c and protocol.h for the requests to workers.
#include "tuner/run/tune.h"

#include <errno.h>

#include "tuner/base/clock.h"
#include "tuner/base/colour.h"
#include "tuner/base/interrupt.h"
#include "tuner/run/run.h"

enum { LONGEST_WAIT = 200 }; // ms; progress is drawn and deadlines are checked at least this often
// The longest time per turn (s) for taking answers, and for the work that follows from them. The work for a few answers
// (one proposal for each, and sometimes updating a model) is done before more answers are taken. Otherwise all GPUs
// would wait for the last answer.
static const double longest_taking = 5e-3, longest_doing = 10e-3;
static const double first_result = 2;  // s for a search that has no valid result yet, however little time is left
static const double count_share = 0.1; // share of the remaining time that counting may take after the search

// The state of the loop's turns.
struct turns {
    double polled;        // when workers were last polled
    bool pending_answers; // some answers were not taken then
};

static void propose(struct run *r)
{
    uint16_t config[SPACE_MAX_PARAMETERS];
    if (!search_propose(&r->search, config)) return;
    policy_clock(&r->policy, clock_now());
    // The strategy may propose a start that is in flight already; its result is reported anyway.
    if (!task_in_flight(&r->policy, r->job->space, config)) run_add_proposal(r, config);
}

static void forget(struct run *r, struct task *t)
{
    display_log(&r->display,
                "dropped before it was measured, since other candidates have a better acquisition value: %s", t->text);
    strategy_forget(r->search.strategy, t->config);
    task_drop(&r->policy, t);
}

// Updates the state of the worker that an action concerns.
static void watch_worker(struct run *r, const struct policy_action *action)
{
    if (action->worker == POLICY_NO_WORKER) return;
    if (action->kind == POLICY_COMPILE || action->kind == POLICY_DROP)
        run_watch_compiler(&r->watch, action->worker);
    else if (action->kind == POLICY_MEASURE || action->kind == POLICY_COUNT || action->kind == POLICY_FINAL)
        run_watch_gpu(&r->watch, action->worker);
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
        run_replay_known(r, t);
        break;
    case POLICY_RANK:
        search_rank(&r->search);
        break;
    case POLICY_FORGET:
        forget(r, t);
        break;
    case POLICY_MEASURE:
        run_measure(r, t, action->worker);
        break;
    case POLICY_COUNT:
        run_count(r, action->request, action->worker);
        break;
    case POLICY_CHECK:
        gpu_checks_send(&r->checks, action->worker);
        break;
    case POLICY_FINAL:
        final_send(&r->final, action->worker);
        break;
    case POLICY_DROP:
        if (action->worker != POLICY_NO_WORKER) slot_stop(&r->pool.compilers[action->worker]);
        task_drop(&r->policy, t);
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
        gpu_checks_ready(&r->checks, event->worker);
        policy_gpu_ready(&r->policy, event->worker);
        run_watch_gpu(&r->watch, event->worker);
        break;
    case POOL_GPU_ANSWER:
        run_take_gpu_answer(r, event->worker, event->answer);
        break;
    case POOL_GPU_LOST:
        run_take_gpu_loss(r, event);
        break;
    case POOL_COMPILER_ANSWER:
        run_watch_compiler(&r->watch, event->worker);
        run_take_compiler_answer(r, event->worker, event->answer);
        break;
    case POOL_COMPILER_LOST:
        run_watch_compiler(&r->watch, event->worker);
        run_take_compiler_loss(r, event);
        break;
    case POOL_FAILED:
        fatal_error_set(&r->failure, event->exit_status, &event->why);
        break;
    }
}

// Tells the policy which workers are available now, because nodes come and go.
static void tell_workers(struct run *r)
{
    if (!r->pool.remote.node_count) return;
    policy_grow(&r->policy, r->pool.compiler_count, r->pool.gpu_count);
    for (size_t i = 0; i < r->pool.compiler_count; i++)
        policy_compiler_there(&r->policy, i, pool_compiler_usable(&r->pool, i));
    const struct policy *p = &r->policy;
    if (p->deciding && !p->final_sent && !p->final_over && p->final_gpu != POLICY_NO_WORKER &&
        !pool_gpu_usable(&r->pool, p->final_gpu))
        final_move(&r->final);
}

// Takes as many of the workers' answers as one turn allows. Finished trials are committed together and then reported.
// In lockstep, answers are taken, committed and reported one by one, because the sequence must not depend on the time.
static void take_events(struct run *r, struct turns *turns)
{
    struct pool_event event;
    bool lockstep = r->pool.lockstep;
    double from = clock_now(), now = from;
    do {
        turns->pending_answers = pool_next(&r->pool, now, &event);
        if (!turns->pending_answers) break;
        take(r, &event);
        json_decref(event.answer);
        if (lockstep) run_commit_all(r);
        now = clock_now();
    } while (!r->failure.set && (lockstep || now - from < longest_taking));
    run_commit_all(r);
}

static void wait_for_workers(struct run *r, struct turns *turns, double until)
{
    struct error err;
    if (pool_start_gpus(&r->pool, &err)) {
        fatal_error_set(&r->failure, EXIT_ENVIRONMENT, &err);
        return;
    }
    double left = turns->pending_answers ? 0 : fmax(0, 1e3 * (until - clock_now()));
    run_live_look(r); // all work is handed out first, so that no busy worker seems idle
    run_watch_waits(&r->watch, true);
    pool_wait(&r->pool, true, left < LONGEST_WAIT ? (int)ceil(left) : LONGEST_WAIT);
    run_watch_waits(&r->watch, false);
    take_events(r, turns);
    tell_workers(r);
    turns->polled = clock_now();
}

// Sets when the search has to end so that enough time is left for the rest of the run. Until there is a valid result,
// the search may use all the time, and at least `first_result`, because the final needs a candidate.
static void limit_search(struct run *r)
{
    const struct tune_options *o = r->options;
    struct final_clock *clock = &r->final.clock;
    double begin = r->statistics.search_started, left = final_clock_left(clock, begin);
    if (!isfinite(left) || r->policy.deciding) return;
    clock->kernel = run_sum_of_times(r);
    struct final_size size = final_size(&r->final);
    bool decides = o->final && !r->pool.replay;
    double latest = decides ? left - final_clock_reserve(clock, &size, left) : left, end = latest;
    end -= 2 * clock->trial; // a GPU worker has up to two requests
    end -= fmin(run_count_seconds(r), count_share * left);
    if (o->search_time > 0) end = fmin(end, o->search_time);
    if (!isfinite(r->search.incumbent.objective)) end = fmax(left, first_result);
    policy_limit(&r->policy, fmax(end, 1e-6), fmax(latest, 1e-6));
}

// Runs the loop until the policy is done, the run fails, or a second interrupt ends it.
static void follow_policy(struct run *r)
{
    enum search_end end = r->policy.end;
    struct turns turns = {.pending_answers = true};
    tell_workers(r);
    while (!r->failure.set && interrupt_count() < 2) {
        if (interrupt_count()) policy_interrupt(&r->policy);
        limit_search(r);
        builds_hurry(&r->final);
        struct policy_action action = policy_next(&r->policy, clock_now());
        if (r->policy.end != end) display_log(&r->display, "search ends: %s", search_end_text(end = r->policy.end));
        if (action.kind == POLICY_DONE) return;
        if (action.kind != POLICY_WAIT) carry_out(r, &action);
        if (action.kind == POLICY_WAIT)
            wait_for_workers(r, &turns, action.until);
        else if (!r->pool.lockstep && clock_now() - turns.polled > longest_doing)
            wait_for_workers(r, &turns, 0);
        run_progress(r);
    }
}

// The time (s) that the planned final is expected to take.
static double time_to_decide(struct run *r)
{
    struct final_size size = final_size(&r->final);
    r->final.clock.kernel = run_sum_of_times(r);
    return final_clock_planned(&r->final.clock, &size);
}

static void follow_search(struct run *r)
{
    r->statistics.search_started = clock_now();
    policy_begin(&r->policy, r->statistics.search_started);
    if (r->options->finish) policy_skip_search(&r->policy);
    run_phase(r, WATCH_SEARCH);
    follow_policy(r);
    // In replay a candidate would crash again.
    if (!r->options->final || r->failure.set || interrupt_count() || r->pool.replay) return;
    if (final_clock_left(&r->final.clock, clock_now()) < time_to_decide(r) + SEARCH_RETRIES * r->final.clock.trial)
        return; // the final is more important
    struct error err;
    int added = search_retry(&r->search, final_most(&r->final), &r->display, &err);
    if (added < 0) fatal_error_set(&r->failure, EXIT_ENVIRONMENT, &err);
    if (added > 0) follow_policy(r);
}

// Races the finalists' current tasks, in as many processes as the final needs.
static void race(struct run *r)
{
    policy_begin_final(&r->policy);
    do follow_policy(r);
    while (final_continues(&r->final));
}

static enum final_outcome time_builds(struct run *r)
{
    if (r->failure.set || interrupt_count() || !builds_begin(&r->final)) return FINAL_DECIDED;
    race(r);
    return builds_finish(&r->final) == FINAL_AGAIN ? FINAL_AGAIN : FINAL_DECIDED;
}

// Runs finals until one decides the winner. Returns false if there are valid results but no decision. A final without a
// winner excludes at least one entry from the next one.
static bool decide(struct run *r)
{
    enum final_outcome outcome = FINAL_AGAIN;
    for (bool first = true; outcome == FINAL_AGAIN && !r->failure.set; first = false) {
        if (!final_begin(&r->final)) {
            if (!first) display_message(&r->display, "the final has no winner: no candidate is left");
            if (!first) final_event_outcome(&r->final, FINAL_FAILED, "no candidate is left");
            break;
        }
        race(r);
        if (!r->final.answer && !r->policy.final_over) { // interrupted
            final_interrupted(&r->final);
            return true;
        }
        outcome = final_finish(&r->final);
        if (outcome == FINAL_DECIDED) outcome = time_builds(r);
    }
    return outcome == FINAL_DECIDED || !isfinite(r->search.incumbent.objective);
}

static int finish(struct run *r, bool decided)
{
    if (r->failure.set) {
        display_clear(&r->display);
        fprintf(stderr, "sweetspot: %s%s%s\n", colour_begin(stderr, COLOUR_BAD), r->failure.why.message,
                colour_end(stderr));
        display_log(&r->display, "%s", r->failure.why.message);
        if (r->store && r->statistics.new_trials && !store_rescued_copy(r->store))
            fprintf(stderr, "%" PRId64 " finished trials are kept in %s\n", r->statistics.new_trials,
                    r->options->files.store_path);
        if (r->pool.remote.node_count && r->store) fprintf(stderr, "To resume: %s\n", r->options->again);
        return r->failure.exit_status;
    }
    if (interrupt_count()) {
        if (isfinite(r->search.incumbent.objective))
            fprintf(stderr, "best so far %s: %s\n", text_show_duration(r->search.incumbent.objective, TEXT_ROOM),
                    r->search.incumbent.config);
        fprintf(stderr, "stopped; everything finished is in %s. To resume: %s\n", r->options->files.store_path,
                r->options->again);
    }
    if (r->options->finish && !run_evaluations(r)) {
        fprintf(stderr, "there are no results to decide between; search first, without --finish\n");
        return EXIT_NOTHING;
    }
    if (!isfinite(r->search.incumbent.objective)) {
        fprintf(stderr, "no valid result: %s", run_evaluations(r) ? "" : "nothing was measured  ");
        for (int s = 0; s < STATUS_COUNT; s++)
            if (r->search.counts[s])
                fprintf(stderr, "%s %" PRId64 "  ", status_name((enum trial_status)s), r->search.counts[s]);
        fprintf(stderr, "(reasons: %s)\n", r->options->files.log_path);
        return EXIT_NOTHING;
    }
    return decided ? EXIT_DONE : EXIT_NOTHING;
}

void tune_outcome_init(struct tune_outcome *o)
{
    *o = (struct tune_outcome){.best = INFINITY, .baseline = NAN, .finish = -1};
}

void tune_outcome_release(struct tune_outcome *o)
{
    free(o->best_config);
    free(o->baseline_name);
    tune_outcome_init(o);
}

static double time_to_finish(struct run *r)
{
    const struct final_clock *clock = &r->final.clock;
    return r->pool.replay || r->failure.set ? 0 : time_to_decide(r) + clock->sanitizer + clock->nvcc;
}

static void tell_outcome(struct run *r, uint64_t before, struct tune_outcome *out)
{
    const struct stop *s = &r->policy.stop;
    const struct incumbent *best = &r->search.incumbent;
    *out = (struct tune_outcome){.best = best->objective,
                                 .baseline = best->baseline,
                                 .best_config = best->config ? text_copy(best->config) : NULL,
                                 .baseline_name = best->baseline_name ? text_copy(best->baseline_name) : NULL,
                                 .evaluations = run_evaluations(r),
                                 .seconds = clock_now() - r->statistics.search_started,
                                 .exhausted = policy_exhausted(&r->policy),
                                 .finish = time_to_finish(r)};
    uint64_t half = before + (s->evaluations - before) / 2;
    if (s->evaluations < before + 2) return;
    double then = half ? s->trace[half - 1] : INFINITY, now = s->trace[s->evaluations - 1];
    out->gain =
        isfinite(now) && out->seconds > 0 ? fmin(isfinite(then) ? log(then / now) : 1, 1) / (0.5 * out->seconds) : 0;
}

// Runs the search, from reporting the stored results to the search's own report.
static void search(struct run *r, struct tune_outcome *outcome)
{
    struct error err;
    // In lockstep, a stored result is reported when its configuration is proposed. If nothing is left to propose, all
    // are reported together.
    int all = r->pool.lockstep && !r->options->finish ? search_knows_all(&r->search, &err) : 1;
    if (all < 0) fatal_error_set(&r->failure, EXIT_ENVIRONMENT, &err);
    if (all) run_replay_stored(r);
    autofree char *valid = job_valid_text(r->job);
    display_log(&r->display, "space: %s valid configurations; %" PRId64 " measured before", valid, run_evaluations(r));
    uint64_t before = r->policy.stop.evaluations;
    follow_search(r);
    if (!all && !r->failure.set) run_replay_stored(r);
    if (outcome) tell_outcome(r, before, outcome);
    display_clear(&r->display);
    if (r->failure.set || r->options->finish) return;
    run_report(r);
    run_put_document(r, "run", run_document(r));
    run_event_searched(r);
}

static int end(struct run *r, int status)
{
    run_event_end(r, status);
    if (!interrupt_count()) pool_stop(&r->pool, 2);
    run_release(r);
    free(r);
    return status;
}

int tune(struct job *job, const struct tune_options *options, struct tune_outcome *outcome)
{
    struct run *r = memory_new(1, sizeof *r);
    bool decided = true;
    if (outcome) tune_outcome_init(outcome);
    r->job = job;
    r->options = options;
    r->statistics.started = clock_wall();
    r->statistics.search_started = clock_now();
    r->final.clock.deadline = options->time > 0 ? r->statistics.search_started + options->time : INFINITY;
    search_init(&r->search, job, &r->policy);
    run_watch_init(&r->watch, &r->pool, &r->policy);
    if (display_open(&r->display, options->files.log_path, options->quiet)) {
        r->failure.set = true;
        error_set(&r->failure.why, "cannot write '%s': %s", options->files.log_path, strerror(errno));
        fprintf(stderr, "sweetspot: %s\n", r->failure.why.message);
        return end(r, EXIT_ENVIRONMENT);
    }
    interrupt_watch();
    int status = run_setup(r);
    if (status) {
        r->failure.set = true;
        r->failure.exit_status = status;
    } else {
        search(r, outcome);
        if (!r->failure.set && !interrupt_count() && options->final) {
            run_phase(r, WATCH_FINAL);
            decided = decide(r);
            if (outcome) outcome->unchecked = r->final.unchecked;
        }
        if (!r->failure.set && !interrupt_count() && isfinite(r->search.incumbent.objective)) run_report_values(r);
        json_t *workers = run_workers_document(r);
        if (r->failure.set)
            json_decref(workers);
        else
            run_put_document(r, "workers", workers);
    }
    status = finish(r, decided);
    return end(r, interrupt_count() ? interrupt_status() : status);
}
