// What a device can do at most, and how long the least work of an operation takes at that. Pure: nothing is launched.
//
// A peak is never below the truth, since a right kernel would be refused: it is the greater of the data sheet's figure
// (the table of tuner/base/execution_unit.c, which ceilings and reports go by too), worked out from the device's
// attributes, and 1.05 times what was measured (tuner/gpu/ceilings.h). It may be above it.
//
// - Memory: bus width times twice the memory's clock. A cold launch is allowed to find a quarter of the L2
//   filled with its inputs (on the H200 it finds nothing of them), and a warm one all of it. Up to an L2 of outputs may
//   be written to memory after the kernel has ended.
// - Between the L2 and the multiprocessors: every byte once in the direction that has more of them, 64 a clock and
//   multiprocessor (128 from sm_100 on). Multicast brings a line to many multiprocessors, but first to one.
// - Arithmetic: on whichever pipe is fastest. A product of factors with b bits on a pipe of p bits takes ceil(b/p)
//   pieces of each factor (an integer's bits include the sign), and s pieces take at least 2s-1 products (Winograd,
//   Arithmetic complexity of computations, 1980), whether by Karatsuba's algorithm, three TF32 products for one of
//   FP32, or residues. FP32 and FP64 pipes work at the same time as the tensor cores, and add to them.
#pragma once

#include "kernels/operation.h"
#include "tuner/base/execution_unit.h"
#include "tuner/base/json.h"
#include "tuner/base/settings.h"

struct peaks {
    double memory_bytes, chip_bytes; // a second
    double flops[PEAK_PRODUCTS];     // a second
    double l2_bytes;
};

// What the data sheet's figures are worked out from. 0: unknown.
struct peak_attributes {
    int compute; // 90 of sm_90a
    int sm_count, clock_mhz, memory_clock_mhz, memory_bus_bits;
    double l2_bytes;
};

// 0 for what the attributes do not give. An architecture that the table does not know has the highest of all.
void peaks_of_device(struct peaks *, const struct peak_attributes *);
// Raises them to what "ceilings" (protocol.h) has answered.
void peaks_raise(struct peaks *, const json_t *ceilings);

// Seconds that the least work takes at the peaks: no launch is faster. Infinite where a peak that it needs is unknown.
// `why`: the words for "moving 201 MB takes at 4.4 TB/s".
double peaks_least_time(const struct peaks *, const struct operation_least *, const struct measure_settings *,
                        const struct verify_settings *, struct error *why);

// Whether a measured time (s) is impossible, and then the reason in full. Events are exact to about a microsecond,
// which is allowed for.
bool peaks_refuse(double time, double least, const char *why, struct error *reason);
