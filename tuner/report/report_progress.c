// How the best improved over time and evaluations.
#include "tuner/base/base.h"
#include "tuner/report/report_parts.h"

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
