// Reading the stages of a candidate: launches with their arguments, a library's calls, functions of the user's.
#ifndef SWEETSPOT_GPU_PIPELINE_READ_H
#define SWEETSPOT_GPU_PIPELINE_READ_H

#include "tuner/gpu/pipeline.h"

// Appends the stage, or another run of the last one, to the launches of a problem, which have room for it, and makes it
// ready. Its kernel is of the pipeline's units, which are loaded. CUDA_REFUSED: it cannot be launched.
int pipeline_read_stage(struct pipeline *, struct pipeline_part *, const struct device_problem *,
                        const struct candidate *, const struct stage_call *, struct error *);

#endif
