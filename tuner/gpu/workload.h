// What a "job" request sets up and all later requests work with: the problems with their memory and expected results,
// and the settings. One at a time; a new job replaces it.
#ifndef SWEETSPOT_GPU_WORKLOAD_H
#define SWEETSPOT_GPU_WORKLOAD_H

#include "kernels/operation.h"
#include "tuner/base/json.h"
#include "tuner/base/limits.h"
#include "tuner/gpu/buffers.h"
#include "tuner/gpu/measure.h"
#include "tuner/gpu/support.h"
#include "tuner/libraries/blas.h"
#include "tuner/libraries/nvml.h"

enum { WORKLOAD_PROBLEMS_MAX = JOB_MAX_PROBLEMS, WORKLOAD_SCRATCH_MAX = 16 };

// The process's hold on the machine; outlives every job.
struct machine {
    struct cuda *cuda;
    struct nvml *nvml; // may be NULL
    struct blas *blas; // opened when first needed, by machine_blas
};

// Opens cuBLAS if it is not open yet.
int machine_blas(struct machine *, struct error *err);

struct verify_settings {
    bool enabled;
    double tolerance, absolute, relative;
    bool deterministic;
    size_t guard_bytes;
};

struct device_problem {
    char name[256];
    bool tune;           // timed; otherwise only verified
    const json_t *roles; // sizes and scalars of the operation, by role; borrowed from the request kept in the workload
    struct buffers buffers;
    // By buffer; meaningful for outputs.
    struct bound bound[BUFFERS_MAX];
    uint64_t previous[BUFFERS_MAX];     // dense copy of the first run's output; 0: not kept
    uint64_t checksum[BUFFERS_MAX];     // of the expected values and scales
    uint64_t results;                   // the allocation that these lie in
    struct operation_problem operation; // where the reference is an operation
};

struct workload {
    struct machine *machine;
    struct cuda *cuda; // the machine's
    struct support *support;
    struct measure *measure;
    struct measure_settings measure_settings;
    struct verify_settings verify;
    uint64_t seed;
    size_t problem_count, tuned_count;
    struct device_problem *problems;
    struct cuda_event **events;                     // two for each problem, and one more
    struct verify_finding (*findings)[BUFFERS_MAX]; // page-locked copies of each problem's findings
    json_t *request;                                // the job as asked for
    const struct operation *operation;              // NULL: the reference is another
    struct device_operations operations;
    uint64_t scratch[WORKLOAD_SCRATCH_MAX]; // of the reference being computed
    size_t scratch_count;
};

// Reads a "job" request, allocates, fills and computes the references. The caller releases, also after a failure.
int workload_open(struct workload *, struct machine *, json_t *request, struct error *err);
void workload_release(struct workload *);

// Fills everything anew, from another seed or after damage, and computes the references. Waits.
int workload_fill(struct workload *, uint64_t seed, struct error *err);

// Whether inputs, guards and expected results are what they were; if not, everything is filled anew. Waits.
int workload_mend(struct workload *, bool *damaged, struct error *err);

// The functions that operations may call, on this workload. (device_operations.c)
void device_operations_init(struct device_operations *, struct workload *);
void device_operations_free_scratch(struct workload *);

#endif
