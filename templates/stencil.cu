/*
 * stencil.cu: a star-shaped 2D stencil of 4 * RADIUS + 1 points (RADIUS 1: 5 points, RADIUS 6: 25), without borders:
 *
 *     y[i][j] = x[i][j] / 2 + sum over k = 1 .. RADIUS of (x[i-k][j] + x[i+k][j] + x[i][j-k] + x[i][j+k]) / (8k)
 *
 *     x: (height + 2 * RADIUS) x (width + 2 * RADIUS) floats; the formula's (i, j) is element (i + RADIUS, j + RADIUS).
 *     y: height x width
 *
 * Bound by memory if every float is read once, and by reads from shared memory or L1 if every output fetches its own
 * operands. A thread computes TILE_X patches of TILE_Y rows by VECTOR adjacent columns; the patches are BLOCK_X *
 * VECTOR columns apart. The thread goes down the rows of x and adds each float to all outputs that need it:
 *
 *     RADIUS rows above       VECTOR floats each, for the columns' sums
 *     TILE_Y rows             VECTOR + 2 * RADIUS floats each, in vectors: all that the row's outputs need from it,
 *                             and the middle for the columns' sums
 *     RADIUS rows below       as above
 *
 * STAGING says where threads read from:
 *
 *     STAGING shared   the block first copies its part of x to shared memory, with rows PADDING floats longer than
 *                      needed, COPY floats at a time
 *     STAGING async    the same with asynchronous copies, which bypass the registers
 *     STAGING none     threads read x itself, so from the L1; with READ_ONLY 1 through the read-only path
 *
 * If rows of x or y are not aligned to vectors, global memory is accessed float by float.
 *
 * Launches
 *     stencil        (const float *x, float *y, int height, int width)
 *         grid   (ceil_div(width, BLOCK_X * TILE_X * VECTOR), ceil_div(height, BLOCK_Y * TILE_Y))
 *         block  (BLOCK_X, BLOCK_Y)
 *         dynamic shared memory, except with STAGING none: BLOCK_Y * TILE_Y + 2 * RADIUS rows of
 *         BLOCK_X * TILE_X * VECTOR + 2 * RADIUS floats, rounded up to a multiple of 4, + PADDING
 *     stencil_naive  the same arguments, in fp64;   grid  (ceil_div(width, 32), ceil_div(height, 8));   block  (32, 8)
 *
 * Parameters (macros; each has a default): BLOCK_X, BLOCK_Y, TILE_X, TILE_Y, VECTOR 1, 2 or 4, STAGING, COPY 1, 2 or
 * 4, PADDING (a multiple of both), READ_ONLY, STORE `plain` or `streaming`. RADIUS is the same for a whole job.
 *
 * SWEETSPOT_VARIANT (set by `sweetspot profile --limits`): 0 is the kernel. 1 does only the memory accesses: bits are
 * collected instead of multiplied and added. 2 does only the arithmetic: x is not loaded, and stores are under a
 * condition that never holds.
 */
#ifndef SWEETSPOT_VARIANT
#define SWEETSPOT_VARIANT 0
#endif
#ifndef RADIUS
#define RADIUS 1
#endif
#ifndef BLOCK_X
#define BLOCK_X 32
#endif
#ifndef BLOCK_Y
#define BLOCK_Y 8
#endif
#ifndef TILE_X
#define TILE_X 1
#endif
#ifndef TILE_Y
#define TILE_Y 4
#endif
#ifndef VECTOR
#define VECTOR 1
#endif
#ifndef STAGING
#define STAGING none
#endif
#ifndef COPY
#define COPY 1
#endif
#ifndef PADDING
#define PADDING 0
#endif
#ifndef READ_ONLY
#define READ_ONLY 1
#endif
#ifndef STORE
#define STORE plain
#endif
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define STAGING_none 1
#define STAGING_shared 2
#define STAGING_async 3
#define STAGING_IS JOIN(STAGING_, STAGING)
#define STORE_plain 1
#define STORE_streaming 2
#define STORE_IS JOIN(STORE_, STORE)
#if STAGING_IS == 0 || STORE_IS == 0
#error "STAGING must be none, shared or async, STORE plain or streaming"
#endif
static_assert(BLOCK_X * BLOCK_Y <= 1024, "a block has at most 1024 threads");
static_assert(VECTOR == 1 || VECTOR == 2 || VECTOR == 4, "VECTOR must be 1, 2 or 4");
static_assert(COPY == 1 || COPY == 2 || COPY == 4, "COPY must be 1, 2 or 4");
static_assert(PADDING % VECTOR == 0 && PADDING % COPY == 0, "PADDING must be a multiple of VECTOR and COPY");

