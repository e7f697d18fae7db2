// Advice about the space's values, from the results in a store (search/space/value_use.h), for people to read.
#pragma once

#include "tuner/job/job.h"
#include "tuner/store/store.h"

// Both are malloc'ed, or NULL if there is nothing to report.
struct final_values {
    char *edges; // "the winner has the largest TILE (64): values beyond these may be faster"
    char *idle;  // "no candidate within 5% of the best has STAGES=4"
};

// Uses the results of the store's current environment. `winner`: a trial; `best`: the best objective, s. With too few
// results, or results of another space, both strings are NULL.
struct final_values final_values_find(struct store *, const struct job *, int64_t winner, double best);
void final_values_release(struct final_values *);
