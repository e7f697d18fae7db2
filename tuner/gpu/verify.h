// Whether a candidate computes the right thing. One run of one problem, on one copy of its memory:
//
//     outputs and scratch hold arbitrary data, what the job promises is restored -> launch -> outputs against expected
//     values, element by element, on the device -> findings to the host at once, before any other launch of the
//     candidate
//
// A trial makes two passes over all problems, before and after timing, the second on both sets of data; and of the
// timed launches a share is judged in the same way (measure.h). What proves what: an element that was not written
// keeps what it held, mostly a NaN or random bits, which no bound admits; a kernel that uses what it finds there is
// wrong for some of the contents (buffers.h); a stray read near a buffer finds one of three extremes and poisons what
// is computed from it; a race shows as different bits in two runs on the same data. Stray writes and changed inputs:
// integrity.h. A user's function (reference_library.h) judges as well, on the host, where the job names one.
#pragma once

#include "tuner/base/protocol.h"
#include "tuner/gpu/workload_data.h"

struct verify_result {
    double error;     // worst error over allowed; NaN, infinite: beyond every bound
    int64_t row, col; // where; -1 if nothing is off at all
    uint64_t bad;     // elements beyond the bound
    double got, want;
    double error_max, error_rms; // relative to the bound's scale (or to |expected| where there is none)
};

// A new candidate: its first run on each set of data is kept, and later ones must have the same bits.
void verify_forget(struct workload *);
// Several candidates in turn: only values are compared until the next verify_forget().
void verify_several(struct workload *);
// A pass: one run of each problem whose work has an enqueue(), of BOTH sets one on the second set of data in front of
// it where there is one. SAME: memory holds what it held before the first run, so that other results are a race. Module
// variables keep their values. Waits, also after a failure, since what was enqueued must end before anything is
// reused. Adds the device's time to the measurement's busy time.
enum verify_runs { VERIFY_FIRST, VERIFY_BOTH, VERIFY_SAME };
int verify_pass(struct workload *, const struct work *works, enum verify_runs, struct error *err);
// The verdict on one problem's runs in this pass; `reason` is for people, and empty for STATUS_OK.
enum trial_status verify_outputs(const struct workload *, size_t problem, struct verify_result *, struct error *reason);
// The time between a problem's two events of the last pass.
int verify_time(const struct workload *, size_t problem, double *seconds, struct error *err);

// A launch elsewhere (soak.h): enqueues the comparison of what it left in a copy of `buffers`, which are the problem's
// or these at other addresses, into one of MEASURE_BATCH slots. After a wait verify_launched() is the verdict on it.
int verify_launch(struct workload *, size_t problem, struct buffers *, unsigned copy, uint64_t key, unsigned slot,
                  struct error *err);
enum trial_status verify_launched(const struct workload *, size_t problem, unsigned slot, struct error *reason);

// Says what was written outside a buffer, and where.
void verify_stray_text(const struct device_buffer *, const struct verify_finding *, struct error *reason);

// Work on a problem as the measurement takes it; `judged`: with this module as the judge of timed launches.
struct measure_subject verify_subject(struct workload *, size_t problem, const struct work *, bool judged);
