// A fixed number of places, each with a configuration and its score: what the genetic algorithm and differential
// evolution have in common. The history's tag of a row is the place that it was proposed for, so that results may come
// in any order.
#ifndef SWEETSPOT_POPULATION_H
#define SWEETSPOT_POPULATION_H

#include "search/strategies/strategy_kit.h"

struct population {
    struct strategy_state *state; // borrowed
    size_t size, filled;          // places, and those that have a result
    uint16_t *configs;            // of the places
    double *scores;               // infinity for a failure
    size_t next;                  // the next place to propose for
};

enum { NO_PLACE = UINT32_MAX };

// The strategy's option that is the number of places.
enum { POPULATION_SIZE };

// `init` of a strategy whose own state is a population. Its memory is the state's.
void population_init(struct strategy_state *);
// Proposes a random configuration while places are empty; `*found` is false when none is left. False: all have been
// filled.
bool population_fill(struct population *, uint16_t *config, bool *found);
// Makes a proposal for a place out of `config` (which may be invalid or known: it is repaired and, if need be, moved).
// False when no configuration is left.
bool population_propose(struct population *, uint32_t place, uint16_t *config);
// Takes a result; fills empty places as results come. Returns the place that the proposal was made for, NO_PLACE if
// none or if the result has filled one.
uint32_t population_tell(struct population *, size_t row);
static inline uint16_t *population_config(const struct population *p, size_t place)
{
    return p->configs + place * p->state->width;
}
// Puts a row into a place if its score is better than that of the place.
void population_improve(struct population *, size_t place, size_t row);
size_t population_best(const struct population *);
size_t population_worst(const struct population *);

#endif
