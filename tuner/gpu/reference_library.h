// A reference in a user's library: its functions compute expected values, make inputs, and judge outputs. They run in
// processes of their own (library_call.h).
#pragma once

#include "tuner/gpu/workload_data.h"

// The expected values of a problem, by the library's "function", from the set `filled`, which lies in the first copy.
// Nothing where the reference has no "function". Waits.
int reference_library_compute(struct workload *, size_t problem, struct error *err);

// Has the library's "generate" make the inputs of a set that has just been filled in the first copy, and their
// origins. Nothing where the reference has no "generate". It is called twice, and must do the same both times. Waits.
int reference_library_generate(struct workload *, struct device_problem *, unsigned set, struct error *err);

// Keeps the inputs of the set `filled` for the library's "verify"; nothing where there is none. Waits.
int reference_library_keep(struct workload *, struct device_problem *, struct error *err);
// Whether launches are judged by the library.
bool reference_library_judges(const struct workload *);
// Has the library judge what a launch left in a copy of the problem's buffers, which may lie elsewhere. Waits. What was
// judged before, bit by bit, is not judged again. A function that crashes or is late is a verdict too; fails only if
// the device does.
int reference_library_verify(struct workload *, struct device_problem *, const struct buffers *, unsigned copy,
                             struct host_verdict *, struct error *err);
void reference_library_release(struct device_problem *);

// The expected values of a problem, by a command of the user's (reference_command.c), from the same set. Waits.
int reference_command_compute(struct workload *, size_t problem, struct error *err);
