// Runs strategies on recorded spaces; see bench.h. bench_print.c prints the figures.
//
// The runs (strategy x file x seed) are distributed over processes (bench_processes.c).
//
// Methodology score (Willemsen et al., "A methodology for comparing optimization algorithms for auto-tuning", 2024),
// with unique evaluations as the cost. The baseline B(t) is the expected best of t random draws. The budget ends at the
// first t, the cutoff, where B has come 95% of the way from the median of the valid configurations to the optimum. The
// score is the mean over t = 1 .. cutoff of (B(t) - F(t)) / (B(t) - optimum), where F(t) is the mean best over the
// seeds that have a valid result. A score of 1 means that the optimum is found immediately, 0 is as good as random
// search, and below 0 is worse. The score is unknown if the runs end before the cutoff.
#include "tuner/simulate/bench.h"

#include "tuner/base/clock.h"

struct runs {
    const struct bench_options *o;
    int64_t length;  // evaluations of a run
    double *best;    // best time so far after each evaluation, one curve after another; infinite before a valid result
    double *seconds; // per proposal, by run
};

// The baseline of the methodology score: the expected best of k uniform random draws without repetition from `total`
// configurations, given that at least one draw is valid. `sorted` has the times of the `valid` valid configurations,
// ascending.
static double random_best(const double *sorted, size_t valid, size_t total, size_t k)
{
    // P(best is sorted[i]) = P(no better one drawn) - P(neither it nor a better one drawn), where the probability that
    // k draws miss the i best is the product over j < i of (total - k - j) / (total - j).
    double miss = 1, sum = 0, certain = 0;
    for (size_t i = 0; i < valid && miss > 1e-12; i++) {
        double next = k + i >= total ? 0 : miss * (double)(total - k - i) / (double)(total - i);
        sum += (miss - next) * sorted[i];
        certain += miss - next;
        miss = next;
    }
    return sum / certain;
}

static double *sorted_times(const struct recorded *r, size_t *count)
{
    double *times = memory_new(r->trial_count, sizeof *times);
    *count = 0;
    for (size_t i = 0; i < r->trial_count; i++)
        if (r->trials[i].status == STATUS_OK) times[(*count)++] = r->trials[i].objective;
    stats_sort(times, *count);
    return times;
}

// The number of evaluations that random search is expected to need to get 95% of the way from the median to the
// optimum.
static int64_t cutoff_of(const struct recorded *r)
{
    size_t valid, low = 1, high = r->trial_count;
    autofree double *times = sorted_times(r, &valid);
    double target = times[valid / 2] - 0.95 * (times[valid / 2] - times[0]);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (random_best(times, valid, r->trial_count, middle) <= target)
            high = middle;
        else
            low = middle + 1;
    }
    return (int64_t)low;
}

struct strategy_options bench_strategy_options(const struct bench_options *o, size_t file, uint64_t seed)
{
    struct strategy_options options = {.seed = seed};
    if (o->priors) {
        options.prior_count = o->priors[file].count;
        options.priors = (const struct prior *const *)o->priors[file].list;
    }
    return options;
}

// If the strategy can rank configurations, puts the most promising one first, as runs with slow kernels do.
static void most_promising_first(struct strategy *s, uint16_t *configs, size_t count, size_t width)
{
    if (count < 2 || !strategy_ranks(s)) return;
    autofree const uint16_t **list = memory_new(count, sizeof *list);
    autofree double *promise = memory_new(count, sizeof *promise);
    size_t best = 0;
    for (size_t i = 0; i < count; i++) list[i] = configs + i * width;
    strategy_rank(s, list, count, promise);
    for (size_t i = 1; i < count; i++)
        if (promise[i] > promise[best]) best = i;
    uint16_t config[SPACE_MAX_PARAMETERS];
    memcpy(config, list[best], width * sizeof *config);
    memmove(configs + width, configs, best * width * sizeof *configs);
    memcpy(configs, config, width * sizeof *config);
}

// Makes one run, and fills its curve of `length` evaluations.
static int run_one(const struct bench_options *o, const struct strategy_class *class, size_t file, uint64_t seed,
                   double *curve, int64_t length, double *seconds, struct error *err)
{
    const struct recorded *r = o->files[file];
    struct strategy_options options = bench_strategy_options(o, file, seed);
    double start = clock_cpu(), best = INFINITY;
    struct strategy *s = strategy_new(class, r->space, &options);
    size_t width = r->parameter_count, waiting = 0;
    autofree uint16_t *configs = memory_new((size_t)o->ahead * width, sizeof *configs);
    int64_t done = 0;
    int result = 0;
    while (done < length && result == 0) {
        while (waiting < (size_t)o->ahead && strategy_ask(s, configs + waiting * width)) {
            if (recorded_find(r, configs + waiting * width) < 0) {
                result = error_set(err, "strategy '%s' proposed a configuration that is not valid", class->name);
                break;
            }
            waiting++;
        }
        if (waiting == 0 || result < 0) break;
        most_promising_first(s, configs, waiting, width);
        struct observation observation = recorded_observation(r, (size_t)recorded_find(r, configs));
        strategy_tell(s, &observation);
        memmove(configs, configs + width, --waiting * width * sizeof *configs);
        if (observation.outcome == OUTCOME_OK && observation.objective < best) best = observation.objective;
        curve[done++] = best;
    }
    strategy_free(s);
    *seconds = (clock_cpu() - start) / (double)(done ? done : 1);
    for (; done < length; done++) curve[done] = best; // the space is exhausted
    return result;
}

