// What a strategy learns from a trial's status: the one place that turns a trial's status into an outcome of the
// search.
#ifndef SWEETSPOT_OBSERVATION_H
#define SWEETSPOT_OBSERVATION_H

#include <stdint.h>

#include "search/strategies/strategy.h"
#include "tuner/base/protocol.h"

// The objective counts only where the status has one (ok, slow); else it is NaN. Borrows the configuration.
struct observation observation_of(const uint16_t *config, enum trial_status, double objective);

#endif
