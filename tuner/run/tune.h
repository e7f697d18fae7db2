// Running a tuning job: the loop that keeps compilers and GPUs busy and commits every finished trial.
#ifndef SWEETSPOT_TUNE_H
#define SWEETSPOT_TUNE_H

#include <stdbool.h>
#include <stdint.h>

#include "search/stop.h"
#include "tuner/base/error.h"
#include "tuner/job/job.h"

struct tune_options {
    const char *device;       // "0", "0,1", "all", or "replay:FILE"
    const char *store_path;   // SQLite file
    bool store_given;         // on the command line: advice repeats it
    const char *log_path;     // the night's story, appended to
    const char *cache;        // folder of the compile cache
    double time;              // s from the start of the search; 0: no limit
    int64_t evaluations;      // in all, earlier runs included; 0: no limit
    struct stop_rules stop;
    int64_t workers;          // compilers; 0: one a core
    const char *start_from;   // a recorded space whose best configurations are measured first; NULL: none
    const char *strategy;     // NULL: the job's
    const char *strategy_options;
    int64_t seed;             // -1: the job's
    bool counters, final;     // count, decide a final
    bool quiet;               // no progress
};

// Tunes. Progress and messages on stderr, the summary on stdout. Returns an exit status (protocol.h); the message, if any, is printed.
int tune(struct job *, const struct tune_options *);

#endif
