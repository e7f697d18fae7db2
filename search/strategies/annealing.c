// Simulated annealing (Kirkpatrick, Gelatt and Vecchi 1983) over the neighbourhood graph. Energies are logarithms of
// times, so that the temperature is a ratio; it falls geometrically over the budget. Steps to known configurations
// cost nothing and are taken at once.
#include <math.h>
#include <string.h>

#include "search/strategies/strategy.h"

enum { OPTION_HOT, OPTION_COLD, OPTION_LENGTH, OPTION_COUNT };

static const struct strategy_option options[] = {
    [OPTION_HOT] = {"hot", 0.5, 1e-6, 100, false, "first temperature, as a logarithm of the ratio of two times"},
    [OPTION_COLD] = {"cold", 0.005, 1e-9, 100, false, "last temperature, in the same unit"},
    [OPTION_LENGTH] = {"length", 0, 0, 1e9, true, "evaluations until it is cold; 0: the budget, or 200"},
    [OPTION_COUNT] = {0},
};

enum { FREE_STEPS = 200 };

struct annealing {
    double length; // evaluations until it is cold
    uint16_t *neighbours;
    uint16_t current[SPACE_MAX_PARAMETERS];
    double energy;
    bool started;
};

static void annealing_init(struct strategy_state *s)
{
    struct annealing *a = s->own;
    a->length = s->options[OPTION_LENGTH];
    if (a->length == 0) a->length = s->budget ? (double)s->budget : 200;
    a->neighbours = arena_new(&s->memory, (space_neighbour_room(s->space) + 1) * s->width * sizeof *a->neighbours);
}

// Metropolis' rule.
static void consider(struct strategy_state *s, size_t row)
{
    struct annealing *a = s->own;
    double hot = s->options[OPTION_HOT], cold = s->options[OPTION_COLD];
    double temperature = hot * pow(cold / hot, fmin((double)s->history.reported / a->length, 1)),
           energy = log(history_score(&s->history, row));
    if (a->started && !(energy <= a->energy || random_unit(&s->rng) < exp((a->energy - energy) / temperature))) return;
    if (!isfinite(energy)) return;
    memcpy(a->current, history_config(&s->history, row), s->width * sizeof *a->current);
    a->energy = energy;
    a->started = true;
}

static bool annealing_ask(struct strategy_state *s, uint16_t *config)
{
    struct annealing *a = s->own;
    for (int step = 0; a->started && step < FREE_STEPS; step++) {
        size_t count = space_neighbours(s->space, a->current, a->neighbours, space_neighbour_room(s->space));
        if (count == 0) break;
        memcpy(config, a->neighbours + random_below(&s->rng, count) * s->width, s->width * sizeof *config);
        int64_t row = history_find(&s->history, config);
        if (row < 0) return true;
        if (s->history.outcomes[row] != ROW_PENDING) consider(s, (size_t)row);
    }
    return history_sample_new(&s->history, &s->rng, config);
}

const struct strategy_class strategy_annealing = {
    .name = "annealing",
    .summary = "simulated annealing",
    .options = options,
    .state_size = sizeof(struct annealing),
    .init = annealing_init,
    .ask = annealing_ask,
    .tell = consider,
};
