// Transfers results of another space to this one, as a prior of the search (search/model/prior.h): parameters are
// matched by name, values by value. A number that this space lacks becomes its nearest one; a word that it lacks drops
// the configuration. A parameter that one side lacks, or that never varies there, is ignored.
#pragma once

#include "search/model/prior.h"
#include "tuner/base/error.h"
#include "tuner/base/protocol.h"
#include "tuner/recorded/recorded.h"

enum { TRANSFER_MOST = 20000 }; // results taken from one source; the others are left out

struct transfer {
    const struct space *space;
    size_t count, room, timed;
    size_t dropped, left_out;
    uint16_t *configs;
    double *objectives;
    bool *known, *varies; // by parameter: some configuration had it; two of them had different values
    double **numbers;     // by parameter and value; NaN: a word
};

void transfer_init(struct transfer *, const struct space *);
void transfer_release(struct transfer *);
// One result: "A=1,B=x" with its status and objective.
void transfer_add(struct transfer *, const char *config, enum trial_status, double objective);
void transfer_add_recorded(struct transfer *, const struct recorded *);
// NULL with a message when it teaches nothing: no common parameter, no times.
struct prior *transfer_prior(const struct transfer *, struct error *);
