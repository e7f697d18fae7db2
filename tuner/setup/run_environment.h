// The environment of a run's trials: the facts that the driver knows, from which tuner/trial/environment.h makes a key.
// Also checks whether a recording can stand in for an environment and answer requests for a job.
#pragma once

#include "tuner/base/json.h"
#include "tuner/job/job.h"
#include "tuner/trial/environment.h"

// The facts of a job in the environment `known`, whose source_hash, compiler, device, arch and driver are set.
// `request` is the job's request to the GPU worker (request_job). New reference.
json_t *run_environment_facts(const struct job *, const json_t *request, const struct environment *known,
                              bool replayed);

// `recorded`: the worker's description of the recording (protocol.h). Returns -1 with a message if its parameters
// differ from those of the job's space (it would then contain none of the job's configurations), or if it belongs to a
// job with another name and other problems.
int recording_check(const struct job *, const json_t *recorded, struct error *);
