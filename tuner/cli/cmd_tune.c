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
#include "tuner/run/tune.h"

// The folder of a file, made when it is missing (one level: "out").
static int make_folder_of(const char *path)
{
    char *folder = text_directory(path);
    int failed = mkdir(folder, 0777) && errno != EEXIST;
    if (failed) fprintf(stderr, "sweetspot: cannot make folder '%s': %s\n", folder, strerror(errno));
    free(folder);
    return failed ? EXIT_ENVIRONMENT : 0;
}

int cmd_tune(int argc, char **argv)
{
    const char *path = NULL, *store = NULL, *cache = NULL;
    bool no_counters = false, no_final = false;
    int64_t patience = -1;
    struct tune_options o = {.device = "0", .time = -1, .evaluations = -1, .seed = -1, .stop = {.target = -1, .noise = -1}};
    const struct option_spec specs[] = {
        OPTION_JOB(&path),
        {.name = "time", .letter = 't', .seconds = &o.time, .shown = "TIME", .help = "search for this long: 90s, 8h, 1h30m (the job's budget)"},
        {.name = "evaluations", .letter = 'n', .integer = &o.evaluations, .shown = "N", .help = "stop after N configurations, earlier runs included (the job's budget)"},
        {.name = "patience", .integer = &patience, .shown = "N", .help = "stop after N configurations without gain (the job's, or never)"},
        {.name = "target", .seconds = &o.stop.target, .shown = "TIME", .help = "stop when a candidate is as fast as this: 330us (the job's, or never)"},
        {.name = "noise", .real = &o.stop.noise, .low = 0, .high = 1, .shown = "SHARE",
         .help = "stop when the second half of the search gained less than this share (the job's, or never)"},
        {.name = "device", .letter = 'd', .string = &o.device, .shown = "DEVICE", .help = "GPU number, list such as 0,1, or replay:FILE of a recorded space (0)"},
        {.name = "strategy", .string = &o.strategy, .shown = "NAME", .help = "search strategy (the job's, or default)"},
        {.name = "strategy-options", .string = &o.strategy_options, .shown = "TEXT", .help = "key=value,... for the strategy"},
        {.name = "start-from", .string = &o.start_from, .shown = "FILE", .help = "measure the best configurations of this recorded space first (none)"},
        {.name = "seed", .integer = &o.seed, .shown = "N", .help = "seed of the search and of the data (the job's, or 1)"},
        {.name = "workers", .letter = 'j', .integer = &o.workers, .low = 1, .high = 1024, .shown = "N", .help = "compilers at once (one a core)"},
        OPTION_STORE(&store),
        {.name = "cache", .string = &cache, .shown = "FOLDER", .help = "compile cache (cache beside the store)"},
        {.name = "no-counters", .flag = &no_counters, .help = "take no hardware counters"},
        {.name = "no-final", .flag = &no_final, .help = "search only, decide nothing"},
        {.name = "quiet", .letter = 'q', .flag = &o.quiet, .help = "no progress on stderr"},
        OPTION_END,
    };
    int status = options_parse(specs, "Searches for the best configuration: compiles, verifies, times and counts candidates, commits each, and decides the winner\n"
                                      "in a final against the libraries. Run it again to go on. Ctrl-C finishes the trial in flight and stops.",
                               argc, argv);
    if (status >= 0) return status;
    struct job *job;
    status = session_load_job(path, &job);
    if (status) return status;
    if (o.time < 0) o.time = job->budget_time;
    if (o.evaluations < 0) o.evaluations = job->budget_evaluations;
    o.stop.patience = patience < 0 ? job->stop.patience : (uint64_t)patience;
    if (o.stop.target < 0) o.stop.target = job->stop.target;
    if (o.stop.noise < 0) o.stop.noise = job->stop.noise;
    o.counters = !no_counters;
    o.final = !no_final;
    char *store_path = session_store_path(job, store), *folder = text_directory(store_path);
    char *log_path = text_format("%s/%s.log", folder, job->name), *cache_path = cache ? text_copy(cache) : text_format("%s/cache", folder);
    o.store_path = store_path;
    o.store_given = store != NULL;
    o.log_path = log_path;
    o.cache = cache_path;
    status = make_folder_of(store_path);
    if (!status) status = tune(job, &o);
    free(store_path);
    free(folder);
    free(log_path);
    free(cache_path);
    job_free(job);
    return status;
}
