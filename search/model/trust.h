// How far priors (prior.h) are trusted, judged by the measurements: the mean of the model is the sum of their excesses,
// each times a weight from 0 to 1 that this finds.
//
// The weights are the mean over a few hypotheses, each as likely as it makes the results (Bayesian model averaging):
// that no prior says anything, that one of them is right, wholly or by half, and that their mean is. A result is its
// hypothesis's expectation, a constant, and an error; the errors' size is unknown (Student's t). A prior that misleads
// makes errors larger than none would, and is dropped after some ten results. While it is likelier than not that none
// says anything, all weights are 0. A prior is thought likely to say something by its merit (prior_merit).
#ifndef SWEETSPOT_TRUST_H
#define SWEETSPOT_TRUST_H

#include "search/model/prior.h"

struct trust {
    size_t count;
    const struct prior *const *priors; // borrowed
    double weights[PRIOR_MOST];
    double useful[PRIOR_MOST]; // probability that it says something, before anything is measured
    double none;               // probability that no prior says anything
};

void trust_init(struct trust *, const struct prior *const *, size_t count);
// Each prior's expectation for a configuration.
void trust_features(const struct trust *, const uint16_t *config, float *features);
// Finds the weights from `count` results: their features, one after another, and their excesses. An excess that is NaN
// is not yet known.
void trust_learn(struct trust *, const float *features, const double *excesses, size_t count);
// Whether any weight is above 0.
bool trust_any(const struct trust *);
double trust_expected(const struct trust *, const float *features);

#endif
