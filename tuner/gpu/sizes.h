// Sizes that the job does not name but the header accepts (tuner/job/job_sizes.c): a workload of their own, prepared
// once for a job. A new best must be right on some of them, a finalist on all; then a soak mixes them, in which all
// sizes share one scratch buffer.
#pragma once

#include "tuner/gpu/workload_data.h"

// Prepares the "sizes" of a "job" request. NULL: there are none; nor are there where they cannot be prepared, with a
// note on stderr. CUDA_CRASHED: the reference cannot compute them.
int sizes_open(struct workload *, const struct job_request *, struct error *err);
void sizes_close(struct workload *);

// STATUS_OK, or what a launch calls for, with the reason. `all`: all sizes that the candidate has launches for. Waits;
// *verified (how many sizes) and *status are set when 0 is returned.
int sizes_run(struct workload *, const struct candidate *, bool all, int64_t *verified, enum trial_status *status,
              struct error *reason, struct error *err);
