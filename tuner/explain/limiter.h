// Determines what limits a kernel. Compares the time of the whole kernel with the times of two variants at the same
// occupancy, one with only the memory traffic and one with only the arithmetic. The method is analysis-driven
// optimisation. If the whole kernel takes no longer than the slower variant, the two parts overlap and the slower part
// is the limit. If it takes as long as both variants together, nothing overlaps and latency is the limit.
#pragma once

#include <stdio.h>

#include "tuner/base/json.h"

enum limiter { LIMITER_UNKNOWN, LIMITER_MEMORY, LIMITER_MATH, LIMITER_BALANCED, LIMITER_LATENCY };

// Times are in seconds; if one is not positive, the result is unknown. *overlap (may be NULL): the share of the shorter
// part that the longer one hides, 0..1.
enum limiter limiter_decide(double whole, double memory, double math, double *overlap);

// Prints times, counts and checks of the kernel and its two variants, and their meaning. Takes their profiles
// (tuner/explain/explain.h), with "seconds" and "stages".
void limiter_print(FILE *, const json_t *whole, const json_t *memory, const json_t *math);
// {"limiter":..,"problem":..,"overlap":..,"whole_time":..s,"memory_time":..,"math_time":..,"instructions_per_byte":..,
//  "balanced_ratio":..,"bytes_wanted":..,"bytes_moved":..,"warnings":[..]}
json_t *limiter_json(const json_t *whole, const json_t *memory, const json_t *math);
