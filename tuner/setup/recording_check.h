// Checks that a recording can answer for a job, before anything is searched in it.
#ifndef SWEETSPOT_RECORDING_CHECK_H
#define SWEETSPOT_RECORDING_CHECK_H

#include "tuner/base/error.h"
#include "tuner/base/json.h"
#include "tuner/job/job.h"

// `recorded`: what the worker says of the recording (protocol.h). -1 with a message where it has other parameters than
// the job's space, so that no configuration would be found in it, or is of a job of another name with other problems.
int recording_check(const struct job *, const json_t *recorded, struct error *);

#endif
