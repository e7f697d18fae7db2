// sweetspot tune: search, all night; stop and resume at will. job_set_tune.c tunes one job or several.

#include "search/strategies/strategy.h"
#include "tuner/base/base.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/job_set_tune.h"
#include "tuner/cli/options.h"
#include "tuner/pool/pool_spec.h"
#include "tuner/watch/events.h"

static const char first_device[] = "0";

static struct {
    struct job_set jobs;
    struct option_list priors, pools;
    const char *until;
    struct pool_request pool;
    struct tune_request request;
    bool no_counters, no_final, no_checks;
    int json;
} given = {
    .request = {.options = {.device = first_device, .time = -1, .evaluations = -1, .seed = -1, .stop = {.until = -1}}}};

static const struct option_spec specs[] = {
    ARGUMENT(list, &given.jobs.named, "JOB", "job file (configs/NAME.cfg); several files or folders share one budget"),
    OPTION(seconds, &given.request.options.time, "time", 't', "TIME",
           "how long the command may take, final included: 90s, 8h, 1h30m (the job's budget)"),
    OPTION(integer, &given.request.options.evaluations, "evaluations", 'n', "N",
           "stop after N configurations, including earlier runs (the job's budget)"),
    OPTION(seconds, &given.request.options.stop.target, "target", 0, "TIME",
           "stop when a candidate is as fast as this: 330us (never)", .unit = true),
    OPTION(string, &given.until, "until", 0, "SHARE",
           "stop when doubling the evaluations is expected to gain less than this: 1%; or at a share of the measured "
           "ceiling: '95% of ceiling' (the job's, or never)"),
    OPTION(string, &given.request.options.device, "device", 'd', "DEVICE",
           "GPU number, list such as 0,1, or replay:FILE of a recorded space (0)"),
    OPTION(list, &given.pools, "pool", 0, "NODES",
           "use the GPUs and cores of these nodes: local, local:0,1, ssh:HOST,HOST, slurm, slurm:JOBID, or a file, "
           "see docs/cluster.md; repeatable (this machine, without an agent)"),
    OPTION(string, &given.pool.cache, "node-cache", 0, "FOLDER",
           "folder on a node for the files that it receives (sweetspot-node in its user's cache)"),
    OPTION(string, &given.pool.model, "gpu-model", 0, "TEXT",
           "use only the GPUs of --pool with this text in their name, such as H100; all nodes compile (the first "
           "GPU's model)"),
    OPTION(string, &given.request.options.strategy, "strategy", 0, "NAME", "search strategy (the job's, or default)",
           .words = strategy_names),
    OPTION(list, &given.priors, "prior", 0, "FILE",
           "recorded space or store with results of another device, size or data type to learn from; repeatable "
           "(those of the store's other environments and of other stores in its folder)"),
    FLAG(&given.request.options.alone, "no-stores", 0, "learn only from what --prior names"),
    OPTION(integer, &given.request.options.seed, "seed", 0, "N", "seed of the search and of the data (1)"),
    OPTION(integer, &given.request.options.workers, "workers", 'j', "N", "compilers at once (one per core)", .low = 1,
           .high = 1024),
    OPTION_STORE(&given.jobs.store),
    OPTION(string, &given.request.cache, "cache", 0, "FOLDER", "compile cache (the folder cache next to the store)"),
    FLAG(&given.no_counters, "no-counters", 0, "read no hardware counters"),
    FLAG(&given.no_final, "no-final", 0, "only search; --finish decides later"),
    FLAG(&given.no_checks, "no-checks", 0,
         "leave compute-sanitizer, nvcc's build and the energy of the winner to a later --finish"),
    FLAG(&given.request.options.finish, "finish", 0, "only the final of the stored results, and its checks"),
    OPTION(choice, &given.json, "format", 'f', NULL,
           "output on stdout: a summary, or events as JSON lines, see docs/events.md (table)",
           .choices = document_formats),
    FLAG(&given.request.options.quiet, "quiet", 'q', "no progress on stderr"),
    OPTION_END,
};

