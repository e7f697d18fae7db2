// What a search minimises: one number from the times of a job's tuned problems.
#pragma once

#include <stddef.h>

enum objective { OBJECTIVE_GEOMEAN, OBJECTIVE_MEAN, OBJECTIVE_WORST, OBJECTIVE_EACH };

// As in job files and requests, by objective; NULL at the end.
extern const char *const objective_text[];

// What the final decides by, from the objective of times and the objective of energies; in job files and documents.
enum minimize { MINIMIZE_TIME, MINIMIZE_ENERGY, MINIMIZE_PRODUCT };
extern const char *const minimize_text[];

// Lower is better (s), from the problems' times (s) and weights: the weighted geometric mean (also for `each`, over the
// problems whose time is not NaN), the weighted mean, or the largest weighted time. NaN where a time is missing.
double objective_value(enum objective, const double *weights, const double *times, size_t n);

// The objective of `times` divided by that of `best`; for `each`, on the problem where this ratio is least. A time of 0
// stands for "not known": the ratio is then a lower bound, 0.
double objective_ratio(enum objective, const double *weights, const double *times, const double *best, size_t n);
