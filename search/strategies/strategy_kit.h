// Helpers that several strategies use.
#ifndef SWEETSPOT_STRATEGY_KIT_H
#define SWEETSPOT_STRATEGY_KIT_H

#include "search/model/history.h"
#include "search/strategies/strategy.h"

// An upper bound of what space_neighbours can return: the room to give it.
size_t kit_neighbour_room(const struct space *);
// Fisher and Yates' shuffle of `count` configurations of `width` indices.
void kit_shuffle(struct random *, uint16_t *configs, size_t count, size_t width);
// Changes `changes` parameters with more than one value at random and repairs the result.
void kit_perturb(const struct space *, struct random *, uint16_t *config, int changes);
// Proposes `config`, or if it has a row already a new configuration near it, or any new one. False when none is left.
bool kit_propose(struct history *, struct random *, uint16_t *config);
// How good a row is for ranking: its objective, +infinity for a failure.
double kit_score(const struct history *, size_t row);

// The owner of each row of the history (a member of a population). Zeroed: empty.
struct kit_owners {
    int *list; // by row: owner + 1, 0 for none
    size_t room;
};
void kit_own(struct kit_owners *, size_t row, int owner);
int kit_owner(const struct kit_owners *, size_t row); // or -1
void kit_owners_release(struct kit_owners *);

#endif
