// Checks whether a measured time is possible at all, by comparing it with the time that the operation's least work
// (struct operation_least) takes at the device's peaks (peaks.h). This costs nothing if every time is possible by the
// data sheet. Before the worker refuses a time for the first time in a job, it measures the ceilings.
#pragma once

#include "tuner/base/protocol.h"
#include "tuner/gpu/workload_data.h"
#include "tuner/protocol/job_message.h"

// Judges the time of one launch on a problem (s): *status is STATUS_OK, or STATUS_IMPLAUSIBLE with the reason. No time
// is refused if the reference is not an operation. Fails only if the device does.
int plausibility_check(struct workload *, size_t problem, double time, enum trial_status *status, struct error *reason,
                       struct error *err);

// To be called with the time of a library whose result was correct. If this time is implausible, the estimate of the
// least work is wrong: from then on, no time is refused on this problem, and a note on stderr says so.
int plausibility_trust(struct workload *, size_t problem, const char *library, double time, struct error *err);

// The least time of every tuned problem according to the data sheet (s), and what limits it. Empty if the reference is
// not an operation.
const struct least_time *plausibility_least(struct workload *, size_t *count, struct arena *);
