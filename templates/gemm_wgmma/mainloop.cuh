/* gemm_wgmma.cu: the two roles: the thread that loads, and the consumers. */
#pragma once

#include "operands.cuh"
#include "parameters.cuh"
#include "partials.cuh"
#include "wgmma.cuh"

namespace
{

/* The tensor maps of the operands and, with PRODUCTS 3, of their low parts. */
struct operands {
    const tensor_map *a, *b, *a_low, *b_low;
};

/* The thread that loads. */
__device__ __forceinline__ void produce(const operands &from, const problem &p, const ring &r, unsigned rank)
{
    const int cm = CLUSTER_K > 1 ? 0 : rank % CLUSTER_M, cn = CLUSTER_K > 1 ? 0 : rank / CLUSTER_M;
    unsigned short a_mask = 0, b_mask = (unsigned short)(((1u << CLUSTER_M) - 1) << (CLUSTER_M * cn));
#pragma unroll
    for (int i = 0; i < CLUSTER_N; i++) a_mask |= (unsigned short)(1u << (cm + CLUSTER_M * i));
    const unsigned long long a_policy = cache_policy<HINT_A>(), b_policy = cache_policy<HINT_B>();
    const int walked = PRODUCTS == 3 ? (p.k + BLOCK_K - 1) / BLOCK_K : 0; /* steps of one of three products */
    int s = 0;
    unsigned parity = 1;
    piece next;
    for (walk w = walk_begin(p); walk_next(p, w, next);) {
        int row, col;
        place(p, next.tile, row, col);
        row = (row * CLUSTER_M + cm) * BLOCK_M + cn * operand_a::SHARE;
        col = (col * CLUSTER_N + cn) * BLOCK_N + cm * operand_b::SHARE;
        int at = ROTATE && next.count > 0 ? (int)((unsigned)next.tile * ROTATE % (unsigned)next.count) : 0;
        for (int step = 0; step < next.count; step++) {
            int k = next.first + at * (INTERLEAVE ? gridDim.y : 1);
            const tensor_map *a = from.a, *b = from.b;
            if (++at == next.count) at = 0;
            if (PRODUCTS == 3) {
                if (k >= 2 * walked) {
                    k -= 2 * walked;
                } else if (k >= walked) {
                    k -= walked;
                    a = from.a_low;
                } else {
                    b = from.b_low;
                }
            }
            barrier_wait(r.empty + 8 * s, parity);
#if SWEETSPOT_VARIANT == 2
            barrier_arrive(r.full + 8 * s);
#else
            barrier_expect(r.full + 8 * s, A_BYTES + B_BYTES);
            const unsigned to_a = r.a + s * A_BYTES, to_b = r.b + s * B_BYTES, full = r.full + 8 * s;
            operand_a::load(to_a, a, cn, row, k * BLOCK_K, full, a_mask, a_policy);
            operand_b::load(to_b, b, cm, col, k * BLOCK_K, full, b_mask, b_policy);
#endif
            if (++s == STAGES) {
                s = 0;
                parity ^= 1;
            }
        }
    }
}

/* Enqueues one stage's products, 32 bytes along K at a time. */
__device__ __forceinline__ void multiply_stage(float (&d)[PARTS][SUMS], unsigned a, unsigned b, int row, bool add)
{
    constexpr unsigned long long A = operand_a::strides(), B = operand_b::strides();
#pragma unroll
    for (int k = 0; k < BLOCK_K * SIZE / 32; k++) {
        const unsigned from_b = b + operand_b::offset(0, k);
#pragma unroll
        for (int p = 0; p < PARTS; p++)
            multiply(d[p], at(A, a + operand_a::offset(row + 64 * p, k)), at(B, from_b), k > 0 || add);
    }
}

/* A step along K: waits for its stage and enqueues its products. */
__device__ __forceinline__ void begin_step(float (&d)[PARTS][SUMS], const ring &r, int s, unsigned parity, int row,
                                           bool add)
{
    barrier_wait(r.full + 8 * s, parity);
#if SWEETSPOT_VARIANT != 1
    multiply_begin();
    multiply_stage(d, r.a + s * A_BYTES, r.b + s * B_BYTES, row, add);
    multiply_commit();
#endif
}

/* Waits for the products of this step, or with IN_FLIGHT of the previous one. Releases their stage and advances to the
 * next stage. */
__device__ __forceinline__ void end_step(const ring &r, int &s, unsigned &parity, int &last, bool any, unsigned rank)
{
#if SWEETSPOT_VARIANT != 1
    multiply_wait<IN_FLIGHT>();
#endif
    if (IN_FLIGHT == 0)
        release(r, s, rank);
    else if (any)
        release(r, last, rank);
    last = s;
    if (++s == STAGES) {
        s = 0;
        parity ^= 1;
    }
}

/* Multiplies the steps of a piece from the k-th on. */
__device__ __forceinline__ void multiply_piece(float (&d)[PARTS][SUMS], const ring &r, int &s, unsigned &parity,
                                               int &last, int k, int count, int own, unsigned rank)
{
#if PROMOTE
    float total[PARTS][SUMS];
    const int all = count;
#pragma unroll
    for (int i = 0; i < PARTS * SUMS; i++) total[i / SUMS][i % SUMS] = 0;
    while (k < all) {
        const int begin = k;
        count = min(k + PROMOTE, all);
        for (; k < count; k++) {
            begin_step(d, r, s, parity, own, k > begin);
            end_step(r, s, parity, last, k > 0, rank);
        }
        multiply_wait<0>();
        pin(d);
#pragma unroll
        for (int i = 0; i < PARTS * SUMS; i++) total[i / SUMS][i % SUMS] += d[i / SUMS][i % SUMS];
        pin(d);
    }
#pragma unroll
    for (int i = 0; i < PARTS * SUMS; i++) d[i / SUMS][i % SUMS] = total[i / SUMS][i % SUMS];
#else
    for (; k < count; k++) {
        begin_step(d, r, s, parity, own, k > 0);
        end_step(r, s, parity, last, k > 0, rank);
    }
#endif
}

/* Stores a consumer's sums of a piece to C, or leaves them for the block that adds the parts of the tile. */
__device__ __forceinline__ void finish_piece(float (&d)[PARTS][SUMS], target &t, const problem &p, const ring &r,
                                             const piece &done, int row, int col, unsigned rank, workspace space,
                                             deferred &later)
{
#if CLUSTER_K > 1
    /* All loads have arrived and have been read. The ring's memory is free once every consumer is here. */
    asm volatile("bar.sync %0, %1;" ::"n"(WARPGROUPS + 1), "n"(128 * WARPGROUPS) : "memory");
    offer_partial(d, r.a, rank);
    cluster_sync();
    store_split(d, t, row, col, r.a, rank);
#elif DEFER
    defer_tile(later, d, t, row, col);
#elif STREAM_K
    if (done.first > 0) {
        leave_sums(d, space, t.group);
        return;
    }
    if (done.count < p.steps) collect_sums(d, p, space, done.tile, done.count, t.group);
    store_tile(d, t, row, col);
#elif TWO_PASS
    if (gridDim.y > 1)
        leave_part(d, space.sums + part_offset(blockIdx.y, done.tile * CLUSTER + rank, p.tiles * CLUSTER));
    else
        store_tile(d, t, row, col);
#else
    store_tile(d, t, row, col);
#endif
}

/* The threads that multiply. space: where STREAM_K and FINISH two_pass leave sums. */
__device__ __forceinline__ void consume(const problem &p, const ring &r, const target &to, unsigned rank,
                                        unsigned buffers, unsigned loaded, workspace space)
{
    const int group = threadIdx.x / 128;
    const int cm = CLUSTER_K > 1 ? 0 : rank % CLUSTER_M, cn = CLUSTER_K > 1 ? 0 : rank / CLUSTER_M;
    const int own = PINGPONG ? 0 : group * ROWS;
    float d[PARTS][SUMS];
    target t = to;
    t.group = group;
    t.buffers = buffers + group * STORE_BUFFERS * STORE_BYTES;
    t.loaded = loaded + group * STORE_BUFFERS * 8;
    t.phases = 0;
    bool turn = !PINGPONG || group == 0; /* whether this consumer computes the next piece */
    unsigned before = 0;                 /* steps of this block before the next piece */
    if (PINGPONG && group == 1) turn_end(group);
    deferred later;
#if DEFER
    later.waiting = false;
#endif
    piece next;
    for (walk w = walk_begin(p); walk_next(p, w, next);) {
        const int count = next.count;
        int s = (int)(before % STAGES), last = 0;
        unsigned parity = before / STAGES & 1;
        before += (unsigned)count;
        if (PINGPONG) {
            turn = !turn;
            if (turn) continue;
        }
        int row, col;
        place(p, next.tile, row, col);
        row = (row * CLUSTER_M + cm) * BLOCK_M + own;
        col = (col * CLUSTER_N + cn) * BLOCK_N;
        if (count == 0) {
#pragma unroll
            for (int i = 0; i < PARTS * SUMS; i++) d[i / SUMS][i % SUMS] = 0;
        }
        pin(d);
        if (PINGPONG) turn_begin(group);
#if STORE_IS == STORE_tma && !DEFER && CLUSTER_K == 1
        if (TWO_PASS ? gridDim.y == 1 : !STREAM_K || next.first == 0) load_old_ahead(t, row, col);
#endif
        int k = 0;
#if DEFER
        if (later.waiting) {
            if (count >= PARTS * CHUNKS) {
#pragma unroll
                for (; k < PARTS * CHUNKS; k++) {
                    begin_step(d, r, s, parity, own, k > 0);
                    store_deferred(later, k, t);
                    end_step(r, s, parity, last, k > 0, rank);
                }
            } else {
                store_all_deferred(later, t);
            }
            later.waiting = false;
        }
#endif
        multiply_piece(d, r, s, parity, last, k, count, own, rank);
        if (PINGPONG && w.tile < p.tiles) turn_end(group);
        multiply_wait<0>();
        if (IN_FLIGHT && count > 0) release(r, last, rank);
        pin(d);
        finish_piece(d, t, p, r, next, row, col, rank, space, later);
    }
#if DEFER
    if (later.waiting) store_all_deferred(later, t);
#endif
#if STORE_IS == STORE_tma
    if (threadIdx.x % 128 == 0) stores_read<0>();
#endif
}

} // namespace
