// See soak.h.
#include "tuner/gpu/soak.h"

#include <math.h>

#include "tuner/base/clock.h"
#include "tuner/base/entropy.h"
#include "tuner/gpu/mixed_data.h"
#include "tuner/gpu/placement.h"
#include "tuner/gpu/verify.h"

const struct soak_budget soak_of_best = {64, 64, 0.1}, soak_of_finalist = {64, 300, 0.4},
                         soak_of_process = {16, 64, 0.1};

enum { BATCH = 16, FIRST_BATCH = 2 };
// The least number of launches may take this many times the time budget.
static const double over_budget = 4;
static const double judged_share = 1 / 3., placed_share = 0.5, poisoned_share = 0.5, left_share = 0.5,
                    mixed_share = 0.5, loaded_share = 0.4, again_share = 0.5;
// A load lasts at most this many seconds, and at most this share of the soak's time.
static const double longest_load = 2e-3, load_share = 0.1;

_Static_assert((int)BATCH <= (int)MEASURE_BATCH, "every launch of a batch may need a slot");

// The choices drawn for a launch.
struct soak_launch {
    size_t problem;
    unsigned set, copy;
    bool placed, judged, loaded;
};

struct soak {
    struct workload *w;
    struct pipeline *pipeline;
    unsigned most, launched, batches;
    double budget;
    size_t problems[WORKLOAD_PROBLEMS_MAX], problem_count;
    double seconds[WORKLOAD_PROBLEMS_MAX]; // of one launch on each problem in the last pass; 0: not in that pass
    struct soak_launch first, batch[BATCH];
};

static unsigned draw_set(const struct device_problem *p)
{
    if (p->mixed.known && entropy_unit() < mixed_share) return SET_MIXED + (unsigned)entropy_below(p->mixed.known);
    return (unsigned)entropy_below(p->buffers.sets);
}

// `before`: the previous launch of the batch, or NULL. A launch at drawn addresses is often followed by one that
// differs from it only in a piece of one buffer, because a kernel may remember only its last launch.
static struct soak_launch draw(const struct soak *s, const struct soak_launch *before)
{
    struct soak_launch l = {.problem = s->problems[entropy_below(s->problem_count)]};
    const bool again = before && before->placed && entropy_unit() < again_share;
    if (again) l.problem = before->problem;
    const struct device_problem *p = &s->w->problems[l.problem];
    l.placed = again || (s->w->placement && pipeline_moves(s->pipeline, l.problem) && entropy_unit() < placed_share);
    l.copy = l.placed ? 0 : (unsigned)entropy_below(p->buffers.sets);
    l.loaded = entropy_unit() < loaded_share;
    l.set = l.placed ? draw_set(p) : p->buffers.set[l.copy];
    if (again && p->mixed.known > (before->set & 1)) l.set = before->set ^ SET_MIXED;
    return l;
}

// The key for the contents of outputs and scratch before a launch. If the last launch at the same addresses worked on
// other data, its results may stay there, since they are wrong for this launch.
static uint64_t draw_key(const struct soak *s, const struct soak_launch *l)
{
    const struct placement *p = s->w->placement;
    bool other = l->placed && p->holds < p->problem_count &&
                 (p->holds != l->problem || (p->placed[l->problem].set[0] & 1) != (l->set & 1));
    return other && entropy_unit() < left_share ? CONTENT_LEFT : buffers_key(BUFFERS_LEAVE);
}

// One launch of the problem, drawn at random, determines the size of the load's blocks.
static int begin_load(struct soak *s, size_t problem, struct error *err)
{
    const struct pipeline_part *part = &s->pipeline->parts[problem];
    const struct pipeline_launch *l = &part->launch[entropy_below(part->count)];
    const unsigned *block = l->geometry.block;
    const struct support_launch beside = {block[0] * block[1] * block[2], l->info.registers,
                                          (uint32_t)(1e9 * fmin(longest_load, load_share * s->budget))};
    return support_load_begin(s->w->support, &beside, err);
}

// Whether a second launch may follow directly, without restoring anything.
static bool is_repeatable(const struct buffers *in)
{
    bool repeatable = true;
    for (size_t i = 0; i < in->count; i++) {
        const struct device_buffer *b = &in->list[i];
        repeatable &= b->direction != DIRECTION_INOUT && !b->restored && !b->seen.symbol && !b->seen.has_image &&
                      !(b->direction == DIRECTION_SCRATCH && b->filled);
    }
    return repeatable;
}

