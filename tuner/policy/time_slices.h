// How several jobs share one budget of time. Half of it goes to all jobs in equal parts, one after another. The rest
// continues in slices of half such a part, each to the job that gained most a second in its last one.
#pragma once

#include <stddef.h>

struct time_slices {
    double time, first, next; // s: of the budget, of each job's first slice, of each later one
};

// A slice has at least two seconds, because less is lost in starting workers.
struct time_slices time_slices_make(double time, size_t jobs);
// The job that gets the next slice after `spent` s. `gains`: of each job, NaN for one that more time would not help.
// `jobs` when there is none, or less than half a slice is left.
size_t time_slices_next(const struct time_slices *, double spent, const double *gains, size_t jobs);
