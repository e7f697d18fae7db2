/*
 * average_matvec.cu: for each of n problems, the average of m vectors of `length` floats, multiplied by a matrix W. It
 * follows a well-known analysis-driven optimisation, whose steps are values of STEP:
 *
 *     x: n problems, each m vectors of `length` floats, one after the other
 *     y[p] = W * average over v of x[p][v]       W: length x length, row-major
 *
 *     STEP elements   one block for everything: parallel only over the elements of a vector; problem after problem
 *     STEP problems   one block per problem and one thread per row of W, so that a warp's loads of W are `length`
 *                     floats apart
 *     STEP shared     one block per problem; the whole block goes along each row of W (coalesced), and sums are added
 *                     in shared memory
 *     STEP shuffle    the same; sums are added with warp shuffles in two stages
 *     STEP warps      one block per problem; a warp goes along each row of W, and sums are added only with shuffles
 *     STEP split      two launches: `average` writes the averages as a matrix of n x length. Then a library, or with
 *                     GEMM own gemm_simt.cu (included here), multiplies it by W transposed
 *
 * All steps average in the same way. A thread adds VECTOR adjacent elements of every DOWN-th vector, with ITEMS vectors
 * in flight. The DOWN sums of an element are added in shared memory, in order. Loads are vectors of VECTOR floats if
 * `length` and x allow it, otherwise VECTOR single floats that are ACROSS apart.
 *
 * Launches
 *     average_matvec  (const float *x, const float *w, float *y, int n, int m, int length)
 *         grid   n (STEP elements: 1);   block  (ACROSS, DOWN);   dynamic shared memory  4 * length bytes
 *     average         (const float *x, float *mean, int m, int length)
 *         grid   (ceil_div(length, ACROSS * VECTOR), n);   block  (ACROSS, DOWN)
 *     gemm_simt_split, gemm_simt_finish   GEMM own: see gemm_simt.cu; M n, N and K length, A mean, B W, C y
 *     average_matvec_naive  everything in fp64;   grid  n;   block  256;   dynamic shared memory  8 * length bytes
 *
 * Parameters (macros; each has a default): STEP; ACROSS, a multiple of 32; DOWN, a power of two; VECTOR 1, 2, 4;
 * ITEMS; UNROLL pragma text before the loop over the vectors; LOAD `plain` or `streaming` (ld.global.cs), which leaves
 * the L2 to W and the averages. With GEMM own there are also
 *
 *     OVERLAP   0: one launch after the other. 1: the product may begin before `average` has ended (programmatic
 *               dependent launch, sm_90), and waits for it. 2: the same, and W is fetched into the L2 during the wait
 *     TRANSPOSE_A  1: the averages are written as a matrix of length x n
 *     and the other parameters of gemm_simt.cu except TRANSPOSE_B, AFTER_LAUNCH and VECTOR, which is 4 there
 *
 * SWEETSPOT_VARIANT (set by `sweetspot profile --limits`): 0 is the kernel. 1 does only the memory accesses: bits are
 * collected instead of added. 2 does only the arithmetic: x is not loaded.
 */
#ifndef SWEETSPOT_VARIANT
#define SWEETSPOT_VARIANT 0
#endif
#ifndef STEP
#define STEP split
#endif
#ifndef ACROSS
#define ACROSS 64
#endif
#ifndef DOWN
#define DOWN 4
#endif
#ifndef VECTOR
#define VECTOR 4
#endif
#ifndef ITEMS
#define ITEMS 4
#endif
#ifndef UNROLL
#define UNROLL
#endif
#ifndef LOAD
#define LOAD plain
#endif
#ifndef GEMM
#define GEMM cublas
#endif
#ifndef OVERLAP
#define OVERLAP 0
#endif
#ifndef TRANSPOSE_A
#define TRANSPOSE_A 0
#endif
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define STEP_elements 1
#define STEP_problems 2
#define STEP_shared 3
#define STEP_shuffle 4
#define STEP_warps 5
#define STEP_split 6
#define STEP_IS JOIN(STEP_, STEP)
#if STEP_IS == 0
#error "STEP must be elements, problems, shared, shuffle, warps or split"
#endif
#define LOAD_plain 1
#define LOAD_streaming 2
#define LOAD_IS JOIN(LOAD_, LOAD)
#if LOAD_IS == 0
#error "LOAD must be plain or streaming"
#endif
#define GEMM_cublas 1
#define GEMM_cublasLt 2
#define GEMM_own 3
#define GEMM_IS JOIN(GEMM_, GEMM)
#if GEMM_IS == 0
#error "GEMM must be cublas, cublasLt or own"
#endif
static_assert(ACROSS % 32 == 0 && (DOWN & (DOWN - 1)) == 0 && ACROSS * DOWN <= 1024,
              "ACROSS must be a multiple of 32, DOWN a power of two, their product at most 1024");
