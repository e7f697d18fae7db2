// What all requests after "job" work with: the problems with their memory and expected results, and the settings. Data
// alone: reference.c, pipeline.c, verify.c and others take it as it is; workload.c, above them, makes it.
#ifndef SWEETSPOT_GPU_WORKLOAD_DATA_H
#define SWEETSPOT_GPU_WORKLOAD_DATA_H

#include "kernels/operation.h"
#include "tuner/base/json.h"
#include "tuner/base/limits.h"
#include "tuner/base/settings.h"
#include "tuner/gpu/buffers.h"
#include "tuner/gpu/device_operations.h"
#include "tuner/gpu/machine.h"
#include "tuner/gpu/measure.h"
#include "tuner/gpu/support.h"

enum { WORKLOAD_PROBLEMS_MAX = JOB_MAX_PROBLEMS };

struct device_problem {
    const char *name;    // this and roles are borrowed from the request, which the workload keeps
    bool tune;           // timed; otherwise only verified
    const json_t *roles; // sizes and scalars of the operation, by role
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
    struct device_operations operations;            // what it, and baselines, may call
    struct device_operations_context context;
};

#endif
