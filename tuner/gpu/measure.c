// See measure.h. Events cost the device about a microsecond around each sample, so short work goes into graphs. The
// device's state is read (NVML) after a batch has been enqueued and before waiting for it. So the reading shows the
// clock under this load. It takes some fifty microseconds, but delays nothing.
#include "tuner/gpu/measure.h"

#include "tuner/base/clock.h"
#include "tuner/base/entropy.h"

// A graph should run for at least this long, so that an event's resolution and cost are negligible.
static const double graph_time = 300e-6;
// The share of a trial's timed launches that is judged: enough to detect a kernel that gives wrong results in one
// launch out of two or four.
static const double verified_share = 0.2;
// The share of launches judged if their times are not used. A kernel cannot tell such launches from timed ones.
static const double unjudged = 0;

// One in this many timed launches finds module variables as the previous launch left them, as in a program. Before the
// others they are restored, so that a kernel cannot shorten its median by remembering results there.
enum { restored_of = 4 };

// Reading the power takes time too, and the sensor has no new value before this interval has passed. If a measurement
// were shorter than the sensor's window, the energy of earlier work would be included.
static const double power_interval = 0.02, power_window = 0.1;

struct measure {
    struct cuda *cuda;
    struct support *support;
    struct nvml *nvml;
    struct measure_settings settings;
    struct cuda_event *event[2 * MEASURE_BATCH];
    struct nvml_reading reading;
    size_t l2_bytes, memory_bytes;
    double *samples;       // max_samples
    double busy, reported; // reported: when the temperature was last read
    struct {
        double sum, first, last; // W; when the first and the last reading of this measurement were taken
        int count;
    } power;
    double power_reported; // when the last reading was taken
};

int measure_open(struct measure **out, struct cuda *cuda, struct support *support, struct nvml *nvml,
                 const struct measure_settings *settings, struct error *err)
{
    struct measure *m = *out = memory_try(1, sizeof *m, err);
    int failed = 0;
    if (!m) return -1;
    const struct cuda_info *info = cuda_info(cuda);
    m->cuda = cuda;
    m->samples = memory_try(settings->max_samples > 0 ? (size_t)settings->max_samples : 1, sizeof *m->samples, err);
    if (!m->samples) return -1;
    m->support = support;
    m->nvml = nvml;
    m->settings = *settings;
    m->l2_bytes = (size_t)info->l2_bytes;
    m->memory_bytes = (size_t)info->memory_bytes;
    for (int i = 0; i < 2 * MEASURE_BATCH && !failed; i++) failed = cuda_event_create(&m->event[i], err);
    return failed;
}

