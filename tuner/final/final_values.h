// What the results say about the space's values, for people: search/space/value_use.h, from a store.
#pragma once

#include "tuner/job/job.h"
#include "tuner/store/store.h"

// Both malloc'ed, or NULL where there is nothing to say.
struct final_values {
    char *edges; // "the winner has the largest TILE (64): values beyond these may be faster"
    char *idle;  // "no candidate within 5% of the best has STAGES=4"
};

// Of the store's current environment. `winner`: a trial; `best`: the best objective, s. Too few results, or results of
// another space, say nothing.
struct final_values final_values_find(struct store *, const struct job *, int64_t winner, double best);
void final_values_release(struct final_values *);
