// Failures by status and reason.
#include "tuner/report/report_parts.h"

enum { KINDS_MOST = 40, TRIALS_NAMED = 5 };

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

json_t *report_failures(const struct result *r)
{
    const struct trial_table *t = &r->table;
    size_t reasons = t->words.count, kinds = 0, left = 0, rest = 0;
    autofree struct failure *all = memory_new(reasons * STATUS_COUNT, sizeof *all);
    for (size_t i = 0; i < t->count; i++) {
        if (!trial_failed((enum trial_status)t->rows[i].status)) continue;
        struct failure *f = &all[t->rows[i].reason * STATUS_COUNT + t->rows[i].status];
        f->status = t->rows[i].status;
        f->reason = t->rows[i].reason;
        if (f->count < TRIALS_NAMED) f->trials[f->count] = i;
        f->count++;
    }
    for (size_t k = 0; k < reasons * STATUS_COUNT; k++)
        if (all[k].count) all[kinds++] = all[k];
    qsort(all, kinds, sizeof *all, most_first);
    json_t *list = json_array();
    for (size_t k = 0; k < kinds; k++) {
        if (k >= KINDS_MOST) {
            left++;
            rest += all[k].count;
            continue;
        }
        json_t *trials = json_array();
        for (size_t i = 0; i < all[k].count && i < TRIALS_NAMED; i++)
            json_array_append_new(trials, json_integer((json_int_t)t->rows[all[k].trials[i]].id));
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:I, s:o}", "status", status_name((enum trial_status)all[k].status), "reason",
                            t->words.texts[all[k].reason], "count", (json_int_t)all[k].count, "trials", trials));
    }
    if (left)
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:I, s:[]}", "status", "others", "reason",
                                        "rarer kinds of failures, combined", "count", (json_int_t)rest, "trials"));
    return list;
}
