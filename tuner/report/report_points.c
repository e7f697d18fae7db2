// Single trials with all their figures, one column per figure: the numbers in the table of fields, and the counters.
// The trials are a selection, so that a store with a million trials costs no more than one with thousands.
//
// If there are several problems or stages, a figure has a column for each of them ("icache_misses of M=8192").
#include <assert.h>

#include "search/space/random.h"
#include "tuner/report/report_parts.h"
#include "tuner/trial/metrics.h"
#include "tuner/trial/trial_field.h"

enum { COLUMNS_MOST = 240, FIRST_COLUMNS = 2, TRIALS_PER_POINT = 50, SAMPLE_SEED = 1 };

struct points {
    const struct result *result;
    struct string_pool columns;
    const char *units[COLUMNS_MOST], *meanings[COLUMNS_MOST];
    double row[COLUMNS_MOST];
    size_t left_out; // figures without a column, over all trials
    json_t *rows;
};

static void put(struct points *c, const char *name, const char *unit, const char *meaning, double value)
{
    if (!isfinite(value)) return;
    size_t known = c->columns.count, i = string_pool_put(&c->columns, name, strlen(name));
    if (i >= COLUMNS_MOST) {
        c->left_out++;
        return;
    }
    if (c->columns.count > known) {
        c->units[i] = unit;
        c->meanings[i] = meaning;
        c->row[i] = NAN;
    }
    c->row[i] = value;
}

static double number_of(const struct trial_field *f, const void *record)
{
    const void *place = (const char *)record + f->place;
    if (!field_known(f, record)) return NAN;
    return f->kind == FIELD_REAL ? *(const double *)place : (double)*(const int64_t *)place;
}

// The objective is the column "time"; trials are numbered in the order in which they finished.
static bool is_figure(const struct trial_field *f)
{
    return (f->kind == FIELD_REAL || f->kind == FIELD_INTEGER || f->kind == FIELD_COUNT) &&
           !(f->level == FIELD_TRIAL && (!strcmp(f->name, "objective") || !strcmp(f->name, "finished")));
}

static void put_level(struct points *c, enum field_level level, const void *record, const char *part)
{
    size_t count;
    const struct trial_field *fields = trial_fields(&count);
    for (size_t i = 0; i < count; i++) {
        const struct trial_field *f = &fields[i];
        if (f->level != level || !is_figure(f)) continue;
        if (!part) { // the only problem or stage: skip figures that the trial has too
            if (level == FIELD_PROBLEM && !strcmp(f->name, "time")) continue;
            if (level == FIELD_STAGE && trial_field_find(FIELD_TRIAL, f->name)) continue;
        }
        autofree char *name = part ? text_format("%s of %s", f->name, part) : NULL;
        put(c, name ? name : f->name, f->unit, f->meaning, number_of(f, record));
    }
}

static void put_counter(struct points *c, const struct trial *trial, const struct trial_counter *counter, size_t tuned)
{
    const struct metric *metric = metrics_find_key(counter->key);
    const char *problem = NULL, *stage = NULL;
    if (tuned > 1 && counter->problem >= 0 && (size_t)counter->problem < trial->problem_count)
        problem = trial->problems[counter->problem].name;
    if (trial->stage_count > 1 && counter->stage >= 0 && (size_t)counter->stage < trial->stage_count)
        stage = trial->stages[counter->stage].name;
    autofree char *name = text_format("%s%s%s%s%s", counter->key, problem || stage ? " of " : "",
                                      problem ? problem : "", problem && stage ? ", " : "", stage ? stage : "");
    put(c, name, metric ? metric->unit : "", metric ? metric->description : "a counter that the job names",
        counter->value);
}

static void add_point(struct points *c, const struct trial *trial)
{
    size_t tuned = 0;
    for (size_t i = 0; i < c->columns.count && i < COLUMNS_MOST; i++) c->row[i] = NAN;
    for (size_t p = 0; p < trial->problem_count; p++) tuned += trial->problems[p].tuned;
    put_level(c, FIELD_TRIAL, trial, NULL);
    for (size_t p = 0; p < trial->problem_count; p++)
        if (trial->problems[p].tuned)
            put_level(c, FIELD_PROBLEM, &trial->problems[p], tuned > 1 ? trial->problems[p].name : NULL);
    for (size_t s = 0; s < trial->stage_count; s++)
        put_level(c, FIELD_STAGE, &trial->stages[s], trial->stage_count > 1 ? trial->stages[s].name : NULL);
    for (size_t k = 0; k < trial->counter_count; k++) put_counter(c, trial, &trial->counters[k], tuned);
    json_t *row = json_pack("[I, f]", (json_int_t)trial->id, trial->objective);
    for (size_t i = 0; i < c->columns.count && i < COLUMNS_MOST; i++)
        json_array_append_new(row, json_brief_or_null(c->row[i]));
    json_array_append_new(c->rows, row);
}

