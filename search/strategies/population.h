// A fixed number of places, each with a configuration and its score: what the genetic algorithm, differential evolution
// and particle swarm have in common. A proposal records its place, so that results may come in any
// order.
#ifndef SWEETSPOT_POPULATION_H
#define SWEETSPOT_POPULATION_H

#include "search/strategies/strategy_kit.h"

struct population {
    struct history history;
    struct random rng;
    const struct space *space;
    size_t width, size, filled; // places that have a result
    uint16_t *configs;          // of the places
    double *scores;             // infinity for a failure
    uint32_t *place_of;         // a row of the history: the place it was proposed for
    size_t place_room;
    size_t next; // the next place to propose for
};

enum { NO_PLACE = UINT32_MAX };

void population_init(struct population *, const struct space *, uint64_t seed, size_t size);
void population_release(struct population *);
// Makes a proposal for a place out of `config` (which may be invalid or known: it is repaired and, if need be, moved).
// False when no configuration is left.
bool population_propose(struct population *, uint32_t place, uint16_t *config);
// Takes a result; fills empty places as results come. Returns the place that the proposal was made for, NO_PLACE if
// none, and the score.
uint32_t population_tell(struct population *, const struct observation *, double *score);
static inline uint16_t *population_config(const struct population *p, size_t place)
{
    return p->configs + place * p->width;
}
void population_replace(struct population *, size_t place, const uint16_t *config, double score);
size_t population_best(const struct population *);
size_t population_worst(const struct population *);

#endif
