// The results of another search, for use by a model: from a recording of the same kernel for another device, size or
// data type, the expected cost of every configuration of this space.
//
// Its rows are configurations of this space (the reader of the recording matches names and values) with their results
// there. Trees (trees.h) are grown on them once; the prior also keeps the list of the configurations that they
// expect to be best. A prior is constant from then on, and many strategies may read it.
//
// Costs are excesses: e-folds above the best time there, compressed as the model compresses its targets (slowdown_of).
// The ratio of a configuration to the best tends to be similar on other devices.
#ifndef SWEETSPOT_PRIOR_H
#define SWEETSPOT_PRIOR_H

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

#endif
