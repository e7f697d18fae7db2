// See graph_check.h.
#include "tuner/gpu/graph_check.h"

#include "tuner/base/entropy.h"
#include "tuner/gpu/verify.h"

enum { EXECUTIONS = 3 };

// Allowances for a launch that follows another kernel: it does not find its instructions in a near cache, and the
// multiprocessors may have to divide their memory between L1 and shared memory again.
static const double share_allowed = 0.3, seconds_allowed = 3e-6;

bool graph_check_agrees(double time, double poisoned)
{
    return poisoned <= time * (1 + share_allowed) + seconds_allowed;
}

// Captures the second graph or, without work, the third.
static int capture(struct workload *w, const struct measure_plan *plan, bool work, struct cuda_graph **out,
                   struct error *err)
{
    const struct measure_subject *s = &plan->subject;
    struct error dropped;
    *out = NULL;
    int failed = cuda_capture_begin(w->cuda, err);
    if (failed) return failed;
    for (unsigned i = 0; i < plan->repeats && !failed; i++) {
        failed = support_poison(w->support, (uint32_t)entropy_draw(), err);
        if (!failed && work) failed = s->work.enqueue(s->work.self, s->buffers->shift[i], err);
    }
    int ended = cuda_capture_end(w->cuda, out, failed ? &dropped : err);
    return failed ? failed : ended;
}

// Executes the graph once and measures its time (s). *key: the key of the outputs' contents before the execution.
static int execute(struct workload *w, const struct measure_plan *plan, struct cuda_graph *graph, uint64_t *key,
                   double *seconds, struct error *err)
{
    struct cuda_event *first = w->events.list[0], *last = w->events.list[1];
    unsigned copies[BUFFERS_COPIES_MAX];
    int failed;
    for (unsigned i = 0; i < plan->repeats; i++) copies[i] = i;
    *key = buffers_key(0);
    if ((failed = buffers_restore(plan->subject.buffers, copies, plan->repeats, *key, err))) return failed;
    for (unsigned i = 0; i < plan->repeats; i++)
        if ((failed = work_begin(&plan->subject.work, plan->subject.buffers->shift[i], err))) return failed;
    if ((w->settings.measure.cold && (failed = support_flush(w->support, err))) ||
        (failed = cuda_event_record(w->cuda, first, err)) || (failed = cuda_graph_launch(w->cuda, graph, err)) ||
        (failed = cuda_event_record(w->cuda, last, err)) || (failed = cuda_sync(w->cuda, err)) ||
        (failed = cuda_event_seconds(first, last, seconds, err)))
        return failed;
    measure_add_busy(w->measure, *seconds);
    return 0;
}

// Judges the results of every launch of an execution.
static int judge(struct workload *w, size_t problem, const struct measure_plan *plan, uint64_t key,
                 enum trial_status *status, struct error *reason, struct error *err)
{
    int failed = 0;
    for (unsigned first = 0; first < plan->repeats && *status == STATUS_OK && !failed; first += MEASURE_BATCH) {
        unsigned n = plan->repeats - first < MEASURE_BATCH ? plan->repeats - first : MEASURE_BATCH;
        for (unsigned i = 0; i < n && !failed; i++)
            failed = verify_launch(w, problem, plan->subject.buffers, first + i, key, i, err);
        if (!failed) failed = cuda_sync(w->cuda, err);
        for (unsigned i = 0; i < n && !failed && *status == STATUS_OK; i++)
            *status = verify_launched(w, problem, i, reason);
    }
    if (*status != STATUS_OK) error_prefix(reason, "in a graph that overwrites shared memory before each launch");
    return failed;
}

int graph_check(struct workload *w, size_t problem, const struct measure_plan *plan, double time,
                enum trial_status *status, struct error *reason, struct error *err)
{
    struct cuda_graph *graphs[2] = {NULL, NULL}; // bare, poisoned
    double least[2] = {INFINITY, INFINITY};
    int failed = 0;
    *status = STATUS_OK;
    for (int i = 0; i < 2 && !failed; i++) failed = capture(w, plan, i, &graphs[i], err);
    for (int n = 0; n < EXECUTIONS && !failed; n++)
        for (int i = 0; i < 2 && !failed && *status == STATUS_OK; i++) {
            uint64_t key;
            double seconds = 0;
            failed = execute(w, plan, graphs[i], &key, &seconds, err);
            if (seconds < least[i]) least[i] = seconds;
            if (!failed && i == 1 && n == 0) failed = judge(w, problem, plan, key, status, reason, err);
        }
    for (int i = 0; i < 2 && failed != CUDA_CRASHED; i++) cuda_graph_free(graphs[i]);
    if (failed == CUDA_MEMORY) { // this says nothing about the candidate
        fprintf(stderr, "the time in a graph was not checked: %s\n", err->message);
        return 0;
    }
    double poisoned = (least[1] - least[0]) / plan->repeats;
    if (failed || *status != STATUS_OK || graph_check_agrees(time, poisoned)) return failed;
    *status = STATUS_IMPLAUSIBLE;
    return error_set(reason,
                     "takes %.3g us in a graph, but %.3g us in one that overwrites shared memory before each launch",
                     time * 1e6, poisoned * 1e6),
           0;
}
