/* gemm_mma.cu: computes a block's tile of the product in registers. */
#pragma once

#include "operand.cuh"
#include "schedule.cuh"

namespace
{

typedef number sums[TILES_M][TILES_N][4];
typedef copier<A_MAJOR_IS == MAJOR_k, BLOCK_M> copier_a;
typedef copier<B_MAJOR_IS == MAJOR_k, BLOCK_N> copier_b;
typedef reader<A_MAJOR_IS == MAJOR_k, BLOCK_M, true> reader_a;
typedef reader<B_MAJOR_IS == MAJOR_k, BLOCK_N, false> reader_b;

/* A lane's elements of A and B for one instruction along K. */
struct fragments {
    unsigned a[TILES_M][4], b[TILES_N][2];
};

__device__ __forceinline__ void load_a(fragments &f, const reader_a &a, unsigned stage, int group, int m)
{
    a.load(f.a[m][0], f.a[m][1], f.a[m][2], f.a[m][3], stage, group, m);
}

/* Loads B for instructions n and n + 1 along the columns. */
__device__ __forceinline__ void load_b(fragments &f, const reader_b &b, unsigned stage, int group, int n)
{
    b.load(f.b[n][0], f.b[n][1], f.b[n + 1][0], f.b[n + 1][1], stage + A_BYTES, group, n / 2);
}

__device__ __forceinline__ void load_fragments(fragments &f, const reader_a &a, const reader_b &b, unsigned stage,
                                               int group)
{
#pragma unroll
    for (int n = 0; n < TILES_N; n += 2) load_b(f, b, stage, group, n);
#pragma unroll
    for (int m = 0; m < TILES_M; ++m) load_a(f, a, stage, group, m);
}

/* The ring of stages for a piece of a tile. If K is not a multiple of BLOCK_K, step 0 copies the incomplete tile at the
 * end of K, with checks. The complete tiles follow, from the beginning of K. Their copies need no checks along K,
 * unless an operand is not regular (`checked`). A block barrier separates two stages. */
struct ring {
    copier_a a;
    copier_b b;
    unsigned stages;
    int here;           /* number of the stage whose fragments are loaded next */
    int K, copied, end; /* copied: the step that is copied next; end: of the piece's steps */
    bool checked;

    __device__ __forceinline__ ring(const product &p, unsigned memory, const piece &w, int row, int column)
        : a(p.A, p.lda, row, p.M), b(p.B, p.ldb, column, p.N), stages(memory), here(0), K(p.K), copied(w.from),
          end(w.to), checked(!a.regular() || !b.regular())
    {
    }

    __device__ __forceinline__ unsigned stage() const
    {
        return stages + here * STAGE;
    }

    /* The number of the tile along K that a step copies. */
    __device__ __forceinline__ int tile(int step) const
    {
        return K % BLOCK_K == 0 ? step : step == 0 ? K / BLOCK_K : step - 1;
    }

    __device__ __forceinline__ void copy_checked(int to)
    {
        if (copied < end) {
            a.copy_checked(stages + to * STAGE, tile(copied) * BLOCK_K, K);
            b.copy_checked(stages + to * STAGE + A_BYTES, tile(copied) * BLOCK_K, K);
        }
        completed<true>();
    }

    /* Issues part PART of PARTS of the next tile's copies to a stage. The last part completes the tile. */
    template <bool CHECKED, int PART, int PARTS> __device__ __forceinline__ void copy(int to)
    {
        if constexpr (CHECKED) {
            if (PART == PARTS - 1) copy_checked(to);
        } else {
            a.template copy<PART, PARTS>(stages + to * STAGE);
            b.template copy<PART, PARTS>(stages + to * STAGE + A_BYTES);
            if (PART == PARTS - 1) completed<false>();
        }
    }
    template <bool CHECKED> __device__ __forceinline__ void completed()
    {
        commit_copies();
        ++copied;
        if (!CHECKED) {
            a.advance(1, copied < end);
            b.advance(1, copied < end);
        }
    }

