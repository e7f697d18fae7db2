/* gemm_simt.cu: multiplies a tile: loads fragments from shared memory and orders their multiplications. */
#pragma once

#include "access.cuh"
#include "ring.cuh"
#include "schedule.cuh"

namespace
{

/* The values that a thread needs for row k of its product: one per row and one per column of its tile. */
struct fragments {
    float a[THREAD_M], b[THREAD_N];

    /* rest: distance from the thread's first row to the first of its REST_ROWS */
    __device__ __forceinline__ void read(const float *a_row, const float *b_row, int rest)
    {
#if SWEETSPOT_VARIANT == 1
        return;
#endif
#pragma unroll
        for (int i = 0; i < THREAD_M / TILE_ROW_SIZE; ++i)
            load<TILE_ROW_SIZE>(a + i * TILE_ROW_SIZE, a_row + i * LANE_ROWS * TILE_ROW_SIZE);
        if constexpr (REST_ROWS > 0) load<REST_ROWS>(a + FULL_ROWS, a_row + rest);
#pragma unroll
        for (int j = 0; j < THREAD_N / TILE_COL_SIZE; ++j)
            load<TILE_COL_SIZE>(b + j * TILE_COL_SIZE, b_row + j * LANE_COLS * TILE_COL_SIZE);
    }
};

/* Which of n elements is multiplied i-th in row (or column) `line` of a thread's tile. See COLUMN_WISE. */
__host__ __device__ constexpr int in_order(int line, int i, int n)
{
    constexpr int STYLE = COLUMN_WISE / 2, GROUP = COLUMN_WISE == 6 ? 2 : 4;
    const int turned = line % 2 ? n - 1 - i : i;
    if (STYLE == 1) return turned < (n + 1) / 2 ? 2 * turned : 2 * (turned - (n + 1) / 2) + 1;
    if (STYLE == 0 || n % GROUP) return turned;
    const int group = i / GROUP, last = n / GROUP - 1, within = i % GROUP;
    const bool back = STYLE == 2 ? group == 0 : COLUMN_WISE == 6 ? group % 2 : line % 2;
    return (line % 2 && COLUMN_WISE != 7 ? last - group : group) * GROUP + (back ? GROUP - 1 - within : within);
}

/* Consecutive FFMAs share an operand (operand reuse cache), even where one row or column ends and the next begins, as
 * far as the compiler keeps the order. */
__device__ __forceinline__ void multiply(float (&sum)[THREAD_M][THREAD_N], const fragments &f)
{
#if SWEETSPOT_VARIANT == 1
#elif COLUMN_WISE % 2
#pragma unroll
    for (int j = 0; j < THREAD_N; ++j)
#pragma unroll
        for (int i = 0; i < THREAD_M; ++i) {
            const int m = in_order(j, i, THREAD_M);
            sum[m][j] += f.a[m] * f.b[j];
        }
#else
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i)
#pragma unroll
        for (int j = 0; j < THREAD_N; ++j) {
            const int n = in_order(i, j, THREAD_N);
            sum[i][n] += f.a[i] * f.b[n];
        }
#endif
}

/* sum = the thread's part of op(A) op(B) for a tile, over k in [first, end). */
__device__ __forceinline__ void multiply_tile(float (&sum)[THREAD_M][THREAD_N], const problem &p, const place &at,
                                              int first, int end, float *ring)
{
    const thread_place thread(thread_anew());
    copier copy;
    const bool a_inside = copy.a.start(p.A, p.lda, at.row, stored_rows(p.M), first, ring);
    const bool b_inside = copy.b.start(p.B, p.ldb, at.col, stored_cols(p.N), first, ring + A_SLOT);
    copy.k_left = end - first;
    copy.k_checked = a_inside && b_inside ? BLOCK_K : 0x7fffffff;
    copy.slot = 0;
#pragma unroll 1
    for (int s = 0; s < STAGES - 1; ++s) {
        copy.next();
        commit_copies();
        if (s < STAGES - 2) copy.finish(ring);
    }

#pragma unroll
    for (int i = 0; i < THREAD_M; ++i)
#pragma unroll
        for (int j = 0; j < THREAD_N; ++j) sum[i][j] = 0.0f;
    const float *const a_first = ring + thread.m, *const b_first = ring + A_SLOT + thread.n;
#if DOUBLE_BUFFER
    fragments now, next;
    advance(copy, ring);
    const float *a_row = a_first + copy.slot, *b_row = b_first + copy.slot;
    now.read(a_row, b_row, thread.rest);
#pragma unroll 1
    while (copy.k_left > -STAGES * BLOCK_K) {
        UNROLL_K for (int k = 0; k < BLOCK_K; ++k)
        {
            a_row += A_ROW, b_row += B_ROW;
            if (k == BLOCK_K - 1) {
                advance(copy, ring);
                a_row = a_first + copy.slot, b_row = b_first + copy.slot;
            }
            next.read(a_row, b_row, thread.rest); /* past the last tile: a stale slot, never used */
            multiply(sum, now);
            now = next;
        }
    }
#else
#pragma unroll 1
    while (copy.k_left > -(STAGES - 1) * BLOCK_K) {
        advance(copy, ring);
        const float *const a_row = a_first + copy.slot, *const b_row = b_first + copy.slot;
        UNROLL_K for (int k = 0; k < BLOCK_K; ++k)
        {
            fragments now;
            now.read(a_row + k * A_ROW, b_row + k * B_ROW, thread.rest);
            multiply(sum, now);
        }
    }
#endif
}

} // namespace
