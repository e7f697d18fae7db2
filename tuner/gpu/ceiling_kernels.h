// The kernels of kernels/ceilings.cu as functions: each enqueues one launch, and says how much it does. The first of
// them reads and loads the cubin: a worker that measures no ceilings never loads it.
#ifndef SWEETSPOT_GPU_CEILING_KERNELS_H
#define SWEETSPOT_GPU_CEILING_KERNELS_H

#include "tuner/base/execution_unit.h"
#include "tuner/libraries/cuda.h"

struct ceiling_kernels;

// `path` is of the cubin, and is borrowed. The caller closes.
int ceiling_kernels_open(struct ceiling_kernels **out, struct cuda *, const char *path, struct error *err);
void ceiling_kernels_close(struct ceiling_kernels *); // NULL is fine

// *amount: of the launch, operations (two for a multiply-add) or bytes (a copy counts what it reads and what it
// writes).
// Multiply-adds alone, FP32 and FP64: `steps` for each chain of a thread, a multiple of 32.
int ceiling_kernels_fp32(struct ceiling_kernels *, int steps, double *amount, struct error *err);
int ceiling_kernels_fp64(struct ceiling_kernels *, int steps, double *amount, struct error *err);
int ceiling_kernels_read(struct ceiling_kernels *, uint64_t from, size_t bytes, double *amount, struct error *err);
int ceiling_kernels_copy(struct ceiling_kernels *, uint64_t from, uint64_t to, size_t bytes, double *amount,
                         struct error *err);
// Reads `bytes`, which should fit into the L2.
int ceiling_kernels_l2(struct ceiling_kernels *, uint64_t from, size_t bytes, int loops, double *amount,
                       struct error *err);
int ceiling_kernels_shared(struct ceiling_kernels *, int loops, double *amount, struct error *err);
// Integers and DPX: `steps` for each chain of a thread, a multiple of 8.
int ceiling_kernels_integer(struct ceiling_kernels *, enum execution_unit_id, int steps, double *amount,
                            struct error *err);
// The tensor pipe by mma.sync: m16n8k16 of bf16 and f16, m16n8k8 of tf32, m16n8k32 of bytes, summed in FP32 or INT32;
// of FP64 m16n8k16, or m8n8k4 before sm_90. And by wgmma, m64n256 of 32 bytes. `compute`: 90 of sm_90a.
int ceiling_kernels_tensor(struct ceiling_kernels *, enum execution_unit_id, int compute, int loops, double *amount,
                           struct error *err);

#endif
