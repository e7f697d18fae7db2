// See zeros_needed.h.
#include "tuner/gpu/zeros_needed.h"

#include "tuner/base/clock.h"
#include "tuner/gpu/verify.h"

static const double enough = 0.1; // s

// Buffers of one direction whose contents before a launch are arbitrary.
static bool is_arbitrary(const struct device_buffer *b, enum direction direction)
{
    return b->direction == direction && !b->filled && b->view.ld == b->view.cols;
}

// The name of the first such buffer of any problem; NULL: there is none.
static const char *first_name(const struct workload *w, enum direction direction)
{
    for (size_t k = 0; k < w->problem_count; k++)
        for (size_t i = 0; i < w->problems[k].buffers.count; i++)
            if (is_arbitrary(&w->problems[k].buffers.list[i], direction)) return w->problems[k].buffers.list[i].name;
    return NULL;
}

// One launch on the first copy of a problem's memory, with zeros in buffers of the given direction.
static int launch(struct workload *w, struct pipeline *pipeline, size_t problem, enum direction direction,
                  enum trial_status *status, struct error *err)
{
    const unsigned first = 0;
    struct buffers *in = &w->problems[problem].buffers;
    struct work work = pipeline_work(pipeline, problem);
    uint64_t key = buffers_key(0);
    struct error reason;
    int failed = buffers_restore(in, &first, 1, key, err);
    for (size_t i = 0; i < in->count && !failed; i++)
        if (is_arbitrary(&in->list[i], direction))
            failed = cuda_zero(w->cuda, in->list[i].view.device, in->list[i].bytes, err);
    if (!failed) failed = pipeline_restore(pipeline, err);
    if (!failed && work.put) failed = work.put(work.self, 0, err);
    if (!failed) failed = work.enqueue(work.self, 0, err);
    if (!failed && work.take) failed = work.take(work.self, 0, err);
    if (!failed) failed = verify_launch(w, problem, in, first, key, 0, err);
    if (!failed) failed = cuda_sync(w->cuda, err);
    if (!failed) *status = verify_launched(w, problem, 0, &reason);
    return failed;
}

int zeros_needed(struct workload *w, struct pipeline *pipeline, struct error *reason, struct error *err)
{
    static const struct {
        enum direction direction;
        const char *advice;
    } kinds[] = {
        {DIRECTION_SCRATCH, "fill = \"zero\""},
        {DIRECTION_OUT, "direction = \"inout\"; fill = \"zero\""},
    };
    double begin = clock_now();
    int failed = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !failed; i++) {
        const char *name = first_name(w, kinds[i].direction);
        enum trial_status status = STATUS_OK;
        if (!name) continue;
        verify_forget(w);
        for (size_t k = 0; k < w->problem_count && !failed && status == STATUS_OK; k++) {
            if (clock_now() - begin > enough) return 0;
            if (pipeline_does(pipeline, k)) failed = launch(w, pipeline, k, kinds[i].direction, &status, err);
        }
        if (failed || status != STATUS_OK) continue;
        struct error said = *reason;
        error_set(reason, "%s; it is right where '%s' holds zeros before the launch: if it needs them, write %s there",
                  said.message, name, kinds[i].advice);
        return 0;
    }
    return failed;
}
