// A user function that enqueues work on the worker's stream, for a baseline that is a program
// (kernels/sweetspot_baseline.h). Its code runs in this process. If it crashes or exceeds its time limit, this process
// reports that, with the baseline's name, in its answer to the current request, and ends. The driver continues without
// the baseline.
#pragma once

#include "tuner/base/json.h"
#include "tuner/libraries/cuda.h"
#include "tuner/protocol/candidate.h"

struct program_call;

// Opens the "library" of a stage and finds its "function" and "init". `baseline`: the name of the baseline that the
// stage belongs to. The caller frees; the library stays open, since its code may be needed until the process ends.
// CUDA_REFUSED if there is no such function.
int program_call_open(struct program_call **out, const char *baseline, const struct stage_call *, struct error *err);
// Calls "init", if there is one, and waits for the device.
int program_call_init(struct program_call *, struct cuda *, void **arguments, struct error *err);
// Enqueues. CUDA_REFUSED: the function reports failure.
int program_call_run(struct program_call *, struct cuda *, void **arguments, struct error *err);

// Sets where answers go, and the id of the current request (NULL: the request has none).
void program_call_answers(int file, const json_t *id);
// From now on, a baseline's work may take at most this many seconds; 0: no limit.
void program_call_limit(const char *baseline, double seconds);
