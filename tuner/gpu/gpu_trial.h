// One trial: verify, screen, measure, verify again. The candidate's failure is its status; the function itself fails
// only when a request is invalid (negative) or the context is lost (CUDA_CRASHED, after which the process must
// end).
#ifndef SWEETSPOT_GPU_TRIAL_H
#define SWEETSPOT_GPU_TRIAL_H

#include "tuner/gpu/workload.h"
#include "tuner/protocol/trial_message.h"

// Fills `answer`, which is cleared, and keeps what it points to in `memory`.
int gpu_trial_run(struct workload *, const struct trial_request *, struct trial_answer *answer, struct arena *memory,
                  struct error *err);

// A measurement's figures (time, low, high, samples, count); the samples are kept in `memory`.
void gpu_trial_times(struct trial_problem *, const struct measurement *, struct arena *memory);

#endif
