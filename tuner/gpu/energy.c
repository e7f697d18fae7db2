// See energy.h. The counter is read while the host waits for the device, every third of a millisecond or so.
#include "tuner/gpu/energy.h"

#include <unistd.h>

#include "tuner/base/base.h"
#include "tuner/base/clock.h"
#include "tuner/base/limits.h"
#include "tuner/gpu/energy_window.h"
#include "tuner/gpu/measure.h"

static const double settling = 0.3;        // s before a window, during which the clock adapts to the work
static const double batch_time = 0.02;     // s of a batch, or one repetition
static const double graph_time = 0.05;     // s of a batch in a graph: longer than the slowest readings take together
static const double host_time = 1e-3;      // s: the host launches repetitions of this length in time
static const double late_share = 0.1;      // the device may have waited for the host for this share of the window
static const double least_share = 0.05;    // if the preparation has a smaller share, bare repetitions may wait
static const double state_interval = 0.02; // s between readings of the clock
enum { POLL = 200, TRIES = 3 };            // us between readings of the counter; how many windows are tried
enum { GRAPH_REPETITIONS = 1024 };         // at most

struct repetitions {
    struct workload *w;
    const struct measure_plan *plan;
    bool bare;
    struct energy_window window;
    double begin, state_read;
    const char *reason;                // NULL: the window is in progress, or complete
    struct cuda_event *ends[2], *last; // of the running batch and the next one; before a batch's last repetition
    struct cuda_graph *graph;          // a batch; NULL: its repetitions are launched one by one
    size_t graph_count;                // repetitions in it
    double from, to, count;            // the ends of two batches in the window, and the repetitions between them
    double clock, clocks;              // sum of the readings, and how many there are
    double late;                       // s; total duration of batches for which the device may have waited
    bool capped;
};

// Reads the counter, and now and then the clock.
static void look(struct repetitions *r)
{
    struct nvml *nvml = r->w->machine->nvml;
    double now = clock_now();
    if (r->reason || now - r->begin < settling) return;
    if (!r->window.least) energy_window_begin(&r->window, r->bare ? 1 : 2, now);
    double joules = nvml_energy(nvml);
    r->reason = energy_window_read(&r->window, joules, now, clock_now());
    if (r->bare || now - r->state_read < state_interval) return;
    struct nvml_reading state = nvml_read(nvml, false);
    r->state_read = now;
    r->capped |= state.capped;
    r->clocks += state.clock_mhz > 0;
    r->clock += state.clock_mhz;
}

static int wait_for(struct repetitions *r, struct cuda_event *event, struct error *err)
{
    bool happened = false;
    int failed = cuda_event_happened(event, &happened, err);
    for (look(r); !failed && !happened; failed = cuda_event_happened(event, &happened, err)) {
        usleep(POLL);
        look(r);
    }
    return failed;
}

// *late: when the whole batch was in the queue, the device had already reached the batch's last repetition.
static int enqueue(struct repetitions *r, size_t count, bool *late, struct error *err)
{
    int failed = 0;
    for (size_t i = 0; i < count && !failed; i++) {
        if (i + 1 == count) failed = cuda_event_record(r->w->cuda, r->last, err);
        if (!failed) failed = measure_repeat(r->w->measure, r->plan, r->bare, err);
    }
    return failed ? failed : cuda_event_happened(r->last, late, err);
}

// Puts short repetitions into a graph, so that the host launches them in time. Work that cannot be captured is launched
// without a graph. `one`: duration of a repetition (s).
static int capture(struct repetitions *r, double one, struct error *err)
{
    const struct work *work = &r->plan->subject.work;
    struct error dropped;
    if (r->plan->graph || work->restore || work->copy || one >= host_time) return 0;
    const size_t count = (size_t)fmin(ceil(graph_time / one), GRAPH_REPETITIONS);
    int failed = cuda_capture_begin(r->w->cuda, err);
    if (failed) return failed;
    for (size_t i = 0; i < count && !failed; i++) failed = measure_repeat(r->w->measure, r->plan, r->bare, err);
    int ended = cuda_capture_end(r->w->cuda, &r->graph, failed ? &dropped : err);
    if (failed || ended) {
        cuda_graph_free(r->graph);
        r->graph = NULL;
    }
    r->graph_count = count;
    return failed == CUDA_CRASHED || ended == CUDA_CRASHED ? CUDA_CRASHED : 0;
}

