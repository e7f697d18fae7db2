// Normally distributed random numbers.
#pragma once

#include <math.h>

#include "search/space/random.h"

// Mean 0, variance 1 (Box and Muller 1958). The second value of each pair is dropped.
static inline double random_normal(struct random *r)
{
    double u = 1.0 - random_unit(r), angle = 6.283185307179586 * random_unit(r);
    return sqrt(-2.0 * log(u)) * cos(angle);
}
