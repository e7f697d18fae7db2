// The life of a workload: a "job" request sets it up, all later requests work with it, and a new job replaces it.
#pragma once

#include "tuner/base/protocol.h"
#include "tuner/gpu/workload_data.h"

// Sets up a workload from a "job" request, which must outlive it: allocates and fills memory, and computes the
// references. The caller must release it, even after a failure.
int workload_open(struct workload *, struct machine *, const struct job_request *, struct error *err);
void workload_release(struct workload *);

// Fills all memory again, with a new seed or to repair damage, and computes the references. Waits.
int workload_fill(struct workload *, uint64_t seed, struct error *err);

// Runs integrity_check(), and fills everything again if something was damaged; CUDA_CRASHED if that fails. Waits.
int workload_mend(struct workload *, enum trial_status *, struct error *reason, struct error *err);
// Like workload_mend(), but ignores findings; for requests that run candidates without judging them. Waits.
int workload_sound(struct workload *, struct error *err);
