// sweetspot simulate: runs search strategies on recorded spaces and compares them (bench.h).
#include <unistd.h>

#include "tuner/base/input_file.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/commands.h"
#include "tuner/run/search.h"
#include "tuner/simulate/simulate.h"

static struct {
    const char *strategy, *budgets, *timeline, *times;
    struct option_list paths, priors;
    struct bench_options bench;
    bool no_score;
    int format;
} given = {.strategy = "default", .budgets = "25,50,100,200", .bench = {.seeds = 60, .first_seed = 1, .ahead = 1}};

static const struct option_spec specs[] = {
    ARGUMENT(list, &given.paths, "FILE", "recorded spaces: ours, Kernel Tuner caches, KTT, T4; gzip or plain"),
    OPTION(string, &given.strategy, "strategy", 'S', "NAMES", "strategies, separated by commas, or all (default)",
           .words = strategy_names),
    OPTION(string, &given.budgets, "budgets", 'b', "LIST",
           "report after these numbers of unique evaluations (25,50,100,200)"),
    OPTION(integer, &given.bench.seeds, "seeds", 0, "N", "runs of each strategy on each file (60)", .low = 1,
           .high = 100000),
    OPTION(integer, &given.bench.first_seed, "first-seed", 0, "N", "seed of the first run (1)"),
    OPTION(integer, &given.bench.ahead, "ahead", 0, "N",
           "number of outstanding proposals, as in a run whose compilers work ahead; the most promising of them is "
           "measured next (1)",
           .low = 1, .high = 1024),
    OPTION(string, &given.timeline, "timeline", 0, "SETTINGS",
           "simulate a whole run with its policy: compilers=N,compile=S,gpu=S[,gpus=N], where S is seconds or "
           "'recorded'"),
    OPTION(string, &given.times, "times", 0, "LIST",
           "with --timeline: also report after these simulated times (10s,20s,40s,80s)"),
    OPTION(list, &given.priors, "prior", 0, "FILE",
           "recorded space or store with results of another device, size or data type to learn from; repeatable; a "
           "file is never a prior for itself (none)"),
    FLAG(&given.no_score, "no-score", 0, "leave out the methodology score, which needs longer runs"),
    OPTION(integer, &given.bench.processes, "jobs", 'j', "N", "processes (one per core)", .low = 1,
           .high = BENCH_MAX_PROCESSES),
    OPTION_FORMAT(&given.format),
    OPTION_END,
};

// Reads a list such as "default,random", or "all". *chosen grows; the caller frees it. -1 with a message.
static int choose_strategies(const char *text, const struct strategy_class ***chosen, size_t *count, struct error *err)
{
    autofree char *all = strcmp(text, "all") ? text_copy(text) : strategy_names();
    int status = 0;
    for (const char *at = all; *at && !status;) {
        size_t length = strcspn(at, ",");
        autofree char *name = text_format("%.*s", (int)length, at);
        const struct strategy_class *class = strategy_choose(name, err);
        status = class ? 0 : -1;
        if (class) memory_add(*chosen, *count) = class;
        at += length + strspn(at + length, ", ");
    }
    return status;
}

// Reads an ascending list of numbers, or of times if `seconds` is set. -1 with a message.
static int parse_list(const char *option, const char *text, bool seconds, double *values, size_t most, size_t *count,
                      struct error *err)
{
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, ",");
        autofree char *one = text_format("%.*s", (int)length, at);
        char *end = one;
        double value = seconds ? 0 : (double)strtoll(one, &end, 10);
        bool good =
            seconds ? !text_duration(one, &value) && value > 0 : end != one && !*end && value >= 1 && value <= 1000000;
        if (!good)
            return error_set(err, "%s: '%s' is not a list of %s", option, text,
                             seconds ? "times such as 10s,20s" : "whole numbers from 1 to 1000000");
        if (*count == most) return error_set(err, "%s: at most %zu", option, most);
        if (*count && value <= values[*count - 1]) return error_set(err, "%s: must ascend", option);
        values[(*count)++] = value;
        at += length + (at[length] == ',');
    }
    return *count ? 0 : error_set(err, "%s: empty", option);
}

// Reads the priors for each file: all given priors except the file itself. Priors that cannot be used for the file are
// left out with a note.
static struct bench_priors *read_priors(const struct option_list *priors, const struct bench_options *o)
{
    struct bench_priors *read = memory_new(o->file_count, sizeof *read);
    struct error err;
    for (size_t f = 0; f < o->file_count; f++)
        for (size_t i = 0; i < priors->count; i++) {
            if (input_file_is_same(priors->items[i], o->paths[f])) continue;
            struct prior *prior = prior_file_read(priors->items[i], NULL, o->files[f]->space, &err);
            if (prior)
                read[f].list[read[f].count++] = prior;
            else
                fprintf(stderr, "sweetspot simulate: %s: no prior for it: %s\n", o->paths[f], err.message);
        }
    return read;
}

