/*
 * convolution.cu: 2D convolution of an image with a FILTER x FILTER filter, without borders: y[i][j] = sum of
 * f[a][b] * x[i+a][j+b].
 *
 *     x: (height + FILTER - 1) x (width + FILTER - 1) floats      f: FILTER x FILTER      y: height x width
 *
 * Bound by arithmetic for filters of 7 x 7 and larger, if operands come from registers. A thread computes TILE_Y x
 * TILE_X adjacent outputs. It goes down TILE_Y + FILTER - 1 rows of x. From each row, it reads the TILE_X + FILTER - 1
 * floats under its outputs once and uses them for all outputs that need the row. The filter's row comes from shared
 * memory, four coefficients per access.
 *
 *     STAGING shared   the block copies its part of x to shared memory, with rows PITCH floats apart, and threads read
 *                      vectors of four from there. PADDING adds four floats to the pitch, so that if a warp covers
 *                      several rows, these use different banks
 *     STAGING none     threads read x itself; with READ_ONLY 1 through the read-only path
 *
 * Launches
 *     convolution        (const float *x, const float *f, float *y, int height, int width)
 *         grid   (ceil_div(width, BLOCK_X * TILE_X), ceil_div(height, BLOCK_Y * TILE_Y));   block  (BLOCK_X, BLOCK_Y)
 *     convolution_naive  the same arguments, in fp64
 *         grid   (ceil_div(width, 32), ceil_div(height, 8));   block  (32, 8)
 *
 * Parameters (macros; each has a default): BLOCK_X, BLOCK_Y; TILE_X, a multiple of 4 for STAGING shared; TILE_Y;
 * STAGING; PADDING 0 or 1; READ_ONLY 0 or 1; UNROLL pragma text before the loop over rows. FILTER is the same for a
 * whole job.
 *
 * SWEETSPOT_VARIANT (set by `sweetspot profile --limits`): 0 is the kernel. 1 does only the memory accesses: bits are
 * collected instead of multiplied and added. 2 does only the arithmetic: x is not loaded, and stores are under a
 * condition that never holds.
 */
#ifndef SWEETSPOT_VARIANT
#define SWEETSPOT_VARIANT 0
#endif
#ifndef FILTER
#define FILTER 15
#endif
#ifndef BLOCK_X
#define BLOCK_X 16
#endif
#ifndef BLOCK_Y
#define BLOCK_Y 8
#endif
#ifndef TILE_X
#define TILE_X 4
#endif
#ifndef TILE_Y
#define TILE_Y 4
#endif
#ifndef STAGING
#define STAGING shared
#endif
#ifndef PADDING
#define PADDING 0
#endif
#ifndef READ_ONLY
#define READ_ONLY 1
#endif
#ifndef UNROLL
#define UNROLL
#endif
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define STAGING_none 1
#define STAGING_shared 2
#define STAGING_IS JOIN(STAGING_, STAGING)
#if STAGING_IS == 0
#error "STAGING must be none or shared"
#endif
static_assert(STAGING_IS == STAGING_none || TILE_X % 4 == 0, "STAGING shared needs a multiple of 4 for TILE_X");
static_assert(BLOCK_X * BLOCK_Y <= 1024, "a block has at most 1024 threads");

