// Proposes every valid configuration once, in the order of the space's numbering.
#include "search/strategies/strategy.h"

struct exhaustive {
    uint64_t next;
};

static bool exhaustive_ask(struct strategy_state *s, uint16_t *config)
{
    struct exhaustive *e = s->own;
    while (e->next < space_size(s->space)) {
        space_get(s->space, e->next++, config);
        if (history_find(&s->history, config) < 0) return true;
    }
    return false;
}

const struct strategy_class strategy_exhaustive = {
    .name = "exhaustive",
    .summary = "every configuration, in order",
    .state_size = sizeof(struct exhaustive),
    .ask = exhaustive_ask,
};
