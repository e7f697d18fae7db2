// Encodes configurations as points for models, in coordinates that reflect what a space's numbers mean on a GPU.
//
// An ordered parameter becomes a coordinate from 0 to 1, half from its rank and half from its logarithm (ratios of
// sizes matter). If its values are not all powers of two, their alignment becomes a second coordinate. It matters how
// often a value is divisible by two and whether it is a power of two, and the first coordinate does not show this.
// These are the ordinal coordinates. Every parameter with more than two values also has a nominal coordinate, its
// value's index, which is only compared for equality: a tile of 3 may be good where 2 and 4 are not. (On recorded
// spaces, this halved the number of runs that miss the optimum.) A string parameter has only the nominal coordinate. A
// parameter with two values needs only one coordinate.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "search/space/space.h"
#include "tuner/base/memory.h"

struct encoding {
    struct arena memory; // for everything that the pointers point to
    size_t parameter_count;
    size_t ordinal, count;   // coordinates: the first `ordinal` are ordinal, the others nominal
    size_t *first, *nominal; // by parameter: its first ordinal coordinate (parameter_count + 1 entries), its nominal
                             // coordinate or SIZE_MAX
    float **table;           // table[p][value * (first[p+1] - first[p]) + i]
};

void encoding_init(struct encoding *, const struct space *);
void encoding_release(struct encoding *);
void encoding_of(const struct encoding *, const uint16_t *config, float *out);
