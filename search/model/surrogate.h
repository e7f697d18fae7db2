// A model of the cost of a space's configurations, learnt from a history, and the search for the most promising
// configuration.
//
// The model is a Gaussian process over encoded configurations (encoding.h, gp.h). Targets are the logarithms of the
// times, compressed above the best, because the exact cost of a bad configuration says little about good ones. A
// failure counts as the worst time seen, and a proposal whose result is awaited counts with the model's expectation.
// Candidates are ranked by the expected improvement over the best (Mockus 1978; Jones, Schonlau and Welch 1998). If
// there are priors, the mean of the process is their expectation, weighted by how far they are trusted (prior.h).
#pragma once

#include "search/model/encoding.h"
#include "search/model/gp.h"
#include "search/model/history.h"
#include "search/model/prior.h"

struct surrogate {
    const struct space *space;
    const struct history *history; // borrowed
    struct arena memory;           // for everything that does not grow
    struct encoding encoding;
    struct gp *gp;
    size_t width;
    // The rows of the history that the model has learnt, in the GP's order.
    struct {
        size_t *row, count, room;
        float *points; // encoded
        double *targets;
        float *features;          // by row, then by prior
        double *awaited_variance; // of an awaited row's target, which is an expectation from the measured rows
    } rows;
    struct {
        size_t rows;     // of the history that have been read so far
        size_t reported; // reported results that the model knows; `best`: the history's best row among them
        int64_t best;
        size_t reported_at_fit; // reported results at the last fit
    } known;
    double best_measured; // the target of the best row
    double best_target;   // best_measured, or the expectation for an awaited row if that is lower
    struct {
        struct gp *gp; // the process that its steps use, one step per proposal
        size_t steps;  // steps made so far
    } next_fit;
    // Random configurations, renewed at every fit (in a small space: all configurations), with the GP's predictions.
    // `parts` is the number of parts that have been added so far.
    struct {
        uint16_t *configs;
        size_t count, parts;
        double *mean, *variance;
        float *features;
        size_t featured; // candidates that have features: computed when a prior is trusted
    } pool;
    // The priors' expectation is the model's mean; the targets are the slowdowns minus this mean, in units of `scale`.
    struct prior_weights prior_weights;
    double scale;
    // Candidates in addition to the pool, found since the model last learnt.
    struct {
        uint16_t *configs;
        size_t count, room;
        bool rated; // the candidates have been found
        float *encoded;
        double *mean, *bound, *acquisition;
    } candidates;
    // The last proposal, while it is still the best one, and the model's expectation for it, in the targets' units.
    struct {
        bool known;
        uint16_t *config;
        double acquisition, mean, variance;
    } proposal;
};

void surrogate_init(struct surrogate *, const struct space *, const struct history *, const struct prior *const *,
                    size_t prior_count);
void surrogate_release(struct surrogate *);

// Brings the model up to date with the history, in which `reported` results have arrived. At least one configuration
// must have been measured. If many proposals are outstanding, the model waits for several results, because a single
// result then changes little, and one update serves several proposals.
void surrogate_learn(struct surrogate *, size_t reported, struct random *);
// Returns whether a ranking may skip learning. It may do so if results are learnt in large batches, the model knows all
// rows, and fewer than two batches of results have arrived since the model last learnt.
bool surrogate_is_recent(const struct surrogate *, size_t reported);
// Call this after the proposal of surrogate_propose has become the last row of the history, and is pending.
void surrogate_await(struct surrogate *);
// Works out how far to trust the priors (s->prior_weights), before the model learns for the first time.
void surrogate_weigh(struct surrogate *);
// Finds the new configuration (without a row) with the highest expected improvement among the pool and the neighbours
// of the best rows. Returns its expected improvement, or -1 if nothing new was found.
double surrogate_propose(struct surrogate *, uint16_t *config);
// The expected improvement of each of these configurations, judged only by measurements.
void surrogate_acquisitions(struct surrogate *, const uint16_t *const *configs, size_t count, double *acquisition);
