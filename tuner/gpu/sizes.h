// Sizes that the job does not name but the header accepts (tuner/job/job_sizes.c). They form a separate workload, which
// is prepared once per job. A new best must pass verification on some of them, and a finalist must pass it on all. Then
// a soak mixes them, with one scratch buffer that all sizes share.
#pragma once

#include "tuner/gpu/workload_data.h"

// Prepares the "sizes" of a "job" request. workload->sizes stays NULL if there are none. If they cannot be prepared, it
// stays NULL too, and a note on stderr says so. CUDA_CRASHED: the reference cannot compute them.
int sizes_open(struct workload *, const struct job_request *, struct error *err);
void sizes_close(struct workload *);

// STATUS_OK, or the status and the reason of a launch that failed verification. `all`: runs all sizes that the
// candidate has launches for, not only some. Waits; *verified (how many sizes) and *status are set when 0 is returned.
int sizes_run(struct workload *, const struct candidate *, bool all, int64_t *verified, enum trial_status *status,
              struct error *reason, struct error *err);
