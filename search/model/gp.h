// Gaussian-process regression (Rasmussen and Williams 2006, algorithm 2.1), zero mean, noise. The kernel is half a
// Matérn 3/2 one over all dimensions, with one length scale each, and half the mean of rational quadratic ones (alpha
// 1) over single dimensions with the same scales: what parameters do on their own is learnt from few points (additive
// kernels: Duvenaud, Nickisch and Rasmussen 2011). Ordinal dimensions run from 0 to 1; of nominal ones only equality
// counts (a distance of 0 or 1). Times over tuning parameters are rough: 3/2 did clearly better than 5/2 and 1/2.
// Meant for some hundred points: adding one costs n^2, fitting n^3 a step, a mean n, a variance n^2.
#pragma once

#include <stddef.h>

struct gp;

// Room for `max_points` points of `ordinal` and then `nominal` coordinates.
struct gp *gp_new(size_t ordinal, size_t nominal, size_t max_points);
void gp_free(struct gp *);

size_t gp_count(const struct gp *);
void gp_clear(struct gp *);                   // forgets the points, keeps the hyperparameters
void gp_add(struct gp *, const float *point); // copies; there must be room

// Moves the hyperparameters `steps` steps (Rprop: Riedmiller and Braun 1993) up the posterior of length scales, signal
// and noise, going on from where they are, with the first `most` points. Targets (one per point) should have mean 0 and
// variance near 1.
void gp_fit(struct gp *, const double *targets, int steps, size_t most);
// The same step by step: gp_fit_begin, then gp_fit_step as often as gp_fit has steps. In between, and afterwards, the
// process is good for nothing but its hyperparameters (gp_theta).
void gp_fit_begin(struct gp *);
void gp_fit_step(struct gp *, const double *targets, size_t most);
// The hyperparameters: the logarithms of one length scale a dimension, of the signal's variance and of the noise's
// (dimensions + 2 numbers; borrowed). gp_set_theta takes them for the points that there are and for what follows.
const double *gp_theta(const struct gp *);
void gp_set_theta(struct gp *, const double *theta);
// Takes the targets for what follows, and the points that were added.
void gp_condition(struct gp *, const double *targets);
// Takes the points that were added since with the targets that are expected there: means stay as they are, variances
// fall.
void gp_add_fantasy(struct gp *);

// A pool of candidates whose means and variances are needed again and again: the change by a new point is computed
// once, so that a query costs n per candidate. gp_pool_add takes (copies) `count` points besides those it has;
// gp_pool_moments writes all means (unless NULL: gp_add_fantasy leaves them as they are) and variances.
void gp_pool_clear(struct gp *);
void gp_pool_add(struct gp *, const float *points, size_t count);
void gp_pool_moments(struct gp *, double *mean, double *variance);

// The function's mean at `count` points; bound[i] is at least its variance there (what the most related point alone
// leaves).
void gp_means(const struct gp *, const float *points, size_t count, double *mean, double *bound);
// Its variance (without noise) at one point.
double gp_variance(struct gp *, const float *point);
// The prediction at `count` (at least 1) of the points, by number, ascending, from all the others: the function's
// means there that follow from the others' targets, and its variances.
void gp_without(const struct gp *, const size_t *numbers, size_t count, const double *targets, double *mean,
                double *variance);

// The gradient that gp_fit follows on the first `count` points, by theta (borrowed until the next call), of the log
// posterior
//   -(y' K^-1 y + log det K) / 2 - sum over i of (theta_i - c_i)^2 / (2 v_i)
// with c = log(ordinal) / 2 for scales of ordinal dimensions (0 where there are none), 0.5 more for nominal ones, 0 for
// the signal, log(0.001) for the noise, and v = 1, for the noise 2.25. K has signal + noise + 1e-6 on its diagonal.
const double *gp_gradient(struct gp *, const double *targets, size_t count);