static_assert(VECTOR == 1 || VECTOR == 2 || VECTOR == 4, "VECTOR must be 1, 2 or 4");

namespace
{

constexpr int THREADS = ACROSS * DOWN;

__device__ __forceinline__ float add(float sum, float x)
{
#if SWEETSPOT_VARIANT == 1
    return __uint_as_float(__float_as_uint(sum) | __float_as_uint(x));
#else
    return sum + x;
#endif
}

template <class T> __device__ __forceinline__ T read(const T *from)
{
    if constexpr (LOAD_IS == LOAD_streaming)
        return __ldcs(from);
    else
        return __ldg(from);
}

/* Loads VECTOR floats of a vector. They are adjacent (WIDE), or ACROSS apart, with zeros past the end. */
template <bool WIDE> __device__ __forceinline__ void fetch(float *to, const float *from, int at, int length)
{
    if constexpr (SWEETSPOT_VARIANT == 2) {
#pragma unroll
        for (int v = 0; v < VECTOR; ++v) to[v] = (float)at;
    } else if constexpr (WIDE && VECTOR == 4) {
        const float4 v = read(reinterpret_cast<const float4 *>(from + at));
        to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    } else if constexpr (WIDE && VECTOR == 2) {
        const float2 v = read(reinterpret_cast<const float2 *>(from + at));
        to[0] = v.x, to[1] = v.y;
    } else {
#pragma unroll
        for (int v = 0; v < VECTOR; ++v) to[v] = at + v * ACROSS < length ? read(from + at + v * ACROSS) : 0.0f;
    }
}

/* Writes elements [chunk, chunk + ACROSS * VECTOR) of one problem's average to `mean` (global or shared), with `apart`
 * floats from one element to the next. The whole block must call it, because it contains barriers. */
template <bool WIDE>
__device__ __forceinline__ void average_chunk(const float *x, float *mean, int apart, int m, int length, int chunk)
{
    __shared__ float joint[DOWN][ACROSS][VECTOR];
    const int tx = threadIdx.x, ty = threadIdx.y, at = chunk + tx * (WIDE ? VECTOR : 1);
    float sum[VECTOR] = {};
    if (at < length) {
        int row = ty;
        const float *from = x + (long long)row * length;
        UNROLL for (; row + (ITEMS - 1) * DOWN < m; row += ITEMS * DOWN)
        {
            float held[ITEMS][VECTOR];
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) fetch<WIDE>(held[i], from + (long long)i * DOWN * length, at, length);
#pragma unroll
            for (int i = 0; i < ITEMS; ++i)
#pragma unroll
                for (int v = 0; v < VECTOR; ++v) sum[v] = add(sum[v], held[i][v]);
            from += (long long)ITEMS * DOWN * length;
        }
        for (; row < m; row += DOWN, from += (long long)DOWN * length) {
            float held[VECTOR];
            fetch<WIDE>(held, from, at, length);
#pragma unroll
            for (int v = 0; v < VECTOR; ++v) sum[v] = add(sum[v], held[v]);
        }
    }
    if constexpr (DOWN > 1) {
        __syncthreads(); /* the previous chunk's sums have been read */
#pragma unroll
        for (int v = 0; v < VECTOR; ++v) joint[ty][tx][v] = sum[v];
        __syncthreads();
#pragma unroll
        for (int distance = DOWN / 2; distance > 0; distance /= 2) {
            if (ty < distance)
#pragma unroll
                for (int v = 0; v < VECTOR; ++v) joint[ty][tx][v] = add(joint[ty][tx][v], joint[ty + distance][tx][v]);
            __syncthreads();
        }
#pragma unroll
        for (int v = 0; v < VECTOR; ++v) sum[v] = joint[0][tx][v];
    }
    if (ty > 0) return;
    const float factor = 1.0f / m;
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) {
        const int to = at + v * (WIDE ? 1 : ACROSS);
        if (to < length) mean[(long long)to * apart] = sum[v] * factor;
    }
}

__device__ __forceinline__ bool wide(const float *x, int length)
{
    return VECTOR > 1 && length % VECTOR == 0 && reinterpret_cast<unsigned long long>(x) % (4 * VECTOR) == 0;
}

#if STEP_IS != STEP_split
__device__ __forceinline__ float warp_sum(float sum)
{
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
    return sum;
}

