// Extremely randomised trees (Geurts, Ernst and Wehenkel 2006): an ensemble of trees, each grown on all points with the
// best of some random splits at every node. With targets 0 and 1 the mean is the chance of a 1.
#pragma once

#include <stddef.h>

#include "search/space/random.h"

struct trees;

struct trees *trees_new(size_t dimensions, size_t tree_count);
void trees_free(struct trees *);
// `points`: count rows of `dimensions`.
void trees_grow(struct trees *, const float *points, const double *targets, size_t count, struct random *);
// Mean over the trees of the leaf's mean.
double trees_mean(const struct trees *, const float *point);
