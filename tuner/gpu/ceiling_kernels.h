// The kernels of kernels/ceilings.cu. The first launch reads and loads the cubin: a worker that measures no ceilings
// never loads it.
#ifndef SWEETSPOT_GPU_CEILING_KERNELS_H
#define SWEETSPOT_GPU_CEILING_KERNELS_H

#include "tuner/base/execution_unit.h"
#include "tuner/libraries/cuda.h"

struct ceiling_kernels;

// `path` is of the cubin, and is borrowed. The caller closes.
int ceiling_kernels_open(struct ceiling_kernels **out, struct cuda *, const char *path, struct error *err);
void ceiling_kernels_close(struct ceiling_kernels *); // NULL is fine

// The memory that a launch may use, `bytes` of it, and the size of the device's L2.
struct ceiling_memory {
    uint64_t address;
    size_t bytes, l2_bytes;
};
// Enqueues a launch of the pipe's kernel; only pipes of memory and the L2 use the memory. *amount: the operations of
// the launch (two for a multiply-add), or its bytes (a copy counts what it reads and what it writes). The kernels of
// mma.sync and wgmma use the shapes that execution_unit.c names.
int ceiling_kernels_launch(struct ceiling_kernels *, enum execution_unit_id, const struct ceiling_memory *,
                           double *amount, struct error *err);

#endif
