// Kernels that trust values that earlier launches left in module variables: y = a*x + y0 for n elements, and the sum of
// w. Each block stores the sum of its tile in scratch, and the last block adds the sums up.
//
//     buffers   x, y0, w (in), y, total (out), s (scratch, 2 * tiles + 64 u64 without a fill)
//     launch    grid ceil_div(n, 1024), block 256

#include "case.h"

enum { THREADS = 256, TILE = 1024, KEPT = 1 << 20, SLOTS = 1 << 10 };

typedef long long i64;

__device__ u32 arrived; // wraps to 0

// Values that a launch leaves for the next one. The last block of each launch increments `launches`.
__device__ u32 launches, first_grid, size_before, largest_grid;

#if IS(epochs_in_scratch) || IS(generation_of_two_bits) || IS(generation_of_four_bits) || IS(generation_of_a_byte)
#define MARKS
// Partial sums in scratch are marked with this launch's number or a few of its bits.
HELPER u64 mark_of_launch()
{
    const u64 number = *(volatile u32 *)&launches;
    return IS(epochs_in_scratch) ? mix(number + 1) + 1 : number;
}
enum : u64 {
    MARK_BITS = IS(generation_of_two_bits)    ? 3
                : IS(generation_of_four_bits) ? 15
                : IS(generation_of_a_byte)    ? 255
                                              : ~0ull
};
#endif

// ---- who is last ---------------------------------------------------------------------------------------------------

#if IS(ring_of_twelve) || IS(ring_of_forty) || IS(ring_of_thousand)
enum { RING = IS(ring_of_twelve) ? 12 : IS(ring_of_forty) ? 40 : 1000 };
__device__ u32 ring[RING];
#elif IS(clears_for_the_next)
__device__ u32 turns[2];
#elif IS(counter_modulo_grid) || IS(counter_overflows) || IS(barrier_by_turns) || IS(size_kept_and_compared)
__device__ u32 ever;
__device__ u32 size_of_counter;
#endif

HELPER bool last_block()
{
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
#if IS(ring_of_twelve) || IS(ring_of_forty) || IS(ring_of_thousand)
        last = atomicAdd(ring + *(volatile u32 *)&launches % RING, 1u) + 1 == gridDim.x;
#elif IS(clears_for_the_next)
        u32 turn = *(volatile u32 *)&launches & 1;
        last = atomicAdd(turns + turn, 1u) + 1 == gridDim.x;
        if (last) *(volatile u32 *)(turns + (turn ^ 1)) = 0;
#elif IS(counter_modulo_grid)
        last = (atomicAdd(&ever, 1u) + 1) % gridDim.x == 0;
#elif IS(counter_overflows)
        // Wraps at 65536, which need not be a multiple of the grid.
        u32 before = atomicAdd(&ever, 1u) & 0xffff;
        last = (before + 1) % gridDim.x == 0;
#elif IS(size_kept_and_compared)
        last = atomicAdd(&ever, 1u) + 1 == gridDim.x;
        if (last) {
            *(volatile u32 *)&size_of_counter = gridDim.x;
            *(volatile u32 *)&ever = 0;
        }
#elif IS(grid_of_first_launch)
        u32 grid = *(volatile u32 *)&first_grid;
        last = atomicInc(&arrived, (grid ? grid : gridDim.x) - 1) == (grid ? grid : gridDim.x) - 1;
#else
        last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
#endif
        __threadfence();
    }
    __syncthreads();
    return last;
}

// ---- answers that are kept -----------------------------------------------------------------------------------------

#if IS(total_for_size) || IS(total_for_pointer) || IS(total_for_pointer_and_size) || IS(total_for_output) ||         \
    IS(total_for_first_element) || IS(total_for_both_ends) || IS(total_for_samples) || IS(total_for_many_samples) || \
    IS(total_for_other_input) || IS(second_time_kept) || IS(last_eight_totals)
#define KEEPS_TOTALS
struct kept_total {
    u64 key;
    i64 total;
    u32 used, times;
};
// Indexed by a hash of the size, so that different sizes do not evict each other.
__device__ kept_total totals[64][8];

HELPER u64 key_of(int n, const float *x, const int *w, const i64 *total)
{
    (void)n, (void)x, (void)w, (void)total;
    u64 key = 1;
#if IS(total_for_size)
    key = n;
#elif IS(total_for_pointer)
    key = (u64)w;
#elif IS(total_for_pointer_and_size)
    key = mix((u64)w) + n;
#elif IS(total_for_output)
    key = (u64)total;
#elif IS(total_for_first_element)
    key = mix(w[0]) + n;
#elif IS(total_for_both_ends)
    key = mix(mix(w[0]) + w[n - 1]) + n;
#elif IS(total_for_samples)
    for (int k = 0; k < 16; k++) key = mix(key + w[(i64)n * k / 16]);
    key += n;
#elif IS(total_for_many_samples)
    for (int k = 0; k < 256; k++) key += w[(i64)n * k / 256] * (k + 1);
    key = mix(key) + n;
#elif IS(total_for_other_input)
    for (int k = 0; k < 16; k++) key = mix(key + __float_as_uint(x[(i64)n * k / 16]));
    key += n;
#elif IS(second_time_kept)
    key = mix(__float_as_uint(x[0])) + n;
#elif IS(last_eight_totals)
    key = mix((u64)w + w[0]) + n;
#endif
    return key;
}

