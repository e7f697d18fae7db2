// Differential evolution (Storn and Price 1997), best/1/bin on value indices: a member is challenged by one that takes some parameters from the best plus a scaled difference of two others,
// rounded and repaired, and is replaced if it loses.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/strategy_kit.h"

enum { KNOB_POPULATION, KNOB_SCALE, KNOB_CROSSOVER, KNOB_COUNT };
static const struct strategy_knob knobs[] = {
    { "population", 20, 4, 10000, "members" },
    { "scale", 0.8, 0, 2, "factor of the difference" },
    { "crossover", 0.7, 0, 1, "share of parameters taken from the challenger" },
    { NULL, 0, 0, 0, NULL },
};

struct differential {
    const struct space *space;
    struct history history;
    struct random rng;
    double knobs[KNOB_COUNT];
    size_t width, count, most, next;
    size_t *rows;            // of the members
    struct kit_owners target; // the member that a proposal challenges
};

static int differential_init(void *state, const struct space *space, const struct strategy_options *options, struct error *err)
{
    struct differential *d = state;
    if (strategy_knobs(knobs, options->text, d->knobs, err) < 0) return -1;
    d->space = space;
    d->width = space_parameter_count(space);
    d->most = (size_t)d->knobs[KNOB_POPULATION];
    history_init(&d->history, space);
    random_seed(&d->rng, options->seed);
    d->rows = malloc(d->most * sizeof *d->rows);
    if (!d->rows) abort();
    return 0;
}

static const uint16_t *member(const struct differential *d, size_t i)
{
    return history_config(&d->history, d->rows[i]);
}

static void challenge(struct differential *d, size_t target, uint16_t *config)
{
    size_t best = 0;
    for (size_t i = 1; i < d->count; i++)
        if (kit_score(&d->history, d->rows[i]) < kit_score(&d->history, d->rows[best])) best = i;
    const uint16_t *a = member(d, best), *b = member(d, random_below(&d->rng, d->count)), *c = member(d, random_below(&d->rng, d->count));
    size_t always = random_below(&d->rng, d->width);
    for (size_t p = 0; p < d->width; p++) {
        config[p] = member(d, target)[p];
        if (p != always && random_unit(&d->rng) >= d->knobs[KNOB_CROSSOVER]) continue;
        size_t count = space_parameter(d->space, p)->count;
        double at = (double)a[p] + d->knobs[KNOB_SCALE] * ((double)b[p] - (double)c[p]);
        // Small differences of few values round to nothing: half a step of noise keeps them alive.
        at = floor(at + random_unit(&d->rng));
        config[p] = (uint16_t)fmin(fmax(at, 0), (double)(count - 1));
    }
    space_repair(d->space, &d->rng, config);
}

static bool differential_ask(void *state, uint16_t *config)
{
    struct differential *d = state;
    for (int attempt = 0; attempt < 32 && d->count == d->most; attempt++) {
        size_t target = d->next++ % d->count;
        challenge(d, target, config);
        if (history_find(&d->history, config) >= 0) continue;
        kit_own(&d->target, history_propose(&d->history, config), (int)target);
        return true;
    }
    if (!history_sample_new(&d->history, &d->rng, config)) return false;
    history_propose(&d->history, config);
    return true;
}

static void differential_tell(void *state, const struct observation *o)
{
    struct differential *d = state;
    size_t row = history_tell(&d->history, o);
    double score = kit_score(&d->history, row);
    int target = kit_owner(&d->target, row);
    if (!isfinite(score)) return;
    if (target < 0 && d->count < d->most)
        d->rows[d->count++] = row;
    else if (target >= 0 && score < kit_score(&d->history, d->rows[target]))
        d->rows[target] = row;
}

static void differential_release(void *state)
{
    struct differential *d = state;
    free(d->rows);
    kit_owners_release(&d->target);
    history_release(&d->history);
}

const struct strategy_class strategy_differential = {
    .name = "differential",
    .summary = "differential evolution on value indices",
    .state_size = sizeof(struct differential),
    .init = differential_init,
    .ask = differential_ask,
    .tell = differential_tell,
    .release = differential_release,
};
