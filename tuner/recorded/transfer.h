// Transfers the results of another space to this one, as a prior for the search (search/model/prior.h). Parameters are
// matched by name, and values by equality. A number that this space lacks is replaced by the space's nearest number. A
// configuration with a word that this space lacks is dropped. A parameter is ignored if one of the spaces lacks it, or
// if it has the same value in all results.
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
    bool *known, *varies; // by parameter: some configuration has it; two of them have different values
    double **numbers;     // by parameter and value; NaN: a word
};

void transfer_init(struct transfer *, const struct space *);
void transfer_release(struct transfer *);
// Adds one result: "A=1,B=x" with its status and objective.
void transfer_add(struct transfer *, const char *config, enum trial_status, double objective);
void transfer_add_recorded(struct transfer *, const struct recorded *);
// Returns NULL with a message if nothing can be learnt from it: no common parameter, no times, or only noise.
struct prior *transfer_prior(const struct transfer *, struct error *);
