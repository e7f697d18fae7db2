// See kernel_set.h.
#include "search/model/kernel_set.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/space/fn.h"
#include "tuner/base/memory.h"

enum { MOST_NODES = 2000000 };

struct set_search {
    const struct kernel_times *t;
    size_t candidates, problems; // the same as in t
    uint64_t *covers;            // by candidate: a bit per problem
    uint64_t all;                // the problems that must be covered
    double least[KERNEL_SET_MAX_PROBLEMS];
    size_t now[KERNEL_SET_MAX_CHOSEN], depth;
    size_t best[KERNEL_SET_MAX_CHOSEN], best_count;
    long nodes;
};

static double time_of(const struct set_search *s, size_t candidate, size_t problem)
{
    double t = s->t->times[candidate * s->problems + problem];
    return t > 0 ? t : INFINITY;
}

static void greedy(struct set_search *s)
{
    uint64_t left = s->all;
    s->best_count = 0;
    while (left && s->best_count < KERNEL_SET_MAX_CHOSEN) {
        size_t most = 0;
        for (size_t c = 1; c < s->candidates; c++)
            if (__builtin_popcountll(s->covers[c] & left) > __builtin_popcountll(s->covers[most] & left)) most = c;
        s->best[s->best_count++] = most;
        left &= ~s->covers[most];
    }
}

static void branch(struct set_search *s, uint64_t left)
{
    if (!left) {
        s->best_count = s->depth;
        memcpy(s->best, s->now, s->depth * sizeof *s->now);
        return;
    }
    if (s->depth + 1 >= s->best_count || ++s->nodes > MOST_NODES) return;
    size_t hardest = 0, fewest = SIZE_MAX;
    int widest = 0;
    for (size_t c = 0; c < s->candidates; c++) {
        int n = __builtin_popcountll(s->covers[c] & left);
        if (n > widest) widest = n;
    }
    assert(widest > 0); // each problem's fastest candidate covers it
    int needed = (__builtin_popcountll(left) + widest - 1) / widest;
    if (s->depth + (size_t)needed >= s->best_count) return;
    for (size_t p = 0; p < s->problems; p++) {
        size_t n = 0;
        if (!(left >> p & 1)) continue;
        for (size_t c = 0; c < s->candidates; c++) n += s->covers[c] >> p & 1;
        if (n < fewest) fewest = n, hardest = p;
    }
    for (size_t c = 0; c < s->candidates; c++) {
        if (!(s->covers[c] >> hardest & 1)) continue;
        s->now[s->depth++] = c;
        branch(s, left & ~s->covers[c]);
        s->depth--;
    }
}

// A smallest set does not need a candidate if another candidate covers all problems that this candidate covers, and
// either covers more problems or comes first.
static void drop_dominated(struct set_search *s)
{
    uint64_t *kept = s->covers;
    for (size_t a = 0; a < s->candidates; a++)
        for (size_t b = 0; b < s->candidates && kept[a]; b++)
            if (a != b && kept[b] && (kept[a] & ~kept[b]) == 0 && (kept[a] != kept[b] || b < a)) kept[a] = 0;
}

// The fastest member for a problem.
static size_t member_for(const struct set_search *s, const size_t *members, size_t count, size_t problem)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (time_of(s, members[i], problem) < time_of(s, members[best], problem)) best = i;
    return best;
}

static double total_regret(const struct set_search *s, const size_t *members, size_t count, bool *covered, double bound)
{
    double sum = 0;
    *covered = true;
    for (size_t p = 0; p < s->problems; p++) {
        if (!(s->all >> p & 1)) continue;
        double r = time_of(s, members[member_for(s, members, count, p)], p) / s->least[p];
        *covered &= r <= bound;
        sum += r;
    }
    return sum;
}

static void exchange(const struct set_search *s, size_t *members, size_t count, double bound)
{
    bool better = true, covered;
    double least = total_regret(s, members, count, &covered, bound);
    while (better) {
        better = false;
        for (size_t i = 0; i < count; i++)
            for (size_t c = 0; c < s->candidates; c++) {
                size_t before = members[i];
                members[i] = c;
                double sum = total_regret(s, members, count, &covered, bound);
                if (covered && sum < least - 1e-12)
                    least = sum, better = true;
                else
                    members[i] = before;
            }
    }
}

