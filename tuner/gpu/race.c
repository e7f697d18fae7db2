// See race.h.
#include "tuner/gpu/race.h"

const double race_long_launch = 5e-3;

void race_learn(struct race *r, double first, double median)
{
    if (!(first > 0) || !(median > 0)) return;
    r->share[r->count++ % RACE_KEPT] = first / median;
}

double race_bound(const struct race *r, double first)
{
    double largest = 1;
    if (r->count < RACE_LEAST) return 0;
    for (size_t i = 0; i < r->count && i < RACE_KEPT; i++)
        if (r->share[i] > largest) largest = r->share[i];
    return first / largest;
}
