// A tree classifier that separates the best tenth from the rest. The extra-trees are grown on all results, with
// failures counted among the rest, and are regrown every few results. Candidates are neighbours of the best
// configurations, crossovers between the best, and random configurations. The candidate that is most likely to belong
// to the best tenth is proposed. This is the strongest published kind of strategy, kept as the yardstick for `default`.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/model/encoding.h"
#include "search/model/trees.h"
#include "search/strategies/strategy.h"
#include "tuner/base/memory.h"

static const double best_share = 0.1; // share of the results that counts as the best

// Random configurations at the start, number of trees, and number of results after which they are regrown.
enum { INITIAL = 15, TREES = 60, EVERY = 3 };

enum { PARENTS = 5, CROSSOVERS = 100, RANDOM = 400, MAX_NEIGHBOURS = 600, MAX_ROWS = 1000 };

struct trees_search {
    struct encoding encoding;
    struct trees *trees;
    size_t grown_at;                           // reported results
    size_t *ranked, ranked_count, ranked_room; // reported rows, the best first
    uint16_t *candidates;
    size_t candidate_room;
    float *point;
};

static void trees_init(struct strategy_state *s)
{
    struct trees_search *t = s->own;
    encoding_init(&t->encoding, s->space);
    t->trees = trees_new(t->encoding.count, TREES);
    t->candidate_room = MAX_NEIGHBOURS + CROSSOVERS + RANDOM;
    t->candidates = arena_new(&s->memory, t->candidate_room * s->width * sizeof *t->candidates);
    t->point = arena_new(&s->memory, (t->encoding.count + 1) * sizeof *t->point);
}

static void grow(struct strategy_state *s)
{
    struct trees_search *t = s->own;
    size_t best = (size_t)fmax(2, ceil(best_share * (double)t->ranked_count)), count = 0;
    size_t rows = t->ranked_count < MAX_ROWS ? t->ranked_count : MAX_ROWS, d = t->encoding.count;
    autofree float *points = memory_grow(NULL, rows * d, sizeof *points);
    autofree double *targets = memory_grow(NULL, rows, sizeof *targets);
    for (size_t i = 0; i < rows; i++, count++) {
        // Takes all of the best rows, and a random sample of the others.
        size_t row = t->ranked[i < MAX_ROWS / 2 || rows == t->ranked_count
                                   ? i
                                   : MAX_ROWS / 2 + random_below(&s->rng, t->ranked_count - MAX_ROWS / 2)];
        encoding_of(&t->encoding, history_config(&s->history, row), points + count * d);
        targets[count] = i < best && isfinite(history_score(&s->history, row));
    }
    trees_grow(t->trees, points, targets, count, &s->rng);
    t->grown_at = s->history.reported;
}

static size_t make_candidates(struct strategy_state *s)
{
    struct trees_search *t = s->own;
    size_t count = 0, parents = t->ranked_count < PARENTS ? t->ranked_count : PARENTS;
    for (size_t i = 0; i < parents && count < MAX_NEIGHBOURS; i++)
        count += space_neighbours(s->space, history_config(&s->history, t->ranked[i]), t->candidates + count * s->width,
                                  MAX_NEIGHBOURS - count);
    for (size_t i = 0; i < CROSSOVERS && parents > 1; i++) {
        const uint16_t *a = history_config(&s->history, t->ranked[random_below(&s->rng, parents)]);
        const uint16_t *b =
            history_config(&s->history, t->ranked[random_below(&s->rng, t->ranked_count < 20 ? t->ranked_count : 20)]);
        uint16_t *child = t->candidates + count * s->width;
        for (size_t p = 0; p < s->width; p++) child[p] = random_next(&s->rng) & 1 ? a[p] : b[p];
        if (space_is_valid(s->space, child)) count++;
    }
    for (size_t i = 0; i < RANDOM; i++) space_sample(s->space, &s->rng, t->candidates + count++ * s->width);
    return count;
}

static bool trees_ask(struct strategy_state *s, uint16_t *config)
{
    struct trees_search *t = s->own;
    double most = -1;
    if (s->history.reported >= INITIAL && s->history.best >= 0 && t->encoding.count > 0) {
        if (t->grown_at == 0 || s->history.reported >= t->grown_at + EVERY) grow(s);
        size_t count = make_candidates(s);
        for (size_t i = 0; i < count; i++) {
            const uint16_t *candidate = t->candidates + i * s->width;
            if (history_find(&s->history, candidate) >= 0) continue;
            encoding_of(&t->encoding, candidate, t->point);
            double chance = trees_mean(t->trees, t->point);
            if (chance <= most) continue;
            most = chance;
            memcpy(config, candidate, s->width * sizeof *config);
        }
    }
    return most >= 0 || history_sample_new(&s->history, &s->rng, config);
}

// Keeps the ranking sorted as results arrive.
static void trees_tell(struct strategy_state *s, size_t row)
{
    struct trees_search *t = s->own;
    double score = history_score(&s->history, row);
    size_t at = 0;
    while (at < t->ranked_count && t->ranked[at] != row) at++;
    if (at < t->ranked_count) // a correction
        memmove(t->ranked + at, t->ranked + at + 1, (--t->ranked_count - at) * sizeof *t->ranked);
    t->ranked = memory_room(t->ranked, &t->ranked_room, t->ranked_count + 1, sizeof *t->ranked);
    at = t->ranked_count++;
    for (; at > 0 && history_score(&s->history, t->ranked[at - 1]) > score; at--) t->ranked[at] = t->ranked[at - 1];
    t->ranked[at] = row;
}

static void trees_release(struct strategy_state *s)
{
    struct trees_search *t = s->own;
    encoding_release(&t->encoding);
    trees_free(t->trees);
    free(t->ranked);
}

const struct strategy_class strategy_trees = {
    .name = "trees",
    .summary = "tree classifier: the best tenth against the rest",
    .state_size = sizeof(struct trees_search),
    .init = trees_init,
    .ask = trees_ask,
    .tell = trees_tell,
    .release = trees_release,
};
