// sweetspot tune: search, all night; stop and resume at will.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "search/strategy.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/options.h"
#include "tuner/cli/session.h"
#include "tuner/cli/suite.h"

// The folder of a file, made when it is missing (one level: "out").
static int make_folder_of(const char *path)
{
    char *folder = text_directory(path);
    int failed = mkdir(folder, 0777) && errno != EEXIST;
    if (failed) fprintf(stderr, "sweetspot: cannot make folder '%s': %s\n", folder, strerror(errno));
    free(folder);
    return failed ? EXIT_ENVIRONMENT : 0;
}

// A job's own settings for what the command line leaves open, and its paths.
static int tune_job(struct job *job, const struct tune_request *request, struct tune_outcome *outcome)
{
    struct tune_options o = request->options;
    if (o.time < 0) o.time = job->budget_time;
    if (o.evaluations < 0) o.evaluations = job->budget_evaluations;
    o.stop.patience = request->patience < 0 ? job->stop.patience : (uint64_t)request->patience;
    if (o.stop.target < 0) o.stop.target = job->stop.target;
    if (o.stop.noise < 0) o.stop.noise = job->stop.noise;
    char *store_path = session_store_path(job, request->store), *folder = text_directory(store_path);
    char *log_path = text_format("%s/%s.log", folder, job->name),
         *cache_path = request->cache ? text_copy(request->cache) : text_format("%s/cache", folder);
    o.store_path = store_path;
    o.store_given = request->store != NULL;
    o.log_path = log_path;
    o.cache = cache_path;
    int status = make_folder_of(store_path);
    if (!status) status = tune(job, &o, outcome);
    free(store_path);
    free(folder);
    free(log_path);
    free(cache_path);
    return status;
}

int tune_path(const char *path, const struct tune_request *request, struct tune_outcome *outcome)
{
    struct job *job;
    int status = session_load_job(path, &job);
    if (status) return status;
    status = tune_job(job, request, outcome);
    job_free(job);
    return status;
}

int cmd_tune(int argc, char **argv)
{
    struct option_list paths = {0};
    bool no_counters = false, no_final = false;
    struct tune_request request = {
        .options = {.device = "0", .time = -1, .evaluations = -1, .seed = -1, .stop = {.target = -1, .noise = -1}},
        .patience = -1};
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
         .help = "search for this long: 90s, 8h, 1h30m (the job's budget)"},
        {.name = "evaluations",
         .letter = 'n',
         .integer = &o->evaluations,
         .shown = "N",
         .help = "stop after N configurations, earlier runs included (the job's budget)"},
        {.name = "patience",
         .integer = &request.patience,
         .shown = "N",
         .help = "stop after N configurations without gain (the job's, or never)"},
        {.name = "target",
         .seconds = &o->stop.target,
         .shown = "TIME",
         .help = "stop when a candidate is as fast as this: 330us (the job's, or never)"},
        {.name = "noise",
         .real = &o->stop.noise,
         .low = 0,
         .high = 1,
         .shown = "SHARE",
         .help = "stop when the second half of the search gained less than this share (the job's, or never)"},
        {.name = "device",
         .letter = 'd',
         .string = &o->device,
         .shown = "DEVICE",
         .help = "GPU number, list such as 0,1, or replay:FILE of a recorded space (0)"},
        {.name = "strategy", .string = &o->strategy, .shown = "NAME", .help = help},
        {.name = "strategy-options",
         .string = &o->strategy_options,
         .shown = "TEXT",
         .help = "name=value,... for the strategy; `sweetspot list strategies NAME` explains them (the job's)"},
        {.name = "start-from",
         .string = &o->start_from,
         .shown = "FILE",
         .help = "measure the best configurations of this recorded space first (none)"},
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
         .help = "compilers at once (one a core)"},
        OPTION_STORE(&request.store),
        {.name = "cache",
         .string = &request.cache,
         .shown = "FOLDER",
         .help = "compile cache (cache beside the store)"},
        {.name = "no-counters", .flag = &no_counters, .help = "take no hardware counters"},
        {.name = "no-final", .flag = &no_final, .help = "search only, decide nothing"},
        {.name = "quiet", .letter = 'q', .flag = &o->quiet, .help = "no progress on stderr"},
        OPTION_END,
    };
    int status = options_parse(specs,
                               "Searches for the best configuration: compiles, verifies, times and counts candidates, "
                               "commits each, and decides the winner "
                               "in a final against the libraries. Run it again to go on. Ctrl-C finishes the trial in "
                               "flight and stops. Several jobs are "
                               "tuned one after another, each beginning with the others' winners, the time going where "
                               "the last of it gained most.",
                               argc, argv);
    free(names);
    free(help);
    if (status >= 0) return status;
    struct error err;
    if (o->strategy && !strategy_choose(o->strategy, &err)) { // before anything is started
        fprintf(stderr, "sweetspot tune: %s\n", err.message);
        return EXIT_USAGE;
    }
    request.options.counters = !no_counters;
    request.options.final = !no_final;
    struct stat about;
    if (paths.count > 1 || (!stat(paths.items[0], &about) && S_ISDIR(about.st_mode)))
        return suite_tune(&paths, &request);
    return tune_path(paths.items[0], &request, NULL);
}
