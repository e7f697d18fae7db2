// Where a job's results are: its store, its log, the compile cache, its header.
#ifndef SWEETSPOT_RESULTS_H
#define SWEETSPOT_RESULTS_H

#include "tuner/job/job.h"

// The folder, malloc'ed: `out` of the current folder, or of the nearest folder above the job file that has the job's
// store, so that results are found from any folder. Where there is no store yet: `out` of the current folder.
char *results_folder(const struct job *);
// The compile cache: `given`, or `cache` in that folder. malloc'ed.
char *results_cache(const struct job *, const char *given);

#endif
