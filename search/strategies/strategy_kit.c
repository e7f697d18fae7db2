// See strategy_kit.h.
#include "search/strategies/strategy_kit.h"

#include <string.h>

void kit_perturb(struct strategy_state *s, uint16_t *config, int changes)
{
    size_t free_parameters[SPACE_MAX_PARAMETERS], count = 0;
    for (size_t i = 0; i < s->width; i++)
        if (space_parameter(s->space, i)->count > 1) free_parameters[count++] = i;
    for (int c = 0; c < changes && count > 0; c++) {
        size_t pick = random_below(&s->rng, count), i = free_parameters[pick];
        // Any value but the present one.
        uint16_t value = (uint16_t)random_below(&s->rng, space_parameter(s->space, i)->count - 1);
        config[i] = (uint16_t)(value + (value >= config[i]));
        free_parameters[pick] = free_parameters[--count];
    }
    space_repair(s->space, &s->rng, config);
}

bool kit_make_new(struct strategy_state *s, uint16_t *config)
{
    uint16_t near[SPACE_MAX_PARAMETERS];
    size_t size = s->width * sizeof *config;
    if (history_find(&s->history, config) < 0) return true;
    for (int attempt = 0; attempt < 24; attempt++) {
        memcpy(near, config, size);
        kit_perturb(s, near, 1 + attempt / 8);
        if (history_find(&s->history, near) >= 0) continue;
        memcpy(config, near, size);
        return true;
    }
    return history_sample_new(&s->history, &s->rng, config);
}
