// Runs strategies on recorded spaces; see bench.h.
#include "tuner/simulate/bench.h"

#include <stdatomic.h>

#include "kernels/parallel.h"
#include "tuner/base/base.h"
#include "tuner/base/clock.h"
#include "tuner/base/stats.h"

// The figures of one run.
struct run_figures {
    double quality[BENCH_MAX_BUDGETS];
    double to_95, to_99; // evaluations to that quality; infinite when not reached
    double seconds_per_proposal;
};

struct runs {
    const struct bench_options *o;
    struct run_figures *figures; // a run
};

static int run(void *user, const struct bench_run *run, struct error *err)
{
    const struct runs *runs = user;
    const struct bench_options *o = runs->o;
    const struct recorded *r = o->files[run->file];
    struct run_figures *f = &runs->figures[run->number];
    double start = clock_cpu(), best = INFINITY, optimum = r->trials[r->best].objective;
    struct strategy *s = strategy_new(run->class, r->space, &run->options);
    size_t width = r->parameter_count, waiting = 0, budget = 0;
    uint16_t *configs = memory_new((size_t)o->ahead * width, sizeof *configs);
    int64_t done = 0;
    int result = 0;
    f->to_95 = f->to_99 = INFINITY;
    while (budget < o->budget_count && result == 0) {
        while (waiting < (size_t)o->ahead && strategy_ask(s, configs + waiting * width)) {
            if (recorded_find(r, configs + waiting * width) < 0) {
                result = error_set(err, "strategy '%s' proposed a configuration that is not valid", run->class->name);
                break;
            }
            waiting++;
        }
        if (waiting == 0 || result < 0) break;
        struct observation observation = recorded_observation(r, (size_t)recorded_find(r, configs));
        strategy_tell(s, &observation);
        memmove(configs, configs + width, --waiting * width * sizeof *configs);
        if (observation.outcome == OUTCOME_OK && observation.objective < best) best = observation.objective;
        done++;
        if (isinf(f->to_95) && optimum / best >= 0.95) f->to_95 = (double)done;
        if (isinf(f->to_99) && optimum / best >= 0.99) f->to_99 = (double)done;
        if (done == o->budgets[budget]) f->quality[budget++] = optimum / best;
    }
    strategy_free(s);
    f->seconds_per_proposal = (clock_cpu() - start) / (double)(done ? done : 1);
    while (budget < o->budget_count) f->quality[budget++] = optimum / best; // the space is exhausted
    free(configs);
    return result;
}

static double figure(const void *figures, size_t place)
{
    return *(const double *)(const void *)((const char *)figures + place);
}

// The median over the seeds of a figure, which is at `place` in the struct.
static double median(const struct run_figures *runs, size_t seeds, size_t place)
{
    double *values = memory_new(seeds, sizeof *values);
    for (size_t i = 0; i < seeds; i++) values[i] = figure(&runs[i], place);
    double middle = stats_median(values, seeds);
    free(values);
    return middle;
}

// Of a strategy on a file, from its runs.
static void evaluate_cell(struct bench_cell *cell, const struct bench_options *o, const struct run_figures *runs)
{
    size_t seeds = (size_t)o->seeds;
    for (size_t i = 0; i < o->budget_count; i++) {
        double sum = 0, near = 0;
        for (size_t seed = 0; seed < seeds; seed++) {
            sum += runs[seed].quality[i];
            near += runs[seed].quality[i] >= 0.99;
        }
        cell->mean[i] = sum / (double)seeds;
        cell->within_1_percent[i] = near / (double)seeds;
        cell->median[i] = median(runs, seeds, offsetof(struct run_figures, quality) + i * sizeof(double));
    }
    cell->to_95 = median(runs, seeds, offsetof(struct run_figures, to_95));
    cell->to_99 = median(runs, seeds, offsetof(struct run_figures, to_99));
    for (size_t seed = 0; seed < seeds; seed++)
        cell->seconds_per_proposal += runs[seed].seconds_per_proposal / (double)seeds;
}

size_t bench_runs(const struct bench_options *o)
{
    return o->strategy_count * o->file_count * (size_t)o->seeds;
}

struct deal {
    const struct bench_options *options;
    bench_runner *one;
    void *user;
    atomic_flag failed; // `error` is set
    struct error *error;
    atomic_int status;
};

