/*
 * branch.cu: `steps` multiply-adds on each element, with different coefficients for odd and even elements. It shows the
 * cost of a branch that divides every warp.
 *
 *     BRANCH 1   if (odd) one loop else another: a warp runs both, each for half of its threads
 *     BRANCH 0   the coefficients are selected by arithmetic, and there is one loop
 *
 * Both give bit-identical results. grid ceil_div(n, BLOCK_SIZE), block BLOCK_SIZE. Any n.
 *
 * SWEETSPOT_VARIANT (set by `sweetspot profile --limits`): 0 is the kernel. 1 does only the memory accesses: the load
 * and the store, with one multiply-add instead of `steps`. 2 does only the arithmetic: the multiply-adds, on a number
 * that is not loaded, and a store under a condition that never holds.
 */
#ifndef SWEETSPOT_VARIANT
#define SWEETSPOT_VARIANT 0
#endif
#ifndef BLOCK_SIZE
#define BLOCK_SIZE 256
#endif
#ifndef BRANCH
#define BRANCH 0
#endif

/* `steps` is an argument, so that neither loop can be unrolled completely. */
__device__ __forceinline__ float iterate(float value, float a, float b, int steps)
{
#if SWEETSPOT_VARIANT == 1
    (void)steps;
    return value * a + b;
#else
#pragma unroll 4
    for (int i = 0; i < steps; ++i) value = value * a + b;
    return value;
#endif
}

#if SWEETSPOT_VARIANT == 1
/* Keeps the compiler from merging the stores of the two branches, as the loops do in the kernel. */
#define SIDE(name) asm volatile("// " name ::: "memory")
#else
#define SIDE(name)
#endif
#if SWEETSPOT_VARIANT == 2
#define FROM __int_as_float((int)at)
#define TO(value) \
    if (const float result = (value); result == -1.0f) y[at] = result
#else
#define FROM x[at]
#define TO(value) y[at] = (value)
#endif

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    branch(const float *__restrict__ x, float *__restrict__ y, long long n, int steps)
{
    const long long at = (long long)blockIdx.x * BLOCK_SIZE + threadIdx.x;
    if (at >= n) return;
    const bool odd = at % 2;
#if BRANCH
    if (odd) {
        TO(iterate(FROM, 0.75f, 0.25f, steps));
        SIDE("odd");
    } else {
        TO(iterate(FROM, 0.5f, 0.5f, steps));
        SIDE("even");
    }
#else
    TO(iterate(FROM, odd ? 0.75f : 0.5f, odd ? 0.25f : 0.5f, steps));
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
