// The bench's results as a table, CSV or JSON.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/json.h"
#include "tuner/base/table.h"
#include "tuner/simulate/bench.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void evaluations_cell(struct table *t, double evaluations, int64_t budget)
{
    if (isfinite(evaluations))
        table_cell(t, "%.4g", evaluations);
    else
        table_cell(t, ">%lld", (long long)budget);
}

static struct table *make_table(const struct bench *b, bool detailed)
{
    const struct bench_options *o = &b->options;
    static const char *const groups[] = {"mean", "median", "1%"};
    char titles[3 * BENCH_MAX_BUDGETS][32];
    const char *columns[3 * BENCH_MAX_BUDGETS + 8] = {"file", "strategy"};
    size_t n = 2;
    for (int g = 0; g < (detailed ? 3 : 1); g++) {
        for (size_t i = 0; i < o->budget_count; i++) {
            snprintf(titles[n], sizeof titles[n], ">%s@%lld", groups[g], (long long)o->budgets[i]);
            columns[n] = titles[n];
            n++;
        }
    }
    char within[32];
    if (!detailed) {
        snprintf(within, sizeof within, ">1%%@%lld", (long long)o->budgets[o->budget_count - 1]);
        columns[n++] = within;
    }
    columns[n++] = ">to 95%";
    columns[n++] = ">to 99%";
    if (o->score) columns[n++] = ">score";
    columns[n++] = ">ms/proposal";
    columns[n] = NULL;
    return table_new(columns);
}

static void add_row(struct table *t, const struct bench *b, const char *file, const char *strategy,
                    const struct bench_cell *c, bool detailed)
{
    const struct bench_options *o = &b->options;
    size_t last = o->budget_count - 1;
    table_cell(t, "%s", file);
    table_cell(t, "%s", strategy);
    for (size_t i = 0; i < o->budget_count; i++) table_cell(t, "%.4f", c->mean[i]);
    for (size_t i = 0; detailed && i < o->budget_count; i++) table_cell(t, "%.4f", c->median[i]);
    for (size_t i = 0; detailed && i < o->budget_count; i++) table_cell(t, "%.3f", c->within_1_percent[i]);
    if (!detailed) table_cell(t, "%.0f%%", 100 * c->within_1_percent[last]);
    evaluations_cell(t, c->to_95, o->budgets[last]);
    evaluations_cell(t, c->to_99, o->budgets[last]);
    if (o->score) table_cell(t, "%.3f", c->score);
    table_cell(t, "%.3f", 1e3 * c->seconds_per_proposal);
}

static void fill(struct table *t, const struct bench *b, bool detailed)
{
    const struct bench_options *o = &b->options;
    for (size_t f = 0; f < o->file_count; f++)
        for (size_t s = 0; s < o->strategy_count; s++)
            add_row(t, b, base_name(o->paths[f]), o->strategies[s]->name, &b->cells[s * o->file_count + f], detailed);
    for (size_t s = 0; s < o->strategy_count && o->file_count > 1; s++)
        add_row(t, b, "mean over files", o->strategies[s]->name, &b->overall[s], detailed);
}

void bench_print_table(const struct bench *b, FILE *out)
{
    struct table *t = make_table(b, false);
    fill(t, b, false);
    table_print(t, out);
    table_free(t);
    fprintf(
        out,
        "\noptimum / best found after N unique evaluations, mean over %lld seeds; 1%%: share of seeds within 1%% of "
        "the optimum;\n"
        "to 95%%: median evaluations.\n",
        (long long)b->options.seeds);
}

void bench_print_csv(const struct bench *b, FILE *out)
{
    struct table *t = make_table(b, true);
    fill(t, b, true);
    table_print_csv(t, out);
    table_free(t);
}

static json_t *cell_json(const struct bench *b, const struct bench_cell *c)
{
    const struct bench_options *o = &b->options;
    json_t *cell = json_object();
    for (size_t i = 0; i < o->budget_count; i++) {
        char key[32];
        snprintf(key, sizeof key, "%lld", (long long)o->budgets[i]);
        json_object_set_new(cell, key,
                            json_pack("{s:o,s:o,s:o}", "mean", json_real_or_null(c->mean[i]), "median",
                                      json_real_or_null(c->median[i]), "within_1_percent",
                                      json_real_or_null(c->within_1_percent[i])));
    }
    json_object_set_new(cell, "evaluations_to_95_percent", json_real_or_null(c->to_95));
    json_object_set_new(cell, "evaluations_to_99_percent", json_real_or_null(c->to_99));
    if (o->score) json_object_set_new(cell, "score", json_real_or_null(c->score));
    json_object_set_new(cell, "seconds_per_proposal", json_real_or_null(c->seconds_per_proposal));
    return cell;
}

void bench_print_json(const struct bench *b, FILE *out)
{
    const struct bench_options *o = &b->options;
    json_t *overall = json_object(), *summary = json_object(), *files = json_array(), *budgets = json_array();
    for (size_t i = 0; i < o->budget_count; i++) json_array_append_new(budgets, json_integer(o->budgets[i]));
    for (size_t s = 0; s < o->strategy_count; s++) {
        json_t *means = json_object();
        for (size_t i = 0; i < o->budget_count; i++) {
            char key[32];
            snprintf(key, sizeof key, "%lld", (long long)o->budgets[i]);
            json_object_set_new(means, key, json_real_or_null(b->overall[s].mean[i]));
        }
        json_object_set_new(overall, o->strategies[s]->name, means);
        json_object_set_new(summary, o->strategies[s]->name, cell_json(b, &b->overall[s]));
    }
    for (size_t f = 0; f < o->file_count; f++) {
        const struct recorded *r = o->files[f];
        size_t failed = 0;
        for (size_t i = 0; i < r->trial_count; i++) failed += r->trials[i].status != STATUS_OK;
        json_t *results = json_object();
        for (size_t s = 0; s < o->strategy_count; s++)
            json_object_set_new(results, o->strategies[s]->name, cell_json(b, &b->cells[s * o->file_count + f]));
        json_t *file = json_pack("{s:s,s:I,s:I,s:o,s:o}", "file", o->paths[f], "configurations",
                                 (json_int_t)r->trial_count, "failed", (json_int_t)failed, "optimum_seconds",
                                 json_real_or_null(b->optimum[f]), "results", results);
        if (o->score) json_object_set_new(file, "score_cutoff", json_integer(b->cutoff[f]));
        json_array_append_new(files, file);
    }
    json_t *document = json_pack("{s:o,s:I,s:I,s:I,s:o,s:o,s:o}", "budgets", budgets, "seeds", (json_int_t)o->seeds,
                                 "first_seed", (json_int_t)o->first_seed, "ahead", (json_int_t)o->ahead, "overall",
                                 overall, "summary", summary, "files", files);
    json_print_document("sweetspot-replay", 1, document, out);
    json_decref(document);
}
