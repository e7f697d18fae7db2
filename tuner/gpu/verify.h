// Whether a candidate computes the right thing and touches nothing else. One pass runs every problem once:
//
//     outputs filled with a NaN pattern -> launch -> outputs against expected values, element by element, on the device
//     ... for all problems, then:  guards and inputs of all problems, findings to the host, one synchronisation
//
// A trial makes two passes, before and after timing, with different fill patterns. What proves what: an element that
// was not written keeps a NaN (or, in an integer, a number that differs between the passes), which no bound admits; a
// stray write hits a guard, an input (checksum) or a result; a stray read near a buffer finds NaN and poisons what is
// computed from it; a race shows as different bits in the two passes. Guards and inputs are looked at after all
// problems have run, since a launch for one problem may have written into another's memory.
#ifndef SWEETSPOT_GPU_VERIFY_H
#define SWEETSPOT_GPU_VERIFY_H

#include "tuner/base/protocol.h"
#include "tuner/gpu/workload_data.h"

// AGAIN is like FIRST, but compares with it bitwise: for telling a race from a plain mistake.
enum verify_pass { VERIFY_FIRST, VERIFY_SECOND, VERIFY_AGAIN };

struct verify_result {
    double error;     // worst error over allowed; NaN, infinite: beyond every bound
    int64_t row, col; // where; -1 if nothing is off at all
    uint64_t bad;     // elements beyond the bound
    double got, want;
    double error_max, error_rms; // relative to the bound's scale (or to |expected| where there is none)
};

// Forgets the findings of an earlier pass.
int verify_begin(struct workload *, struct error *err);
// Enqueues one problem: reset, launch between the problem's two events, compare.
int verify_run(struct workload *, size_t problem, const struct work *, enum verify_pass, struct error *err);
// Enqueues a comparison of what the last timed launch left behind; nothing where outputs are also inputs.
int verify_leftovers(struct workload *, size_t problem, struct error *err);
// Enqueues the remaining checks, copies the findings, waits. Adds the device's time to the measurement's busy time.
int verify_end(struct workload *, struct error *err);
// The verdict on one problem; `reason` is for people, and empty for STATUS_OK.
enum trial_status verify_judge(const struct workload *, size_t problem, struct verify_result *, struct error *reason);
// Whether the findings say that no input was changed.
bool verify_inputs_intact(const struct workload *);
// The time between a problem's two events of the last pass.
int verify_time(const struct workload *, size_t problem, double *seconds, struct error *err);

#endif
