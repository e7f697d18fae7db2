// The default strategy: Bayesian optimisation. It first proposes a few configurations that are far from each other,
// then always the one for which the model (surrogate.h) expects the greatest improvement.
#include "search/model/block_shape.h"
#include "search/model/surrogate.h"
#include "search/strategies/strategy.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"

enum {
    INITIAL = 8, // configurations measured before the model proposes
    SPREAD = 30, // random configurations drawn for each of these; the one that is farthest from the others is chosen
};

// From this many results on, priors are trusted if the probability that no prior is informative is below `trusting`.
// They are doubted if this probability is above `doubtful`.
enum { TRUST_LEAST = 4 };
static const double trusting = 0.25, doubtful = 0.6;

// Each random configuration is chosen from DRAWS draws: the one with the least doubtful block shape
// (block_shape_doubt). If doubt remains, its distance is multiplied by exp(-doubt_weight * doubt).
enum { DRAWS = 4 };
static const double doubt_weight = 5;

struct default_search {
    struct block_shape shape;
    struct surrogate model;
    size_t prior_turn;
    size_t prior_asked; // configurations proposed because priors expect them to be best
    // The encoded rows of the history, as many as have been needed so far.
    float *points;
    size_t point_count, point_room;
};

static void default_init(struct strategy_state *s)
{
    struct default_search *d = s->own;
    block_shape_init(&d->shape, s->space);
    surrogate_init(&d->model, s->space, &s->history, s->priors, s->prior_count);
}

static void encode_history(struct strategy_state *s)
{
    struct default_search *d = s->own;
    size_t width = d->model.encoding.count;
    d->points = memory_room(d->points, &d->point_room, s->history.count * width + 1, sizeof *d->points);
    for (; d->point_count < s->history.count; d->point_count++)
        encoding_of(&d->model.encoding, history_config(&s->history, d->point_count),
                    d->points + d->point_count * width);
}

static double nearest(const struct default_search *d, const uint16_t *config)
{
    float a[512];
    size_t width = d->model.encoding.count;
    double least = DBL_MAX; // while there are no results, only the doubt decides
    encoding_of(&d->model.encoding, config, a);
    for (size_t i = 0; i < d->point_count; i++) {
        const float *b = d->points + i * width;
        double sum = 0;
        for (size_t m = 0; m < width; m++) sum += (double)(a[m] - b[m]) * (double)(a[m] - b[m]);
        least = fmin(least, sum);
    }
    return least;
}

// Proposes the next of the configurations that the priors expect to be best, from each prior in turn.
static bool ask_priors(struct strategy_state *s, uint16_t *config)
{
    struct default_search *d = s->own;
    for (size_t tries = 0; tries < s->prior_count; tries++) {
        size_t turn = d->prior_turn++;
        const struct prior *p = s->priors[turn % s->prior_count];
        for (size_t rank = 0; prior_best(p, rank, config); rank++)
            if (history_find(&s->history, config) < 0) return true;
    }
    return false;
}

// Draws a new random configuration. If parameter names reveal the block's dimensions, ordinary blocks are preferred.
static bool draw(struct strategy_state *s, uint16_t *config, double *doubt)
{
    struct default_search *d = s->own;
    uint16_t trial[SPACE_MAX_PARAMETERS];
    *doubt = INFINITY;
    for (int i = 0; i<DRAWS && * doubt> 0; i++) {
        if (!history_sample_new(&s->history, &s->rng, trial)) return false;
        double own = block_shape_doubt(&d->shape, trial);
        if (own >= *doubt) continue;
        *doubt = own;
        memcpy(config, trial, s->width * sizeof *config);
    }
    return true;
}

// Proposes a configuration that is far from all others.
static bool ask_far(struct strategy_state *s, uint16_t *config)
{
    struct default_search *d = s->own;
    uint16_t trial[SPACE_MAX_PARAMETERS];
    double most = -1, doubt;
    encode_history(s);
    for (int i = 0; i < SPREAD; i++) {
        if (!draw(s, trial, &doubt)) return false;
        double far = nearest(d, trial) * exp(-doubt_weight * doubt);
        if (far > most) {
            most = far;
            memcpy(config, trial, s->width * sizeof *config);
        }
    }
    return true;
}

// Makes the proposals before the model takes over. Configurations that are far from each other alternate with the
// priors' best ones, unless the results contradict the priors. Returns false when the model is ready, which is earlier
// if the results confirm the priors.
static bool ask_first(struct strategy_state *s, uint16_t *config, bool *found)
{
    struct default_search *d = s->own;
    size_t count = s->history.count;
    double none = d->model.prior_weights.none;
    size_t wasted = none > doubtful ? d->prior_asked : 0;
    if (count >= INITIAL + wasted && s->history.best >= 0) return false;
    if (s->prior_count && s->history.reported >= TRUST_LEAST && s->history.best >= 0) {
        surrogate_weigh(&d->model);
        none = d->model.prior_weights.none;
        if (none < trusting) return false;
    }
    bool far = !s->prior_count || count % 2 || none > doubtful;
    bool prior = !far && ask_priors(s, config);
    d->prior_asked += prior;
    *found = prior || ask_far(s, config);
    return true;
}

static bool default_ask(struct strategy_state *s, uint16_t *config)
{
    struct default_search *d = s->own;
    bool found;
    if (ask_first(s, config, &found)) return found;
    surrogate_learn(&d->model, s->history.reported, &s->rng);
    if (surrogate_propose(&d->model, config) < 0) return history_sample_new(&s->history, &s->rng, config);
    history_propose(&s->history, config);
    surrogate_await(&d->model);
    return true;
}

// A candidate whose expected improvement is less than this share of the next proposal's is not worth measuring.
static const double unusable = 0.2;

static void default_rank(struct strategy_state *s, const uint16_t *const *configs, size_t count, double *acquisition)
{
    struct default_search *d = s->own;
    for (size_t i = 0; i < count; i++) acquisition[i] = 0;
    if (s->history.reported < INITIAL || s->history.best < 0) return;
    // GPUs wait for a ranking, and learning takes long if many proposals are outstanding. The next proposal learns
    // instead.
    if (!surrogate_is_recent(&d->model, s->history.reported)) surrogate_learn(&d->model, s->history.reported, &s->rng);
    surrogate_acquisitions(&d->model, configs, count, acquisition);
    uint16_t config[SPACE_MAX_PARAMETERS];
    double best = surrogate_propose(&d->model, config);
    for (size_t i = 0; i < count; i++) acquisition[i] -= fmax(unusable * best, 0);
}

static void default_release(struct strategy_state *s)
{
    struct default_search *d = s->own;
    surrogate_release(&d->model);
    free(d->points);
}

const struct strategy_class strategy_default = {
    .name = "default",
    .summary = "Bayesian optimisation; use it unless you know better",
    .state_size = sizeof(struct default_search),
    .init = default_init,
    .ask = default_ask,
    .release = default_release,
    .rank = default_rank,
};
