// The bench's results as table rows or JSON.

#include "tuner/simulate/bench.h"

static double figure(const void *figures, size_t place)
{
    return *(const double *)(const void *)((const char *)figures + place);
}

static double scaled(const struct bench_column *c, const void *figures)
{
    return figure(figures, c->place) * (c->scale > 0 ? c->scale : 1);
}

static void add_cells(struct table *t, const struct bench_rows *r, const char *file, const char *strategy,
                      const void *figures)
{
    table_texts(t, file, strategy);
    for (const struct bench_column *c = r->columns; c < r->columns + r->column_count; c++) {
        double value = scaled(c, figures), reached = c->reached ? figure(figures, c->reached) : 1;
        char text[32];
        snprintf(text, sizeof text, c->format, value);
        if (isinf(value))
            snprintf(text, sizeof text, ">%lld", (long long)r->options->budgets[r->options->budget_count - 1]);
        if (isnan(value)) *text = 0;
        table_cell(t, "%s%s", reached > 1 - 1e-9 ? "" : ">", text);
    }
}

// Returns the figures of a row and sets *file and *strategy; NULL after the last row.
static const void *row_at(const struct bench_rows *r, size_t row, const char **file, const char **strategy)
{
    size_t f = row / r->options->strategy_count, s = row % r->options->strategy_count, files = r->options->file_count;
    if (f > files || (f == files && files == 1)) return NULL;
    *file = f < files ? text_file_name(r->options->paths[f]) : "mean over files";
    *strategy = r->options->strategies[s]->name;
    return (const char *)(f < files ? r->cells : r->overall) + (f < files ? s * files + f : s) * r->size;
}

struct table *bench_table(const struct bench_rows *r)
{
    const char *titles[BENCH_MOST_COLUMNS + 3] = {"file", "strategy"}, *file, *strategy;
    const void *figures;
    for (size_t i = 0; i < r->column_count; i++) titles[i + 2] = r->columns[i].title;
    struct table *t = table_new(titles);
    for (size_t i = 0; (figures = row_at(r, i, &file, &strategy)); i++) add_cells(t, r, file, strategy, figures);
    return t;
}

json_t *bench_json(const struct bench_rows *r)
{
    const char *file, *strategy;
    const void *figures;
    json_t *rows = json_array();
    for (size_t i = 0; (figures = row_at(r, i, &file, &strategy)); i++) {
        json_t *row = json_pack("{s:s, s:s}", "file", file, "strategy", strategy);
        for (const struct bench_column *c = r->columns; c < r->columns + r->column_count; c++)
            json_object_set_new(row, c->title + (*c->title == '>'), json_real(scaled(c, figures)));
        json_array_append_new(rows, row);
    }
    return json_pack("{s:I, s:I, s:o}", "seeds", (json_int_t)r->options->seeds, "first_seed",
                     (json_int_t)r->options->first_seed, "rows", rows);
}

void bench_add_columns(struct bench_rows *r, bool detailed)
{
#define FIGURE(member) offsetof(struct bench_cell, member)
    static const struct {
        const char *title, *format;
        size_t place;
    } groups[] = {
        {"mean", "%.4f", FIGURE(mean)}, {"median", "%.4f", FIGURE(median)}, {"1%", "%.3f", FIGURE(within_1_percent)}};
    const struct bench_options *o = r->options;
    r->kind = "sweetspot-replay";
    r->budgets = "";
    r->legend = "1%: share of seeds within 1% of the optimum;\nto 95%: median evaluations; score: of the published "
                "methodology ('-': after more evaluations).";
    size_t n = 0, last = o->budget_count - 1;
    for (int g = 0; g < (detailed ? 3 : 1); g++)
        for (size_t i = 0; i < o->budget_count; i++, n++) {
            r->columns[n] =
                (struct bench_column){.format = groups[g].format, .place = groups[g].place + i * sizeof(double)};
            snprintf(r->columns[n].title, sizeof r->columns[n].title, ">%s@%lld", groups[g].title,
                     (long long)o->budgets[i]);
        }
    if (!detailed) {
        r->columns[n] = (struct bench_column){
            .format = "%.0f%%", .place = FIGURE(within_1_percent) + last * sizeof(double), .scale = 100};
        snprintf(r->columns[n].title, sizeof r->columns[n].title, ">1%%@%lld", (long long)o->budgets[last]);
        n++;
    }
    r->columns[n++] = (struct bench_column){">to 95%", "%.4g", .place = FIGURE(to_95)};
    r->columns[n++] = (struct bench_column){">to 99%", "%.4g", .place = FIGURE(to_99)};
    r->columns[n++] = (struct bench_column){">score", "%.3f", .place = FIGURE(score)};
    r->columns[n++] =
        (struct bench_column){">ms/proposal", "%.3f", .place = FIGURE(seconds_per_proposal), .scale = 1e3};
    r->column_count = n;
#undef FIGURE
}
