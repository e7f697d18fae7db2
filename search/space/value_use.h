// How the values of a space's parameters are used. Finds the winner's values at the end of their parameter's range,
// because there may be faster values beyond them. Also finds the values that no candidate near the best has.
#pragma once

#include "search/space/space.h"

struct value_use {
    const struct space *space;
    double best;                        // objective, s
    int64_t *tried, *near;              // by value: candidates that have the value; those of them near the best
    size_t first[SPACE_MAX_PARAMETERS]; // by parameter: index of its first value in these arrays
};

// `best`: the best objective, s. Borrows the space.
void value_use_begin(struct value_use *, const struct space *, double best);
void value_use_release(struct value_use *);
// Adds a candidate with a result.
void value_use_add(struct value_use *, const uint16_t *config, double objective);
// The winner's values that are the largest or smallest of their parameters: "the largest TILE (64), the smallest VECTOR
// (2)". Considers only integer parameters with at least three values; values of 1 or less are not reported as the
// smallest. Returns NULL if there are none, otherwise a malloc'ed string.
char *value_use_edges(const struct space *, const uint16_t *winner);
// "STAGES=4, BLOCK_K=32": values that at least eight candidates have, none of them within 5% of the best. Returns NULL
// if there are none, otherwise a malloc'ed string.
char *value_use_idle(const struct value_use *);