namespace
{

constexpr int THREADS = BLOCK_X * BLOCK_Y;
constexpr int ROWS = BLOCK_Y * TILE_Y + FILTER - 1, WINDOW = TILE_X + FILTER - 1, WINDOW_QUADS = (WINDOW + 3) / 4;
/* A staged row ends with the last thread's window, in whole quads. */
constexpr int PITCH = (BLOCK_X - 1) * TILE_X + 4 * WINDOW_QUADS + 4 * PADDING;
constexpr int COEFFICIENTS = (FILTER + 3) / 4 * 4; /* per row of the filter, padded with zeros */

__device__ __forceinline__ float combine(float sum, float a, float b)
{
#if SWEETSPOT_VARIANT == 1
    return __uint_as_float(__float_as_uint(sum) | __float_as_uint(a) | __float_as_uint(b));
#else
    return fmaf(a, b, sum);
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

extern "C" __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    convolution(const float *__restrict__ x, const float *__restrict__ f, float *__restrict__ y, int height, int width)
{
    __shared__ __align__(16) float filter[FILTER][COEFFICIENTS];
    const int rows = height + FILTER - 1, cols = width + FILTER - 1;
    const int tid = threadIdx.y * BLOCK_X + threadIdx.x;
    const int left = blockIdx.x * (BLOCK_X * TILE_X), top = blockIdx.y * (BLOCK_Y * TILE_Y);
    for (int i = tid; i < FILTER * COEFFICIENTS; i += THREADS)
        filter[i / COEFFICIENTS][i % COEFFICIENTS] =
            i % COEFFICIENTS < FILTER ? f[i / COEFFICIENTS * FILTER + i % COEFFICIENTS] : 0.0f;
#if STAGING_IS == STAGING_shared
    __shared__ __align__(16) float stage[ROWS][PITCH];
    for (int i = threadIdx.y; i < ROWS; i += BLOCK_Y)
        for (int j = threadIdx.x; j < PITCH; j += BLOCK_X) stage[i][j] = read(x, top + i, left + j, rows, cols);
#endif
    __syncthreads();

    float sum[TILE_Y][TILE_X] = {};
    UNROLL for (int i = 0; i < TILE_Y + FILTER - 1; ++i)
    {
        float window[4 * WINDOW_QUADS];
#if STAGING_IS == STAGING_shared
        const float4 *from = reinterpret_cast<const float4 *>(&stage[threadIdx.y * TILE_Y + i][threadIdx.x * TILE_X]);
#pragma unroll
        for (int q = 0; q < WINDOW_QUADS; ++q) {
            const float4 v = from[q];
            window[4 * q] = v.x, window[4 * q + 1] = v.y, window[4 * q + 2] = v.z, window[4 * q + 3] = v.w;
        }
#else
#pragma unroll
        for (int j = 0; j < WINDOW; ++j)
            window[j] = read(x, top + threadIdx.y * TILE_Y + i, left + threadIdx.x * TILE_X + j, rows, cols);
#endif
#pragma unroll
        for (int ty = 0; ty < TILE_Y; ++ty) {
            const int a = i - ty; /* the filter's row */
            if (a < 0 || a >= FILTER) continue;
            const float4 *row = reinterpret_cast<const float4 *>(filter[a]);
#pragma unroll
            for (int q = 0; q < COEFFICIENTS / 4; ++q) {
                const float4 v = row[q];
                const float c[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
                for (int k = 0; k < 4; ++k)
                    if (4 * q + k < FILTER)
#pragma unroll
                        for (int tx = 0; tx < TILE_X; ++tx)
                            sum[ty][tx] = combine(sum[ty][tx], c[k], window[tx + 4 * q + k]);
            }
        }
    }
#pragma unroll
    for (int ty = 0; ty < TILE_Y; ++ty)
#pragma unroll
        for (int tx = 0; tx < TILE_X; ++tx) {
            const int i = top + threadIdx.y * TILE_Y + ty, j = left + threadIdx.x * TILE_X + tx;
#if SWEETSPOT_VARIANT == 2
            if (sum[ty][tx] != -1.0f) continue;
#endif
            if (i < height && j < width) y[(long long)i * width + j] = sum[ty][tx];
        }
}

extern "C" __global__ void convolution_naive(const float *x, const float *f, float *y, int height, int width)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= height || j >= width) return;
    double sum = 0;
    for (int a = 0; a < FILTER; ++a)
        for (int b = 0; b < FILTER; ++b)
            sum += (double)f[a * FILTER + b] * x[(long long)(i + a) * (width + FILTER - 1) + j + b];
    y[(long long)i * width + j] = (float)sum;
}
