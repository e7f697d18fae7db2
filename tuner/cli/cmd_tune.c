// sweetspot tune: search, all night; stop and resume at will. One job is tuned by tune_request.c, several by suite.c.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "search/strategies/strategy.h"
#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/options.h"
#include "tuner/cli/report_follow.h"
#include "tuner/cli/session.h"
#include "tuner/cli/suite.h"
#include "tuner/cli/tune_request.h"
#include "tuner/pool/node_spec.h"
#include "tuner/watch/events.h"

// No csv: events have no common columns.
static const char *const formats[] = {"table", "json", NULL};

// The command line as given: running it again goes on where it stopped.
static char *same_command(int argc, char **argv)
{
    const char **words = memory_new((size_t)argc + 2, sizeof *words);
    words[0] = "sweetspot";
    for (int i = 0; i < argc; i++) words[i + 1] = argv[i];
    char *line = text_command(words);
    free(words);
    return line;
}

int cmd_tune(int argc, char **argv)
{
    struct option_list paths = {0}, priors = {0}, pools = {0};
    struct pool_request pool = {0};
    static const char first_device[] = "0";
    bool no_counters = false, no_final = false, no_nvcc = false;
    int json = 0;
    struct event_stream events = {.file = stdout};
    const char *report = NULL;
    double report_every = 300;
    struct tune_request request = {
        .options = {
            .device = first_device, .time = -1, .evaluations = -1, .seed = -1, .stop = {.target = -1, .until = -1}}};
    struct tune_options *o = &request.options;
    char *names = strategy_names(), *help = text_format("search strategy (the job's, or default): %s", names);
    const struct option_spec specs[] = {
        {.name = "JOB",
         .positional = true,
         .list = &paths,
         .help = "job file (configs/NAME.cfg); several, or folders of them, are tuned within one budget"},
        {.name = "time",
         .letter = 't',
         .seconds = &o->time,
         .shown = "TIME",
         .help = "how long to search: 90s, 8h, 1h30m (the job's budget)"},
        {.name = "evaluations",
         .letter = 'n',
         .integer = &o->evaluations,
         .shown = "N",
         .help = "stop after N configurations, including earlier runs (the job's budget)"},
        {.name = "target",
         .seconds = &o->stop.target,
         .shown = "TIME",
         .help = "stop when a candidate is as fast as this: 330us (the job's, or never)"},
        {.name = "until",
         .share = &o->stop.until,
         .shown = "SHARE",
         .help = "stop when doubling the evaluations is expected to gain less than this: 1% (the job's, or never)"},
        {.name = "device",
         .letter = 'd',
         .string = &o->device,
         .shown = "DEVICE",
         .help = "GPU number, list such as 0,1, or replay:FILE of a recorded space (0)"},
        {.name = "pool",
         .list = &pools,
         .shown = "NODES",
         .help = "nodes whose GPUs and cores are used: local, local:0,1, ssh:HOST,HOST, slurm, slurm:JOBID, or a file, "
                 "see docs/cluster.md; several may be given (this machine, without an agent)"},
        {.name = "node-program",
         .string = &pool.program,
         .shown = "PATH",
         .help = "sweetspot-node on the nodes of --pool (the path that it has here)"},
        {.name = "node-cache",
         .string = &pool.cache,
         .shown = "FOLDER",
         .help = "folder of a node for what is sent to it (sweetspot-node in its user's cache)"},
        {.name = "gpu-model",
         .string = &pool.model,
         .shown = "TEXT",
         .help = "of the GPUs of --pool only those with this in their name, such as H100; all nodes compile (the model "
                 "of the first one)"},
        {.name = "strategy", .string = &o->strategy, .shown = "NAME", .help = help},
        {.name = "strategy-options",
         .string = &o->strategy_options,
         .shown = "TEXT",
         .help = "name=value,... for the strategy; `sweetspot list strategies NAME` explains them (the job's)"},
        {.name = "start-from",
         .string = &o->start_from,
         .shown = "FILE",
         .help = "measure the best configurations of this recorded space first (none)"},
        {.name = "prior",
         .list = &priors,
         .shown = "FILE",
         .help = "results of another device, size or data type to learn from, a recorded space or a store; several "
                 "may be given (those of the store's other environments and of stores beside it)"},
        {.name = "no-stores", .flag = &o->alone, .help = "learn only from what --prior names"},
        {.name = "seed",
         .integer = &o->seed,
         .shown = "N",
         .help = "seed of the search and of the data (the job's, or 1)"},
        {.name = "workers",
         .letter = 'j',
         .integer = &o->workers,
         .low = 1,
         .high = 1024,
         .shown = "N",
         .help = "compilers at once (one per core)"},
        OPTION_STORE(&request.store),
        {.name = "cache",
         .string = &request.cache,
         .shown = "FOLDER",
         .help = "compile cache (cache beside the store)"},
        {.name = "no-counters", .flag = &no_counters, .help = "read no hardware counters"},
        {.name = "no-final", .flag = &no_final, .help = "only search, without a final"},
        {.name = "no-nvcc", .flag = &no_nvcc, .help = "after the final, do not time nvcc's build of the winner"},
        {.name = "format",
         .letter = 'f',
         .choice = &json,
         .choices = formats,
         .help = "what stdout gets: a summary, or events as JSON lines, see docs/events.md (table)"},
        {.name = "report",
         .string = &report,
         .shown = "FILE",
         .help = "write a page of the results (see `sweetspot report`) during the run and at the end (none)"},
        {.name = "report-every",
         .seconds = &report_every,
         .shown = "TIME",
         .help = "how often to write the page during the run: 30s, 5m (5m)"},
        {.name = "quiet", .letter = 'q', .flag = &o->quiet, .help = "no progress on stderr"},
        OPTION_END,
    };
    int status = options_parse(
        specs,
        "Searches for the best configuration: compiles, verifies, times and counts candidates, "
        "commits each, and decides the winner "
        "in a final against the libraries. Run it again to go on. Ctrl-C finishes the trial in "
        "flight and stops. Several jobs are "
        "tuned one after another; each begins with the others' winners, and more time goes to those that still gain. "
        "Results go to the folder out: that of the current folder, or "
        "of the nearest folder above the job file that has the job's store.",
        argc, argv);
    free(names);
    free(help);
    if (status >= 0) return status;
    struct error err;
    if (o->strategy && !strategy_choose(o->strategy, &err)) { // before anything starts
        fprintf(stderr, "sweetspot tune: %s\n", err.message);
        return EXIT_USAGE;
    }
    if (priors.count > PRIOR_MOST) {
        fprintf(stderr, "sweetspot tune: --prior: at most %d\n", PRIOR_MOST);
        return EXIT_USAGE;
    }
    pool.text_count = pools.count;
    pool.texts = pools.items;
    if (pools.count) o->pool = &pool;
    if (pools.count && o->device != first_device && strncmp(o->device, "replay:", 7) != 0) {
        fprintf(stderr, "sweetspot tune: --pool and --device exclude each other: use --pool local:%s\n", o->device);
        return EXIT_USAGE;
    }
    if (pool.model && !pools.count) {
        fprintf(stderr, "sweetspot tune: --gpu-model goes with --pool; --device says which GPUs of this machine\n");
        return EXIT_USAGE;
    }
    if (json) o->events = &events;
    if (report && !(report_every > 0)) {
        fprintf(stderr, "sweetspot tune: --report-every needs a time above 0\n");
        return EXIT_USAGE;
    }
    o->prior_count = priors.count;
    o->priors = priors.items;
    request.options.counters = !no_counters;
    request.options.final = !no_final;
    request.options.nvcc = !no_nvcc;
    struct stat about;
    char *path = session_job_path(paths.items[0]);
    bool folder = !stat(path, &about) && S_ISDIR(about.st_mode);
    free(path);
    char *again = same_command(argc, argv);
    o->again = again;
    struct report_follow page = {.jobs = &paths, .store = request.store, .output = report};
    status = report ? report_follow_begin(&page, report_every) : 0;
    if (!status) {
        status = paths.count > 1 || folder ? suite_tune(&paths, &request) : tune_path(paths.items[0], &request, NULL);
        if (report) status = report_follow_end(&page, status);
    }
    free(again);
    return status;
}
