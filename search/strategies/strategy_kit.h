// Helpers that several strategies use.
#ifndef SWEETSPOT_STRATEGY_KIT_H
#define SWEETSPOT_STRATEGY_KIT_H

#include "search/strategies/strategy.h"

// Changes `changes` parameters with more than one value at random and repairs the result.
void kit_perturb(struct strategy_state *, uint16_t *config, int changes);
// Makes `config` one without a row: itself, else a configuration near it, else any. False when none is left.
bool kit_make_new(struct strategy_state *, uint16_t *config);

#endif
