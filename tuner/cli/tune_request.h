// Tuning one job file as the command line says.
#ifndef SWEETSPOT_TUNE_REQUEST_H
#define SWEETSPOT_TUNE_REQUEST_H

#include "tuner/run/tune.h"

// The command line's settings for every job that it tunes.
struct tune_request {
    // time, evaluations, stop.until below 0: the job's own; paths are filled in for each job.
    struct tune_options options;
    const char *store, *cache; // NULL: out/<job name>.db, and cache beside it
};

// Tunes one job file. Returns an exit status (protocol.h).
int tune_path(const char *path, const struct tune_request *, struct tune_outcome *);

#endif
