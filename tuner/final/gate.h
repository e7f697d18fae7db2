// The gate for continuous integration: on every tuned problem of a final, including those held back, the
// winner must be at least so many times as fast as the fastest baseline there.
#pragma once

#include "tuner/final/finals.h"

struct gate {
    double figure; // the ratio that passes; NaN: there is no gate
    bool lower;    // the interval's lower bound must pass, not only the ratio
};

// A line for a job whose results are not verified, or for each problem that is below or has no ratio to any library:
// "sweetspot: gate: <where>: ...". Returns how many there are.
size_t gate_check(const struct gate *, const struct final *, const struct job *, const char *where, FILE *);
