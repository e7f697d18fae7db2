/* gemm_simt.cu: the parameters with their defaults, their constraints, and the sizes that follow from them. */
#pragma once

#ifndef SWEETSPOT_VARIANT
#define SWEETSPOT_VARIANT 0
#endif
#ifndef BLOCK_M
#define BLOCK_M 128
#endif
#ifndef BLOCK_N
#define BLOCK_N 256
#endif
#ifndef BLOCK_K
#define BLOCK_K 8
#endif
#ifndef WARP_M
#define WARP_M 64
#endif
#ifndef WARP_N
#define WARP_N 64
#endif
#ifndef LANE_ROWS
#define LANE_ROWS 4
#endif
#ifndef LANE_PAIRS
#define LANE_PAIRS 1
#endif
#ifndef TILE_ROW_SIZE
#define TILE_ROW_SIZE 4
#endif
#ifndef TILE_COL_SIZE
#define TILE_COL_SIZE 4
#endif
#ifndef STAGES
#define STAGES 2
#endif
#ifndef VECTOR
#define VECTOR 4
#endif
#ifndef A_ASYNC
#define A_ASYNC 1
#endif
#ifndef PAD
#define PAD 4
#endif
#ifndef UNROLL_K
#define UNROLL_K _Pragma("unroll")
#endif
#ifndef DOUBLE_BUFFER
#define DOUBLE_BUFFER 1
#endif
#ifndef COLUMN_WISE
#define COLUMN_WISE 1
#endif
#ifndef RASTER
#define RASTER 8
#endif
#ifndef MIN_BLOCKS
#define MIN_BLOCKS 1
#endif
#ifndef TRANSPOSE_A
#define TRANSPOSE_A 0
#endif
#ifndef TRANSPOSE_B
#define TRANSPOSE_B 0
#endif
#ifndef ALIGNED
#define ALIGNED 0
#endif
#ifndef AFTER_LAUNCH
#define AFTER_LAUNCH 0
#endif
#ifndef FINISH
#define FINISH last_block
#endif

/* The tuner passes a choice as a bare identifier. These macros make it usable in #if; an unknown choice becomes 0. */
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define FINISH_last_block 1
#define FINISH_two_pass 2
#define FINISH_cluster 3
#define FINISH_IS JOIN(FINISH_, FINISH)
#if FINISH_IS == 0
#error "FINISH must be last_block, two_pass or cluster"
#endif
#if FINISH_IS == FINISH_cluster && defined __CUDA_ARCH__ && __CUDA_ARCH__ < 900
#error "FINISH cluster needs sm_90"
#endif
#if defined SPLIT_K && SPLIT_K < 1
#error "SPLIT_K must be at least 1"
#endif

namespace
{

__host__ __device__ constexpr int smaller(int a, int b)
{
    return a < b ? a : b;
}
__host__ __device__ constexpr int larger(int a, int b)
{
    return a > b ? a : b;
}

/* The largest power of two up to `limit` that divides n. */
__host__ __device__ constexpr int power_of_two_in(int limit, int n)
{
    int p = 1;
    while (2 * p <= limit && n % (2 * p) == 0) p *= 2;
    return p;
}

constexpr int WARPS_N = BLOCK_N / WARP_N;
constexpr int N_THREADS = (BLOCK_M / WARP_M) * WARPS_N * 32;
constexpr int LANE_COLS = 32 / LANE_ROWS;
constexpr int THREAD_M = WARP_M / LANE_ROWS;
constexpr int THREAD_N = WARP_N / LANE_COLS;
constexpr int FULL_ROWS = THREAD_M / TILE_ROW_SIZE * TILE_ROW_SIZE, REST_ROWS = THREAD_M - FULL_ROWS;

/* Floats from one row of a slot to the next, in A's part of a slot, and in a slot. Padded where the copy transposes. */
constexpr int A_ROW = BLOCK_M + (TRANSPOSE_A ? 0 : PAD);
constexpr int B_ROW = BLOCK_N + (TRANSPOSE_B ? PAD : 0);
constexpr int A_SLOT = BLOCK_K * A_ROW;
constexpr int SLOT = A_SLOT + BLOCK_K * B_ROW;

__host__ __device__ constexpr bool is_width(int n)
{
    return n == 1 || n == 2 || n == 4 || n == 8;
}
static_assert(BLOCK_M % WARP_M == 0 && BLOCK_N % WARP_N == 0, "the block tile must be a multiple of the warp tile");
static_assert(LANE_ROWS == 2 || LANE_ROWS == 4 || LANE_ROWS == 8 || LANE_ROWS == 16, "LANE_ROWS must be 2, 4, 8 or 16");
static_assert(is_width(TILE_ROW_SIZE) && is_width(TILE_COL_SIZE),
              "TILE_ROW_SIZE and TILE_COL_SIZE must be 1, 2, 4 or 8");
static_assert(WARP_M % LANE_ROWS == 0 && is_width(larger(1, REST_ROWS)),
              "WARP_M must be LANE_ROWS times patches of TILE_ROW_SIZE and one of 1, 2 or 4");
static_assert(WARP_N % (LANE_COLS * TILE_COL_SIZE) == 0, "WARP_N must be a multiple of 32 / LANE_ROWS * TILE_COL_SIZE");
static_assert(N_THREADS <= 1024, "more than 1024 threads in a block");
static_assert(BLOCK_K % 8 == 0, "BLOCK_K must be a multiple of 8");
static_assert(VECTOR == 1 || VECTOR == 2 || VECTOR == 4, "VECTOR must be 1, 2 or 4");
static_assert(BLOCK_N % 4 == 0, "BLOCK_N must be a multiple of 4");
static_assert(STAGES >= 1, "STAGES must be at least 1");
static_assert(PAD >= 0 && PAD % smaller(4, larger(TILE_ROW_SIZE, TRANSPOSE_B ? TILE_COL_SIZE : 1)) == 0,
              "PAD must keep the rows of shared memory aligned for TILE_ROW_SIZE and TILE_COL_SIZE");
static_assert(ALIGNED != 2 || (A_ASYNC && !TRANSPOSE_A), "ALIGNED 2 needs A_ASYNC and no TRANSPOSE_A");
static_assert(RASTER >= 1, "RASTER must be at least 1");
static_assert(AFTER_LAUNCH >= 0 && AFTER_LAUNCH <= 2, "AFTER_LAUNCH must be 0, 1 or 2");

} // namespace
