/*
 * norm.cu: normalisation of the rows of a matrix in FP32, BF16 or FP16, with arithmetic in FP32.
 *
 *     NORM layer   y[i][j] = (x[i][j] - mean) / sqrt(variance + epsilon) * weight[j] + bias[j]
 *     NORM rms     y[i][j] = x[i][j] / sqrt(mean of squares + epsilon) * weight[j]
 *
 * Bound by memory: at best every element is read once and written once, and weight and bias come from the caches.
 * ROW_THREADS threads share a row, and a block has ROWS_PER_BLOCK rows.
 *
 *     METHOD registers   a thread keeps its HELD elements of the row in registers between reading and writing. Rows
 *                        longer than ROW_THREADS * HELD use `again`
 *     METHOD again       the row is read a second time, mostly from the caches
 *
 * Means and sums of squared deviations of two parts are combined without cancellation (Chan, Golub and LeVeque 1979),
 * so that one reduction suffices. Accesses are vectors of VECTOR elements if the number of columns and the addresses
 * allow it, otherwise single elements. The kernel decides at run time.
 *
 * Launch      norm_rows (const T *x, T *y, const T *weight, [const T *bias,] int rows, int cols, float epsilon)
 *     grid    ceil_div(rows, ROWS_PER_BLOCK);   block  ROW_THREADS * ROWS_PER_BLOCK
 *     bias    only with NORM layer
 *
 * Parameters (macros; each has a default): NORM; TYPE f32, bf16 or f16, for all four arrays; ROW_THREADS, a power of
 * two from 32; ROWS_PER_BLOCK; VECTOR, a power of two up to 16 bytes; METHOD; HELD, a multiple of VECTOR; STORE `plain`
 * or `streaming` (st.global.cs)
 *
 * SWEETSPOT_VARIANT (set by `sweetspot profile --limits`): 0 is the kernel. 1 does only the memory accesses: nothing is
 * summed. 2 does only the arithmetic: nothing is loaded, and stores are under a condition that never holds.
 */
#ifndef NORM
#define NORM layer
#endif
#define METHOD_again 2
#include "device/rows.cuh"

#define NORM_layer 1
#define NORM_rms 2
#define NORM_IS JOIN(NORM_, NORM)
#if NORM_IS == 0 || METHOD_IS == 0
#error "NORM must be layer or rms, METHOD registers or again"
#endif

namespace
{

constexpr bool LAYER = NORM_IS == NORM_layer;

/* The number of elements, their mean, and their sum of squared deviations from it. With NORM rms, the mean is 0. */
struct moments {
    float count, mean, squares;
};

__device__ __forceinline__ moments join(moments a, moments b)
{
#if SWEETSPOT_VARIANT == 1
    return {1.0f, a.mean + b.mean, a.squares};
#else
    if (!LAYER) return {a.count + b.count, 0.0f, a.squares + b.squares};
    const float count = a.count + b.count, apart = b.mean - a.mean,
                share = count > 0.0f ? __fdividef(b.count, count) : 0.0f;
    return {count, a.mean + apart * share, a.squares + b.squares + apart * apart * a.count * share};
#endif
}

/* The moments of the first `count` of N numbers. */
template <int N> __device__ __forceinline__ moments moments_of(const float *x, int count)
{
    float sum = 0.0f, squares = 0.0f;
#pragma unroll
    for (int i = 0; i < N; ++i) sum += i < count ? x[i] : 0.0f;
    const float mean = LAYER && count > 0 ? __fdividef(sum, (float)count) : 0.0f;
#pragma unroll
    for (int i = 0; i < N; ++i) squares += i < count ? (x[i] - mean) * (x[i] - mean) : 0.0f;
    return {(float)count, mean, squares};
}

__device__ __forceinline__ moments join_warp(moments mine)
{
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        const moments other = {__shfl_xor_sync(0xffffffffu, mine.count, distance),
                               __shfl_xor_sync(0xffffffffu, mine.mean, distance),
                               __shfl_xor_sync(0xffffffffu, mine.squares, distance)};
        /* Always in the same order, so that all lanes get the same result. */
        mine = threadIdx.x & distance ? join(other, mine) : join(mine, other);
    }
    return mine;
}

/* Joins the moments of the ROW_THREADS threads of a row; all of them get the result. Contains a block barrier if a row
 * has several warps. */
