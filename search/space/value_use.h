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

// `best`: the best objective, s. Borrows the space.
void value_use_begin(struct value_use *, const struct space *, double best);
void value_use_release(struct value_use *);
// A candidate with a result.
void value_use_add(struct value_use *, const uint16_t *config, double objective);
// The winner's values beyond which its parameters have none: "the largest TILE (64), the smallest VECTOR (2)". Only of
// integer parameters with at least three values; 1 and less are never the smallest. NULL: there are none. malloc'ed.
char *value_use_edges(const struct space *, const uint16_t *winner);
// "STAGES=4, BLOCK_K=32": values that at least eight candidates have, none of them within 5% of the best. NULL: there
// are none. malloc'ed.
char *value_use_idle(const struct value_use *);
