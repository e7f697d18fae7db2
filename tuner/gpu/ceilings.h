// What this device can do at most, measured: FP32 multiply-adds a second and bytes read from memory a second. Every percentage of a ceiling in a
// report is of these, not of a data sheet.
#ifndef SWEETSPOT_GPU_CEILINGS_H
#define SWEETSPOT_GPU_CEILINGS_H

#include "tuner/gpu/workload.h"

// Adds "flops_per_second" and "bytes_per_second" to the answer. Takes some milliseconds and up to 2 GiB of memory for as long.
int ceilings_measure(struct workload *, json_t *answer, struct error *err);

#endif
