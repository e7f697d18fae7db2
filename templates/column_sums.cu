/*
 * column_sums.cu: the sum of every column of a matrix of floats.
 *
 * Bound by memory: every float is read once. A thread adds up VECTOR adjacent columns. A block is ACROSS threads wide
 * and DOWN threads high, and takes one of SPLIT parts of the rows, so that even a matrix with few columns fills the
 * GPU:
 *
 *     rows of part p   | ACROSS * VECTOR columns |   thread (x, y): rows y, y + DOWN, ..; ITEMS of them in flight
 *                      | ..                      |   then the DOWN sums of a column are added in shared memory, in
 *                                                    order
 *
 * With SPLIT > 1 every part writes a row of partial sums, and column_sums_finish adds them in order. A thread's columns
 * are loaded as a vector if the number of columns and the matrix allow it, otherwise as VECTOR single floats that are
 * ACROSS apart. The kernel decides at run time.
 *
 * Launches
 *     column_sums         (const float *a, float *to, int rows, int cols)   to: SPLIT rows of cols partial sums, or
 *                                                                           the sums
 *         grid    (ceil_div(cols, ACROSS * VECTOR), SPLIT);   block  (ACROSS, DOWN)
 *     column_sums_finish  (const float *partial, float *sums, int cols)     only for SPLIT > 1
 *         grid    ceil_div(cols, 256);   block  256
 *
 * Parameters (macros; each has a default): ACROSS, a multiple of 32; DOWN, a power of two; VECTOR 1, 2, 4; ITEMS;
 * SPLIT; UNROLL pragma text before the loop over the rows
 *
 * SWEETSPOT_VARIANT (set by `sweetspot profile --limits`): 0 is the kernel. 1 does only the memory accesses: bits are
 * collected instead of added. 2 does only the arithmetic, on a number that is not loaded.
 */
#ifndef SWEETSPOT_VARIANT
#define SWEETSPOT_VARIANT 0
#endif
#ifndef ACROSS
#define ACROSS 32
#endif
#ifndef DOWN
#define DOWN 8
#endif
#ifndef VECTOR
#define VECTOR 4
#endif
#ifndef ITEMS
#define ITEMS 4
#endif
#ifndef SPLIT
#define SPLIT 16
#endif
#ifndef UNROLL
#define UNROLL
#endif
static_assert(ACROSS % 32 == 0 && (DOWN & (DOWN - 1)) == 0 && ACROSS * DOWN <= 1024,
              "ACROSS must be a multiple of 32, DOWN a power of two, their product at most 1024");
static_assert(VECTOR == 1 || VECTOR == 2 || VECTOR == 4, "VECTOR must be 1, 2 or 4");

namespace
{

template <int V> __device__ __forceinline__ void load(float *to, const float *from)
{
    if constexpr (V == 4) {
        const float4 v = __ldg(reinterpret_cast<const float4 *>(from));
        to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    } else {
        const float2 v = __ldg(reinterpret_cast<const float2 *>(from));
        to[0] = v.x, to[1] = v.y;
    }
}

__device__ __forceinline__ float add(float sum, float x)
{
#if SWEETSPOT_VARIANT == 1
    return __uint_as_float(__float_as_uint(sum) | __float_as_uint(x));
#else
    return sum + x;
#endif
}

/* Loads VECTOR floats of a row. They are adjacent (WIDE), or ACROSS apart, with zeros outside the matrix. */
template <bool WIDE> __device__ __forceinline__ void fetch(float *to, const float *row, int col, int cols)
{
    if constexpr (SWEETSPOT_VARIANT == 2) {
#pragma unroll
        for (int v = 0; v < VECTOR; ++v) to[v] = (float)cols;
    } else if constexpr (WIDE && VECTOR > 1) {
        load<VECTOR>(to, row + col);
    } else {
#pragma unroll
        for (int v = 0; v < VECTOR; ++v) to[v] = col + v * ACROSS < cols ? __ldg(row + col + v * ACROSS) : 0.0f;
    }
}

template <bool WIDE>
__device__ __forceinline__ void sum_part(float (*joint)[ACROSS][VECTOR], const float *a, float *to, int rows, int cols)
{
    const int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * (ACROSS * VECTOR) + x * (WIDE ? VECTOR : 1);
    const int height = (rows + SPLIT - 1) / SPLIT, end = min(rows, ((int)blockIdx.y + 1) * height);
    float sum[VECTOR] = {};
    if (col < cols) {
        int row = blockIdx.y * height + y;
        const float *from = a + (long long)row * cols;
        UNROLL for (; row + (ITEMS - 1) * DOWN < end; row += ITEMS * DOWN)
        {
            float held[ITEMS][VECTOR];
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) fetch<WIDE>(held[i], from + (long long)i * DOWN * cols, col, cols);
#pragma unroll
            for (int i = 0; i < ITEMS; ++i)
#pragma unroll
                for (int v = 0; v < VECTOR; ++v) sum[v] = add(sum[v], held[i][v]);
            from += (long long)ITEMS * DOWN * cols;
        }
        for (; row < end; row += DOWN, from += (long long)DOWN * cols) {
            float held[VECTOR];
            fetch<WIDE>(held, from, col, cols);
#pragma unroll
            for (int v = 0; v < VECTOR; ++v) sum[v] = add(sum[v], held[v]);
        }
    }
    if constexpr (DOWN > 1) {
#pragma unroll
        for (int v = 0; v < VECTOR; ++v) joint[y][x][v] = sum[v];
        __syncthreads();
#pragma unroll
        for (int distance = DOWN / 2; distance > 0; distance /= 2) {
            if (y < distance)
#pragma unroll
                for (int v = 0; v < VECTOR; ++v) joint[y][x][v] = add(joint[y][x][v], joint[y + distance][x][v]);
            __syncthreads();
        }
        if (y == 0)
#pragma unroll
            for (int v = 0; v < VECTOR; ++v) sum[v] = joint[0][x][v];
    }
    if (y > 0) return;
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) {
        const int at = col + v * (WIDE ? 1 : ACROSS);
        if (at < cols) to[(long long)blockIdx.y * cols + at] = sum[v];
    }
}

} // namespace

extern "C" __global__ void __launch_bounds__(ACROSS *DOWN)
    column_sums(const float *__restrict__ a, float *__restrict__ to, int rows, int cols)
{
    __shared__ float joint[DOWN][ACROSS][VECTOR];
    if (VECTOR > 1 && cols % VECTOR == 0 && reinterpret_cast<unsigned long long>(a) % (4 * VECTOR) == 0)
        sum_part<true>(joint, a, to, rows, cols);
    else
        sum_part<false>(joint, a, to, rows, cols);
}

#if SPLIT > 1
extern "C" __global__ void __launch_bounds__(256)
    column_sums_finish(const float *__restrict__ partial, float *__restrict__ sums, int cols)
{
    const int col = blockIdx.x * 256 + threadIdx.x;
    if (col >= cols) return;
    float sum = 0.0f;
#pragma unroll 8
    for (int i = 0; i < SPLIT; ++i) sum += partial[(long long)i * cols + col];
    sums[col] = sum;
}
#endif
