// See time_slices.h.
#include "tuner/policy/time_slices.h"

#include <math.h>

static const double least_slice = 2; // s

struct time_slices time_slices_make(double time, size_t jobs)
{
    double first = fmax(time / (2 * (double)jobs), least_slice);
    return (struct time_slices){time, first, fmax(first / 2, least_slice)};
}

size_t time_slices_next(const struct time_slices *t, double spent, const double *gains, size_t jobs)
{
    size_t best = jobs;
    if (spent + t->next / 2 >= t->time) return jobs;
    for (size_t i = 0; i < jobs; i++)
        if (!isnan(gains[i]) && (best == jobs || gains[i] > gains[best])) best = i;
    return best;
}
