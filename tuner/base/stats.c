// See stats.h.
#include "tuner/base/stats.h"

#include <limits.h>

enum { RESAMPLES = 2000 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void stats_sort(double *x, size_t n)
{
    qsort(x, n, sizeof *x, ascending);
}

static double *sorted_copy(const double *x, size_t n)
{
    double *copy = n ? malloc(n * sizeof *copy) : NULL;
    if (!copy) return NULL;
    memcpy(copy, x, n * sizeof *copy);
    stats_sort(copy, n);
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

bool stats_median_bounds(const double *x, size_t n, double tail, double *low, double *high)
{
    double *sorted = sorted_copy(x, n);
    *low = *high = NAN;
    if (!sorted) return false;
    // P(Binomial(n, 1/2) < k+1) = sum over i <= k of C(n, i) / 2^n, term by term in logarithms.
    size_t k = 0;
    double below = 0, count = (double)n;
    for (size_t i = 0; i < n / 2; i++) {
        double each = (double)i;
        below += exp(lgamma(count + 1) - lgamma(each + 1) - lgamma(count - each + 1) - count * log(2));
        if (below > tail) break;
        k = i + 1;
    }
    bool holds = k > 0;
    if (!holds) k = 1;
    *low = sorted[k - 1];
    *high = sorted[n - k];
    free(sorted);
    return holds;
}

void stats_median_interval(const double *x, size_t n, double *low, double *high)
{
    stats_median_bounds(x, n, 0.025, low, high);
}

uint64_t stats_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

// Samples, grouped by cluster and ascending within each: cluster k is x[first[k]] to x[first[k + 1] - 1].
struct clusters {
    double *x;
    size_t count, first[UCHAR_MAX + 2];
};

static void sort_into_clusters(struct clusters *c, const double *x, const unsigned char *cluster, size_t n, double *to)
{
    size_t used = 0;
    *c = (struct clusters){.x = to};
    for (unsigned k = 0; k <= UCHAR_MAX && used < n; k++) {
        size_t before = used;
        for (size_t i = 0; i < n; i++)
            if (cluster ? cluster[i] == k : !k) to[used++] = x[i];
        if (used == before) continue;
        stats_sort(to + before, used - before);
        c->first[++c->count] = used;
    }
}

// The median of n samples, drawn with replacement from the n sorted samples. `times`: room for n counts of how often
// each sample is drawn.
static double drawn_median(const double *sorted, size_t n, uint64_t *seed, unsigned *times)
{
    memset(times, 0, n * sizeof *times);
    for (size_t i = 0; i < n; i++) times[stats_random(seed) % n]++;
    size_t at = 0, upper, seen = times[0];
    while (seen < (n + 1) / 2) seen += times[++at];
    upper = at;
    if (n % 2 == 0 && seen == n / 2) do
            upper++;
        while (!times[upper]);
    return (sorted[at] + sorted[upper]) / 2;
}

// The median of the clusters' medians. With a seed, clusters and samples are drawn with replacement.
static double median_of_medians(const struct clusters *c, uint64_t *seed, unsigned *times)
{
    double medians[UCHAR_MAX + 1];
    for (size_t k = 0; k < c->count; k++) {
        size_t drawn = seed && c->count > 1 ? stats_random(seed) % c->count : k;
        const double *sorted = c->x + c->first[drawn];
        size_t n = c->first[drawn + 1] - c->first[drawn], at = k;
        double median = seed ? drawn_median(sorted, n, seed, times) : middle(sorted, n);
        for (; at && medians[at - 1] > median; at--) medians[at] = medians[at - 1];
        medians[at] = median;
    }
    return middle(medians, c->count);
}

struct interval stats_clustered_median(const double *x, const unsigned char *cluster, size_t n, double confidence,
                                       uint64_t seed)
{
    struct interval result = {NAN, NAN, NAN};
    double *room = n ? malloc((n + RESAMPLES) * sizeof *room) : NULL, tail = (1 - confidence) / 2;
    unsigned *times = n ? malloc(n * sizeof *times) : NULL;
    struct clusters c;
    if (!room || !times) goto out;
    double *medians = room + n;
    sort_into_clusters(&c, x, cluster, n, room);
    result.value = median_of_medians(&c, NULL, times);
    for (size_t r = 0; r < RESAMPLES; r++) medians[r] = median_of_medians(&c, &seed, times);
    stats_sort(medians, RESAMPLES);
    size_t cut = (size_t)(tail * RESAMPLES + 1e-9);
    result.low = medians[cut];
    result.high = medians[cut ? RESAMPLES - cut : RESAMPLES - 1];
out:
    free(room);
    free(times);
    return result;
}

size_t stats_paired_ratio(const double *a, const double *b, const unsigned char *cluster, size_t n, double confidence,
                          uint64_t seed, struct interval *ratio)
{
    double *ratios = n ? malloc(n * sizeof *ratios) : NULL;
    unsigned char *of = n && cluster ? malloc(n) : NULL;
    size_t used = 0;
    *ratio = (struct interval){NAN, NAN, NAN};
    if (ratios && (of || !cluster)) {
        for (size_t i = 0; i < n; i++) {
            if (!isfinite(a[i]) || !isfinite(b[i])) continue;
            if (of) of[used] = cluster[i];
            ratios[used++] = a[i] / b[i];
        }
        *ratio = stats_clustered_median(ratios, of, used, confidence, seed);
    }
    free(ratios);
    free(of);
    return used;
}
