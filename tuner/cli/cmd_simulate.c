// sweetspot simulate: runs search strategies on recorded spaces and compares them (bench.h).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/options.h"
#include "tuner/run/prior_file.h"
#include "tuner/simulate/simulate.h"

// "default,random" or "all", each of which must take the options. *chosen grows; the caller frees it. -1 with a
// message.
static int choose_strategies(const char *text, const char *options, const struct strategy_class ***chosen,
                             size_t *count, struct error *err)
{
    char *all = strcmp(text, "all") ? text_copy(text) : strategy_names();
    int status = 0;
    for (const char *at = all; *at && !status;) {
        size_t length = strcspn(at, ",");
        char *name = text_format("%.*s", (int)length, at);
        const struct strategy_class *class = strategy_choose(name, err);
        free(name);
        status = class ? strategy_parse_options(class, options, NULL, err) : -1;
        *chosen = memory_grow(*chosen, *count + 1, sizeof **chosen);
        if (!status) (*chosen)[(*count)++] = class;
        at += length + strspn(at + length, ", ");
    }
    free(all);
    if (!status && !*count) return error_set(err, "no strategy given; sweetspot list strategies shows them");
    return status;
}

static int parse_budgets(const char *text, struct bench_options *o, struct error *err)
{
    for (const char *at = text; *at;) {
        char *end;
        long long budget = strtoll(at, &end, 10);
        if (end == at || (*end && *end != ',') || budget < 1 || budget > 1000000)
            return error_set(err, "--budgets: '%s' is not a list of whole numbers from 1 to 1000000", text);
        if (o->budget_count == BENCH_MAX_BUDGETS) return error_set(err, "--budgets: at most %d", BENCH_MAX_BUDGETS);
        if (o->budget_count && budget <= o->budgets[o->budget_count - 1])
            return error_set(err, "--budgets: must ascend");
        o->budgets[o->budget_count++] = budget;
        at = *end ? end + 1 : end;
    }
    return o->budget_count ? 0 : error_set(err, "--budgets: empty");
}

static int parse_times(const char *text, struct simulate_options *o, struct error *err)
{
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, ",");
        char *one = text_format("%.*s", (int)length, at);
        double seconds;
        int status = text_duration(one, &seconds);
        free(one);
        if (status || !(seconds > 0))
            return error_set(err, "--times: '%s' is not a list of times such as 10s,20s", text);
        if (o->time_count == SIMULATE_MAX_TIMES) return error_set(err, "--times: at most %d", SIMULATE_MAX_TIMES);
        if (o->time_count && seconds <= o->times[o->time_count - 1]) return error_set(err, "--times: must ascend");
        o->times[o->time_count++] = seconds;
        at += length + (at[length] == ',');
    }
    return 0;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat first, second;
    return !stat(a, &first) && !stat(b, &second) && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// The priors of each file: all given ones except the file itself. A prior that teaches nothing is left out
