// sweetspot tune: search, all night; stop and resume at will. One job is tuned by tune_request.c, several by
// job_set_tune.c.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "search/strategies/strategy.h"
#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/job_set_tune.h"
#include "tuner/cli/options.h"
#include "tuner/cli/session.h"
#include "tuner/cli/tune_request.h"
#include "tuner/pool/node_spec.h"
#include "tuner/watch/events.h"

// No csv: events have no common columns.
static const char *const formats[] = {"table", "json", NULL};

static const char first_device[] = "0";

static struct {
    struct option_list paths, priors, pools;
    struct pool_request pool;
    struct tune_request request;
    bool no_counters, no_final, no_nvcc;
    int json;
} given = {
    .request = {.options = {.device = first_device, .time = -1, .evaluations = -1, .seed = -1, .stop = {.until = -1}}}};

static const struct option_spec specs[] = {
    {.name = "JOB",
     .positional = true,
     .list = &given.paths,
     .help = "job file (configs/NAME.cfg); several, or folders of them, are tuned within one budget"},
    {.name = "time",
     .letter = 't',
     .seconds = &given.request.options.time,
     .shown = "TIME",
     .help = "how long to search: 90s, 8h, 1h30m (the job's budget)"},
    {.name = "evaluations",
     .letter = 'n',
     .integer = &given.request.options.evaluations,
     .shown = "N",
     .help = "stop after N configurations, including earlier runs (the job's budget)"},
    {.name = "target",
     .seconds = &given.request.options.stop.target,
     .shown = "TIME",
     .help = "stop when a candidate is as fast as this: 330us (never)"},
    {.name = "until",
     .share = &given.request.options.stop.until,
     .shown = "SHARE",
     .help = "stop when doubling the evaluations is expected to gain less than this: 1% (the job's, or never)"},
    {.name = "device",
     .letter = 'd',
     .string = &given.request.options.device,
     .shown = "DEVICE",
     .help = "GPU number, list such as 0,1, or replay:FILE of a recorded space (0)"},
    {.name = "pool",
     .list = &given.pools,
     .shown = "NODES",
     .help = "nodes whose GPUs and cores are used: local, local:0,1, ssh:HOST,HOST, slurm, slurm:JOBID, or a file, "
             "see docs/cluster.md; several may be given (this machine, without an agent)"},
    {.name = "node-cache",
     .string = &given.pool.cache,
     .shown = "FOLDER",
     .help = "folder of a node for what is sent to it (sweetspot-node in its user's cache)"},
    {.name = "gpu-model",
     .string = &given.pool.model,
     .shown = "TEXT",
     .help = "of the GPUs of --pool only those with this in their name, such as H100; all nodes compile (the model "
             "of the first one)"},
    {.name = "strategy",
     .string = &given.request.options.strategy,
     .shown = "NAME",
     .help = "search strategy (the job's, or default)",
     .words = strategy_names},
    {.name = "strategy-options",
     .string = &given.request.options.strategy_options,
     .shown = "TEXT",
     .help = "name=value,... for the strategy; `sweetspot list strategies NAME` explains them (their defaults)"},
    {.name = "prior",
     .list = &given.priors,
     .shown = "FILE",
     .help = "results of another device, size or data type to learn from, a recorded space or a store; several "
             "may be given (those of the store's other environments and of stores beside it)"},
    {.name = "no-stores", .flag = &given.request.options.alone, .help = "learn only from what --prior names"},
    {.name = "seed",
     .integer = &given.request.options.seed,
     .shown = "N",
     .help = "seed of the search and of the data (1)"},
    {.name = "workers",
     .letter = 'j',
     .integer = &given.request.options.workers,
     .low = 1,
     .high = 1024,
     .shown = "N",
     .help = "compilers at once (one per core)"},
    OPTION_STORE(&given.request.store),
    {.name = "cache",
     .string = &given.request.cache,
     .shown = "FOLDER",
     .help = "compile cache (cache beside the store)"},
    {.name = "no-counters", .flag = &given.no_counters, .help = "read no hardware counters"},
    {.name = "no-final", .flag = &given.no_final, .help = "only search, without a final"},
    {.name = "no-nvcc", .flag = &given.no_nvcc, .help = "after the final, do not time nvcc's build of the winner"},
    {.name = "format",
     .letter = 'f',
     .choice = &given.json,
     .choices = formats,
     .help = "what stdout gets: a summary, or events as JSON lines, see docs/events.md (table)"},
    {.name = "quiet", .letter = 'q', .flag = &given.request.options.quiet, .help = "no progress on stderr"},
    OPTION_END,
};

