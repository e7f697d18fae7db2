// The energy of one execution of a measurement plan (energy_window.h). While the device's energy counter is read, the
// same repetitions as in the final are executed for at least two seconds, and then, without the work, for at least one
// second.
//
// The device always has another batch in its queue, so the energy includes no gaps between launches. Batches of short
// repetitions are graphs, since a reading of the counter may take 3 ms or more. If the host does not launch in time,
// for example because another process starts, the windows are measured again. If that does not help, there is no
// result, with one exception: repetitions without the work may have been launched late if their share of the energy is
// small. The pause before launches (`measure.rest`) is left out. The results of these executions are not verified.
#pragma once

#include "tuner/gpu/workload_data.h"
#include "tuner/protocol/final_message.h"

// Measures the energy in joules, or gives the reason why there is no figure. Begins only if it will end before `until`
// (clock_now()). Fails only if the device does.
int energy_measure(struct workload *, const struct measure_plan *, double until, struct energy_figures *out,
                   struct error *err);
