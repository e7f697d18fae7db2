// The peak rates of a device, and how long an operation's least work takes at them. Pure functions: nothing is
// launched.
//
// A peak may be above the true rate but not below it, otherwise correct kernels would be refused. It is the greater of
// the data sheet's figure, computed from the device's attributes (with the table in tuner/base/execution_unit.c, which
// ceilings and reports use too), and 1.05 times the measured rate (tuner/gpu/ceilings.h).
//
// - Memory: bus width times twice the memory clock. A cold launch is allowed to find inputs in the L2, up to a quarter
//   of its size (on the H200 it finds none), and a warm launch up to its whole size. Outputs up to the size of the L2
//   may be written to memory after the kernel has ended.
// - Between the L2 and the multiprocessors: every byte moves once, and the direction with more bytes counts, at 64
//   bytes per clock and multiprocessor (128 from sm_100 on). Even with multicast, a byte must reach at least one
//   multiprocessor.
// - Arithmetic: on whichever pipe is fastest. A product of b-bit factors on a p-bit pipe splits each factor into
//   ceil(b/p) pieces (an integer's bits include the sign), and s pieces take at least 2s-1 products (Winograd,
//   Arithmetic complexity of computations, 1980). This holds for Karatsuba's algorithm, for three TF32 products in
//   place of one FP32 product, and for residues. FP32 and FP64 pipes work at the same time as the tensor cores, and add
//   to their rate.
#pragma once

#include "kernels/operation.h"
#include "tuner/base/execution_unit.h"
#include "tuner/base/json.h"
#include "tuner/base/settings.h"

struct peaks {
    double memory_bytes, chip_bytes; // per second
    double flops[PEAK_PRODUCTS];     // per second
    double l2_bytes;
};

// The attributes from which the data sheet's figures are computed. 0: unknown.
struct peak_attributes {
    int compute; // 90 for sm_90a
    int sm_count, clock_mhz, memory_clock_mhz, memory_bus_bits;
    double l2_bytes;
};

// Computes each peak from the attributes; 0 if they do not suffice. An architecture that the table does not know gets
// the highest figures in the table.
void peaks_of_device(struct peaks *, const struct peak_attributes *);
// Raises the peaks according to the answer to "ceilings" (protocol.h).
void peaks_raise(struct peaks *, const json_t *ceilings);

// Seconds that the least work takes at the peaks: no launch is faster. Infinite if a peak that the work needs is
// unknown. `why`: a string such as "moving 201 MB takes at 4.4 TB/s".
double peaks_least_time(const struct peaks *, const struct operation_least *, const struct measure_settings *,
                        const struct verify_settings *, struct error *why);

// Whether a measured time (s) is impossible. If it is, `reason` gets the full reason. Allows for the accuracy of
// events, about a microsecond.
bool peaks_refuse(double time, double least, const char *why, struct error *reason);
