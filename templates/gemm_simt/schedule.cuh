/* gemm_simt.cu: which tile of C a block computes, and which of its rows and columns a thread has. */
#pragma once

#include "../device/ptx.cuh"
#include "parameters.cuh"

namespace
{

/* A thread's j-th column, counted from its first. */
__device__ __forceinline__ int thread_col(int j)
{
    return j / TILE_COL_SIZE * (LANE_COLS * TILE_COL_SIZE) + j % TILE_COL_SIZE;
}

/* The matrices of one product, as the kernel receives them. */
struct problem {
    int M, N, K;
    float alpha, beta;
    const float *A, *B;
    float *C;
    int lda, ldb, ldc;
};

/* One tile of C. If the matrix is at least as large as a tile, the last tiles of a row or column are moved back so that
 * they lie inside it. They are then copied without tests like all others, and only store elements that no other tile
 * stores. */
struct place {
    int row, col;         /* the tile's first row and column */
    int own_row, own_col; /* the first row and column that it stores */
};

__device__ __forceinline__ int tiles_along(int extent, int block)
{
    return (extent + block - 1) / block;
}

/* Runs before the first read of A and B. All blocks together prefetch B into the L2: `batch` matrices with `rows` rows
 * of `cols` floats each, as they are stored. */
[[maybe_unused]] __device__ __forceinline__ void prepare(const float *B, int ldb, long long stride, int rows, int cols,
                                                         int batch)
{
#if AFTER_LAUNCH == 2 && SWEETSPOT_VARIANT != 2
    for (long long row = blockIdx.x; cols > 0 && row < (long long)rows * batch; row += gridDim.x) {
        const float *const first = B + row / rows * stride + row % rows * ldb;
        for (int i = 32 * (int)threadIdx.x; i < cols + 31;
             i += 32 * N_THREADS) { /* a row need not begin where a line does */
            const float *const line = first + min(i, cols - 1);
            asm volatile("prefetch.global.L2 [%0];" ::"l"(line));
        }
    }
#endif
    if (ALIGNED || AFTER_LAUNCH) wait_for_launch_before();
}

/* How many rows of op(A) and columns of op(B) are stored, with padding. */
__device__ __forceinline__ int stored_rows(int M)
{
    return ALIGNED == 1 ? (M + 3) / 4 * 4 : M;
}
__device__ __forceinline__ int stored_cols(int N)
{
    return ALIGNED ? (N + 3) / 4 * 4 : N;
}

/* The tile with this number. Numbers go down RASTER rows of tiles, then one column to the right. The last group may
 * have fewer rows. */
__device__ __forceinline__ place tile_place(int number, int M, int N)
{
    const int tiles_n = tiles_along(N, BLOCK_N);
    int tile_m = number / tiles_n, tile_n = number % tiles_n;
    if constexpr (RASTER > 1) {
        const int first = tile_m / RASTER * RASTER, height = min(RASTER, tiles_along(M, BLOCK_M) - first);
        const int in_group = number - first * tiles_n;
        tile_m = first + in_group % height;
        tile_n = in_group / height;
    }
    const int row = tile_m * BLOCK_M, col = tile_n * BLOCK_N;
    const int rows = stored_rows(M), cols = stored_cols(N);
    return {rows >= BLOCK_M ? min(row, rows - BLOCK_M) : row, cols >= BLOCK_N ? min(col, cols - BLOCK_N) : col, row,
            col};
}

/* How the lanes of a warp are laid out over its tile. */
__device__ __forceinline__ int lane_row(int lane)
{
    return LANE_PAIRS ? lane % 2 + lane / (2 * LANE_COLS) * 2 : lane / LANE_COLS;
}
__device__ __forceinline__ int lane_col(int lane)
{
    return LANE_PAIRS ? lane / 2 % LANE_COLS : lane % LANE_COLS;
}
__host__ __device__ constexpr int lane_at(int row, int col)
{
    return LANE_PAIRS ? row % 2 + col * 2 + row / 2 * (2 * LANE_COLS) : row * LANE_COLS + col;
}

/* The first row and column of a thread in its block's tile. */
struct thread_place {
    int m, n;
    int rest; /* distance from row m to the first of the thread's REST_ROWS */
    __device__ __forceinline__ explicit thread_place(int thread)
    {
        const int warp = thread / 32, lane = thread % 32;
        const int lane_m = lane_row(lane);
        m = warp / WARPS_N * WARP_M + lane_m * TILE_ROW_SIZE;
        n = warp % WARPS_N * WARP_N + lane_col(lane) * TILE_COL_SIZE;
        rest = FULL_ROWS * LANE_ROWS - lane_m * (TILE_ROW_SIZE - REST_ROWS);
    }
    /* The thread's i-th row. */
    __device__ __forceinline__ int row(int i) const
    {
        return i < FULL_ROWS ? m + i / TILE_ROW_SIZE * (LANE_ROWS * TILE_ROW_SIZE) + i % TILE_ROW_SIZE
                             : m + rest + i - FULL_ROWS;
    }
};

} // namespace
