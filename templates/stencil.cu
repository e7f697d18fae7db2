/*
 * stencil.cu: a star-shaped 2D stencil of 4 * RADIUS + 1 points (RADIUS 1: 5 points, RADIUS 6: 25), without borders:
 *
 *     y[i][j] = x[i][j] / 2 + sum over k = 1 .. RADIUS of (x[i-k][j] + x[i+k][j] + x[i][j-k] + x[i][j+k]) / (8k)
 *
 *     x: (height + 2 * RADIUS) x (width + 2 * RADIUS) floats, its element (i + RADIUS, j + RADIUS) being the formula's (i, j); y: height x width
 *
 * Bound by memory if every float is read once. A thread computes TILE_Y outputs, one below the other, in each of TILE_X columns that lie BLOCK_X apart. The column's
 * TILE_Y + 2 * RADIUS floats go to registers once; neighbours to the left and right come from where STAGING says:
 *
 *     STAGING shared   the block brings its part of x to shared memory first, rows PADDING floats longer than needed
 *     STAGING none     from x itself, that is from the L1; with READ_ONLY 1 through the read-only path
 *
 * Launches
 *     stencil        (const float *x, float *y, int height, int width)
 *         grid   (ceil_div(width, BLOCK_X * TILE_X), ceil_div(height, BLOCK_Y * TILE_Y));   block  (BLOCK_X, BLOCK_Y)
 *     stencil_naive  the same arguments, in fp64;   grid  (ceil_div(width, 32), ceil_div(height, 8));   block  (32, 8)
 *
 * Parameters (macros; each has a default): BLOCK_X, BLOCK_Y, TILE_X, TILE_Y, STAGING, PADDING, READ_ONLY, STORE `plain` or `streaming`. RADIUS is the same for a whole job.
 *
 * SWEETSPOT_VARIANT (set by `sweetspot limiter`): 0 the kernel; 1 memory alone: bits are collected instead of multiplied and added; 2 arithmetic alone: nothing of x
 * is loaded, and stores are behind a condition that never holds.
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
#ifndef STAGING
#define STAGING none
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
#define STAGING_IS JOIN(STAGING_, STAGING)
#define STORE_plain 1
#define STORE_streaming 2
#define STORE_IS JOIN(STORE_, STORE)
#if STAGING_IS == 0 || STORE_IS == 0
#error "STAGING must be none or shared, STORE plain or streaming"
#endif
static_assert(BLOCK_X * BLOCK_Y <= 1024, "a block has at most 1024 threads");

namespace {

constexpr int ROWS = BLOCK_Y * TILE_Y + 2 * RADIUS, COLS = BLOCK_X * TILE_X + 2 * RADIUS;

__device__ __forceinline__ float combine(float sum, float factor, float x)
{
#if SWEETSPOT_VARIANT == 1
    return __uint_as_float(__float_as_uint(sum) | __float_as_uint(x));
#else
    return fmaf(factor, x, sum);
#endif
}

__device__ __forceinline__ float read(const float *x, int row, int col, int rows, int cols)
{
#if SWEETSPOT_VARIANT == 2
    return __int_as_float(row + col);
#else
    if (row >= rows || col >= cols) return 0.0f;
    const float *at = x + (long long)row * cols + col;
    return READ_ONLY ? __ldg(at) : *at;
#endif
}

} // namespace

extern "C" __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y) stencil(const float *__restrict__ x, float *__restrict__ y, int height, int width)
{
    const int rows = height + 2 * RADIUS, cols = width + 2 * RADIUS;
    const int left = blockIdx.x * (BLOCK_X * TILE_X), top = blockIdx.y * (BLOCK_Y * TILE_Y), mine = threadIdx.y * TILE_Y;
#if STAGING_IS == STAGING_shared
    __shared__ float stage[ROWS][COLS + PADDING];
#pragma unroll 4
    for (int i = threadIdx.y; i < ROWS; i += BLOCK_Y)
#pragma unroll
        for (int j = threadIdx.x; j < COLS; j += BLOCK_X) stage[i][j] = read(x, top + i, left + j, rows, cols);
    __syncthreads();
#define AT(i, j) stage[i][j]
#else
#define AT(i, j) read(x, top + (i), left + (j), rows, cols)
#endif
#pragma unroll
    for (int tx = 0; tx < TILE_X; ++tx) {
        const int j = tx * BLOCK_X + threadIdx.x;
        float column[TILE_Y + 2 * RADIUS];
#pragma unroll
        for (int i = 0; i < TILE_Y + 2 * RADIUS; ++i) column[i] = AT(mine + i, j + RADIUS);
#pragma unroll
        for (int ty = 0; ty < TILE_Y; ++ty) {
            float sum = combine(0.0f, 0.5f, column[ty + RADIUS]);
#pragma unroll
            for (int k = 1; k <= RADIUS; ++k) {
                const float factor = 0.125f / k;
                sum = combine(sum, factor, column[ty + RADIUS - k]);
                sum = combine(sum, factor, column[ty + RADIUS + k]);
                sum = combine(sum, factor, AT(mine + ty + RADIUS, j + RADIUS - k));
                sum = combine(sum, factor, AT(mine + ty + RADIUS, j + RADIUS + k));
            }
            const int row = top + mine + ty, col = left + j;
#if SWEETSPOT_VARIANT == 2
            if (sum != -1.0f) continue;
#endif
            if (row < height && col < width) {
                float *to = y + (long long)row * width + col;
                if (STORE_IS == STORE_streaming)
                    __stcs(to, sum);
                else
                    *to = sum;
            }
        }
    }
}

extern "C" __global__ void stencil_naive(const float *x, float *y, int height, int width)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y, cols = width + 2 * RADIUS;
    if (i >= height || j >= width) return;
    const float *at = x + (long long)(i + RADIUS) * cols + j + RADIUS;
    double sum = 0.5 * at[0];
    for (int k = 1; k <= RADIUS; ++k) sum += 0.125 / k * ((double)at[-k] + at[k] + at[-(long long)k * cols] + at[(long long)k * cols]);
    y[(long long)i * width + j] = (float)sum;
}
