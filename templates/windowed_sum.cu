/*
 * windowed_sum.cu: y[i] = the sum of x[j] over |j - i| <= RADIUS, with zeros outside. It shows whether staging in
 * shared memory pays where the L1 cache already does the same job.
 *
 *     STAGING shared   a block first copies its BLOCK_SIZE + 2 * RADIUS elements to shared memory
 *     STAGING none     every thread reads its 2 * RADIUS + 1 elements from global memory, most of them from the L1
 *
 * Both add in the same order. grid ceil_div(n, BLOCK_SIZE), block BLOCK_SIZE. Any n, RADIUS <= BLOCK_SIZE.
 *
 * SWEETSPOT_VARIANT (set by `sweetspot profile --limits`): 0 is the kernel. 1 does only the memory accesses: every load
 * from global memory, with bits collected instead of added (with staging, one element goes through shared memory and
 * back), and the store. 2 does only the arithmetic: the additions, on a number that is not loaded or on shared memory
 * that was filled without loading, and a store under a condition that never holds.
 */
#ifndef SWEETSPOT_VARIANT
#define SWEETSPOT_VARIANT 0
#endif
#ifndef BLOCK_SIZE
#define BLOCK_SIZE 256
#endif
#ifndef RADIUS
#define RADIUS 7
#endif
#ifndef STAGING
#define STAGING none
#endif
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define STAGING_none 1
#define STAGING_shared 2
#define STAGING_IS JOIN(STAGING_, STAGING)
#if STAGING_IS == 0
#error "STAGING must be none or shared"
#endif
static_assert(RADIUS <= BLOCK_SIZE, "RADIUS must not exceed BLOCK_SIZE");

/* The sum of two elements, or the variant's replacement. */
__device__ __forceinline__ float add(float a, float b)
{
#if SWEETSPOT_VARIANT == 1
    return __int_as_float(__float_as_int(a) | __float_as_int(b));
#else
    return a + b;
#endif
}

__device__ __forceinline__ float element(const float *x, long long at, long long n)
{
    return at >= 0 && at < n ? __ldg(x + at) : 0.0f;
}

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    windowed_sum(const float *__restrict__ x, float *__restrict__ y, long long n)
{
    const int tid = threadIdx.x;
    const long long at = (long long)blockIdx.x * BLOCK_SIZE + tid;
    float sum = 0.0f;
#if SWEETSPOT_VARIANT == 2
    const float given = __int_as_float(tid);
#define LOAD(value) given
#else
#define LOAD(value) (value)
#endif
#if STAGING_IS == STAGING_shared
    __shared__ float stage[BLOCK_SIZE + 2 * RADIUS];
    stage[tid] = LOAD(element(x, at - RADIUS, n));
    if (tid < 2 * RADIUS) stage[tid + BLOCK_SIZE] = LOAD(element(x, at - RADIUS + BLOCK_SIZE, n));
    __syncthreads();
#if SWEETSPOT_VARIANT == 1
    sum = stage[tid];
#else
#pragma unroll
    for (int k = 0; k <= 2 * RADIUS; ++k) sum += stage[tid + k];
#endif
#else
    if (at >= RADIUS && at + RADIUS < n) { /* all windows but those at the ends need no test per element */
#pragma unroll
        for (int k = -RADIUS; k <= RADIUS; ++k) sum = add(sum, LOAD(__ldg(x + at + k)));
    } else {
#pragma unroll 1
        for (int k = -RADIUS; k <= RADIUS; ++k) sum = add(sum, LOAD(element(x, at + k, n)));
    }
#endif
#if SWEETSPOT_VARIANT == 2
    if (sum != -1.0f) return;
#endif
    if (at < n) y[at] = sum;
}

extern "C" __global__ void windowed_sum_naive(const float *x, float *y, long long n)
{
    const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int k = -RADIUS; k <= RADIUS; ++k) sum += element(x, at + k, n);
    if (at < n) y[at] = sum;
}
