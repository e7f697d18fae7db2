/*
 * copy_order.cu: y = x. It shows the effect of the order of a thread's elements.
 *
 * A block copies BLOCK_SIZE * ITEMS consecutive floats, each thread ITEMS of them:
 *
 *     ORDER coalesced   element tid + i * BLOCK_SIZE: a warp's 32 floats are contiguous and take 4 sectors of 32 bytes
 *                       per access
 *     ORDER strided     element tid * ITEMS + i: a warp's floats are ITEMS apart and take up to 32 sectors per access,
 *                       and one float of each is used. The next accesses request the same sectors again for the other
 *                       floats; the L1 still has some of them
 *
 * grid ceil_div(n, BLOCK_SIZE * ITEMS), block BLOCK_SIZE. Any n.
 *
 * SWEETSPOT_VARIANT (set by `sweetspot profile --limits`): 0 is the kernel. 1 is the same, because a copy computes only
 * addresses. 2 does only the arithmetic: addresses and tests, no load, and a store under a condition that never holds.
 */
#ifndef SWEETSPOT_VARIANT
#define SWEETSPOT_VARIANT 0
#endif
#ifndef BLOCK_SIZE
#define BLOCK_SIZE 256
#endif
#ifndef ITEMS
#define ITEMS 4
#endif
#ifndef ORDER
#define ORDER coalesced
#endif
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define ORDER_coalesced 1
#define ORDER_strided 2
#define ORDER_IS JOIN(ORDER_, ORDER)
#if ORDER_IS == 0
#error "ORDER must be coalesced or strided"
#endif

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    copy_order(const float *__restrict__ x, float *__restrict__ y, long long n)
{
    const long long first = (long long)blockIdx.x * (BLOCK_SIZE * ITEMS);
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        const long long at =
            first + (ORDER_IS == ORDER_coalesced ? threadIdx.x + i * BLOCK_SIZE : threadIdx.x * ITEMS + i);
#if SWEETSPOT_VARIANT == 2
        if (at < n && at == -n) y[at] = 0.0f;
#else
        if (at < n) y[at] = x[at];
#endif
    }
}

extern "C" __global__ void copy_naive(const float *x, float *y, long long n)
{
    const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n) y[at] = x[at];
}
