// Fills whose elements depend on each other: sorted numbers, a permutation, row
// starts. The host computes them; those whose elements depend on the seed and their number
// alone are computed on the device (kernels/support.cu).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernels/operation.h"
#include "tuner/base/buffer_kind.h"
#include "tuner/base/error.h"

struct host_fill {
    enum fill_kind kind;
    double low, high; // sorted: the range; offsets: `high` is the last one
};

bool fill_is_on_host(enum fill_kind);
// Whether the fill can be that of such an operand, whose elements need not be there: types and shapes. -1 with a
// message.
int host_fill_check(const struct host_fill *, const struct operand *to, struct error *);
// Writes all elements of a checked fill to to->host, row by row, dense: to->ld plays no part.
//     sorted       n uniform numbers in ascending order, by exponential spacings (Devroye, Non-Uniform Random Variate
//                  Generation, 1986, V.3.2), of integers rounded down
//     permutation  0 to n-1 in an order of which all are equally likely (Fisher and Yates)
//     offsets      0, then ascending to `high`: rows of random lengths, one in eight of them empty
int host_fill_compute(const struct host_fill *, struct operand *to, uint64_t seed, struct error *);
