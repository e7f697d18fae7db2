// See verify.h.
#include "tuner/gpu/verify.h"

#include <math.h>
#include <stdio.h>

// NaN in every floating-point type, and unlike the guards.
static const uint16_t pattern[] = {[VERIFY_FIRST] = 0xfffb, [VERIFY_SECOND] = 0x7ff9, [VERIFY_AGAIN] = 0xfffb};

int verify_begin(struct workload *w, struct error *err)
{
    int failed = cuda_event_record(w->cuda, w->events[0], err); // where the pass begins, even without the first problem
    for (size_t k = 0; k < w->problem_count && !failed; k++)
        failed = cuda_zero(w->cuda, w->problems[k].buffers.findings, sizeof w->findings[0], err);
    return failed;
}

static int compare(struct workload *w, struct device_problem *p, enum previous_mode mode, uint16_t filled,
                   struct error *err)
{
    int failed = 0;
    for (size_t i = 0; i < p->buffers.count && !failed; i++) {
        const struct device_buffer *b = &p->buffers.list[i];
        if (buffer_is_output(b))
            failed = support_compare(w->support, &b->view, &p->bound[i], p->previous[i], mode, filled,
                                     p->buffers.findings + i * sizeof(struct verify_finding), err);
    }
    return failed;
}

int verify_run(struct workload *w, size_t problem, const struct work *work, enum verify_pass pass, struct error *err)
{
    struct device_problem *p = &w->problems[problem];
    int failed;
    if ((failed = buffers_reset(&p->buffers, pattern[pass], err)) ||
        (failed = cuda_event_record(w->cuda, w->events[2 * problem], err)) ||
        (failed = work->enqueue(work->self, 0, err)) ||
        (failed = cuda_event_record(w->cuda, w->events[2 * problem + 1], err)))
        return failed;
    return compare(w, p, pass == VERIFY_FIRST ? PREVIOUS_STORE : PREVIOUS_COMPARE, pattern[pass], err);
}

int verify_leftovers(struct workload *w, size_t problem, struct error *err)
{
    struct device_problem *p = &w->problems[problem];
    return p->buffers.inout ? 0 : compare(w, p, PREVIOUS_COMPARE, pattern[VERIFY_FIRST], err);
}

int verify_end(struct workload *w, struct error *err)
{
    int failed = 0;
    for (size_t k = 0; k < w->problem_count && !failed; k++) {
        struct device_problem *p = &w->problems[k];
        for (size_t i = 0; i < p->buffers.count && !failed; i++)
            if (buffer_is_output(&p->buffers.list[i]) && p->bound[i].expected)
                failed = support_judge(w->support, &p->buffers.list[i].view, &p->bound[i],
                                       p->buffers.findings + i * sizeof(struct verify_finding), err);
        if (!failed) failed = buffers_check(&p->buffers, err);
        if (!failed)
            failed = cuda_download(w->cuda, w->findings[k], p->buffers.findings,
                                   p->buffers.count * sizeof(struct verify_finding), err);
    }
    struct cuda_event *last = w->events[2 * w->problem_count];
    if (!failed) failed = cuda_event_record(w->cuda, last, err);
    int ended = cuda_sync(w->cuda, failed ? NULL : err);
    if (failed || ended) return ended ? ended : failed;
    double seconds;
    if (!cuda_event_seconds(w->cuda, w->events[0], last, &seconds, err)) measure_add_busy(w->measure, seconds);
    return 0;
}

int verify_time(const struct workload *w, size_t problem, double *seconds, struct error *err)
{
    return cuda_event_seconds(w->cuda, w->events[2 * problem], w->events[2 * problem + 1], seconds, err);
}

bool verify_inputs_intact(const struct workload *w)
{
    for (size_t k = 0; k < w->problem_count; k++) {
        const struct buffers *all = &w->problems[k].buffers;
        for (size_t i = 0; i < all->count; i++)
            if (all->list[i].direction == DIRECTION_IN && w->findings[k][i].checksum != all->list[i].checksum)
                return false;
    }
    return true;
}

enum { PLACE_MAX = 64 };

// "[12, 7]", or "[7]" of a vector.
static const char *place_words(const struct device_buffer *b, int64_t place, char out[PLACE_MAX])
{
    int64_t row = place / b->view.cols, col = place % b->view.cols;
    if (b->view.rows == 1)
        snprintf(out, PLACE_MAX, "[%lld]", (long long)col);
    else
        snprintf(out, PLACE_MAX, "[%lld, %lld]", (long long)row, (long long)col);
    return out;
}

// printf shows the sign of a NaN, which means nothing here.
static const char *number_words(double x, char out[32])
{
    snprintf(out, 32, "%.9g", x);
    return isnan(x) ? "nan" : out;
}

