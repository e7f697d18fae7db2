/*
 * gemv.cu: y = alpha*op(A)*x + beta*y in FP32, with A a row-major M x N matrix and op(A) either A or its transpose.
 *
 * Bound by memory: every element of A is read once and used once. A good configuration keeps enough independent 16-byte
 * loads in flight. x is read again by every block, from L2.
 *
 * Any M, N >= 1, any leading dimension, any 4-byte aligned pointers. With beta == 0, y is never read. One launch:
 *
 *     gemv  (int M, int N, float alpha, const float *A, int lda, const float *x, float beta, float *y,
 *            float *partial, unsigned *count)
 *         TRANSPOSE 0   y has M elements   grid  ceil_div(M, BLOCK_SIZE / GROUP * ROWS), SPLIT
 *         TRANSPOSE 1   y has N elements   grid  ceil_div(N, GROUP * VECTOR * ITEMS), SPLIT
 *         block         BLOCK_SIZE
 *
 * `partial` holds SPLIT floats per element of y. `count` is one unsigned per block along grid.x, which must be zero
 * before the first launch; each launch leaves it at zero. Neither is used when SPLIT is 1. Results are bit-identical
 * across runs; block order does not matter.
 *
 *     TRANSPOSE 0: a group of GROUP threads goes along ROWS rows   TRANSPOSE 1: a group goes down, with one column
 *                                                                  vector per thread
 *
 *                 GROUP * VECTOR                                          GROUP * VECTOR
 *       row 0  | t0 | t1 | .. | t0 | t1 | ..  -> shuffles           row 0  | t0 | t1 | ..     group 0
 *       row 1  | t0 | t1 | .. | t0 | t1 | ..                        row 1  | t0 | t1 | ..     group 1
 *       ..            the next group has the next ROWS rows         ..       through shared memory, then over blocks
 *
 * Parameters (macros; each has a default)
 *
 *     BLOCK_SIZE   threads of a block, a multiple of GROUP
 *     GROUP        threads that go along one row (TRANSPOSE 0: a multiple of 32), or side by side (TRANSPOSE 1)
 *     ROWS         rows that a thread has in flight; with TRANSPOSE 0 they share the loads of x
 *     ITEMS        vectors that a thread has in flight for each row
 *     VECTOR       floats per load: 1, 2, 4. If pointers or lda do not allow it, single floats are loaded
 *     SPLIT        parts of the sums, each computed by its own block; the block that finishes last adds them in order
 *     UNROLL       pragma text before the main loop
 *     STREAMING    1: loads of A are marked for early eviction from the caches
 *
 * SWEETSPOT_VARIANT (set by `sweetspot profile --limits`): 0 is the kernel. 1 does only the memory accesses: instead of
 * multiplying, the bits are collected. 2 does only the arithmetic: A is not loaded.
 */

#ifndef SWEETSPOT_VARIANT
#define SWEETSPOT_VARIANT 0
#endif
#ifndef TRANSPOSE
#define TRANSPOSE 0
#endif
#ifndef BLOCK_SIZE
#define BLOCK_SIZE 256
#endif
#ifndef GROUP
#define GROUP 32
#endif
#ifndef ROWS
#define ROWS 2
#endif
#ifndef ITEMS
#define ITEMS 2
#endif
#ifndef VECTOR
#define VECTOR 4
#endif
#ifndef SPLIT
#define SPLIT 1
#endif
#ifndef UNROLL
#define UNROLL
#endif
#ifndef STREAMING
#define STREAMING 0
#endif

