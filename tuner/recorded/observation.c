// See observation.h.
#include "tuner/recorded/observation.h"

#include <math.h>

static enum outcome outcome_of(enum trial_status status)
{
    switch (status) {
    case STATUS_OK:
        return OUTCOME_OK;
    case STATUS_SLOW:
        return OUTCOME_SLOW;
    case STATUS_PRUNED:
        return OUTCOME_PRUNED;
    default:
        return OUTCOME_INVALID;
    }
}

struct observation observation_of(const uint16_t *config, enum trial_status status, double objective)
{
    enum outcome outcome = outcome_of(status);
    bool timed = outcome == OUTCOME_OK || outcome == OUTCOME_SLOW;
    return (struct observation){.config = config, .outcome = outcome, .objective = timed ? objective : (double)NAN};
}
