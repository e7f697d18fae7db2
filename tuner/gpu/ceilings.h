// The measured maximum rates of this device, for the execution units of tuner/base/execution_unit.h. Every percentage
// of a ceiling in a report refers to these rates, not to a data sheet.
#pragma once

#include "tuner/gpu/workload_data.h"

// `path`, the path of the cubin, is borrowed. The caller closes.
int ceilings_open(struct ceilings **out, struct cuda *, const char *path, struct error *err);
void ceilings_close(struct ceilings *); // NULL is fine

// Adds to the answer the members for the units that the request names or, if it names none, for the units that every
// job needs (protocol.h). Each rate is that of the fastest launch. With "lasting", units whose power draw lowers the
// clock get the sustained rate instead. Takes a few milliseconds, plus 0.3 s for each sustained rate, and up to 2 GiB
// of memory meanwhile.
int ceilings_measure(struct workload *, const json_t *request, json_t *answer, struct error *err);

// Keeps the device busy with arithmetic and memory accesses for about 60 ms: an idle GPU's clocks are low, and the
// first kernels of a new process were measured 12% too slow.
int ceilings_warm_up(struct workload *, struct error *err);
