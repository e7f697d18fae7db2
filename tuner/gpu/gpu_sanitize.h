// The request "sanitize": launches a candidate for a tool of compute-sanitizer to watch. Nothing is timed or compared.
//
// In a trial all buffers of a problem lie in one allocation that is filled before anything runs: a tool would see
// neither their ends nor which bytes were never written. Here each buffer is an allocation of exactly its size, and
// only what the job promises has contents: inputs, inout buffers and filled scratch, copied from the host, so that the
// tool knows them to be written. Outputs and other scratch are left as they were allocated.
#ifndef SWEETSPOT_GPU_SANITIZE_H
#define SWEETSPOT_GPU_SANITIZE_H

#include "tuner/gpu/workload_data.h"
#include "tuner/protocol/candidate.h"
#include "tuner/protocol/message.h"

// Fails like the other requests (CUDA_CRASHED: the context is lost).
int gpu_sanitize_run(struct workload *, const struct candidate *, struct answer_head *answer, struct arena *memory,
                     struct error *err);

#endif
