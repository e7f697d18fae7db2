// The environment of a run's trials: what the driver knows of it, as the facts that tuner/trial/environment.h makes a
// key of. And whether a recording, which stands for an environment, can answer for a job.
#pragma once

#include "tuner/base/json.h"
#include "tuner/job/job.h"
#include "tuner/trial/environment.h"

// The facts of a job under `known`, of which source_hash, compiler, device, arch and driver are set; `request` is the
// job's request to the GPU worker (request_job). New reference.
json_t *run_environment_facts(const struct job *, const json_t *request, const struct environment *known,
                              bool replayed);

// `recorded`: what the worker says of the recording (protocol.h). -1 with a message where it has other parameters than
// the job's space, so that no configuration would be found in it, or is of a job of another name with other problems.
int recording_check(const struct job *, const json_t *recorded, struct error *);
