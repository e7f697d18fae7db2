// Whether a time that was taken in a graph is that of the work. Launches of one kernel follow each other there without
// anything between them, so that one may find in shared memory what an earlier one left. Another graph overwrites all
// shared memory before each launch, and a third one does only that:
//
//     timed:     launch | launch | launch ...            poisoned:  poison | launch | poison | launch ...
//     bare:      poison | poison | poison ...            poisoned - bare must not be much longer than timed
//
// Every launch of the second graph is judged.
#pragma once

#include "tuner/gpu/workload_data.h"

// For work whose plan has a graph; `time` is what a launch in it takes (s). *status: STATUS_OK, or with a reason
// STATUS_IMPLAUSIBLE or what a launch of the second graph calls for. Waits.
int graph_check(struct workload *, size_t problem, const struct measure_plan *, double time, enum trial_status *status,
                struct error *reason, struct error *err);

// Whether launches that take `time` in the timed graph may take `poisoned` in the second one, less the third (s).
bool graph_check_agrees(double time, double poisoned);