// with a note.
static struct bench_priors *read_priors(const struct option_list *priors, const struct bench_options *o)
{
    struct bench_priors *read = memory_new(o->file_count, sizeof *read);
    struct error err;
    for (size_t f = 0; f < o->file_count; f++)
        for (size_t i = 0; i < priors->count; i++) {
            if (is_same_file(priors->items[i], o->paths[f])) continue;
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

static int print_bench(const struct bench_options *o, int format, struct error *err)
{
    static void (*const print[])(const struct bench *, FILE *) = {bench_print_table, bench_print_csv, bench_print_json};
    struct bench bench;
    if (bench_run(&bench, o, err) < 0) return -1;
    print[format](&bench, stdout);
    bench_release(&bench);
    return 0;
}

static int print_simulation(const struct simulate_options *o, int format, struct error *err)
{
    static void (*const print[])(const struct simulation_bench *, FILE *) = {simulate_print_table, simulate_print_csv,
                                                                             simulate_print_json};
    struct simulation_bench bench;
    if (simulate_run(&bench, o, err) < 0) return -1;
    print[format](&bench, stdout);
    simulate_release(&bench);
    return 0;
}

int cmd_simulate(int argc, char **argv)
{
    const char *strategy = "default", *budgets = "25,50,100,200", *timeline = NULL, *times = NULL;
    int format = FORMAT_TABLE;
    struct bench_options o = {.seeds = 60, .first_seed = 1, .ahead = 1};
    bool quick = false;
    struct option_list paths = {0}, priors = {0};
    char *names = strategy_names(), *help = text_format("strategies, separated by commas, or all (default): %s", names);
    const struct option_spec specs[] = {
        {.name = "FILE",
         .positional = true,
         .list = &paths,
         .help = "recorded spaces: ours, Kernel Tuner caches, T4; gzip or plain"},
        {.name = "strategy", .letter = 'S', .string = &strategy, .shown = "NAMES", .help = help},
        {.name = "budgets",
         .letter = 'b',
         .string = &budgets,
         .shown = "LIST",
         .help = "report after these numbers of unique evaluations (25,50,100,200)"},
        {.name = "seeds",
         .letter = 'n',
         .integer = &o.seeds,
         .low = 1,
         .high = 100000,
         .shown = "N",
         .help = "runs of each strategy on each file (60)"},
        {.name = "first-seed", .integer = &o.first_seed, .shown = "N", .help = "seed of the first run (1)"},
        {.name = "ahead",
         .integer = &o.ahead,
         .low = 1,
         .high = 1024,
         .shown = "N",
         .help = "proposals outstanding at once, as in a run whose compilers work ahead (1)"},
        {.name = "timeline",
         .string = &timeline,
         .shown = "SETTINGS",
         .help = "simulate a whole run, its policy included: compilers=N,compile=S,gpu=S[,gpus=N], where S is seconds "
                 "or 'recorded'"},
        {.name = "times",
         .string = &times,
         .shown = "LIST",
         .help = "with --timeline: also report after these simulated times (10s,20s,40s,80s)"},
        {.name = "set",
         .string = &o.text,
         .shown = "NAME=VALUE,...",
         .help = "options of the strategies; `sweetspot list strategies` explains them (their defaults)"},
        {.name = "prior",
         .list = &priors,
         .shown = "FILE",
         .help = "results of another device, size or data type to learn from, a recorded space or a store; several "
                 "may be given, and a file is not used as a prior for itself (none)"},
        {.name = "no-score", .flag = &quick, .help = "leave out the methodology score, which needs longer runs"},
        {.name = "jobs",
         .letter = 'j',
         .integer = &o.processes,
         .low = 1,
         .high = BENCH_MAX_PROCESSES,
         .shown = "N",
         .help = "processes (one per core)"},
        OPTION_FORMAT(&format),
        OPTION_END,
    };
    int status = options_parse(
        specs, "Runs search strategies on recorded spaces and shows how close to the optimum they get.", argc, argv);
    free(names);
    free(help);
    if (status >= 0) return status;

    struct error err;
    const struct strategy_class **chosen = NULL;
    size_t count = 0;
    struct simulate_options simulated = {0};
    int wrong = choose_strategies(strategy, o.text, &chosen, &count, &err) < 0 || parse_budgets(budgets, &o, &err) < 0;
    if (!wrong && timeline)
        wrong = simulate_parse(timeline, &simulated.settings, &err) ||
                parse_times(times ? times : "10,20,40,80", &simulated, &err) ||
                (o.ahead != 1 &&
                 error_set(&err, "--ahead and --timeline exclude each other: the simulated policy sets how far ahead"));
    else if (!wrong && times)
        wrong = error_set(&err, "--times needs --timeline");
    if (!wrong && priors.count > PRIOR_MOST) wrong = error_set(&err, "--prior: at most %d", PRIOR_MOST);
    if (wrong) {
        fprintf(stderr, "sweetspot simulate: %s\n", err.message);
        free(chosen);
        return EXIT_USAGE;
    }
    status = EXIT_DONE;
    struct recorded *files[OPTIONS_MAX_LIST] = {NULL};
    for (size_t i = 0; i < paths.count; i++) {
        files[i] = recorded_read(paths.items[i], &err);
        if (files[i]) continue;
        fprintf(stderr, "sweetspot simulate: %s\n", err.message);
        status = EXIT_USAGE;
    }
    if (status == EXIT_DONE) {
        o.strategy_count = count;
        o.strategies = chosen;
        o.file_count = paths.count;
        o.paths = paths.items;
        o.files = (const struct recorded *const *)files;
        o.score = !quick;
        o.progress = isatty(STDERR_FILENO);
        struct bench_priors *read = priors.count ? read_priors(&priors, &o) : NULL;
        o.priors = read;
        simulated.bench = o;
        if ((timeline ? print_simulation(&simulated, format, &err) : print_bench(&o, format, &err)) < 0) {
            fprintf(stderr, "sweetspot simulate: %s\n", err.message);
            status = EXIT_NOTHING;
        }
        free_priors(read, o.file_count);
    }
    for (size_t i = 0; i < paths.count; i++) recorded_free(files[i]);
    free(chosen);
    return status;
}
