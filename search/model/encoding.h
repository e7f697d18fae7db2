// Configurations as points, for models: what the numbers of a space mean on a GPU.
//
// An ordered parameter becomes a coordinate from 0 to 1, half its rank and half its logarithm (sizes act by ratio).
// Where its values are not all powers of two, their alignment becomes another one: how often two divides them, and
// whether they are powers of two, matters and is invisible in the size. These are the ordinal coordinates. Every
// parameter with more than two values also has a nominal coordinate, its value's index, of which only equality means
// anything: a tile of 3 may be good where 2 and 4 are not. (On recorded spaces it halved the runs that miss the
// optimum.) A string has only this one; two values need only one coordinate.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "search/space/space.h"
#include "tuner/base/memory.h"

struct encoding {
    struct arena memory; // of what the pointers point to
    size_t parameter_count;
    size_t ordinal, count;   // coordinates: the first `ordinal` of them are ordinal, the others nominal
    size_t *first, *nominal; // of a parameter: its first ordinal coordinate (parameter_count + 1 entries), its nominal
                             // one or SIZE_MAX
    float **table;           // table[p][value * (first[p+1] - first[p]) + i]
};

void encoding_init(struct encoding *, const struct space *);
void encoding_release(struct encoding *);
void encoding_of(const struct encoding *, const uint16_t *config, float *out);
