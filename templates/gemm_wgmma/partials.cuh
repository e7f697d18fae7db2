/* gemm_wgmma.cu: sums over a part of K, which one block leaves to be added by the block that stores the tile. */
#pragma once

#include "epilogue.cuh"
#include "parameters.cuh"
#include "schedule.cuh"

namespace
{

/* Where sums wait to be added by another block. */
struct workspace {
#if STREAM_K || TWO_PASS
    float *sums;
    unsigned *counts; /* STREAM_K: one per consumer, 1 while its sums are there */
#endif
};

#if STREAM_K
/* Where this thread's part of a block's sums of a divided tile begins. The order is [block][sum][thread]. */
__device__ __forceinline__ float *partial_sums(const workspace &w, unsigned block)
{
    return w.sums + (long long)block * (BLOCK_M * BLOCK_N) + threadIdx.x;
}

/* Leaves this block's sums for the block that has the tile's first steps. */
__device__ __forceinline__ void leave_sums(const float (&d)[PARTS][SUMS], const workspace &w, int group)
{
    float *to = partial_sums(w, blockIdx.x);
#pragma unroll
    for (int i = 0; i < PARTS * SUMS; i++)
        asm volatile("st.global.cg.f32 [%0], %1;" ::"l"(to + i * 128 * WARPGROUPS), "f"(d[i / SUMS][i % SUMS])
                     : "memory");
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    group_sync(group);
    if (threadIdx.x % 128 == 0)
        asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(w.counts + blockIdx.x * WARPGROUPS + group) : "memory");
}

/* Adds the sums that the following clusters computed for the rest of the tile, from step `done` on, in the order of the
 * clusters. */
__device__ __forceinline__ void collect_sums(float (&d)[PARTS][SUMS], const problem &p, const workspace &w, int tile,
                                             int done, int group)
{
    const int end = (tile - p.alone + 1) * p.steps;
    int at = (tile - p.alone) * p.steps + done;
    for (int cluster = blockIdx.x / CLUSTER + 1; at < end; cluster++) {
        const int next = min(stream_begin(p, cluster + 1), end);
        if (next == at) continue;
        at = next;
        const unsigned block = cluster * CLUSTER + blockIdx.x % CLUSTER;
        unsigned *count = w.counts + block * WARPGROUPS + group, there = 0;
        if (threadIdx.x % 128 == 0)
            while (!there) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(there) : "l"(count) : "memory");
        group_sync(group);
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        const float *from = partial_sums(w, block);
#pragma unroll
        for (int i = 0; i < PARTS * SUMS; i++) {
            float v;
            asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(v) : "l"(from + i * 128 * WARPGROUPS) : "memory");
            d[i / SUMS][i % SUMS] += v;
        }
        if (threadIdx.x % 128 == 0) *count = 0; /* for the next launch */
    }
}
#endif

#if TWO_PASS
/* Where a block's sums of a part begin. slot: number of the block within the part; slots: blocks per part. */
__device__ __forceinline__ long long part_offset(int part, int slot, int slots)
{
    return ((long long)part * slots + slot) * (BLOCK_M * BLOCK_N);
}

/* Stores this block's sums over its part of K, which gemm_wgmma_finish adds. Their order is [sum / 4][thread][4], with
 * the threads of all consumers that share a tile. */
__device__ __forceinline__ void leave_part(const float (&d)[PARTS][SUMS], float *to)
{
    const unsigned thread = threadIdx.x % (128 * OWNERS);
#pragma unroll
    for (int i = 0; i < PARTS * SUMS; i += 4) {
        const float *v = &d[i / SUMS][i % SUMS];
        asm volatile("st.global.cg.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to + (i / 4 * 128 * OWNERS + thread) * 4),
                     "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3])
                     : "memory");
    }
}
#endif

#if CLUSTER_K > 1
/* shares of a tile, each 64 rows by STORE_COLS columns; share i is for the block of rank i % CLUSTER_K */
constexpr int SHARES = PARTS * (BLOCK_N / STORE_COLS);
constexpr int SHARE_SUMS = STORE_COLS / 2; /* per thread */
/* how many blocks' sums are loaded at once, because one round trip takes longer than all loads */
constexpr int TOGETHER = CLUSTER_K * SHARE_SUMS <= 64 ? CLUSTER_K : 2;

/* The address of four of this thread's sums, from the i-th on, for 16-byte accesses. */
__device__ __forceinline__ unsigned partial_address(unsigned partial, int i)
{
    return partial + (i / 4 * 128 * WARPGROUPS + (int)threadIdx.x) * 16;
}

/* Stores to shared memory the sums that other blocks of the cluster will add, in the order [sum / 4][thread][4]. */
__device__ __forceinline__ void offer_partial(const float (&d)[PARTS][SUMS], unsigned partial, unsigned rank)
{
#pragma unroll
    for (int i = 0; i < PARTS * SUMS; i += 4) {
        const float *v = &d[i / SUMS][i % SUMS];
        if ((unsigned)(i / SHARE_SUMS) % CLUSTER_K != rank)
            asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(partial_address(partial, i)), "f"(v[0]),
                         "f"(v[1]), "f"(v[2]), "f"(v[3])
                         : "memory");
    }
}

/* Adds the cluster's partial sums for this block's shares, in the order of the ranks, and stores the results. */
__device__ __forceinline__ void store_split(float (&d)[PARTS][SUMS], target &t, int row, int col, unsigned partial,
                                            unsigned rank)
{
#if STORE_IS == STORE_direct
    const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    const bool pairs = in_pairs(t);
#endif
#pragma unroll
    for (int share = 0; share < SHARES; share++) {
        if ((unsigned)share % CLUSTER_K != rank) continue;
        const int p = share * SHARE_SUMS / SUMS, first = share * SHARE_SUMS % SUMS;
        float sum[SHARE_SUMS];
#pragma unroll
        for (int i = 0; i < SHARE_SUMS; i++) sum[i] = 0;
#pragma unroll
        for (unsigned s = 0; s < CLUSTER_K; s += TOGETHER) {
            float v[TOGETHER][SHARE_SUMS];
#pragma unroll
            for (unsigned q = 0; q < TOGETHER && s + q < CLUSTER_K; q++) {
                unsigned there;
                asm("mapa.shared::cluster.u32 %0, %1, %2;"
                    : "=r"(there)
                    : "r"(partial_address(partial, share * SHARE_SUMS)), "r"(s + q));
#pragma unroll
                for (int i = 0; i < SHARE_SUMS; i += 4)
                    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                                 : "=f"(v[q][i]), "=f"(v[q][i + 1]), "=f"(v[q][i + 2]), "=f"(v[q][i + 3])
                                 : "r"(there + i / 4 * 128 * WARPGROUPS * 16)
                                 : "memory");
            }
#pragma unroll
            for (unsigned q = 0; q < TOGETHER && s + q < CLUSTER_K; q++)
#pragma unroll
                for (int i = 0; i < SHARE_SUMS; i++) sum[i] += s + q == rank ? d[p][first + i] : v[q][i];
        }
#if STORE_IS == STORE_direct
        const int own_row = row + 64 * p + warp * 16 + lane / 4, own_col = col + 2 * (lane % 4) + 2 * first;
        scale_sums<SHARE_SUMS>(sum, t, own_row, own_col);
#pragma unroll
        for (int j = 0; j < SHARE_SUMS / 4; j++) store_direct(&sum[4 * j], t, own_row, own_col + 8 * j, pairs);
#else
        store_chunk<false>(sum, p, first / CHUNK_SUMS, share / CLUSTER_K, t, row, col);
#endif
    }
}
#endif

} // namespace
