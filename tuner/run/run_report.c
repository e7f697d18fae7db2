// The report of a run: the line of progress, the summary of the search, and the document of kind "run".

#include "tuner/base/clock.h"
#include "tuner/base/protocol.h"
#include "tuner/final/final_values.h"
#include "tuner/run/run.h"

#define OUTLOOK_SHARE 0.01            // the gain whose probability is shown unless the user sets a gain (`until`)
static const double least_search = 2; // s: a shorter search consists only of its beginning and its end

static void add_failures(const struct run *r, struct text *line)
{
    int64_t failed = 0;
    for (int s = STATUS_PRUNED; s < STATUS_COUNT; s++) failed += r->search.counts[s];
    if (failed) text_add(line, "  failed %" PRId64, failed);
    const char *before = " (";
    for (int s = STATUS_PRUNED; s < STATUS_COUNT; s++) {
        if (!r->search.counts[s]) continue;
        text_add(line, "%s%s %" PRId64, before, status_name((enum trial_status)s), r->search.counts[s]);
        before = ", ";
    }
    if (failed) text_add(line, ")");
}

// Adds the phase after the search to the line.
static void add_phase(const struct run *r, struct text *line)
{
    const struct final_run *f = &r->final;
    if (r->watch.phase != WATCH_FINAL) return;
    if (!r->policy.final_sent)
        text_add(line, f->builds.on ? "nvcc compiles the winner  " : "compiling finalists  ");
    else
        text_add(line, "%s: %" PRId64 " of %" PRId64 " rounds  ", f->builds.on ? "comparison of builds" : "final",
                 f->rounds.taken, f->rounds.planned > f->rounds.taken ? f->rounds.planned : f->rounds.taken);
}

// The line of progress, malloc'ed. The most important figures come first, because a narrow terminal truncates the line.
static char *describe(const struct run *r)
{
    double elapsed = clock_now() - r->statistics.search_started;
    uint64_t valid = space_size(r->job->space);
    struct text line = {0};
    const struct incumbent *best = &r->search.incumbent;
    add_phase(r, &line);
    if (!isfinite(best->objective))
        text_add(&line, "no valid result yet");
    else
        text_add(&line, "best %s", text_show_duration(best->objective, TEXT_ROOM));
    if (isfinite(best->objective) && isfinite(best->baseline))
        text_add(&line, "  %.3fx as fast as %s", best->baseline / best->objective, best->baseline_name);
    text_add(&line, "  %" PRId64, run_evaluations(r));
    if (r->options->evaluations)
        text_add(&line, "/%" PRId64, r->options->evaluations);
    else if (valid < 10000000)
        text_add(&line, "/%" PRIu64, valid);
    double rest = run_time_left(r);
    text_add(&line, "  %s%s", text_show_duration(isfinite(rest) ? rest : elapsed, TEXT_ROOM),
             isfinite(rest) ? " left" : "");
    add_failures(r, &line);
    if (elapsed > 1) text_add(&line, "  %.1f/s", (double)r->statistics.new_trials / elapsed);
    const struct stop *stop = &r->policy.stop;
    if (stop->evaluations >= STOP_LEAST && isfinite(stop->best)) {
        double share = stop->rules.until > 0 ? stop->rules.until : OUTLOOK_SHARE;
        uint64_t left = valid > stop->evaluations ? valid - stop->evaluations : 0;
        text_add(&line, "  as many again: %.0f%% chance of %.3g%%",
                 100 * stop_outlook(stop, share, stop->evaluations, left).chance, 100 * share);
    }
    if (r->statistics.temperature > 0) text_add(&line, "  %.0f C", r->statistics.temperature);
    if (r->statistics.clock_mhz > 0) text_add(&line, "  %.0f MHz", r->statistics.clock_mhz);
    return line.text;
}

void run_progress(struct run *r)
{
    run_event_progress(r);
    if (!display_due(&r->display)) return;
    autofree char *line = describe(r);
    display_progress(&r->display, line, r->job->name);
}

static void report_trials(struct run *r)
{
    double seconds = clock_now() - r->statistics.search_started;
    size_t gpus = r->pool.gpu_count ? r->pool.gpu_count : 1;
    char busy[64] = "";
    if (!r->pool.replay)
        snprintf(busy, sizeof busy, "; GPU%s executing %.0f%% of the time", gpus > 1 ? "s" : "",
                 100 * (r->statistics.gpu_busy + r->statistics.count_busy) / (seconds * (double)gpus));
    display_message(&r->display,
                    "%" PRId64 " new trials in %s (%.1f a second), %" PRId64 " in all%s; %" PRId64
                    " from the compile cache",
                    r->statistics.new_trials, text_show_duration(seconds, TEXT_ROOM),
                    (double)r->statistics.new_trials / seconds, run_evaluations(r), busy, r->statistics.cache_hits);
    for (int s = 0; s < STATUS_COUNT; s++)
        if (r->search.counts[s])
            display_log(&r->display, "%s: %" PRId64, status_name((enum trial_status)s), r->search.counts[s]);
}

static void report_workers(struct run *r)
{
    struct busy_figures busy = run_watch_figures(&r->watch);
    if (r->pool.lockstep || busy.seconds < least_search) return; // in lockstep nothing overlaps
    display_message(&r->display,
                    "GPUs were busy with candidates %.0f%% of the time, compilers %.0f%%, the driver %.0f%%",
                    100 * busy.gpus, isfinite(busy.compilers) ? 100 * busy.compilers : 0, 100 * busy.driver);
}

// Reports the gain to expect from more time.
static void report_outlook(struct run *r)
{
    uint64_t n = r->policy.stop.evaluations, size = space_size(r->job->space), left = size > n ? size - n : 0,
             more = n < left ? n : left;
    double share = r->options->stop.until > 0 ? r->options->stop.until : OUTLOOK_SHARE;
    struct stop_outlook o = stop_outlook(&r->policy.stop, share, more, left);
    if (!more || isnan(o.chance)) return;
    double seconds = clock_now() - r->statistics.search_started;
    char time[64] = "";
    if (r->statistics.new_trials)
        snprintf(time, sizeof time, " (%s)",
                 text_show_duration(seconds * (double)more / (double)r->statistics.new_trials, TEXT_ROOM));
    display_message(&r->display,
                    "another %" PRIu64
                    " evaluations%s: %.0f%% chance of a gain of at least %.3g%%, expected gain %.2g%%",
                    more, time, 100 * o.chance, 100 * share, 100 * o.gain);
}

void run_report(struct run *r)
{
    if (job_unverified(r->job)) display_message(&r->display, "%s", job_unverified(r->job));
    report_trials(r);
    run_live_look(r);
    report_workers(r);
    report_outlook(r);
}

void run_report_values(struct run *r)
{
    int64_t winner = r->final.decision.winner > 0 ? r->final.decision.winner : r->search.incumbent.trial;
    autorelease(final_values_release) struct final_values values =
        final_values_find(r->store, r->job, winner, r->search.incumbent.objective);
    if (values.edges) display_message(&r->display, "%s", values.edges);
    if (values.idle) display_message(&r->display, "%s", values.idle);
}
