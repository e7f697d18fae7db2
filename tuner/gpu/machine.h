// The process's hold on the machine: the device's context, and the libraries that are opened once. Outlives every job.
#ifndef SWEETSPOT_GPU_MACHINE_H
#define SWEETSPOT_GPU_MACHINE_H

#include "tuner/libraries/blas.h"
#include "tuner/libraries/cuda.h"
#include "tuner/libraries/nvml.h"

struct machine {
    struct cuda *cuda;
    struct nvml *nvml; // may be NULL
    struct blas *blas; // opened when first needed, by machine_blas
};

// Opens a device (cuda_open) and NVML, unless that is done. The caller closes, also after a failure.
int machine_open(struct machine *, const char *device, struct error *err);
void machine_close(struct machine *);
// Opens cuBLAS if it is not open yet.
int machine_blas(struct machine *, struct error *err);

#endif
