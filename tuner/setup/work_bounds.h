// A job's `work` against the device's ceilings: how long the arithmetic takes on the job's pipe, how long the bytes
// take, and so the least time for the problem. Every "of ceiling" comes from here, and so does the store's document of
// the ceilings that are known: what "ceilings" (protocol.h) answered, and
//   "pipes":["fp32 fma",..],"lasting_pipes":["wgmma bf16"]    those that were requested, whether or not the device has
//   them
#pragma once

#include "tuner/base/json.h"
#include "tuner/job/job.h"

struct work_bounds {
    double flops, bytes;               // of the problem; NaN unknown
    const struct execution_unit *pipe; // of the arithmetic; NULL unknown
    double operations;                 // of that pipe
    double ceiling;                    // of the pipe, a second; NaN unknown
    double arithmetic, memory;         // s at the ceilings; NaN unknown
    // s, the greater of the two: no right kernel is faster. NaN where one that may count is unknown.
    double floor;
};

// From this many operations a byte on, a problem's arithmetic may count more than its bytes. Every device of the last
// ten years does more FP32 operations than this for each byte that it reads.
extern const double work_balance;

// Of one tuned problem; the job's space must have been built. `ceilings` (protocol.h) may be NULL. -1 with a message if
// an expression cannot be worked out.
int work_bounds(const struct job *, size_t problem, const json_t *ceilings, struct work_bounds *, struct error *);

// The job's objective (s) if every tuned problem took its `floor`; NaN where one is unknown.
double work_least_objective(const struct job *, const json_t *ceilings);

// A pipe's ceiling among those measured, for "tensor bf16" the higher of its two; NaN unknown.
double work_ceiling(const json_t *ceilings, const struct execution_unit *);
// How it was measured: "wgmma bf16 at 1.4 GHz, the clock that lasts: 690 TFLOP/s"; "" unknown. malloc'ed.
char *work_ceiling_text(const json_t *ceilings, const struct execution_unit *);

// Whether `work` on a tuned problem, done in `time` (s), would go beyond the measured "ceilings" (protocol.h) by more
// than 5%. Then the warning names the job file, the line and both rates. Bytes that caches may hold count against the
// L2's ceiling. False where something is unknown.
bool work_is_doubtful(const struct job *, size_t problem, double time, const json_t *ceilings, struct error *warning);

// The request for what is missing in a document (NULL: there is none); NULL when nothing is. A job whose pipe is
// unknown needs all that any job has, for some milliseconds each; others their own pipe, at the clock that lasts, and
// memory.
json_t *job_ceilings_request(const struct job *, const json_t *known);
// The document after an answer to the request. New reference; `known` may be NULL.
json_t *job_ceilings_merge(const json_t *known, const json_t *request, const json_t *answer);
// The macros that kernels/ceilings.cu is compiled with. New reference.
json_t *job_ceilings_defines(const struct job *);
