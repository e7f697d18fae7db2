// See stats.h.
#include "tuner/base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RESAMPLES = 2000 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double *sorted_copy(const double *x, size_t n)
{
    double *copy = n ? malloc(n * sizeof *copy) : NULL;
    if (!copy) return NULL;
    memcpy(copy, x, n * sizeof *copy);
    qsort(copy, n, sizeof *copy, ascending);
    return copy;
}

static double middle(const double *sorted, size_t n)
{
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

double stats_median(const double *x, size_t n)
{
    double *sorted = sorted_copy(x, n);
    double result = sorted ? middle(sorted, n) : NAN;
    free(sorted);
    return result;
}

void stats_median_interval(const double *x, size_t n, double *low, double *high)
{
    double *sorted = sorted_copy(x, n);
    *low = *high = NAN;
    if (!sorted) return;
    // P(Binomial(n, 1/2) < k+1) = sum over i <= k of C(n, i) / 2^n, term by term in logarithms.
    size_t k = 0;
    double below = 0, count = (double)n;
    for (size_t i = 0; i < n / 2; i++) {
        double each = (double)i;
        below += exp(lgamma(count + 1) - lgamma(each + 1) - lgamma(count - each + 1) - count * log(2));
        if (below > 0.025) break;
        k = i + 1;
    }
    if (k == 0) k = 1;
    *low = sorted[k - 1];
    *high = sorted[n - k];
    free(sorted);
}

// splitmix64 (Steele, Lea, Flood 2014).
static uint64_t next(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

void stats_paired_ratio(const double *a, const double *b, size_t n, uint64_t seed, double *ratio, double *low,
                        double *high)
{
    double *ratios = malloc((2 * n + RESAMPLES) * sizeof *ratios);
    *ratio = *low = *high = NAN;
    if (!ratios || n == 0) {
        free(ratios);
        return;
    }
    double *sample = ratios + n, *medians = sample + n;
    for (size_t i = 0; i < n; i++) ratios[i] = a[i] / b[i];
    qsort(ratios, n, sizeof *ratios, ascending);
    *ratio = middle(ratios, n);
    for (size_t r = 0; r < RESAMPLES; r++) {
        for (size_t i = 0; i < n; i++) sample[i] = ratios[next(&seed) % n];
        qsort(sample, n, sizeof *sample, ascending);
        medians[r] = middle(sample, n);
    }
    qsort(medians, RESAMPLES, sizeof *medians, ascending);
    *low = medians[(size_t)(0.025 * RESAMPLES)];
    *high = medians[(size_t)(0.975 * RESAMPLES)];
    free(ratios);
}
