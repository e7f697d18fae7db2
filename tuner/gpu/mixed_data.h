// The mixed set of a problem's data: set 0 but for a piece of one input, which is set 1's. A kernel that remembers what
// it made of one input, or tells data apart by a few samples, is wrong in a launch on it. It is prepared once, where
// the reference is fast, and put together for the launches of a soak.
#ifndef SWEETSPOT_GPU_MIXED_DATA_H
#define SWEETSPOT_GPU_MIXED_DATA_H

#include "tuner/gpu/workload_data.h"

// Draws the piece. False where there is none: every input is the same in both sets, or the piece would be all that
// differs between them. A relation within a buffer (a permutation, ascending offsets) is kept: then the piece is all of
// it.
bool mixed_data_draw(struct device_problem *);
// Fills the first copy with the mixed set, from the seed of set 0; set 1 must lie in its place. Enqueued.
int mixed_data_fill(struct workload *, struct device_problem *, uint64_t seed, struct error *err);

#endif
