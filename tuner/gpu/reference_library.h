// A reference in a user's library. The library's functions compute expected values, generate inputs, and verify
// outputs. Each call runs in a separate process (library_call.h).
#pragma once

#include "tuner/gpu/workload_data.h"

// Computes the expected values of a problem with the library's "function", from the set `filled`, which is in the first
// copy. Does nothing if the reference has no "function". Waits.
int reference_library_compute(struct workload *, size_t problem, struct error *err);

// Calls the library's "generate" to produce the inputs of a set that the first copy has just been filled with. The
// origins of these inputs are written too. Does nothing if the reference has no "generate". The function is called
// twice, and must do the same both times. Waits.
int reference_library_generate(struct workload *, struct device_problem *, unsigned set, struct error *err);

// Keeps the inputs of the set `filled` for the library's "verify". Does nothing if there is none. Waits.
int reference_library_keep(struct workload *, struct device_problem *, struct error *err);
// Whether launches are judged by the library.
bool reference_library_judges(const struct workload *);
// Calls the library to judge a launch's results. They are in a copy of the problem's buffers, or in the same buffers at
// other addresses. Waits. Results with the same bits as earlier ones are not judged again. A crash of the function, or
// a call that exceeds its time, is a verdict too. Fails only if the device fails.
int reference_library_verify(struct workload *, struct device_problem *, const struct buffers *, unsigned copy,
                             struct host_verdict *, struct error *err);
void reference_library_release(struct device_problem *);

// Computes the expected values of a problem with a user's command (reference_command.c), from the set `filled`. Waits.
int reference_command_compute(struct workload *, size_t problem, struct error *err);
