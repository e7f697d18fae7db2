// The source of the frozen jobs. They are read and checked but never run on a GPU. SWEETSPOT_VARIANT: for `profile
// --limits`.
#include "kernel.cuh"
#ifndef X
#define X 1
#endif
#define TILE 4
#define USED X, MODE, BLOCK, LOAD, RATIO, UNROLL, PAD, TYPE, PHASE
enum { plain = 1, wide = 4 };

extern "C" __global__ void scale(const float *x, float *y, int n)
{
#pragma unroll MODE
    for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += (int)(gridDim.x * blockDim.x))
        y[i] = 2 * x[i];
}