static void stray_words(const struct device_buffer *b, const struct verify_finding *f, struct error *reason)
{
    uint64_t offset = ~f->guard_first;
    int64_t size = (int64_t)element_size(b->view.type), at = (int64_t)offset - (int64_t)b->front;
    unsigned long long bytes = f->guard_bad;
    if (at < 0)
        error_set(reason, "wrote %llu bytes outside %s, the first %lld bytes before its beginning", bytes, b->name,
                  (long long)-at);
    else if (at >= (int64_t)b->bytes)
        error_set(reason, "wrote %llu bytes outside %s, the first %lld bytes past its end", bytes, b->name,
                  (long long)(at - (int64_t)b->bytes));
    else
        error_set(reason, "wrote %llu bytes outside %s, the first into the padding of row %lld, column %lld of %lld",
                  bytes, b->name, (long long)(at / size / b->view.ld), (long long)(at / size % b->view.ld),
                  (long long)b->view.cols);
}

// A pass may have compared an output twice (verify_leftovers).
static uint64_t at_most(uint64_t count, int64_t n)
{
    return count < (uint64_t)n ? count : (uint64_t)n;
}

static void wrong_words(const struct device_buffer *b, const struct verify_finding *f, struct error *reason)
{
    char place[PLACE_MAX], got[32], unwritten[64] = "";
    int64_t n = b->view.rows * b->view.cols;
    if (f->unwritten)
        snprintf(unwritten, sizeof unwritten, ", %llu of them never written",
                 (unsigned long long)at_most(f->unwritten, n));
    error_set(reason, "%s%s is %s, expected %.9g (allowed error %.3g); %llu of %lld elements are wrong%s", b->name,
              place_words(b, f->place < 0 ? 0 : f->place, place), number_words(f->got, got), f->want, f->allowed,
              (unsigned long long)at_most(f->bad, n), (long long)n, unwritten);
}

// The findings on one buffer; returns the status they call for.
static enum trial_status judge_buffer(const struct workload *w, const struct device_buffer *b,
                                      const struct verify_finding *f, struct error *reason)
{
    char place[PLACE_MAX];
    if (f->guard_bad) {
        stray_words(b, f, reason);
        return STATUS_OUT_OF_BOUNDS;
    }
    if (b->direction == DIRECTION_IN && f->checksum != b->checksum) {
        error_set(reason, "changed %s, which is an input", b->name);
        return STATUS_WRONG;
    }
    if (f->differ && w->verify.deterministic) {
        error_set(reason, "two runs on the same data differ, first in %s%s (%llu elements)%s", b->name,
                  place_words(b, (int64_t)~f->first_differ, place),
                  (unsigned long long)at_most(f->differ, b->view.rows * b->view.cols),
                  f->bad ? "; some are wrong too" : "");
        return STATUS_NONDETERMINISTIC;
    }
    if (f->bad) {
        wrong_words(b, f, reason);
        return STATUS_WRONG;
    }
    return STATUS_OK;
}

static int severity(enum trial_status status)
{
    return status == STATUS_OUT_OF_BOUNDS ? 3 : status == STATUS_NONDETERMINISTIC ? 2 : status == STATUS_WRONG ? 1 : 0;
}

static double ratio_of(const struct verify_finding *f)
{
    if (!f->worst) return 0;
    return fabs(f->got - f->want) / f->allowed; // NaN or infinite where nothing is allowed
}

enum trial_status verify_judge(const struct workload *w, size_t problem, struct verify_result *result,
                               struct error *reason)
{
    const struct device_problem *p = &w->problems[problem];
    enum trial_status status = STATUS_OK;
    uint64_t worst = 0;
    *result = (struct verify_result){.row = -1, .col = -1};
    *reason = (struct error){""};
    for (size_t i = 0; i < p->buffers.count; i++) {
        const struct device_buffer *b = &p->buffers.list[i];
        const struct verify_finding *f = &w->findings[problem][i];
        struct error words;
        enum trial_status mine = judge_buffer(w, b, f, &words);
        if (severity(mine) > severity(status)) {
            status = mine;
            *reason = words;
        }
        if (!buffer_is_output(b)) continue;
        double n = (double)(b->view.rows * b->view.cols), rms = sqrt(f->sum_squares / n);
        if (f->max_scaled > result->error_max) result->error_max = f->max_scaled;
        if (rms > result->error_rms) result->error_rms = rms;
        result->bad += at_most(f->bad, b->view.rows * b->view.cols);
        if (f->worst <= worst) continue;
        worst = f->worst;
        result->error = ratio_of(f);
        result->row = f->place / b->view.cols;
        result->col = f->place % b->view.cols;
        result->got = f->got;
        result->want = f->want;
    }
    return status;
}
