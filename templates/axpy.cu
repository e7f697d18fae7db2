/*
 * axpy.cu: y = a*x + y, the small kernel of configs/example.cfg.
 *
 * Parameters: VECTOR floats per access (1, 2, 4); GRID stride (a grid-stride loop) or once (one vector per thread, in a
 * grid that is large enough); UNROLL pragma text before the grid-stride loop. An incomplete last vector is computed
 * float by float. x and y must be aligned to VECTOR floats.
 *
 * SWEETSPOT_VARIANT (set by `sweetspot profile --limits`): 0 is the kernel. 1 does only the memory accesses: it loads
 * both operands and stores their combined bits. 2 does only the arithmetic: the multiply-adds, on numbers that are not
 * loaded, and a store under a condition that never holds.
 */
#ifndef SWEETSPOT_VARIANT
#define SWEETSPOT_VARIANT 0
#endif
#ifndef VECTOR
#define VECTOR 4
#endif
#ifndef GRID
#define GRID stride
#endif
#ifndef UNROLL
#define UNROLL
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define GRID_stride 1
#define GRID_once 2
#define GRID_IS JOIN(GRID_, GRID)
#if GRID_IS == 0
#error "GRID must be stride or once"
#endif

struct alignas(4 * VECTOR) vector {
    float v[VECTOR];
};

__device__ __forceinline__ void axpy_one(long long i, long long n, float a, const float *x, float *y)
{
    if ((i + 1) * VECTOR <= n) {
#if SWEETSPOT_VARIANT == 2
        vector from, to;
#pragma unroll
        for (int k = 0; k < VECTOR; ++k) from.v[k] = to.v[k] = __int_as_float((int)i + k);
#else
        const vector from = reinterpret_cast<const vector *>(x)[i];
        vector to = reinterpret_cast<vector *>(y)[i];
#endif
#pragma unroll
        for (int k = 0; k < VECTOR; ++k)
#if SWEETSPOT_VARIANT == 1
            to.v[k] = __int_as_float(__float_as_int(to.v[k]) | __float_as_int(from.v[k]));
#else
            to.v[k] += a * from.v[k];
#endif
#if SWEETSPOT_VARIANT == 2
        bool never = true;
#pragma unroll
        for (int k = 0; k < VECTOR; ++k) never &= to.v[k] == -1.2345e30f;
        if (!never || n != -i) return;
#endif
        reinterpret_cast<vector *>(y)[i] = to;
    } else {
        for (long long k = i * VECTOR; k < n; ++k) y[k] += a * x[k];
    }
}

extern "C" __global__ void axpy(long long n, float a, const float *__restrict__ x, float *__restrict__ y)
{
    const long long first = (long long)blockIdx.x * blockDim.x + threadIdx.x, vectors = (n + VECTOR - 1) / VECTOR;
#if GRID_IS == GRID_stride
    const long long step = (long long)gridDim.x * blockDim.x;
    UNROLL
    for (long long i = first; i < vectors; i += step) axpy_one(i, n, a, x, y);
#else
    if (first < vectors) axpy_one(first, n, a, x, y);
#endif
}

/* The reference: one element per thread. */
extern "C" __global__ void axpy_naive(long long n, float a, const float *x, float *y)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
