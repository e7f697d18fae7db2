// Failures by status and reason, and the values that share them.
#include "tuner/base/base.h"
#include "tuner/report/report_parts.h"

enum { KINDS_MOST = 40, TRIALS_NAMED = 5, SHARES_MOST = 5 };
// A value is listed with a failure if most of the failures have it, and a clearly larger share of them than of all
// trials.
static const double share_least = 0.8, lift_least = 1.25;

struct failure {
    size_t count, status, reason;
    size_t trials[TRIALS_NAMED]; // the first ones, by row of the table
};

static int most_first(const void *a, const void *b)
{
    const struct failure *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    if (x->status != y->status) return x->status < y->status ? -1 : 1;
    return x->reason < y->reason ? -1 : x->reason > y->reason;
}

struct share {
    size_t parameter, value;
    double failed, all;
};

static int highest_lift(const void *a, const void *b)
{
    const struct share *x = a, *y = b;
    double lift = x->failed / x->all, other = y->failed / y->all;
    if (lift < other || lift > other) return lift > other ? -1 : 1;
    return x->parameter < y->parameter ? -1 : 1;
}

// Trials by value; those of a parameter begin at `from`.
struct value_counts {
    size_t from[SPACE_MAX_PARAMETERS + 1];
    size_t *counts;
};

static struct value_counts counts_new(const struct trial_table *t)
{
    struct value_counts c = {{0}, NULL};
    for (size_t p = 0; p < t->parameter_count; p++) c.from[p + 1] = c.from[p] + t->parameters[p].count;
    c.counts = memory_new(c.from[t->parameter_count], sizeof *c.counts);
    return c;
}

static void count_values(struct value_counts *c, const struct trial_table *t, size_t trial)
{
    for (size_t p = 0; p < t->parameter_count; p++) c->counts[c->from[p] + trial_value(t, trial, p)]++;
}

static json_t *shares_of(const struct trial_table *t, const struct failure *f, const struct value_counts *all)
{
    struct share found[SPACE_MAX_PARAMETERS];
    struct value_counts failed = counts_new(t);
    size_t used = 0;
    for (size_t i = 0; i < t->count; i++)
        if (t->status[i] == f->status && t->reasons[i] == f->reason) count_values(&failed, t, i);
    for (size_t p = 0; p < t->parameter_count; p++) {
        size_t most = failed.from[p];
        for (size_t v = most; v < failed.from[p + 1]; v++)
            if (failed.counts[v] > failed.counts[most]) most = v;
        struct share s = {p, most - failed.from[p], (double)failed.counts[most] / (double)f->count,
                          (double)all->counts[most] / (double)t->count};
        if (s.failed >= share_least && s.failed >= lift_least * s.all) found[used++] = s;
    }
    free(failed.counts);
    qsort(found, used, sizeof *found, highest_lift);
    json_t *list = json_array();
    for (size_t k = 0; k < used && k < SHARES_MOST; k++) {
        const struct tried_parameter *p = &t->parameters[found[k].parameter];
        json_array_append_new(list, json_pack("{s:s, s:s, s:f, s:f}", "parameter", p->name, "value",
                                              p->values[found[k].value], "of_failed", found[k].failed, "of_all",
                                              found[k].all));
    }
    return list;
}

json_t *report_failures(const struct result *r)
{
    const struct trial_table *t = &r->table;
    size_t reasons = t->words.count, kinds = 0, left = 0, rest = 0;
    struct failure *all = memory_new(reasons * STATUS_COUNT, sizeof *all);
    for (size_t i = 0; i < t->count; i++) {
        if (!trial_failed((enum trial_status)t->status[i])) continue;
        struct failure *f = &all[t->reasons[i] * STATUS_COUNT + t->status[i]];
        f->status = t->status[i];
        f->reason = t->reasons[i];
        if (f->count < TRIALS_NAMED) f->trials[f->count] = i;
        f->count++;
    }
    for (size_t k = 0; k < reasons * STATUS_COUNT; k++)
        if (all[k].count) all[kinds++] = all[k];
    qsort(all, kinds, sizeof *all, most_first);
    struct value_counts values = counts_new(t);
    for (size_t i = 0; i < t->count; i++) count_values(&values, t, i);
    json_t *list = json_array();
    for (size_t k = 0; k < kinds; k++) {
        if (k >= KINDS_MOST) {
            left++;
            rest += all[k].count;
            continue;
        }
        json_t *trials = json_array();
        for (size_t i = 0; i < all[k].count && i < TRIALS_NAMED; i++)
            json_array_append_new(trials, json_integer((json_int_t)t->ids[all[k].trials[i]]));
        json_array_append_new(list, json_pack("{s:s, s:s, s:I, s:o, s:o}", "status",
                                              status_name((enum trial_status)all[k].status), "reason",
                                              t->words.texts[all[k].reason], "count", (json_int_t)all[k].count,
                                              "trials", trials, "shares", shares_of(t, &all[k], &values)));
    }
    if (left)
        json_array_append_new(list, json_pack("{s:s, s:s, s:I, s:[], s:[]}", "status", "others", "reason",
                                              "rarer kinds of failures together", "count", (json_int_t)rest, "trials",
                                              "shares"));
    free(values.counts);
    free(all);
    return list;
}
