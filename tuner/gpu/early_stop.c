// See early_stop.h.
#include "tuner/gpu/early_stop.h"

const double early_stop_long_launch = 5e-3;

void early_stop_learn(struct early_stop *r, double first, double median)
{
    if (!(first > 0) || !(median > 0)) return;
    r->share[r->count++ % EARLY_STOP_KEPT] = first / median;
}

double early_stop_bound(const struct early_stop *r, double first)
{
    double largest = 1;
    if (r->count < EARLY_STOP_LEAST) return 0;
    for (size_t i = 0; i < r->count && i < EARLY_STOP_KEPT; i++)
        if (r->share[i] > largest) largest = r->share[i];
    return first / largest;
}
