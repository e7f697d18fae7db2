// What this device can do at most, measured: FP32 and FP64 multiply-adds, reading and copying memory, reading the L2
// and shared memory, and the tensor pipe by mma.sync and, on sm_90a, by wgmma. Every percentage of a ceiling in a
// report is of these, not of a data sheet.
#ifndef SWEETSPOT_GPU_CEILINGS_H
#define SWEETSPOT_GPU_CEILINGS_H

#include "tuner/gpu/workload_data.h"

// Adds "flops_per_second", "bytes_per_second" and the others (protocol.h) to the answer. Takes some milliseconds and up
// to 2 GiB of memory for as long.
int ceilings_measure(struct workload *, json_t *answer, struct error *err);

// Keeps the device busy with arithmetic and memory for about 60 ms: an idle card's clocks are low, and the first
// kernels of a process that was just started were seen 12% slower than they are.
int ceilings_warm_up(struct workload *, struct error *err);

#endif
