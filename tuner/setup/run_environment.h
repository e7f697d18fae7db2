// The environment of a run's trials: what the driver knows of it, as the facts that tuner/trial/environment.h makes a
// key of.
#ifndef SWEETSPOT_RUN_ENVIRONMENT_H
#define SWEETSPOT_RUN_ENVIRONMENT_H

#include "tuner/base/json.h"
#include "tuner/job/job.h"
#include "tuner/trial/environment.h"

// The facts of a job under `known`, of which source_hash, compiler, device, arch and driver are set; `request` is the
// job's request to the GPU worker (request_job). New reference.
json_t *run_environment_facts(const struct job *, const json_t *request, const struct environment *known,
                              bool replayed);

#endif
