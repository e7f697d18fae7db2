// See zeros_needed.h.
#include "tuner/gpu/zeros_needed.h"

#include "tuner/base/clock.h"
#include "tuner/gpu/verify.h"

static const double enough = 0.1; // s

// Whether a buffer has this direction and arbitrary contents before a launch. (Requests give outputs a fill, too.)
static bool is_arbitrary(const struct device_buffer *b, enum direction direction)
{
    return b->direction == direction && !(direction == DIRECTION_SCRATCH && b->filled) && b->view.ld == b->view.cols;
}

// The name of the first buffer of any problem for which is_arbitrary() holds, or NULL.
static const char *first_name(const struct workload *w, enum direction direction)
{
    for (size_t k = 0; k < w->problem_count; k++)
        for (size_t i = 0; i < w->problems[k].buffers.count; i++)
            if (is_arbitrary(&w->problems[k].buffers.list[i], direction)) return w->problems[k].buffers.list[i].name;
    return NULL;
}

// Launches once on the first copy of a problem's memory. Arbitrary contents are NaN; with `zeros`, buffers of the given
// direction hold zeros instead.
static int launch(struct workload *w, struct pipeline *pipeline, size_t problem, enum direction direction, bool zeros,
                  enum trial_status *status, struct error *err)
{
    const unsigned first = 0;
    struct buffers *in = &w->problems[problem].buffers;
    struct work work = pipeline_work(pipeline, problem);
    uint64_t key = CONTENT_NAN;
    struct error reason;
    int failed = buffers_restore(in, &first, 1, key, err);
    for (size_t i = 0; i < in->count && !failed; i++)
        if (zeros && is_arbitrary(&in->list[i], direction))
            failed = cuda_zero(w->cuda, in->list[i].view.device, in->list[i].bytes, err);
    if (!failed) failed = pipeline_restore(pipeline, err);
    if (!failed) failed = work_begin(&work, 0, err);
    if (!failed) failed = work.enqueue(work.self, 0, err);
    if (!failed && work.copy) failed = work.copy(work.self, 0, true, err);
    if (!failed) failed = verify_launch(w, problem, in, first, key, 0, err);
    if (!failed) failed = cuda_sync(w->cuda, err);
    if (!failed) *status = verify_launched(w, problem, 0, &reason);
    return failed;
}

// Whether the candidate's results are correct on all problems. *late: there was no time to try all of them.
static int try_all(struct workload *w, struct pipeline *pipeline, enum direction direction, bool zeros, double until,
                   bool *right, bool *late, struct error *err)
{
    enum trial_status status = STATUS_OK;
    int failed = 0;
    verify_forget(w);
    for (size_t k = 0; k < w->problem_count && !failed && status == STATUS_OK && !*late; k++) {
        *late = clock_now() > until;
        if (!*late && pipeline_does(pipeline, k)) failed = launch(w, pipeline, k, direction, zeros, &status, err);
    }
    *right = status == STATUS_OK;
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
    const double until = clock_now() + enough;
    bool right = true, late = false;
    // A candidate whose results are correct without zeros failed for another reason.
    int failed = try_all(w, pipeline, DIRECTION_OUT, false, until, &right, &late, err);
    if (right) return failed;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !failed; i++) {
        const char *name = first_name(w, kinds[i].direction);
        if (!name) continue;
        failed = try_all(w, pipeline, kinds[i].direction, true, until, &right, &late, err);
        if (late) return failed;
        if (failed || !right) continue;
        struct error said = *reason;
        error_set(reason,
                  "%s; the result is correct if '%s' holds zeros before the launch: if the kernel needs these zeros, "
                  "write %s there",
                  said.message, name, kinds[i].advice);
        return 0;
    }
    return failed;
}
