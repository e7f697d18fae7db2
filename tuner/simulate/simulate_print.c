// The figures of a simulation as a table, CSV or JSON.

#include "tuner/base/base.h"
#include "tuner/base/json.h"
#include "tuner/base/table.h"
#include "tuner/simulate/simulate.h"

#define FIGURE(member) .place = offsetof(struct simulate_figures, member)
#define REACHED(member) .reached = offsetof(struct simulate_figures, member)
// The columns of each file besides the qualities.
static const struct bench_column columns[] = {
    {">s to 95%", "%.4g", "seconds_to_95_percent", FIGURE(seconds_to_95), REACHED(reached_95)},
    {">s to 99%", "%.4g", "seconds_to_99_percent", FIGURE(seconds_to_99), REACHED(reached_99)},
    {">n to 95%", "%.4g", "evaluations_to_95_percent", FIGURE(evaluations_to_95), REACHED(reached_95)},
    {">reached 95%", "%.2f", "reached_95_percent", FIGURE(reached_95)},
    {">reached 99%", "%.2f", "reached_99_percent", FIGURE(reached_99)},
    {">compiled/measured", "%.3f", "compiled_per_measured", FIGURE(compiled_per_measured)},
    {">GPU idle", "%.3f", "gpu_idle", FIGURE(idle)},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static struct table *make_table(const struct simulation_bench *b)
{
    const struct simulate_options *o = &b->options;
    struct bench_column all[BENCH_MAX_BUDGETS + SIMULATE_MAX_TIMES + COLUMNS] = {0};
    size_t n = 0;
    for (size_t i = 0; i < o->bench.budget_count; i++, n++) {
        all[n] = (struct bench_column){.format = "%.4f", FIGURE(at_budget[i])};
        snprintf(all[n].title, sizeof all[n].title, ">@%lld", (long long)o->bench.budgets[i]);
    }
    for (size_t i = 0; i < o->time_count; i++, n++) {
        all[n] = (struct bench_column){.format = "%.4f", FIGURE(at_time[i])};
        snprintf(all[n].title, sizeof all[n].title, ">@%gs", o->times[i]);
    }
    memcpy(all + n, columns, sizeof columns);
    return bench_table(&o->bench, all, n + COLUMNS, b->cells, b->overall, sizeof *b->cells);
}

void simulate_print_table(const struct simulation_bench *b, FILE *out)
{
    struct table *t = make_table(b);
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
        json_object_set_new(figures, columns[i].key, json_real_or_null(bench_figure(&columns[i], f)));
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