void measure_close(struct measure *m)
{
    if (!m) return;
    for (int i = 0; i < 2 * MEASURE_BATCH; i++) cuda_event_destroy(m->event[i]);
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

// The number of launches that a graph needs; 0 if there is no room for that many copies of the memory.
static unsigned launches_for(const struct measure *m, const struct buffers *buffers, double estimate)
{
    double n = ceil(graph_time / (estimate > 5e-7 ? estimate : 5e-7));
    size_t bytes = (size_t)n * buffers->arena_bytes;
    if (n > BUFFERS_COPIES_MAX) n = BUFFERS_COPIES_MAX;
    if (n < buffers->sets) n = buffers->sets;
    if (!m->settings.cold && bytes > m->l2_bytes / 2) return 0; // the copies would not stay in the cache
    return bytes > m->memory_bytes / 16 ? 0 : (unsigned)n;
}

int measure_plan(struct measure *m, const struct measure_subject *subject, double estimate, struct measure_plan *out,
                 struct error *err)
{
    struct buffers *buffers = subject->buffers;
    struct error dropped;
    *out = (struct measure_plan){.subject = *subject, .repeats = 1};
    if (estimate >= m->settings.graph_below || subject->work.restore || subject->work.copy) return 0;
    unsigned copies = launches_for(m, buffers, estimate);
    if (!copies || buffers_clone(buffers, copies, &dropped)) return 0;
    int failed = cuda_capture_begin(m->cuda, err);
    if (failed) return failed;
    for (unsigned i = 0; i < copies && !failed; i++)
        failed = subject->work.enqueue(subject->work.self, buffers->shift[i], err);
    int ended = cuda_capture_end(m->cuda, &out->graph, failed ? &dropped : err);
    if (failed || ended) { // work that cannot be captured is timed one by one
        cuda_graph_free(out->graph);
        out->graph = NULL;
        return failed == CUDA_CRASHED || ended == CUDA_CRASHED ? CUDA_CRASHED : 0;
    }
    out->repeats = copies;
    return 0;
}

void measure_plan_free(struct measure_plan *plan)
{
    if (plan->graph) cuda_graph_free(plan->graph);
    memset(plan, 0, sizeof *plan);
}

static int execute(struct measure *m, const struct measure_plan *plan, unsigned copy, struct error *err)
{
    const struct measure_subject *s = &plan->subject;
    return plan->graph ? cuda_graph_launch(m->cuda, plan->graph, err)
                       : s->work.enqueue(s->work.self, s->buffers->shift[copy], err);
}

// Restores everything that outlives a launch to what the job promises, in the copies that the next execution uses.
static int restore(struct measure *m, const struct measure_plan *plan, unsigned copy, uint64_t key, struct error *err)
{
    const struct measure_subject *s = &plan->subject;
    unsigned copies[BUFFERS_COPIES_MAX];
    int failed;
    copies[0] = copy;
    for (unsigned i = 0; i < plan->repeats && plan->graph; i++) copies[i] = i;
    if ((failed = buffers_restore(s->buffers, copies, plan->repeats, key, err)) ||
        (s->work.restore && entropy_below(restored_of) && (failed = s->work.restore(s->work.self, err))))
        return failed;
    for (unsigned i = 0; i < plan->repeats; i++)
        if ((failed = work_begin(&s->work, s->buffers->shift[plan->graph ? i : copy], err))) return failed;
    return support_poison(m->support, (uint32_t)entropy_draw(), err);
}

// The temperature changes slowly, and reading it takes time.
static void read_state(struct measure *m)
{
    double now = clock_now();
    int temperature = m->reading.temperature;
    bool due = now - m->reported >= 1;
    m->reading = nvml_read(m->nvml, due);
    if (due)
        m->reported = now;
    else
        m->reading.temperature = temperature;
    if (now - m->power_reported < power_interval) return;
    double power = nvml_power(m->nvml);
    m->power_reported = now;
    if (isnan(power)) return;
    if (!m->power.count++) m->power.first = now;
    m->power.sum += power;
    m->power.last = now;
}

static void add_power(const struct measure *m, struct measurement *out)
{
    if (!m->power.count) return;
    out->power = m->power.sum / m->power.count;
    if (m->power.last - m->power.first >= power_window) out->energy = out->power * out->time;
}

// Lets the device idle. In a stream of launches, write-heavy kernels run at one of two speeds, some 10% apart, and keep
// it for the whole process. After a pause of 400 us they run at the higher speed. ncu sees this speed too, since it
// waits before every launch.
static int rest(struct measure *m, struct error *err)
{
    int failed = cuda_sync(m->cuda, err);
    double until = clock_now() + m->settings.rest;
    while (!failed && clock_now() < until) {
    } // sleeping would overshoot, and after 2 ms memory is slower again
    return failed;
}

// Takes one sample: its preparation, and the work between two events. Returns which copies it used, and the key of
// their outputs' contents.
static int sample(struct measure *m, const struct measure_plan *plan, bool fresh, struct cuda_event *const between[2],
                  unsigned *copy, uint64_t *key, struct error *err)
{
    int failed;
    *copy = plan->graph ? 0 : (unsigned)entropy_below(plan->subject.buffers->sets);
    *key = buffers_key(0);
    if (m->settings.rest > 0 && !plan->graph && (failed = rest(m, err))) return failed;
    if ((failed = restore(m, plan, *copy, *key, err))) return failed;
    // Executes once untimed, to warm the cache, or because other work has left its own instructions in the caches.
    if ((!m->settings.cold || (plan->graph && fresh)) &&
        ((failed = execute(m, plan, *copy, err)) || (failed = restore(m, plan, *copy, *key, err))))
        return failed;
    if (m->settings.cold && (failed = support_flush(m->support, err))) return failed;
    if ((failed = cuda_event_record(m->cuda, between[0], err)) || (failed = execute(m, plan, *copy, err)))
        return failed;
    return cuda_event_record(m->cuda, between[1], err);
}

int measure_repeat(struct measure *m, const struct measure_plan *plan, bool bare, struct error *err)
{
    unsigned copy = plan->graph ? 0 : (unsigned)entropy_below(plan->subject.buffers->sets);
    int failed = restore(m, plan, copy, buffers_key(0), err);
    if (!failed && m->settings.cold) failed = support_flush(m->support, err);
    return failed || bare ? failed : execute(m, plan, copy, err);
}

int measure_samples(struct measure *m, struct measure_plan *const *plans, size_t n, double share, double *times,
                    struct error *err)
{
    bool judged[MEASURE_BATCH] = {false};
    int failed;
    for (size_t i = 0; i < n; i++) {
        struct measure_plan *plan = plans[i];
        bool fresh = i == 0 || plan != plans[i - 1], last = true;
        unsigned copy;
        uint64_t key;
        if ((failed = sample(m, plan, fresh, m->event + 2 * i, &copy, &key, err))) return failed;
        // Whether the launch is judged is decided only after it has been enqueued, and usually at random.
        for (size_t k = 0; k < n; k++) last &= k <= i ? !(judged[k] && plans[k] == plan) : plans[k] != plan;
        if (!plan->subject.judge.compare || (!(last && share > 0) && entropy_unit() >= share)) continue;
        if (plan->graph) copy = (unsigned)entropy_below(plan->repeats);
        judged[i] = true;
        plan->launches_judged++;
        const struct work *work = &plan->subject.work;
        if (work->copy && (failed = work->copy(work->self, plan->subject.buffers->shift[copy], true, err)))
            return failed;
        if ((failed = plan->subject.judge.compare(plan->subject.judge.self, copy, key, (unsigned)i, err)))
            return failed;
    }
    read_state(m);
    if ((failed = cuda_sync(m->cuda, err))) return failed;
    double all;
    if ((failed = cuda_event_seconds(m->event[0], m->event[2 * n - 1], &all, err))) return failed;
    m->busy += all;
    for (size_t i = 0; i < n; i++) {
        struct measure_plan *plan = plans[i];
        if ((failed = cuda_event_seconds(m->event[2 * i], m->event[2 * i + 1], &times[i], err))) return failed;
        times[i] /= plan->repeats;
        if (!judged[i] || plan->status != STATUS_OK) continue;
        plan->status = plan->subject.judge.verdict(plan->subject.judge.self, (unsigned)i, &plan->reason);
        if (plan->status != STATUS_OK) error_prefix(&plan->reason, "in a launch that was timed");
    }
    return 0;
}

int measure_plans(struct measure *m, struct measure_plan *const *plans, size_t n, double *times, bool *hot,
                  struct error *err)
{
    *hot = false;
    for (size_t i = 0; i < n; i += MEASURE_BATCH) {
        size_t some = n - i < MEASURE_BATCH ? n - i : MEASURE_BATCH;
        int failed = measure_samples(m, plans + i, some, 1, times + i, err);
        if (failed) return failed;
        *hot |= m->reading.hot;
    }
    return 0;
}

int measure_work(struct measure *m, const struct measure_subject *subject, double first, double best,
                 struct measurement *out, enum trial_status *status, struct error *reason, struct error *err)
{
    const struct measure_settings *set = &m->settings;
    autorelease(measure_plan_free) struct measure_plan plan = {.subject = *subject, .repeats = 1};
    struct measure_plan *plans[MEASURE_BATCH];
    struct sampler sampler;
    double times[MEASURE_BATCH], estimate = first;
    int failed = 0;
    *status = STATUS_OK;
    sampler_begin(&sampler, set, best, m->samples);
    memset(&m->power, 0, sizeof m->power);
    for (int i = 0; i < MEASURE_BATCH; i++) plans[i] = &plan;
    // A first launch includes loading the kernel, so its time decides only if it is far from every threshold.
    bool doubtful = !(first > 2 * set->graph_below && first > 20e-6) || (best > 0 && first > best * set->slow_factor);
    // The verified run (`first`) counts as a warm-up launch, and so does the single sample of a doubtful case.
    size_t warmup = set->warmup > (first > 0) + doubtful ? (size_t)(set->warmup - (first > 0) - doubtful) : 0;
    if (first > early_stop_long_launch) warmup = 0;
    for (size_t n; warmup && !failed; warmup -= n) {
        n = warmup < MEASURE_BATCH ? warmup : MEASURE_BATCH;
        failed = measure_samples(m, plans, n, unjudged, times, err);
    }
    if (!failed && doubtful) failed = measure_samples(m, plans, 1, unjudged, &estimate, err);
    if (failed) return failed;
    // Work short enough for a graph is not screened by this estimate: a single launch can take several times as long.
    if (doubtful && estimate > set->graph_below) sampler_screen(&sampler, estimate);
    *status = plan.status;
    *reason = plan.reason;
    if (!sampler.slow && *status == STATUS_OK && (failed = measure_plan(m, subject, estimate, &plan, err)))
        return failed;
    for (size_t n; *status == STATUS_OK && (n = sampler_wanted(&sampler)) > 0;) {
        if (n > MEASURE_BATCH) n = MEASURE_BATCH;
        double before = m->busy;
        if ((failed = measure_samples(m, plans, n, verified_share, times, err))) return failed;
        bool throttled = m->reading.hot || (m->reading.capped && sampler.dropped == 0);
        sampler_add(&sampler, times, n, m->busy - before, throttled);
        *status = plan.status;
        *reason = plan.reason;
    }
    sampler_result(&sampler, out);
    add_power(m, out);
    out->throttled |= m->reading.capped || m->reading.hot;
    return 0;
}
