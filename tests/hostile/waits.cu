// Kernels that do not wait for data that they need: y[i] = a*x[j] + y0[i] for n elements, where j is i's place in the
// next tile of 1024 elements (for the last tile, the first). If that tile is too short, j = i. Also, b[i - 1] is added
// to b[i], and b[0] is added to itself. Most kernels write a*x for their own tile to scratch and read the a*x of the
// next tile from there.
//
//     buffers   x, y0 (in), y (out), b (inout), s (scratch, n + 1024), z (scratch, 3 * tiles + 64 u32, zero)
//     launch    grid ceil_div(n, 1024), block 256

#include "case.h"

enum { THREADS = 256, TILE = 1024 };

HELPER u32 address(const void *p)
{
    return (u32)__cvta_generic_to_shared(p);
}

HELPER u32 read_flag(const u32 *flag)
{
    return *(const volatile u32 *)flag;
}

// ---- y by way of scratch -------------------------------------------------------------------------------------------

#if IS(waits_for_block_before) || IS(waits_by_tickets) || IS(sleeps_and_waits) || IS(sleeps_10_us) ||    \
    IS(sleeps_50_us) || IS(spins_by_clock) || IS(waits_at_most_10_us) || IS(waits_at_most_some_reads) || \
    IS(no_wait) || IS(waits_for_first_alone) || IS(waits_for_half) || IS(flag_before_data) || IS(all_at_once_assumed)
#define BY_SCRATCH

// Blocks that wait only for a block that began earlier always end.
#define LOOKS_BACK (IS(waits_for_block_before) || IS(waits_by_tickets) || IS(sleeps_and_waits))

// Called by one thread; waits for tile `other` of `tiles`. Flags begin at z[32], and z[0] is the number of finished
// tiles.
HELPER void wait_for(int other, int tiles, u32 *z)
{
    (void)other, (void)tiles;
    const u32 *flag = z + 32 + other;
    [[maybe_unused]] const u64 begin = nanoseconds();
#if IS(waits_for_block_before) || IS(waits_by_tickets)
    while (!read_flag(flag)) {
    }
#elif IS(sleeps_and_waits)
    __nanosleep(2000);
    while (!read_flag(flag)) __nanosleep(100);
#elif IS(sleeps_10_us) || IS(sleeps_50_us)
    while (nanoseconds() - begin < (IS(sleeps_10_us) ? 10000u : 50000u)) __nanosleep(500);
#elif IS(spins_by_clock)
    long long start = clock64();
    while (clock64() - start < 100000) {
    }
#elif IS(waits_at_most_10_us)
    while (!read_flag(flag) && nanoseconds() - begin < 10000) {
    }
#elif IS(waits_at_most_some_reads)
    for (int k = 0; k < 2000 && !read_flag(flag); k++) {
    }
#elif IS(waits_for_first_alone)
    while (!read_flag(z + 32)) {
    }
#elif IS(waits_for_half)
    while (2 * read_flag(z) < (u32)tiles && nanoseconds() - begin < 1000000) {
    }
#elif IS(flag_before_data)
    while (!read_flag(flag) && nanoseconds() - begin < 1000000) {
    }
#elif IS(all_at_once_assumed)
    while (!read_flag(flag) && nanoseconds() - begin < 200000) {
    }
#endif
    __threadfence();
}

HELPER void y_part(int n, float a, const float *x, const float *y0, float *y, float *s, u32 *z)
{
    const int tiles = (n + TILE - 1) / TILE;
    // The tile whose a*x this block computes. Cases that look back take the tiles in reverse order; the block of the
    // last tile computes the first tile's a*x itself.
    __shared__ int mine;
    if (threadIdx.x == 0) {
#if IS(waits_by_tickets)
        mine = tiles - 1 - (int)atomicAdd(z + 1, 1u);
#elif LOOKS_BACK
        mine = tiles - 1 - blockIdx.x;
#else
        mine = blockIdx.x;
#endif
    }
    __syncthreads();
    const int tile = mine, other = (tile + 1) % tiles;
    volatile float *products = s;
#if IS(flag_before_data)
    if (threadIdx.x == 0) atomicExch(z + 32 + tile, 1u);
    __threadfence();
#endif
    for (int k = threadIdx.x; k < TILE; k += THREADS)
        if (tile * TILE + k < n) products[tile * TILE + k] = a * x[tile * TILE + k];
    __threadfence();
    __syncthreads();
    const bool own = LOOKS_BACK && tile == tiles - 1;
    if (threadIdx.x == 0) {
        atomicAdd(z, 1u);
        atomicExch(z + 32 + tile, 1u);
        if (!own) wait_for(other, tiles, z);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < TILE; k += THREADS) {
        int i = tile * TILE + k, j = other * TILE + k;
        if (i >= n) continue;
        float product = j >= n ? a * x[i] : own ? a * x[j] : products[j];
        y[i] = product + y0[i];
    }
}

// ---- y by way of shared memory -------------------------------------------------------------------------------------

#elif IS(both_buffers) || IS(copies_waited_for) || IS(no_wait_for_copies) || IS(waits_for_all_but_one) || \
    IS(sleeps_for_bulk_copy) || IS(no_sync_before_read) || IS(no_sync_before_write) || IS(warps_take_turns)
#define BY_SHARED

HELPER void copy_async(float *to, const float *from)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\ncp.async.commit_group;" ::"r"(address(to)), "l"(from)
                 : "memory");
}

