// The request "profile": what the lines of a candidate's source do, by instruction (sass.h) and line table
// (linetable.h).
#ifndef SWEETSPOT_GPU_PROFILING_H
#define SWEETSPOT_GPU_PROFILING_H

#include "tuner/base/json.h"
#include "tuner/gpu/workload.h"

// Fills `answer` as protocol.h says for "profile". Fails only when a request makes no sense (negative) or the context
// is lost (CUDA_CRASHED); what cannot be counted here is a "reason" of the stage.
int profiling_run(struct workload *, const json_t *request, json_t *answer, struct error *err);

#endif
