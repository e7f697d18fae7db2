// Checks whether a candidate has changed memory that it must leave alone: guards of every copy, inputs of every copy,
// the origins that inout buffers are restored from, expected values and their scales. Everything is checked after every
// trial, so that damage is attributed to the right candidate. Checksums are keyed with a secret that changes each time,
// so no change can be made to fit them.
#pragma once

#include "tuner/base/protocol.h"
#include "tuner/gpu/workload_data.h"

// Both functions take checksums of the set that the first copy of problem `number` was filled with (workload_data.h),
// and wait. The first function is for inputs and origins, before the references are computed; the second is for
// expected values, afterwards.
int integrity_take_inputs(struct workload *, size_t number, struct error *err);
int integrity_take_expected(struct workload *, size_t number, struct error *err);

// Whether the reference that was just computed stayed within the problem's buffers; if not, -1 with the reason.
// Afterwards buffers_keep() writes the guards again. Waits.
int integrity_check_reference(struct workload *, size_t number, struct error *err);

// Checks everything and draws a new key. STATUS_OK, or with a reason: STATUS_OUT_OF_BOUNDS (stray writes, or damage to
// the verifier's memory), STATUS_WRONG (changed inputs). Waits; *status is set when 0 is returned.
int integrity_check(struct workload *, enum trial_status *status, struct error *reason, struct error *err);
