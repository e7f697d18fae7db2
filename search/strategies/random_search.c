// Uniform random search without repetition: the baseline for every other strategy.
#include "search/strategies/strategy.h"

static bool random_ask(struct strategy_state *s, uint16_t *config)
{
    return history_sample_new(&s->history, &s->rng, config);
}

const struct strategy_class strategy_random = {
    .name = "random",
    .summary = "uniform random configurations without repetition",
    .ask = random_ask,
};
