// One trial: verify, screen, measure, verify again. The candidate's failure is its status; the function itself fails
// only when a request is invalid (negative) or the context is lost (CUDA_CRASHED, after which the process must
// end).
#ifndef SWEETSPOT_GPU_TRIAL_H
#define SWEETSPOT_GPU_TRIAL_H

#include "tuner/base/json.h"
#include "tuner/gpu/workload.h"

// Fills `answer` as protocol.h says for "trial".
int gpu_trial_run(struct workload *, const json_t *request, json_t *answer, struct error *err);

// A measurement's members (time, low, high, samples, count) into an object.
void gpu_trial_times(json_t *object, const struct measurement *);

#endif