namespace
{

__device__ constexpr int common_divisor(int a, int b)
{
    return b ? common_divisor(b, a % b) : a;
}

constexpr int WIDE = BLOCK_X * VECTOR; /* outputs of a row of the block's threads */
constexpr int ROWS = BLOCK_Y * TILE_Y + 2 * RADIUS, COLS = WIDE * TILE_X + 2 * RADIUS;
constexpr int PITCH = (COLS + 3) / 4 * 4 + PADDING; /* floats from one staged row to the next */
/* Floats per read, if the whole row is needed and if only its middle is. */
constexpr int AROUND = common_divisor(VECTOR, VECTOR + 2 * RADIUS), MIDDLE = common_divisor(VECTOR, RADIUS);

template <int L> struct vector_of;
template <> struct vector_of<1> {
    typedef float type;
};
template <> struct vector_of<2> {
    typedef float2 type;
};
template <> struct vector_of<4> {
    typedef float4 type;
};

__device__ __forceinline__ void spread(float *to, float v)
{
    to[0] = v;
}
__device__ __forceinline__ void spread(float *to, float2 v)
{
    to[0] = v.x, to[1] = v.y;
}
__device__ __forceinline__ void spread(float *to, float4 v)
{
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}
__device__ __forceinline__ void gather(float &v, const float *from)
{
    v = from[0];
}
__device__ __forceinline__ void gather(float2 &v, const float *from)
{
    v = make_float2(from[0], from[1]);
}
__device__ __forceinline__ void gather(float4 &v, const float *from)
{
    v = make_float4(from[0], from[1], from[2], from[3]);
}

__device__ __forceinline__ float combine(float sum, float factor, float x)
{
#if SWEETSPOT_VARIANT == 1
    return __uint_as_float(__float_as_uint(sum) | __float_as_uint(x));
#else
    return fmaf(factor, x, sum);
#endif
}

/* Reads L floats at (i, j) of the block's part of x, which begins at (top, left). If rows are not aligned, it reads
 * float by float. */
struct global_memory {
    const float *x;
    int top, left, rows, cols;
    template <bool ALIGNED, int L> __device__ __forceinline__ void read(float *to, int i, int j) const
    {
        const int row = top + i, col = left + j;
#if SWEETSPOT_VARIANT == 2
#pragma unroll
        for (int l = 0; l < L; ++l) to[l] = __int_as_float(row + col + l);
#else
        const float *at = x + (long long)row * cols + col;
        if constexpr (L > 1 && ALIGNED) {
            typedef typename vector_of<L>::type vector;
            vector v = {};
            if (row < rows && col < cols)
                v = READ_ONLY ? __ldg(reinterpret_cast<const vector *>(at)) : *reinterpret_cast<const vector *>(at);
            spread(to, v);
        } else {
#pragma unroll
            for (int l = 0; l < L; ++l)
                to[l] = row < rows && col + l < cols ? (READ_ONLY ? __ldg(at + l) : at[l]) : 0.0f;
        }
#endif
    }
};

struct shared_memory {
    const float *stage;
    template <bool ALIGNED, int L> __device__ __forceinline__ void read(float *to, int i, int j) const
    {
        spread(to, *reinterpret_cast<const typename vector_of<L>::type *>(stage + i * PITCH + j));
    }
};

template <int BYTES> __device__ __forceinline__ void copy_async(float *to, const float *from)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from),
                 "n"(BYTES)
                 : "memory");
}

template <bool ALIGNED> __device__ __forceinline__ void bring(float *stage, const global_memory &from)
{
    constexpr int C = ALIGNED ? COPY : 1;
#pragma unroll(ALIGNED ? 4 : 1)
    for (int i = threadIdx.y; i < ROWS; i += BLOCK_Y)
#pragma unroll
        for (int j = threadIdx.x * C; j < COLS; j += BLOCK_X * C) {
            /* fewer than 4 floats lie beyond COLS, and they still belong to the staged row */
            if (STAGING_IS == STAGING_async && SWEETSPOT_VARIANT != 2) {
                const int row = from.top + i, col = from.left + j;
                if (row < from.rows && col < from.cols)
                    copy_async<4 * C>(stage + i * PITCH + j, from.x + (long long)row * from.cols + col);
            } else {
                float values[C];
                from.template read<ALIGNED, C>(values, i, j);
                gather(*reinterpret_cast<typename vector_of<C>::type *>(stage + i * PITCH + j), values);
            }
        }
    if (STAGING_IS == STAGING_async) asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
}

