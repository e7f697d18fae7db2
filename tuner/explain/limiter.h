// What limits a kernel, worked out from the times of the whole kernel and of two variants at the same occupancy: memory
// traffic only, and arithmetic only. The method is analysis-driven optimisation: where the whole takes no longer than
// the slower part, the two overlap and that part is the limit; where it takes as long as both together, nothing
// overlaps and latency is.
#pragma once

#include <stdio.h>

#include "tuner/base/json.h"

enum limiter { LIMITER_UNKNOWN, LIMITER_MEMORY, LIMITER_MATH, LIMITER_BALANCED, LIMITER_LATENCY };

// Times in seconds, all positive; unknown otherwise. *overlap (may be NULL): how much of the shorter part the longer
// one hides, 0..1.
enum limiter limiter_decide(double whole, double memory, double math, double *overlap);

// Profiles (tuner/explain/explain.h) of the three, with "seconds", "stages". Prints times, counts, checks and what they
// mean.
void limiter_print(FILE *, const json_t *whole, const json_t *memory, const json_t *math);
// {"limiter":..,"problem":..,"overlap":..,"whole_time":..s,"memory_time":..,"math_time":..,"instructions_per_byte":..,
//  "balanced_ratio":..,"bytes_wanted":..,"bytes_moved":..,"warnings":[..]}
json_t *limiter_json(const json_t *whole, const json_t *memory, const json_t *math);
