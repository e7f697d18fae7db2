// Greedy iterated local search: moves from a random configuration to a better neighbour as soon as one is found, and
// from a local optimum starts again after a few random changes (Lourenço, Martin and Stützle 2003). A local optimum
// that is worse than the last one is dropped; after some failed restarts the search begins at a new random
// configuration.
//
// Neighbours are proposed before the results of earlier ones are known, so that several may be outstanding; when the
// neighbourhood is used up and results are awaited, random configurations near the best one fill the gap.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/strategies/strategy_kit.h"

#include "tuner/base/memory.h"

enum { OPTION_CHANGES, OPTION_PATIENCE, OPTION_COUNT };

static const struct strategy_option options[] = {
    [OPTION_CHANGES] = {"changes", 3, 1, 64, true, "parameters changed to leave a local optimum"},
    [OPTION_PATIENCE] = {"patience", 12, 1, 1e6, true,
                         "local optima without gain before it starts from a new random configuration"},
    [OPTION_COUNT] = {0},
};

struct local_search {
    const struct space *space;
    struct history history;
    struct random rng;
    const double *options; // by OPTION_*
    size_t width;
    uint16_t *queue; // neighbours of `current` still to be proposed, from the end
    size_t queued;
    uint16_t current[SPACE_MAX_PARAMETERS], base[SPACE_MAX_PARAMETERS];
    double current_score, base_score;
    bool started; // `current` is set
    int without_gain;
};

static void local_search_init(void *state, const struct space *space, const struct strategy_start *start)
{
    struct local_search *l = state;
    l->options = start->options;
    l->space = space;
    l->width = space_parameter_count(space);
    history_init(&l->history, space);
    random_seed(&l->rng, start->seed);
    l->queue = memory_grow(NULL, (kit_neighbour_room(space) + 1) * l->width, sizeof *l->queue);
    l->current_score = l->base_score = INFINITY;
}

static void move_to(struct local_search *l, const uint16_t *config, double score)
{
    memcpy(l->current, config, l->width * sizeof *config);
    l->current_score = score;
    l->started = true;
    l->queued = space_neighbours(l->space, l->current, false, l->queue, kit_neighbour_room(l->space));
    kit_shuffle(&l->rng, l->queue, l->queued, l->width);
}

static bool take_queued(struct local_search *l, uint16_t *config)
{
    while (l->queued > 0) {
        l->queued--;
        memcpy(config, l->queue + l->queued * l->width, l->width * sizeof *config);
        if (history_find(&l->history, config) < 0) return true;
    }
    return false;
}

// A new configuration some changes away from `from`; false when none was found.
static bool kick(struct local_search *l, const uint16_t *from, uint16_t *config)
{
    for (int attempt = 0; attempt < 32; attempt++) {
        memcpy(config, from, l->width * sizeof *config);
        kit_perturb(l->space, &l->rng, config, (int)l->options[OPTION_CHANGES] + attempt / 8);
        if (history_find(&l->history, config) < 0) return true;
    }
    return false;
}

static bool propose(struct local_search *l, const uint16_t *config)
{
    history_propose(&l->history, config);
    return true;
}

static bool local_search_ask(void *state, uint16_t *config)
{
    struct local_search *l = state;
    if (l->started && take_queued(l, config)) return propose(l, config);
    if (l->started && l->history.pending == 0) {
        // A local optimum. Keep the better of this one and the last one.
        if (l->current_score < l->base_score) {
            memcpy(l->base, l->current, sizeof l->base);
            l->base_score = l->current_score;
            l->without_gain = 0;
        } else if (++l->without_gain >= (int)l->options[OPTION_PATIENCE]) {
            l->base_score = INFINITY;
            l->without_gain = 0;
        }
        l->started = false; // the search goes on from the next result
        l->current_score = INFINITY;
    }
    const uint16_t *from = isfinite(l->base_score) ? l->base
                           : l->history.best >= 0 && l->history.pending > 0
                               ? history_config(&l->history, (size_t)l->history.best)
                               : NULL;
    if (from && kick(l, from, config)) return propose(l, config);
    return history_sample_new(&l->history, &l->rng, config) && propose(l, config);
}

static void local_search_tell(void *state, const struct observation *o)
{
    struct local_search *l = state;
    size_t row = history_tell(&l->history, o);
    double score = kit_score(&l->history, row);
    if (score < l->current_score) move_to(l, o->config, score);
}

static void local_search_release(void *state)
{
    struct local_search *l = state;
    free(l->queue);
    history_release(&l->history);
}

const struct strategy_class strategy_local_search = {
    .name = "local",
    .summary = "greedy iterated local search",
    .options = options,
    .state_size = sizeof(struct local_search),
    .init = local_search_init,
    .ask = local_search_ask,
    .tell = local_search_tell,
    .release = local_search_release,
};
