// How the values of a space's parameters are used: which of the winner's are the last of their parameter, so that
// values beyond them may be faster, and which values no candidate near the best has.
#pragma once

#include "search/space/space.h"

struct value_use {
    const struct space *space;
    double best;                        // objective, s
    int64_t *tried, *near;              // by value: candidates that have it, and those among them near the best
    size_t first[SPACE_MAX_PARAMETERS]; // of a parameter's values in these
};

// For candidates near the best objective. The space is borrowed.
void value_use_begin(struct value_use *, const struct space *, double best);
void value_use_release(struct value_use *);
// A candidate with a result.
void value_use_add(struct value_use *, const uint16_t *config, double objective);
// "the largest TILE (64) and the smallest VECTOR (2)"; NULL: the winner has no such value. Integers with three values
// or more; none is below 1. malloc'ed.
char *value_use_edges(const struct space *, const uint16_t *winner);
// "STAGES=4, BLOCK_K=32": values that were tried often enough and are never near the best; NULL: there are none.
// malloc'ed.
char *value_use_idle(const struct value_use *);
