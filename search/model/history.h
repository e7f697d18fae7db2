// What a strategy knows about a space: each configuration that was proposed or told, once, with its result. A hash
// table over rows that are numbered in order of arrival; memory grows with the rows.
#pragma once

#include "search/space/space.h"
#include "tuner/base/hash_index.h"

// The result of a configuration. Only OUTCOME_OK and OUTCOME_SLOW have an objective.
enum outcome {
    OUTCOME_OK,      // measured and verified; objective is valid
    OUTCOME_SLOW,    // cut off: objective is one short sample, a lower-quality figure, far worse than the best
    OUTCOME_PRUNED,  // compiled, but cannot launch or was not worth launching (known without running it)
    OUTCOME_INVALID, // did not compile, crashed, wrong result, timeout...: infeasible
};

struct observation {
    const uint16_t *config; // space_parameter_count indices; borrowed during the call
    enum outcome outcome;
    double objective; // lower is better (seconds); NaN unless OK or SLOW
    // One a criterion where there are several (NaN: none for that one); NULL: `objective` for each.
    const double *objectives;
};

// Of a row without a result; otherwise an enum outcome. A forgotten row counts as absent: its configuration has no
// row, and gets a new one when it is proposed again or told.
enum { ROW_PENDING = -1, ROW_FORGOTTEN = -2 };

struct history {
    const struct space *space;
    size_t width; // parameters
    size_t count, room;
    uint16_t *configs; // row after row
    int *outcomes;
    double *objectives; // NaN unless OUTCOME_OK or OUTCOME_SLOW
    struct hash_index index;
    size_t reported; // results taken, corrections included
    size_t pending;  // rows whose outcome is ROW_PENDING
    int64_t best;    // the row with the lowest objective among OUTCOME_OK, or -1
};

void history_init(struct history *, const struct space *);
void history_release(struct history *);

int64_t history_find(const struct history *, const uint16_t *config); // its row, or -1
size_t history_propose(struct history *, const uint16_t *config); // a new pending row; the configuration must be new
void history_forget(struct history *, const uint16_t *config);    // a pending row; does nothing for any other
// Takes a result for a row or a new configuration; a second result replaces the first. Returns the row.
size_t history_tell(struct history *, const struct observation *);
static inline const uint16_t *history_config(const struct history *h, size_t row)
{
    return h->configs + row * h->width;
}

// How good a row is for ranking: its objective, +infinity for a failure.
double history_score(const struct history *, size_t row);

// Draws a valid configuration without a row, uniformly. False when there is none.
bool history_sample_new(const struct history *, struct random *, uint16_t *config);
