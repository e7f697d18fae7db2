// A job's `work` against the device's ceilings: how long the arithmetic takes on the job's pipe, how long the bytes
// take, and so the least time for the problem. Every "of ceiling" comes from here.
#ifndef SWEETSPOT_WORK_BOUNDS_H
#define SWEETSPOT_WORK_BOUNDS_H

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

// A pipe's ceiling among those measured, for "tensor bf16" the higher of its two; NaN unknown.
double work_ceiling(const json_t *ceilings, const struct execution_unit *);
// How it was measured: "wgmma bf16 at 1.4 GHz, the clock that lasts: 690 TFLOP/s"; "" unknown. malloc'ed.
char *work_ceiling_text(const json_t *ceilings, const struct execution_unit *);

#endif
