// See strategy_kit.h.
#include "search/strategies/strategy_kit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"

size_t kit_neighbour_room(const struct space *space)
{
    size_t room = 0;
    for (size_t i = 0; i < space_parameter_count(space); i++) room += space_parameter(space, i)->count - 1;
    return room;
}

void kit_shuffle(struct random *rng, uint16_t *configs, size_t count, size_t width)
{
    uint16_t swap[SPACE_MAX_PARAMETERS];
    size_t size = width * sizeof *configs;
    for (size_t i = count; i > 1; i--) {
        size_t j = random_below(rng, i);
        if (j == i - 1) continue;
        memcpy(swap, configs + j * width, size);
        memcpy(configs + j * width, configs + (i - 1) * width, size);
        memcpy(configs + (i - 1) * width, swap, size);
    }
}

void kit_perturb(const struct space *space, struct random *rng, uint16_t *config, int changes)
{
    size_t free_parameters[SPACE_MAX_PARAMETERS], count = 0;
    for (size_t i = 0; i < space_parameter_count(space); i++)
        if (space_parameter(space, i)->count > 1) free_parameters[count++] = i;
    for (int c = 0; c < changes && count > 0; c++) {
        size_t pick = random_below(rng, count), i = free_parameters[pick];
        // Any value but the present one.
        uint16_t value = (uint16_t)random_below(rng, space_parameter(space, i)->count - 1);
        config[i] = (uint16_t)(value + (value >= config[i]));
        free_parameters[pick] = free_parameters[--count];
    }
    space_repair(space, rng, config);
}

bool kit_propose(struct history *h, struct random *rng, uint16_t *config)
{
    uint16_t near[SPACE_MAX_PARAMETERS];
    size_t size = h->width * sizeof *config;
    bool found = history_find(h, config) < 0;
    for (int attempt = 0; attempt < 24 && !found; attempt++) {
        memcpy(near, config, size);
        kit_perturb(h->space, rng, near, 1 + attempt / 8);
        found = history_find(h, near) < 0;
        if (found) memcpy(config, near, size);
    }
    if (!found && !history_sample_new(h, rng, config)) return false;
    history_propose(h, config);
    return true;
}

double kit_score(const struct history *h, size_t row)
{
    return h->outcomes[row] == OUTCOME_OK || h->outcomes[row] == OUTCOME_SLOW ? h->objectives[row] : INFINITY;
}

void kit_own(struct kit_owners *o, size_t row, int owner)
{
    if (row >= o->room) {
        size_t room = 2 * row + 64;
        o->list = memory_grow(o->list, room, sizeof *o->list);
        memset(o->list + o->room, 0, (room - o->room) * sizeof *o->list);
        o->room = room;
    }
    o->list[row] = owner + 1;
}

int kit_owner(const struct kit_owners *o, size_t row)
{
    return row < o->room ? o->list[row] - 1 : -1;
}

void kit_owners_release(struct kit_owners *o)
{
    free(o->list);
}
