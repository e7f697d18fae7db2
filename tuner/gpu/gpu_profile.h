// The request "profile": what the lines of a candidate's source do, by instruction (sass.h) and line table
// (linetable.h).
#ifndef SWEETSPOT_GPU_PROFILE_H
#define SWEETSPOT_GPU_PROFILE_H

#include "tuner/gpu/workload_data.h"
#include "tuner/protocol/profile_message.h"

// Fills `answer`, which is cleared, and keeps what it points to in `memory`. Fails only when a request is invalid
// (negative) or the context is lost (CUDA_CRASHED); what cannot be counted here is a "reason" of the stage.
int gpu_profile_run(struct workload *, const struct profile_request *, struct profile_answer *answer,
                    struct arena *memory, struct error *err);

#endif
