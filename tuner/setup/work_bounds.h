// Compares a job's `work` with the device's ceilings: how long the arithmetic takes on the job's execution unit, how
// long the bytes take, and thus the minimum time for the problem. Every "of ceiling" figure comes from here, and so
// does the store's document of the known ceilings. That document is the answer to "ceilings" (protocol.h) with two more
// members, which list the requested execution units, even those that the device lacks:
//   "pipes":["fp32 fma",..],"lasting_pipes":["wgmma bf16"]
#pragma once

#include "tuner/base/json.h"
#include "tuner/job/job.h"

struct work_bounds {
    double flops, bytes;               // of the problem; NaN: unknown
    const struct execution_unit *pipe; // execution unit of the arithmetic; NULL: unknown
    double operations;                 // operations on that unit
    double ceiling;                    // of the unit, per second; NaN: unknown
    double arithmetic, memory;         // s at the ceilings; NaN: unknown
    // s, the greater of the two; no correct kernel is faster. NaN if one of them is unknown and may be the greater.
    double floor;
};

// With at least this many operations per byte, a problem's arithmetic may take longer than its memory traffic. Every
// device of the last ten years can do more FP32 operations than this for each byte that it reads.
extern const double work_balance;

// The bounds of one tuned problem; the job's space must have been built. `ceilings` (protocol.h) may be NULL. Returns
// -1 with a message if an expression cannot be evaluated.
int work_bounds(const struct job *, size_t problem, const json_t *ceilings, struct work_bounds *, struct error *);

// The job's objective (s) if every tuned problem took its `floor`; NaN if one of the floors is unknown.
double work_least_objective(const struct job *, const json_t *ceilings);

// The measured ceiling of an execution unit; for "tensor bf16", the higher of its two ceilings. NaN: unknown.
double work_ceiling(const json_t *ceilings, const struct execution_unit *);
// The ceiling with its conditions: "wgmma bf16 690 TFLOP/s, at 1400 MHz, the sustained clock"; "": unknown. malloc'ed.
char *work_ceiling_text(const json_t *ceilings, const struct execution_unit *);

// Whether `work` on a tuned problem, done in `time` (s), would exceed the measured "ceilings" (protocol.h) by more than
// 5%. If so, the warning names the job file, the line and both rates. Bytes that caches may hold are compared with the
// L2's ceiling. Returns false if something is unknown.
bool work_is_doubtful(const struct job *, size_t problem, double time, const json_t *ceilings, struct error *warning);

// The request for the ceilings that a document lacks (NULL: no document). Returns NULL if none is missing. A job whose
// execution unit is unknown needs the ceilings of memory and of most execution units, measured for a few milliseconds
// each. Other jobs need the ceilings of memory and of their own unit, at the sustained clock.
json_t *job_ceilings_request(const struct job *, const json_t *known);
// The document, extended by the answer to the request. New reference; `known` may be NULL.
json_t *job_ceilings_merge(const json_t *known, const json_t *request, const json_t *answer);
// The macros that kernels/ceilings.cu is compiled with. New reference.
json_t *job_ceilings_defines(const struct job *);
