// A steady-state genetic algorithm (Whitley's GENITOR, 1989): tournament selection, uniform crossover, mutation to any
// other value; a child replaces the worst member if it is better. It works without generations, in which results would
// have to wait for each other.
#include <string.h>

#include "search/strategies/strategy.h"

enum { SIZE = 20, TOURNAMENT = 3, MUTATIONS = 1 }; // MUTATIONS: per child, on average

struct genetic {
    size_t count;      // size of the population, which fills as results arrive
    uint16_t *configs; // one after another
    double scores[SIZE];
};

static void genetic_init(struct strategy_state *s)
{
    struct genetic *g = s->own;
    g->configs = arena_new(&s->memory, SIZE * s->width * sizeof *g->configs);
}

static const uint16_t *select_parent(struct strategy_state *s)
{
    const struct genetic *g = s->own;
    size_t best = random_below(&s->rng, SIZE);
    for (int i = 1; i < TOURNAMENT; i++) {
        size_t other = random_below(&s->rng, SIZE);
        if (g->scores[other] < g->scores[best]) best = other;
    }
    return g->configs + best * s->width;
}

static bool genetic_ask(struct strategy_state *s, uint16_t *config)
{
    const struct genetic *g = s->own;
    if (g->count < SIZE) return history_sample_new(&s->history, &s->rng, config);
    const uint16_t *a = select_parent(s), *b = select_parent(s);
    for (size_t i = 0; i < s->width; i++) {
        config[i] = random_next(&s->rng) & 1 ? a[i] : b[i];
        if (random_unit(&s->rng) * (double)s->width < MUTATIONS)
            config[i] = (uint16_t)random_below(&s->rng, space_parameter(s->space, i)->count);
    }
    space_repair(s->space, &s->rng, config);
    return kit_make_new(s, config);
}

static void genetic_tell(struct strategy_state *s, size_t row)
{
    struct genetic *g = s->own;
    double score = history_score(&s->history, row);
    size_t place = g->count;
    if (g->count == SIZE) {
        place = 0;
        for (size_t i = 1; i < SIZE; i++)
            if (g->scores[i] > g->scores[place]) place = i;
        if (score >= g->scores[place]) return;
    } else {
        g->count++;
    }
    memcpy(g->configs + place * s->width, history_config(&s->history, row), s->width * sizeof *g->configs);
    g->scores[place] = score;
}

const struct strategy_class strategy_genetic = {
    .name = "genetic",
    .summary = "steady-state genetic algorithm",
    .state_size = sizeof(struct genetic),
    .init = genetic_init,
    .ask = genetic_ask,
    .tell = genetic_tell,
};