static double *curve_of(const struct runs *runs, size_t strategy, size_t file, size_t seed)
{
    return runs->best + bench_run_number(runs->o, strategy, file, seed) * (size_t)runs->length;
}

static int run(void *user, size_t strategy, size_t file, size_t seed, struct error *err)
{
    const struct runs *runs = user;
    const struct bench_options *o = runs->o;
    return run_one(o, o->strategies[strategy], file, (uint64_t)o->first_seed + seed,
                   curve_of(runs, strategy, file, seed), runs->length,
                   &runs->seconds[bench_run_number(o, strategy, file, seed)], err);
}

static double score_of(const struct runs *runs, size_t strategy, size_t file)
{
    const struct recorded *r = runs->o->files[file];
    size_t valid;
    autofree double *times = sorted_times(r, &valid);
    double sum = 0;
    int64_t points = 0, cutoff = cutoff_of(r);
    for (int64_t t = 0; t < cutoff && cutoff <= runs->length; t++) {
        double best = 0;
        int found = 0;
        for (int64_t seed = 0; seed < runs->o->seeds; seed++) {
            double value = curve_of(runs, strategy, file, (size_t)seed)[t];
            if (!isfinite(value)) continue;
            best += value;
            found++;
        }
        double baseline = random_best(times, valid, r->trial_count, (size_t)t + 1);
        if (!found || !(baseline > times[0])) continue;
        sum += (baseline - best / found) / (baseline - times[0]);
        points++;
    }
    return points ? sum / (double)points : NAN;
}

static void evaluate_cell(struct bench_cell *cell, const struct runs *runs, size_t strategy, size_t file)
{
    const struct bench_options *o = runs->o;
    const struct recorded *r = o->files[file];
    size_t seeds = (size_t)o->seeds;
    int64_t last = o->budgets[o->budget_count - 1];
    autofree double *quality = memory_new(3 * seeds, sizeof *quality);
    double optimum = r->trials[r->best].objective, *to_95 = quality + seeds, *to_99 = to_95 + seeds;
    for (size_t i = 0; i < o->budget_count; i++) {
        double sum = 0, near = 0;
        for (size_t seed = 0; seed < seeds; seed++) {
            quality[seed] = optimum / curve_of(runs, strategy, file, seed)[o->budgets[i] - 1];
            sum += quality[seed];
            near += quality[seed] >= 0.99;
        }
        cell->mean[i] = sum / (double)seeds;
        cell->within_1_percent[i] = near / (double)seeds;
        cell->median[i] = stats_median(quality, seeds);
    }
    for (size_t seed = 0; seed < seeds; seed++) {
        const double *curve = curve_of(runs, strategy, file, seed);
        int64_t t95 = 0, t99 = 0;
        while (t95 < last && optimum / curve[t95] < 0.95) t95++;
        while (t99 < last && optimum / curve[t99] < 0.99) t99++;
        to_95[seed] = t95 < last ? (double)t95 + 1 : INFINITY;
        to_99[seed] = t99 < last ? (double)t99 + 1 : INFINITY;
        cell->seconds_per_proposal += runs->seconds[bench_run_number(o, strategy, file, seed)] / (double)seeds;
    }
    cell->to_95 = stats_median(to_95, seeds);
    cell->to_99 = stats_median(to_99, seeds);
    cell->score = score_of(runs, strategy, file);
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

int bench_run(struct bench_rows *rows, const struct bench_options *o, bool detailed, struct error *err)
{
    struct runs runs = {.o = o, .length = o->budgets[o->budget_count - 1]};
    if (bench_open(rows, o, sizeof(struct bench_cell), err)) return -1;
    size_t doubles = bench_runs(o) * (size_t)runs.length, bytes = (doubles + bench_runs(o)) * sizeof(double);
    runs.best = bench_shared(bytes, err);
    runs.seconds = runs.best ? runs.best + doubles : NULL;
    int result = runs.best ? bench_deal(o, run, &runs, err) : -1;
    for (size_t i = 0; i < o->strategy_count * o->file_count && !result; i++)
        evaluate_cell((struct bench_cell *)rows->cells + i, &runs, i / o->file_count, i % o->file_count);
    bench_unshare(runs.best, bytes);
    bench_average(rows);
    bench_add_columns(rows, detailed);
    if (result) bench_release(rows);
    return result;
}

void bench_release(struct bench_rows *r)
{
    free(r->cells);
    free(r->overall);
    *r = (struct bench_rows){0};
}
