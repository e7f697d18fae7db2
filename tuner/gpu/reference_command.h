// A reference that is a command of the user's. It gets a fresh folder as its last argument:
//
//     job.json      the problem's name, the seed, sizes and scalars, inputs and outputs with file, type and shape
//     in/x.npy      each input, and each inout buffer as it is before a launch; bf16 as f4
//     out/y.npy     to be written: each output, in any type of numbers
//
// and runs in the job file's folder. What it wrote is kept by content, beside the compile cache.
#ifndef SWEETSPOT_REFERENCE_COMMAND_H
#define SWEETSPOT_REFERENCE_COMMAND_H

#include "tuner/gpu/workload_data.h"

// The expected values of a problem from the set `filled`, which lies in the first copy. Waits.
int reference_command_compute(struct workload *, struct device_problem *, struct error *err);

#endif
