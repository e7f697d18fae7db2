// See look_ahead.h.
#include "tuner/run/look_ahead.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"

static const double loss = 0.03; // of the throughput

void look_ahead_init(struct look_ahead *a, size_t compilers, size_t gpus)
{
    *a = (struct look_ahead){.compilers = compilers, .gpus = gpus, .share = 1};
    size_t first = compilers < LOOK_AHEAD_FIRST ? compilers + 1 : LOOK_AHEAD_FIRST;
    a->number = first > 2 * gpus ? first : 2 * gpus;
}

static void take(struct recent_times *r, double seconds)
{
    r->seconds[r->count++ % LOOK_AHEAD_RECENT] = fmax(seconds, 0);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double recent_mean(const struct recent_times *r)
{
    double sorted[LOOK_AHEAD_RECENT], sum = 0;
    size_t n = r->count < LOOK_AHEAD_RECENT ? r->count : LOOK_AHEAD_RECENT;
    memcpy(sorted, r->seconds, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_doubles);
    for (size_t i = 0; i < n; i++) sum += fmin(sorted[i], 10 * sorted[n / 2]);
    return n ? sum / (double)n : 0;
}

// log f(i; S, m) for i = 0 .. n.
static void station(double *logs, double seconds, size_t workers, size_t n)
{
    logs[0] = 0;
    for (size_t i = 1; i <= n; i++) logs[i] = logs[i - 1] + log(seconds / (double)(i < workers ? i : workers));
}

// log g(n).
static double normaliser(const double *a, const double *b, size_t n)
{
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i <= n; i++) most = fmax(most, a[i] + b[n - i]);
    for (size_t i = 0; i <= n; i++) sum += exp(a[i] + b[n - i] - most);
    return most + log(sum);
}

double look_ahead_throughput(double compile, size_t compilers, double gpu, size_t gpus, size_t n)
{
    double *a = memory_new(2 * (n + 1), sizeof *a), *b = a + n + 1;
    station(a, compile, compilers, n);
    station(b, gpu, gpus, n);
    double result = exp(normaliser(a, b, n - 1) - normaliser(a, b, n));
    free(a);
    return result;
}

static void renew(struct look_ahead *a)
{
    size_t low = a->gpus + 1, high = 2 * a->compilers + 8 * a->gpus;
    double compile = fmax(recent_mean(&a->compile), 1e-6), gpu = recent_mean(&a->gpu) * a->share;
    if (gpu <= 0) { // nothing but failures so far
        if (a->ended >= LOOK_AHEAD_FIRST) a->number = high;
        return;
    }
    double most = fmin((double)a->compilers / compile, (double)a->gpus / gpu);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (look_ahead_throughput(compile, a->compilers, gpu, a->gpus, middle) >= (1 - loss) * most)
            high = middle;
        else
            low = middle + 1;
    }
    a->number = low + (getenv("EXTRA") ? (size_t)atoi(getenv("EXTRA")) : 0);
}

void look_ahead_compiled(struct look_ahead *a, double seconds)
{
    take(&a->compile, seconds);
}

static void end(struct look_ahead *a, double measured)
{
    a->share += (measured - a->share) / LOOK_AHEAD_RECENT;
    a->ended++;
    renew(a);
}

void look_ahead_measured(struct look_ahead *a, double seconds)
{
    take(&a->gpu, seconds);
    end(a, 1);
}

void look_ahead_unmeasured(struct look_ahead *a)
{
    end(a, 0);
}
