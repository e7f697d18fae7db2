// See population.h.
#include "search/strategies/population.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"

void population_init(struct population *p, const struct space *space, uint64_t seed, size_t size)
{
    p->space = space;
    p->width = space_parameter_count(space);
    p->size = size;
    p->configs = memory_grow(NULL, size * p->width, sizeof *p->configs);
    p->scores = memory_grow(NULL, size, sizeof *p->scores);
    history_init(&p->history, space);
    random_seed(&p->rng, seed);
}

void population_release(struct population *p)
{
    free(p->configs);
    free(p->scores);
    free(p->place_of);
    history_release(&p->history);
}

static void set_place(struct population *p, size_t row, uint32_t place)
{
    size_t old = p->place_room;
    if (row >= old) {
        p->place_room = 2 * row + 64;
        p->place_of = memory_grow(p->place_of, p->place_room, sizeof *p->place_of);
        for (size_t i = old; i < p->place_room; i++) p->place_of[i] = NO_PLACE;
    }
    p->place_of[row] = place;
}

bool population_propose(struct population *p, uint32_t place, uint16_t *config)
{
    space_repair(p->space, &p->rng, config);
    if (!kit_propose(&p->history, &p->rng, config)) return false;
    set_place(p, p->history.count - 1, place);
    return true;
}

void population_replace(struct population *p, size_t place, const uint16_t *config, double score)
{
    memcpy(population_config(p, place), config, p->width * sizeof *config);
    p->scores[place] = score;
}

uint32_t population_tell(struct population *p, const struct observation *o, double *score)
{
    size_t row = history_tell(&p->history, o);
    uint32_t place = row < p->place_room ? p->place_of[row] : NO_PLACE;
    *score = kit_score(&p->history, row);
    if (p->filled == p->size) return place;
    population_replace(p, p->filled++, o->config, *score);
    return NO_PLACE;
}

size_t population_best(const struct population *p)
{
    size_t best = 0;
    for (size_t i = 1; i < p->filled; i++)
        if (p->scores[i] < p->scores[best]) best = i;
    return best;
}

size_t population_worst(const struct population *p)
{
    size_t worst = 0;
    for (size_t i = 1; i < p->filled; i++)
        if (p->scores[i] > p->scores[worst]) worst = i;
    return worst;
}
