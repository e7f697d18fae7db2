// The bench's results as a table, CSV or JSON.

#include "tuner/base/base.h"
#include "tuner/base/json.h"
#include "tuner/base/table.h"
#include "tuner/simulate/bench.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

double bench_figure(const struct bench_column *c, const void *figures)
{
    return *(const double *)(const void *)((const char *)figures + c->place);
}

static void add_row(struct table *t, const struct bench_options *o, const char *file, const char *strategy,
                    const struct bench_column *columns, size_t count, const void *figures)
{
    table_texts(t, file, strategy);
    for (const struct bench_column *c = columns; c < columns + count; c++) {
        double value = bench_figure(c, figures),
               reached = c->reached ? *(const double *)(const void *)((const char *)figures + c->reached) : 1;
        char text[32];
        snprintf(text, sizeof text, c->format, value * (c->scale > 0 ? c->scale : 1));
        if (isinf(value)) snprintf(text, sizeof text, ">%lld", (long long)o->budgets[o->budget_count - 1]);
        table_cell(t, "%s%s", reached > 1 - 1e-9 ? "" : ">", text);
    }
}

struct table *bench_table(const struct bench_options *o, const struct bench_column *columns, size_t count,
                          const void *cells, const void *overall, size_t size)
{
    const char **titles = memory_new(count + 3, sizeof *titles);
    titles[0] = "file";
    titles[1] = "strategy";
    for (size_t i = 0; i < count; i++) titles[i + 2] = columns[i].title;
    struct table *t = table_new(titles);
    free(titles);
    for (size_t f = 0; f < o->file_count; f++)
        for (size_t s = 0; s < o->strategy_count; s++)
            add_row(t, o, base_name(o->paths[f]), o->strategies[s]->name, columns, count,
                    (const char *)cells + (s * o->file_count + f) * size);
    for (size_t s = 0; s < o->strategy_count && o->file_count > 1; s++)
        add_row(t, o, "mean over files", o->strategies[s]->name, columns, count, (const char *)overall + s * size);
    return t;
}

static struct table *make_table(const struct bench *b, bool detailed)
{
#define FIGURE(member) offsetof(struct bench_cell, member)
    static const struct {
        const char *title, *format;
        size_t place;
    } groups[] = {
        {"mean", "%.4f", FIGURE(mean)}, {"median", "%.4f", FIGURE(median)}, {"1%", "%.3f", FIGURE(within_1_percent)}};
    const struct bench_options *o = &b->options;
    struct bench_column columns[3 * BENCH_MAX_BUDGETS + 8] = {0};
    size_t n = 0, last = o->budget_count - 1;
    for (int g = 0; g < (detailed ? 3 : 1); g++)
        for (size_t i = 0; i < o->budget_count; i++, n++) {
            columns[n] =
                (struct bench_column){.format = groups[g].format, .place = groups[g].place + i * sizeof(double)};
            snprintf(columns[n].title, sizeof columns[n].title, ">%s@%lld", groups[g].title, (long long)o->budgets[i]);
        }
    if (!detailed) {
        columns[n] = (struct bench_column){
            .format = "%.0f%%", .place = FIGURE(within_1_percent) + last * sizeof(double), .scale = 100};
        snprintf(columns[n].title, sizeof columns[n].title, ">1%%@%lld", (long long)o->budgets[last]);
        n++;
    }
    columns[n++] = (struct bench_column){">to 95%", "%.4g", .place = FIGURE(to_95)};
    columns[n++] = (struct bench_column){">to 99%", "%.4g", .place = FIGURE(to_99)};
    if (o->score) columns[n++] = (struct bench_column){">score", "%.3f", .place = FIGURE(score)};
    columns[n++] = (struct bench_column){">ms/proposal", "%.3f", .place = FIGURE(seconds_per_proposal), .scale = 1e3};
    return bench_table(o, columns, n, b->cells, b->overall, sizeof *b->cells);
#undef FIGURE
}

void bench_print_table(const struct bench *b, FILE *out)
{
    struct table *t = make_table(b, false);
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
