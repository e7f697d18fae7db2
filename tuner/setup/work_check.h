// Whether a job file's `work` is possible in a time that was measured. A mistake there leads to wrong rates and wrong
// advice, but not to a wrong kernel, so it causes a warning and refuses nothing.
#ifndef SWEETSPOT_WORK_CHECK_H
#define SWEETSPOT_WORK_CHECK_H

#include <stdbool.h>

#include "tuner/base/json.h"
#include "tuner/job/job.h"

// Whether `work` on a tuned problem, done in `time` (s), would go beyond the measured "ceilings" (protocol.h) by more
// than 5%. Then the warning names the job file, the line and both rates. Bytes that caches may hold count against the
// L2's ceiling. False where something is unknown.
bool work_is_doubtful(const struct job *, size_t problem, double time, const json_t *ceilings, struct error *warning);

#endif
