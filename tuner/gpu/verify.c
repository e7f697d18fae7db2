// See verify.h.
#include "tuner/gpu/verify.h"

#include "tuner/base/entropy.h"
#include "tuner/gpu/reference_library.h"

void verify_forget(struct workload *w)
{
    for (size_t k = 0; k < w->problem_count; k++)
        for (int set = 0; set < SETS_MAX; set++) w->problems[k].set[set].stored = false;
    w->judged.compare_bits = true;
}

void verify_several(struct workload *w)
{
    w->judged.compare_bits = false;
}

// Bits are compared in passes and, if the bound allows them to differ, in timed launches.
static enum previous_mode previous_mode(const struct workload *w, const struct data_set *set, size_t i, bool timed)
{
    if (!w->judged.compare_bits) return PREVIOUS_NONE;
    if (!set->stored) return PREVIOUS_STORE;
    return timed && bound_is_exact(&set->bound[i]) ? PREVIOUS_NONE : PREVIOUS_COMPARE;
}

// Compares a launch's results, which are in a copy of the problem's buffers. If `moved`, the buffers are at other
// addresses. Bits may then differ, since kernels may sum in a different order. Copies the findings to the host before
// the candidate can run again.
static int compare(struct workload *w, struct device_problem *p, struct buffers *in, unsigned copy, uint64_t key,
                   bool timed, struct verify_finding *to, struct host_verdict *verdict, struct error *err)
{
    const bool moved = in != &p->buffers;
    struct data_set *set = &p->set[in->set[copy]];
    int failed = cuda_zero(w->cuda, in->findings, in->count * sizeof *to, err);
    for (size_t i = 0; i < in->count && !failed; i++) {
        const struct device_buffer *b = &in->list[i];
        uint64_t finding = in->findings + i * sizeof *to;
        struct operand view = b->view;
        struct content before = buffers_content(in, i, copy, key);
        if (!buffer_is_output(b)) continue;
        enum previous_mode mode = moved ? PREVIOUS_NONE : previous_mode(w, set, i, timed);
        view.device += (uint64_t)in->shift[copy];
        failed = support_compare(w->support, &view, &set->bound[i], set->previous[i], mode, &before, w->mask_key,
                                 finding, err);
        if (!failed && set->bound[i].expected)
            failed = support_verify(w->support, &view, &set->bound[i], w->mask_key, finding, err);
    }
    w->judged.launches++;
    set->stored |= w->judged.compare_bits && !moved;
    if (!failed) failed = buffers_guards(in, (int)copy, err);
    if (!failed) failed = cuda_download(w->cuda, to, in->findings, in->count * sizeof *to, err);
    return !failed && verdict ? reference_library_verify(w, p, in, copy, verdict, err) : failed;
}

// Where to put a verdict; NULL: none is wanted.
static struct host_verdict *verdict_at(struct host_verdict *list, size_t i)
{
    return list ? &list[i] : NULL;
}

// Enqueues one run between the problem's two events.
static int run(struct workload *w, size_t problem, unsigned copy, const struct work *work, enum verify_runs runs,
               struct error *err)
{
    struct device_problem *p = &w->problems[problem];
    unsigned set = p->buffers.set[copy];
    struct data_set *data = &p->set[set];
    unsigned flags = runs == VERIFY_FIRST ? BUFFERS_LEAVE | BUFFERS_TELLTALE : BUFFERS_LEAVE;
    uint64_t key = runs == VERIFY_SAME ? data->key : buffers_key(flags);
    int failed;
    if (!data->stored) data->key = key;
    if ((runs != VERIFY_SAME && (failed = buffers_write_guards(&p->buffers, (int)copy, key, err))) ||
        (failed = buffers_restore(&p->buffers, &copy, 1, key, err)) ||
        (failed = work_begin(work, p->buffers.shift[copy], err)) ||
        (failed = support_poison(w->support, (uint32_t)entropy_draw(), err)) ||
        (w->settings.measure.cold && (failed = support_flush(w->support, err))) ||
        (failed = cuda_event_record(w->cuda, w->events.list[2 * problem], err)) ||
        (failed = work->enqueue(work->self, p->buffers.shift[copy], err)) ||
        (failed = cuda_event_record(w->cuda, w->events.list[2 * problem + 1], err)) ||
        (work->copy && (failed = work->copy(work->self, p->buffers.shift[copy], true, err))))
        return failed;
    p->ran[set] = true;
    return compare(w, p, &p->buffers, copy, key, false, w->judged.findings[2 * problem + set],
                   verdict_at(w->judged.verdicts, 2 * problem + set), err);
}

