// The line of progress of a run: what it says.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tuner/base/clock.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/run/run.h"

static void add_evaluations(const struct run *r, struct progress_line *line, uint64_t valid)
{
    if (r->options->evaluations)
        progress_add(line, IMPORTANT, "%" PRId64 "/%" PRId64, run_evaluations(r), r->options->evaluations);
    else if (valid < 10000000)
        progress_add(line, IMPORTANT, "%" PRId64 "/%" PRIu64, run_evaluations(r), valid);
    else
        progress_add(line, IMPORTANT, "%" PRId64, run_evaluations(r));
}

static void add_failures(const struct run *r, struct progress_line *line)
{
    int64_t failed = 0;
    char kinds[PROGRESS_ROOM - 2] = "";
    for (int s = STATUS_PRUNED; s < STATUS_COUNT; s++) {
        if (!r->statistics.counts[s]) continue;
        size_t used = strlen(kinds);
        snprintf(kinds + used, sizeof kinds - used, "%s%s %" PRId64, failed ? ", " : "",
                 status_name((enum trial_status)s), r->statistics.counts[s]);
        failed += r->statistics.counts[s];
    }
    if (!failed) return;
    progress_add(line, USEFUL, "failed %" PRId64, failed);
    progress_add(line, DETAIL, "(%s)", kinds);
}

static void describe(const struct run *r, struct progress_line *line)
{
    char text[32];
    double elapsed = clock_now() - r->statistics.search_started;
    uint64_t valid = space_size(r->job->space);
    *line = (struct progress_line){0};
    add_evaluations(r, line, valid);
    if (r->options->time > 0)
        progress_add(line, IMPORTANT, "%s left",
                     text_show_duration(fmax(0, r->options->time - elapsed), text, sizeof text));
    else
        progress_add(line, IMPORTANT, "%s", text_show_duration(elapsed, text, sizeof text));
    if (elapsed > 1) progress_add(line, DETAIL, "%.1f/s", (double)r->statistics.new_trials / elapsed);
    if (isfinite(r->incumbent.objective)) {
        progress_add(line, VITAL, "best %s", text_show_duration(r->incumbent.objective, text, sizeof text));
        if (isfinite(r->incumbent.baseline))
            progress_add(line, IMPORTANT, "= %.3f of %s", r->incumbent.baseline / r->incumbent.objective,
                         r->incumbent.baseline_name);
    } else {
        progress_add(line, VITAL, "no valid result yet");
    }
    const struct stop *stop = &r->policy.stop;
    if (stop->evaluations >= STOP_LEAST && isfinite(stop->best)) {
        double share = stop->rules.until > 0 ? stop->rules.until : OUTLOOK_SHARE;
        uint64_t left = valid > stop->evaluations ? valid - stop->evaluations : 0;
        progress_add(line, DETAIL, "as many again: %.0f%% chance of %.3g%%",
                     100 * stop_outlook(stop, share, stop->evaluations, left).chance, 100 * share);
    }
    add_failures(r, line);
    if (r->statistics.temperature > 0) progress_add(line, DECORATION, "%.0f C", r->statistics.temperature);
    if (r->statistics.clock_mhz > 0) progress_add(line, DECORATION, "%.0f MHz", r->statistics.clock_mhz);
}

void run_progress(struct run *r, bool now)
{
    struct progress_line fields;
    run_event_progress(r);
    if (!(now ? !r->display.quiet : display_due(&r->display))) return;
    describe(r, &fields);
    display_progress(&r->display, &fields, r->job->name);
}
