// The table of functions through which operations (kernels/*.c) reach the GPU: thin wrappers around support kernels and
// cuBLAS.
#pragma once

#include "kernels/operation.h"
#include "tuner/gpu/support.h"
#include "tuner/libraries/blas.h"
#include "tuner/libraries/nvml.h"

enum { DEVICE_OPERATIONS_SCRATCH_MAX = 16 };

// The process's hold on the machine: the device's context, and the libraries that are opened once. Outlives every job.
struct machine {
    struct cuda *cuda;
    struct nvml *nvml; // may be NULL
    struct blas *blas; // opened when first needed
};

// What the functions work on: their `self`.
struct device_operations_context {
    struct machine *machine;
    struct support *support;
    size_t scratch_count;
    uint64_t scratch[DEVICE_OPERATIONS_SCRATCH_MAX]; // of the reference being computed
};

// Both structs must outlive the table's use and stay where they are.
void device_operations_init(struct device_operations *, struct device_operations_context *);
// Frees what a reference took by scratch(), once the device has ended it.
void device_operations_free_scratch(struct device_operations_context *);