static void order_by_use(struct set_search *s, struct kernel_set *out)
{
    size_t uses[KERNEL_SET_MAX_CHOSEN] = {0};
    for (size_t p = 0; p < s->problems; p++)
        if (s->all >> p & 1) uses[member_for(s, out->chosen, out->count, p)]++;
    for (size_t i = 1; i < out->count; i++)
        for (size_t k = i; k > 0 && uses[k] > uses[k - 1]; k--) {
            memory_swap(uses[k], uses[k - 1]);
            memory_swap(out->chosen[k], out->chosen[k - 1]);
        }
}

int kernel_set_select(const struct kernel_times *t, const size_t *kernels, size_t count, size_t problem)
{
    const int64_t *here = t->sizes + problem * t->size_count;
    struct fn_selection selection = fn_selection_begin();
    for (size_t k = 0; k < count; k++) {
        const double *own = t->times + kernels[k] * t->problems,
                     *relative = t->relative_times ? t->relative_times + kernels[k] * t->problems : NULL;
        if (!(own[problem] > 0)) continue;
        for (size_t q = 0; q < t->problems; q++)
            if (!t->holdout[q] && own[q] > 0)
                fn_selection_add(&selection, here, t->sizes + q * t->size_count, (int)t->size_count, own[q],
                                 relative ? relative[problem] : 1, relative ? relative[q] : 1);
        fn_selection_take(&selection, (int)k);
    }
    return selection.kernel;
}

static void assign(const struct set_search *s, struct kernel_set *out)
{
    const bool *holdout = s->t->holdout;
    out->worst = 0;
    out->worst_holdout = NAN;
    for (size_t p = 0; p < s->problems; p++)
        if (!holdout[p]) out->kernel[p] = member_for(s, out->chosen, out->count, p);
    for (size_t p = 0; p < s->problems; p++) {
        int selected = holdout[p] ? kernel_set_select(s->t, out->chosen, out->count, p) : -1;
        if (selected >= 0) out->kernel[p] = (size_t)selected;
        out->best[p] = s->least[p];
        out->regret[p] = time_of(s, out->chosen[out->kernel[p]], p) / s->least[p] - 1;
        if (holdout[p])
            out->worst_holdout = fmax(out->worst_holdout, out->regret[p]); // fmax drops a NaN
        else
            out->worst = fmax(out->worst, out->regret[p]);
    }
}

int kernel_set_find(const struct kernel_times *t, double regret, struct kernel_set *out)
{
    const size_t candidates = t->candidates, problems = t->problems;
    const bool *holdout = t->holdout;
    struct set_search s = {.t = t, .candidates = candidates, .problems = problems};
    const double bound = 1 + regret + 1e-12;
    *out = (struct kernel_set){0};
    for (size_t p = 0; p < problems; p++) {
        s.least[p] = INFINITY;
        for (size_t c = 0; c < candidates; c++) s.least[p] = fmin(s.least[p], time_of(&s, c, p));
        if (!isfinite(s.least[p])) return -1;
        if (!holdout[p]) s.all |= 1ull << p;
    }
    s.covers = memory_new(candidates, sizeof *s.covers);
    for (size_t c = 0; c < candidates; c++)
        for (size_t p = 0; p < problems; p++)
            if (!holdout[p] && time_of(&s, c, p) <= s.least[p] * bound) s.covers[c] |= 1ull << p;
    drop_dominated(&s);
    greedy(&s);
    branch(&s, s.all);
    free(s.covers);
    out->exact = s.nodes <= MOST_NODES;
    out->count = s.best_count;
    memcpy(out->chosen, s.best, s.best_count * sizeof *s.best);
    exchange(&s, out->chosen, out->count, bound);
    order_by_use(&s, out);
    assign(&s, out);
    return 0;
}
