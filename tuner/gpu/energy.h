// The energy of one execution of a measurement plan (energy_window.h). While the device's energy counter is read, the
// same repetitions as in the final are executed for at least two seconds, and then, without the work, for at least one
// second.
//
// The device always has another batch in its queue, so the energy includes no gaps between launches. Batches of short
// repetitions are graphs, since a reading of the counter may take 3 ms or more. If the host does not launch in time,
// for example because another process starts, the windows are measured again. If that does not help, there is no
// result, unless only the repetitions without the work were launched late and their share of the energy is small. The
// pause before launches (`measure.rest`) is left out. Results are not judged.
#pragma once

#include "tuner/gpu/workload_data.h"
#include "tuner/protocol/final_message.h"

// Joules, or the reason why there is no figure. Does not begin if it might not end before `until` (clock_now()). Fails
// only if the device does.
int energy_measure(struct workload *, const struct measure_plan *, double until, struct energy_figures *out,
                   struct error *err);
