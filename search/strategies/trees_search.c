// A tree classifier that tells the best tenth from the rest: extra-trees grown on everything measured, failures among
// the rest, renewed every few results; proposed is the candidate most likely to belong to the best, out of neighbours
// of the best ones, crossovers between them, and random configurations. The strongest published kind of strategy, kept
// as the measure for `default`.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/model/encoding.h"
#include "search/model/trees.h"
#include "search/strategies/strategy_kit.h"
#include "tuner/base/memory.h"

enum { OPTION_INITIAL, OPTION_TREES, OPTION_EVERY, OPTION_SHARE, OPTION_COUNT };

static const struct strategy_option options[] = {
    [OPTION_INITIAL] = {"initial", 15, 2, 10000, true, "random configurations at the start"},
    [OPTION_TREES] = {"trees", 60, 1, 1000, true, "trees in the ensemble"},
    [OPTION_EVERY] = {"every", 3, 1, 1000, true, "results after which the trees are grown again"},
    [OPTION_SHARE] = {"share", 0.1, 0.001, 0.9, false, "share of the results that counts as the best"},
    [OPTION_COUNT] = {0},
};

enum { PARENTS = 5, CROSSOVERS = 100, RANDOM = 400, MAX_NEIGHBOURS = 600, MAX_ROWS = 1000 };

struct trees_search {
    const struct space *space;
    struct history history;
    struct random rng;
    struct encoding encoding;
    struct trees *trees;
    const double *options; // by OPTION_*
    size_t width, told, grown_at;
    size_t *ranked, ranked_count, ranked_room; // told rows, the best first
    uint16_t *candidates;
    size_t candidate_room;
    float *point;
};

static void trees_init(void *state, const struct space *space, const struct strategy_start *start)
{
    struct trees_search *t = state;
    t->options = start->options;
    t->space = space;
    t->width = space_parameter_count(space);
    history_init(&t->history, space);
    random_seed(&t->rng, start->seed);
    encoding_init(&t->encoding, space);
    t->trees = trees_new(t->encoding.count, (size_t)t->options[OPTION_TREES]);
    t->candidate_room = MAX_NEIGHBOURS + CROSSOVERS + RANDOM;
    t->candidates = memory_grow(NULL, t->candidate_room * t->width, sizeof *t->candidates);
    t->point = memory_grow(NULL, t->encoding.count, sizeof *t->point);
}

// Keeps the ranking sorted as results come.
static void rank(struct trees_search *t, size_t row)
{
    if (t->ranked_count == t->ranked_room) {
        t->ranked_room = t->ranked_room ? 2 * t->ranked_room : 64;
        t->ranked = memory_grow(t->ranked, t->ranked_room, sizeof *t->ranked);
    }
    size_t at = t->ranked_count++;
    double score = kit_score(&t->history, row);
    for (; at > 0 && kit_score(&t->history, t->ranked[at - 1]) > score; at--) t->ranked[at] = t->ranked[at - 1];
    t->ranked[at] = row;
}

static void grow(struct trees_search *t)
{
    size_t best = (size_t)fmax(2, ceil(t->options[OPTION_SHARE] * (double)t->ranked_count)), count = 0;
    size_t rows = t->ranked_count < MAX_ROWS ? t->ranked_count : MAX_ROWS, d = t->encoding.count;
    float *points = memory_grow(NULL, rows * d, sizeof *points);
    double *targets = memory_grow(NULL, rows, sizeof *targets);
    for (size_t i = 0; i < rows; i++, count++) {
        // The best all, of the others a random part of what is left.
        size_t row = t->ranked[i < MAX_ROWS / 2 || rows == t->ranked_count
                                   ? i
                                   : MAX_ROWS / 2 + random_below(&t->rng, t->ranked_count - MAX_ROWS / 2)];
        encoding_of(&t->encoding, history_config(&t->history, row), points + count * d);
        targets[count] = i < best && isfinite(kit_score(&t->history, row));
    }
    trees_grow(t->trees, points, targets, count, 1, &t->rng);
    t->grown_at = t->told;
    free(points);
    free(targets);
}

static size_t make_candidates(struct trees_search *t)
{
    size_t count = 0, parents = t->ranked_count < PARENTS ? t->ranked_count : PARENTS;
    for (size_t i = 0; i < parents && count < MAX_NEIGHBOURS; i++)
        count += space_neighbours(t->space, history_config(&t->history, t->ranked[i]), false,
                                  t->candidates + count * t->width, MAX_NEIGHBOURS - count);
    for (size_t i = 0; i < CROSSOVERS && parents > 1; i++) {
        const uint16_t *a = history_config(&t->history, t->ranked[random_below(&t->rng, parents)]);
        const uint16_t *b =
            history_config(&t->history, t->ranked[random_below(&t->rng, t->ranked_count < 20 ? t->ranked_count : 20)]);
        uint16_t *child = t->candidates + count * t->width;
        for (size_t p = 0; p < t->width; p++) child[p] = random_next(&t->rng) & 1 ? a[p] : b[p];
        if (space_is_valid(t->space, child)) count++;
    }
    for (size_t i = 0; i < RANDOM; i++) space_sample(t->space, &t->rng, t->candidates + count++ * t->width);
    return count;
}

static bool trees_ask(void *state, uint16_t *config)
{
    struct trees_search *t = state;
    double most = -1;
    if (t->told >= (size_t)t->options[OPTION_INITIAL] && t->history.best >= 0 && t->encoding.count > 0) {
        if (t->grown_at == 0 || t->told >= t->grown_at + (size_t)t->options[OPTION_EVERY]) grow(t);
        size_t count = make_candidates(t);
        for (size_t i = 0; i < count; i++) {
            const uint16_t *candidate = t->candidates + i * t->width;
            if (history_find(&t->history, candidate) >= 0) continue;
            encoding_of(&t->encoding, candidate, t->point);
            double chance = trees_mean(t->trees, t->point);
            if (chance <= most) continue;
            most = chance;
            memcpy(config, candidate, t->width * sizeof *config);
        }
    }
    if (most < 0 && !history_sample_new(&t->history, &t->rng, config)) return false;
    history_propose(&t->history, config);
    return true;
}

static void trees_tell(void *state, const struct observation *o)
{
    struct trees_search *t = state;
    int64_t known = history_find(&t->history, o->config);
    bool again = known >= 0 && t->history.outcomes[known] != ROW_PENDING;
    size_t row = history_tell(&t->history, o);
    if (again) {
        size_t at = 0;
        while (t->ranked[at] != row) at++;
        memmove(t->ranked + at, t->ranked + at + 1, (--t->ranked_count - at) * sizeof *t->ranked);
    }
    rank(t, row);
    t->told++;
}

static void trees_release(void *state)
{
    struct trees_search *t = state;
    history_release(&t->history);
    encoding_release(&t->encoding);
    trees_free(t->trees);
    free(t->ranked);
    free(t->candidates);
    free(t->point);
}

const struct strategy_class strategy_trees = {
    .name = "trees",
    .summary = "tree classifier: the best tenth against the rest",
    .options = options,
    .state_size = sizeof(struct trees_search),
    .init = trees_init,
    .ask = trees_ask,
    .tell = trees_tell,
    .release = trees_release,
};
