// A second stream, for kernels that run beside what is enqueued on the context's stream.
#ifndef SWEETSPOT_CUDA_BESIDE_H
#define SWEETSPOT_CUDA_BESIDE_H

#include "tuner/libraries/cuda.h"

struct cuda_beside;

// The caller closes.
int cuda_beside_open(struct cuda_beside **out, struct cuda *, struct error *err);
void cuda_beside_close(struct cuda_beside *); // NULL is fine
// Enqueues a kernel that begins when everything enqueued so far has ended, beside what is enqueued from now on.
int cuda_beside_launch(struct cuda_beside *, struct cuda_kernel *, const struct cuda_geometry *, void **args,
                       struct error *err);
// From now on the context's stream waits for the last of these kernels.
int cuda_beside_join(struct cuda_beside *, struct error *err);

#endif
