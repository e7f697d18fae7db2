// What this device can do at most, measured: the pipes of tuner/base/execution_unit.h. Every percentage of a ceiling in
// a report refers to these, not to a data sheet.
#pragma once

#include "tuner/gpu/workload_data.h"

// `path` is of the cubin, and is borrowed. The caller closes.
int ceilings_open(struct ceilings **out, struct cuda *, const char *path, struct error *err);
void ceilings_close(struct ceilings *); // NULL is fine

// Adds the members of the pipes that the request names to the answer, or of all that any job needs where it names none
// (protocol.h). "lasting": of a pipe whose power lowers the clock, the rate that lasts; else the fastest launch. Takes
// some milliseconds, 0.3 s for each rate that lasts, and up to 2 GiB of memory for as long.
int ceilings_measure(struct workload *, const json_t *request, json_t *answer, struct error *err);

// Keeps the device busy with arithmetic and memory for about 60 ms: an idle card's clocks are low, and the first
// kernels of a process that was just started were seen 12% slower than they are.
int ceilings_warm_up(struct workload *, struct error *err);
