// The instance that stands between the driver and a strategy (strategy.h): it keeps the history, drops repeated
// proposals and counts what is outstanding.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/strategies/strategy.h"
#include "tuner/base/memory.h"

// How many known configurations in a row a strategy may propose before a random one is taken instead.
enum { MAX_REPEATS = 64 };

struct strategy {
    const struct strategy_class *class;
    const struct space *space;
    size_t criteria, turn;
    struct strategy_state *states; // one per criterion
    struct history seen;
    struct random rng;
    bool last_ask_failed;
};

struct strategy *strategy_new(const struct strategy_class *class, const struct space *space,
                              const struct strategy_options *options)
{
    struct strategy *s = memory_new(1, sizeof *s);
    s->class = class;
    s->space = space;
    s->criteria = options->criteria ? options->criteria : 1;
    s->states = memory_new(s->criteria, sizeof *s->states);
    random_seed(&s->rng, options->seed ^ 0x5eed5eed5eed5eedu);
    history_init(&s->seen, space);
    for (size_t i = 0; i < s->criteria; i++) {
        struct strategy_state *state = &s->states[i];
        *state = (struct strategy_state){.space = space,
                                         .width = space_parameter_count(space),
                                         .prior_count = options->prior_count,
                                         .priors = options->priors};
        history_init(&state->history, space);
        random_seed(&state->rng, options->seed + i);
        state->own = arena_new(&state->memory, class->state_size ? class->state_size : 1);
        if (class->init) class->init(state);
    }
    return s;
}

void strategy_free(struct strategy *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->criteria; i++) {
        if (s->class->release) s->class->release(&s->states[i]);
        history_release(&s->states[i].history);
        arena_release(&s->states[i].memory);
    }
    history_release(&s->seen);
    free(s->states);
    free(s);
}

// Asks one criterion's state, and takes a random new configuration if it only proposes known ones.
static bool ask_one(struct strategy *s, struct strategy_state *state, uint16_t *config)
{
    bool fresh = false;
    for (int i = 0; i < MAX_REPEATS && !fresh; i++) {
        if (!s->class->ask(state, config)) return false;
        if (history_find(&state->history, config) < 0) history_propose(&state->history, config);
        fresh = history_find(&s->seen, config) < 0 && space_is_valid(s->space, config);
    }
    return fresh || history_sample_new(&s->seen, &s->rng, config);
}

bool strategy_ask(struct strategy *s, uint16_t *config)
{
    s->last_ask_failed = true;
    for (size_t i = 0; i < s->criteria && s->last_ask_failed; i++)
        s->last_ask_failed = !ask_one(s, &s->states[s->turn++ % s->criteria], config);
    if (!s->last_ask_failed) history_propose(&s->seen, config);
    return !s->last_ask_failed;
}

void strategy_tell(struct strategy *s, const struct observation *o)
{
    // A configuration from another version of the space may not exist in this one.
    if (!space_is_valid(s->space, o->config)) return;
    history_tell(&s->seen, o);
    s->last_ask_failed = false;
    for (size_t i = 0; i < s->criteria; i++) {
        struct observation own = *o;
        if (o->objectives) {
            own.objective = o->objectives[i];
            if (isnan(own.objective) && own.outcome <= OUTCOME_SLOW) own.outcome = OUTCOME_PRUNED;
        }
        size_t row = history_tell(&s->states[i].history, &own);
        if (s->class->tell) s->class->tell(&s->states[i], row);
    }
}

bool strategy_ranks(const struct strategy *s)
{
    return s->class->rank != NULL;
}

void strategy_rank(struct strategy *s, const uint16_t *const *configs, size_t count, double *acquisition)
{
    autofree double *own = memory_new(count, sizeof *own);
    for (size_t i = 0; i < s->criteria; i++) {
        s->class->rank(&s->states[i], configs, count, own);
        for (size_t k = 0; k < count; k++) acquisition[k] = i ? fmax(acquisition[k], own[k]) : own[k];
    }
    for (size_t k = 0; k < count; k++)
        if (history_find(&s->seen, configs[k]) < 0) acquisition[k] = INFINITY;
}

void strategy_forget(struct strategy *s, const uint16_t *config)
{
    history_forget(&s->seen, config);
    s->last_ask_failed = false;
    for (size_t i = 0; i < s->criteria; i++) history_forget(&s->states[i].history, config);
}

bool strategy_exhausted(const struct strategy *s)
{
    return s->last_ask_failed && s->seen.pending == 0;
}

bool strategy_seen(const struct strategy *s, const uint16_t *config)
{
    return history_find(&s->seen, config) >= 0;
}

void kit_perturb(struct strategy_state *s, uint16_t *config, int changes)
{
    size_t free_parameters[SPACE_MAX_PARAMETERS], count = 0;
    for (size_t i = 0; i < s->width; i++)
        if (space_parameter(s->space, i)->count > 1) free_parameters[count++] = i;
    for (int c = 0; c < changes && count > 0; c++) {
        size_t pick = random_below(&s->rng, count), i = free_parameters[pick];
        // Any value other than the current one.
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
