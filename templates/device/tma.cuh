/* Copies boxes of matrices between global and shared memory with TMA. Barriers in shared memory signal when the boxes
 * have arrived (sm_90). */
#pragma once

namespace
{

/* A CUtensorMap. */
struct alignas(64) tensor_map {
    unsigned long long opaque[16];
};

[[maybe_unused]] __device__ __forceinline__ void barrier_init(unsigned barrier, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

/* Makes initialised barriers visible to TMA and to the other blocks of the cluster. The thread that initialised them
 * must call it. */
[[maybe_unused]] __device__ __forceinline__ void barriers_initialised()
{
    asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
}

[[maybe_unused]] __device__ __forceinline__ void barrier_expect(unsigned barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

[[maybe_unused]] __device__ __forceinline__ void barrier_arrive(unsigned barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

[[maybe_unused]] __device__ __forceinline__ void barrier_wait(unsigned barrier, unsigned parity)
{
    asm volatile("{\n.reg .pred done;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@done bra "
                 "READY;\nbra AGAIN;\nREADY:\n}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

template <int HINT> [[maybe_unused]] __device__ __forceinline__ unsigned long long cache_policy()
{
    unsigned long long policy = 0;
    if constexpr (HINT == 1) asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    if constexpr (HINT == 2) asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

/* Copies the box at (x, y) of the map to shared memory, with PEERS > 1 to the same place in every block of `mask`. x is
 * the position along the contiguous dimension. */
template <int PEERS, int HINT>
[[maybe_unused]] __device__ __forceinline__ void load_box(unsigned to, const tensor_map *map, int x, int y,
                                                          unsigned barrier, unsigned short mask,
                                                          unsigned long long policy)
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

/* Copies the box at (x, y) of panel z of the map. */
[[maybe_unused]] __device__ __forceinline__ void load_box_3d(unsigned to, const tensor_map *map, int x, int y, int z,
                                                             unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, "
                 "%4}], [%5];" ::"r"(to),
                 "l"(map), "r"(x), "r"(y), "r"(z), "r"(barrier)
                 : "memory");
}

[[maybe_unused]] __device__ __forceinline__ void store_box(const tensor_map *map, unsigned from, int x, int y)
{
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];\ncp.async.bulk.commit_group;" ::
            "l"(map),
        "r"(x), "r"(y), "r"(from)
        : "memory");
}

template <int LEFT> [[maybe_unused]] __device__ __forceinline__ void stores_read()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(LEFT) : "memory");
}

} // namespace
