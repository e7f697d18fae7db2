// A strategy's knowledge about a space: each configuration that was proposed or reported appears once, with its result.
// It is a hash table over rows, which are numbered in order of arrival; memory grows with the number of rows.
#pragma once

#include "search/space/space.h"
#include "tuner/base/hash_index.h"

// The result of a configuration. Only OUTCOME_OK and OUTCOME_SLOW have an objective.
enum outcome {
    OUTCOME_OK,      // measured and verified; objective is valid
    OUTCOME_SLOW,    // stopped early, far worse than the best: objective is one short, less accurate sample
    OUTCOME_PRUNED,  // compiled, but cannot launch or was not worth launching (known without running it)
    OUTCOME_INVALID, // did not compile, crashed, wrong result, timeout...: infeasible
};

struct observation {
    const uint16_t *config; // space_parameter_count indices; borrowed during the call
    enum outcome outcome;
    double objective; // lower is better (seconds); NaN unless OK or SLOW
    // One per criterion if there are several (NaN: no value for that criterion). NULL: `objective` counts for every
    // criterion.
    const double *objectives;
};

// Values of `outcomes` for rows without a result; rows with a result have an enum outcome. A forgotten row counts as
// absent: its configuration gets a new row when it is proposed again or its result is reported.
enum { ROW_PENDING = -1, ROW_FORGOTTEN = -2 };

struct history {
    const struct space *space;
    size_t width; // parameters
    size_t count, room;
    uint16_t *configs; // row after row
    int *outcomes;
    double *objectives; // NaN unless OUTCOME_OK or OUTCOME_SLOW
    struct hash_index index;
    size_t reported; // results received, including corrections
    size_t pending;  // rows whose outcome is ROW_PENDING
    int64_t best;    // the row with the lowest objective among OUTCOME_OK, or -1
};

void history_init(struct history *, const struct space *);
void history_release(struct history *);

int64_t history_find(const struct history *, const uint16_t *config); // its row, or -1
size_t history_propose(struct history *, const uint16_t *config); // a new pending row; the configuration must be new
void history_forget(struct history *, const uint16_t *config);    // a pending row; does nothing for other rows
// Takes a result for a row or a new configuration; a second result replaces the first. Returns the row.
size_t history_tell(struct history *, const struct observation *);
static inline const uint16_t *history_config(const struct history *h, size_t row)
{
    return h->configs + row * h->width;
}

// The score that ranks rows; lower is better: the objective, or +infinity for a failure.
double history_score(const struct history *, size_t row);

// Draws a valid configuration without a row, uniformly. Returns false if there is none.
bool history_sample_new(const struct history *, struct random *, uint16_t *config);
