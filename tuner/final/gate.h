// The gate for continuous integration. On every tuned problem of a final, including held-back problems, the winner must
// be faster than the fastest baseline by at least the factor `least`. The lower bound of the ratio's interval decides.
#pragma once

#include "tuner/final/finals.h"

// Prints a line "sweetspot: gate: <where>: ..." for a job whose results are not verified, or for each problem whose
// ratio is too low or unknown. Returns the number of lines.
size_t gate_check(double least, const struct final *, const struct job *, const char *where, FILE *);
