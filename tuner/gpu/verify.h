// Checks whether a candidate computes correct results. One run of one problem, on one copy of its memory:
//
//     outputs and scratch hold arbitrary data, what the job promises is restored -> launch -> outputs against expected
//     values, element by element, on the device -> findings to the host at once, before any other launch of the
//     candidate
//
// A trial makes two passes over all problems, one before timing and one after it, the latter on both sets of data. A
// share of the timed launches is judged in the same way (measure.h). Errors show as follows. An unwritten element keeps
// its old contents, usually NaN or random bits, which no bound allows. A kernel that uses these contents gives wrong
// results for some of them (buffers.h). A stray read near a buffer finds one of three extremes, which spoils the
// results. A race shows as different bits in two runs on the same data. For stray writes and changed inputs, see
// integrity.h. If the job names a user function (reference_library.h), this function judges the results too, on the
// host.
#pragma once

#include "tuner/base/protocol.h"
#include "tuner/gpu/workload_data.h"

struct verify_result {
    double error;     // worst ratio of error to allowed error; NaN, infinite: beyond every bound
    int64_t row, col; // where; -1 if there is no error at all
    uint64_t bad;     // elements beyond the bound
    double got, want;
    double error_max, error_rms; // relative to the bound's scale (or to |expected| where there is none)
};

// Called for a new candidate. The results of its first run on each set of data are kept, and later runs must give the
// same bits.
void verify_forget(struct workload *);
// Called before several candidates run in turn. Until the next verify_forget(), only values are compared, not bits.
void verify_several(struct workload *);
// A pass: one run of each problem whose work has an enqueue(). BOTH: if there is a second set of data, a run on it
// comes first. SAME: memory holds the same data as before the first run, so different results mean a race. Module
// variables keep their values. Waits, even after a failure, since everything enqueued must end before anything is
// reused. Adds the device's time to the measurement's busy time.
enum verify_runs { VERIFY_FIRST, VERIFY_BOTH, VERIFY_SAME };
int verify_pass(struct workload *, const struct work *works, enum verify_runs, struct error *err);
// The verdict on one problem's runs in this pass; `reason` is for people, and empty for STATUS_OK.
enum trial_status verify_outputs(const struct workload *, size_t problem, struct verify_result *, struct error *reason);
// The time between a problem's two events in the last pass.
int verify_time(const struct workload *, size_t problem, double *seconds, struct error *err);

// For launches by other modules (soak.h). Enqueues the comparison of a launch's results, which are in a copy of
// `buffers`. These are the problem's own buffers or the same ones at other addresses. The outcome goes to one of
// MEASURE_BATCH slots. After a wait, verify_launched() gives the verdict on the launch.
int verify_launch(struct workload *, size_t problem, struct buffers *, unsigned copy, uint64_t key, unsigned slot,
                  struct error *err);
enum trial_status verify_launched(const struct workload *, size_t problem, unsigned slot, struct error *reason);

// Describes what was written outside a buffer, and where.
void verify_stray_text(const struct device_buffer *, const struct verify_finding *, struct error *reason);

// Returns the work on a problem as a subject to measure. `judged`: this module judges its timed launches.
struct measure_subject verify_subject(struct workload *, size_t problem, const struct work *, bool judged);
