/*
 * row_sums.cu: the sum of every row of a matrix of floats.
 *
 * Bound by memory: every float is read once. ROW_THREADS threads share a row, and a block has ROWS_PER_BLOCK rows:
 *
 *     row  | ROW_THREADS vectors | ROW_THREADS vectors | ..     a thread has ITEMS of them in flight; sums of its
 *                                                               vectors' components are kept apart
 *
 * A vector is VECTOR floats if the leading dimension and the matrix are aligned to it, otherwise one float. The kernel
 * decides at run time. Sums are in FP32, in a fixed order. Within a warp they are added with shuffles, between the
 * warps of a row in shared memory.
 *
 * Launch      row_sums (const float *a, float *sums, int rows, int cols)
 *     grid    ceil_div(rows, ROWS_PER_BLOCK);   block  ROW_THREADS * ROWS_PER_BLOCK
 *
 * Parameters (macros; each has a default)
 *     ROW_THREADS      32 to 1024, a power of two;   ROWS_PER_BLOCK
 *     VECTOR           1, 2, 4;   ITEMS  independent loads per thread
 *     UNROLL           pragma text before the loop over a row
 *
 * SWEETSPOT_VARIANT (set by `sweetspot profile --limits`): 0 is the kernel. 1 does only the memory accesses: bits are
 * collected instead of added. 2 does only the arithmetic, on a number that is not loaded.
 */
#ifndef SWEETSPOT_VARIANT
#define SWEETSPOT_VARIANT 0
#endif
#ifndef ROW_THREADS
#define ROW_THREADS 256
#endif
#ifndef ROWS_PER_BLOCK
#define ROWS_PER_BLOCK 1
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
static_assert(ROW_THREADS >= 32 && (ROW_THREADS & (ROW_THREADS - 1)) == 0,
              "ROW_THREADS must be a power of two from 32");
static_assert(ROW_THREADS * ROWS_PER_BLOCK <= 1024, "ROW_THREADS * ROWS_PER_BLOCK must not exceed 1024");
static_assert(VECTOR == 1 || VECTOR == 2 || VECTOR == 4, "VECTOR must be 1, 2 or 4");

namespace
{

template <int V> struct vector;
template <> struct vector<1> {
    typedef float type;
};
template <> struct vector<2> {
    typedef float2 type;
};
template <> struct vector<4> {
    typedef float4 type;
};

template <int V> union held {
    typename vector<V>::type all;
    float each[V];
};

__device__ __forceinline__ float add(float sum, float x)
{
#if SWEETSPOT_VARIANT == 1
    return __uint_as_float(__float_as_uint(sum) | __float_as_uint(x));
#else
    return sum + x;
#endif
}

/* The sum of this thread's part of a row. */
template <int V> __device__ __forceinline__ float part(const float *row, int cols, int lane)
{
    typedef typename vector<V>::type wide;
    const wide *from = reinterpret_cast<const wide *>(row);
    const int vectors = cols / V; /* cols is a multiple of V */
    float sum[V] = {};
#if SWEETSPOT_VARIANT == 2
    held<V> given;
#pragma unroll
    for (int v = 0; v < V; ++v) given.each[v] = (float)cols;
#endif
    int at = lane;
    UNROLL for (; at + (ITEMS - 1) * ROW_THREADS < vectors; at += ITEMS * ROW_THREADS)
    {
        held<V> x[ITEMS];
#pragma unroll
        for (int i = 0; i < ITEMS; ++i)
#if SWEETSPOT_VARIANT == 2
            x[i] = given;
#else
            x[i].all = __ldg(from + at + i * ROW_THREADS);
#endif
#pragma unroll
        for (int i = 0; i < ITEMS; ++i)
#pragma unroll
            for (int v = 0; v < V; ++v) sum[v] = add(sum[v], x[i].each[v]);
    }
    for (; at < vectors; at += ROW_THREADS) {
        held<V> x;
        x.all = __ldg(from + at);
#pragma unroll
        for (int v = 0; v < V; ++v) sum[v] = add(sum[v], x.each[v]);
    }
    float total = sum[0];
#pragma unroll
    for (int v = 1; v < V; ++v) total = add(total, sum[v]);
    return total;
}

} // namespace

extern "C" __global__ void __launch_bounds__(ROW_THREADS *ROWS_PER_BLOCK)
    row_sums(const float *__restrict__ a, float *__restrict__ sums, int rows, int cols)
{
    constexpr int WARPS = ROW_THREADS / 32;
    const int lane = threadIdx.x % ROW_THREADS, mine = threadIdx.x / ROW_THREADS,
              row = blockIdx.x * ROWS_PER_BLOCK + mine;
    float sum = 0.0f;
    if (row < rows) {
        const float *from = a + (long long)row * cols;
        if (VECTOR > 1 && cols % VECTOR == 0 && reinterpret_cast<unsigned long long>(a) % (4 * VECTOR) == 0)
            sum = part<VECTOR>(from, cols, lane);
        else
            sum = part<1>(from, cols, lane);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) sum = add(sum, __shfl_down_sync(0xffffffffu, sum, distance));
    if constexpr (WARPS > 1) {
        __shared__ float warp_sums[ROWS_PER_BLOCK][WARPS];
        if (lane % 32 == 0) warp_sums[mine][lane / 32] = sum;
        __syncthreads();
        if (lane >= 32) return;
        sum = lane < WARPS ? warp_sums[mine][lane] : 0.0f;
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2)
            sum = add(sum, __shfl_down_sync(0xffffffffu, sum, distance));
    }
    if (lane == 0 && row < rows) sums[row] = sum;
}
