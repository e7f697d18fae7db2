// See look_ahead.h.
#include "tuner/run/look_ahead.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"

static const double loss = 0.03; // of what the network could do

enum {
    LONGEST = 10,                   // medians that a time may have
    PATH = 3 * LOOK_AHEAD_RECENT,   // candidates that go through the network; the first third fills it
    RENEWED = LOOK_AHEAD_RECENT / 8 // once all times are known, the number is found again after so many
};

void look_ahead_init(struct look_ahead *a, size_t compilers, size_t gpus)
{
    *a = (struct look_ahead){.compilers = compilers, .gpus = gpus};
    size_t first = compilers < LOOK_AHEAD_FIRST ? compilers + 1 : LOOK_AHEAD_FIRST;
    a->number = first > 2 * gpus ? first : 2 * gpus;
}

void look_ahead_workers(struct look_ahead *a, size_t compilers, size_t gpus)
{
    if (a->compilers == compilers && a->gpus == gpus) return;
    a->compilers = compilers;
    a->gpus = gpus;
    if (a->number < 2 * gpus) a->number = 2 * gpus;
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

// The times, none longer than it may be. Returns how many there are.
static size_t times_of(const struct recent_times *r, double *seconds)
{
    double sorted[LOOK_AHEAD_RECENT];
    size_t n = r->count < LOOK_AHEAD_RECENT ? r->count : LOOK_AHEAD_RECENT, zeros = 0;
    memcpy(sorted, r->seconds, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_doubles);
    while (zeros < n && sorted[zeros] <= 0) zeros++;
    double most = zeros < n ? LONGEST * sorted[zeros + (n - zeros) / 2] : 0;
    for (size_t i = 0; i < n; i++) seconds[i] = fmin(r->seconds[i], most);
    return n;
}

double recent_mean(const struct recent_times *r)
{
    double seconds[LOOK_AHEAD_RECENT], sum = 0;
    size_t n = times_of(r, seconds), some = 0;
    for (size_t i = 0; i < n; i++) {
        sum += seconds[i];
        some += seconds[i] > 0;
    }
    return some ? sum / (double)some : 0;
}

// A number of workers, what waits for them, and the times that they take.
struct station {
    double seconds[LOOK_AHEAD_RECENT];
    size_t times, next, waiting, workers;
    double *until; // when each worker is done; INFINITY: idle
};

// Gives work to those that have none.
static void give(struct station *s, double now)
{
    for (size_t i = 0; i < s->workers && s->waiting; i++) {
        if (isfinite(s->until[i])) continue;
        s->until[i] = now + s->seconds[s->next++ % s->times];
        s->waiting--;
    }
}

static size_t first_done(const struct station *s)
{
    size_t first = 0;
    for (size_t i = 1; i < s->workers; i++)
        if (s->until[i] < s->until[first]) first = i;
    return first;
}

double look_ahead_throughput(const struct look_ahead *a, size_t n)
{
    struct station compile = {.workers = a->compilers, .waiting = n}, gpu = {.workers = a->gpus};
    double now = 0, full = 0;
    compile.times = times_of(&a->compile, compile.seconds);
    gpu.times = times_of(&a->gpu, gpu.seconds);
    compile.until = memory_new(a->compilers + a->gpus, sizeof *compile.until);
    gpu.until = compile.until + a->compilers;
    for (size_t i = 0; i < a->compilers + a->gpus; i++) compile.until[i] = INFINITY;
    for (size_t ended = 0; ended < PATH;) {
        give(&compile, now);
        give(&gpu, now);
        size_t c = first_done(&compile), g = first_done(&gpu);
        bool compiled = compile.until[c] < gpu.until[g];
        double *done = compiled ? &compile.until[c] : &gpu.until[g];
        now = *done;
        *done = INFINITY;
        gpu.waiting += compiled;
        compile.waiting += !compiled;
        ended += !compiled;
        if (ended == PATH / 3 && !compiled) full = now;
    }
    free(compile.until);
    const int counted = PATH - PATH / 3;
    return counted / fmax(now - full, 1e-9);
}

static void renew(struct look_ahead *a)
{
    size_t low = a->gpus + 1, high = 2 * a->compilers + 8 * a->gpus;
    if (a->gpu.count > LOOK_AHEAD_RECENT && a->gpu.count % RENEWED) return;
    if (recent_mean(&a->compile) <= 0 || recent_mean(&a->gpu) <= 0) {
        if (a->gpu.count >= LOOK_AHEAD_FIRST) a->number = high; // nothing but failures so far
        return;
    }
    double enough = (1 - loss) * look_ahead_throughput(a, high);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (look_ahead_throughput(a, middle) >= enough)
            high = middle;
        else
            low = middle + 1;
    }
    a->number = low + (low - a->gpus) / 4; // the last times may have been short by chance
}

void look_ahead_compiled(struct look_ahead *a, double seconds)
{
    take(&a->compile, seconds);
}

void look_ahead_measured(struct look_ahead *a, double seconds)
{
    take(&a->gpu, seconds);
    renew(a);
}

void look_ahead_unmeasured(struct look_ahead *a)
{
    look_ahead_measured(a, 0);
}
