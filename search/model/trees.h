// Extremely randomised trees (Geurts, Ernst and Wehenkel 2006): an ensemble of trees, each grown on all points with the
// best of some random splits at every node. With targets 0 and 1, the mean is the probability of a 1.
#pragma once

#include <stddef.h>

#include "search/space/random.h"

struct trees;

struct trees *trees_new(size_t dimensions, size_t tree_count);
void trees_free(struct trees *);
// `points`: `count` rows with `dimensions` elements each.
void trees_grow(struct trees *, const float *points, const double *targets, size_t count, struct random *);
// The mean, over all trees, of the mean of the leaf that contains the point.
double trees_mean(const struct trees *, const float *point);
