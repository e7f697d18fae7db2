// The final: the best candidates and the baselines, measured side by side on fresh data.
//
// Candidates are proved in their order, best first, until all places are taken: on two sets of new data, twice on each,
// and in launches that are timed; the memory is checked after each, so that the culprit of any damage is known. Then,
// in each round, every entry is timed once, in an order drawn for the round, so that a warming device, a drifting
// clock or a neighbour's traffic affects all alike; times of one round belong together and are compared in pairs. Every
// timed launch of a candidate is judged. Where the race left damage, the culprit is found and the others race again;
// where no candidate passes, the next ones take the places.
#ifndef SWEETSPOT_GPU_FINAL_H
#define SWEETSPOT_GPU_FINAL_H

#include "tuner/gpu/baselines.h"
#include "tuner/gpu/workload.h"
#include "tuner/protocol/final_message.h"

// The share that is done, and the trial that runs alone (-1: a baseline; 0: all race).
typedef void final_progress(void *user, double share, int64_t trial);

// Fills `answer`, which is cleared, and keeps what it points to in `memory`. `progress` is called before each entry's
// turn and now and then. Negative codes as for gpu_trial_run().
int gpu_final_run(struct workload *, struct baselines *, const struct final_request *, struct final_answer *answer,
                  struct arena *memory, final_progress *progress, void *user, struct error *err);

#endif