namespace
{

static_assert(BLOCK_SIZE % 32 == 0 && BLOCK_SIZE >= 32 && BLOCK_SIZE <= 1024,
              "BLOCK_SIZE must be a multiple of 32 up to 1024");
static_assert(GROUP >= 1 && BLOCK_SIZE % GROUP == 0, "BLOCK_SIZE must be a multiple of GROUP");
static_assert(TRANSPOSE || GROUP % 32 == 0, "a row needs a multiple of 32 threads");
static_assert(VECTOR == 1 || VECTOR == 2 || VECTOR == 4, "VECTOR must be 1, 2 or 4");
static_assert(ROWS >= 1 && ITEMS >= 1 && SPLIT >= 1, "ROWS, ITEMS and SPLIT must be at least 1");

constexpr int GROUPS = BLOCK_SIZE / GROUP;

template <int WIDTH> __device__ __forceinline__ void load(float *to, const float *from)
{
    if constexpr (WIDTH == 4) {
        const float4 v = *reinterpret_cast<const float4 *>(from);
        to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    } else if constexpr (WIDTH == 2) {
        const float2 v = *reinterpret_cast<const float2 *>(from);
        to[0] = v.x, to[1] = v.y;
    } else {
        to[0] = *from;
    }
}

/* Loads A, which is not read again. */
template <int WIDTH> __device__ __forceinline__ void load_once(float *to, const float *from)
{
#if SWEETSPOT_VARIANT == 2
#pragma unroll
    for (int v = 0; v < WIDTH; ++v) to[v] = (float)threadIdx.x;
#elif STREAMING
    if constexpr (WIDTH == 4) {
        const float4 v = __ldcs(reinterpret_cast<const float4 *>(from));
        to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    } else if constexpr (WIDTH == 2) {
        const float2 v = __ldcs(reinterpret_cast<const float2 *>(from));
        to[0] = v.x, to[1] = v.y;
    } else {
        to[0] = __ldcs(from);
    }
#else
    load<WIDTH>(to, from);
#endif
}

__device__ __forceinline__ void add_product(float &sum, float a, float x)
{
#if SWEETSPOT_VARIANT == 1
    sum = __uint_as_float(__float_as_uint(sum) | __float_as_uint(a));
#else
    sum += a * x;
#endif
}

__device__ __forceinline__ bool aligned(const float *p, int ld, int width)
{
    return reinterpret_cast<unsigned long long>(p) % (4 * width) == 0 && ld % width == 0;
}

/* Where a part of [0, n) begins, if SPLIT blocks divide it. */
__device__ __forceinline__ int part_begin(int n, int part)
{
    return (int)((long long)n * part / SPLIT);
}

__device__ __forceinline__ void finish_one(float sum, int i, float alpha, float beta, float *y)
{
    y[i] = alpha * sum + (beta != 0.0f ? beta * y[i] : 0.0f);
}

/* Stores this block's part of the sum for element i of y, which has `length` elements. */
__device__ __forceinline__ void give(float sum, int i, int length, float alpha, float beta, float *y, float *partial)
{
    if constexpr (SPLIT == 1)
        finish_one(sum, i, alpha, beta, y);
    else
        __stcg(partial + (long long)blockIdx.y * length + i, sum);
}

/* With SPLIT: among the blocks with elements [first, end), the one that finishes last adds all parts. */
__device__ __forceinline__ void add_parts(int first, int end, int length, float alpha, float beta, float *y,
                                          const float *partial, unsigned *count)
{
    if constexpr (SPLIT > 1) {
        __shared__ bool last;
        __threadfence();
        __syncthreads();
        /* atomicInc wraps to zero at the last block, so that the counter is ready for the next launch. */
        if (threadIdx.x == 0) last = atomicInc(count + blockIdx.x, SPLIT - 1) == SPLIT - 1;
        __syncthreads();
        if (!last) return;
        __threadfence();
        for (int i = first + (int)threadIdx.x; i < end; i += BLOCK_SIZE) {
            float sum = 0.0f;
#pragma unroll 8
            for (int part = 0; part < SPLIT; ++part) sum += __ldcg(partial + (long long)part * length + i);
            finish_one(sum, i, alpha, beta, y);
        }
    }
}

#if !TRANSPOSE

/* sum += the products of columns [begin, end) of ROWS rows. */
template <int WIDTH>
__device__ __forceinline__ void along_rows(float (&sum)[ROWS], const float *const (&row)[ROWS], const float *x,
                                           int begin, int end)
{
    constexpr int CHUNK = GROUP * WIDTH * ITEMS;
    const int lane = threadIdx.x % GROUP;
    int j = begin;
    UNROLL for (; j + CHUNK <= end; j += CHUNK)
    {
        float a[ROWS][ITEMS][WIDTH], b[ITEMS][WIDTH];
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) load_once<WIDTH>(a[r][i], row[r] + j + (i * GROUP + lane) * WIDTH);
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) load<WIDTH>(b[i], x + j + (i * GROUP + lane) * WIDTH);
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
#pragma unroll
            for (int i = 0; i < ITEMS; ++i)
#pragma unroll
                for (int v = 0; v < WIDTH; ++v) add_product(sum[r], a[r][i][v], b[i][v]);
    }
    for (j += lane; j < end; j += GROUP) {
        const float b = x[j];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) add_product(sum[r], row[r][j], b);
    }
}

#else

