// Greedy iterated local search (Lourenço, Martin and Stützle 2003). It moves from a random configuration to a better
// neighbour as soon as one is found. From a local optimum it restarts after a few random changes. A local optimum that
// is worse than the last one is dropped; after some failed restarts the search begins at a new random configuration.
//
// Neighbours are proposed before the results of earlier ones are known, so that several may be outstanding. While the
// neighbourhood is used up and results are awaited, random configurations near the best one fill the gap.
#include <math.h>
#include <string.h>

#include "search/strategies/strategy.h"

enum {
    CHANGES = 3,   // parameters changed to leave a local optimum
    PATIENCE = 12, // local optima without a gain before the search starts from a new random configuration
};

struct local_search {
    uint16_t *queue; // neighbours of `current` still to be proposed, taken from the end
    size_t queued;
    uint16_t current[SPACE_MAX_PARAMETERS], base[SPACE_MAX_PARAMETERS];
    double current_score, base_score;
    bool started; // `current` is set
    int without_gain;
};

static void local_search_init(struct strategy_state *s)
{
    struct local_search *l = s->own;
    l->queue = arena_new(&s->memory, (space_neighbour_room(s->space) + 1) * s->width * sizeof *l->queue);
    l->current_score = l->base_score = INFINITY;
}

// Shuffles the queue (Fisher and Yates).
static void shuffle(struct strategy_state *s)
{
    struct local_search *l = s->own;
    uint16_t swap[SPACE_MAX_PARAMETERS];
    size_t size = s->width * sizeof *swap;
    for (size_t i = l->queued; i > 1; i--) {
        size_t j = random_below(&s->rng, i);
        if (j == i - 1) continue;
        memcpy(swap, l->queue + j * s->width, size);
        memcpy(l->queue + j * s->width, l->queue + (i - 1) * s->width, size);
        memcpy(l->queue + (i - 1) * s->width, swap, size);
    }
}

static bool take_queued(struct strategy_state *s, uint16_t *config)
{
    struct local_search *l = s->own;
    while (l->queued > 0) {
        l->queued--;
        memcpy(config, l->queue + l->queued * s->width, s->width * sizeof *config);
        if (history_find(&s->history, config) < 0) return true;
    }
    return false;
}

// Finds a new configuration some changes away from `from`; false if none was found.
static bool kick(struct strategy_state *s, const uint16_t *from, uint16_t *config)
{
    for (int attempt = 0; attempt < 32; attempt++) {
        memcpy(config, from, s->width * sizeof *config);
        kit_perturb(s, config, CHANGES + attempt / 8);
        if (history_find(&s->history, config) < 0) return true;
    }
    return false;
}

static bool local_search_ask(struct strategy_state *s, uint16_t *config)
{
    struct local_search *l = s->own;
    if (l->started && take_queued(s, config)) return true;
    if (l->started && s->history.pending == 0) {
        // A local optimum. Keep the better of this and the previous one.
        if (l->current_score < l->base_score) {
            memcpy(l->base, l->current, sizeof l->base);
            l->base_score = l->current_score;
            l->without_gain = 0;
        } else if (++l->without_gain >= PATIENCE) {
            l->base_score = INFINITY;
            l->without_gain = 0;
        }
        l->started = false; // the search continues from the next result
        l->current_score = INFINITY;
    }
    const uint16_t *from = isfinite(l->base_score) ? l->base
                           : s->history.best >= 0 && s->history.pending > 0
                               ? history_config(&s->history, (size_t)s->history.best)
                               : NULL;
    return (from && kick(s, from, config)) || history_sample_new(&s->history, &s->rng, config);
}

static void local_search_tell(struct strategy_state *s, size_t row)
{
    struct local_search *l = s->own;
    double score = history_score(&s->history, row);
    if (score >= l->current_score) return;
    memcpy(l->current, history_config(&s->history, row), s->width * sizeof *l->current);
    l->current_score = score;
    l->started = true;
    l->queued = space_neighbours(s->space, l->current, l->queue, space_neighbour_room(s->space));
    shuffle(s);
}

const struct strategy_class strategy_local_search = {
    .name = "local",
    .summary = "greedy iterated local search",
    .state_size = sizeof(struct local_search),
    .init = local_search_init,
    .ask = local_search_ask,
    .tell = local_search_tell,
};
