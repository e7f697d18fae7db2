// How far priors (prior.h) are trusted, judged by the measurements: the mean of the model is the sum of their excesses,
// each times a weight from 0 to 1 that this finds.
//
// The weights are the mean over a few hypotheses, each as likely as it makes the results (Bayesian model averaging):
// that no prior says anything, that one of them is right, wholly or by half, and that their mean is. A result is its
// hypothesis's expectation, a constant, and an error; the errors' size is unknown (Student's t). A prior that misleads
// makes errors larger than none would, and is dropped after some ten results. While it is likelier than not that none
// says anything, all weights are 0. A prior is thought likely to say something by its merit (prior_informativeness).
#ifndef SWEETSPOT_PRIOR_WEIGHT_H
#define SWEETSPOT_PRIOR_WEIGHT_H

#include "search/model/prior.h"

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

#endif
