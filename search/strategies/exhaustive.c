// Every valid configuration once, in the order of the space's numbering.
#include "search/model/history.h"
#include "search/strategies/strategy_kit.h"

struct exhaustive {
    const struct space *space;
    struct history known;
    uint64_t next;
};

static void exhaustive_init(void *state, const struct space *space, const struct strategy_start *start)
{
    struct exhaustive *e = state;
    (void)start; // neither a seed nor options
    e->space = space;
    history_init(&e->known, space);
}

static bool exhaustive_ask(void *state, uint16_t *config)
{
    struct exhaustive *e = state;
    while (e->next < space_size(e->space)) {
        space_get(e->space, e->next++, config);
        if (history_find(&e->known, config) < 0) return true;
    }
    return false;
}

static void exhaustive_tell(void *state, const struct observation *o)
{
    struct exhaustive *e = state;
    // Its own proposals are in order; only results from elsewhere must be remembered.
    if (space_index(e->space, o->config) >= (int64_t)e->next) history_tell(&e->known, o);
}

static void exhaustive_release(void *state)
{
    struct exhaustive *e = state;
    history_release(&e->known);
}

const struct strategy_class strategy_exhaustive = {
    .name = "exhaustive",
    .summary = "every configuration, in order",
    .state_size = sizeof(struct exhaustive),
    .init = exhaustive_init,
    .ask = exhaustive_ask,
    .tell = exhaustive_tell,
    .release = exhaustive_release,
};