// Each batch is enqueued while the one before it runs.
static int repeat(struct repetitions *r, struct error *err)
{
    size_t counts[2] = {0}; // repetitions of the batches that end with `ends`
    double ended = r->begin = clock_now(), one = batch_time;
    int failed = cuda_event_record(r->w->cuda, r->ends[1], err);
    for (size_t k = 0; !failed && !r->reason && (r->window.known <= ENERGY_PARTS || !r->count); k++) {
        struct cuda_event *end = r->ends[k % 2], *running = r->ends[(k + 1) % 2];
        bool late = false, idle = false, within = r->window.known > 0;
        size_t *count = &counts[k % 2], before = counts[(k + 1) % 2];
        *count = r->graph                           ? r->graph_count
                 : one * MEASURE_BATCH < batch_time ? MEASURE_BATCH
                 : one < batch_time                 ? (size_t)(batch_time / one)
                                                    : 1;
        failed = r->graph ? cuda_graph_launch(r->w->cuda, r->graph, err) : enqueue(r, *count, &late, err);
        if (!failed) failed = cuda_event_record(r->w->cuda, end, err);
        if (!failed && before) failed = cuda_event_happened(running, &idle, err);
        if (!failed) failed = wait_for(r, running, err);
        double now = clock_now();
        if (before) one = (now - ended) / (double)before;
        if (within && !r->from) r->from = ended;
        if (within) r->count += (double)before;
        if (within && (idle || (late && one < host_time))) r->late += now - ended;
        r->to = ended = now;
        if (!failed && k == 1) failed = capture(r, one, err); // before the window
    }
    int synced = cuda_sync(r->w->cuda, failed ? NULL : err);
    return failed ? failed : synced;
}

static int run(struct repetitions *r, struct error *err)
{
    int failed = cuda_event_create(&r->last, err);
    for (int i = 0; i < 2 && !failed; i++) failed = cuda_event_create(&r->ends[i], err);
    if (!failed) failed = repeat(r, err);
    for (int i = 0; i < 2; i++) cuda_event_destroy(r->ends[i]);
    cuda_event_destroy(r->last);
    cuda_graph_free(r->graph);
    return failed;
}

// False if the device waited for the host.
static bool conclude(const struct repetitions *whole, const struct repetitions *bare, struct energy_figures *out)
{
    struct interval watts = energy_window_watts(&whole->window), bare_watts = energy_window_watts(&bare->window);
    out->watts = watts.value;
    out->joules = energy_of_execution(watts, (whole->to - whole->from) / whole->count, bare_watts,
                                      (bare->to - bare->from) / bare->count, whole->plan->repeats, &out->share);
    out->clock_mhz = whole->clocks > 0 ? whole->clock / whole->clocks : (double)NAN;
    out->power_limited = whole->capped;
    bool late = (bare->late > late_share * (bare->to - bare->from) && !(out->share <= least_share)) ||
                whole->late > late_share * (whole->to - whole->from);
    if (late)
        out->reason = "the device waits for the host between launches";
    else if (isnan(out->joules.value))
        out->reason = "restoring the data and flushing the caches takes all of it";
    return !late;
}

int energy_measure(struct workload *w, const struct measure_plan *plan, double until, struct energy_figures *out,
                   struct error *err)
{
    bool steady = false;
    record_clear(&energy_record, out);
    const struct energy_figures nothing = *out;
    if (isnan(nvml_energy(w->machine->nvml)))
        out->reason = "the device has no energy counter";
    else if (clock_now() + FINAL_ENERGY_SECONDS > until)
        out->reason = ENERGY_NO_TIME;
    if (*out->reason) return 0;
    for (int i = 0; i < TRIES && !steady && (!i || clock_now() + FINAL_ENERGY_SECONDS <= until); i++) {
        struct repetitions whole = {.w = w, .plan = plan}, bare = {.w = w, .plan = plan, .bare = true};
        int failed = run(&whole, err);
        if (!failed && !whole.reason) failed = run(&bare, err);
        if (failed) return failed;
        *out = nothing;
        out->reason = whole.reason ? whole.reason : bare.reason ? bare.reason : "";
        if (*out->reason) return 0;
        steady = conclude(&whole, &bare, out);
    }
    if (!*out->reason) return 0;
    const char *reason = out->reason;
    *out = nothing;
    out->reason = reason;
    return 0;
}
