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
    // The rows of the history that the model has learnt, in the order in which the GP has them.
    struct {
        size_t *row, count, room;
        float *points; // encoded
        double *targets;
        float *features;          // of a row, by prior
        double *awaited_variance; // of a row that is awaited, as its target is what is expected: by what is measured
    } rows;
    struct {
        size_t rows;     // of the history that were looked at so far
        size_t reported; // told results that the model knows, and the history's best among them
        int64_t best;
        size_t reported_at_fit; // told results at the last fit
    } known;
    double best_measured; // the target of the best row
    double best_target;   // the same, or what is expected of an awaited one if that is better
    struct {
        struct gp *gp; // what its steps are made with, one a proposal
        size_t steps;  // that have been made
    } next_fit;
    // Random configurations, renewed at every fit (all of a small space), with what the GP says of them. The parts that
    // it has of those it is to get.
    struct {
        uint16_t *configs;
        size_t count, parts;
        double *mean, *variance;
        float *features;
        size_t featured; // candidates that have them: computed when a prior is trusted
    } pool;
    // What the priors expect is the model's mean: the targets are what is left of the excesses, in units of `scale`.
    struct prior_weights prior_weights;
    double scale;
    // Candidates besides the pool, since the model has learnt.
    struct {
        uint16_t *configs;
        size_t count, room;
        bool rated; // there are candidates
        float *encoded;
        double *mean, *bound, *acquisition;
    } candidates;
    // The last proposal, as long as it is still the best one, and what is expected of it, in the targets' units.
    struct {
        bool known;
        uint16_t *config;
        double acquisition, mean, variance;
    } proposal;
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