// --finish searches nothing, so that what says how to search is a mistake. NULL: there is none.
static const char *useless_with_finish(void)
{
    const struct tune_options *o = &given.request.options;
    const struct {
        const char *name;
        bool given;
    } searching[] = {{"no-final", given.no_final},   {"evaluations", o->evaluations >= 0},
                     {"target", o->stop.target > 0}, {"until", o->stop.until >= 0},
                     {"strategy", o->strategy},      {"prior", given.priors.count},
                     {"no-stores", o->alone}};
    for (size_t i = 0; o->finish && i < sizeof searching / sizeof *searching; i++)
        if (searching[i].given) return searching[i].name;
    return NULL;
}

static int run(void)
{
    struct tune_options *o = &given.request.options;
    struct error err;
    if (given.until && !stop_read_until(given.until, &o->stop))
        return command_refuse("--until needs a share such as 1%%, or '95%% of ceiling', not '%s'", given.until);
    const char *useless = useless_with_finish();
    if (useless) return command_refuse("--finish is only the final of stored results, without --%s", useless);
    if (o->strategy && !strategy_choose(o->strategy, &err)) return command_refuse("%s", err.message); // before all else
    if (given.priors.count > PRIOR_MOST) return command_refuse("--prior: at most %d", PRIOR_MOST);
    given.pool.text_count = given.pools.count;
    given.pool.texts = given.pools.items;
    if (given.pools.count) o->pool = &given.pool;
    if (given.pools.count && o->device != first_device && strncmp(o->device, "replay:", 7) != 0)
        return command_refuse("--pool and --device exclude each other: use --pool local:%s", o->device);
    if (given.pool.model && !given.pools.count)
        return command_refuse("--gpu-model goes with --pool; --device says which GPUs of this machine");
    struct event_stream events = {.file = stdout};
    if (given.json) o->events = &events;
    o->prior_count = given.priors.count;
    o->priors = given.priors.items;
    o->counters = !given.no_counters;
    o->final = !given.no_final;
    o->checks = !given.no_checks;
    given.request.store = given.jobs.store;
    char *again = options_command_line();
    o->again = again;
    int status = job_set_open(&given.jobs);
    if (!status)
        status = given.jobs.many ? job_set_tune(&given.jobs, &given.request)
                                 : tune_path(given.jobs.named.items[0], &given.request, NULL);
    job_set_close(&given.jobs);
    free(again);
    return status;
}

const struct command cmd_tune = {
    .name = "tune",
    .summary = "search for the fastest configuration; resumes where it stopped",
    .description = "Searches for the best configuration: compiles, verifies, times and counts candidates, commits "
                   "each, and decides the winner in a final against the libraries. Run it again to resume. Ctrl-C "
                   "finishes the trial in flight and stops. Several jobs are tuned one after another; each begins "
                   "with the others' winners, and jobs that still gain get more time. Results are written to out/ of "
                   "the nearest folder above the job file that has an out/ or a .git, else beside the job file.",
    .options = specs,
    .run = run,
    .more = "The search ends when the budget is spent, the space is exhausted or Ctrl-C is pressed. Configurations "
            "with a stored result are not measured again. After Ctrl-C the trial in flight is finished and kept; a "
            "second Ctrl-C stops at once. In both cases the command that resumes is printed.\n\n"
            "`--finish` decides between the stored results without a search, and is the second half of a run with "
            "`--no-final` or `--no-checks`.\n\n"
            "The budget of several jobs is the sum of their own budgets, or `--time`. Half of it is shared equally. "
            "The rest goes, slice by slice, to the job whose last slice gained most. The finals follow.\n\n"
            "A recording is refused if its parameters differ from the job's, or if both its name and its problems "
            "differ. Winners of the store's other environments (another device, driver, problem or version of the "
            "source) are measured first. `--prior` may be given up to eight times. Parameters are matched by name, "
            "values by value, and a prior that proves wrong loses its weight. Progress and the end of a run show the "
            "probability that more time gives the gain of `--until`, or 1%.",
    .see = "status compare header report simulate",
};
