// See measure.h. Events cost the device about a microsecond around each sample, which is why short work goes into
// graphs. The state of the device is read (NVML) after a batch has been enqueued and before waiting for it: then the
// reading tells of the clock under this load, and its fifty-odd microseconds cost nothing.
#include "tuner/gpu/measure.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/base/clock.h"
#include "tuner/base/memory.h"

// A graph should run for at least this long, so that an event's resolution and cost vanish in it.
static const double graph_time = 300e-6;
enum { GRAPH_MOST = 256 };

struct measure {
    struct cuda *cuda;
    struct support *support;
    struct nvml *nvml;
    struct measure_settings settings;
    struct cuda_event *event[2 * MEASURE_BATCH];
    double *samples; // max_samples
    struct nvml_reading reading;
    size_t l2_bytes;
    double busy, told; // told: when the temperature was read
};

int measure_open(struct measure **out, struct cuda *cuda, struct support *support, struct nvml *nvml,
                 const struct measure_settings *settings, struct error *err)
{
    struct measure *m = memory_try(1, sizeof *m, err);
    struct cuda_info info;
    *out = NULL;
    if (!m) return -1;
    cuda_info(cuda, &info);
    m->cuda = cuda;
    m->support = support;
    m->nvml = nvml;
    m->settings = *settings;
    m->l2_bytes = (size_t)info.l2_bytes;
    m->samples = memory_try(settings->max_samples > 0 ? (size_t)settings->max_samples : 1, sizeof *m->samples, err);
    if (!m->samples) {
        measure_close(m);
        return -1;
    }
    for (int i = 0; i < 2 * MEASURE_BATCH; i++) {
        int failed = cuda_event_create(cuda, &m->event[i], err);
        if (failed) {
            measure_close(m);
            return failed;
        }
    }
    *out = m;
    return 0;
}

void measure_close(struct measure *m)
{
    if (!m) return;
    for (int i = 0; i < 2 * MEASURE_BATCH; i++) cuda_event_destroy(m->cuda, m->event[i]);
    free(m->samples);
    free(m);
}

double measure_take_busy(struct measure *m)
{
    double busy = m->busy;
    m->busy = 0;
    return busy;
}

void measure_add_busy(struct measure *m, double seconds)
{
    m->busy += seconds;
}

struct nvml_reading measure_reading(const struct measure *m)
{
    return m->reading;
}

// How many copies of the problem's memory exceed the L2 twice; 0 if it takes more than a graph can go round.
static unsigned copies_needed(const struct measure *m, const struct buffers *buffers)
{
    size_t copies = 2 * m->l2_bytes / (buffers->arena_bytes + 1) + 2;
    return copies <= GRAPH_MOST ? (unsigned)copies : 0;
}

int measure_plan(struct measure *m, const struct work *work, struct buffers *buffers, double estimate,
                 struct measure_plan *out, struct error *err)
{
    *out = (struct measure_plan){.work = *work, .repeats = 1};
    if (estimate >= m->settings.graph_below) return 0;
    unsigned copies = 1, repeats = (unsigned)(graph_time / (estimate > 1e-6 ? estimate : 1e-6)) + 1;
    if (m->settings.cold) {
        copies = copies_needed(m, buffers);
        if (!copies || buffers_clone(buffers, copies, err)) return 0; // timed one by one, with the L2 flushed
    }
    if (repeats > GRAPH_MOST) repeats = GRAPH_MOST;
    repeats = (repeats + copies - 1) / copies * copies;
    int failed = cuda_capture_begin(m->cuda, err);
    if (failed) return failed;
    for (unsigned i = 0; i < repeats && !failed; i++)
        failed = work->enqueue(work->self, buffers_clone_shift(buffers, i % copies), err);
    struct error dropped;
    int ended = cuda_capture_end(m->cuda, &out->graph, failed ? &dropped : err);
    if (failed || ended) { // what cannot be captured is timed one by one
        cuda_graph_free(m->cuda, out->graph);
        out->graph = NULL;
        return failed == CUDA_CRASHED || ended == CUDA_CRASHED ? CUDA_CRASHED : 0;
    }
    out->repeats = repeats;
    return 0;
}

void measure_plan_free(struct measure *m, struct measure_plan *plan)
{
    if (plan->graph) cuda_graph_free(m->cuda, plan->graph);
    memset(plan, 0, sizeof *plan);
}

