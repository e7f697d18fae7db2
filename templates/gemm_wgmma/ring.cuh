/* gemm_wgmma.cu: barriers that order reads and writes: in shared memory, among the threads of a consumer, and in a
 * cluster. */
#pragma once

#include "../device/ptx.cuh"
#include "../device/tma.cuh"
#include "parameters.cuh"

namespace
{

__device__ __forceinline__ unsigned cluster_rank()
{
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ __forceinline__ void cluster_sync()
{
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* Arrives at the same barrier of another block of the cluster. It does not need .cluster, because it releases reads by
 * wgmma, which have already been waited for. A fence with cluster scope in every step made the product three times
 * slower. */
__device__ __forceinline__ void barrier_arrive_at(unsigned barrier, unsigned rank)
{
    asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(barrier),
                 "r"(rank)
                 : "memory");
}

/* Synchronises the threads of consumer `group`. */
__device__ __forceinline__ void group_sync(int group)
{
    asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
}

/* pingpong: a consumer's steps along K begin when all of the other consumer's have been loaded. A barrier's parity only
 * distinguishes one round of the ring from the next, so a consumer must not poll a stage that is for the other
 * consumer. */
__device__ __forceinline__ void turn_begin(int group)
{
    asm volatile("bar.sync %0, 256;" ::"r"(group + 8) : "memory");
}

__device__ __forceinline__ void turn_end(int group)
{
    asm volatile("bar.arrive %0, 256;" ::"r"(9 - group) : "memory");
}

struct ring {
    unsigned a, b, full, empty; /* shared addresses */
};

/* Signals to the blocks that send to this one that it has read a stage. */
__device__ __forceinline__ void release(const ring &r, int s, unsigned rank)
{
    const unsigned barrier = r.empty + 8 * s;
    if constexpr (CLUSTER_M * CLUSTER_N == 1) {
        if (threadIdx.x % 128 == 0) barrier_arrive(barrier);
    } else {
        const unsigned cm = rank % CLUSTER_M, cn = rank / CLUSTER_M, i = threadIdx.x % 128;
        if (i < CLUSTER_N)
            barrier_arrive_at(barrier, cm + CLUSTER_M * i);
        else if (i < CLUSTER_N + CLUSTER_M - 1)
            barrier_arrive_at(barrier, i - CLUSTER_N + (i - CLUSTER_N >= cm) + CLUSTER_M * cn);
    }
}

} // namespace
