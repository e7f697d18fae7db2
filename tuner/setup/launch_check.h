// What is known of a candidate before it runs: whether each launch fits the device, and how many of its blocks fit an
// SM.
#pragma once

#include "tuner/base/base.h"
#include "tuner/job/job.h"

struct launch_shape {
    int64_t grid[3], block[3], cluster[3];
    int64_t shared; // dynamic, bytes
};

// Blocks that fit one SM together, 0 when none. Registers a thread, static + dynamic shared memory a block in bytes.
// After NVIDIA's cuda_occupancy.h: each of an SM's four partitions gives registers to warps in units of 256; shared
// memory is given in units of 128 bytes with 1 KiB a block for the system (compute capability 8.0 and later).
int64_t blocks_per_sm(const struct device_limits *, int64_t threads, int64_t registers, int64_t shared);
// Theoretical occupancy, 0..1: warps of the resident blocks over the SM's.
double theoretical_occupancy(const struct device_limits *, int64_t threads, int64_t registers, int64_t shared);

// 0 when the launch fits; otherwise -1 with the reason ("block of 2048 threads; the device allows 1024").
int launch_check(const struct device_limits *, const struct launch_shape *, int64_t registers, int64_t shared_static,
                 struct error *reason);
