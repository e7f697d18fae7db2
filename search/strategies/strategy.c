// The instance that stands between the driver and a strategy (strategy.h): it keeps the history, drops repeated
// proposals and counts what is outstanding.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/strategies/strategy.h"
#include "tuner/base/memory.h"
#include "tuner/base/text.h"

// How often in a row a strategy may propose known configurations before a random one is taken instead.
enum { MAX_REPEATS = 64 };

struct strategy {
    const struct strategy_class *class;
    const struct space *space;
    size_t criteria, turn;
    double *options;               // values of the class's options
    struct strategy_state *states; // one per criterion
    struct history seen;
    struct random rng;
    bool last_ask_failed;
};

size_t strategy_option_count(const struct strategy_class *class)
{
    size_t count = 0;
    while (class->options && class->options[count].name) count++;
    return count;
}

// The range of an option in words: "a whole number from 4 to 10000".
static char *strategy_option_range(const struct strategy_option *option)
{
    return text_format("%s from %g to %g", option->whole ? "a whole number" : "a number", option->low, option->high);
}

static int unknown_option(const struct strategy_class *class, const char *name, struct error *err)
{
    size_t count = strategy_option_count(class);
    if (!count) return error_set(err, "unknown option '%s': this strategy has no options", name);
    const char **names = memory_new(count + 1, sizeof *names);
    for (size_t i = 0; i < count; i++) names[i] = class->options[i].name;
    char *text = text_unknown("option", name, names);
    error_set(err, "%s", text);
    free(text);
    free(names);
    return -1;
}

// One "name=value"; takes nothing.
static int parse_option(const struct strategy_class *class, const char *text, double *values, bool *given,
                        struct error *err)
{
    size_t length = strcspn(text, "="), i = 0, count = strategy_option_count(class);
    char *name = text_format("%.*s", (int)length, text), *end;
    const char *value = text[length] ? text + length + 1 : "";
    while (i < count && strcmp(class->options[i].name, name)) i++;
    int status = i == count ? unknown_option(class, name, err) : 0;
    free(name);
    if (status) return status;
    const struct strategy_option *option = &class->options[i];
    if (given[i]) return error_set(err, "option '%s' is given twice", option->name);
    given[i] = true;
    errno = 0;
    values[i] = strtod(value, &end);
    bool number = end != value && !*end && !errno && isfinite(values[i]);
    if (number && values[i] >= option->low && values[i] <= option->high &&
        (!option->whole || values[i] == floor(values[i])))
        return 0;
    char *range = strategy_option_range(option);
    error_set(err, "option '%s' must be %s, not '%s'", option->name, range, value);
    free(range);
    return -1;
}

int strategy_parse_options(const struct strategy_class *class, const char *text, double *values, struct error *err)
{
    size_t count = strategy_option_count(class);
    double *own = memory_new(count, sizeof *own);
    bool *given = memory_new(count, sizeof *given);
    int status = 0;
    for (size_t i = 0; i < count; i++) own[i] = class->options[i].value;
    while (text && *text && !status) {
        size_t length = strcspn(text, ",");
        char *one = text_format("%.*s", (int)length, text);
        status = parse_option(class, one, own, given, err);
        free(one);
        text += length + (text[length] == ',');
    }
    if (values && !status) memcpy(values, own, count * sizeof *own);
    free(own);
    free(given);
    return status ? error_prefix(err, "strategy '%s'", class->name) : 0;
}

struct strategy *strategy_new(const struct strategy_class *class, const struct space *space,
                              const struct strategy_options *options, struct error *err)
{
    double *values = memory_new(strategy_option_count(class), sizeof *values);
    if (strategy_parse_options(class, options->text, values, err) < 0) {
        free(values);
        return NULL;
    }
    struct strategy *s = memory_new(1, sizeof *s);
    s->class = class;
    s->space = space;
    s->options = values;
    s->criteria = options->criteria ? options->criteria : 1;
    s->states = memory_new(s->criteria, sizeof *s->states);
    random_seed(&s->rng, options->seed ^ 0x5eed5eed5eed5eedu);
    history_init(&s->seen, space);
    for (size_t i = 0; i < s->criteria; i++) {
        struct strategy_state *state = &s->states[i];
        *state = (struct strategy_state){.space = space,
                                         .width = space_parameter_count(space),
                                         .options = values,
                                         .budget = options->budget,
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
    free(s->options);
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
    // A configuration of another version of the space may not exist in this one.
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
    double *own = memory_new(count, sizeof *own);
    for (size_t i = 0; i < s->criteria; i++) {
        s->class->rank(&s->states[i], configs, count, own);
        for (size_t k = 0; k < count; k++) acquisition[k] = i ? fmax(acquisition[k], own[k]) : own[k];
    }
    for (size_t k = 0; k < count; k++)
        if (history_find(&s->seen, configs[k]) < 0) acquisition[k] = INFINITY;
    free(own);
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
