// Ways to add up n integers across blocks, and mistakes in doing so. Results are exact, so that no error hides in a
// bound. Numbers are 1 to 9.
//
//     buffers   x (in, n i32); partial (scratch, 2048 i64 without a fill); z (scratch, 64 u32, zero);
//               total (out, one i64)
//     launch    grid min(ceil_div(n, 2048), 1024), block 256; single_block: grid 1, block 1024;
//               clusters: cluster 4, the grid a multiple; grid_barrier: cooperative, at most one block per SM

// Right.
#define plain 1                 // partial sums, and the last block adds them up; its counter wraps by atomicInc
#define counter_reset_by_last 2 // the last block clears the counter
#define counter_in_z_wraps 3    // the counter is in zeroed scratch
#define atomic_in_z 4           // all add to one number in zeroed scratch, and the last block copies it
#define atomic_global_reset 5   // in a __device__ variable, which the last block clears
#define shuffles 6              // warps by shuffles
#define redux 7                 // warps by redux.sync
#define shared_atomics 8
#define single_block 9
#define clusters 10        // four blocks by distributed shared memory
#define grid_barrier 11    // all partial sums, then a barrier over the grid
#define chain 12           // each block waits for the one before it, in order of tickets
#define vectors 13         // int4
#define histogram 14       // counts of each number, exact by construction
#define tail_moved_back 15 // the last tile moves back and leaves out what the one before has counted
#define finish_by_warp 16
#define twice_the_same 17 // the last block writes the total twice
// Who finishes.
#define last_but_one_finishes 20 // and block 0 is late, so that its sum is missing
#define last_but_one_lucky 21    // no block is late: often right
#define first_finishes 22        // and the last block is late
#define counter_never_reset 23   // a __device__ counter: only the first launch has a last block
#define counter_in_z_never_reset 24
#define counter_in_partial 25 // in scratch that is never filled
#define no_counter 26         // block 0 does not wait, and the last block is late
#define no_fence 27           // partial sums are stored without a fence: often right
// What is added up.
#define last_element_missing 30
#define tail_missing 31 // what a multiple of 256 leaves
#define tail_twice 32   // the last tile moves back and counts all it holds
#define one_block_missing 33
#define border_twice 34
#define last_partial_missing 35
#define half_sampled 36      // twice the sum of every other element
#define constant_mean 37     // 5 n
#define eight_bits 38        // each thread's sum in 8 bits, where it overflows
#define half_floats 39       // blocks' sums in f16
#define first_launch_only 40 // adds to a __device__ number that is never cleared
#define added_to_output 41   // adds to whatever is in the output
// Sums that an earlier launch left.
#define total_kept 50
#define partials_kept 51
#define partials_kept_in_scratch 52
#define total_kept_for_pointer 53
#define total_kept_for_first_elements 54
#define output_if_plausible 55 // writes nothing when the output is near 5 n

#include "case.h"

enum { THREADS = CASE == single_block ? 1024 : 256, CHUNK = 2048 };
typedef long long i64;

__device__ u32 arrived;
#if CASE == atomic_global_reset || CASE == first_launch_only
__device__ u64 global_sum;
#elif CASE == total_kept || CASE == total_kept_for_pointer || CASE == total_kept_for_first_elements
__device__ i64 kept;
__device__ u32 kept_ready;
__device__ const int *kept_for;
__device__ int kept_first[8];
#elif CASE == partials_kept
__device__ i64 kept[2048];
__device__ u32 kept_ready;
#endif

