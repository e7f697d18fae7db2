// What a user gets without asking: Bayesian optimisation that takes in everything it is told.
//
//   start       configurations far from each other (and from what is known already); results of earlier runs shorten it
//   model       a Gaussian process of the logarithm of the time over ordinal and nominal coordinates (surrogate.h). Failures are bad results,
//               which keeps the search out of where they are dense and lets it work along their edge
//   proposal    the configuration of the highest expected improvement; what is outstanding counts as measured at its expected value
//   choice      of the candidates that are compiled and wait for the GPU, the one of the highest expected improvement under a second model, which
//               also knows what the compiler says of each: registers, spills, shared memory, code size, occupancy
//   when the    model promises nothing any more: steps of two or three random changes from the best, and random ones in turn, to find what
//               it is blind to
//
// Measured on recorded spaces with 60 seeds each (BENCHMARKS.md). The nominal coordinates, the Matérn 3/2 kernel and the compression of bad
// times made most of the difference.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/strategy_kit.h"
#include "search/surrogate.h"

enum { KNOB_INITIAL, KNOB_COUNT };

static const struct strategy_knob knobs[] = {
    { "initial", 8, 2, 1000, "configurations measured before the model is asked" },
    { NULL, 0, 0, 0, NULL },
};

enum { SPREAD = 30 };                             // random configurations of which the farthest from all known ones is taken at the start
static const double nominal_distance = 0.1;       // what another value counts there, whichever it is
static const double least_promise = 1e-4;         // standard deviations; below it the model has nothing to say

struct default_search {
    const struct space *space;
    struct history history;
    struct surrogate model, informed;
    bool has_informed;
    struct random rng;
    double knobs[KNOB_COUNT];
    size_t width, told, blind;                    // blind: proposals made without the model's promise
    size_t *rows, *told_rows, room;               // all rows in order; rows in the order of their results
    size_t told_row_count;
    struct static_facts *facts;                   // by row
    size_t with_facts;                            // rows that have any
};

static int default_init(void *state, const struct space *space, const struct strategy_options *options, struct error *err)
{
    struct default_search *s = state;
    if (strategy_knobs(knobs, options->text, s->knobs, err) < 0) return -1;
    s->space = space;
    s->width = space_parameter_count(space);
    history_init(&s->history, space);
    surrogate_init(&s->model, space, &s->history, false);
    random_seed(&s->rng, options->seed);
    return 0;
}

static void *resize(void *array, size_t size)
{
    void *larger = realloc(array, size);
    if (!larger) abort();
    return larger;
}

static void make_room(struct default_search *s)
{
    size_t old = s->room;
    if (s->history.count < old) return;
    s->room = 2 * s->history.count + 64;
    s->rows = resize(s->rows, s->room * sizeof *s->rows);
    s->told_rows = resize(s->told_rows, s->room * sizeof *s->told_rows);
    s->facts = resize(s->facts, s->room * sizeof *s->facts);
    for (size_t i = old; i < s->room; i++) {
        s->rows[i] = i;
        s->facts[i] = (struct static_facts){ NAN, NAN, NAN, NAN, NAN };
    }
}

static bool propose(struct default_search *s, const uint16_t *config)
{
    history_propose(&s->history, config);
    make_room(s);
    return true;
}

// The one of some random configurations that is farthest from all known ones.
static bool propose_far(struct default_search *s, uint16_t *config)
{
    const struct encoding *e = &s->model.encoding;
    uint16_t trial[SPACE_MAX_PARAMETERS];
    size_t known = s->history.count < 256 ? s->history.count : 256;
    float *points = resize(NULL, (known + 1) * (e->count + 1) * sizeof *points), *point = points + known * e->count;
    double most = -1;
    for (size_t i = 0; i < known; i++) encoding_of(e, history_config(&s->history, s->history.count - known + i), points + i * e->count);
    for (int i = 0; i < SPREAD && history_sample_new(&s->history, &s->rng, trial); i++) {
        double least = INFINITY;
        encoding_of(e, trial, point);
        for (size_t j = 0; j < known; j++) least = fmin(least, encoding_distance(e, point, points + j * e->count, nominal_distance));
        if (least <= most) continue;
        most = least;
        memcpy(config, trial, s->width * sizeof *config);
    }
    free(points);
    return most >= 0 && propose(s, config);
}