template <bool ALIGNED, class SOURCE>
__device__ __forceinline__ void compute(const SOURCE &source, float *y, int top, int left, int height, int width)
{
    const int mine = threadIdx.y * TILE_Y;
#pragma unroll
    for (int tx = 0; tx < TILE_X; ++tx) {
        const int j = tx * WIDE + threadIdx.x * VECTOR;
        float sum[TILE_Y][VECTOR] = {};
#pragma unroll
        for (int i = 0; i < TILE_Y + 2 * RADIUS; ++i) {
            float row[VECTOR + 2 * RADIUS];
            if (i >= RADIUS && i < TILE_Y + RADIUS) {
#pragma unroll
                for (int l = 0; l < VECTOR + 2 * RADIUS; l += AROUND)
                    source.template read<ALIGNED, AROUND>(row + l, mine + i, j + l);
#pragma unroll
                for (int v = 0; v < VECTOR; ++v) {
                    float &out = sum[i - RADIUS][v];
                    out = combine(out, 0.5f, row[v + RADIUS]);
#pragma unroll
                    for (int k = 1; k <= RADIUS; ++k) {
                        out = combine(out, 0.125f / k, row[v + RADIUS - k]);
                        out = combine(out, 0.125f / k, row[v + RADIUS + k]);
                    }
                }
            } else {
#pragma unroll
                for (int l = 0; l < VECTOR; l += MIDDLE)
                    source.template read<ALIGNED, MIDDLE>(row + RADIUS + l, mine + i, j + RADIUS + l);
            }
#pragma unroll
            for (int k = 1; k <= RADIUS; ++k) /* the outputs k rows above and below */
#pragma unroll
                for (int v = 0; v < VECTOR; ++v) {
                    const int above = i - RADIUS - k, below = i - RADIUS + k;
                    if (above >= 0 && above < TILE_Y)
                        sum[above][v] = combine(sum[above][v], 0.125f / k, row[v + RADIUS]);
                    if (below >= 0 && below < TILE_Y)
                        sum[below][v] = combine(sum[below][v], 0.125f / k, row[v + RADIUS]);
                }
        }
#pragma unroll
        for (int ty = 0; ty < TILE_Y; ++ty) {
            const int row = top + mine + ty, col = left + j;
#if SWEETSPOT_VARIANT == 2
            if (sum[ty][0] != -1.0f) continue;
#endif
            if (row >= height) continue;
            float *to = y + (long long)row * width + col;
            if constexpr (ALIGNED) {
                typedef typename vector_of<VECTOR>::type vector;
                vector v;
                gather(v, sum[ty]);
                if (col >= width) continue;
                if (STORE_IS == STORE_streaming)
                    __stcs(reinterpret_cast<vector *>(to), v);
                else
                    *reinterpret_cast<vector *>(to) = v;
            } else {
#pragma unroll
                for (int v = 0; v < VECTOR; ++v)
                    if (col + v < width) to[v] = sum[ty][v];
            }
        }
    }
}

template <bool ALIGNED>
__device__ __forceinline__ void tile(float *stage, const float *x, float *y, int height, int width)
{
    const int left = blockIdx.x * (WIDE * TILE_X), top = blockIdx.y * (BLOCK_Y * TILE_Y);
    const global_memory part = {x, top, left, height + 2 * RADIUS, width + 2 * RADIUS};
#if STAGING_IS == STAGING_none
    compute<ALIGNED>(part, y, top, left, height, width);
#else
    bring<ALIGNED>(stage, part);
    compute<ALIGNED>(shared_memory{stage}, y, top, left, height, width);
#endif
}

} // namespace

extern "C" __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    stencil(const float *__restrict__ x, float *__restrict__ y, int height, int width)
{
#if STAGING_IS == STAGING_none
    constexpr int WIDEST = AROUND;
    float *stage = nullptr;
#else
    constexpr int WIDEST = COPY;
    extern __shared__ __align__(16) float stage[];
#endif
    const bool aligned = (width + 2 * RADIUS) % WIDEST == 0 && width % VECTOR == 0 &&
                         reinterpret_cast<unsigned long long>(x) % (4 * WIDEST) == 0 &&
                         reinterpret_cast<unsigned long long>(y) % (4 * VECTOR) == 0;
    if (aligned)
        tile<true>(stage, x, y, height, width);
    else
        tile<false>(stage, x, y, height, width);
}

extern "C" __global__ void stencil_naive(const float *x, float *y, int height, int width)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y,
              cols = width + 2 * RADIUS;
    if (i >= height || j >= width) return;
    const float *at = x + (long long)(i + RADIUS) * cols + j + RADIUS;
    double sum = 0.5 * at[0];
    for (int k = 1; k <= RADIUS; ++k)
        sum += 0.125 / k * ((double)at[-k] + at[k] + at[-(long long)k * cols] + at[(long long)k * cols]);
    y[(long long)i * width + j] = (float)sum;
}
