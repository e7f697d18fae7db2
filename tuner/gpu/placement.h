// Memory for launches at addresses that the contract allows and that timing does not use. Each buffer is at a random
// multiple of the alignment that headers promise to kernels. In four turns, each buffer gets exactly this alignment at
// least once, and any two buffers are aligned differently at least once. With more than twelve buffers, this holds for
// most pairs. The order is random, and some buffers are more than 4 GiB apart. All problems use the same memory, and a
// buffer has the same address for all problems and data. So a kernel that recognises data by its address or size gives
// wrong results, and problems of different sizes find each other's scratch.
//
//     piece 0                             hole of 4 to 8 GiB          piece 1
//     | slack | guard | data | guard | slack | guard | ...            | slack | guard | data | guard |
//                     ^ a multiple of 16, often not of 32
//
// A workload has one placement, or none if there is no room for it.
#pragma once

#include "tuner/gpu/workload_data.h"
#include "tuner/libraries/cuda.h"

enum { PLACEMENT_TURNS = 4 };

struct placement {
    struct cuda_mapping memory;
    size_t count, guard, alignment; // of buffers; guard bytes before and after each; exact alignment of data
    uint64_t slot[BUFFERS_MAX];     // where the room for each buffer begins
    unsigned char odd[BUFFERS_MAX]; // bit t: in turn t, the address is an odd multiple of the alignment
    size_t problem_count;
    struct buffers *placed; // each problem's buffers, as one copy
    size_t holds;           // the problem whose data the placement holds; problem_count: none
};

// Makes the placement for the workload's problems, whose buffers must be open. CUDA_MEMORY, CUDA_REFUSED: there can be
// no placement, for the reason in `err`. The caller closes.
int placement_open(struct placement **out, struct workload *, struct error *err);
void placement_close(struct placement *); // NULL is fine

// Draws new addresses, which hold no data until the next placement_fill(). `turn`: 0, 1, ... in a series of draws; the
// promise about alignments above holds for turns 0 to 3, 4 to 7, and so on.
void placement_draw(struct placement *, const struct workload *, unsigned turn);
// Enqueues copying the inputs of one set of a problem's data to the placement. Guards are not written; outputs and
// scratch stay as they are.
int placement_fill(struct placement *, const struct workload *, size_t problem, unsigned set, struct error *err);
