// The process's hold on the machine: the device's context, and the libraries that are opened once. Outlives every job.
#ifndef SWEETSPOT_GPU_MACHINE_H
#define SWEETSPOT_GPU_MACHINE_H

#include "tuner/libraries/blas.h"
#include "tuner/libraries/cuda.h"
#include "tuner/libraries/nvml.h"

struct machine {
    struct cuda *cuda;
    struct nvml *nvml; // may be NULL
    struct blas *blas; // opened when first needed (device_operations.c)
};

#endif
