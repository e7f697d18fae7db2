// The results of another search, for use by a model. A prior gives the expected cost of every configuration of this
// space, based on a recording of the same kernel for another device, size or data type.
//
// Its rows are configurations of this space (the reader of the recording matches names and values) with their results
// in the recording. Trees (trees.h) are grown on them once; the prior also keeps the list of the configurations that
// they expect to be best. After that, a prior is constant, and many strategies may read it.
//
// Costs are slowdowns: e-folds above the recording's best time, compressed as the model compresses its targets
// (slowdown_of). The ratio of a configuration's time to the best time tends to be similar on other devices.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "search/space/space.h"

enum { PRIOR_MOST = 8 }; // the most priors that a search may have

struct prior_rows {
    size_t count;
    const uint16_t *configs;  // one after another; need not be valid in this space
    const double *objectives; // in any unit, lower is better; NaN: the configuration failed
    const bool *known;        // by parameter: false if the rows lack it
};

struct prior;

// Copies the rows. Returns NULL if no row has an objective.
struct prior *prior_new(const struct space *, const struct prior_rows *);
void prior_free(struct prior *);

// The expected slowdown of a valid configuration.
double prior_slowdown(const struct prior *, const uint16_t *config);
// How useful the prior may be, from 0 to 1: the square of the share of parameters that vary in its rows. It is lower if
// trees grown on half of its rows predict the other half badly, and 0 if its results look random.
double prior_informativeness(const struct prior *);
// The configuration of this space at position `rank` (from 0) in the list of the configurations expected to be best.
// Returns false at the end of the list.
bool prior_best(const struct prior *, size_t rank, uint16_t *config);

// How far a time is above the best, in e-folds. Large values are compressed, because the exact time of a bad
// configuration says little about good ones.
double slowdown_of(double objective, double best);

// How far priors are trusted, judged by the measurements. The model's mean is the weighted sum of the priors'
// slowdowns; the weights found here are between 0 and 1.
//
// The weights are averages over a few hypotheses (Bayesian model averaging). Each hypothesis is weighted by how likely
// it makes the results. The first one is that no prior is informative. The others are that one prior, or the mean of
// all priors, is correct with full or half weight. A result is modelled as the hypothesis's expectation plus a constant
// plus an error of unknown size (Student's t). A misleading prior makes the errors larger than no prior would, and is
// dropped after about ten results. While it is more likely than not that no prior is informative, all weights are 0.
// The initial probability that a prior is informative follows from prior_informativeness.
struct prior_weights {
    size_t count;
    const struct prior *const *priors; // borrowed
    double weights[PRIOR_MOST];
    double useful[PRIOR_MOST]; // probability that the prior is informative, before anything is measured
    double none;               // probability that no prior is informative
};

void prior_weights_init(struct prior_weights *, const struct prior *const *, size_t count);
// Each prior's expectation for a configuration.
void prior_weights_features(const struct prior_weights *, const uint16_t *config, float *features);
// Finds the weights from `count` results: their features, one after another, and their slowdowns. NaN stands for a
// slowdown that is not known yet.
void prior_weights_learn(struct prior_weights *, const float *features, const double *slowdowns, size_t count);
// Whether any weight is above 0.
bool prior_weights_any(const struct prior_weights *);
double prior_weights_expected(const struct prior_weights *, const float *features);
