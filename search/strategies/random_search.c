// Uniform random search without repetition: the baseline of every other strategy.
#include "search/model/history.h"
#include "search/strategies/strategy_kit.h"

struct random_search {
    struct history history;
    struct random rng;
};

static void random_search_init(void *state, const struct space *space, const struct strategy_start *start)
{
    struct random_search *r = state;
    history_init(&r->history, space);
    random_seed(&r->rng, start->seed);
}

static bool random_search_ask(void *state, uint16_t *config)
{
    struct random_search *r = state;
    if (!history_sample_new(&r->history, &r->rng, config)) return false;
    history_propose(&r->history, config);
    return true;
}

static void random_search_tell(void *state, const struct observation *o)
{
    struct random_search *r = state;
    history_tell(&r->history, o);
}

static void random_search_release(void *state)
{
    struct random_search *r = state;
    history_release(&r->history);
}

const struct strategy_class strategy_random = {
    .name = "random",
    .summary = "uniform random configurations without repetition",
    .state_size = sizeof(struct random_search),
    .init = random_search_init,
    .ask = random_search_ask,
    .tell = random_search_tell,
    .release = random_search_release,
};
