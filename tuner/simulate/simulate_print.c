// The figures of a simulation as a table, CSV or JSON.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/json.h"
#include "tuner/base/table.h"
#include "tuner/simulate/simulate.h"

// The columns of each file besides the qualities.
static const struct {
    const char *title, *key, *format;
    size_t place;
    size_t reached; // the share that got there, or 0
} columns[] = {
    {">s to 95%", "seconds_to_95_percent", "%.4g", offsetof(struct simulate_figures, seconds_to_95),
     offsetof(struct simulate_figures, reached_95)},
    {">s to 99%", "seconds_to_99_percent", "%.4g", offsetof(struct simulate_figures, seconds_to_99),
     offsetof(struct simulate_figures, reached_99)},
    {">n to 95%", "evaluations_to_95_percent", "%.4g", offsetof(struct simulate_figures, evaluations_to_95),
     offsetof(struct simulate_figures, reached_95)},
    {">reached 95%", "reached_95_percent", "%.2f", offsetof(struct simulate_figures, reached_95), 0},
    {">reached 99%", "reached_99_percent", "%.2f", offsetof(struct simulate_figures, reached_99), 0},
    {">compiled/measured", "compiled_per_measured", "%.3f", offsetof(struct simulate_figures, compiled_per_measured),
     0},
    {">GPU idle", "gpu_idle", "%.3f", offsetof(struct simulate_figures, idle), 0},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static double value_at(const struct simulate_figures *f, size_t place)
{
    return *(const double *)((const char *)f + place);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static struct table *make_table(const struct simulation_bench *b)
{
    const struct simulate_options *o = &b->options;
    char titles[BENCH_MAX_BUDGETS + SIMULATE_MAX_TIMES][32];
    const char *all[2 + BENCH_MAX_BUDGETS + SIMULATE_MAX_TIMES + COLUMNS + 1] = {"file", "strategy"};
    size_t n = 2;
    for (size_t i = 0; i < o->bench.budget_count; i++, n++) {
        snprintf(titles[n - 2], sizeof titles[0], ">@%lld", (long long)o->bench.budgets[i]);
        all[n] = titles[n - 2];
    }
    for (size_t i = 0; i < o->time_count; i++, n++) {
        snprintf(titles[n - 2], sizeof titles[0], ">@%gs", o->times[i]);
        all[n] = titles[n - 2];
    }
    for (size_t i = 0; i < COLUMNS; i++) all[n++] = columns[i].title;
    all[n] = NULL;
    return table_new(all);
}

static void add_row(struct table *t, const struct simulation_bench *b, const char *file, const char *strategy,
                    const struct simulate_figures *f)
{
    const struct simulate_options *o = &b->options;
    table_cell(t, "%s", file);
    table_cell(t, "%s", strategy);
    for (size_t i = 0; i < o->bench.budget_count; i++) table_cell(t, "%.4f", f->at_budget[i]);
    for (size_t i = 0; i < o->time_count; i++) table_cell(t, "%.4f", f->at_time[i]);
    for (size_t i = 0; i < COLUMNS; i++) {
        char text[32];
        bool all = !columns[i].reached || value_at(f, columns[i].reached) > 1 - 1e-9;
        snprintf(text, sizeof text, columns[i].format, value_at(f, columns[i].place));
        table_cell(t, "%s%s", all ? "" : ">", text);
    }
}

static void fill(struct table *t, const struct simulation_bench *b)
{
    const struct bench_options *o = &b->options.bench;
    for (size_t f = 0; f < o->file_count; f++)
        for (size_t s = 0; s < o->strategy_count; s++)
            add_row(t, b, base_name(o->paths[f]), o->strategies[s]->name, &b->cells[s * o->file_count + f]);
    for (size_t s = 0; s < o->strategy_count && o->file_count > 1; s++)
        add_row(t, b, "mean over files", o->strategies[s]->name, &b->overall[s]);
}

void simulate_print_table(const struct simulation_bench *b, FILE *out)
{
    struct table *t = make_table(b);
    fill(t, b);
    table_print(t, out);
    table_free(t);
    fprintf(out,
            "\noptimum / best found after N unique evaluations or simulated seconds, mean over %lld seeds; s and "
            "n\nto 95%%: mean seconds and evaluations ('>': some runs ended before).\n",
            (long long)b->options.bench.seeds);
}

void simulate_print_csv(const struct simulation_bench *b, FILE *out)
{
    struct table *t = make_table(b);
    fill(t, b);
    table_print_csv(t, out);
    table_free(t);
}

static json_t *figures_json(const struct simulation_bench *b, const struct simulate_figures *f)
{
    const struct simulate_options *o = &b->options;
    json_t *figures = json_object(), *evaluations = json_object(), *seconds = json_object();
    char key[32];
    for (size_t i = 0; i < o->bench.budget_count; i++) {
        snprintf(key, sizeof key, "%lld", (long long)o->bench.budgets[i]);
        json_object_set_new(evaluations, key, json_real_or_null(f->at_budget[i]));
    }
    for (size_t i = 0; i < o->time_count; i++) {
        snprintf(key, sizeof key, "%g", o->times[i]);
        json_object_set_new(seconds, key, json_real_or_null(f->at_time[i]));
    }
    json_object_set_new(figures, "evaluations", evaluations);
    json_object_set_new(figures, "seconds", seconds);
    for (size_t i = 0; i < COLUMNS; i++)
        json_object_set_new(figures, columns[i].key, json_real_or_null(value_at(f, columns[i].place)));
    return figures;
}

// Seconds that were given, or "recorded".
static json_t *given(double seconds)
{
    return isnan(seconds) ? json_string("recorded") : json_real(seconds);
}

void simulate_print_json(const struct simulation_bench *b, FILE *out)
{
    const struct bench_options *o = &b->options.bench;
    const struct simulate_settings *settings = &b->options.settings;
    json_t *summary = json_object(), *files = json_array();
    for (size_t s = 0; s < o->strategy_count; s++)
        json_object_set_new(summary, o->strategies[s]->name, figures_json(b, &b->overall[s]));
    for (size_t f = 0; f < o->file_count; f++) {
        json_t *results = json_object();
        for (size_t s = 0; s < o->strategy_count; s++)
            json_object_set_new(results, o->strategies[s]->name, figures_json(b, &b->cells[s * o->file_count + f]));
        json_array_append_new(files, json_pack("{s:s,s:o}", "file", o->paths[f], "results", results));
    }
    json_t *document =
        json_pack("{s:I,s:I,s:o,s:o,s:I,s:I,s:o,s:o}", "compilers", (json_int_t)settings->compilers, "gpus",
                  (json_int_t)settings->gpus, "compile", given(settings->compile), "gpu", given(settings->gpu), "seeds",
                  (json_int_t)o->seeds, "first_seed", (json_int_t)o->first_seed, "summary", summary, "files", files);
    json_print_document("sweetspot-simulation", 1, document, out);
    json_decref(document);
}
