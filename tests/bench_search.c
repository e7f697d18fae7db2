// Figures of docs/experiments/search.md that need no GPU:
//
//     out/bin/bench_search spaces                       build times for tests/spaces/constrained.json, compared with
//                                                       Kernel Tuner's; also checks the counts
//     out/bin/bench_search proposals JOB STRATEGY N [PRIORS [OUTSTANDING]]
//                                                       time per proposal in a job's space, on a synthetic landscape,
//                                                       with PRIORS priors and OUTSTANDING proposals (defaults 0 and 1)
//     out/bin/bench_search outlook SEEDS FILE...        how often searches in recorded spaces reached the gain
//                                                       that stop_outlook predicted
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "search/model/stop.h"
#include "search/strategies/strategy.h"
#include "tests/random_normal.h"
#include "tuner/base/json.h"
#include "tuner/job/job.h"
#include "tuner/recorded/recorded.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); // processor time, not affected by other programs
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double build_once(const json_t *one, uint64_t *size)
{
    struct symbols *symbols = symbols_new();
    struct space *space = space_new(symbols);
    struct error err;
    double start = now();
    json_object_each((json_t *)(uintptr_t)json_object_get(one, "parameters"), name, list) {
        int64_t values[256];
        json_array_each(list, j, item) values[j] = json_integer_value(item);
        space_add_parameter(space, name, PARAMETER_INT, values, json_array_size(list), &err);
    }
    json_array_each(json_object_get(one, "constraints"), j, item)
        space_add_constraint(space, json_string_value(item), &err);
    if (space_build(space, NULL, &err)) fprintf(stderr, "%s\n", err.message);
    double seconds = now() - start;
    *size = space_size(space);
    space_free(space);
    symbols_free(symbols);
    return seconds;
}

static int spaces(void)
{
    autojson json_t *all = json_load_file("tests/spaces/constrained.json", 0, NULL);
    int wrong = !all;
    printf("%-22s %14s %10s %12s %14s %8s\n", "space", "raw", "valid", "ours (s)", "Kernel Tuner", "ratio");
    json_array_each(all, i, one) {
        double best = INFINITY, theirs = json_get_number(one, "kernel_tuner_seconds", NAN);
        uint64_t size = 0;
        for (int k = 0; k < 5; k++) best = fmin(best, build_once(one, &size));
        wrong += (int64_t)size != json_get_integer(one, "valid", -1);
        printf("%-22s %14.0f %10" PRIu64 " %12.6f %14.3f %8.0f%s\n", json_get_string(one, "name", "?"),
               json_get_number(one, "raw", NAN), size, best, theirs, theirs / best,
               (int64_t)size != json_get_integer(one, "valid", -1) ? "  WRONG COUNT" : "");
    }
    return wrong != 0;
}

// Smooth in every parameter, with a pseudo-random ripple of a few percent; one configuration in ten fails.
static struct observation landscape(const struct space *space, const uint16_t *config)
{
    double time = 1e-3;
    uint64_t mix = 88172645463325252u;
    for (size_t p = 0; p < space_parameter_count(space); p++) {
        double count = (double)space_parameter(space, p)->count, at = count > 1 ? config[p] / (count - 1) - 0.6 : 0;
        time *= 1 + 0.5 * at * at;
        mix = (mix ^ config[p]) * 1099511628211u;
        mix ^= mix >> 29;
    }
    bool fails = mix % 10 == 0;
    struct observation o = {.config = config,
                            .outcome = fails ? OUTCOME_INVALID : OUTCOME_OK,
                            .objective = fails ? NAN : time * (1 + 0.03 * (double)(mix >> 11 & 1023) / 1023)};
    return o;
}

// Results of another device: random configurations with slightly changed times.
static struct prior *make_prior(const struct space *space, uint64_t seed)
{
    enum { ROWS = 3000 };
    size_t width = space_parameter_count(space);
    autofree uint16_t *configs = calloc(ROWS * width, sizeof *configs);
    autofree double *objectives = calloc(ROWS, sizeof *objectives);
    autofree bool *known = calloc(width, sizeof *known);
    struct random rng;
    random_seed(&rng, seed);
    memset(known, true, width);
    for (size_t i = 0; i < ROWS; i++) {
        space_sample(space, &rng, configs + i * width);
        objectives[i] = landscape(space, configs + i * width).objective * exp(0.1 * random_normal(&rng));
    }
    struct prior *prior = prior_new(
        space, &(struct prior_rows){.count = ROWS, .configs = configs, .objectives = objectives, .known = known});
    return prior;
}

