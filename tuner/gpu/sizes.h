// Sizes that the job does not name but the header accepts (tuner/job/job_sizes.c). They form a separate workload, which
// is prepared once per job. A new best must pass verification on some of the sizes, and a finalist on all. A soak then
// mixes launches of these sizes, with one scratch buffer that all sizes share.
#pragma once

#include "tuner/gpu/workload_data.h"

// Prepares the "sizes" of a "job" request. workload->sizes stays NULL if there are none. If they cannot be prepared, it
// stays NULL too, and a note on stderr says so. CUDA_CRASHED: the context was lost meanwhile.
int sizes_open(struct workload *, const struct job_request *, struct error *err);
void sizes_close(struct workload *);

// Runs the candidate on some sizes or, with `all`, on all sizes that it has launches for. If 0 is returned, *verified
// is the number of verified sizes, and *status is STATUS_OK or the status of a launch that failed verification. Waits.
int sizes_run(struct workload *, const struct candidate *, bool all, int64_t *verified, enum trial_status *status,
              struct error *reason, struct error *err);
