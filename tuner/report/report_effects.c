// The effect of each parameter on the time.
//
// Importance is the correlation ratio of the logarithm of the time (Pearson 1905): the share of its variance that lies
// between the parameter's values. It has Kelley's correction for the number of values (epsilon squared: T. L. Kelley,
// An unbiased correlation ratio measure, PNAS 21, 1935). Without this correction, a parameter with a thousand values
// would seem to explain everything. Importance covers only main effects, over the trials that the search chose. If a
// parameter matters only together with another, the importance of both is underestimated.
#include "tuner/report/report_parts.h"

const char report_importance_method[] =
    "correlation ratio of log time by value, corrected for the number of values (Kelley's epsilon squared)";

struct by_value {
    size_t trials, ok, timed; // timed: ok or slow, with a time
    size_t from, filled;      // first index, and count, of its times in `times`
    double best;              // s, of the trials with status ok
    double sum;               // of the times' logarithms
};

// Interpolates linearly between ranks, as numpy and R do by default (type 7).
static double quantile(const double *sorted, size_t n, double q)
{
    if (!n) return NAN;
    double place = q * (double)(n - 1);
    size_t below = (size_t)place, above = below + 1 < n ? below + 1 : below;
    return sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
}

// The figures for each value of a parameter. `times` must have room for all times; it receives them grouped by value,
// ascending within each group. `logs`: the logarithms of the times, in the order of t->order.
static struct by_value *gather(const struct trial_table *t, size_t p, const double *logs, double *times)
{
    size_t count = t->parameters[p].count;
    struct by_value *values = memory_new(count, sizeof *values);
    for (size_t v = 0; v < count; v++) values[v].best = INFINITY;
    for (size_t i = 0; i < t->count; i++) {
        struct by_value *v = &values[trial_value(t, i, p)];
        v->trials++;
        v->timed += isnan(t->rows[i].time) ? 0 : 1;
        if (t->rows[i].status != STATUS_OK) continue;
        v->ok++;
        v->best = fmin(v->best, t->rows[i].time); // skips NaN
    }
    for (size_t v = 1; v < count; v++) values[v].from = values[v - 1].from + values[v - 1].timed;
    for (size_t k = 0; k < t->timed; k++) {
        struct by_value *v = &values[trial_value(t, t->order[k], p)];
        times[v->from + v->filled++] = t->rows[t->order[k]].time;
        v->sum += logs[k];
    }
    return values;
}

// Importance; NaN where it is undefined: a single value, or as many values as trials.
static double importance_of(const struct trial_table *t, const double *logs, const struct by_value *values,
                            size_t count)
{
    double sum = 0, total = 0, between = 0, n = (double)t->timed;
    size_t used = 0;
    for (size_t v = 0; v < count; v++) {
        sum += values[v].sum;
        used += values[v].timed > 0;
    }
    if (used < 2 || t->timed <= used) return NAN;
    double mean = sum / n;
    for (size_t k = 0; k < t->timed; k++) {
        double d = logs[k] - mean;
        total += d * d;
    }
    for (size_t v = 0; v < count; v++) {
        if (!values[v].timed) continue;
        double d = values[v].sum / (double)values[v].timed - mean;
        between += (double)values[v].timed * d * d;
    }
    double error = fmax(total - between, 0) / (n - (double)used); // mean square within the values
    return total > 0 ? fmin(fmax((between - (double)(used - 1) * error) / total, 0), 1) : (double)NAN;
}

json_t *report_parameters(const struct result *r)
{
    const struct trial_table *t = &r->table;
    autofree double *times = memory_new(t->timed, sizeof *times), *logs = memory_new(t->timed, sizeof *logs);
    json_t *list = json_array();
    for (size_t k = 0; k < t->timed; k++) logs[k] = log(t->rows[t->order[k]].time);
    for (size_t p = 0; p < t->parameter_count; p++) {
        const struct tried_parameter *parameter = &t->parameters[p];
        autofree struct by_value *values = gather(t, p, logs, times);
        json_t *names = json_array(), *figures = json_array();
        double importance = importance_of(t, logs, values, parameter->count);
        for (size_t v = 0; v < parameter->count; v++) {
            const double *own = times + values[v].from;
            size_t n = values[v].timed;
            json_array_append_new(names, json_string(parameter->values[v]));
            json_array_append_new(figures, json_pack("{s:I, s:I, s:f, s:f, s:f, s:f}", "n",
                                                     (json_int_t)values[v].trials, "ok", (json_int_t)values[v].ok,
                                                     "best", values[v].best, "q1", quantile(own, n, 0.25), "median",
                                                     quantile(own, n, 0.5), "q3", quantile(own, n, 0.75)));
        }
        json_array_append_new(
            list, json_pack("{s:s, s:o, s:o, s:f, s:o}", "name", parameter->name, "values", names, "grouped",
                            parameter->grouped ? json_integer((json_int_t)parameter->grouped) : json_null(),
                            "importance", importance, "by_value", figures));
    }
    return list;
}
