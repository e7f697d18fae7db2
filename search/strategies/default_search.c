// The default strategy: Bayesian optimisation. First a few configurations that are far from each other, then
// always the one of which the model (surrogate.h) expects the greatest improvement.
#include "search/model/block_shape.h"
#include "search/model/surrogate.h"
#include "search/strategies/strategy_kit.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"

enum { OPTION_INITIAL, OPTION_SPREAD, OPTION_COUNT };
static const struct strategy_option options[] = {
    [OPTION_INITIAL] = {"initial", 8, 1, 1000, true, "configurations measured before the model proposes"},
    [OPTION_SPREAD] = {"spread", 30, 0, 1000, true,
                       "random configurations from which each initial one is chosen, the farthest from the others"},
    [OPTION_COUNT] = {0},
};

// Priors are trusted, or doubted, from this many results on, when the probability that none of them is informative is
// below, or above.
enum { TRUST_LEAST = 4 };
static const double trusting = 0.25, doubtful = 0.6;

// Each random configuration is the least doubtful of this many by its block's shape, and the distance of one that
// is still doubtful counts less, by this factor of the doubt in the exponent.
enum { DRAWS = 4 };
static const double doubt_weight = 5;

struct default_search {
    const struct space *space;
    struct block_shape shape;
    struct history history;
    struct surrogate model;
    struct random rng;
    const double *options; // by OPTION_*
    size_t width, told;
    const struct prior *const *priors;
    size_t prior_count, prior_turn;
    size_t prior_asked; // configurations proposed because priors expect them to be best
    // The history's rows, encoded, as far as they were needed.
    float *points;
    size_t point_count, point_room;
};

static void default_init(void *state, const struct space *space, const struct strategy_start *start)
{
    struct default_search *s = state;
    s->options = start->options;
    s->space = space;
    s->width = space_parameter_count(space);
    block_shape_init(&s->shape, space);
    history_init(&s->history, space);
    surrogate_init(&s->model, space, &s->history, start->priors, start->prior_count);
    s->priors = start->priors;
    s->prior_count = start->prior_count;
    random_seed(&s->rng, start->seed);
}

static void encode_history(struct default_search *s)
{
    size_t d = s->model.encoding.count;
    if (s->history.count > s->point_room) {
        s->point_room = 2 * s->history.count;
        s->points = memory_grow(s->points, s->point_room * d + 1, sizeof *s->points);
    }
    for (; s->point_count < s->history.count; s->point_count++)
        encoding_of(&s->model.encoding, history_config(&s->history, s->point_count), s->points + s->point_count * d);
}

static double nearest(const struct default_search *s, const uint16_t *config)
{
    float a[512];
    size_t d = s->model.encoding.count;
    double least = DBL_MAX; // while nothing is known, only the doubt decides
    encoding_of(&s->model.encoding, config, a);
    for (size_t i = 0; i < s->point_count; i++) {
        const float *b = s->points + i * d;
        double sum = 0;
        for (size_t m = 0; m < d; m++) sum += (double)(a[m] - b[m]) * (double)(a[m] - b[m]);
        least = fmin(least, sum);
    }
    return least;
}

// The next of the configurations that the priors expect to be best, each prior's in turn.
static bool ask_priors(struct default_search *s, uint16_t *config)
{
    for (size_t tries = 0; tries < s->prior_count; tries++) {
        size_t turn = s->prior_turn++;
        const struct prior *p = s->priors[turn % s->prior_count];
        for (size_t rank = 0; prior_best(p, rank, config); rank++)
            if (history_find(&s->history, config) < 0) return true;
    }
    return false;
}

// A new random configuration; if the parameters' names reveal a block's sides, one with an ordinary block.
static bool draw(struct default_search *s, uint16_t *config, double *doubt)
{
    uint16_t trial[SPACE_MAX_PARAMETERS];
    *doubt = INFINITY;
    for (int i = 0; i<DRAWS && * doubt> 0; i++) {
        if (!history_sample_new(&s->history, &s->rng, trial)) return false;
        double d = block_shape_doubt(&s->shape, trial);
        if (d >= *doubt) continue;
        *doubt = d;
        memcpy(config, trial, s->width * sizeof *config);
    }
    return true;
}

