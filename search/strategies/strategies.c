// The table of search strategies, and the instance that stands between the driver and a strategy (strategy.h): it drops
// repeated proposals and counts what is outstanding.
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/model/history.h"
#include "search/strategies/strategy.h"
#include "search/strategies/strategy_kit.h"
#include "tuner/base/memory.h"
#include "tuner/base/text.h"

// Every strategy, in the order in which they are listed: one line each.
// clang-format off
#define STRATEGIES(x) \
    x(default) \
    x(trees) \
    x(local_search) \
    x(multi_start) \
    x(annealing) \
    x(genetic) \
    x(differential) \
    x(particle_swarm) \
    x(latin_hypercube) \
    x(random) \
    x(exhaustive)
// clang-format on

#define DECLARE(name) extern const struct strategy_class strategy_##name;
STRATEGIES(DECLARE)

#define ENTRY(name) &strategy_##name,
const struct strategy_class *const strategy_classes[] = {STRATEGIES(ENTRY) NULL};

// How often in a row a strategy may propose known configurations before a random one is taken instead.
enum { MAX_REPEATS = 64 };

struct strategy {
    const struct strategy_class *class;
    const struct space *space;
    size_t criteria, turn;
    double *options; // values of the class's options
    void **states;   // one per criterion
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

// The names as a NULL-terminated list; the caller frees it.
static const char **list_names(void)
{
    size_t count = 0;
    while (strategy_classes[count]) count++;
    const char **names = memory_new(count + 1, sizeof *names);
    for (size_t i = 0; i < count; i++) names[i] = strategy_classes[i]->name;
    return names;
}

char *strategy_names(void)
{
    const char **names = list_names();
    char *text = text_join(names, ", ");
    free(names);
    return text;
}

const struct strategy_class *strategy_choose(const char *name, struct error *err)
{
    const struct strategy_class *class = strategy_find(name);
    if (class) return class;
    const char **names = list_names();
    char *text = text_unknown("strategy", name, names);
    error_set(err, "%s", text);
    free(text);
    free(names);
    return NULL;
}

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
        const struct strategy_start start = {.seed = options->seed + i,
                                             .budget = options->budget,
                                             .options = values,
                                             .prior_count = options->prior_count,
                                             .priors = options->priors};
        s->states[i] = memory_new(1, class->state_size ? class->state_size : 1);
        class->init(s->states[i], space, &start);
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
    free(s->options);
    free(s);
}

// Asks one criterion's state, and takes a random new configuration if it only proposes known ones.
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
        s->class->tell(s->states[i], &own);
    }
}

bool strategy_ranks(const struct strategy *s)
{
    return s->class->rank != NULL;
}

void strategy_rank(struct strategy *s, const uint16_t *const *configs, size_t count, double *promise)
{
    double *own = memory_new(count, sizeof *own);
    for (size_t i = 0; i < s->criteria; i++) {
        s->class->rank(s->states[i], configs, count, own);
        for (size_t k = 0; k < count; k++) promise[k] = i ? fmax(promise[k], own[k]) : own[k];
    }
    for (size_t k = 0; k < count; k++)
        if (history_find(&s->seen, configs[k]) < 0) promise[k] = INFINITY;
    free(own);
}

void strategy_forget(struct strategy *s, const uint16_t *config)
{
    history_forget(&s->seen, config);
    s->last_ask_failed = false;
    for (size_t i = 0; i < s->criteria; i++) s->class->forget(s->states[i], config);
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
