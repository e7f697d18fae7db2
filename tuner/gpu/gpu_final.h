// The final: the best candidates and the baselines, measured side by side on fresh data.
//
// Every entry is first verified on the new data. Then, in each round, every entry is timed once, in an order drawn anew
// for the round, so that a warming device, a drifting clock or a neighbour's traffic meets all alike; times of one
// round belong together and are compared in pairs. At the end every entry is verified once more.
#ifndef SWEETSPOT_GPU_FINAL_H
#define SWEETSPOT_GPU_FINAL_H

#include "tuner/base/json.h"
#include "tuner/gpu/baselines.h"
#include "tuner/gpu/workload.h"

// Fills `answer` as protocol.h says for "final". `progress` is called now and then with the share that is done.
// Negative codes as of gpu_trial_run().
int gpu_final_run(struct workload *, struct baselines *, const json_t *request, json_t *answer,
                  void (*progress)(void *user, double share), void *user, struct error *err);

#endif
