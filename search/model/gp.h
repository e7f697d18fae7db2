// Gaussian-process regression (Rasmussen and Williams 2006, algorithm 2.1) with zero mean and noise. Half of the kernel
// is a Matérn 3/2 kernel over all dimensions, with one length scale each. The other half is the mean of rational
// quadratic kernels (alpha 1) over single dimensions with the same scales (additive kernels: Duvenaud, Nickisch and
// Rasmussen 2011). With this half, few points are enough to learn the effect of each single parameter. Ordinal
// dimensions run from 0 to 1; nominal ones are only compared for equality (a distance of 0 or 1). Times as a function
// of tuning parameters are rough: a Matérn 3/2 kernel did clearly better than 5/2 and 1/2. The process is meant for a
// few hundred points. With n points, computing a mean takes time proportional to n. Adding a point or computing a
// variance takes time proportional to n^2, and a fitting step takes time proportional to n^3.
#pragma once

#include <stddef.h>

struct gp;

// Makes a process with room for `max_points` points, each with `ordinal` coordinates followed by `nominal` ones.
struct gp *gp_new(size_t ordinal, size_t nominal, size_t max_points);
void gp_free(struct gp *);

size_t gp_count(const struct gp *);
void gp_clear(struct gp *);                   // forgets the points, keeps the hyperparameters
void gp_add(struct gp *, const float *point); // copies; there must be room

// Moves the hyperparameters `steps` steps (Rprop: Riedmiller and Braun 1993) up the posterior of length scales, signal
// and noise, from their current values, using the first `most` points. Targets (one per point) should have mean 0 and
// variance near 1.
void gp_fit(struct gp *, const double *targets, int steps, size_t most);
// gp_fit, one step at a time: call gp_fit_begin, then gp_fit_step for each step. After gp_fit_begin, only the
// hyperparameters of the process are usable (gp_theta).
void gp_fit_begin(struct gp *);
void gp_fit_step(struct gp *, const double *targets, size_t most);
// The hyperparameters: the logarithms of one length scale per dimension, of the signal's variance, and of the noise
// variance (dimensions + 2 numbers; borrowed). gp_set_theta applies them to the current points and to all later ones.
const double *gp_theta(const struct gp *);
void gp_set_theta(struct gp *, const double *theta);
// Conditions the process on these targets, one for each point, including the points added since the last call.
void gp_condition(struct gp *, const double *targets);
// Includes the points added since gp_condition or the last gp_add_fantasy, with the targets that the process expects
// there. The means do not change, and the variances fall.
void gp_add_fantasy(struct gp *);

// A pool of candidates whose means and variances are needed repeatedly. The effect of a new point is computed once, so
// that a query takes time proportional to n per candidate. gp_pool_add adds `count` points (copied). gp_pool_moments
// writes all means and variances; `mean` may be NULL, because gp_add_fantasy does not change the means.
void gp_pool_clear(struct gp *);
void gp_pool_add(struct gp *, const float *points, size_t count);
void gp_pool_moments(struct gp *, double *mean, double *variance);

// Computes the function's means at `count` points. bound[i] gets an upper bound on the variance at point i, which is
// the variance given only the point most closely related to it.
void gp_means(const struct gp *, const float *points, size_t count, double *mean, double *bound);
// The function's variance (without noise) at one point.
double gp_variance(struct gp *, const float *point);
// Predicts the function at `count` (at least 1) points from the targets of all other points. `numbers` has the indices
// of these points in ascending order. Writes the function's means and variances there.
void gp_without(const struct gp *, const size_t *numbers, size_t count, const double *targets, double *mean,
                double *variance);

// The gradient that gp_fit follows, for the first `count` points (borrowed until the next call). It is the derivative
// of the log posterior with respect to theta
//   -(y' K^-1 y + log det K) / 2 - sum over i of (theta_i - c_i)^2 / (2 v_i)
// with c = log(ordinal) / 2 for the scales of ordinal dimensions (0 if there are none), 0.5 more for nominal
// dimensions, 0 for the signal, and log(0.001) for the noise; v is 2.25 for the noise and otherwise 1. K has signal +
// noise + 1e-6 on its diagonal.
const double *gp_gradient(struct gp *, const double *targets, size_t count);
