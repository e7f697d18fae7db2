// Configurations as points of the unit cube, for models: what the numbers of a space mean on a GPU.
//
// An ordered parameter becomes one coordinate, half its rank and half its logarithm (sizes act by ratio). Where its values are not all
// powers of two, how often two divides them becomes a second one: alignment matters and is invisible in the size. A string becomes
// one coordinate a value.
#ifndef SWEETSPOT_ENCODING_H
#define SWEETSPOT_ENCODING_H

#include <stddef.h>
#include <stdint.h>

#include "search/space.h"

struct encoding {
    size_t parameter_count, count;        // count: coordinates
    size_t *first;                        // of a parameter: its first coordinate; parameter_count + 1 entries
    float **table;                        // table[p][value * (first[p+1] - first[p]) + i]
};

void encoding_init(struct encoding *, const struct space *);
void encoding_release(struct encoding *);
void encoding_of(const struct encoding *, const uint16_t *config, float *out);

#endif