HELPER void y_part(int n, float a, const float *x, const float *y0, float *y, float *s, u32 *z)
{
    (void)s, (void)z;
    __shared__ __align__(128) float staged[2][TILE];
    const int tiles = (n + TILE - 1) / TILE, tile = blockIdx.x, first = tile * TILE, from = (tile + 1) % tiles * TILE;
#if IS(copies_waited_for) || IS(no_wait_for_copies) || IS(waits_for_all_but_one)
    for (int k = threadIdx.x; k < TILE; k += THREADS) copy_async(&staged[0][k], x + (from + k < n ? from + k : first));
#if IS(copies_waited_for)
    asm volatile("cp.async.wait_group 0;" ::: "memory");
#elif IS(waits_for_all_but_one)
    asm volatile("cp.async.wait_group 1;" ::: "memory");
#endif
    __syncthreads();
#elif IS(sleeps_for_bulk_copy)
    __shared__ __align__(8) u64 barrier;
    if (threadIdx.x == 0) {
        asm volatile(
            "mbarrier.init.shared.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(address(&barrier)));
        if (from + TILE <= n) {
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 4096;" ::"r"(address(&barrier)) : "memory");
            asm volatile(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 4096, [%2];" ::"r"(
                    address(staged[0])),
                "l"(x + from), "r"(address(&barrier))
                : "memory");
        }
    }
    if (from + TILE > n)
        for (int k = threadIdx.x; from + k < n; k += THREADS) staged[0][k] = x[from + k];
    __nanosleep(300);
    __syncthreads();
#elif IS(warps_take_turns)
    // The warp that writes a part sleeps, but the warp that reads it does not wait.
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (warp >= 4) __nanosleep(1000);
    for (int k = lane; k < TILE / 8; k += 32) {
        int j = from + warp * (TILE / 8) + k;
        ((volatile float *)staged[0])[warp * (TILE / 8) + k] = j < n ? x[j] : 0;
    }
#else
    for (int k = threadIdx.x; k < TILE; k += THREADS) ((volatile float *)staged[0])[k] = from + k < n ? x[from + k] : 0;
    if (!IS(no_sync_before_read)) __syncthreads();
#endif
    // In reverse order, so that each thread reads elements that another warp has written.
    for (int k = TILE - 1 - threadIdx.x; k >= 0; k -= THREADS) {
        int i = first + k;
        if (i < n) y[i] = a * (from + k < n ? ((volatile float *)staged[0])[k] : x[i]) + y0[i];
    }
#if IS(both_buffers) || IS(no_sync_before_write)
    // Once more with the other input, whose tile goes into the second buffer, or into the same buffer without a
    // barrier.
    const int buffer = IS(both_buffers);
    for (int k = threadIdx.x; k < TILE; k += THREADS) {
        int i = first + k;
        ((volatile float *)staged[buffer])[k] = i < n ? y0[i] : 0;
    }
    __syncthreads();
    for (int k = TILE - 1 - threadIdx.x; k >= 0; k -= THREADS) {
        int i = first + k;
        if (i < n && from + k < n) y[i] = a * x[from + k] + ((volatile float *)staged[buffer])[k];
    }
#endif
#if IS(sleeps_for_bulk_copy)
    // The block must not end, and so release its shared memory, while the copy is in flight.
    if (threadIdx.x == 0 && from + TILE <= n) {
        u32 done = 0;
        while (!done)
            asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}"
                         : "=r"(done)
                         : "r"(address(&barrier))
                         : "memory");
    }
    __syncthreads();
#endif
}

#else

HELPER void y_part(int n, float a, const float *x, const float *y0, float *y, float *s, u32 *z)
{
    (void)s, (void)z;
    const int tiles = (n + TILE - 1) / TILE;
    for (int k = threadIdx.x; k < TILE; k += THREADS) {
        int i = blockIdx.x * TILE + k, j = (blockIdx.x + 1) % tiles * TILE + k;
        if (i < n) y[i] = a * x[j < n ? j : i] + y0[i];
    }
}
#endif

// ---- b in place ----------------------------------------------------------------------------------------------------

// Uses the tile's elements and the element before them, which the block of the previous tile changes. Tiles go in
// reverse order, so that a block waits only for blocks that began earlier. If no block waits, tiles go in forward
// order.
HELPER void b_part(int n, float *b, u32 *z)
{
    const bool waits = !IS(halo_in_place) && !IS(halo_in_place_after_sleep);
    const int tiles = (n + TILE - 1) / TILE, tile = waits ? tiles - 1 - blockIdx.x : blockIdx.x;
    u32 *read = z + 32 + tiles;
    float own[TILE / THREADS], before[TILE / THREADS];
    volatile float *all = b;
    for (int k = 0; k < TILE / THREADS; k++) {
        int i = tile * TILE + k * THREADS + threadIdx.x;
        own[k] = i < n ? all[i] : 0;
        before[k] = i > 0 && i < n ? all[i - 1] : own[k];
    }
    __syncthreads();
    if (waits && threadIdx.x == 0) {
        __threadfence();
        atomicExch(read + tile, 1u);
        if (tile + 1 < tiles)
            while (!read_flag(read + tile + 1)) {
            }
        __threadfence();
    }
#if IS(halo_in_place_after_sleep)
    const u64 begin = nanoseconds();
    while (nanoseconds() - begin < 5000) __nanosleep(200);
#endif
    __syncthreads();
    for (int k = 0; k < TILE / THREADS; k++) {
        int i = tile * TILE + k * THREADS + threadIdx.x;
        if (i < n) all[i] = own[k] + before[k];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    waits(int n, float a, const float *x, const float *y0, float *y, float *b, float *s, u32 *z)
{
    b_part(n, b, z);
    y_part(n, a, x, y0, y, s, z);
}
