// How several jobs share one budget of time. Half of the budget goes to all jobs in equal parts, one after another. The
// rest is divided into slices that are half as long as these parts. Each slice goes to the job whose last slice gained
// most per second.
#pragma once

#include <stddef.h>

struct time_slices {
    double time, first, next; // s: the budget, each job's first slice, each later slice
};

// A slice lasts at least two seconds, because a shorter one would be lost to starting workers.
struct time_slices time_slices_make(double time, size_t jobs);
// The job that gets the next slice after `spent` s. `gains` has one entry per job, NaN if more time would not help it.
// Returns `jobs` if no job is left, or if the time left is at most half a slice.
size_t time_slices_next(const struct time_slices *, double spent, const double *gains, size_t jobs);