static void do_runs(void *user, int64_t begin, int64_t end)
{
    struct deal *d = user;
    const struct bench_options *o = d->options;
    for (size_t i = (size_t)begin; i < (size_t)end && !atomic_load(&d->status); i++) {
        size_t seeds = (size_t)o->seeds, file = i / seeds % o->file_count;
        struct bench_run run = {.number = i,
                                .class = o->strategies[i / seeds / o->file_count],
                                .file = file,
                                .options.seed = (uint64_t)o->first_seed + i % seeds};
        struct error err;
        if (o->priors) {
            run.options.prior_count = o->priors[file].count;
            run.options.priors = (const struct prior *const *)o->priors[file].list;
        }
        if (!d->one(d->user, &run, &err)) continue;
        if (!atomic_flag_test_and_set(&d->failed)) *d->error = err;
        atomic_store(&d->status, -1);
    }
}

static void show_progress(void *unused, double share)
{
    (void)unused;
    fprintf(stderr, "\rsimulate: %.0f%% ", 100 * share);
}

int bench_deal(const struct bench_options *o, bench_runner *one, void *user, struct error *err)
{
    struct deal d = {.options = o, .one = one, .user = user, .failed = ATOMIC_FLAG_INIT, .error = err};
    parallel_watch(o->progress ? show_progress : NULL, NULL);
    parallel_for((int64_t)bench_runs(o), 1, do_runs, &d);
    parallel_watch(NULL, NULL);
    if (o->progress) fprintf(stderr, "\r%40s\r", "");
    return atomic_load(&d.status);
}

void bench_add(void *to, const void *from, size_t size, double share)
{
    double *sum = to;
    const double *values = from;
    for (size_t i = 0; i < size / sizeof *sum; i++) sum[i] += values[i] * share;
}

int bench_open(struct bench_rows *r, const struct bench_options *o, size_t size, struct error *err)
{
    *r = (struct bench_rows){.options = o, .size = size};
    for (size_t f = 0; f < o->file_count; f++)
        if (o->files[f]->best < 0)
            return error_set(err, "%s: no configuration is valid, so there is nothing to search for", o->paths[f]);
    r->cells = memory_new(o->strategy_count * o->file_count, size);
    r->overall = memory_new(o->strategy_count, size);
    return 0;
}

void bench_average(struct bench_rows *r)
{
    size_t files = r->options->file_count;
    for (size_t i = 0; i < r->options->strategy_count * files; i++)
        bench_add((char *)r->overall + i / files * r->size, (char *)r->cells + i * r->size, r->size, 1 / (double)files);
}

static void add_columns(struct bench_rows *r, bool detailed)
{
#define FIGURE(member) offsetof(struct bench_cell, member)
    static const struct {
        const char *title, *format;
        size_t place;
    } groups[] = {
        {"mean", "%.4f", FIGURE(mean)}, {"median", "%.4f", FIGURE(median)}, {"1%", "%.3f", FIGURE(within_1_percent)}};
    const struct bench_options *o = r->options;
    r->kind = "sweetspot-replay";
    r->legend = "1%: share of seeds within 1% of the optimum;\nto 95%: median evaluations.";
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
    r->columns[n++] =
        (struct bench_column){">ms/proposal", "%.3f", .place = FIGURE(seconds_per_proposal), .scale = 1e3};
    r->column_count = n;
#undef FIGURE
}

int bench_search(struct bench_rows *rows, const struct bench_options *o, bool detailed, struct error *err)
{
    struct runs runs = {.o = o};
    size_t seeds = (size_t)o->seeds;
    if (bench_open(rows, o, sizeof(struct bench_cell), err)) return -1;
    runs.figures = memory_new(bench_runs(o), sizeof *runs.figures);
    int result = bench_deal(o, run, &runs, err);
    for (size_t i = 0; i < o->strategy_count * o->file_count && !result; i++)
        evaluate_cell((struct bench_cell *)rows->cells + i, o, runs.figures + i * seeds);
    free(runs.figures);
    bench_average(rows);
    add_columns(rows, detailed);
    if (result) bench_release(rows);
    return result;
}

void bench_release(struct bench_rows *r)
{
    free(r->cells);
    free(r->overall);
    *r = (struct bench_rows){0};
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
        table_cell(t, "%s%s", reached > 1 - 1e-9 ? "" : ">", text);
    }
}

// The figures of a row, whose file and strategy are set; NULL after the last row.
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
