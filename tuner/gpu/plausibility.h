// Whether a time that was measured is possible at all: it is compared with the least work of the operation
// (struct operation_least) at the device's peaks (peaks.h). Costs nothing as long as times are slower than the data
// sheet allows; the first faster one makes the worker measure the ceilings, once a job, before it is refused.
#pragma once

#include "tuner/base/protocol.h"
#include "tuner/gpu/workload_data.h"
#include "tuner/protocol/job_message.h"

// Judges the seconds that one launch on a problem took: *status is STATUS_OK, or STATUS_IMPLAUSIBLE with the reason. No
// time is refused where the reference is no operation. Fails only if the device does.
int plausibility_check(struct workload *, size_t problem, double time, enum trial_status *status, struct error *reason,
                       struct error *err);

// Takes the time of a library whose result was right. If that is implausible, the least work is estimated wrongly:
// nothing is refused on this problem from then on, and a note on stderr says so.
int plausibility_trust(struct workload *, size_t problem, const char *library, double time, struct error *err);

// The least seconds of every tuned problem, by the data sheet, and what takes them. Empty where the reference is
// no operation.
const struct least_time *plausibility_least(struct workload *, size_t *count, struct arena *);