static int run(void)
{
    struct tune_options *o = &given.request.options;
    struct error err;
    if (o->strategy && !strategy_choose(o->strategy, &err)) { // before anything starts
        fprintf(stderr, "sweetspot tune: %s\n", err.message);
        return EXIT_USAGE;
    }
    if (given.priors.count > PRIOR_MOST) {
        fprintf(stderr, "sweetspot tune: --prior: at most %d\n", PRIOR_MOST);
        return EXIT_USAGE;
    }
    given.pool.text_count = given.pools.count;
    given.pool.texts = given.pools.items;
    if (given.pools.count) o->pool = &given.pool;
    if (given.pools.count && o->device != first_device && strncmp(o->device, "replay:", 7) != 0) {
        fprintf(stderr, "sweetspot tune: --pool and --device exclude each other: use --pool local:%s\n", o->device);
        return EXIT_USAGE;
    }
    if (given.pool.model && !given.pools.count) {
        fprintf(stderr, "sweetspot tune: --gpu-model goes with --pool; --device says which GPUs of this machine\n");
        return EXIT_USAGE;
    }
    struct event_stream events = {.file = stdout};
    if (given.json) o->events = &events;
    o->prior_count = given.priors.count;
    o->priors = given.priors.items;
    o->counters = !given.no_counters;
    o->final = !given.no_final;
    o->nvcc = !given.no_nvcc;
    struct stat about;
    char *path = session_job_path(given.paths.items[0]);
    bool folder = !stat(path, &about) && S_ISDIR(about.st_mode);
    free(path);
    char *again = options_command_line();
    o->again = again;
    int status = given.paths.count > 1 || folder ? job_set_tune(&given.paths, &given.request)
                                                 : tune_path(given.paths.items[0], &given.request, NULL);
    free(again);
    return status;
}

const struct command cmd_tune = {
    .name = "tune",
    .summary = "search for the fastest configuration; goes on where it stopped",
    .description = "Searches for the best configuration: compiles, verifies, times and counts candidates, commits "
                   "each, and decides the winner in a final against the libraries. Run it again to go on. Ctrl-C "
                   "finishes the trial in flight and stops. Several jobs are tuned one after another; each begins with "
                   "the others' winners, and more time goes to those that still gain. Results go to the folder out: "
                   "that of the current folder, or of the nearest folder above the job file that has the job's store.",
    .options = specs,
    .run = run,
    .more = "The search ends when the budget is spent, the space is exhausted or Ctrl-C is pressed. Configurations "
            "that the store already knows are not measured again. After Ctrl-C the trial in flight is finished and "
            "kept; a second Ctrl-C stops at once. Either way the command line that goes on is printed.\n\n"
            "The budget of several jobs is the sum of their own, or `--time`. Half of it is shared equally; the rest "
            "is given slice by slice to the job whose last slice gained most. The finals come after that.\n\n"
            "A recording of another job is refused: one with other parameters, or of a job of another name with other "
            "problems. Winners of the store's other environments (another device, driver, problem or version of the "
            "source) are measured first. `--prior` may be given up to eight times; parameters are matched by name, "
            "values by value, and a prior is trusted as far as it proves right. Progress and the end of a run say how "
            "likely more time brings what `--until` asks for, or 1%.",
    .see = "status compare header report simulate",
};
