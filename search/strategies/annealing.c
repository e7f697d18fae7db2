// Simulated annealing (Kirkpatrick, Gelatt and Vecchi 1983) over the neighbourhood graph. Energies are logarithms of
// times, so that the temperature is a ratio; it falls geometrically over the budget. Steps to known configurations
// cost nothing and are taken at once.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/strategies/strategy_kit.h"

#include "tuner/base/memory.h"

enum { OPTION_HOT, OPTION_COLD, OPTION_LENGTH, OPTION_COUNT };

static const struct strategy_option options[] = {
    [OPTION_HOT] = {"hot", 0.5, 1e-6, 100, false, "first temperature, as a logarithm of the ratio of two times"},
    [OPTION_COLD] = {"cold", 0.005, 1e-9, 100, false, "last temperature, in the same unit"},
    [OPTION_LENGTH] = {"length", 0, 0, 1e9, true, "evaluations until it is cold; 0: the budget, or 200"},
    [OPTION_COUNT] = {0},
};

enum { FREE_STEPS = 200 };

struct annealing {
    const struct space *space;
    struct history history;
    struct random rng;
    const double *options; // by OPTION_*
    double length;         // evaluations until it is cold
    size_t width, told;
    uint16_t *neighbours;
    uint16_t current[SPACE_MAX_PARAMETERS];
    double energy;
    bool started;
};

static void annealing_init(void *state, const struct space *space, const struct strategy_start *start)
{
    struct annealing *a = state;
    a->options = start->options;
    a->length = a->options[OPTION_LENGTH];
    if (a->length == 0) a->length = start->budget ? (double)start->budget : 200;
    a->space = space;
    a->width = space_parameter_count(space);
    a->neighbours = memory_grow(NULL, (kit_neighbour_room(space) + 1) * a->width, sizeof *a->neighbours);
    history_init(&a->history, space);
    random_seed(&a->rng, start->seed);
}

// Metropolis' rule.
static void consider(struct annealing *a, const uint16_t *config, double score)
{
    double progress = fmin((double)a->told / a->length, 1);
    double temperature = a->options[OPTION_HOT] * pow(a->options[OPTION_COLD] / a->options[OPTION_HOT], progress),
           energy = log(score);
    if (a->started && !(energy <= a->energy || random_unit(&a->rng) < exp((a->energy - energy) / temperature))) return;
    if (!isfinite(energy)) return;
    memcpy(a->current, config, a->width * sizeof *config);
    a->energy = energy;
    a->started = true;
}

static bool annealing_ask(void *state, uint16_t *config)
{
    struct annealing *a = state;
    for (int step = 0; a->started && step < FREE_STEPS; step++) {
        size_t count = space_neighbours(a->space, a->current, false, a->neighbours, kit_neighbour_room(a->space));
        if (count == 0) break;
        memcpy(config, a->neighbours + random_below(&a->rng, count) * a->width, a->width * sizeof *config);
        int64_t row = history_find(&a->history, config);
        if (row < 0) {
            history_propose(&a->history, config);
            return true;
        }
        if (a->history.outcomes[row] != ROW_PENDING) consider(a, config, kit_score(&a->history, (size_t)row));
    }
    if (!history_sample_new(&a->history, &a->rng, config)) return false;
    history_propose(&a->history, config);
    return true;
}

static void annealing_tell(void *state, const struct observation *o)
{
    struct annealing *a = state;
    a->told++;
    consider(a, o->config, kit_score(&a->history, history_tell(&a->history, o)));
}

static void annealing_release(void *state)
{
    struct annealing *a = state;
    free(a->neighbours);
    history_release(&a->history);
}

const struct strategy_class strategy_annealing = {
    .name = "annealing",
    .summary = "simulated annealing",
    .options = options,
    .state_size = sizeof(struct annealing),
    .init = annealing_init,
    .ask = annealing_ask,
    .tell = annealing_tell,
    .release = annealing_release,
};
