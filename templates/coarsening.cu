/*
 * coarsening.cu: z = x + y with a grid stride. It shows what changes when a thread computes FACTOR elements instead of
 * one.
 *
 * grid ceil_div(n, BLOCK_SIZE * FACTOR), block BLOCK_SIZE; a thread's elements are a whole grid apart, so every access
 * is coalesced. UNROLL is pragma text before the loop. Any n, any grid.
 *
 * SWEETSPOT_VARIANT (set by `sweetspot profile --limits`): 0 is the kernel. 1 does only the memory accesses: it
 * loads both operands and stores their combined bits. 2 does only the arithmetic: one addition per element, of a
 * number that is not loaded, and a store under a condition that never holds.
 */
#ifndef SWEETSPOT_VARIANT
#define SWEETSPOT_VARIANT 0
#endif
#ifndef BLOCK_SIZE
#define BLOCK_SIZE 256
#endif
#ifndef UNROLL
#define UNROLL
#endif

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    coarsening(const float *__restrict__ x, const float *__restrict__ y, float *__restrict__ z, long long n)
{
    const long long step = (long long)gridDim.x * BLOCK_SIZE;
    const long long first = (long long)blockIdx.x * BLOCK_SIZE + threadIdx.x;
#if SWEETSPOT_VARIANT == 1
    UNROLL
    for (long long i = first; i < n; i += step) z[i] = __int_as_float(__float_as_int(x[i]) | __float_as_int(y[i]));
#elif SWEETSPOT_VARIANT == 2
    const float given = __int_as_float((int)threadIdx.x);
    float sum = given;
    UNROLL
    for (long long i = first; i < n; i += step) sum += given;
    if (sum == -1.0f) z[first] = sum;
#else
    UNROLL
    for (long long i = first; i < n; i += step) z[i] = x[i] + y[i];
#endif
}

extern "C" __global__ void coarsening_naive(const float *x, const float *y, float *z, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}
