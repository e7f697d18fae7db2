// The best that a search has found so far, and what it is compared with.
#ifndef SWEETSPOT_INCUMBENT_H
#define SWEETSPOT_INCUMBENT_H

#include "tuner/job/job.h"

struct incumbent {
    double objective;               // s; INFINITY before the first valid result
    double times[JOB_MAX_PROBLEMS]; // by tuned problem; with a kernel for each problem the best of each
    char *config;                   // NULL before the first; with a kernel for each problem the latest of them
    int64_t trial;
    double baseline; // objective of the first baseline that is available; NAN
    char *baseline_name;
};

void incumbent_init(struct incumbent *);
void incumbent_release(struct incumbent *);
void incumbent_forget(struct incumbent *); // the best, not the baseline
// A valid result. True where it is better; *problem (objective "each") is then the first one on which it is.
bool incumbent_take(struct incumbent *, const struct job *, double objective, const double *times, const char *config,
                    int64_t trial, size_t *problem);
// What the stop rules look at: the result's objective, or with a kernel for each problem what it and all before it come
// to together.
double incumbent_together(const struct incumbent *, const struct job *, double objective, const double *times);
void incumbent_set_baseline(struct incumbent *, const char *name, double objective);

#endif