static int enqueue(struct soak *s, struct soak_launch *l, unsigned slot, bool last, struct error *err)
{
    struct workload *w = s->w;
    struct buffers *in = l->placed ? &w->placement->placed[l->problem] : &w->problems[l->problem].buffers;
    struct work work = pipeline_work(s->pipeline, l->problem);
    int64_t shift = in->shift[l->copy];
    uint64_t key = draw_key(s, l);
    int failed = l->placed ? placement_fill(w->placement, w, l->problem, l->set, err) : 0;
    if (failed) return failed;
    pipeline_place(s->pipeline, l->problem, in);
    failed = buffers_write_guards(in, (int)l->copy, buffers_key(0), err);
    if (failed && l->placed) w->placement->holds = w->placement->problem_count; // the data there has no guards
    if (!failed) failed = buffers_restore(in, &l->copy, 1, key, err);
    if (!failed) failed = mixed_data_restored(&w->problems[l->problem], in, l->copy, err);
    if (!failed) failed = work_begin(&work, shift, err);
    if (!failed && entropy_unit() < poisoned_share) failed = support_poison(w->support, (uint32_t)entropy_draw(), err);
    if (!failed && l->loaded) failed = begin_load(s, l->problem, err);
    if (!failed) failed = work.enqueue(work.self, shift, err);
    // A second launch shows whether the first one left the results of untimed stages intact.
    if (!failed && work.prepare && is_repeatable(in)) failed = work.enqueue(work.self, shift, err);
    if (!failed && l->loaded) failed = support_load_end(w->support, err);
    if (!failed && work.copy) failed = work.copy(work.self, shift, true, err);
    // Whether the launch is judged is decided only after it has been enqueued, and partly at random.
    l->judged = last || l->loaded || l->set >= SET_MIXED || entropy_unit() < judged_share;
    if (!failed && l->judged) failed = verify_launch(w, l->problem, in, l->copy, key, slot, err);
    pipeline_place(s->pipeline, l->problem, NULL);
    return failed;
}

// Describes how a launch differs from the first one.
static void describe(const struct soak *s, const struct soak_launch *l, char *to, size_t size)
{
    const struct soak_launch *f = &s->first;
    const struct {
        bool differs;
        const char *text;
    } differences[] = {
        {l->problem != f->problem, "another problem"},
        {l->set != f->set, l->set >= SET_MIXED ? "a part of one input changed" : "other data"},
        {l->placed && !f->placed, "drawn addresses"},
        {!l->placed && (f->placed || l->copy != f->copy), "other addresses"},
        {l->loaded && !f->loaded, "during other work on the device"},
    };
    int n = 0;
    for (size_t i = 0; i < sizeof differences / sizeof *differences; i++)
        if (differences[i].differs)
            n += snprintf(to + n, size - (size_t)n, "%s%s", n ? ", " : " (unlike the first: ", differences[i].text);
    snprintf(to + n, size - (size_t)n, n ? ")" : "");
}

// The verdict on a batch is that on its first launch that failed verification.
static void verdict(struct soak *s, unsigned before, unsigned count, enum trial_status *status, struct error *reason)
{
    for (unsigned i = 0; i < count; i++) {
        const struct soak_launch *l = &s->batch[i];
        char differences[192];
        if (!l->judged) continue;
        *status = verify_launched(s->w, l->problem, i, reason);
        if (*status == STATUS_OK) continue;
        describe(s, l, differences, sizeof differences);
        error_prefix(reason, "problem %s: in launch %u of %u in one loaded module%s", s->w->problems[l->problem].name,
                     before + i + 1, s->most, differences);
        return;
    }
}

// Runs a batch and waits: `most` launches, or fewer if they fill the time that is left, but at least one.
static int run_batch(struct soak *s, unsigned most, double left, enum trial_status *status, struct error *reason,
                     struct error *err)
{
    struct workload *w = s->w;
    unsigned before = s->launched, count = 0;
    double begin = clock_now();
    int failed = 0;
    if (w->placement) placement_draw(w->placement, w, s->batches++);
    for (bool last = false; !last && !failed; count++) {
        struct soak_launch *l = &s->batch[count];
        *l = draw(s, count ? l - 1 : NULL);
        if (!s->launched++) s->first = *l;
        left -= s->seconds[l->problem];
        last = count + 1 == most || left <= 0;
        failed = enqueue(s, l, count, last, err);
    }
    int ended = cuda_sync(w->cuda, failed == CUDA_CRASHED ? NULL : err);
    if (ended || failed) {
        error_prefix(err, "in launches %u to %u of %u in one loaded module%s", before + 1, s->launched, s->most,
                     w->placement ? ", some at other addresses" : "");
        return ended ? ended : failed;
    }
    measure_add_busy(w->measure, clock_now() - begin);
    verdict(s, before, count, status, reason);
    return 0;
}

int soak_run(struct workload *w, struct pipeline *pipeline, const struct soak_budget *budget, enum trial_status *status,
             struct error *reason, struct error *err)
{
    struct soak s = {.w = w, .pipeline = pipeline, .most = budget->most, .budget = budget->seconds};
    double begin = clock_now(), spent = 0;
    int failed = 0;
    *status = STATUS_OK;
    for (size_t k = 0; k < w->problem_count; k++)
        if (pipeline_does(pipeline, k)) s.problems[s.problem_count++] = k;
    for (size_t i = 0; i < s.problem_count && !failed; i++) {
        size_t k = s.problems[i];
        if (w->problems[k].ran[0]) failed = verify_time(w, k, &s.seconds[k], err);
    }
    while (s.problem_count && !failed && *status == STATUS_OK && s.launched < s.most) {
        double limit = budget->seconds * (s.launched < budget->least ? over_budget : 1);
        double fit = s.launched ? (limit - spent) / (spent / s.launched) : FIRST_BATCH; // from the launches so far
        if (fit < 1) break;
        unsigned count = fit < BATCH ? (unsigned)fit : BATCH, left = s.most - s.launched;
        failed = run_batch(&s, count < left ? count : left, limit - spent, status, reason, err);
        spent = clock_now() - begin;
    }
    if (failed != CUDA_MEMORY) return failed;
    fprintf(stderr, "a soak test was left out: %s\n", err->message); // this says nothing about the candidate
    return 0;
}
