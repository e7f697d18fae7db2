// Fills whose elements depend on each other: sorted numbers, permutations, row starts. The host computes them. Fills
// whose elements depend only on the seed and the element's number are computed on the device (kernels/support.cu).
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
// Checks that the fill suits the operand's type and shape; its elements need not exist yet. -1 with a message.
int host_fill_check(const struct host_fill *, const struct operand *to, struct error *);
// Writes all elements of a checked fill to to->host, row by row without padding; to->ld is ignored.
//     sorted       n uniform numbers in ascending order, from exponential spacings (Devroye, Non-Uniform Random Variate
//                  Generation, 1986, V.3.2); for integers rounded down
//     permutation  0 to n-1, with all orders equally likely (Fisher and Yates)
//     offsets      0, then ascending to `high`: rows of random lengths, one in eight of them empty
int host_fill_compute(const struct host_fill *, struct operand *to, uint64_t seed, struct error *);
