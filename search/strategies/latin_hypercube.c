// Endless Latin hypercube sampling (McKay, Beckman and Conover 1979): rounds of `round` configurations in which
// every parameter's values are spread evenly, each stratum used once; then the next round. Constraints distort a round:
// an invalid combination is repaired to a valid one nearby.
#include <stdlib.h>
#include <string.h>

#include "search/strategies/strategy_kit.h"

#include "tuner/base/memory.h"

enum { OPTION_ROUND, OPTION_COUNT };
static const struct strategy_option options[] = {
    [OPTION_ROUND] = {"round", 32, 2, 10000, true, "configurations in a round"},
    [OPTION_COUNT] = {0},
};

struct latin_hypercube {
    const struct space *space;
    struct history history;
    struct random rng;
    const double *options; // by OPTION_*
    size_t width, round, next;
    size_t *strata; // round after round of a parameter's shuffled strata: [parameter][place]
};

static void latin_hypercube_init(void *state, const struct space *space, const struct strategy_start *start)
{
    struct latin_hypercube *l = state;
    l->options = start->options;
    l->space = space;
    l->width = space_parameter_count(space);
    l->round = l->next = (size_t)l->options[OPTION_ROUND];
    history_init(&l->history, space);
    random_seed(&l->rng, start->seed);
    l->strata = memory_grow(NULL, l->width * l->round, sizeof *l->strata);
}

static void begin_round(struct latin_hypercube *l)
{
    for (size_t p = 0; p < l->width; p++) {
        size_t *strata = l->strata + p * l->round;
        for (size_t i = 0; i < l->round; i++) strata[i] = i;
        for (size_t i = l->round; i > 1; i--) {
            size_t k = (size_t)random_below(&l->rng, i), kept = strata[i - 1];
            strata[i - 1] = strata[k];
            strata[k] = kept;
        }
    }
    l->next = 0;
}

static bool latin_hypercube_ask(void *state, uint16_t *config)
{
    struct latin_hypercube *l = state;
    if (l->next == l->round) begin_round(l);
    size_t place = l->next++;
    for (size_t p = 0; p < l->width; p++) {
        size_t count = space_parameter(l->space, p)->count;
        double at = ((double)l->strata[p * l->round + place] + random_unit(&l->rng)) / (double)l->round;
        size_t index = (size_t)(at * (double)count);
        config[p] = (uint16_t)(index < count ? index : count - 1);
    }
    space_repair(l->space, &l->rng, config);
    if (history_find(&l->history, config) >= 0 && !history_sample_new(&l->history, &l->rng, config)) return false;
    history_propose(&l->history, config);
    return true;
}

static void latin_hypercube_tell(void *state, const struct observation *o)
{
    struct latin_hypercube *l = state;
    history_tell(&l->history, o);
}

static void latin_hypercube_release(void *state)
{
    struct latin_hypercube *l = state;
    free(l->strata);
    history_release(&l->history);
}

const struct strategy_class strategy_latin_hypercube = {
    .name = "latin_hypercube",
    .summary = "evenly spread configurations, round after round",
    .options = options,
    .state_size = sizeof(struct latin_hypercube),
    .init = latin_hypercube_init,
    .ask = latin_hypercube_ask,
    .tell = latin_hypercube_tell,
    .release = latin_hypercube_release,
};
