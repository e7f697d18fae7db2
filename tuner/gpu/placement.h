// Memory for launches at addresses that the contract allows and that timing does not use. Each buffer lies at a drawn
// multiple of the alignment that headers promise to kernels, three of four of nothing more, in drawn order, and some
// are more than 4 GiB apart. All problems use the same memory: a buffer has one address whatever the problem and the
// data, so that a kernel which recognises data by its address or its size is wrong, and problems of several sizes find
// each other's scratch.
//
//     piece 0                             hole of 4 to 8 GiB          piece 1
//     | slack | guard | data | guard | slack | guard | ...            | slack | guard | data | guard |
//                     ^ a multiple of 16, mostly not of 32
//
// A workload has one placement, or none where there is no room for it.
#pragma once

#include "tuner/gpu/workload_data.h"
#include "tuner/libraries/cuda.h"

struct placement {
    struct cuda_mapping memory;
    size_t count, guard, alignment; // of buffers; bytes before and after each; of data, exactly
    uint64_t slot[BUFFERS_MAX];     // where the room for each buffer begins
    size_t problem_count;
    struct buffers *placed; // of each problem: one copy
    size_t holds;           // the problem whose data lie there; problem_count: none
};

// For the workload's problems, whose buffers are open. CUDA_MEMORY, CUDA_REFUSED: there is none, for the reason in
// `err`. The caller closes.
int placement_open(struct placement **out, struct workload *, struct error *err);
void placement_close(struct placement *); // NULL is fine

// Draws other addresses. Nothing lies there until the next placement_fill().
void placement_draw(struct placement *, const struct workload *);
// Enqueues copying the inputs of a set of a problem's data there. Guards are not written; outputs and scratch stay as
// they are.
int placement_fill(struct placement *, const struct workload *, size_t problem, unsigned set, struct error *err);
