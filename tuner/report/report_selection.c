// Which trials are shown one by one. The choice depends only on the trials: the same store gives the same page.
#include "search/space/random.h"
#include "tuner/base/base.h"
#include "tuner/report/report_parts.h"

enum { LINES_MOST = 2000, LINES_BEST = 500, SAMPLE_SEED = 1 };

static int ascending(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

// The sample is drawn in one pass, every trial with the same probability: Knuth, The Art of Computer Programming,
// volume 2, section 3.4.2, algorithm S.
size_t *report_select(const struct result *r, size_t limit, size_t best, size_t *count)
{
    const struct trial_table *t = &r->table;
    struct random random;
    size_t *chosen = memory_new(limit, sizeof *chosen), n = t->timed < limit ? t->timed : limit;
    if (best > n) best = n;
    random_seed(&random, SAMPLE_SEED);
    for (*count = 0; *count < best; ++*count) chosen[*count] = t->order[*count];
    for (size_t k = best; k < t->timed && *count < n; k++)
        if (random_below(&random, t->timed - k) < n - *count) chosen[(*count)++] = t->order[k];
    qsort(chosen, *count, sizeof *chosen, ascending);
    return chosen;
}

size_t *report_select_evenly(const struct result *r, size_t limit, size_t *count)
{
    size_t all = r->table.count, *chosen = memory_new(limit, sizeof *chosen);
    *count = all < limit ? all : limit;
    for (size_t k = 0; k < *count; k++)
        chosen[k] = *count > 1 ? (size_t)((double)k * (double)(all - 1) / (double)(*count - 1) + 0.5) : 0;
    return chosen;
}

json_t *report_lines(const struct result *r)
{
    const struct trial_table *t = &r->table;
    size_t count, *chosen = report_select(r, LINES_MOST, LINES_BEST, &count);
    json_t *rows = json_array();
    for (size_t k = 0; k < count; k++) {
        json_t *row = json_pack("[I]", (json_int_t)t->ids[chosen[k]]);
        for (size_t p = 0; p < t->parameter_count; p++)
            json_array_append_new(row, json_integer(trial_value(t, chosen[k], p)));
        json_array_append_new(row, json_real(t->times[chosen[k]]));
        json_array_append_new(rows, row);
    }
    free(chosen);
    return json_pack("{s:I, s:I, s:i, s:i, s:o}", "shown", (json_int_t)count, "of", (json_int_t)t->timed, "best",
                     LINES_BEST, "seed", SAMPLE_SEED, "rows", rows);
}
