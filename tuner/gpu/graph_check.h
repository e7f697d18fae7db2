// Checks whether a time measured in a graph is plausible. In the graph, launches of one kernel follow each other
// directly, so a launch may find in shared memory what an earlier one left. A second graph overwrites all shared memory
// before each launch, and a third one only overwrites shared memory:
//
//     timed:     launch | launch | launch ...            poisoned:  poison | launch | poison | launch ...
//     bare:      poison | poison | poison ...            poisoned - bare must not be much longer than timed
//
// Every launch of the second graph is judged.
#pragma once

#include "tuner/gpu/workload_data.h"

// Checks work whose plan has a graph, in which a launch takes `time` (s). Sets *status to STATUS_OK or, with a reason,
// to STATUS_IMPLAUSIBLE or to the status of a launch in the second graph that failed verification. Waits.
int graph_check(struct workload *, size_t problem, const struct measure_plan *, double time, enum trial_status *status,
                struct error *reason, struct error *err);

// Whether a launch's time in the timed graph, `time`, agrees with `poisoned`, its time in the second graph minus that
// in the third (s).
bool graph_check_agrees(double time, double poisoned);
