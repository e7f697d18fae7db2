// What a search minimises: one number from the times of a job's tuned problems.
#pragma once

#include <stddef.h>

enum objective { OBJECTIVE_GEOMEAN, OBJECTIVE_MEAN, OBJECTIVE_WORST, OBJECTIVE_EACH };

// The words of job files and requests, by objective; NULL-terminated.
extern const char *const objective_text[];

// What the final minimises: the objective of the times, the objective of the energies, or the product of both. The
// words are those of job files and documents.
enum minimize { MINIMIZE_TIME, MINIMIZE_ENERGY, MINIMIZE_PRODUCT };
extern const char *const minimize_text[];

// Computes the objective (s; lower is better) from the problems' times (s) and weights. It is the weighted geometric
// mean (also for `each`, over the problems whose time is not NaN), the weighted mean, or the largest weighted time. NaN
// if a time is missing.
double objective_value(enum objective, const double *weights, const double *times, size_t n);

// The objective of `times` divided by that of `best`; for `each`, the smallest ratio of any problem. A time of 0 means
// "unknown": the ratio is then 0, a lower bound.
double objective_ratio(enum objective, const double *weights, const double *times, const double *best, size_t n);
