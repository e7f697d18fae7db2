// The expected improvement of a candidate over the best (Mockus 1978; Jones, Schonlau and Welch 1998): lower is better,
// and a model says mean and variance.
#ifndef SWEETSPOT_IMPROVEMENT_H
#define SWEETSPOT_IMPROVEMENT_H

double improvement_expected(double best, double mean, double variance);
// An upper bound of it that needs no exp and erfc, which are most of the cost.
double improvement_most(double best, double mean, double variance);

#endif