// The sum over a block, in all threads.
HELPER i64 block_sum(i64 mine)
{
    __shared__ i64 part[THREADS];
    __syncthreads();
#if CASE == shared_atomics
    if (threadIdx.x == 0) part[0] = 0;
    __syncthreads();
    atomicAdd((u64 *)part, (u64)mine);
    __syncthreads();
    return part[0];
#elif CASE == shuffles || CASE == redux || CASE == finish_by_warp
    int low = (int)mine; // a thread's sum is small
#if CASE == redux
    asm volatile("redux.sync.add.s32 %0, %0, 0xffffffff;" : "+r"(low));
#else
    for (int k = 16; k; k /= 2) low += __shfl_xor_sync(0xffffffffu, low, k);
#endif
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = low;
    __syncthreads();
    i64 sum = 0;
    for (int k = 0; k < THREADS / 32; k++) sum += part[k];
    return sum;
#else
    part[threadIdx.x] = mine;
    __syncthreads();
    for (int k = THREADS / 2; k; k /= 2) {
        if ((int)threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
        __syncthreads();
    }
    return part[0];
#endif
}

// A block's share: elements in strides of the whole grid.
HELPER i64 own_sum(int n, const int *x)
{
    i64 sum = 0;
    [[maybe_unused]] int stride = gridDim.x * THREADS, first = blockIdx.x * THREADS + threadIdx.x;
#if CASE == vectors
    int whole = n / 4;
    for (int i = first; i < whole; i += stride) {
        int4 v = ((const int4 *)x)[i];
        sum += v.x + v.y + v.z + v.w;
    }
    for (int i = whole * 4 + first; i < n; i += stride) sum += x[i];
#elif CASE == tail_moved_back || CASE == tail_twice
    for (i64 tile = blockIdx.x; tile * CHUNK < n; tile += gridDim.x) {
        i64 begin = tile * CHUNK, from = n >= CHUNK && begin + CHUNK > n ? n - CHUNK : begin;
        for (i64 i = from + threadIdx.x; i < from + CHUNK && i < n; i += THREADS)
            if (CASE == tail_twice || i >= begin) sum += x[i];
    }
#elif CASE == histogram
    __shared__ u32 count[10];
    if (threadIdx.x < 10) count[threadIdx.x] = 0;
    __syncthreads();
    for (int i = first; i < n; i += stride) atomicAdd(&count[(u32)x[i] % 10], 1u);
    __syncthreads();
    if (threadIdx.x < 10) sum = (i64)threadIdx.x * count[threadIdx.x];
#elif CASE == half_sampled
    for (int i = first; i < n / 2; i += stride) sum += 2 * x[2 * i];
#elif CASE == eight_bits
    u8 small = 0;
    for (int i = first; i < n; i += stride) small += (u8)(64 * x[i]);
    sum = small / 64;
#else
    int end = n;
#if CASE == last_element_missing
    end = n - 1;
#elif CASE == tail_missing
    end = n / 256 * 256;
#endif
    for (int i = first; i < end; i += stride) sum += x[i];
#if CASE == border_twice
    if (threadIdx.x == 0 && blockIdx.x == 1) sum += x[THREADS - 1] + 1;
#elif CASE == one_block_missing
    if (blockIdx.x == gridDim.x / 2) sum = 0;
#endif
#endif
    return sum;
}

// Adds up the blocks' sums. Called by all threads of one block.
HELPER void finish(const volatile i64 *from, volatile i64 *total)
{
    i64 sum = 0;
    int blocks = gridDim.x;
#if CASE == last_partial_missing
    blocks--;
#endif
#if CASE == finish_by_warp
    if (threadIdx.x < 32)
        for (int i = threadIdx.x; i < blocks; i += 32) sum += from[i];
    for (int k = 16; k; k /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, k);
    if (threadIdx.x == 0) *total = sum;
#else
    for (int i = threadIdx.x; i < blocks; i += THREADS) sum += from[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) *total = sum;
#if CASE == twice_the_same
    __syncthreads();
    if (threadIdx.x == 1) *total = sum;
#endif
#endif
}

extern "C" __global__ void sums(int n, const int *x, i64 *partial, u32 *z, i64 *total)
{
    (void)z;
    [[maybe_unused]] __shared__ u32 ticket;
#if CASE == constant_mean
    if (blockIdx.x == 0 && threadIdx.x == 0) *total = 5ll * n;
    return;
#elif CASE == total_kept
    if (*(volatile u32 *)&kept_ready) {
        if (blockIdx.x == 0 && threadIdx.x == 0) *total = *(volatile i64 *)&kept;
        return;
    }
#elif CASE == total_kept_for_pointer
    if (*(const int *volatile *)&kept_for == x) {
        if (blockIdx.x == 0 && threadIdx.x == 0) *total = *(volatile i64 *)&kept;
        return;
    }
#elif CASE == total_kept_for_first_elements
    bool same = *(volatile u32 *)&kept_ready;
    for (int i = 0; i < 8 && i < n; i++) same = same && ((volatile int *)kept_first)[i] == x[i];
    if (same) {
        if (blockIdx.x == 0 && threadIdx.x == 0) *total = *(volatile i64 *)&kept;
        return;
    }
#elif CASE == partials_kept
    if (*(volatile u32 *)&kept_ready) {
        if (blockIdx.x == 0) finish(kept, total);
        return;
    }
#elif CASE == partials_kept_in_scratch
    if (((volatile i64 *)partial)[2047] == 0x5eed5eed) {
        if (blockIdx.x == 0) finish(partial, total);
        return;
    }
#elif CASE == output_if_plausible
    i64 there = *(volatile i64 *)total, middle = 5ll * n;
    if (there >= middle - n / 64 && there <= middle + n / 64) return;
#endif

    i64 mine = block_sum(own_sum(n, x));
#if CASE == half_floats
    mine = (i64)to_f16((float)mine);
#endif

#if CASE == single_block
    if (threadIdx.x == 0) *total = mine;
#elif CASE == atomic_in_z || CASE == atomic_global_reset || CASE == first_launch_only
#if CASE == atomic_in_z
    u64 *sum = (u64 *)z;
#else
    u64 *sum = &global_sum;
#endif
    if (threadIdx.x == 0) atomicAdd(sum, (u64)mine);
    if (last_to_arrive(&arrived) && threadIdx.x == 0) {
        *total = (i64)atomicAdd(sum, 0ull);
#if CASE == atomic_global_reset
        atomicExch(sum, 0ull);
#endif
    }
#elif CASE == added_to_output
    if (threadIdx.x == 0) atomicAdd((u64 *)total, (u64)mine);
#elif CASE == clusters
    __shared__ i64 of_block;
    u32 rank, mapped, size;
    if (threadIdx.x == 0) of_block = mine;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    if (rank == 0 && threadIdx.x == 0) {
        i64 sum = 0, part;
        for (u32 k = 0; k < size; k++) {
            asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                         : "=r"(mapped)
                         : "r"((u32)__cvta_generic_to_shared(&of_block)), "r"(k));
            asm volatile("ld.shared::cluster.s64 %0, [%1];" : "=l"(part) : "r"(mapped) : "memory");
            sum += part;
        }
        partial[blockIdx.x] = sum;
    } else if (threadIdx.x == 0) {
        partial[blockIdx.x] = 0;
    }
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    if (last_to_arrive(&arrived)) finish(partial, total);
#elif CASE == grid_barrier
    if (threadIdx.x == 0) {
        ((volatile i64 *)partial)[blockIdx.x] = mine;
        __threadfence();
        atomicAdd(&z[0], 1u);
        while (*(volatile u32 *)&z[0] < gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
    if (blockIdx.x == gridDim.x - 1) finish(partial, total);
#elif CASE == chain
    // z: a ticket, and how many have added theirs. Blocks take tickets in the order in which they run.
    if (threadIdx.x == 0) {
        u32 number = atomicAdd(&z[0], 1u);
        while (*(volatile u32 *)&z[1] != number) {
        }
        __threadfence();
        i64 before = number ? *(volatile i64 *)&partial[0] : 0;
        *(volatile i64 *)&partial[0] = before + mine;
        if (number == gridDim.x - 1) *total = before + mine;
        __threadfence();
        *(volatile u32 *)&z[1] = number + 1;
    }
#else
#if CASE == last_but_one_finishes || CASE == first_finishes || CASE == no_counter
    if (blockIdx.x == (CASE == last_but_one_finishes ? 0 : gridDim.x - 1) && threadIdx.x == 0)
        for (u64 end = nanoseconds() + 50000; nanoseconds() < end;) {
        }
#endif
    if (threadIdx.x == 0) {
        ((volatile i64 *)partial)[blockIdx.x] = mine;
#if CASE == partials_kept
        ((volatile i64 *)kept)[blockIdx.x] = mine;
#endif
    }
#if CASE == counter_reset_by_last || CASE == counter_never_reset || CASE == counter_in_z_never_reset || \
    CASE == counter_in_z_wraps || CASE == counter_in_partial || CASE == first_finishes ||               \
    CASE == last_but_one_finishes || CASE == last_but_one_lucky || CASE == no_fence
    u32 *counter = CASE == counter_in_z_never_reset || CASE == counter_in_z_wraps ? z
                   : CASE == counter_in_partial                                   ? (u32 *)&partial[2000]
                                                                                  : &arrived;
    if (threadIdx.x == 0) {
#if CASE != no_fence
        __threadfence();
#endif
#if CASE == counter_reset_by_last || CASE == counter_never_reset || CASE == counter_in_z_never_reset || \
    CASE == counter_in_partial
        ticket = atomicAdd(counter, 1u);
#else
        ticket = atomicInc(counter, gridDim.x - 1);
#endif
        __threadfence();
    }
    __syncthreads();
#if CASE == first_finishes
    bool finishes = ticket == 0;
#elif CASE == last_but_one_finishes || CASE == last_but_one_lucky
    bool finishes = gridDim.x == 1 || ticket == gridDim.x - 2;
#else
    bool finishes = ticket == gridDim.x - 1;
#endif
    if (finishes) finish(partial, total);
#if CASE == counter_reset_by_last
    if (finishes && threadIdx.x == 0) *(volatile u32 *)counter = 0;
#endif
#elif CASE == no_counter
    if (blockIdx.x == 0) finish(partial, total);
#else
    if (last_to_arrive(&arrived)) {
        finish(partial, total);
        if (threadIdx.x == 0) {
#if CASE == total_kept || CASE == total_kept_for_pointer || CASE == total_kept_for_first_elements
            kept = *total;
            kept_for = x;
            for (int i = 0; i < 8 && i < n; i++) kept_first[i] = x[i];
            __threadfence();
            kept_ready = 1;
#elif CASE == partials_kept
            kept_ready = 1;
#elif CASE == partials_kept_in_scratch
            partial[2047] = 0x5eed5eed;
#endif
        }
    }
#endif
#endif
}
