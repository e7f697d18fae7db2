// See gpu_times.h.
#include "tuner/run/gpu_times.h"

// The standard deviation of a normal distribution whose median absolute deviation is 1.
static const double normal_deviation = 1.4826;

void gpu_times_release(struct gpu_times *t)
{
    free(t->gpus);
    *t = (struct gpu_times){0};
}

void gpu_times_grow(struct gpu_times *t, size_t count)
{
    if (count <= t->count) return;
    t->gpus = memory_grow(t->gpus, count, sizeof *t->gpus);
    for (; t->count < count; t->count++) t->gpus[t->count] = (struct gpu_times_of){0};
}

void gpu_times_add(struct gpu_times *t, size_t gpu, struct interval time)
{
    struct gpu_times_of *g = &t->gpus[gpu];
    memmove(&g->kept[1], &g->kept[0], (GPU_TIMES_KEPT - 1) * sizeof g->kept[0]);
    if (!(time.low <= time.value)) time.low = time.value; // unknown
    if (!(time.high >= time.value)) time.high = time.value;
    g->kept[0] = time;
    g->count += g->count < GPU_TIMES_KEPT;
    g->fresh = true;
}

static bool is_compared(const struct gpu_times_of *g)
{
    return g->count && !g->out;
}

// Returns false if there is nothing to compare with.
static bool find_standard(const struct gpu_times *t, struct interval *standard)
{
    autofree double *values = memory_new(3 * t->count, sizeof *values);
    double *lows = values + t->count, *highs = lows + t->count;
    size_t n = 0, first = t->count;
    for (size_t i = 0; i < t->count; i++) {
        const struct gpu_times_of *g = &t->gpus[i];
        if (!is_compared(g)) continue;
        if (first == t->count) first = i;
        values[n] = g->kept[0].value;
        lows[n] = g->kept[0].low;
        highs[n++] = g->kept[0].high;
    }
    if (n == 2) *standard = t->gpus[first].kept[0];
    if (n > 2) *standard = (struct interval){stats_median(values, n), stats_median(lows, n), stats_median(highs, n)};
    return n > 1;
}

// Estimates how much the logarithm of a GPU's time changes from one of its times to the next, as a standard deviation
// (gpu_times.h). Returns 0 if there are no such changes. For the judged GPU, only changes between its newest,
// suspicious times count, because the change from its earlier times to these is the one being judged.
static double deviation(const struct gpu_times *t, const struct gpu_times_of *judged)
{
    autofree double *apart = memory_new(GPU_TIMES_KEPT * t->count, sizeof *apart);
    size_t n = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct gpu_times_of *g = &t->gpus[i];
        size_t pairs = g == judged ? g->suspicious : g->count - 1;
        for (size_t k = 1; is_compared(g) && k <= pairs; k++)
            apart[n++] = fabs(log(g->kept[k].value / g->kept[k - 1].value));
    }
    return n ? normal_deviation * stats_median(apart, n) : 0;
}

enum gpu_verdict gpu_times_decide(struct gpu_times *t, size_t gpu, double tie, double *ratio, double *limit)
{
    struct gpu_times_of *g = &t->gpus[gpu];
    struct interval standard;
    if (!is_compared(g) || !g->fresh || !find_standard(t, &standard)) return GPU_OPEN;
    const struct interval *newest = &g->kept[0];
    g->fresh = false;
    *ratio = newest->value / standard.value;
    *limit = exp(fmax(log1p(tie), GPU_TIMES_LIMIT * deviation(t, g)));
    bool apart = newest->low > standard.high || newest->high < standard.low;
    if (!apart || fabs(log(*ratio)) <= log(*limit)) {
        g->suspicious = 0;
        return GPU_ALIKE;
    }
    return ++g->suspicious < GPU_TIMES_KEPT ? GPU_AGAIN : GPU_DIFFERS;
}
