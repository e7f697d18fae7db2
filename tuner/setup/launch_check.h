// Facts about a candidate before it runs: whether each launch fits the device, and how many of its blocks fit on an SM.
#pragma once

#include "tuner/base/base.h"
#include "tuner/job/job.h"

struct launch_shape {
    int64_t grid[3], block[3], cluster[3];
    int64_t shared; // dynamic, bytes
};

// The number of blocks that fit on one SM at the same time, 0 if none. `registers`: per thread; `shared`: static and
// dynamic shared memory per block, bytes. As in NVIDIA's cuda_occupancy.h: each of an SM's four partitions allocates
// registers to warps in units of 256. Shared memory is allocated in units of 128 bytes, with 1 KiB per block for the
// system (compute capability 8.0 and later).
int64_t blocks_per_sm(const struct device_limits *, int64_t threads, int64_t registers, int64_t shared);
// Theoretical occupancy, 0..1: the warps of the resident blocks divided by the SM's maximum.
double theoretical_occupancy(const struct device_limits *, int64_t threads, int64_t registers, int64_t shared);

// Returns 0 if the launch fits, otherwise -1 with the reason ("block of 2048 threads; the device allows 1024").
int launch_check(const struct device_limits *, const struct launch_shape *, int64_t registers, int64_t shared_static,
                 struct error *reason);
