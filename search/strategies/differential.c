// Differential evolution (Storn and Price 1997, rand-to-best/1/bin) on value indices: a trial is a member moved towards
// the best and along the difference of two others, rounded and repaired; it takes the member's place if it is better.
// Differences of unordered parameters mean nothing, so their value is taken from one of the others.
#include <math.h>

#include "search/strategies/population.h"

enum { OPTION_SIZE = POPULATION_SIZE, OPTION_FACTOR, OPTION_CROSSOVER, OPTION_COUNT };

static const struct strategy_option options[] = {
    [OPTION_SIZE] = {"size", 15, 5, 10000, true, "configurations in the population"},
    [OPTION_FACTOR] = {"factor", 0.6, 0, 2, false, "weight of the differences"},
    [OPTION_CROSSOVER] = {"crossover", 0.7, 0, 1, false, "chance that a parameter comes from the mutant"},
    [OPTION_COUNT] = {0},
};

static bool differential_ask(struct strategy_state *s, uint16_t *config)
{
    struct population *p = s->own;
    bool found;
    if (population_fill(p, config, &found)) return found;
    size_t place = p->next++ % p->size;
    const uint16_t *own = population_config(p, place), *best = population_config(p, population_best(p));
    const uint16_t *a = population_config(p, random_below(&s->rng, p->size)),
                   *b = population_config(p, random_below(&s->rng, p->size));
    size_t forced = random_below(&s->rng, s->width);
    for (size_t i = 0; i < s->width; i++) {
        const struct parameter *parameter = space_parameter(s->space, i);
        config[i] = own[i];
        if (i != forced && random_unit(&s->rng) >= s->options[OPTION_CROSSOVER]) continue;
        if (parameter->kind == PARAMETER_STRING) {
            config[i] = random_next(&s->rng) & 1 ? a[i] : best[i];
            continue;
        }
        double f = s->options[OPTION_FACTOR],
               at = own[i] + f * (best[i] - own[i]) + f * (a[i] - b[i]) + random_unit(&s->rng) - 0.5;
        config[i] = (uint16_t)fmin(fmax(round(at), 0), (double)(parameter->count - 1));
    }
    return population_propose(p, (uint32_t)place, config);
}

static void differential_tell(struct strategy_state *s, size_t row)
{
    uint32_t place = population_tell(s->own, row);
    if (place != NO_PLACE) population_improve(s->own, place, row);
}

const struct strategy_class strategy_differential = {
    .name = "differential",
    .summary = "differential evolution",
    .options = options,
    .state_size = sizeof(struct population),
    .init = population_init,
    .ask = differential_ask,
    .tell = differential_tell,
};
