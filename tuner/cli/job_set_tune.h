// Tuning as the command line says: one job file, or several and folders of them within one budget.
#pragma once

#include "tuner/cli/job_set.h"
#include "tuner/run/tune.h"

// The command line's settings for every job that it tunes.
struct tune_request {
    // time, evaluations, stop.until below 0: the job's own; paths are filled in for each job.
    struct tune_options options;
    const char *store, *cache; // NULL: out/<job name>.db, and the folder cache next to it
};

// Tunes one job file. Returns an exit status (protocol.h).
int tune_path(const char *path, const struct tune_request *, struct tune_outcome *);

// Tunes every job of a set that is open. Each begins with the winners of the others
// found so far, those nearest in the list first. options.time is the time for all of them together (the sum of the
// jobs' own where it is below 0): half of it is shared equally, then slice after slice goes to the job whose last slice
// gained most a second. Then come the finals, whose time is extra. Ends with a table on stdout, or the event "jobs".
// The first exit status other than 0 is returned, after all jobs have had their turn; that of an interruption at once.
int job_set_tune(struct job_set *, const struct tune_request *);
