// The mixed sets of a problem's data. Each equals one of the two sets, except for a piece of one buffer, which comes
// from the other set. A kernel that remembers its results for an input, or distinguishes data by a few samples, gives
// wrong results on the mixed set that resembles the data it remembers. Mixed sets exist only if the reference is fast.
// They are prepared once, and assembled again for the launches of a soak.
#pragma once

#include "tuner/gpu/workload_data.h"

// Draws the piece. False if there is none: every input is the same in both sets, or the piece would be the only
// difference between them. If a relation within a buffer must be kept (a permutation, ascending offsets), the piece is
// the whole buffer.
bool mixed_data_draw(struct device_problem *);
// Writes the piece again if its buffer was restored. Called after buffers_restore().
int mixed_data_restored(const struct device_problem *, const struct buffers *, unsigned copy, struct error *err);
// Fills the first copy with a mixed set, from the seed of set 0; set 1 must already be in its own copy. Enqueued.
int mixed_data_fill(struct workload *, struct device_problem *, unsigned set, uint64_t seed, struct error *err);