/* y = W * mean, with `mean` in shared memory. */
__device__ __forceinline__ void multiply(const float *w, const float *mean, float *y, int length)
{
    const int tid = threadIdx.y * ACROSS + threadIdx.x;
#if STEP_IS == STEP_elements || STEP_IS == STEP_problems
    for (int i = tid; i < length; i += THREADS) {
        float sum = 0.0f;
        for (int j = 0; j < length; ++j) sum += w[(long long)i * length + j] * mean[j];
        y[i] = sum;
    }
#elif STEP_IS == STEP_warps
    for (int i = tid / 32; i < length; i += THREADS / 32) {
        float sum = 0.0f;
#pragma unroll 4
        for (int j = tid % 32; j < length; j += 32) sum += __ldg(w + (long long)i * length + j) * mean[j];
        sum = warp_sum(sum);
        if (tid % 32 == 0) y[i] = sum;
    }
#elif STEP_IS == STEP_shared
    __shared__ float sums[THREADS];
    for (int i = 0; i < length; ++i) {
        float sum = 0.0f;
        for (int j = tid; j < length; j += THREADS) sum += w[(long long)i * length + j] * mean[j];
        sums[tid] = sum;
        __syncthreads();
#pragma unroll
        for (int distance = THREADS / 2; distance > 0; distance /= 2) {
            if (tid < distance) sums[tid] += sums[tid + distance];
            __syncthreads();
        }
        if (tid == 0) y[i] = sums[0];
        __syncthreads();
    }
#else
    __shared__ float sums[32];
    for (int i = 0; i < length; ++i) {
        float sum = 0.0f;
        for (int j = tid; j < length; j += THREADS) sum += w[(long long)i * length + j] * mean[j];
        sum = warp_sum(sum);
        if (tid % 32 == 0) sums[tid / 32] = sum;
        __syncthreads();
        if (tid < 32) {
            sum = warp_sum(tid < THREADS / 32 ? sums[tid] : 0.0f);
            if (tid == 0) y[i] = sum;
        }
        __syncthreads();
    }
#endif
}
#endif

#if STEP_IS == STEP_split
/* The product's blocks begin once every block of this launch has called this function or ended, that is, after all of
 * them have begun. They use free SM resources and delay no block of this launch, however early this is called. */
__device__ __forceinline__ void let_product_begin()
{
#if OVERLAP && defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
#endif

} // namespace

#if STEP_IS != STEP_split
static_assert(STEP_IS != STEP_shared || (THREADS & (THREADS - 1)) == 0,
              "STEP shared needs a power of two for ACROSS * DOWN");
extern "C" __global__ void __launch_bounds__(ACROSS *DOWN)
    average_matvec(const float *__restrict__ x, const float *__restrict__ w, float *__restrict__ y, int n, int m,
                   int length)
{
    extern __shared__ float mean[];
    for (int p = blockIdx.x; p < n; p += gridDim.x) {
        const float *from = x + (long long)p * m * length;
        if (wide(x, length))
            for (int chunk = 0; chunk < length; chunk += ACROSS * VECTOR)
                average_chunk<true>(from, mean, 1, m, length, chunk);
        else
            for (int chunk = 0; chunk < length; chunk += ACROSS * VECTOR)
                average_chunk<false>(from, mean, 1, m, length, chunk);
        __syncthreads();
        multiply(w, mean, y + (long long)p * length, length);
        __syncthreads();
    }
}
#else
extern "C" __global__ void __launch_bounds__(ACROSS *DOWN)
    average(const float *__restrict__ x, float *__restrict__ mean, int m, int length)
{
    let_product_begin();
    const float *from = x + (long long)blockIdx.y * m * length;
    float *const to = TRANSPOSE_A ? mean + blockIdx.y : mean + (long long)blockIdx.y * length;
    const int apart = TRANSPOSE_A ? gridDim.y : 1;
    if (wide(x, length))
        average_chunk<true>(from, to, apart, m, length, blockIdx.x * (ACROSS * VECTOR));
    else
        average_chunk<false>(from, to, apart, m, length, blockIdx.x * (ACROSS * VECTOR));
}
#endif

extern "C" __global__ void average_matvec_naive(const float *x, const float *w, float *y, int n, int m, int length)
{
    extern __shared__ double exact_mean[];
    const float *from = x + (long long)blockIdx.x * m * length;
    for (int j = threadIdx.x; j < length; j += blockDim.x) {
        double sum = 0;
        for (int v = 0; v < m; ++v) sum += from[(long long)v * length + j];
        exact_mean[j] = sum / m;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < length; i += blockDim.x) {
        double sum = 0;
        for (int j = 0; j < length; ++j) sum += w[(long long)i * length + j] * exact_mean[j];
        y[(long long)blockIdx.x * length + i] = (float)sum;
    }
}

#if STEP_IS == STEP_split && GEMM_IS == GEMM_own
/* Included last, because until here VECTOR is this file's macro. The averages are multiplied by the transpose of W. */
#undef VECTOR
#define VECTOR 4
#define TRANSPOSE_B 1
#define AFTER_LAUNCH OVERLAP
#ifndef SPLIT_K
#define SPLIT_K 1
#endif
#include "gemm_simt.cu"
#endif
