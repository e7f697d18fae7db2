// See population.h.
#include "search/strategies/population.h"

#include <math.h>
#include <string.h>

void population_init(struct strategy_state *s)
{
    struct population *p = s->own;
    p->state = s;
    p->size = (size_t)s->options[POPULATION_SIZE];
    p->configs = arena_new(&s->memory, p->size * s->width * sizeof *p->configs);
    p->scores = arena_new(&s->memory, p->size * sizeof *p->scores);
}

bool population_fill(struct population *p, uint16_t *config, bool *found)
{
    struct strategy_state *s = p->state;
    if (p->filled == p->size) return false;
    *found = history_sample_new(&s->history, &s->rng, config) && population_propose(p, NO_PLACE, config);
    return true;
}

bool population_propose(struct population *p, uint32_t place, uint16_t *config)
{
    struct strategy_state *s = p->state;
    space_repair(s->space, &s->rng, config);
    if (!kit_make_new(s, config)) return false;
    size_t row = history_propose(&s->history, config);
    s->history.tags[row] = place + 1; // 0: none
    return true;
}

static void put(struct population *p, size_t place, size_t row)
{
    const struct history *h = &p->state->history;
    memcpy(population_config(p, place), history_config(h, row), h->width * sizeof *p->configs);
    p->scores[place] = history_score(h, row);
}

void population_improve(struct population *p, size_t place, size_t row)
{
    if (history_score(&p->state->history, row) < p->scores[place]) put(p, place, row);
}

uint32_t population_tell(struct population *p, size_t row)
{
    if (p->filled == p->size) return p->state->history.tags[row] - 1;
    put(p, p->filled++, row);
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