// Results arrive in the order of the proposals.
static int proposals(const char *path, const char *name, size_t count, long prior_count, size_t outstanding)
{
    struct job *job;
    struct mistakes mistakes = {0};
    struct error err;
    if (job_load(path, &job, &mistakes) || job_build_space(job, &device_limits_h200, &err)) {
        fprintf(stderr, "%s: not a sound job\n", path);
        return 2;
    }
    const struct strategy_class *class = strategy_choose(name, NULL);
    struct prior *priors[PRIOR_MOST];
    struct strategy_options options = {.seed = 1, .priors = (const struct prior *const *)priors};
    for (; (long)options.prior_count < prior_count && options.prior_count < PRIOR_MOST; options.prior_count++)
        priors[options.prior_count] = make_prior(job->space, options.prior_count + 1);
    struct strategy *s = class ? strategy_new(class, job->space, &options) : NULL;
    if (!s) return 2;
    double spent = 0, longest = 0, best = INFINITY;
    size_t width = space_parameter_count(job->space), done = 0;
    autofree uint16_t *configs = calloc(count * width, sizeof *configs);
    for (; done < count; done++) {
        double start = now();
        if (!strategy_ask(s, configs + done * width)) break;
        double one = now() - start;
        if (done + 1 >= outstanding) {
            struct observation o = landscape(job->space, configs + (done + 1 - outstanding) * width);
            start = now();
            strategy_tell(s, &o);
            one += now() - start;
            if (o.objective < best) best = o.objective;
        }
        spent += one;
        longest = fmax(longest, one);
    }
    printf("%s: %" PRIu64 " valid configurations, %s, %zu proposals, %zu outstanding: %.3f ms each on average, %.1f ms "
           "the longest; best %g\n",
           path, space_size(job->space), name, done, outstanding, 1e3 * spent / (double)done, 1e3 * longest, best);
    strategy_free(s);
    for (size_t i = 0; i < options.prior_count; i++) prior_free(priors[i]);
    job_free(job);
    return 0;
}

// The predicted chances of a gain of 1%, in bins, and the actual gains.
struct announced {
    double count, chance, came, gain, gained;
};

enum { OUTLOOK_BINS = 8, OUTLOOK_LONGEST = 400 };

static void announce(struct announced *a, const struct stop_outlook *o, double gained)
{
    a->count++;
    a->chance += o->chance;
    a->came += gained >= 0.01;
    a->gain += o->gain;
    a->gained += gained;
}

static void follow(const struct recorded *r, uint64_t seed, struct announced *bins, struct announced *times)
{
    struct strategy *s =
        strategy_new(strategy_choose("default", NULL), r->space, &(struct strategy_options){.seed = seed});
    struct stop stop;
    uint16_t config[SPACE_MAX_PARAMETERS];
    stop_init(&stop, &(struct stop_rules){0});
    while (stop.evaluations < OUTLOOK_LONGEST && strategy_ask(s, config)) {
        struct observation o = recorded_observation(r, (size_t)recorded_find(r, config));
        strategy_tell(s, &o);
        stop_tell(&stop, o.outcome == OUTCOME_OK ? o.objective : NAN);
    }
    // After 25, 50, 100 and 200 evaluations, predicts the gain from doubling their number.
    for (uint64_t n = 25, k = 0; 2 * n <= stop.evaluations; n *= 2, k++) {
        struct stop then = stop;
        then.evaluations = n;
        then.best = stop.trace[n - 1];
        struct stop_outlook o = stop_outlook(&then, 0.01, n, space_size(r->space) - n);
        if (!isfinite(then.best)) continue;
        double gained = 1 - stop.trace[2 * n - 1] / then.best;
        announce(&bins[(int)fmin(o.chance * OUTLOOK_BINS, OUTLOOK_BINS - 1)], &o, gained);
        announce(&times[k], &o, gained);
    }
    stop_release(&stop);
    strategy_free(s);
}

static void print_announced(const struct announced *a)
{
    if (a->count > 0)
        printf("%9.0f %9.3f %9.3f %9.4f %9.4f\n", a->count, a->chance / a->count, a->came / a->count,
               a->gain / a->count, a->gained / a->count);
    else
        printf("%9d\n", 0);
}

static int outlook(uint64_t seeds, char **paths)
{
    struct announced bins[OUTLOOK_BINS] = {0}, times[4] = {0};
    struct error err;
    for (; *paths; paths++) {
        struct recorded *r = recorded_read(*paths, &err);
        if (!r) {
            fprintf(stderr, "%s\n", err.message);
            return 1;
        }
        for (uint64_t seed = 1; seed <= seeds; seed++) follow(r, seed, bins, times);
        recorded_free(r);
    }
    const char *title = "    cases announced      came expected    gained";
    printf("chance     %s\n", title);
    for (int i = 0; i < OUTLOOK_BINS; i++) {
        printf("%.3f-%.3f", (double)i / OUTLOOK_BINS, (double)(i + 1) / OUTLOOK_BINS);
        print_announced(&bins[i]);
    }
    printf("after      %s\n", title);
    for (int i = 0; i < 4; i++) {
        printf("%-11d", 25 << i);
        print_announced(&times[i]);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "spaces")) return spaces();
    if (argc >= 5 && argc <= 7 && !strcmp(argv[1], "proposals") && atol(argv[4]) > 0)
        return proposals(argv[2], argv[3], (size_t)atol(argv[4]), argc > 5 ? atol(argv[5]) : 0,
                         argc == 7 && atol(argv[6]) > 0 ? (size_t)atol(argv[6]) : 1);
    if (argc > 3 && !strcmp(argv[1], "outlook")) return outlook(strtoull(argv[2], NULL, 10), argv + 3);
    fprintf(stderr, "usage: bench_search spaces | proposals JOB STRATEGY N [PRIORS [OUTSTANDING]] | "
                    "outlook SEEDS FILE...\n");
    return 2;
}
