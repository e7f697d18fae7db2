// A steady-state genetic algorithm: two parents by tournament, uniform crossover, mutation of one parameter on average, repair to a valid configuration; a child takes the place
// of the worst of the population if it is better (Whitley 1989). Steady state, because results come one by one and out of order.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/strategy_kit.h"

enum { KNOB_POPULATION, KNOB_TOURNAMENT, KNOB_MUTATION, KNOB_COUNT };
static const struct strategy_knob knobs[] = {
    { "population", 20, 4, 10000, "configurations kept" },
    { "tournament", 2, 1, 100, "of how many random ones the best becomes a parent" },
    { "mutation", 1, 0, 64, "parameters mutated on average" },
    { NULL, 0, 0, 0, NULL },
};

struct genetic {
    const struct space *space;
    struct history history;
    struct random rng;
    double knobs[KNOB_COUNT];
    size_t width, count, most;
    size_t *rows; // of the population
};

static int genetic_init(void *state, const struct space *space, const struct strategy_options *options, struct error *err)
{
    struct genetic *g = state;
    if (strategy_knobs(knobs, options->text, g->knobs, err) < 0) return -1;
    g->space = space;
    g->width = space_parameter_count(space);
    g->most = (size_t)g->knobs[KNOB_POPULATION];
    history_init(&g->history, space);
    random_seed(&g->rng, options->seed);
    g->rows = malloc(g->most * sizeof *g->rows);
    if (!g->rows) abort();
    return 0;
}

static const uint16_t *parent(struct genetic *g)
{
    size_t best = g->rows[random_below(&g->rng, g->count)];
    for (int i = 1; i < (int)g->knobs[KNOB_TOURNAMENT]; i++) {
        size_t other = g->rows[random_below(&g->rng, g->count)];
        if (kit_score(&g->history, other) < kit_score(&g->history, best)) best = other;
    }
    return history_config(&g->history, best);
}

static bool genetic_ask(void *state, uint16_t *config)
{
    struct genetic *g = state;
    for (int attempt = 0; attempt < 32 && g->count >= g->most / 2; attempt++) {
        const uint16_t *a = parent(g), *b = parent(g);
        for (size_t p = 0; p < g->width; p++) {
            config[p] = random_below(&g->rng, 2) ? a[p] : b[p];
            if (random_unit(&g->rng) < g->knobs[KNOB_MUTATION] / (double)g->width)
                config[p] = (uint16_t)random_below(&g->rng, space_parameter(g->space, p)->count);
        }
        space_repair(g->space, &g->rng, config);
        if (history_find(&g->history, config) >= 0) continue;
        history_propose(&g->history, config);
        return true;
    }
    if (!history_sample_new(&g->history, &g->rng, config)) return false;
    history_propose(&g->history, config);
    return true;
}

static void genetic_tell(void *state, const struct observation *o)
{
    struct genetic *g = state;
    size_t row = history_tell(&g->history, o), worst = 0;
    double score = kit_score(&g->history, row);
    if (!isfinite(score)) return; // failures have no children
    for (size_t i = 0; i < g->count; i++) {
        if (g->rows[i] == row) return; // told again
        if (kit_score(&g->history, g->rows[i]) > kit_score(&g->history, g->rows[worst])) worst = i;
    }
    if (g->count < g->most)
        g->rows[g->count++] = row;
    else if (score < kit_score(&g->history, g->rows[worst]))
        g->rows[worst] = row;
}

static void genetic_release(void *state)
{
    struct genetic *g = state;
    free(g->rows);
    history_release(&g->history);
}

const struct strategy_class strategy_genetic = {
    .name = "genetic",
    .summary = "steady-state genetic algorithm",
    .state_size = sizeof(struct genetic),
    .init = genetic_init,
    .ask = genetic_ask,
    .tell = genetic_tell,
    .release = genetic_release,
};
