// A steady-state genetic algorithm (Whitley's GENITOR, 1989): tournament selection, uniform crossover, mutation to any
// other value; a child takes the place of the worst if it is better. Generations would make results wait for each
// other.
#include "search/strategies/population.h"

enum { OPTION_SIZE = POPULATION_SIZE, OPTION_TOURNAMENT, OPTION_MUTATION, OPTION_COUNT };

static const struct strategy_option options[] = {
    [OPTION_SIZE] = {"size", 20, 4, 10000, true, "configurations in the population"},
    [OPTION_TOURNAMENT] = {"tournament", 3, 1, 100, true, "candidates of which the best becomes a parent"},
    [OPTION_MUTATION] = {"mutation", 1, 0, 64, false, "parameters changed in a child, on average"},
    [OPTION_COUNT] = {0},
};

static const uint16_t *select_parent(struct strategy_state *s)
{
    struct population *p = s->own;
    size_t best = random_below(&s->rng, p->size);
    for (int i = 1; i < (int)s->options[OPTION_TOURNAMENT]; i++) {
        size_t other = random_below(&s->rng, p->size);
        if (p->scores[other] < p->scores[best]) best = other;
    }
    return population_config(p, best);
}

static bool genetic_ask(struct strategy_state *s, uint16_t *config)
{
    bool found;
    if (population_fill(s->own, config, &found)) return found;
    const uint16_t *a = select_parent(s), *b = select_parent(s);
    for (size_t i = 0; i < s->width; i++) {
        size_t count = space_parameter(s->space, i)->count;
        config[i] = random_next(&s->rng) & 1 ? a[i] : b[i];
        if (random_unit(&s->rng) * (double)s->width < s->options[OPTION_MUTATION])
            config[i] = (uint16_t)random_below(&s->rng, count);
    }
    return population_propose(s->own, NO_PLACE, config);
}

static void genetic_tell(struct strategy_state *s, size_t row)
{
    struct population *p = s->own;
    bool full = p->filled == p->size;
    population_tell(p, row);
    if (full) population_improve(p, population_worst(p), row);
}

const struct strategy_class strategy_genetic = {
    .name = "genetic",
    .summary = "steady-state genetic algorithm",
    .options = options,
    .state_size = sizeof(struct population),
    .init = population_init,
    .ask = genetic_ask,
    .tell = genetic_tell,
};
