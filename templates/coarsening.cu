/*
 * coarsening.cu: z = x + y with a grid stride, to show what it changes that a thread does FACTOR elements instead of one.
 *
 * grid ceil_div(n, BLOCK_SIZE * FACTOR), block BLOCK_SIZE; a thread's elements lie a whole grid apart, so every access is coalesced. UNROLL is pragma
 * text in front of the loop. Any n, any grid.
 */
#ifndef BLOCK_SIZE
#define BLOCK_SIZE 256
#endif
#ifndef UNROLL
#define UNROLL
#endif

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE) coarsening(const float *__restrict__ x, const float *__restrict__ y, float *__restrict__ z, long long n)
{
    const long long step = (long long)gridDim.x * BLOCK_SIZE;
    UNROLL
    for (long long i = (long long)blockIdx.x * BLOCK_SIZE + threadIdx.x; i < n; i += step) z[i] = x[i] + y[i];
}

extern "C" __global__ void coarsening_naive(const float *x, const float *y, float *z, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}
