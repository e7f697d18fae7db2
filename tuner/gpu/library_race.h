// Which of a library's algorithms ("ways", operation_baseline.list) are the fastest for the job's operation. They race
// under the conditions of a final. After ten rounds, at the clock that lasts, medians decide.
//
// Time. Each way runs three times (five with a warm cache). Only those that take at most 1.5 times as long as the third
// fastest race. The rounds of the first 0.2 s warm up and do not count. After three rounds, those that are over 5%
// slower than the third fastest leave. First runs and rounds may take five seconds each, but at least three ways are
// tried and three rounds taken.
#pragma once

#include "tuner/gpu/workload_data.h"

enum { LIBRARY_PLACES = 3 };

// The library's fastest ways on a problem, the best one first, and how many there are. Fails only if the device does,
// or if no way runs.
int library_race(struct workload *, const struct operation_baseline *, size_t problem,
                 struct operation_way best[LIBRARY_PLACES], size_t *count, struct error *err);
