// Estimates from a kernel's launch how long it takes on one problem relative to another: the work of a block times the
// waves of blocks (fn_relative_time in search/space/fn_selector.h).
//
// The work is the job's `work` (flops, otherwise bytes) or, if the job gives neither, the product of the problem's
// sizes. Only blocks of the configuration's heaviest launch are counted: the one of which the device holds the fewest
// blocks at once. If that number is unknown, the relative time is the work. (Tile and wave quantisation: NVIDIA, Matrix
// Multiplication Background User's Guide, 2023.)
#pragma once

#include "tuner/setup/launch_check.h"
#include "tuner/store/store.h"

struct wave_model {
    int stage;                   // stage of the heaviest launch; -1: unknown
    int64_t at_once;             // number of its blocks that the device holds
    double of[JOB_MAX_PROBLEMS]; // by tuned problem; > 0, or NaN if the configuration cannot compute it
};

// Returns -1 with a message if the trial's configuration is not one of the job's, or an expression fails.
int wave_model_find(const struct job *, const struct device_limits *, const struct trial *, struct wave_model *out,
                    struct error *);

// How many blocks of a launch the device holds at once if the kernel has this many registers per thread and bytes of
// static shared memory (negative: unknown).
int64_t blocks_at_once(const struct device_limits *, const struct launch_shape *, int64_t registers,
                       int64_t shared_static);
