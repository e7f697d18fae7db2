/*
 * branch.cu: `steps` multiply-adds on each element, with other coefficients for odd elements than for even ones; to show what a branch costs that
 * divides every warp.
 *
 *     BRANCH 1   if (odd) one loop else another: a warp runs both, each for half of its threads
 *     BRANCH 0   the coefficients are selected by arithmetic, and there is one loop
 *
 * The results are the same bit by bit. grid ceil_div(n, BLOCK_SIZE), block BLOCK_SIZE. Any n.
 */
#ifndef BLOCK_SIZE
#define BLOCK_SIZE 256
#endif
#ifndef BRANCH
#define BRANCH 0
#endif

/* `steps` is an argument, so that neither loop is unrolled away. */
__device__ __forceinline__ float iterate(float value, float a, float b, int steps)
{
#pragma unroll 4
    for (int i = 0; i < steps; ++i) value = value * a + b;
    return value;
}

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE) branch(const float *__restrict__ x, float *__restrict__ y, long long n, int steps)
{
    const long long at = (long long)blockIdx.x * BLOCK_SIZE + threadIdx.x;
    if (at >= n) return;
    const bool odd = at % 2;
#if BRANCH
    if (odd)
        y[at] = iterate(x[at], 0.75f, 0.25f, steps);
    else
        y[at] = iterate(x[at], 0.5f, 0.5f, steps);
#else
    y[at] = iterate(x[at], odd ? 0.75f : 0.5f, odd ? 0.25f : 0.5f, steps);
#endif
}

extern "C" __global__ void branch_naive(const float *x, float *y, long long n, int steps)
{
    const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) return;
    float value = x[at];
    for (int i = 0; i < steps; ++i) value = at % 2 ? value * 0.75f + 0.25f : value * 0.5f + 0.5f;
    y[at] = value;
}
