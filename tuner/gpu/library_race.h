// Finds out which of a library's algorithms ("ways", operation_baseline.list) are the fastest for the job's operation.
// They race under the conditions of a final. After ten rounds at the sustained clock, the medians decide.
//
// Time limits. Each way runs three times (five with a warm cache). Only ways that take at most 1.5 times as long as the
// third fastest one enter the race. The rounds of the first 0.2 s are a warm-up and do not count. After three rounds,
// ways that are over 5% slower than the third fastest drop out. The first runs may take five seconds in total, and the
// rounds another five. Still, at least three ways are tried and at least three rounds are run.
#pragma once

#include "tuner/gpu/workload_data.h"

enum { LIBRARY_PLACES = 3 };

// Finds the library's fastest ways to compute a problem, the best way first, and their number. Fails only if the device
// fails or no way runs.
int library_race(struct workload *, const struct operation_baseline *, size_t problem,
                 struct operation_way best[LIBRARY_PLACES], size_t *count, struct error *err);
