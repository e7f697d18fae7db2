// The table of functions through which operations (kernels/*.c) reach the GPU: thin wrappers around support kernels and
// cuBLAS.
#pragma once

#include "kernels/operation.h"
#include "tuner/gpu/support.h"
#include "tuner/libraries/blas.h"
#include "tuner/libraries/nvml.h"

enum { DEVICE_OPERATIONS_SCRATCH_MAX = 16 };

// The device's context and the libraries, which the process opens only once. Outlives every job.
struct machine {
    struct cuda *cuda;
    struct nvml *nvml; // may be NULL
    struct blas *blas; // opened when first needed
};

// The `self` of the table's functions.
struct device_operations_context {
    struct machine *machine;
    struct support *support;
    size_t scratch_count;
    uint64_t scratch[DEVICE_OPERATIONS_SCRATCH_MAX]; // of the reference being computed
};

// Both structs must outlive the table's use and stay where they are.
void device_operations_init(struct device_operations *, struct device_operations_context *);
// Frees what a reference allocated by scratch(), once the device has finished the reference.
void device_operations_free_scratch(struct device_operations_context *);
