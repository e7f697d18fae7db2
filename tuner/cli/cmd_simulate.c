// sweetspot simulate: runs search strategies on recorded spaces and compares them (bench.h).
#include <unistd.h>

#include "tuner/base/input_file.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/commands.h"
#include "tuner/run/search.h"
#include "tuner/simulate/simulate.h"

static struct {
    const char *strategy, *budgets, *seeds, *timeline;
    struct option_list paths, priors;
    struct bench_options bench;
    int format;
} given = {.strategy = "default", .seeds = "60", .bench = {.ahead = 1}};

static const struct option_spec specs[] = {
    ARGUMENT(list, &given.paths, "FILE", "recorded spaces: ours, Kernel Tuner caches, KTT, T4; gzip or plain"),
    OPTION(string, &given.strategy, "strategy", 'S', "NAMES", "strategies, separated by commas, or all (default)",
           .words = strategy_names),
    OPTION(string, &given.budgets, "budgets", 'b', "LIST",
           "report after these numbers of unique evaluations, and with --timeline also after simulated times such as "
           "10s (25,50,100,200; with --timeline also 10s,20s,40s,80s)"),
    OPTION(string, &given.seeds, "seeds", 0, "N|RANGE",
           "runs of each strategy on each file, with the seeds 1 to N, or those of a range such as 101-160 (60)"),
    OPTION(integer, &given.bench.ahead, "ahead", 0, "N",
           "number of outstanding proposals, as in a run whose compilers work ahead; the most promising of them is "
           "measured next (1)",
           .low = 1, .high = 1024),
    OPTION(string, &given.timeline, "timeline", 0, "SETTINGS",
           "simulate a whole run with its policy: compilers=N,compile=S,gpu=S[,gpus=N], where S is seconds or "
           "'recorded'"),
    OPTION(list, &given.priors, "prior", 0, "FILE",
           "recorded space or store with results of another device, size or data type to learn from; repeatable; a "
           "file is never a prior for itself (none)"),
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

// Reads the ascending numbers of evaluations and the ascending times of --budgets. -1 with a message.
static int parse_budgets(const char *text, struct bench_options *o, struct simulate_options *simulated,
                         struct error *err)
{
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, ",");
        autofree char *one = text_format("%.*s", (int)length, at);
        char *end;
        double seconds = 0;
        int64_t evaluations = strtoll(one, &end, 10);
        bool ascends, is_time = *end && given.timeline && !text_duration(one, &seconds) && seconds > 0;
        size_t *count = is_time ? &simulated->time_count : &o->budget_count;
        if (!is_time && (end == one || *end || evaluations < 1 || evaluations > 1000000))
            return error_set(err, "--budgets: '%s' is not a whole number from 1 to 1000000%s", one,
                             given.timeline ? " or a time such as 10s" : "; times need --timeline");
        if (*count == BENCH_MAX_BUDGETS) return error_set(err, "--budgets: at most %d", BENCH_MAX_BUDGETS);
        if (is_time) {
            ascends = !*count || seconds > simulated->times[*count - 1];
            simulated->times[(*count)++] = seconds;
        } else {
            ascends = !*count || evaluations > o->budgets[*count - 1];
            o->budgets[(*count)++] = evaluations;
        }
        if (!ascends) return error_set(err, "--budgets: must ascend");
        at += length + (at[length] == ',');
    }
    return o->budget_count ? 0 : error_set(err, "--budgets: a number of evaluations is missing");
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

// Reads --seeds. -1 with a message.
static int parse_seeds(const char *text, struct bench_options *o, struct error *err)
{
    enum { MOST = 100000, LAST = 1000000000 };
    const char *at = text;
    char *end;
    int64_t first = 1, last = strtoll(at, &end, 10);
    if (end != at && *end == '-') {
        first = last;
        at = end + 1;
        last = strtoll(at, &end, 10);
    }
    o->first_seed = first;
    o->seeds = first >= 0 && last >= first && last <= LAST ? last - first + 1 : 0;
    if (end != at && !*end && o->seeds >= 1 && o->seeds <= MOST) return 0;
    return error_set(err, "--seeds needs a number of runs from 1 to %d or a range of seeds such as 101-160, not '%s'",
                     MOST, text);
}

// Reads options whose values are strings. -1 with a message.
static int parse(struct simulate_options *simulated, const struct strategy_class ***chosen, size_t *count,
                 struct error *err)
{
    struct bench_options *o = &given.bench;
    const char *budgets = given.budgets    ? given.budgets
                          : given.timeline ? "25,50,100,200,10s,20s,40s,80s"
                                           : "25,50,100,200";
    if (choose_strategies(given.strategy, chosen, count, err) || parse_budgets(budgets, o, simulated, err) ||
        parse_seeds(given.seeds, o, err))
        return -1;
    if (option_check_files("prior", &given.priors, PRIOR_MOST, err)) return -1;
    if (!given.timeline) return 0;
    if (simulate_parse(given.timeline, &simulated->settings, err)) return -1;
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
