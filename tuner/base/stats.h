// Statistics of measured times: the median, its confidence interval, and the ratio of paired samples. No distribution
// is assumed, since times of kernels are skewed and have outliers.
//
// Samples may come in clusters, for example one for each process that measured: samples in the same cluster are more
// alike than samples in different clusters.
#pragma once

#include "tuner/base/base.h"

// Sorts in place, ascending. No value may be NaN.
void stats_sort(double *x, size_t n);

// The median (the mean of the middle two if n is even); NaN if n is 0. Does not change x.
double stats_median(const double *x, size_t n);

// Bounds of the median from order statistics: [x_(k), x_(n-k+1)] with the largest k for which P(Binomial(n, 1/2) < k)
// <= tail (e.g. Conover, Practical Nonparametric Statistics, 3rd ed., section 3.2). The median is below `low` with a
// probability of at most `tail`, and above `high` with a probability of at most `tail`. False: there are too few
// samples; the bounds are then the smallest and the largest sample.
bool stats_median_bounds(const double *x, size_t n, double tail, double *low, double *high);
// A 95% confidence interval: the bounds with a tail of 2.5%. With fewer than six samples, the smallest and the largest
// sample (93.75% for five).
void stats_median_interval(const double *x, size_t n, double *low, double *high);

struct interval {
    double value, low, high; // NaN: unknown
};

// The median over clusters of each cluster's median, with a percentile-bootstrap interval (Efron 1979) of 2,000
// resamples drawn from `seed`: clusters are drawn first, then samples within each (the two-stage bootstrap of Davison
// and Hinkley, Bootstrap Methods and their Application, 1997, section 3.8, strategy 2). cluster[i] is the cluster of
// x[i]; NULL: all samples are in one cluster.
//
// If clusters differ more than the samples within a cluster do, the interval for three or four clusters covers the
// medians of all clusters. With so few clusters, a wider interval is not possible. The interval contains the true
// median with a probability of 78% for three clusters and 93% for five or more (tests/test_measure.c), or 99% if
// clusters do not differ.
struct interval stats_clustered_median(const double *x, const unsigned char *cluster, size_t n, double confidence,
                                       uint64_t seed);

// Computes the median of the ratios a[i]/b[i], with its interval as above, from the pairs in which both numbers are
// finite. Returns the number of these pairs.
size_t stats_paired_ratio(const double *a, const double *b, const unsigned char *cluster, size_t n, double confidence,
                          uint64_t seed, struct interval *ratio);

// The next random number of splitmix64 (Steele, Lea, Flood 2014); advances the state.
uint64_t stats_random(uint64_t *state);
