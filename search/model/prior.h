// The results of another search, for use by a model: from a recording of the same kernel for another device, size or
// data type, the expected cost of every configuration of this space.
//
// Its rows are configurations of this space (the reader of the recording matches names and values) with their results
// there. Trees (trees.h) are grown on them once; the prior also keeps the list of the configurations that they
// expect to be best. A prior is constant from then on, and many strategies may read it.
//
// Costs are excesses: e-folds above the best time there, compressed as the model compresses its targets (slowdown_of).
// The ratio of a configuration to the best tends to be similar on other devices.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "search/space/space.h"

enum { PRIOR_MOST = 8 }; // priors of a search

struct prior_rows {
    size_t count;
    const uint16_t *configs;  // one after another; need not be valid here
    const double *objectives; // in any unit, lower is better; NaN: failed there
    const bool *known;        // by parameter: false where the rows lack it
};

struct prior;

// Copies. NULL where no row has an objective.
struct prior *prior_new(const struct space *, const struct prior_rows *);
void prior_free(struct prior *);

// The expected excess of a valid configuration.
double prior_slowdown(const struct prior *, const uint16_t *config);
// How useful the prior may be, from 0 to 1: the square of the share of the parameters that its rows vary, less where
// trees grown on half of its rows predict the other half badly. 0 where its results look like chance.
double prior_informativeness(const struct prior *);
// The configuration of this space at place `rank` (from 0) of those expected to be best. False at the end of the list.
bool prior_best(const struct prior *, size_t rank, uint16_t *config);

// How far a time is above the best, in e-folds, compressed: the exact time of a bad configuration says little about
// good ones.
double slowdown_of(double objective, double best);

// How far priors (prior.h) are trusted, judged by the measurements: the mean of the model is the sum of their excesses,
// each times a weight from 0 to 1 that this finds.
//
// The weights are the mean over a few hypotheses, each as likely as it makes the results (Bayesian model averaging):
// that no prior says anything, that one of them is right, wholly or by half, and that their mean is. A result is its
// hypothesis's expectation, a constant, and an error; the errors' size is unknown (Student's t). A prior that misleads
// makes errors larger than none would, and is dropped after some ten results. While it is likelier than not that none
// says anything, all weights are 0. A prior is thought likely to say something by its merit (prior_informativeness).
struct prior_weights {
    size_t count;
    const struct prior *const *priors; // borrowed
    double weights[PRIOR_MOST];
    double useful[PRIOR_MOST]; // probability that it says something, before anything is measured
    double none;               // probability that no prior says anything
};

void prior_weights_init(struct prior_weights *, const struct prior *const *, size_t count);
// Each prior's expectation for a configuration.
void prior_weights_features(const struct prior_weights *, const uint16_t *config, float *features);
// Finds the weights from `count` results: their features, one after another, and their excesses. An excess that is NaN
// is not yet known.
void prior_weights_learn(struct prior_weights *, const float *features, const double *slowdowns, size_t count);
// Whether any weight is above 0.
bool prior_weights_any(const struct prior_weights *);
double prior_weights_expected(const struct prior_weights *, const float *features);
