// The functions that answer requests to the GPU worker. Each one fills `answer`, which is cleared, and keeps what it
// points to in `memory`. It fails only if a request is invalid (negative) or the context is lost (CUDA_CRASHED, after
// which the process must end); a candidate's failure is its status.
#pragma once

#include "tuner/gpu/baselines.h"
#include "tuner/gpu/workload.h"
#include "tuner/protocol/final_message.h"
#include "tuner/protocol/profile_message.h"
#include "tuner/protocol/trial_message.h"

// Reports the share of the request that is done, and the trial that is running (-1: a baseline; 0: all entries are
// racing, or the request has only one trial).
typedef void gpu_progress(void *user, double share, int64_t trial);

// `progress` (or NULL) is called once, before the soak. The soak then has the request's whole time limit for itself.
int gpu_trial_run(struct workload *, const struct trial_request *, struct trial_answer *answer, struct arena *memory,
                  gpu_progress *progress, void *user, struct error *err);
// A measurement's figures (time, low, high, samples, count); the samples are kept in `memory`.
void gpu_trial_times(struct trial_problem *, const struct measurement *, struct arena *memory);

// A final that spans several requests, each of which is one part of it. *final is NULL before the first part. Before
// any other use of the workload, the caller ends the final, which restores the earlier data. After CUDA_CRASHED it
// cannot be ended. `request` is a struct final_request as JSON, as it was sent. `progress` is called before each
// entry's turn, before its soak, and from time to time.
struct gpu_final;
int gpu_final_run(struct gpu_final **final, struct workload *, struct baselines *, const json_t *request,
                  struct final_answer *answer, struct arena *memory, gpu_progress *progress, void *user,
                  struct error *err);
int gpu_final_end(struct gpu_final **final, struct error *err); // restores the search's data
void gpu_final_free(struct gpu_final **final);                  // without restoring the data

// If something cannot be counted here, a "reason" of the stage says so.
int gpu_profile_run(struct workload *, const struct profile_request *, struct profile_answer *answer,
                    struct arena *memory, struct error *err);
int gpu_sanitize_run(struct workload *, const struct candidate *, struct answer_head *answer, struct arena *memory,
                     struct error *err);