static bool propose_blind(struct default_search *s, uint16_t *config)
{
    if (s->blind++ % 2 == 0) {
        memcpy(config, history_config(&s->history, (size_t)s->history.best), s->width * sizeof *config);
        kit_perturb(s->space, &s->rng, config, 2 + (int)random_below(&s->rng, 2));
        if (history_find(&s->history, config) < 0) return propose(s, config);
    }
    return history_sample_new(&s->history, &s->rng, config) && propose(s, config);
}

static bool default_ask(void *state, uint16_t *config)
{
    struct default_search *s = state;
    if (s->history.best < 0 || s->history.count < (size_t)s->knobs[KNOB_INITIAL]) return propose_far(s, config);
    surrogate_learn(&s->model, s->rows, s->history.count, s->told, NULL, &s->rng);
    if (surrogate_propose(&s->model, config) > least_promise) return propose(s, config);
    return propose_blind(s, config);
}

static void set_facts(struct default_search *s, size_t row, const struct static_facts *facts)
{
    bool known = isfinite(facts->registers) || isfinite(facts->code_bytes) || isfinite(facts->occupancy);
    if (!known) return;
    s->with_facts += !isfinite(s->facts[row].registers) && !isfinite(s->facts[row].code_bytes) && !isfinite(s->facts[row].occupancy);
    s->facts[row] = *facts;
}

static void default_tell(void *state, const struct observation *o)
{
    struct default_search *s = state;
    int64_t known = history_find(&s->history, o->config);
    bool first = known < 0 || s->history.outcomes[known] == ROW_PENDING;
    size_t row = history_tell(&s->history, o);
    make_room(s);
    set_facts(s, row, &o->facts);
    if (!first) return;
    s->told_rows[s->told_row_count++] = row;
    s->told++;
}

static void default_compiled(void *state, const uint16_t *config, const struct static_facts *facts)
{
    struct default_search *s = state;
    int64_t row = history_find(&s->history, config);
    if (row >= 0) set_facts(s, (size_t)row, facts);
}

static int default_choose(void *state, size_t count, const uint16_t *const *configs, const struct static_facts *facts)
{
    struct default_search *s = state;
    if (count < 2 || s->history.best < 0 || s->told < (size_t)s->knobs[KNOB_INITIAL]) return 0;
    if (!s->has_informed) {
        surrogate_init(&s->informed, s->space, &s->history, true);
        s->has_informed = true;
    }
    // Facts that only some rows have would tell those rows apart, and nothing else.
    bool use = facts && 4 * s->with_facts >= 3 * s->history.count;
    surrogate_learn(&s->informed, s->told_rows, s->told_row_count, s->told, use ? s->facts : NULL, &s->rng);
    size_t best = 0;
    double most = -1;
    for (size_t i = 0; i < count; i++) {
        double promise = surrogate_promise(&s->informed, configs[i], use ? &facts[i] : NULL);
        if (promise <= most) continue;
        most = promise;
        best = i;
    }
    return (int)best;
}

static void default_release(void *state)
{
    struct default_search *s = state;
    surrogate_release(&s->model);
    if (s->has_informed) surrogate_release(&s->informed);
    history_release(&s->history);
    free(s->rows);
    free(s->told_rows);
    free(s->facts);
}

const struct strategy_class strategy_default = {
    .name = "default",
    .summary = "what to use unless you know better: Bayesian optimisation with the compiler's facts",
    .state_size = sizeof(struct default_search),
    .init = default_init,
    .ask = default_ask,
    .tell = default_tell,
    .compiled = default_compiled,
    .choose = default_choose,
    .release = default_release,
};
