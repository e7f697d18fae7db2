// The cases of right.cu whose data go through shared memory of blocks and clusters.
#if IS(through_shared) || IS(through_dynamic_shared) || IS(big_shared) || IS(all_shared) || IS(odd_shared) || \
    IS(async_copies) || IS(bulk_copies) || IS(bulk_stores) || IS(cluster_of_two) || IS(cluster_of_eight) ||   \
    IS(producer_and_consumer)
#define BY_SHARED

#if IS(cluster_of_two) || IS(cluster_of_eight)
HELPER void cluster_barrier()
{
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
#endif

#if IS(bulk_copies) || IS(bulk_stores)
HELPER u32 address(const void *p)
{
    return (u32)__cvta_generic_to_shared(p);
}
#endif

HELPER void shared_part(long long tile, int n, float a, const float *x, const float *y0, float *y)
{
#if IS(through_shared) || IS(through_dynamic_shared) || IS(big_shared) || IS(all_shared) || IS(odd_shared)
#if IS(through_shared)
    __shared__ float staged[TILE];
#elif IS(big_shared)
    float *staged = (float *)(pool + 96000);
#elif IS(all_shared)
    float *staged = (float *)(pool + 232448 - 4 * TILE);
#elif IS(odd_shared)
    float *staged = (float *)(pool + 12344 - 4 * TILE);
#else
    float *staged = (float *)pool;
#endif
    for (int k = threadIdx.x; k < TILE; k += THREADS) staged[k] = tile * TILE + k < n ? a * x[tile * TILE + k] : 0;
    __syncthreads();
    for (int k = TILE - 1 - threadIdx.x; k >= 0; k -= THREADS)
        if (tile * TILE + k < n) y[tile * TILE + k] = staged[k] + y0[tile * TILE + k];
#elif IS(async_copies)
    __shared__ __align__(16) float staged[TILE];
    for (int k = threadIdx.x; k < TILE; k += THREADS)
        if (tile * TILE + k < n)
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((u32)__cvta_generic_to_shared(staged + k)),
                         "l"(x + tile * TILE + k)
                         : "memory");
    asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    for (int k = TILE - 1 - threadIdx.x; k >= 0; k -= THREADS)
        if (tile * TILE + k < n) y[tile * TILE + k] = a * staged[k] + y0[tile * TILE + k];
#elif IS(bulk_copies) || IS(bulk_stores)
    __shared__ __align__(128) float staged[TILE];
    [[maybe_unused]] __shared__ __align__(8) u64 barrier;
    if ((tile + 1) * TILE > n) {
        tile_plainly(tile, n, a, x, y0, y);
        return;
    }
#if IS(bulk_copies)
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.proxy.async.shared::cta;" ::"r"(address(&barrier))
                     : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(&barrier)), "r"(TILE * 4)
                     : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                         address(staged)),
                     "l"(x + tile * TILE), "r"(TILE * 4), "r"(address(&barrier))
                     : "memory");
    }
    __syncthreads();
    asm volatile("{\n.reg .pred p;\nW:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra W;\n}" ::"r"(
                     address(&barrier))
                 : "memory");
    for (int k = threadIdx.x; k < TILE; k += THREADS) y[tile * TILE + k] = a * staged[k] + y0[tile * TILE + k];
#else
    for (int k = threadIdx.x; k < TILE; k += THREADS) staged[k] = a * x[tile * TILE + k] + y0[tile * TILE + k];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(y + tile * TILE),
                     "r"(address(staged)), "r"(TILE * 4)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
#endif
#elif IS(cluster_of_two) || IS(cluster_of_eight)
    // Each block writes its neighbour's tile to the neighbour's shared memory, and then stores the tile that it finds
    // in its own shared memory.
    __shared__ float staged[TILE];
    u32 rank, size, there;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    u32 other = (rank + 1) % size;
    long long its = tile - rank + other;
    cluster_barrier();
    for (int k = threadIdx.x; k < TILE; k += THREADS) {
        long long i = its * TILE + k;
        float value = i < n ? a * x[i] + y0[i] : 0;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                     : "=r"(there)
                     : "r"((u32)__cvta_generic_to_shared(staged + k)), "r"(other));
        asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(there), "f"(value) : "memory");
    }
    cluster_barrier();
    for (int k = threadIdx.x; k < TILE; k += THREADS)
        if (tile * TILE + k < n) y[tile * TILE + k] = staged[k];
#elif IS(producer_and_consumer)
    // Warps 0 to 3 load, warps 4 to 7 store.
    __shared__ float staged[TILE];
    int lane = threadIdx.x & 127;
    if (threadIdx.x < 128) {
        for (int k = lane; k < TILE; k += 128) staged[k] = tile * TILE + k < n ? a * x[tile * TILE + k] : 0;
        asm volatile("bar.arrive 1, 256;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 256;" ::: "memory");
        for (int k = lane; k < TILE; k += 128)
            if (tile * TILE + k < n) y[tile * TILE + k] = staged[k] + y0[tile * TILE + k];
    }
    __syncthreads();
#endif
}
#endif