static int execute(struct measure *m, const struct measure_plan *plan, struct error *err)
{
    return plan->graph ? cuda_graph_launch(m->cuda, plan->graph, err) : plan->work.enqueue(plan->work.self, 0, err);
}

// The temperature changes slowly, and asking for it takes time.
static void read_state(struct measure *m)
{
    double now = clock_now();
    int temperature = m->reading.temperature;
    bool due = now - m->told >= 1;
    m->reading = due ? nvml_read(m->nvml) : nvml_read_quickly(m->nvml);
    if (due)
        m->told = now;
    else
        m->reading.temperature = temperature;
}

// Lets the device idle. Kernels that write much take one of two times, some 10% apart, in a stream of launches, for as
// long as the process lives; after a rest of 400 us it is the shorter one, which ncu sees too, since it waits before
// every launch.
static int rest(struct measure *m, struct error *err)
{
    int failed = cuda_sync(m->cuda, err);
    double until = clock_now() + m->settings.rest;
    while (!failed && clock_now() < until) {
    } // sleeping would overshoot, and after 2 ms memory is slower again
    return failed;
}

int measure_samples(struct measure *m, struct measure_plan *const *plans, size_t n, double *times, struct error *err)
{
    int failed;
    for (size_t i = 0; i < n; i++) {
        bool flush = m->settings.cold && !plans[i]->graph;
        bool fresh = i == 0 || plans[i] != plans[i - 1];
        if (m->settings.rest > 0 && !plans[i]->graph && (failed = rest(m, err))) return failed;
        if (flush && (failed = support_flush(m->support, err))) return failed;
        // What ran before left its own data in the caches, and in a graph's case its own instructions.
        if (!flush && fresh && (failed = execute(m, plans[i], err))) return failed;
        if ((failed = cuda_event_record(m->cuda, m->event[2 * i], err)) || (failed = execute(m, plans[i], err)) ||
            (failed = cuda_event_record(m->cuda, m->event[2 * i + 1], err)))
            return failed;
    }
    read_state(m);
    if ((failed = cuda_sync(m->cuda, err))) return failed;
    double all;
    if ((failed = cuda_event_seconds(m->cuda, m->event[0], m->event[2 * n - 1], &all, err))) return failed;
    m->busy += all;
    for (size_t i = 0; i < n; i++) {
        if ((failed = cuda_event_seconds(m->cuda, m->event[2 * i], m->event[2 * i + 1], &times[i], err))) return failed;
        times[i] /= plans[i]->repeats;
    }
    return 0;
}

int measure_work(struct measure *m, const struct work *work, struct buffers *buffers, double first, double cutoff,
                 struct measurement *out, struct error *err)
{
    const struct measure_settings *set = &m->settings;
    struct measure_plan plan = {.work = *work, .repeats = 1};
    struct measure_plan *plans[MEASURE_BATCH];
    struct sampler sampler;
    double times[MEASURE_BATCH], estimate = first;
    int failed = 0;
    sampler_begin(&sampler, set, cutoff, m->samples);
    for (int i = 0; i < MEASURE_BATCH; i++) plans[i] = &plan;
    // A first launch pays for loading the kernel; what it says is only good for work far from every threshold.
    bool doubtful = !(first > 2 * set->graph_below && first > 20e-6) || (cutoff > 0 && first > cutoff);
    // The verified run (first) was a launch for warming up, and so is the doubtful case's single sample.
    for (int i = (first > 0) + doubtful; i < set->warmup && !failed; i++) failed = work->enqueue(work->self, 0, err);
    if (!failed && doubtful) failed = measure_samples(m, plans, 1, &estimate, err);
    if (failed) return failed;
    if (doubtful) sampler_screen(&sampler, estimate);
    if (!sampler.slow && (failed = measure_plan(m, work, buffers, estimate, &plan, err))) goto out;
    for (size_t n; (n = sampler_wanted(&sampler)) > 0;) {
        if (n > MEASURE_BATCH) n = MEASURE_BATCH;
        double before = m->busy;
        if ((failed = measure_samples(m, plans, n, times, err))) goto out;
        bool throttled = m->reading.hot || (m->reading.capped && sampler.dropped == 0);
        sampler_add(&sampler, times, n, m->busy - before, throttled);
    }
    sampler_result(&sampler, out);
    out->throttled |= m->reading.capped || m->reading.hot;
out:
    measure_plan_free(m, &plan);
    return failed;
}
