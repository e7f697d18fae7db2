// The figures of a simulation as rows.

#include "tuner/base/base.h"
#include "tuner/simulate/simulate.h"

#define FIGURE(member) .place = offsetof(struct simulate_figures, member)
#define REACHED(member) .reached = offsetof(struct simulate_figures, member)
// The columns of each file besides the qualities.
static const struct bench_column columns[] = {
    {">s to 95%", "%.4g", FIGURE(seconds_to_95), REACHED(reached_95)},
    {">s to 99%", "%.4g", FIGURE(seconds_to_99), REACHED(reached_99)},
    {">n to 95%", "%.4g", FIGURE(evaluations_to_95), REACHED(reached_95)},
    {">reached 95%", "%.2f", FIGURE(reached_95)},
    {">reached 99%", "%.2f", FIGURE(reached_99)},
    {">compiled/measured", "%.3f", FIGURE(compiled_per_measured)},
    {">GPU idle", "%.3f", FIGURE(idle)},
};

struct bench_rows simulate_rows(const struct simulation_bench *b)
{
    const struct simulate_options *o = &b->options;
    struct bench_rows r = {.options = &o->bench,
                           .kind = "sweetspot-simulation",
                           .budgets = " or simulated seconds",
                           .legend = "s and n\nto 95%: mean seconds and evaluations ('>': some runs ended before).",
                           .cells = b->cells,
                           .overall = b->overall,
                           .size = sizeof *b->cells};
    size_t n = 0;
    for (size_t i = 0; i < o->bench.budget_count; i++, n++) {
        r.columns[n] = (struct bench_column){.format = "%.4f", FIGURE(at_budget[i])};
        snprintf(r.columns[n].title, sizeof r.columns[n].title, ">@%lld", (long long)o->bench.budgets[i]);
    }
    for (size_t i = 0; i < o->time_count; i++, n++) {
        r.columns[n] = (struct bench_column){.format = "%.4f", FIGURE(at_time[i])};
        snprintf(r.columns[n].title, sizeof r.columns[n].title, ">@%gs", o->times[i]);
    }
    memcpy(r.columns + n, columns, sizeof columns);
    r.column_count = n + sizeof columns / sizeof *columns;
    return r;
}
