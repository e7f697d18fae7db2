// The gate for continuous integration: on every tuned problem of a final, including those held back, the winner must be
// faster than the fastest baseline by at least a given factor.
#pragma once

#include "tuner/final/finals.h"

struct gate {
    double figure; // the least ratio that passes; NaN: there is no gate
    bool lower;    // the interval's lower bound must pass, not only the ratio
};

// Prints a line "sweetspot: gate: <where>: ..." for a job whose results are not verified, or for each problem whose
// ratio is too low or unknown. Returns the number of lines.
size_t gate_check(const struct gate *, const struct final *, const struct job *, const char *where, FILE *);
