// The energy of one execution of a measurement plan: repetitions as the final times them, for at least two seconds of
// the device's energy counter, and then for at least one second the same repetitions without the work. The formula and
// its limits: energy_window.h.
//
// The device always has the next batch of repetitions in its queue, so gaps between launches are no part of the energy.
// Where the host cannot launch as fast as the device works there is no result, unless only the bare repetitions are too
// short for it and their share is small. The rest before launches (`measure.rest`) is left out.
#ifndef SWEETSPOT_GPU_ENERGY_H
#define SWEETSPOT_GPU_ENERGY_H

#include "tuner/gpu/workload_data.h"
#include "tuner/protocol/final_message.h"

// It is not begun where it may not end before `until` (clock_now()). Fails only if the device does; else there are
// joules or a reason, whose text is kept in `memory`. Results are not judged.
int energy_measure(struct workload *, const struct measure_plan *, double until, struct energy_figures *out,
                   struct arena *memory, struct error *err);

#endif
