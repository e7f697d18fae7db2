// Tuning several job files, or folders of them, within one budget.
#ifndef SWEETSPOT_SUITE_H
#define SWEETSPOT_SUITE_H

#include "tuner/cli/options.h"
#include "tuner/run/tune.h"

// What the command line says of every job it tunes.
struct tune_request {
    struct tune_options
        options; // time, evaluations, stop.target, stop.noise below 0: the job's own; paths are filled in for each job
    int64_t patience;          // below 0: the job's own
    const char *store, *cache; // NULL: out/<job name>.db, and cache beside it
};

// Tunes one job file. Returns an exit status (protocol.h).
int tune_path(const char *path, const struct tune_request *, struct tune_outcome *);

// Tunes job files, and every *.cfg of folders in the order of their names. Each begins with the winners of the others
// found so far, those nearest in the list first. options.time is for all of them together (the sum of the jobs' own
// where it is below 0):
// half of it is shared equally, then slice after slice goes to the job whose last slice gained most a second. Then the
// finals, which take time of their own. Ends with a table on stdout. The first exit status other than 0 is returned,
// after all jobs have had their turn.
int suite_tune(const struct option_list *paths, const struct tune_request *);

#endif
