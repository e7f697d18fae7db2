// The mixed sets of a problem's data: each is one of the two sets but for a piece of one buffer, which is the other's.
// A kernel that remembers what it made of one input, or tells data apart by a few samples, is wrong in a launch on the
// mixed set of the data that it remembers. They are prepared once, where the reference is fast, and put together for
// the launches of a soak.
#pragma once

#include "tuner/gpu/workload_data.h"

// Draws the piece. False where there is none: every input is the same in both sets, or the piece would be all that
// differs between them. A relation within a buffer (a permutation, ascending offsets) is kept: then the piece is all of
// it.
bool mixed_data_draw(struct device_problem *);
// After buffers_restore(): the piece, where its buffer was restored.
int mixed_data_restored(const struct device_problem *, const struct buffers *, unsigned copy, struct error *err);
// Fills the first copy with a mixed set, from the seed of set 0; set 1 must lie in its place. Enqueued.
int mixed_data_fill(struct workload *, struct device_problem *, unsigned set, uint64_t seed, struct error *err);
