// The request "profile": what the lines of a candidate's source do, by instruction (sass.h) and line table
// (linetable.h).
#ifndef SWEETSPOT_GPU_PROFILE_H
#define SWEETSPOT_GPU_PROFILE_H

#include "tuner/base/json.h"
#include "tuner/gpu/workload_data.h"

// Fills `answer` as protocol.h says for "profile". Fails only when a request is invalid (negative) or the context
// is lost (CUDA_CRASHED); what cannot be counted here is a "reason" of the stage.
int gpu_profile_run(struct workload *, const json_t *request, json_t *answer, struct error *err);

#endif