// A configuration that is far from all others.
static bool ask_far(struct default_search *s, uint16_t *config)
{
    uint16_t trial[SPACE_MAX_PARAMETERS];
    double most = -1, doubt;
    encode_history(s);
    for (int i = 0; i < (int)s->options[OPTION_SPREAD] || i == 0; i++) {
        if (!draw(s, trial, &doubt)) return false;
        double d = nearest(s, trial) * exp(-doubt_weight * doubt);
        if (d > most) {
            most = d;
            memcpy(config, trial, s->width * sizeof *config);
        }
    }
    return true;
}

// Before the model proposes: configurations far from each other, alternating with the priors' best unless what
// has been measured contradicts the priors. False when the model is ready: earlier if the results confirm the priors.
static bool ask_first(struct default_search *s, uint16_t *config, bool *found)
{
    size_t count = s->history.count;
    double none = s->model.trust.none;
    size_t wasted = none > doubtful ? s->prior_asked : 0;
    if (count >= (size_t)s->options[OPTION_INITIAL] + wasted && s->history.best >= 0) return false;
    if (s->prior_count && s->told >= TRUST_LEAST && s->history.best >= 0) {
        surrogate_weigh(&s->model);
        none = s->model.trust.none;
        if (none < trusting) return false;
    }
    bool far = !s->prior_count || count % 2 || none > doubtful;
    bool prior = !far && ask_priors(s, config);
    s->prior_asked += prior;
    *found = prior || ask_far(s, config);
    return true;
}

static bool default_ask(void *state, uint16_t *config)
{
    struct default_search *s = state;
    bool found;
    if (ask_first(s, config, &found)) {
        if (found) history_propose(&s->history, config);
        return found;
    }
    surrogate_learn(&s->model, s->told, &s->rng);
    bool promising = surrogate_propose(&s->model, config) >= 0;
    if (!promising && !history_sample_new(&s->history, &s->rng, config)) return false;
    history_propose(&s->history, config);
    if (promising) surrogate_await(&s->model);
    return true;
}

static void default_tell(void *state, const struct observation *o)
{
    struct default_search *s = state;
    history_tell(&s->history, o);
    s->told++;
}

// A candidate that promises less than this share of the next proposal's promise is not worth measuring.
static const double hopeless = 0.2;

static void default_rank(void *state, const uint16_t *const *configs, size_t count, double *promise)
{
    struct default_search *s = state;
    for (size_t i = 0; i < count; i++) promise[i] = 0;
    if (s->history.count < (size_t)s->options[OPTION_INITIAL] || s->history.best < 0) return;
    // GPUs wait for a ranking, and learning takes long where many proposals are outstanding. The next proposal learns.
    if (!surrogate_is_recent(&s->model, s->told)) surrogate_learn(&s->model, s->told, &s->rng);
    surrogate_promises(&s->model, configs, count, promise);
    uint16_t config[SPACE_MAX_PARAMETERS];
    double best = surrogate_propose(&s->model, config);
    for (size_t i = 0; i < count; i++) promise[i] -= fmax(hopeless * best, 0);
}

static void default_forget(void *state, const uint16_t *config)
{
    struct default_search *s = state;
    history_forget(&s->history, config);
}

static void default_release(void *state)
{
    struct default_search *s = state;
    surrogate_release(&s->model);
    free(s->points);
    history_release(&s->history);
}

const struct strategy_class strategy_default = {
    .name = "default",
    .summary = "Bayesian optimisation; what to use unless you know better",
    .options = options,
    .state_size = sizeof(struct default_search),
    .init = default_init,
    .ask = default_ask,
    .tell = default_tell,
    .release = default_release,
    .rank = default_rank,
    .forget = default_forget,
};
