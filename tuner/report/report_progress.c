// How the best improved over time and evaluations, and how the times of all candidates are distributed.
#include "tuner/base/base.h"
#include "tuner/report/report_parts.h"

enum { BINS = 60 };

static void add_row(json_t *rows, double seconds, size_t evaluations, double time, int64_t trial)
{
    json_array_append_new(rows, json_pack("[f, I, f, I]", seconds, (json_int_t)evaluations, time, (json_int_t)trial));
}

json_t *report_progress(const struct result *r)
{
    const struct trial_table *t = &r->table;
    json_t *rows = json_array();
    double best = INFINITY, seconds = 0;
    int64_t trial = NO_TRIAL;
    for (size_t i = 0; i < t->count; i++) {
        if (t->status[i] != STATUS_OK || !(t->times[i] < best)) continue;
        best = t->times[i];
        trial = t->ids[i];
        seconds = fmax(seconds, run_times_at(&r->runs, t->finished[i])); // clocks may be set back
        add_row(rows, seconds, i + 1, best, trial);
    }
    if (trial) add_row(rows, fmax(seconds, r->runs.seconds), t->count, best, trial);
    return json_pack("{s:[s,s,s,s], s:o}", "columns", "seconds", "evaluations", "time", "trial", "rows", rows);
}

json_t *report_histogram(const struct result *r)
{
    const struct trial_table *t = &r->table;
    json_t *edges = json_array(), *counts = json_array();
    if (t->timed) {
        double low = t->times[t->order[0]], high = t->times[t->order[t->timed - 1]], ratio = high / low;
        size_t bins = ratio > 1 ? BINS : 1, used = 0;
        if (bins == 1) high = low * 1.001, low = low / 1.001, ratio = high / low;
        for (size_t b = 0; b <= bins; b++)
            json_array_append_new(edges, json_real(low * pow(ratio, (double)b / (double)bins)));
        for (size_t b = 0; b < bins; b++) {
            double edge = low * pow(ratio, (double)(b + 1) / (double)bins);
            size_t from = used;
            while (used < t->timed && (b + 1 == bins || t->times[t->order[used]] < edge)) used++;
            json_array_append_new(counts, json_integer((json_int_t)(used - from)));
        }
    }
    return json_pack("{s:o, s:o}", "edges", edges, "counts", counts);
}
