// Whether a candidate has changed memory that it must leave alone: guards of every copy, inputs of every copy, the
// origins that inout buffers are restored from, expected values and their scales. Everything is checked after every
// trial, so that damage is blamed on the right candidate. Checksums are keyed with a secret that changes each time: a
// change cannot be made to fit.
#pragma once

#include "tuner/base/protocol.h"
#include "tuner/gpu/workload_data.h"

// Takes the checksums of the set that problem `number` was filled with (workload_data.h) and that lies in its first
// copy: before the references are computed those of inputs and origins, afterwards those of expected values. Waits.
int integrity_take_inputs(struct workload *, size_t number, struct error *err);
int integrity_take_expected(struct workload *, size_t number, struct error *err);

// Whether the reference that has just been computed kept to the problem's buffers: -1 with the reason. Their guards are
// then written again (buffers_keep). Waits.
int integrity_check_reference(struct workload *, size_t number, struct error *err);

// Checks everything and draws a new key. STATUS_OK, or with a reason: STATUS_OUT_OF_BOUNDS (stray writes; the judge's
// memory), STATUS_WRONG (inputs). Waits; *status is set when 0 is returned.
int integrity_check(struct workload *, enum trial_status *status, struct error *reason, struct error *err);