int verify_pass(struct workload *w, const struct work *works, enum verify_runs runs, struct error *err)
{
    struct cuda_event *first = w->events.list[0], *last = w->events.list[2 * w->problem_count];
    int failed = cuda_event_record(w->cuda, first, err); // also if the first problem is left out
    for (size_t k = 0; k < w->problem_count; k++) w->problems[k].ran[0] = w->problems[k].ran[1] = false;
    for (size_t k = 0; k < w->problem_count && !failed; k++) {
        if (!works[k].enqueue) continue;
        if (runs == VERIFY_BOTH && w->problems[k].buffers.sets == 2) failed = run(w, k, 1, &works[k], runs, err);
        if (!failed) failed = run(w, k, 0, &works[k], runs, err);
    }
    if (!failed) failed = cuda_event_record(w->cuda, last, err);
    // After a refused launch the context is still good.
    int ended = cuda_sync(w->cuda, failed == CUDA_CRASHED ? NULL : err);
    double seconds;
    if (failed || ended) return ended ? ended : failed;
    if (!cuda_event_seconds(first, last, &seconds, err)) measure_add_busy(w->measure, seconds);
    return 0;
}

int verify_time(const struct workload *w, size_t problem, double *seconds, struct error *err)
{
    return cuda_event_seconds(w->events.list[2 * problem], w->events.list[2 * problem + 1], seconds, err);
}

enum { PLACE_MAX = 64 };

// "[12, 7]", or "[7]" for a vector.
static const char *place_text(const struct device_buffer *b, int64_t place, char out[PLACE_MAX])
{
    int64_t row = place / b->view.cols, col = place % b->view.cols;
    if (b->view.rows == 1)
        snprintf(out, PLACE_MAX, "[%lld]", (long long)col);
    else
        snprintf(out, PLACE_MAX, "[%lld, %lld]", (long long)row, (long long)col);
    return out;
}

// printf shows the sign of a NaN, which has no meaning here.
static const char *number_text(double x, char out[32])
{
    snprintf(out, 32, "%.9g", x);
    return isnan(x) ? "nan" : out;
}

void verify_stray_text(const struct device_buffer *b, const struct verify_finding *f, struct error *reason)
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

static void wrong_text(const struct device_buffer *b, int64_t compared, const struct verify_finding *f,
                       struct error *reason)
{
    char place[PLACE_MAX], got[32], unwritten[64] = "";
    bool all = compared == b->view.rows * b->view.cols;
    if (f->unwritten)
        snprintf(unwritten, sizeof unwritten, ", %llu of them never written", (unsigned long long)f->unwritten);
    error_set(reason, "%s%s is %s, expected %.9g (allowed error %.3g); %llu of %lld %selements are wrong%s", b->name,
              place_text(b, f->place < 0 ? 0 : f->place, place), number_text(f->got, got), f->want, f->allowed,
              (unsigned long long)f->bad, (long long)compared, all ? "" : "compared ", unwritten);
}

