// See final_decide.h.
#include "tuner/run/final_decide.h"

#include <math.h>
#include <stdlib.h>

#include "tuner/base/memory.h"
#include "tuner/base/stats.h"

static double median_of(const struct contender *e)
{
    double *timed = memory_new(e->rounds, sizeof *timed);
    size_t n = 0;
    for (size_t i = 0; i < e->rounds; i++)
        if (isfinite(e->objectives[i])) timed[n++] = e->objectives[i];
    double median = stats_median(timed, n);
    free(timed);
    return median;
}

size_t final_ratio(const struct contender *e, const struct contender *to, double *ratio, double *low, double *high)
{
    size_t rounds = e->rounds < to->rounds ? e->rounds : to->rounds, n = 0;
    double *own = memory_new(2 * rounds, sizeof *own), *other = own + rounds;
    for (size_t i = 0; i < rounds; i++) {
        if (!isfinite(e->objectives[i]) || !isfinite(to->objectives[i])) continue;
        own[n] = e->objectives[i];
        other[n++] = to->objectives[i];
    }
    stats_paired_ratio(own, other, n, 1, ratio, low, high);
    free(own);
    return n;
}

static bool lighter(const struct contender *a, const struct contender *b)
{
    if (fabs(a->share - b->share) > 1e-9) return a->share < b->share;
    if (fabs(a->code - b->code) > 0.5) return a->code < b->code;
    return a->median < b->median;
}

int64_t final_decide(struct contender *entries, size_t count, double tie)
{
    const struct contender *fastest = NULL, *winner;
    for (size_t i = 0; i < count; i++) {
        struct contender *e = &entries[i];
        e->tied = false;
        e->median = median_of(e);
        if (e->candidate && isfinite(e->median) && (!fastest || e->median < fastest->median)) fastest = e;
    }
    if (!fastest) return -1;
    winner = fastest;
    for (size_t i = 0; i < count; i++) {
        struct contender *e = &entries[i];
        double ratio, low, high;
        if (!e->candidate) continue;
        e->tied = e == fastest || (final_ratio(e, fastest, &ratio, &low, &high) && ratio <= 1 + tie);
        if (e->tied && lighter(e, winner)) winner = e;
    }
    entries[winner - entries].tied = false;
    return winner - entries;
}

double final_share(int64_t registers, int64_t threads, int64_t shared, int64_t registers_per_sm, int64_t shared_per_sm)
{
    return fmax((double)(registers * threads) / (double)registers_per_sm, (double)shared / (double)shared_per_sm);
}
