// Differential evolution (Storn and Price 1997, rand-to-best/1/bin) on value indices: a trial is a member moved towards
// the best and along the difference of two others, rounded and repaired; it takes the member's place if it is better.
// Differences of unordered parameters mean nothing, so their value is taken from one of the others.
#include <math.h>
#include <string.h>

#include "search/strategies/population.h"

enum { OPTION_SIZE, OPTION_FACTOR, OPTION_CROSSOVER, OPTION_COUNT };

static const struct strategy_option options[] = {
    [OPTION_SIZE] = {"size", 15, 5, 10000, true, "configurations in the population"},
    [OPTION_FACTOR] = {"factor", 0.6, 0, 2, false, "weight of the differences"},
    [OPTION_CROSSOVER] = {"crossover", 0.7, 0, 1, false, "chance that a parameter comes from the mutant"},
    [OPTION_COUNT] = {0},
};

struct differential {
    struct population p;
    const double *options; // by OPTION_*
};

static void differential_init(void *state, const struct space *space, const struct strategy_start *start)
{
    struct differential *d = state;
    d->options = start->options;
    population_init(&d->p, space, start->seed, (size_t)d->options[OPTION_SIZE]);
}

static bool differential_ask(void *state, uint16_t *config)
{
    struct differential *d = state;
    struct population *p = &d->p;
    if (p->filled < p->size) {
        if (!history_sample_new(&p->history, &p->rng, config)) return false;
        return population_propose(p, NO_PLACE, config);
    }
    size_t place = p->next++ % p->size;
    const uint16_t *own = population_config(p, place), *best = population_config(p, population_best(p));
    const uint16_t *a = population_config(p, random_below(&p->rng, p->size)),
                   *b = population_config(p, random_below(&p->rng, p->size));
    size_t forced = random_below(&p->rng, p->width);
    for (size_t i = 0; i < p->width; i++) {
        const struct parameter *parameter = space_parameter(p->space, i);
        config[i] = own[i];
        if (i != forced && random_unit(&p->rng) >= d->options[OPTION_CROSSOVER]) continue;
        if (parameter->kind == PARAMETER_STRING) {
            config[i] = random_next(&p->rng) & 1 ? a[i] : best[i];
            continue;
        }
        double f = d->options[OPTION_FACTOR],
               at = own[i] + f * (best[i] - own[i]) + f * (a[i] - b[i]) + random_unit(&p->rng) - 0.5;
        config[i] = (uint16_t)fmin(fmax(round(at), 0), (double)(parameter->count - 1));
    }
    return population_propose(p, (uint32_t)place, config);
}

static void differential_tell(void *state, const struct observation *o)
{
    struct differential *d = state;
    double score;
    uint32_t place = population_tell(&d->p, o, &score);
    if (place != NO_PLACE && score < d->p.scores[place]) population_replace(&d->p, place, o->config, score);
}

static void differential_release(void *state)
{
    struct differential *d = state;
    population_release(&d->p);
}

const struct strategy_class strategy_differential = {
    .name = "differential",
    .summary = "differential evolution",
    .options = options,
    .state_size = sizeof(struct differential),
    .init = differential_init,
    .ask = differential_ask,
    .tell = differential_tell,
    .release = differential_release,
};
