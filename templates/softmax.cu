/*
 * softmax.cu: y[i][j] = exp(x[i][j] - m) / sum over k of exp(x[i][k] - m), where m is the largest element of row i.
 * FP32, BF16 or FP16, with arithmetic in FP32.
 *
 * Bound by memory: at best every element is read once and written once. ROW_THREADS threads share a row, and a block
 * has ROWS_PER_BLOCK rows.
 *
 *     METHOD registers   a thread keeps its HELD elements of the row in registers between reading and writing. Rows
 *                        longer than ROW_THREADS * HELD use `online`
 *     METHOD online      the largest element and the sum are found together while reading (Milakov and Gimelshein 2018:
 *                        when a larger element appears, the sum so far is multiplied by the exponential of the
 *                        difference). Then the row is read again, mostly from the caches
 *
 * Accesses are vectors of VECTOR elements if the number of columns and the matrices allow it, otherwise single
 * elements. The kernel decides at run time. exp(x) is the hardware's exp2(x * log2(e)).
 *
 * Launch      softmax (const T *x, T *y, int rows, int cols)
 *     grid    ceil_div(rows, ROWS_PER_BLOCK);   block  ROW_THREADS * ROWS_PER_BLOCK
 *
 * Parameters (macros; each has a default): TYPE f32, bf16 or f16; ROW_THREADS, a power of two from 32; ROWS_PER_BLOCK;
 * VECTOR, a power of two up to 16 bytes; METHOD; HELD, a multiple of VECTOR; STORE `plain` or `streaming`
 * (st.global.cs)
 *
 * SWEETSPOT_VARIANT (set by `sweetspot profile --limits`): 0 is the kernel. 1 does only the memory accesses, without
 * exponentials. 2 does only the arithmetic: nothing is loaded, and stores are under a condition that never holds.
 */
#define METHOD_online 2
#include "device/rows.cuh"

#if METHOD_IS == 0
#error "METHOD must be registers or online"
#endif

namespace
{

constexpr float LEAST = -3.402823466e38f; /* not infinity, because the difference of two infinities is NaN */

/* The largest element and the sum of exponentials relative to it. */
struct found {
    float largest, sum;
};

__device__ __forceinline__ float exponential(float x)
{
#if SWEETSPOT_VARIANT == 1
    return x;
#else
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 1.4426950408889634f));
    return y;
#endif
}

__device__ __forceinline__ found join(found a, found b)
{
    const float largest = fmaxf(a.largest, b.largest);
    return {largest, a.sum * exponential(a.largest - largest) + b.sum * exponential(b.largest - largest)};
}

/* Joins the results of the ROW_THREADS threads of a row; all of them get the total. Contains a block barrier if a row
 * has several warps. */
__device__ __forceinline__ found join_row(found mine)
{
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        mine = join(mine, {__shfl_xor_sync(0xffffffffu, mine.largest, distance),
                           __shfl_xor_sync(0xffffffffu, mine.sum, distance)});
    if constexpr (WARPS > 1) {
        __shared__ found of_warp[ROWS_PER_BLOCK][WARPS];
        const int row = threadIdx.x / ROW_THREADS, lane = threadIdx.x % 32;
        if (lane == 0) of_warp[row][threadIdx.x % ROW_THREADS / 32] = mine;
        __syncthreads();
        mine = lane < WARPS ? of_warp[row][lane] : found{LEAST, 0.0f};
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2)
            mine = join(mine, {__shfl_xor_sync(0xffffffffu, mine.largest, distance),
                               __shfl_xor_sync(0xffffffffu, mine.sum, distance)});
    }
    return mine;
}

/* `cols` is 0 for a row that does not exist, whose threads only take part in barriers. */
template <int V> __device__ __forceinline__ void online(const element *x, element *y, int cols)
{
    const int lane = threadIdx.x % ROW_THREADS;
    found mine = {LEAST, 0.0f};
    for (int at = lane * V; at < cols; at += ROW_THREADS * V) {
        float held[V];
        load<V>(held, x + at);
        float largest = held[0];
#pragma unroll
        for (int v = 1; v < V; ++v) largest = fmaxf(largest, held[v]);
        float sum = 0.0f;
#pragma unroll
        for (int v = 0; v < V; ++v) sum += exponential(held[v] - largest);
        mine = join(mine, {largest, sum});
    }
    mine = join_row(mine);
    const float factor = 1.0f / mine.sum;
    for (int at = lane * V; at < cols; at += ROW_THREADS * V) {
        float held[V];
        load<V>(held, x + at);
#pragma unroll
        for (int v = 0; v < V; ++v) held[v] = exponential(held[v] - mine.largest) * factor;
        store<V>(y + at, held);
    }
}

template <int V> __device__ __forceinline__ void in_registers(const element *x, element *y, int cols)
{
    constexpr int COUNT = HELD / V;
    const int lane = threadIdx.x % ROW_THREADS;
    float held[COUNT][V];
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        const int at = (i * ROW_THREADS + lane) * V;
        if (at < cols) {
            load<V>(held[i], x + at);
        } else {
#pragma unroll
            for (int v = 0; v < V; ++v) held[i][v] = LEAST;
        }
    }
    found mine = {LEAST, 0.0f};
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
#pragma unroll
        for (int v = 0; v < V; ++v) mine.largest = fmaxf(mine.largest, held[i][v]);
            /* Exponentials relative to the thread's own largest element cost one more factor, but no second barrier. */
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
#pragma unroll
        for (int v = 0; v < V; ++v)
            mine.sum += held[i][v] =
                (i * ROW_THREADS + lane) * V < cols ? exponential(held[i][v] - mine.largest) : 0.0f;
    const found row = join_row(mine);
    const float factor = exponential(mine.largest - row.largest) / row.sum;
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        const int at = (i * ROW_THREADS + lane) * V;
#pragma unroll
        for (int v = 0; v < V; ++v) held[i][v] *= factor;
        if (at < cols) store<V>(y + at, held[i]);
    }
}

template <int V> __device__ __forceinline__ void softmax_row(const element *x, element *y, int cols, int all_cols)
{
    if (METHOD_IS == METHOD_registers &&
        all_cols <= ROW_THREADS * HELD) /* the same for all threads, since both contain barriers */
        in_registers<V>(x, y, cols);
    else
        online<V>(x, y, cols);
}

} // namespace

extern "C" __global__ void __launch_bounds__(ROW_THREADS *ROWS_PER_BLOCK)
    softmax(const element *__restrict__ x, element *__restrict__ y, int rows, int cols)
{
    const int row = blockIdx.x * ROWS_PER_BLOCK + threadIdx.x / ROW_THREADS;
    const long long at = (long long)row * cols;
    const int mine = row < rows ? cols : 0;
    if (VECTOR > 1 && cols % VECTOR == 0 &&
        (reinterpret_cast<unsigned long long>(x) | reinterpret_cast<unsigned long long>(y)) % (SIZE * VECTOR) == 0)
        softmax_row<VECTOR>(x + at, y + at, mine, cols);
    else
        softmax_row<1>(x + at, y + at, mine, cols);
}
