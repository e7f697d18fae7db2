// See energy.h. The counter is read while the host waits for the device, every third of a millisecond or so.
#include "tuner/gpu/energy.h"

#include <unistd.h>

#include "tuner/base/base.h"
#include "tuner/base/clock.h"
#include "tuner/base/limits.h"
#include "tuner/gpu/energy_window.h"
#include "tuner/gpu/measure.h"

static const double whole_window = 2, bare_window = 1; // s
static const double settling = 0.3;                    // s before a window, in which the clock adapts to the work
static const double batch_time = 0.02;                 // s that a batch of repetitions takes at most, if it has several
static const double host_time = 1e-3; // s: the host launches a repetition of this length in time, however many kernels
static const double least_share = 0.05;    // of bare repetitions that may wait for the host
static const double state_interval = 0.02; // s between readings of the clock
static const double starved_share = 0.1;   // of batches before whose end the device had nothing to do
enum { POLL = 200 };                       // us between readings of the counter
enum { RING = 3 };                         // the ends of the batch that runs, of the next one, and of the one before

// Repetitions until a window is complete.
struct repetitions {
    struct workload *w;
    const struct measure_plan *plan;
    bool bare;
    struct energy_window window;
    double begin, state_read;
    enum energy_step step;
    struct error why;
    struct cuda_event *ends[RING], *late; // `late`: before a batch's last repetition
    size_t counts[RING];
    double seconds, repeated; // of the batches in the window, and how many repetitions they had
    double clock, clocks;     // sum of the readings, and how many there are
    double batches, starved;
    bool capped;
};

// Reads the counter, and now and then the clock.
static void look(struct repetitions *r)
{
    double now = clock_now();
    if (r->step != ENERGY_CONTINUES || now - r->begin < settling) return;
    if (!r->window.least) energy_window_begin(&r->window, r->bare ? bare_window : whole_window, now);
    r->step = energy_window_read(&r->window, nvml_energy(r->w->machine->nvml), clock_now(), &r->why);
    if (r->bare || now - r->state_read < state_interval) return;
    struct nvml_reading state = nvml_read(r->w->machine->nvml, false);
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

// Enqueues a batch; whether the device had done all but its last repetition by then, so that it may have been idle.
static int enqueue(struct repetitions *r, size_t slot, size_t count, bool *starved, struct error *err)
{
    int failed = 0;
    for (size_t i = 0; i < count && !failed; i++) {
        if (i + 1 == count) failed = cuda_event_record(r->w->cuda, r->late, err);
        if (!failed) failed = measure_repeat(r->w->measure, r->plan, r->bare, err);
    }
    r->counts[slot] = count;
    if (!failed) failed = cuda_event_record(r->w->cuda, r->ends[slot], err);
    return failed ? failed : cuda_event_happened(r->late, starved, err);
}

// What the batch in `slot` took, after the one before it. Returns how many repetitions the next one should have.
static int take_batch(struct repetitions *r, size_t before, size_t slot, bool starved, size_t *next, struct error *err)
{
    double seconds;
    int failed = cuda_event_seconds(r->ends[before], r->ends[slot], &seconds, err);
    if (failed) return failed;
    double one = seconds / (double)r->counts[slot], fit = one > 0 ? batch_time / one : MEASURE_BATCH;
    *next = fit < 1 ? 1 : fit > MEASURE_BATCH ? MEASURE_BATCH : (size_t)fit;
    if (!r->window.least || isnan(r->window.from)) return 0;
    r->seconds += seconds;
    r->repeated += (double)r->counts[slot];
    r->batches++;
    r->starved += starved && one < host_time;
    return 0;
}

// Two batches are in the queue whenever the host waits: the one that runs, and the next.
static int repeat(struct repetitions *r, struct error *err)
{
    size_t count = 1;
    bool starved = false;
    r->begin = clock_now();
    int failed = cuda_event_record(r->w->cuda, r->ends[0], err);
    for (size_t k = 1; !failed && (r->step == ENERGY_CONTINUES || !r->repeated); k++) {
        failed = enqueue(r, k % RING, count, &starved, err);
        if (!failed) failed = wait_for(r, r->ends[(k - 1) % RING], err);
        if (!failed && k > 1) failed = take_batch(r, (k - 2) % RING, (k - 1) % RING, starved, &count, err);
        if (r->step == ENERGY_FAILED) break;
    }
    int ended = cuda_sync(r->w->cuda, failed ? NULL : err);
    return failed ? failed : ended;
}

static int run(struct repetitions *r, struct error *err)
{
    int failed = cuda_event_create(&r->late, err);
    for (size_t i = 0; i < RING && !failed; i++) failed = cuda_event_create(&r->ends[i], err);
    if (!failed) failed = repeat(r, err);
    for (size_t i = 0; i < RING; i++) cuda_event_destroy(r->ends[i]);
    cuda_event_destroy(r->late);
    return failed;
}

static bool waits(const struct repetitions *r)
{
    return r->starved > starved_share * r->batches;
}

static void conclude(const struct repetitions *whole, const struct repetitions *bare, struct energy_figures *out,
                     struct error *why)
{
    double share;
    struct interval watts = energy_window_watts(&whole->window);
    struct interval joules =
        energy_of_execution(watts, whole->seconds / whole->repeated, energy_window_watts(&bare->window),
                            bare->seconds / bare->repeated, whole->plan->repeats, &share);
    if (waits(whole) || (waits(bare) && share > least_share))
        error_set(why, "the device waits for the host between launches");
    else if (isnan(joules.value))
        error_set(why, "restoring the data and flushing the caches takes all of the energy");
    if (*why->message) return;
    out->joules = joules;
    out->watts = watts.value;
    out->share = share;
    out->clock_mhz = whole->clocks > 0 ? whole->clock / whole->clocks : (double)NAN;
    out->power_limited = whole->capped;
}

int energy_measure(struct workload *w, const struct measure_plan *plan, double until, struct energy_figures *out,
                   struct arena *memory, struct error *err)
{
    struct repetitions whole = {.w = w, .plan = plan}, bare = {.w = w, .plan = plan, .bare = true};
    struct error why = {""};
    int failed = 0;
    record_clear(&energy_record, out);
    if (isnan(nvml_energy(w->machine->nvml)))
        error_set(&why, "the device has no energy counter");
    else if (clock_now() + FINAL_ENERGY_SECONDS > until)
        error_set(&why, "no time is left");
    if (!*why.message && !(failed = run(&whole, err)) && whole.step == ENERGY_FAILED) why = whole.why;
    if (!failed && !*why.message && !(failed = run(&bare, err)) && bare.step == ENERGY_FAILED) why = bare.why;
    if (failed) return failed;
    if (!*why.message) conclude(&whole, &bare, out, &why);
    out->reason = arena_copy(memory, why.message);
    return 0;
}