__device__ __forceinline__ moments join_row(moments mine)
{
    mine = join_warp(mine);
    if constexpr (WARPS > 1) {
        __shared__ moments of_warp[ROWS_PER_BLOCK][WARPS];
        const int row = threadIdx.x / ROW_THREADS, lane = threadIdx.x % 32;
        if (lane == 0) of_warp[row][threadIdx.x % ROW_THREADS / 32] = mine;
        __syncthreads();
        mine = join_warp(lane < WARPS ? of_warp[row][lane] : moments{0.0f, 0.0f, 0.0f});
    }
    return mine;
}

/* A row and the values to normalise it with. `cols` is 0 for a row that does not exist, whose threads only take part in
 * barriers. */
struct row {
    const element *x, *weight, *bias;
    element *y;
    int cols;
    float epsilon;
};

template <int V> __device__ __forceinline__ void normalise(float *x, const row &r, int at, float mean, float factor)
{
    float weight[V], bias[V];
    load<V>(weight, r.weight + at);
    if (LAYER) load<V>(bias, r.bias + at);
#pragma unroll
    for (int v = 0; v < V; ++v) {
        x[v] = (x[v] - mean) * factor * weight[v];
        if (LAYER) x[v] += bias[v];
    }
    store<V>(r.y + at, x);
}

__device__ __forceinline__ float factor_of(const moments &all, const row &r)
{
    return rsqrtf(all.squares / (float)r.cols + r.epsilon);
}

template <int V> __device__ __forceinline__ void again(const row &r)
{
    const int lane = threadIdx.x % ROW_THREADS;
    moments mine = {0.0f, 0.0f, 0.0f};
    float held[V];
    for (int at = lane * V; at < r.cols; at += ROW_THREADS * V) {
        load<V>(held, r.x + at);
        mine = join(mine, moments_of<V>(held, V));
    }
    mine = join_row(mine);
    const float factor = factor_of(mine, r);
    for (int at = lane * V; at < r.cols; at += ROW_THREADS * V) {
        load<V>(held, r.x + at);
        normalise<V>(held, r, at, mine.mean, factor);
    }
}

template <int V> __device__ __forceinline__ void in_registers(const row &r)
{
    constexpr int COUNT = HELD / V;
    const int lane = threadIdx.x % ROW_THREADS;
    float held[COUNT * V];
    int count = 0; /* how many of this thread's elements exist */
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        const int at = (i * ROW_THREADS + lane) * V;
        if (at >= r.cols) continue;
        load<V>(held + i * V, r.x + at);
        count = (i + 1) * V;
    }
    const moments all = join_row(moments_of<COUNT * V>(held, count));
    const float factor = factor_of(all, r);
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        const int at = (i * ROW_THREADS + lane) * V;
        if (at < r.cols) normalise<V>(held + i * V, r, at, all.mean, factor);
    }
}

template <int V> __device__ __forceinline__ void norm_row(const row &r, int all_cols)
{
    if (METHOD_IS == METHOD_registers &&
        all_cols <= ROW_THREADS * HELD) /* the same for all threads, since both contain barriers */
        in_registers<V>(r);
    else
        again<V>(r);
}

} // namespace

extern "C" __global__ void __launch_bounds__(ROW_THREADS *ROWS_PER_BLOCK)
    norm_rows(const element *__restrict__ x, element *__restrict__ y, const element *__restrict__ weight,
#if NORM_IS == NORM_layer
              const element *__restrict__ bias,
#endif
              int rows, int cols, float epsilon)
{
#if NORM_IS == NORM_rms
    const element *const bias = weight;
#endif
    const int number = blockIdx.x * ROWS_PER_BLOCK + threadIdx.x / ROW_THREADS;
    const long long at = (long long)number * cols;
    const row r = {x + at, weight, bias, y + at, number < rows ? cols : 0, epsilon};
    const unsigned long long addresses =
        reinterpret_cast<unsigned long long>(x) | reinterpret_cast<unsigned long long>(y) |
        reinterpret_cast<unsigned long long>(weight) | reinterpret_cast<unsigned long long>(bias);
    if (VECTOR > 1 && cols % VECTOR == 0 && addresses % (VECTOR * SIZE) == 0)
        norm_row<VECTOR>(r, cols);
    else
        norm_row<1>(r, cols);
}
