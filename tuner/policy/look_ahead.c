// See look_ahead.h.
#include "tuner/policy/look_ahead.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/stats.h"

static const double loss = 0.03; // of the largest possible throughput

enum {
    LONGEST = 10,                   // a time is limited to this many times the median
    RENEWED = LOOK_AHEAD_RECENT / 8 // candidates after which the number is recomputed, once the window is full
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

// Copies the kept times, each limited as look_ahead.h describes. Returns their number.
static size_t times_of(const struct recent_times *r, double *seconds)
{
    double sorted[LOOK_AHEAD_RECENT];
    size_t n = r->count < LOOK_AHEAD_RECENT ? r->count : LOOK_AHEAD_RECENT, zeros = 0;
    memcpy(sorted, r->seconds, n * sizeof *sorted);
    stats_sort(sorted, n);
    while (zeros < n && sorted[zeros] <= 0) zeros++;
    double most = zeros < n ? LONGEST * sorted[zeros + (n - zeros) / 2] : 0;
    if (n > 1) most = fmax(most, sorted[n - 2]); // so a time that occurred twice is not limited
    for (size_t i = 0; i < n; i++) seconds[i] = fmin(r->seconds[i], most);
    return n;
}

static void take(struct recent_times *r, double time)
{
    double seconds[LOOK_AHEAD_RECENT], sum = 0;
    r->seconds[r->count++ % LOOK_AHEAD_RECENT] = fmax(time, 0);
    size_t n = times_of(r, seconds), some = 0;
    for (size_t i = 0; i < n; i++) {
        sum += seconds[i];
        some += seconds[i] > 0;
    }
    r->mean = some ? sum / (double)some : 0;
}

// A group of workers, the number of candidates that wait for them, and the times that they take.
struct station {
    double seconds[LOOK_AHEAD_RECENT];
    size_t times, next, waiting, workers, busy;
    size_t first;  // candidates that count as partly done at the beginning
    double *until; // when each busy worker is done: a heap, the earliest first
};

static void push(struct station *s, double until)
{
    size_t i = s->busy++;
    for (; i && s->until[(i - 1) / 2] > until; i = (i - 1) / 2) s->until[i] = s->until[(i - 1) / 2];
    s->until[i] = until;
}

static void pop(struct station *s)
{
    double last = s->until[--s->busy];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < s->busy; i = child) {
        if (child + 1 < s->busy && s->until[child + 1] < s->until[child]) child++;
        if (s->until[child] >= last) break;
        s->until[i] = s->until[child];
    }
    s->until[i] = last;
}

// Gives work to idle workers. The first candidates of the workers count as partly done, so that not all of them end at
// the same time.
static void give(struct station *s, double now)
{
    for (; s->busy < s->workers && s->waiting; s->waiting--) {
        double seconds = s->seconds[s->next % s->times];
        if (s->next < s->first) seconds *= ((double)s->next + 0.5) / (double)s->first;
        s->next++;
        push(s, now + seconds);
    }
}

static double first_done(const struct station *s)
{
    return s->busy ? s->until[0] : INFINITY;
}

// The number of candidates that go through the simulated network. Each worker gets several of these candidates, and
// each recorded time is used more than once. The first half of the candidates fills the network.
static size_t path_of(const struct look_ahead *a)
{
    return 4 * (a->gpus > LOOK_AHEAD_RECENT ? a->gpus : LOOK_AHEAD_RECENT);
}

static double mean_of(const double *seconds, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += seconds[i];
    return sum / (double)count;
}

// The throughput is computed from the time that GPUs are busy, because this varies less than the number of finished
// candidates.
double look_ahead_throughput(const struct look_ahead *a, size_t n)
{
    struct station compile = {.workers = a->compilers, .waiting = n, .first = n < a->compilers ? n : a->compilers},
                   gpu = {.workers = a->gpus, .first = n < a->gpus ? n : a->gpus},
                   back = {.workers = n}; // measured candidates until they are replaced; none waits for another
    double now = 0, full = 0, busy = 0;
    size_t path = path_of(a), start = path / 2;
    compile.times = times_of(&a->compile, compile.seconds);
    gpu.times = times_of(&a->gpu, gpu.seconds);
    back.times = times_of(&a->replace, back.seconds);
    if (!back.times) back.seconds[back.times++] = 0;
    compile.until = memory_new(a->compilers + a->gpus + n, sizeof *compile.until);
    gpu.until = compile.until + a->compilers;
    back.until = gpu.until + a->gpus;
    for (size_t ended = 0; ended < path;) {
        give(&compile, now);
        give(&gpu, now);
        give(&back, now);
        double c = first_done(&compile), g = first_done(&gpu), b = first_done(&back);
        double then = fmin(c, fmin(g, b));
        busy += (then - now) * (double)gpu.busy;
        now = then;
        struct station *done = now == b ? &back : now == c ? &compile : &gpu;
        struct station *next = done == &back ? &compile : done == &compile ? &gpu : &back;
        pop(done);
        next->waiting++;
        if (done == &gpu && ++ended == start) {
            full = now;
            busy = 0;
        }
    }
    free(compile.until);
    return busy / fmax(now - full, 1e-9) / fmax(mean_of(gpu.seconds, gpu.times), 1e-9);
}

static void renew(struct look_ahead *a)
{
    size_t low = a->gpus + 1, high = 2 * a->compilers + 8 * a->gpus;
    size_t every = a->gpus / 2 > RENEWED ? a->gpus / 2 : RENEWED;
    if (a->gpu.count > LOOK_AHEAD_RECENT && a->gpu.count % every) return;
    if (a->compile.mean <= 0 || a->gpu.mean <= 0) {
        // So far, all candidates have failed. The number is raised only after the whole initial batch has failed, not
        // just its fastest failures.
        if (a->gpu.count >= LOOK_AHEAD_FIRST && a->gpu.count >= a->number) a->number = high;
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
    a->number = low + (low - a->gpus) / 4; // a reserve, because the last times may have been short by chance
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

void look_ahead_freed(struct look_ahead *a, double now)
{
    if (a->freed_count < LOOK_AHEAD_FREED) a->freed[(a->first_freed + a->freed_count++) % LOOK_AHEAD_FREED] = now;
}

// With many GPUs, only some of the times are kept, so that the kept times span more than one turn of the driver.
void look_ahead_proposed(struct look_ahead *a, double now)
{
    if (!a->freed_count) return;
    if (a->replaced++ % (1 + a->gpus / 16) == 0) take(&a->replace, now - a->freed[a->first_freed]);
    a->first_freed = (a->first_freed + 1) % LOOK_AHEAD_FREED;
    a->freed_count--;
}

void look_ahead_full(struct look_ahead *a)
{
    a->freed_count = 0;
}