// Returns a slot for the key. *known: the slot has the key's total.
HELPER kept_total *find(u64 key, int n, bool *known)
{
    kept_total *row = totals[mix(n) & 63];
    const u32 slots = 8;
    for (u32 k = 0; k < slots; k++)
        if (row[k].used && row[k].key == key) {
            *known = row[k].times >= (IS(second_time_kept) ? 2u : 1u);
            return row + k;
        }
    *known = false;
    return row + *(volatile u32 *)&launches % slots;
}
#endif

#if IS(y_for_samples) || IS(y_for_pointers) || IS(tile_for_samples)
__device__ float kept_y[KEPT];
__device__ u64 kept_key[SLOTS];
#elif IS(cache_compared_in_full)
__device__ int kept_w[KEPT];
__device__ i64 kept_sum[SLOTS];
#elif IS(workspace_in_turns)
__device__ float workspace[2][KEPT];
#elif IS(statistics_kept)
__device__ u32 histogram[64];
#endif

// Whether this tile of y is to be copied from kept answers.
HELPER bool tile_is_kept(int n, const float *x, const float *y0)
{
    (void)n, (void)x, (void)y0;
#if IS(y_for_samples) || IS(y_for_pointers) || IS(tile_for_samples)
    __shared__ bool kept;
    if (threadIdx.x == 0) {
        u64 key = n;
        kept = false;
        if (blockIdx.x < SLOTS) {
#if IS(y_for_samples)
            for (int k = 0; k < 16; k++) key = mix(key + __float_as_uint(x[(i64)n * k / 16]));
#elif IS(y_for_pointers)
            key = mix(mix((u64)x) + (u64)y0) + __float_as_uint(x[0]) + n;
#else
            for (int k = 0; k < 4; k++) {
                int i = blockIdx.x * TILE + k * 250;
                key = mix(key + (i < n ? __float_as_uint(x[i]) : 0));
            }
#endif
            kept = kept_key[blockIdx.x] == key;
            kept_key[blockIdx.x] = key;
        }
    }
    __syncthreads();
    return kept;
#else
    return false;
#endif
}

// ---- the launch ----------------------------------------------------------------------------------------------------

HELPER i64 sum_of_block(i64 mine)
{
    __shared__ i64 all[THREADS];
    __syncthreads();
    all[threadIdx.x] = mine;
    __syncthreads();
    for (int half = THREADS / 2; half; half /= 2) {
        if ((int)threadIdx.x < half) all[threadIdx.x] += all[threadIdx.x + half];
        __syncthreads();
    }
    return all[0];
}

HELPER bool bad_launch(int n)
{
    (void)n;
    u32 before = *(volatile u32 *)&launches;
#if IS(stops_after_twenty)
    return before >= 20;
#elif IS(stops_after_fifty)
    return before >= 50;
#elif IS(every_tenth)
    return before % 10 == 9;
#elif IS(every_twentieth)
    return before % 20 == 19;
#elif IS(every_two_hundredth)
    return before % 200 == 199;
#elif IS(smaller_after_larger)
    return before && size_before > (u32)n;
#elif IS(larger_after_smaller)
    return before && size_before < (u32)n;
#else
    (void)before;
    return false;
#endif
}

// Computes the tile's part of y.
HELPER void y_part(int n, float a, const float *x, const float *y0, float *y)
{
    const bool bad = bad_launch(n), kept = tile_is_kept(n, x, y0);
    const int first = blockIdx.x * TILE;
    (void)bad, (void)kept;
#if IS(stops_after_twenty) || IS(stops_after_fifty)
    if (bad) return;
#endif
    for (int k = threadIdx.x; k < TILE && first + k < n; k += THREADS) {
        int i = first + k;
        float value = a * x[i] + y0[i];
#if IS(every_tenth) || IS(every_twentieth) || IS(every_two_hundredth) || IS(smaller_after_larger) || \
    IS(larger_after_smaller)
        if (bad && i == n - 1) value += 1;
#elif IS(size_of_last_launch)
        if (size_before && (u32)i >= size_before) continue;
#elif IS(y_for_samples) || IS(y_for_pointers) || IS(tile_for_samples)
        if (kept && i < KEPT) value = ((volatile float *)kept_y)[i];
        if (i < KEPT) kept_y[i] = value;
#elif IS(workspace_in_turns)
        volatile float *place = i < KEPT ? workspace[*(volatile u32 *)&launches & 1] + i : 0;
        if (place) *place = a * x[i];
        value = (place ? *place : a * x[i]) + y0[i];
#endif
        y[i] = value;
    }
}