// The status that the findings on one buffer call for.
static enum trial_status verify_buffer(const struct workload *w, const struct device_buffer *b, int64_t compared,
                                       const struct verify_finding *f, struct error *reason)
{
    char place[PLACE_MAX];
    if (f->guard_bad) {
        verify_stray_text(b, f, reason);
        return STATUS_OUT_OF_BOUNDS;
    }
    if (!buffer_is_output(b)) return STATUS_OK;
    // Unwritten elements differ from run to run, because the contents of memory do.
    if (f->differ && w->settings.verify.deterministic && !f->unwritten) {
        error_set(reason, "two runs on the same data differ, first in %s%s (%llu elements)%s", b->name,
                  place_text(b, (int64_t)~f->first_differ, place), (unsigned long long)f->differ,
                  f->bad ? "; some are wrong too" : "; where that is intended, set deterministic = false");
        return STATUS_NONDETERMINISTIC;
    }
    if (f->bad) {
        wrong_text(b, compared, f, reason);
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
    return fabs(f->got - f->want) / f->allowed; // NaN or infinite if no error is allowed
}

// Turns one run's findings into a verdict and, unless `result` is NULL, adds them to the results of all runs.
static enum trial_status verify_results(const struct workload *w, const struct device_problem *p,
                                        const struct data_set *set, const struct verify_finding *findings,
                                        const struct host_verdict *verdict, struct verify_result *result,
                                        struct error *reason)
{
    enum trial_status status = STATUS_OK;
    uint64_t worst = 0;
    for (size_t i = 0; i < p->buffers.count; i++) {
        const struct device_buffer *b = &p->buffers.list[i];
        const struct verify_finding *f = &findings[i];
        struct error words;
        enum trial_status mine = verify_buffer(w, b, set->compared[i], f, &words);
        if (severity(mine) > severity(status)) {
            status = mine;
            *reason = words;
        }
        if (!result || !buffer_is_output(b)) continue;
        double n = (double)set->compared[i], rms = sqrt(f->sum_squares / n), error = ratio_of(f);
        if (f->max_scaled > result->error_max) result->error_max = f->max_scaled;
        if (rms > result->error_rms) result->error_rms = rms;
        result->bad += f->bad;
        if (f->worst <= worst || error <= result->error) continue;
        worst = f->worst;
        result->error = error;
        result->row = f->place / b->view.cols;
        result->col = f->place % b->view.cols;
        result->got = f->got;
        result->want = f->want;
    }
    if (status != STATUS_OK || !verdict || !verdict->wrong) return status;
    *reason = verdict->why;
    return STATUS_WRONG;
}

enum trial_status verify_outputs(const struct workload *w, size_t problem, struct verify_result *result,
                                 struct error *reason)
{
    const struct device_problem *p = &w->problems[problem];
    enum trial_status status = STATUS_OK;
    *result = (struct verify_result){.row = -1, .col = -1};
    *reason = (struct error){""};
    for (int set = 0; set < 2; set++) {
        struct error words = {""};
        if (!p->ran[set]) continue;
        enum trial_status mine =
            verify_results(w, p, &p->set[set], w->judged.findings[2 * problem + (size_t)set],
                           verdict_at(w->judged.verdicts, 2 * problem + (size_t)set), result, &words);
        if (severity(mine) <= severity(status)) continue;
        status = mine;
        *reason = words;
    }
    return status;
}

int verify_launch(struct workload *w, size_t problem, struct buffers *in, unsigned copy, uint64_t key, unsigned slot,
                  struct error *err)
{
    struct device_problem *p = &w->problems[problem];
    p->sampled[slot] = in->set[copy];
    return compare(w, p, in, copy, key, true, w->judged.samples[slot], verdict_at(w->judged.sample_verdicts, slot),
                   err);
}

enum trial_status verify_launched(const struct workload *w, size_t problem, unsigned slot, struct error *reason)
{
    const struct device_problem *p = &w->problems[problem];
    return verify_results(w, p, &p->set[p->sampled[slot]], w->judged.samples[slot],
                          verdict_at(w->judged.sample_verdicts, slot), NULL, reason);
}

// The judge of timed launches: `self` is the problem.
static int compare_sample(void *self, unsigned copy, uint64_t key, unsigned slot, struct error *err)
{
    struct device_problem *p = self;
    struct workload *w = p->workload;
    return verify_launch(w, (size_t)(p - w->problems), &p->buffers, copy, key, slot, err);
}

static enum trial_status verify_sample(void *self, unsigned slot, struct error *reason)
{
    const struct device_problem *p = self;
    return verify_launched(p->workload, (size_t)(p - p->workload->problems), slot, reason);
}

struct measure_subject verify_subject(struct workload *w, size_t problem, const struct work *work, bool judged)
{
    struct device_problem *p = &w->problems[problem];
    struct measure_subject s = {.work = *work, .buffers = &p->buffers};
    if (judged) s.judge = (struct measure_verifier){compare_sample, verify_sample, p};
    return s;
}
