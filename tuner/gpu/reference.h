// The sources of expected values: an operation (with cuBLAS or on the CPU), another kernel, a function in a shared
// library, a command, .npy files, or none. Each source computes a problem's expected outputs from its inputs on the
// device, and decides what error is allowed.
//
// An operation has its own bound. For other references, the job's `absolute` and `relative` errors apply; if the job
// sets them to 0, results must be exact. `exact` also requires this from operations. If the job gives no errors, the
// bound is an absolute error of 64 unit roundoffs of the largest expected value, which suits only results that are sums
// of moderate length.
#pragma once

#include "tuner/gpu/workload_data.h"

// Allocates memory for the expected values of the set `filled`. The memory belongs to the problem.
int reference_prepare(struct workload *, struct device_problem *, struct error *err);
// Computes the expected values of one problem from the set `filled`, which is in the first copy, and masks them. Waits.
int reference_compute(struct workload *, size_t problem, struct error *err);
// Whether expected values are fixed, so that the inputs must not be filled from another seed.
bool reference_is_fixed(const struct workload *);
// Whether expected values are computed on the CPU. If so, they are worth keeping from run to run.
bool reference_is_slow(const struct workload *);
// Fills in the operation's view of a problem, which has its operands and values by role. -1 with a message if they do
// not suit the operation.
int reference_bind(struct workload *, struct device_problem *, struct error *err);
