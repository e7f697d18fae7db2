// What another search has found, as a model may use it: of a recording of the same kernel for another device, size or
// data type, the expected cost of every configuration of this space.
//
// Its rows are configurations of this space (whoever reads the recording matches names and values) with what came of
// them there. Trees (trees.h) are grown on them once; what is kept besides is the list of the configurations that they
// expect to be best. A prior is constant from then on, and many strategies may read it.
//
// Costs are excesses: e-folds above the best time there, compressed as the model compresses its targets (excess_of).
// What is so many times slower than the best on one device tends to be so on another.
#ifndef SWEETSPOT_PRIOR_H
#define SWEETSPOT_PRIOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "search/space.h"

enum { PRIOR_MOST = 8 }; // priors of a search

struct prior_rows {
    size_t count;
    const uint16_t *configs;  // one after another; need not be valid here
    const double *objectives; // of any unit, lower is better; NaN: failed there
    const bool *known;        // by parameter: false where the rows do not say it
};

struct prior;

// Copies. NULL where no row has an objective.
struct prior *prior_new(const struct space *, const struct prior_rows *);
void prior_free(struct prior *);

// The expected excess of a valid configuration.
double prior_excess(const struct prior *, const uint16_t *config);
// How much can be hoped from it, from 0 to 1: the square of the share of the parameters that its rows vary, less where
// trees grown on half of its rows predict the other half badly. 0 where its results cannot be told from chance.
double prior_merit(const struct prior *);
// The configuration of this space that is expected to be best but `rank`. False when the list ends.
bool prior_best(const struct prior *, size_t rank, uint16_t *config);

// How far a time is above the best, in e-folds, compressed: how bad a bad one is tells little about the good ones.
double excess_of(double objective, double best);

#endif
