// The energy of one execution of a measurement plan (energy_window.h): repetitions as the final times them, for at
// least two seconds of the device's energy counter, and then, for at least one, the same without the work.
//
// The device always has another batch in its queue, so gaps between launches are no part of the energy; batches of
// short repetitions are graphs, since a reading of the counter may take 3 ms and more. Where the host does not launch
// in time, for example because another process starts, the windows are taken again. If that does not help there is no
// result, unless only bare repetitions are too short for it and their share is small. The rest before launches
// (`measure.rest`) is left out. Results are not judged.
#pragma once

#include "tuner/gpu/workload_data.h"
#include "tuner/protocol/final_message.h"

// Joules, or the reason why there are none. It is not begun where it may not end before `until` (clock_now()). Fails
// only if the device does.
int energy_measure(struct workload *, const struct measure_plan *, double until, struct energy_figures *out,
                   struct error *err);