static void free_priors(struct bench_priors *priors, size_t file_count)
{
    for (size_t f = 0; priors && f < file_count; f++)
        for (size_t i = 0; i < priors[f].count; i++) prior_free(priors[f].list[i]);
    free(priors);
}

static void print_rows(const struct bench_rows *r)
{
    enum { DOCUMENT_VERSION = 2 };
    if (given.format == FORMAT_JSON) {
        json_print_document(r->kind, DOCUMENT_VERSION, bench_json(r), stdout);
        return;
    }
    struct table *table = bench_table(r);
    (given.format == FORMAT_CSV ? table_print_csv : table_print)(table, stdout);
    table_free(table);
    if (given.format == FORMAT_TABLE)
        printf("\noptimum / best found after N unique evaluations%s, mean over %lld seeds; %s\n", r->budgets,
               (long long)r->options->seeds, r->legend);
}

// Reads options whose values are strings. -1 with a message.
static int parse(struct simulate_options *simulated, const struct strategy_class ***chosen, size_t *count,
                 struct error *err)
{
    struct bench_options *o = &given.bench;
    double budgets[BENCH_MAX_BUDGETS];
    if (choose_strategies(given.strategy, chosen, count, err) ||
        parse_list("--budgets", given.budgets, false, budgets, BENCH_MAX_BUDGETS, &o->budget_count, err))
        return -1;
    for (size_t i = 0; i < o->budget_count; i++) o->budgets[i] = (int64_t)budgets[i];
    if (given.priors.count > PRIOR_MOST) return error_set(err, "--prior: at most %d", PRIOR_MOST);
    if (!given.timeline) return given.times ? error_set(err, "--times needs --timeline") : 0;
    if (simulate_parse(given.timeline, &simulated->settings, err) ||
        parse_list("--times", given.times ? given.times : "10,20,40,80", true, simulated->times, SIMULATE_MAX_TIMES,
                   &simulated->time_count, err))
        return -1;
    if (o->ahead == 1) return 0;
    return error_set(err, "--ahead and --timeline exclude each other: the simulated policy sets how far ahead");
}

static int run(void)
{
    struct error err;
    autofree const struct strategy_class **chosen = NULL;
    struct simulate_options simulated = {0};
    struct bench_options *o = &given.bench;
    struct recorded *files[OPTIONS_MAX_LIST] = {NULL};
    int status = parse(&simulated, &chosen, &o->strategy_count, &err) ? command_refuse("%s", err.message) : EXIT_DONE;
    if (status) goto out;
    for (size_t i = 0; i < given.paths.count; i++)
        if (!(files[i] = recorded_read(given.paths.items[i], &err))) status = command_refuse("%s", err.message);
    if (status) goto out;
    for (size_t i = 0; i < given.paths.count; i++) recorded_warn(files[i], given.paths.items[i]);
    o->strategies = chosen;
    o->file_count = given.paths.count;
    o->paths = given.paths.items;
    o->files = (const struct recorded *const *)files;
    o->score = !given.no_score;
    o->progress = isatty(STDERR_FILENO);
    struct bench_priors *read = given.priors.count ? read_priors(&given.priors, o) : NULL;
    o->priors = read;
    simulated.bench = *o;
    struct bench_rows rows;
    if (given.timeline ? simulate_run(&rows, &simulated, &err)
                       : bench_run(&rows, o, given.format != FORMAT_TABLE, &err)) {
        command_refuse("%s", err.message);
        status = EXIT_NOTHING;
    } else {
        print_rows(&rows);
    }
    bench_release(&rows);
    free_priors(read, o->file_count);
out:
    for (size_t i = 0; i < given.paths.count; i++) recorded_free(files[i]);
    return status;
}

const struct command cmd_simulate = {
    .name = "simulate",
    .summary = "run search strategies against recorded spaces",
    .description = "Runs search strategies on recorded spaces and shows how close to the optimum they get.",
    .options = specs,
    .run = run,
    .more = "`--timeline` runs the searches with the policy of `tune` and also reports seconds: the seconds to 95% "
            "and 99% of the optimum, the candidates compiled for each measured one, and the share of the time in "
            "which the GPUs are idle.",
    .see = "tune export list",
};
