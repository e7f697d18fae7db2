// A model of what a space's configurations cost, learnt from a history, and the search for the configuration that promises most.
//
// The model is a Gaussian process over encoded configurations (encoding.h, gp.h), and over the compiler's facts of them where asked for.
// Targets are the logarithms of the times, compressed above the best, because how bad a bad configuration is tells little about the good
// ones; a failure counts as the worst seen, a proposal whose result is awaited as what the model expects of it. What is promised is
// the expected improvement over the best (Mockus 1978; Jones, Schonlau and Welch 1998).
#ifndef SWEETSPOT_SURROGATE_H
#define SWEETSPOT_SURROGATE_H

#include "search/encoding.h"
#include "search/gp.h"
#include "search/history.h"

enum { SURROGATE_FACTS = 5 };        // coordinates that static_facts become

struct surrogate {
    const struct space *space;
    const struct history *history;   // borrowed
    struct encoding encoding;
    size_t dimensions, facts;        // facts: SURROGATE_FACTS or 0, the first coordinates
    struct gp *gp;
    // The rows the model has learnt, and their points and targets, in the order in which the GP has them.
    size_t *rows, row_count;
    float *points;
    double *targets;
    size_t known;                    // of the rows given to surrogate_learn: how many were looked at
    size_t told_at_fit;              // told results at the last fit
    double best_target;              // the target of the best row
    // The pool: random configurations, renewed at every fit (all of a small space), with what the GP says of them.
    uint16_t *pool;
    size_t pool_count;
    double *pool_mean, *pool_variance;
    // Candidates besides the pool: neighbours of the best rows.
    uint16_t *configs;
    size_t candidate_count, candidate_room;
    float *encoded;
    double *mean, *bound, *promise;
};

// `with_facts`: the model is to weigh the compiler's facts. Then it cannot propose, only judge what is compiled.
void surrogate_init(struct surrogate *, const struct space *, const struct history *, bool with_facts);
void surrogate_release(struct surrogate *);

// Brings the model up to date: it is to know these rows of the history, of which one at least has been measured, and of which
// those of the last call are the first ones. `told` of the history's rows have a result. `facts` by row of the history, or NULL.
void surrogate_learn(struct surrogate *, const size_t *rows, size_t count, size_t told, const struct static_facts *facts, struct random *);
// Expected improvement of one configuration, in units of the targets' standard deviation.
double surrogate_promise(struct surrogate *, const uint16_t *config, const struct static_facts *);
// The new configuration (without a row) of the highest expected improvement among the pool and the neighbours of the best rows. Returns its
// expected improvement, or -1 when nothing new was found.
double surrogate_propose(struct surrogate *, uint16_t *config);

#endif