// Later trials may have more columns than the first ones.
static json_t *columns_json(struct points *c, json_t *values, size_t shown)
{
    size_t count = smaller_of(c->columns.count, COLUMNS_MOST);
    json_t *names = json_pack("[s, s]", "trial", "time"), *units = json_pack("[s, s]", "", "s"),
           *meanings = json_pack("[s, s]", "number of the trial", "the objective, over the problems' times");
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(names, json_string(c->columns.texts[i]));
        json_array_append_new(units, json_string(c->units[i]));
        json_array_append_new(meanings, json_string(c->meanings[i]));
    }
    json_array_each(c->rows, i, row)
        while (json_array_size(row) < count + FIRST_COLUMNS) json_array_append_new(row, json_null());
    return json_pack("{s:I, s:I, s:o, s:o, s:o, s:O, s:o, s:I}", "shown", (json_int_t)shown, "of",
                     (json_int_t)c->result->table.timed, "columns", names, "units", units, "meanings", meanings, "rows",
                     c->rows, "values", values, "figures_left_out", (json_int_t)c->left_out);
}

static int ascending(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

// Chooses at most `limit` timed trials. A quarter of them are the fastest trials, and the rest are a random sample of
// the others. Returns the indices of the chosen trials in the table, ascending and malloc'ed. The choice depends only
// on the trials, so the same store gives the same page. The sample is drawn in one pass, every trial with the same
// probability: Knuth, The Art of Computer Programming, volume 2, section 3.4.2, algorithm S.
static size_t *choose(const struct result *r, size_t limit, size_t *count)
{
    const struct trial_table *t = &r->table;
    struct random random;
    size_t *chosen = memory_new(limit, sizeof *chosen), n = t->timed < limit ? t->timed : limit;
    size_t best = limit / 4 < n ? limit / 4 : n;
    random_seed(&random, SAMPLE_SEED);
    for (*count = 0; *count < best; ++*count) chosen[*count] = t->order[*count];
    for (size_t k = best; k < t->timed && *count < n; k++)
        if (random_below(&random, t->timed - k) < n - *count) chosen[(*count)++] = t->order[k];
    qsort(chosen, *count, sizeof *chosen, ascending);
    return chosen;
}

int report_points(const struct result *r, json_t **points, struct error *err)
{
    const struct trial_table *t = &r->table;
    size_t count;
    autofree size_t *chosen = choose(r, r->source->points, &count);
    autofree struct points *c = memory_new(1, sizeof *c);
    json_t *values = json_array();
    int status = 0;
    c->result = r;
    c->rows = json_array();
    for (size_t k = 0; k < count && !status; k++) {
        struct trial trial;
        status = store_get(r->store, t->rows[chosen[k]].id, &trial, err);
        if (status < 0) break;
        assert(!status); // trials are never deleted
        add_point(c, &trial);
        json_t *indices = json_array();
        for (size_t p = 0; p < t->parameter_count; p++)
            json_array_append_new(indices, json_integer(trial_value(t, chosen[k], p)));
        json_array_append_new(values, indices);
    }
    *points = columns_json(c, values, count);
    json_decref(c->rows);
    string_pool_release(&c->columns);
    return status;
}

json_t *report_trials(const struct result *r)
{
    const struct trial_table *t = &r->table;
    size_t limit = r->source->points * TRIALS_PER_POINT, count = t->count < limit ? t->count : limit;
    autofree size_t *chosen = memory_new(count, sizeof *chosen);
    for (size_t k = 0; k < count; k++) // evenly spread
        chosen[k] = count > 1 ? (size_t)((double)k * (double)(t->count - 1) / (double)(count - 1) + 0.5) : 0;
    json_t *ids = json_array(), *times = json_array(), *status = json_array(), *values = json_array();
    for (size_t k = 0; k < count; k++) {
        json_array_append_new(ids, json_integer((json_int_t)t->rows[chosen[k]].id));
        json_array_append_new(times, json_brief_or_null(t->rows[chosen[k]].time));
        json_array_append_new(status, json_string(status_name((enum trial_status)t->rows[chosen[k]].status)));
    }
    for (size_t p = 0; p < t->parameter_count; p++) {
        json_t *own = json_array();
        for (size_t k = 0; k < count; k++) json_array_append_new(own, json_integer(trial_value(t, chosen[k], p)));
        json_array_append_new(values, own);
    }
    return json_pack("{s:I, s:o, s:o, s:o, s:o}", "of", (json_int_t)t->count, "trial", ids, "time", times, "status",
                     status, "values", values);
}
