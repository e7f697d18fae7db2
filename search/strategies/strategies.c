// The table of search strategies (strategy.h).
#include <stdlib.h>
#include <string.h>

#include "search/strategies/strategy.h"
#include "tuner/base/memory.h"
#include "tuner/base/text.h"

// Every strategy, in the order in which they are listed: one line each.
// clang-format off
#define STRATEGIES(x) \
    x(default) \
    x(trees) \
    x(local_search) \
    x(genetic) \
    x(random) \
    x(exhaustive)
// clang-format on

#define DECLARE(name) extern const struct strategy_class strategy_##name;
STRATEGIES(DECLARE)

#define ENTRY(name) &strategy_##name,
const struct strategy_class *const strategy_classes[] = {STRATEGIES(ENTRY) NULL};

// Names of strategies that were removed because similar ones find better results in less time.
static const struct {
    const char *name, *instead;
} removed[] = {{"multi_start", "local"},
               {"latin_hypercube", "random"},
               {"annealing", "local"},
               {"differential", "genetic"},
               {"particle_swarm", "genetic"}};

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
    autofree const char **names = list_names();
    return text_join(names, ", ");
}

const struct strategy_class *strategy_choose(const char *name, struct error *err)
{
    for (size_t i = 0; strategy_classes[i]; i++)
        if (!strcmp(strategy_classes[i]->name, name)) return strategy_classes[i];
    for (size_t i = 0; i < sizeof removed / sizeof *removed; i++) {
        if (strcmp(removed[i].name, name)) continue;
        error_set(err, "strategy '%s' was removed; use '%s'", name, removed[i].instead);
        return NULL;
    }
    autofree const char **names = list_names();
    autofree char *text = text_unknown("strategy", name, names);
    error_set(err, "%s", text);
    return NULL;
}