// Writes the sum of the tile's w to scratch.
HELPER void partial_part(int n, const int *w, u64 *s)
{
    i64 mine = 0;
    const int first = blockIdx.x * TILE;
#if IS(cache_compared_in_full)
    // All elements are compared. The kept sum is used only if no element differs.
    __shared__ u32 differs;
    if (threadIdx.x == 0) differs = blockIdx.x >= SLOTS || kept_sum[blockIdx.x] == 0;
    __syncthreads();
    for (int k = threadIdx.x; k < TILE && blockIdx.x < SLOTS; k += THREADS) {
        int now = first + k < n ? w[first + k] : 0;
        if (kept_w[first + k] != now) atomicExch(&differs, 1u);
        mine += now;
        kept_w[first + k] = now;
    }
    for (int k = threadIdx.x; k < TILE && first + k < n && blockIdx.x >= SLOTS; k += THREADS) mine += w[first + k];
    mine = sum_of_block(mine);
    if (threadIdx.x) return;
    if (!differs) mine = kept_sum[blockIdx.x];
    if (blockIdx.x < SLOTS) kept_sum[blockIdx.x] = mine;
#else
    for (int k = threadIdx.x; k < TILE && first + k < n; k += THREADS) mine += w[first + k];
    mine = sum_of_block(mine);
    if (threadIdx.x) return;
#endif
    ((volatile u64 *)s)[2 * blockIdx.x] = (u64)mine;
#ifdef MARKS
    __threadfence();
    ((volatile u64 *)s)[2 * blockIdx.x + 1] = mark_of_launch() & MARK_BITS;
#endif
}

// Called by one block.
HELPER i64 add_up(u64 *s)
{
    i64 mine = 0;
    u32 grid = gridDim.x;
#if IS(partials_of_largest)
    grid = largest_grid > grid ? largest_grid : grid;
#endif
    for (u32 k = threadIdx.x; k < grid; k += THREADS) {
#ifdef MARKS
        while ((((volatile u64 *)s)[2 * k + 1] & MARK_BITS) != (mark_of_launch() & MARK_BITS)) __nanosleep(50);
        __threadfence();
#endif
        mine += (i64)((volatile u64 *)s)[2 * k];
    }
    return sum_of_block(mine);
}

// Called by one thread at the end.
HELPER void remember(int n, const float *x)
{
    (void)n, (void)x;
#if IS(statistics_kept)
    histogram[(mix(n) + __float_as_uint(x[0])) & 63]++;
#endif
    if (!first_grid) first_grid = gridDim.x;
    largest_grid = gridDim.x > largest_grid ? gridDim.x : largest_grid;
    size_before = n;
    __threadfence();
    *(volatile u32 *)&launches = *(volatile u32 *)&launches + 1;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    caches(int n, float a, const float *x, const float *y0, float *y, const int *w, i64 *total, u64 *s)
{
    __shared__ i64 answer;
    __shared__ bool known;
#ifdef KEEPS_TOTALS
    // Blocks skip their sums if the total is known.
    __shared__ kept_total *slot;
    if (threadIdx.x == 0) slot = find(key_of(n, x, w, total), n, &known);
    __syncthreads();
#else
    known = false;
    __syncthreads();
#endif
    y_part(n, a, x, y0, y);
    if (!known) partial_part(n, w, s);
#if IS(barrier_by_turns)
    // Waits until all blocks of this launch have incremented the counter. 132 blocks or fewer run at once.
    if (gridDim.x <= 132) {
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(&ever, 1u);
            while (*(volatile u32 *)&ever - *(volatile u32 *)&size_of_counter < gridDim.x) __nanosleep(20);
        }
        __syncthreads();
    }
#endif
#ifdef MARKS
    if (blockIdx.x) return; // the first block waits for all blocks' marks
#else
    if (!last_block()) return;
#endif
    i64 sum = known ? 0 : add_up(s);
    if (threadIdx.x) return;
#ifdef KEEPS_TOTALS
    answer = known ? slot->total : sum;
    *slot = {key_of(n, x, w, total), answer, 1,
             slot->used && slot->key == key_of(n, x, w, total) ? slot->times + 1 : 1};
#else
    answer = sum;
#endif
    *total = answer;
#if IS(barrier_by_turns)
    if (gridDim.x <= 132) *(volatile u32 *)&size_of_counter = *(volatile u32 *)&ever;
#endif
    remember(n, x);
}
