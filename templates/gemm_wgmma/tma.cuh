/* gemm_wgmma.cu: boxes of matrices between global and shared memory. */
#pragma once

#include "parameters.cuh"

namespace
{

template <int HINT> __device__ __forceinline__ unsigned long long cache_policy()
{
    unsigned long long policy = 0;
    if constexpr (HINT == 1) asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    if constexpr (HINT == 2) asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

/* A box from (x, y) of the map to shared memory; with PEERS > 1 to the same place in every block of `mask`. x: the
 * contiguous dimension. */
template <int PEERS, int HINT>
__device__ __forceinline__ void load_box(unsigned to, const tensor_map *map, int x, int y, unsigned barrier,
                                         unsigned short mask, unsigned long long policy)
{
    if constexpr (PEERS > 1 && HINT)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster."
                     "L2::cache_hint [%0], [%1, {%2, %3}], [%4], "
                     "%5, %6;" ::"r"(to),
                     "l"(map), "r"(x), "r"(y), "r"(barrier), "h"(mask), "l"(policy)
                     : "memory");
    else if constexpr (PEERS > 1)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                     "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
                     "l"(map), "r"(x), "r"(y), "r"(barrier), "h"(mask)
                     : "memory");
    else if constexpr (HINT)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], "
                     "[%1, {%2, %3}], [%4], %5;" ::"r"(to),
                     "l"(map), "r"(x), "r"(y), "r"(barrier), "l"(policy)
                     : "memory");
    else
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
                "r"(to),
            "l"(map), "r"(x), "r"(y), "r"(barrier)
            : "memory");
}

__device__ __forceinline__ void store_box(const tensor_map *map, unsigned from, int x, int y)
{
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];\ncp.async.bulk.commit_group;" ::
            "l"(map),
        "r"(x), "r"(y), "r"(from)
        : "memory");
}

template <int LEFT> __device__ __forceinline__ void stores_read()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(LEFT) : "memory");
}

} // namespace
