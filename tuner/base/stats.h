// Statistics of measured times: the median, its confidence interval, and the ratio of paired samples. No assumption
// about the distribution is made, since times of kernels are skewed and have outliers.
#ifndef SWEETSPOT_STATS_H
#define SWEETSPOT_STATS_H

#include <stddef.h>
#include <stdint.h>

// The median (mean of the middle two where n is even); NaN where n is 0. Leaves x as it is.
double stats_median(const double *x, size_t n);

// A 95% confidence interval of the median from order statistics: [x_(k), x_(n-k+1)] with the largest k for which
// P(Binomial(n, 1/2) < k) <= 2.5% (e.g. Conover, Practical Nonparametric Statistics, 3rd ed., section 3.2). Below six
// samples no such interval exists, and the smallest and the largest are given (93.75% for five).
void stats_median_interval(const double *x, size_t n, double *low, double *high);

// The median of a[i]/b[i], with a 95% percentile-bootstrap interval (Efron 1979) of 2,000 resamples drawn from `seed`.
void stats_paired_ratio(const double *a, const double *b, size_t n, uint64_t seed, double *ratio, double *low,
                        double *high);

#endif