/* sum += the products of rows begin + group, begin + group + GROUPS, ... below end, for ITEMS vectors of columns. */
__device__ __forceinline__ void down_columns(float (&sum)[ITEMS][VECTOR], const float *column, int lda, const float *x,
                                             int begin, int end)
{
    const long long step = (long long)lda * GROUPS;
    int i = begin + (int)threadIdx.x / GROUP;
    const float *from = column + (long long)lda * i;
    UNROLL for (; i + (ROWS - 1) * GROUPS < end; i += ROWS * GROUPS)
    {
        float a[ROWS][ITEMS][VECTOR], b[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
#pragma unroll
            for (int k = 0; k < ITEMS; ++k) load_once<VECTOR>(a[r][k], from + step * r + k * (GROUP * VECTOR));
#pragma unroll
        for (int r = 0; r < ROWS; ++r) b[r] = x[i + r * GROUPS];
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
#pragma unroll
            for (int k = 0; k < ITEMS; ++k)
#pragma unroll
                for (int v = 0; v < VECTOR; ++v) add_product(sum[k][v], a[r][k][v], b[r]);
        from += step * ROWS;
    }
    for (; i < end; i += GROUPS, from += step)
#pragma unroll
        for (int k = 0; k < ITEMS; ++k)
#pragma unroll
            for (int v = 0; v < VECTOR; ++v) add_product(sum[k][v], from[k * (GROUP * VECTOR) + v], x[i]);
}

/* The same for a strip that reaches past the last column, or if addresses do not allow vectors. */
__device__ __forceinline__ void down_columns_checked(float (&sum)[ITEMS][VECTOR], const float *column, int columns_left,
                                                     int lda, const float *x, int begin, int end)
{
#pragma unroll 1
    for (int i = begin + (int)threadIdx.x / GROUP; i < end; i += GROUPS)
#pragma unroll
        for (int k = 0; k < ITEMS; ++k)
#pragma unroll
            for (int v = 0; v < VECTOR; ++v)
                if (k * (GROUP * VECTOR) + v < columns_left)
                    add_product(sum[k][v], column[(long long)lda * i + k * (GROUP * VECTOR) + v], x[i]);
}

#endif

} // namespace

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    gemv(int M, int N, float alpha, const float *__restrict__ A, int lda, const float *__restrict__ x, float beta,
         float *y, float *partial, unsigned *count)
{
#if !TRANSPOSE
    const int group = threadIdx.x / GROUP, first_of_block = (int)blockIdx.x * (GROUPS * ROWS),
              first = first_of_block + group * ROWS;
    const int begin = part_begin((N + VECTOR - 1) / VECTOR, blockIdx.y) * VECTOR;
    const int end = min(N, part_begin((N + VECTOR - 1) / VECTOR, blockIdx.y + 1) * VECTOR);
    const float *row[ROWS]; /* past the end, the last row again, which is not stored */
    float sum[ROWS] = {};
#pragma unroll
    for (int r = 0; r < ROWS; ++r) row[r] = A + (long long)lda * min(first + r, M - 1);
    if (VECTOR > 1 && aligned(A, lda, VECTOR) && aligned(x, 0, VECTOR))
        along_rows<VECTOR>(sum, row, x, begin, end);
    else
        along_rows<1>(sum, row, x, begin, end);

    __shared__ float warp_sums[ROWS][BLOCK_SIZE / 32];
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) sum[r] += __shfl_down_sync(0xffffffffu, sum[r], distance);
    if (threadIdx.x % 32 == 0)
#pragma unroll
        for (int r = 0; r < ROWS; ++r) warp_sums[r][threadIdx.x / 32] = sum[r];
    __syncthreads();
    for (int i = threadIdx.x; i < GROUPS * ROWS; i += BLOCK_SIZE) {
        float total = 0.0f;
#pragma unroll
        for (int w = 0; w < GROUP / 32; ++w) total += warp_sums[i % ROWS][i / ROWS * (GROUP / 32) + w];
        if (first_of_block + i < M) give(total, first_of_block + i, M, alpha, beta, y, partial);
    }
    add_parts(first_of_block, min(M, first_of_block + GROUPS * ROWS), M, alpha, beta, y, partial, count);
#else
    constexpr int STRIP = GROUP * VECTOR * ITEMS;
    const int first_of_block = (int)blockIdx.x * STRIP, column = first_of_block + (int)threadIdx.x % GROUP * VECTOR;
    const int begin = part_begin(M, blockIdx.y), end = part_begin(M, blockIdx.y + 1);
    float sum[ITEMS][VECTOR] = {};
    if (first_of_block + STRIP <= N && aligned(A, lda, VECTOR))
        down_columns(sum, A + column, lda, x, begin, end);
    else
        down_columns_checked(sum, A + column, N - column, lda, x, begin, end);

    __shared__ float sums[GROUPS][STRIP];
#pragma unroll
    for (int k = 0; k < ITEMS; ++k)
#pragma unroll
        for (int v = 0; v < VECTOR; ++v)
            sums[threadIdx.x / GROUP][(k * GROUP + threadIdx.x % GROUP) * VECTOR + v] = sum[k][v];
    __syncthreads();
    for (int i = threadIdx.x; i < STRIP; i += BLOCK_SIZE) {
        float total = 0.0f;
#pragma unroll
        for (int g = 0; g < GROUPS; ++g) total += sums[g][i];
        if (first_of_block + i < N) give(total, first_of_block + i, N, alpha, beta, y, partial);
    }
    add_parts(first_of_block, min(N, first_of_block + STRIP), N, alpha, beta, y, partial, count);
#endif
}
