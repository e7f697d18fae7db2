// Gaussian-process regression on points of the unit cube (Rasmussen and Williams 2006): Matérn 5/2 kernel with one length
// scale a dimension, zero mean, noise. Meant for some hundred points.
#ifndef SWEETSPOT_GP_H
#define SWEETSPOT_GP_H

#include <stdbool.h>
#include <stddef.h>

struct gp;

// Room for `max_points` points of `dimensions` features.
struct gp *gp_new(size_t dimensions, size_t max_points);
void gp_free(struct gp *);

// Takes the points (count rows of `dimensions` floats) and targets, which should have mean 0 and variance near 1. Copies.
void gp_set_points(struct gp *, const float *points, const double *targets, size_t count);
// Moves the hyperparameters `steps` gradient steps (Rprop) up the posterior of the length scales, the signal's variance and the noise, going on
// from where they are, with at most `most` of the points. Then factorises for all of them.
void gp_fit(struct gp *, int steps, size_t most);
// Only factorises, with the hyperparameters as they are.
void gp_update(struct gp *);

// Mean and variance of the function (without noise) at `count` points.
void gp_predict(struct gp *, const float *points, size_t count, double *mean, double *variance);
double gp_length_scale(const struct gp *, size_t dimension);
double gp_noise(const struct gp *);

#endif
