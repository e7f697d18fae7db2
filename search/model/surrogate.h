// A model of the cost of a space's configurations, learnt from a history, and the search for the configuration that
// promises most.
//
// The model is a Gaussian process over encoded configurations (encoding.h, gp.h). Targets are the logarithms of the
// times, compressed above the best, because the exact cost of a bad configuration says little about good ones; a
// failure counts as the worst seen, a proposal whose result is awaited as what the model expects of it. What is
// promised is the expected improvement over the best (Mockus 1978; Jones, Schonlau and Welch 1998). With priors, their
// expectation is the process's mean, as far as they are trusted (prior.h).
#pragma once

#include "search/model/encoding.h"
#include "search/model/gp.h"
#include "search/model/history.h"
#include "search/model/prior.h"

struct surrogate {
    const struct space *space;
    const struct history *history; // borrowed
    struct arena memory;           // of what does not grow
    struct encoding encoding;
    struct gp *gp;
    size_t width;
    // The rows the model has learnt, and their encoded points and targets, in the order in which the GP has them.
    size_t *rows, row_count, room;
    float *points;
    double *targets;
    float *features;          // of a row, by prior
    double *awaited_variance; // of a row that is awaited, as its target is what is expected: by what is measured alone
    size_t known;             // rows of the history looked at so far
    size_t reported_at_learn; // told results that the model knows, and the history's best among them
    int64_t best_at_learn;
    size_t reported_at_fit; // told results at the last fit
    double best_measured;   // the target of the best row
    double best_target;     // the same, or what is expected of an awaited one if that is better
    // The next fit: what its steps are made with, one a proposal, and how many have been.
    struct gp *fitting;
    size_t steps;
    // The pool: random configurations, renewed at every fit (all of a small space), with what the GP says of them. The
    // parts that it has of those it is to get.
    uint16_t *pool;
    size_t pool_count, pool_parts;
    double *pool_mean, *pool_variance;
    // What the priors expect is the model's mean: the targets are what is left of the excesses, in units of `scale`.
    struct prior_weights prior_weights;
    double scale;
    float *pool_features;
    size_t pool_featured; // candidates that have them: computed when a prior is trusted
    // Candidates besides the pool, since the model has learnt.
    uint16_t *configs;
    size_t candidate_count, candidate_room;
    bool rated; // there are candidates
    float *encoded;
    double *mean, *bound, *acquisition;
    // The last proposal, as long as it is still the best one, and what is expected of it, in the targets' units.
    bool proposed;
    uint16_t *proposal;
    double proposed_acquisition, proposed_mean, proposed_variance;
};

void surrogate_init(struct surrogate *, const struct space *, const struct history *, const struct prior *const *,
                    size_t prior_count);
void surrogate_release(struct surrogate *);

// Brings the model up to date with the history, of which `told` results have arrived. At least one must have been
// measured. Where many proposals are outstanding it waits for several results: one says little then, and so much work
// serves for several proposals.
void surrogate_learn(struct surrogate *, size_t reported, struct random *);
// Whether a ranking may do without learning: results are learnt in large batches, the model knows all rows, and fewer
// results than two batches have come since it learnt.
bool surrogate_is_recent(const struct surrogate *, size_t reported);
// What surrogate_propose has returned is now the last row of the history, and pending.
void surrogate_await(struct surrogate *);
// Works out how far to trust the priors (s->trust), before the model learns for the first time.
void surrogate_weigh(struct surrogate *);
// The new configuration (without a row) of the highest expected improvement among the pool and the neighbours of the
// best rows. Returns its expected improvement, or -1 when nothing new was found.
double surrogate_propose(struct surrogate *, uint16_t *config);
// The expected improvement of each of these configurations, judged only by measurements.
void surrogate_acquisitions(struct surrogate *, const uint16_t *const *configs, size_t count, double *acquisition);
