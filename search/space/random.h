// Reproducible random numbers (xoshiro256**, Blackman and Vigna 2018; seeded through splitmix64).
#pragma once

#include <stdint.h>

struct random {
    uint64_t state[4];
};

void random_seed(struct random *, uint64_t seed);
uint64_t random_next(struct random *);                  // 64 uniform bits
uint64_t random_below(struct random *, uint64_t bound); // uniform in 0 .. bound-1, unbiased; bound >= 1
double random_unit(struct random *);                    // uniform in [0, 1)
