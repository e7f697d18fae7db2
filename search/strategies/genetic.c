// A steady-state genetic algorithm (Whitley's GENITOR, 1989): tournament selection, uniform crossover, mutation to any
// other value; a child takes the place of the worst if it is better. Generations would make results wait for each
// other.
#include <math.h>
#include <string.h>

#include "search/strategies/population.h"

enum { OPTION_SIZE, OPTION_TOURNAMENT, OPTION_MUTATION, OPTION_COUNT };

static const struct strategy_option options[] = {
    [OPTION_SIZE] = {"size", 20, 4, 10000, true, "configurations in the population"},
    [OPTION_TOURNAMENT] = {"tournament", 3, 1, 100, true, "candidates of which the best becomes a parent"},
    [OPTION_MUTATION] = {"mutation", 1, 0, 64, false, "parameters changed in a child, on average"},
    [OPTION_COUNT] = {0},
};

struct genetic {
    struct population p;
    const double *options; // by OPTION_*
};

static void genetic_init(void *state, const struct space *space, const struct strategy_start *start)
{
    struct genetic *g = state;
    g->options = start->options;
    population_init(&g->p, space, start->seed, (size_t)g->options[OPTION_SIZE]);
}

static const uint16_t *select_parent(struct genetic *g)
{
    size_t best = random_below(&g->p.rng, g->p.size);
    for (int i = 1; i < (int)g->options[OPTION_TOURNAMENT]; i++) {
        size_t other = random_below(&g->p.rng, g->p.size);
        if (g->p.scores[other] < g->p.scores[best]) best = other;
    }
    return population_config(&g->p, best);
}

static bool genetic_ask(void *state, uint16_t *config)
{
    struct genetic *g = state;
    struct population *p = &g->p;
    if (p->filled < p->size) {
        if (!history_sample_new(&p->history, &p->rng, config)) return false;
        return population_propose(p, NO_PLACE, config);
    }
    const uint16_t *a = select_parent(g), *b = select_parent(g);
    for (size_t i = 0; i < p->width; i++) {
        size_t count = space_parameter(p->space, i)->count;
        config[i] = random_next(&p->rng) & 1 ? a[i] : b[i];
        if (random_unit(&p->rng) * (double)p->width < g->options[OPTION_MUTATION])
            config[i] = (uint16_t)random_below(&p->rng, count);
    }
    return population_propose(p, NO_PLACE, config);
}

static void genetic_tell(void *state, const struct observation *o)
{
    struct genetic *g = state;
    bool full = g->p.filled == g->p.size;
    double score;
    population_tell(&g->p, o, &score);
    size_t worst = population_worst(&g->p);
    if (full && score < g->p.scores[worst]) population_replace(&g->p, worst, o->config, score);
}

static void genetic_release(void *state)
{
    struct genetic *g = state;
    population_release(&g->p);
}

const struct strategy_class strategy_genetic = {
    .name = "genetic",
    .summary = "steady-state genetic algorithm",
    .options = options,
    .state_size = sizeof(struct genetic),
    .init = genetic_init,
    .ask = genetic_ask,
    .tell = genetic_tell,
    .release = genetic_release,
};