    /* Issues part PART of PARTS of the copies to the stage that was used last. */
    template <bool CHECKED, int PART, int PARTS> __device__ __forceinline__ void refill()
    {
        copy<CHECKED, PART, PARTS>(here == 0 ? STAGES - 1 : here - 1);
    }

    /* Begins the copies to all stages but the last. */
    __device__ __forceinline__ void begin()
    {
        int s = 0;
        if (!checked && copied == 0 && K % BLOCK_K != 0) copy_checked(s++);
        a.advance(tile(copied), copied < end);
        b.advance(tile(copied), copied < end);
#pragma unroll 1
        for (; s < STAGES - 1; ++s)
            if (checked)
                copy_checked(s);
            else
                copy<false, 0, 1>(s);
    }
    /* Waits until the copies to stage `here` have arrived. */
    __device__ __forceinline__ void wait() const
    {
        wait_for_copies<STAGES - 2>();
        __syncthreads();
    }
    /* Moves to the next stage. Waits until its copies have arrived and all warps have read the previous stage. */
    __device__ __forceinline__ void next()
    {
        if (++here == STAGES) here = 0;
        wait();
    }
};

/* Executes instructions GROUP and later of a stage. Meanwhile the fragments of the next group, which may be in the next
 * stage, are loaded into the other set. If there is only one set, a fragment is loaded as soon as its predecessor has
 * been used for the last time. The stage that was used last is refilled. */
template <bool CHECKED, int GROUP>
__device__ __forceinline__ void multiply_stage(sums &sum, fragments (&f)[2], ring &r, const reader_a &a,
                                               const reader_b &b)
{
    constexpr int NEXT = (GROUP + 1) % GROUPS;
    fragments &now = f[DOUBLE_BUFFER ? GROUP % 2 : 0], &later = f[DOUBLE_BUFFER ? NEXT % 2 : 0];
    if constexpr (NEXT == 0) r.next();
    /* After the last step, these are loaded but not used. */
    if constexpr (DOUBLE_BUFFER) load_fragments(later, a, b, r.stage(), NEXT);
    if constexpr (NEXT > 0) r.template refill<CHECKED, GROUP, GROUPS - 1>();
#pragma unroll
    for (int m = 0; m < TILES_M; ++m) {
#pragma unroll
        for (int i = 0; i < TILES_N; ++i) {
            /* Back and forth, so that the last operand is used again. The next group's first row begins at the same end
             * as this group's last row, that is, with the fragments that are loaded first. */
            const int n = (m + GROUP * (TILES_M - 1)) % 2 ? TILES_N - 1 - i : i;
#if SWEETSPOT_VARIANT == 1
            sum[m][n][0] += now.a[m][0] + now.a[m][1] + now.a[m][2] + now.a[m][3] + now.b[n][0] + now.b[n][1];
#else
            multiply(sum[m][n], now.a[m], now.b[n]);
#endif
            if (!DOUBLE_BUFFER && m == TILES_M - 1 && i % 2 == 1) load_b(later, b, r.stage(), NEXT, n / 2 * 2);
        }
        if (!DOUBLE_BUFFER) load_a(later, a, r.stage(), NEXT, m);
    }
    if constexpr (NEXT > 0) multiply_stage<CHECKED, NEXT>(sum, f, r, a, b);
}

/* sum += the product for the warp's part of the tile. The ring's begin() must have been called. */
template <bool CHECKED>
__device__ __forceinline__ void multiply_tile(sums &sum, ring &r, const reader_a &a, const reader_b &b)
{
    fragments f[2];
    r.wait();
    load_fragments(f[0], a, b, r.stage(), 0);
#pragma unroll 1
    while (r.copied < r.end + STAGES - 1) multiply_stage<CHECKED, 0>(sum, f, r, a, b);
}

} // namespace
