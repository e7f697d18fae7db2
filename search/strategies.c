// The table of search strategies, and the instance that stands between the driver and a strategy (strategy.h): it drops
// repeated proposals and counts what is outstanding.
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/history.h"
#include "search/strategy.h"
#include "search/strategy_kit.h"
#include "tuner/base/memory.h"

extern const struct strategy_class strategy_default, strategy_trees, strategy_exhaustive, strategy_random,
    strategy_local_search, strategy_latin_hypercube, strategy_multi_start, strategy_annealing, strategy_genetic,
    strategy_differential, strategy_particle_swarm;

const struct strategy_class *const strategy_classes[] = {
    &strategy_default,         &strategy_trees,   &strategy_local_search, &strategy_multi_start,
    &strategy_annealing,       &strategy_genetic, &strategy_differential, &strategy_particle_swarm,
    &strategy_latin_hypercube, &strategy_random,  &strategy_exhaustive,   NULL,
};

// How often in a row a strategy may propose what is known before a random configuration is taken instead.
enum { MAX_REPEATS = 64 };

struct strategy {
    const struct strategy_class *class;
    const struct space *space;
    size_t criteria, turn;
    void **states; // one a criterion
    struct history seen;
    struct random rng;
    bool last_ask_failed;
};

const struct strategy_class *strategy_find(const char *name)
{
    for (size_t i = 0; strategy_classes[i]; i++)
        if (strcmp(strategy_classes[i]->name, name) == 0) return strategy_classes[i];
    return NULL;
}

const char *strategy_nearest(const char *name)
{
    struct symbols *names = symbols_new();
    for (size_t i = 0; strategy_classes[i]; i++) symbols_add(names, strategy_classes[i]->name, EXPR_INT, NULL);
    const char *nearest = symbols_nearest(names, name);
    const struct strategy_class *class = nearest ? strategy_find(nearest) : NULL;
    symbols_free(names);
    return class ? class->name : NULL;
}

int strategy_knobs(const struct strategy_knob *knobs, const char *text, double *values, struct error *err)
{
    for (size_t i = 0; knobs[i].name; i++) values[i] = knobs[i].value;
    while (text && *text) {
        size_t length = strcspn(text, "=,"), i = 0;
        while (knobs[i].name && !(strlen(knobs[i].name) == length && memcmp(knobs[i].name, text, length) == 0)) i++;
        if (!knobs[i].name) return error_set(err, "unknown option '%.*s' of the strategy", (int)length, text);
        if (text[length] != '=') return error_set(err, "option '%s' needs a value", knobs[i].name);
        const char *start = text + length + 1;
        char *end;
        errno = 0;
        double value = strtod(start, &end);
        if (end == start || (*end && *end != ',') || errno || !isfinite(value))
            return error_set(err, "option '%s': '%.*s' is no number", knobs[i].name, (int)strcspn(start, ","), start);
        if (value < knobs[i].low || value > knobs[i].high)
            return error_set(err, "option '%s' must be from %g to %g", knobs[i].name, knobs[i].low, knobs[i].high);
        values[i] = value;
        text = *end ? end + 1 : end;
    }
    return 0;
}

struct strategy *strategy_new(const struct strategy_class *class, const struct space *space,
                              const struct strategy_options *options, struct error *err)
{
    struct strategy *s = memory_new(1, sizeof *s);
    struct strategy_options own = *options;
    s->class = class;
    s->space = space;
    s->states = memory_new(options->criteria ? options->criteria : 1, sizeof *s->states);
    random_seed(&s->rng, options->seed ^ 0x5eed5eed5eed5eedu);
    history_init(&s->seen, space);
    while (s->criteria < (options->criteria ? options->criteria : 1)) {
        void *state = s->states[s->criteria] = memory_new(1, class->state_size ? class->state_size : 1);
        own.seed = options->seed + s->criteria;
        if (class->init(state, space, &own, err) < 0) {
            free(state);
            strategy_free(s);
            return NULL;
        }
        s->criteria++;
    }
    return s;
}

void strategy_free(struct strategy *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->criteria; i++) {
        if (s->class->release) s->class->release(s->states[i]);
        free(s->states[i]);
    }
    history_release(&s->seen);
    free(s->states);
    free(s);
}

// Asks one criterion's state, and takes anything new when it insists on what is known.
static bool ask_one(struct strategy *s, void *state, uint16_t *config)
{
    bool fresh = false;
    for (int i = 0; i < MAX_REPEATS && !fresh; i++) {
        if (!s->class->ask(state, config)) return false;
        fresh = history_find(&s->seen, config) < 0 && space_is_valid(s->space, config);
    }
    return fresh || history_sample_new(&s->seen, &s->rng, config);
}

bool strategy_ask(struct strategy *s, uint16_t *config)
{
    s->last_ask_failed = true;
    for (size_t i = 0; i < s->criteria && s->last_ask_failed; i++)
        s->last_ask_failed = !ask_one(s, s->states[s->turn++ % s->criteria], config);
    if (!s->last_ask_failed) history_propose(&s->seen, config);
    return !s->last_ask_failed;
}

void strategy_tell(struct strategy *s, const struct observation *o)
{
    // What another version of the space calls a configuration may not exist in this one.
    if (!space_is_valid(s->space, o->config)) return;
    history_tell(&s->seen, o);
    s->last_ask_failed = false;
    for (size_t i = 0; i < s->criteria; i++) {
        struct observation own = *o;
        if (o->objectives) {
            own.objective = o->objectives[i];
            if (isnan(own.objective) && own.outcome <= OUTCOME_SLOW) own.outcome = OUTCOME_PRUNED;
        }
        s->class->tell(s->states[i], &own);
    }
}

size_t strategy_outstanding(const struct strategy *s)
{
    return s->seen.pending;
}

bool strategy_exhausted(const struct strategy *s)
{
    return s->last_ask_failed && s->seen.pending == 0;
}

bool strategy_seen(const struct strategy *s, const uint16_t *config)
{
    return history_find(&s->seen, config) >= 0;
}
