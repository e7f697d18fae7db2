// The comparison of a run's GPUs. From time to time all of them measure the same candidate, the reference, so that
// differences between GPUs are noticed (gpu_times.h has the rule). No time is ever corrected. A GPU that differs is
// disabled. The trials that it measured since it last agreed with the others get the verdict `slow`, so that they are
// not ranked. Its earlier trials are still ranked.
//
// The reference is the best of the run's first valid candidates, once there are enough of them. The reference's own
// trial is not used for the comparison: every GPU measures the reference again, in the same way.
#pragma once

#include "tuner/final/final.h"
#include "tuner/protocol/trial_message.h"
#include "tuner/run/gpu_times.h"
#include "tuner/setup/task.h"

// The reference's parts that are needed to measure it again.
struct check_candidate {
    char *config, *cubin;
    json_t *problems;
};

struct gpu_checks {
    const struct final_parts *with; // borrowed from the run
    size_t seen;                    // number of valid candidates; the best of them is the reference
    int64_t trial;                  // the reference's trial; 0: there is none yet
    double objective;               // the objective of that trial
    struct check_candidate reference;
    struct gpu_times times;
    size_t gpu_count;
    struct checked_gpu *gpus; // by slot
    double wall;              // GPU time of the checks, s
};

void gpu_checks_release(struct gpu_checks *);
void gpu_checks_ready(struct gpu_checks *, size_t gpu); // its worker is set up
// Records that a GPU has measured a candidate, with this valid trial as the result.
void gpu_checks_note(struct gpu_checks *, const struct task *, int64_t trial, double objective);
void gpu_checks_send(struct gpu_checks *, size_t gpu); // sends it the reference
// gpu_checks_take handles the answer for the reference. gpu_checks_failed handles a failed measurement of the
// reference. Both return the number of trials that are no longer ranked.
size_t gpu_checks_take(struct gpu_checks *, size_t gpu, const struct trial_answer *);
size_t gpu_checks_failed(struct gpu_checks *, size_t gpu, const char *why);
json_t *gpu_checks_document(struct gpu_checks *); // the GPUs of the run, with the findings
