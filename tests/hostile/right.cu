// Right kernels with unusual features: y = a*x + y0 for n elements, and the 4096 elements of b doubled. None of
// them may be refused, whatever the worker does to detect wrong ones. How each is launched is in right.cfg.
//
//     buffers   x, y0 (in), y (out), b (inout, 4096), s (scratch, n + 4096 floats without a fill),
//               z (scratch, 4096 u32, zero)
//     launch    most: grid ceil_div(n, 1024), block 256, four elements a thread; see right.cfg

#define plain 1
#define grid_stride 2
#define one_thread_many 3 // 16 elements in a row a thread
#define block_of_32 4
#define block_of_1024 5
#define block_of_33 6
#define block_in_three_dimensions 7
#define grid_in_two_dimensions 8
#define work_queue 9           // tiles by tickets from zeroed scratch
#define queue_resets_itself 10 // tickets from a __device__ variable, which the last block clears
#define vectors_of_two 11
#define vectors_of_four 12
#define written_twice 13
#define written_in_reverse 14
#define nan_first 15 // writes NaN and then the answer
#define read_back 16 // adds y0 to what it has stored
#define through_f64 17
#define through_shared 18
#define through_dynamic_shared 19
#define big_shared 20 // 100 kB
#define all_shared 21 // 227 kB
#define odd_shared 22 // 12,345 bytes
#define async_copies 23
#define bulk_copies 24
#define bulk_stores 25
#define cluster_of_two 26 // each block's data come through its neighbour's shared memory
#define cluster_of_eight 27
#define producer_and_consumer 28 // warps that load, warps that store, named barriers
#define volatile_accesses 29
#define inline_assembly 30
#define divergent 31 // a switch over lanes
#define early_exits 32
#define recursion_bounded 33
#define function_pointers 34
#define local_arrays 35
#define large_frame 36 // 2 kB of stack a thread
#define heap_used 37
#define heap_and_prints 38
#define print_never 39
#define print_one 40
#define assertion_holds 41
#define constant_table 42
#define initialised_table 43
#define initialised_array 44 // a __device__ array of 64 kB with contents that are used
#define managed_constant 45
#define global_workspace 46 // a __device__ array is written, then read
#define global_flag_cleared 47
#define global_counter_wraps 48
#define generations 49 // a counter in a __device__ variable that is never reset, but only compared
#define scratch_workspace 50
#define scratch_by_others 51 // blocks read what others have written, after a barrier over the grid
#define scratch_zero_used 52 // adds what the job promises to be zero
#define grid_barrier 53
#define inout_by_last_block 54
#define inout_by_atomics 55
#define atomics_exchange 56
#define compare_and_swap 57
#define sleeps 58
#define reads_clocks 59
#define trap_unreached 60
#define loop_unreached 61
#define hints 62 // streaming loads and stores
#define no_allocate 63
#define prefetching 64
#define neighbours_read 65
#define alternating 66 // computes in one of two ways, by launch
#define table_filled_once 67
#define launch_dependents 68 // announces dependent launches, of which there are none
#define thread_fences 69
#define last_tiles_first 70
#define many_registers 71
#define unrolled_wide 72
#define uniform_loads 73  // y0 by one thread, to all by shuffles
#define rounding_apart 74 // multiplies and adds apart
#define bytes_written 75  // y byte by byte
#define early_dependents 76
#define random_order 77 // blocks permuted by the clock: the same results
#define half_blocks_idle 78

#include "case.h"

#if CASE == block_of_32
enum { THREADS = 32 };
#elif CASE == block_of_1024
enum { THREADS = 1024 };
#elif CASE == block_of_33
enum { THREADS = 33 };
#else
enum { THREADS = 256 };
#endif
enum { TILE = 1024, B_COUNT = 4096, Z_COUNT = 4096 };

extern __shared__ __align__(128) u8 pool[];

#if CASE == constant_table
__constant__ float factors[4] = {0.25f, 0.5f, 0.125f, 0.125f};
#elif CASE == initialised_table
static __device__ const float factors[4] = {0.25f, 0.5f, 0.125f, 0.125f};
#elif CASE == initialised_array
#define EIGHT(v) v, v, v, v, v, v, v, v
__device__ float weights[16384] = {EIGHT(1), EIGHT(1), EIGHT(1), EIGHT(1)};
#elif CASE == managed_constant
__managed__ float one_in_memory = 1;
#elif CASE == global_workspace
__device__ float workspace[1 << 18];
#elif CASE == global_flag_cleared
__device__ u32 flag, arrived;
#elif CASE == queue_resets_itself
__device__ u32 queue, arrived;
#elif CASE == generations
__device__ u32 generation;
#elif CASE == alternating || CASE == global_counter_wraps || CASE == table_filled_once || CASE == inout_by_last_block
__device__ u32 launches, arrived;
#endif
#if CASE == table_filled_once
__device__ float factors[4];
#endif

// ---- one element ---------------------------------------------------------------------------------------------------

#if CASE == recursion_bounded
static __device__ __noinline__ float times(float a, float x, int depth)
{
    return depth ? times(a, x, depth - 1) : a * x;
}
#elif CASE == function_pointers
typedef float (*step)(float, float);
static __device__ __noinline__ float multiply(float a, float x)
{
    return a * x;
}
static __device__ __noinline__ float add(float a, float x)
{
    return a + x;
}
static __device__ step steps[2] = {multiply, add};
#elif CASE == large_frame
static __device__ __noinline__ float by_way_of_stack(float v, int i)
{
    volatile float frame[512];
    frame[i & 511] = v;
    frame[(i + 1) & 511] = 0;
    return frame[i & 511] + frame[(i + 1) & 511];
}
#endif

HELPER float answer(float a, const float *x, const float *y0, long long i, int n)
{
    (void)n;
#if CASE == through_f64
    return (float)((double)a * x[i] + y0[i]);
#elif CASE == recursion_bounded
    return times(a, x[i], (int)(i & 7)) + y0[i];
#elif CASE == function_pointers
    step first = *(step volatile *)&steps[0], second = *(step volatile *)&steps[1];
    return second(first(a, x[i]), y0[i]);
#elif CASE == local_arrays
    float parts[8];
    for (int k = 0; k < 8; k++) parts[(k + i) & 7] = k == 3 ? a * x[i] : 0;
    return parts[(3 + i) & 7] + y0[i];
#elif CASE == large_frame
    return by_way_of_stack(a * x[i], (int)i) + y0[i];
#elif CASE == volatile_accesses
    return a * ((volatile const float *)x)[i] + ((volatile const float *)y0)[i];
#elif CASE == inline_assembly
    float r;
    asm("{\n.reg .f32 p, q;\nld.global.nc.f32 p, [%1];\nld.global.nc.f32 q, [%2];\nfma.rn.f32 %0, %3, p, q;\n}"
        : "=f"(r)
        : "l"(x + i), "l"(y0 + i), "f"(a));
    return r;
#elif CASE == divergent
    switch (i & 3) {
    case 0:
        return a * x[i] + y0[i];
    case 1:
        return y0[i] + x[i] * a;
    case 2:
        return __fmaf_rn(a, x[i], y0[i]);
    default:
        return -(-a * x[i] - y0[i]);
    }
#elif CASE == rounding_apart
    return __fadd_rn(__fmul_rn(a, x[i]), y0[i]);
#elif CASE == constant_table || CASE == initialised_table
    return a * (x[i] * factors[0] + x[i] * factors[1] + x[i] * factors[2] + x[i] * factors[3]) + y0[i];
#elif CASE == initialised_array
    return a * x[i] * weights[i & 31] + y0[i] + weights[32 + (i & 4095)];
#elif CASE == managed_constant
    return a * x[i] * one_in_memory + y0[i];
#elif CASE == hints
    return a * __ldcs(x + i) + __ldlu(y0 + i);
#elif CASE == no_allocate
    float p, q;
    asm("ld.global.nc.L1::no_allocate.f32 %0, [%1];" : "=f"(p) : "l"(x + i));
    asm("ld.global.nc.L1::no_allocate.L2::128B.f32 %0, [%1];" : "=f"(q) : "l"(y0 + i));
    return a * p + q;
#elif CASE == neighbours_read
    float left = i ? x[i - 1] : 0, right = i + 1 < n ? x[i + 1] : 0;
    return a * x[i] + y0[i] + 0.0f * (left + right);
#elif CASE == table_filled_once
    // Ones, as soon as they are there.
    float f = *(volatile u32 *)&launches ? *(volatile float *)&factors[i & 3] : 1.0f;
    return a * x[i] * f + y0[i];
#else
    return a * x[i] + y0[i];
#endif
}

HELPER void put(float *y, long long i, float value)
{
#if CASE == written_twice
    ((volatile float *)y)[i] = 0;
    ((volatile float *)y)[i] = value;
#elif CASE == nan_first
    ((volatile float *)y)[i] = __int_as_float(0x7fffffff);
    ((volatile float *)y)[i] = value;
#elif CASE == atomics_exchange
    atomicExch(y + i, value);
#elif CASE == compare_and_swap
    u32 *at = (u32 *)y + i, old = *at, seen;
    while ((seen = atomicCAS(at, old, __float_as_uint(value))) != old) old = seen;
#elif CASE == hints
    __stcs(y + i, value);
#elif CASE == bytes_written
    u32 bits = __float_as_uint(value);
    for (int k = 0; k < 4; k++) ((volatile u8 *)(y + i))[k] = (u8)(bits >> 8 * k);
#elif CASE == volatile_accesses
    ((volatile float *)y)[i] = value;
#elif CASE == many_registers
    asm volatile("st.global.f32 [%0], %1;" ::"l"(y + i), "f"(value) : "memory");
#else
    y[i] = value;
#endif
}

// ---- ways through a tile -------------------------------------------------------------------------------------------

HELPER void tile_plainly(long long tile, int n, float a, const float *x, const float *y0, float *y)
{
    for (int k = threadIdx.x; k < TILE; k += THREADS) {
        long long i = tile * TILE + k;
        if (i < n) put(y, i, answer(a, x, y0, i, n));
    }
}

#if CASE == grid_barrier || CASE == scratch_by_others
// All blocks run at once: a cooperative launch. The counter counts up to the grid once a barrier.
HELPER void wait_for_grid(u32 *counter, u32 number)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(counter, 1u);
        while (*(volatile u32 *)counter < number * gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
}
#endif

#include "right_shared.h"

HELPER void vector_part(int n, float a, const float *x, const float *y0, float *y, float *s, u32 *z)
{
    (void)s, (void)z;
    [[maybe_unused]] long long tile = blockIdx.x, tiles = (n + TILE - 1) / TILE;
#if CASE == grid_stride
    for (; tile < tiles; tile += gridDim.x) tile_plainly(tile, n, a, x, y0, y);
#elif CASE == last_tiles_first
    tile_plainly(tiles - 1 - tile, n, a, x, y0, y);
#elif CASE == written_in_reverse
    for (int k = TILE - 1 - threadIdx.x; k >= 0; k -= THREADS)
        if (tile * TILE + k < n) y[tile * TILE + k] = a * x[tile * TILE + k] + y0[tile * TILE + k];
#elif CASE == half_blocks_idle
    if (blockIdx.x & 1) return;
    tile_plainly(tile / 2, n, a, x, y0, y);
#elif CASE == grid_in_two_dimensions
    tile = (long long)blockIdx.y * gridDim.x + blockIdx.x;
    if (tile < tiles) tile_plainly(tile, n, a, x, y0, y);
#elif CASE == block_in_three_dimensions
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    for (int k = thread; k < TILE; k += THREADS) {
        long long i = tile * TILE + k;
        if (i < n) y[i] = a * x[i] + y0[i];
    }
#elif CASE == one_thread_many
    for (int k = 0; k < 16; k++) {
        long long i = (tile * THREADS + threadIdx.x) * 16 + k;
        if (i < n) y[i] = a * x[i] + y0[i];
    }
#elif CASE == work_queue || CASE == queue_resets_itself
    __shared__ u32 next;
#if CASE == work_queue
    u32 *tickets = z;
#else
    u32 *tickets = &queue;
#endif
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) next = atomicAdd(tickets, 1u);
        __syncthreads();
        if (next >= tiles) break;
        tile_plainly(next, n, a, x, y0, y);
    }
#if CASE == queue_resets_itself
    if (last_to_arrive(&arrived) && threadIdx.x == 0) *(volatile u32 *)&queue = 0;
#endif
#elif CASE == random_order
    // A block takes its two tiles in random order; both are computed in any case.
    __shared__ u32 turn;
    if (threadIdx.x == 0) turn = (u32)chance() & 1;
    __syncthreads();
    for (int k = 0; k < 2; k++) {
        long long mine = tile * 2 + (k ^ turn);
        if (mine < tiles) tile_plainly(mine, n, a, x, y0, y);
    }
#elif CASE == vectors_of_two
    long long i = tile * TILE + threadIdx.x * 2;
    for (int k = 0; k < 2; k++, i += THREADS * 2)
        if (i + 1 < n) {
            float2 p = *(const float2 *)(x + i), q = *(const float2 *)(y0 + i);
            *(float2 *)(y + i) = make_float2(a * p.x + q.x, a * p.y + q.y);
        } else if (i < n) {
            y[i] = a * x[i] + y0[i];
        }
#elif CASE == vectors_of_four
    long long i = tile * TILE + threadIdx.x * 4;
    if (i + 3 < n) {
        float4 p = *(const float4 *)(x + i), q = *(const float4 *)(y0 + i);
        *(float4 *)(y + i) = make_float4(a * p.x + q.x, a * p.y + q.y, a * p.z + q.z, a * p.w + q.w);
    } else {
        for (; i < n; i++) y[i] = a * x[i] + y0[i];
    }
#elif CASE == read_back
    for (int k = threadIdx.x; k < TILE; k += THREADS) {
        long long i = tile * TILE + k;
        if (i >= n) continue;
        ((volatile float *)y)[i] = a * x[i];
        ((volatile float *)y)[i] = ((volatile float *)y)[i] + y0[i];
    }
#elif defined(BY_SHARED)
    shared_part(tile, n, a, x, y0, y);
#elif CASE == early_exits
    if (threadIdx.x >= 64) return;
    for (int k = threadIdx.x; k < TILE; k += 64)
        if (tile * TILE + k < n) y[tile * TILE + k] = a * x[tile * TILE + k] + y0[tile * TILE + k];
#elif CASE == heap_used || CASE == heap_and_prints
    // A block for which there is no memory left does without.
    __shared__ float *volatile mine;
    if (threadIdx.x == 0) mine = blockIdx.x < 64 ? (float *)malloc(4 * TILE) : 0;
    __syncthreads();
    float *staged = mine;
    for (int k = threadIdx.x; k < TILE; k += THREADS) {
        long long i = tile * TILE + k;
        if (i >= n) continue;
        if (staged) staged[k] = a * x[i];
        y[i] = (staged ? staged[k] : a * x[i]) + y0[i];
    }
    __syncthreads();
    if (threadIdx.x == 0) free(mine);
#if CASE == heap_and_prints
    if (blockIdx.x == 0 && threadIdx.x == 0) printf("{\"%d\": \"not a line of the protocol\"\n", n);
#endif
#elif CASE == print_never || CASE == print_one || CASE == assertion_holds || CASE == trap_unreached
    for (int k = threadIdx.x; k < TILE; k += THREADS) {
        long long i = tile * TILE + k;
        if (i >= n) continue;
        float value = a * x[i] + y0[i];
#if CASE == print_never
        if (value > 100) printf("%g\n", value);
#elif CASE == print_one
        if (i == 12345) printf("%s is %lld\n", "an element", i);
#elif CASE == assertion_holds
        if (!(value < 100)) __assertfail("value < 100", "right.cu", 1, "vector_part", 1);
#else
        if (value > 100) __trap();
#endif
        y[i] = value;
    }
#elif CASE == loop_unreached
    for (int k = threadIdx.x; k < TILE; k += THREADS) {
        long long i = tile * TILE + k;
        if (i >= n) continue;
        while (((volatile const float *)x)[i] > 100) {
        }
        y[i] = a * x[i] + y0[i];
    }
#elif CASE == global_workspace
    // Blocks share the array; each uses its own part, and does without where there is none.
    for (int k = threadIdx.x; k < TILE; k += THREADS) {
        long long i = tile * TILE + k;
        if (i >= n) continue;
        volatile float *part = tile < 256 ? workspace + tile * TILE + k : 0;
        if (part) *part = a * x[i];
        y[i] = (part ? *part : a * x[i]) + y0[i];
    }
#elif CASE == scratch_workspace
    for (int k = threadIdx.x; k < TILE; k += THREADS)
        if (tile * TILE + k < n) ((volatile float *)s)[tile * TILE + k] = a * x[tile * TILE + k];
    __syncthreads();
    for (int k = TILE - 1 - threadIdx.x; k >= 0; k -= THREADS)
        if (tile * TILE + k < n) y[tile * TILE + k] = ((volatile float *)s)[tile * TILE + k] + y0[tile * TILE + k];
#elif CASE == scratch_by_others || CASE == grid_barrier
    for (; tile < tiles; tile += gridDim.x)
        for (int k = threadIdx.x; k < TILE; k += THREADS)
            if (tile * TILE + k < n) ((volatile float *)s)[tile * TILE + k] = a * x[tile * TILE + k];
    wait_for_grid(z, 1);
#if CASE == grid_barrier
    wait_for_grid(z, 2);
    wait_for_grid(z, 3);
#endif
    for (tile = gridDim.x - 1 - blockIdx.x; tile < tiles; tile += gridDim.x)
        for (int k = threadIdx.x; k < TILE; k += THREADS)
            if (tile * TILE + k < n) y[tile * TILE + k] = ((volatile float *)s)[tile * TILE + k] + y0[tile * TILE + k];
#elif CASE == scratch_zero_used
    for (int k = threadIdx.x; k < TILE; k += THREADS) {
        long long i = tile * TILE + k;
        if (i < n) y[i] = a * x[i] + y0[i] + (float)z[i % Z_COUNT];
    }
#elif CASE == global_flag_cleared
    if (threadIdx.x == 0) atomicExch(&flag, 1u);
    tile_plainly(tile, n, a, x, y0, y);
    if (last_to_arrive(&arrived) && threadIdx.x == 0) *(volatile u32 *)&flag = 0;
#elif CASE == generations
    // Each launch adds the grid's size: what a counter is at first does not matter.
    __shared__ u32 mine;
    if (threadIdx.x == 0) mine = atomicAdd(&generation, 1u);
    tile_plainly(tile, n, a, x, y0, y);
    __syncthreads();
    if (threadIdx.x == 0 && mine == 0xffffffffu) y[0] = a * x[0] + y0[0];
#elif CASE == alternating
    bool odd = *(volatile u32 *)&launches & 1;
    for (int k = threadIdx.x; k < TILE; k += THREADS) {
        long long i = tile * TILE + (odd ? TILE - 1 - k : k);
        if (i < n) y[i] = a * x[i] + y0[i];
    }
    if (last_to_arrive(&arrived) && threadIdx.x == 0) launches = launches + 1;
#elif CASE == global_counter_wraps
    tile_plainly(tile, n, a, x, y0, y);
    if (last_to_arrive(&arrived) && threadIdx.x == 0) launches = (launches + 1) % 3;
#elif CASE == table_filled_once
    tile_plainly(tile, n, a, x, y0, y);
    if (last_to_arrive(&arrived) && threadIdx.x == 0) {
        for (int k = 0; k < 4; k++) factors[k] = 1;
        __threadfence();
        *(volatile u32 *)&launches = 1;
    }
#elif CASE == sleeps
    __nanosleep(500 + (blockIdx.x & 7) * 100);
    tile_plainly(tile, n, a, x, y0, y);
#elif CASE == reads_clocks
    u64 begin = nanoseconds() + (u64)clock64();
    tile_plainly(tile, n, a, x, y0, y);
    if (begin == 0x123456789abcdefull && threadIdx.x == 0) s[0] = 1;
#elif CASE == prefetching
    for (int k = threadIdx.x * 32; k < TILE; k += THREADS * 32)
        if (tile * TILE + k < n) asm volatile("prefetch.global.L2 [%0];" ::"l"(y0 + tile * TILE + k));
    tile_plainly(tile, n, a, x, y0, y);
#elif CASE == launch_dependents || CASE == early_dependents
    if (CASE == early_dependents) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("griddepcontrol.wait;" ::: "memory");
    tile_plainly(tile, n, a, x, y0, y);
    if (CASE == launch_dependents) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#elif CASE == thread_fences
    tile_plainly(tile, n, a, x, y0, y);
    __threadfence_system();
    __threadfence();
    __threadfence_block();
#elif CASE == many_registers
    float kept[64];
#pragma unroll
    for (int k = 0; k < 64; k++) {
        long long i = (tile * 64 + k) * THREADS + threadIdx.x;
        kept[k] = i < n ? a * x[i] + y0[i] : 0;
    }
#pragma unroll
    for (int k = 63; k >= 0; k--) {
        long long i = (tile * 64 + k) * THREADS + threadIdx.x;
        if (i < n) put(y, i, kept[k]);
    }
#elif CASE == unrolled_wide
#pragma unroll
    for (int k = 0; k < 32; k++) {
        long long i = (tile * 32 + k) * THREADS + threadIdx.x;
        if (i < n) y[i] = a * x[i] + y0[i];
    }
#elif CASE == uniform_loads
    for (int k = threadIdx.x & ~31; k < TILE; k += THREADS) {
        long long first = tile * TILE + k;
        int lane = threadIdx.x & 31;
        float add = first + lane < n ? y0[first + lane] : 0, value = 0;
        for (int l = 0; l < 32; l++) {
            float other = __shfl_sync(0xffffffffu, add, l);
            if (l == lane) value = other;
        }
        if (first + lane < n) y[first + lane] = a * x[first + lane] + value;
    }
#else
    tile_plainly(tile, n, a, x, y0, y);
#endif
}

// b doubled.
HELPER void inout_part(float *b)
{
#if CASE == inout_by_last_block
    if (last_to_arrive(&arrived))
        for (int i = threadIdx.x; i < B_COUNT; i += THREADS) b[i] = 2 * b[i];
#elif CASE == inout_by_atomics
    if (blockIdx.x == 0)
        for (int i = threadIdx.x; i < B_COUNT; i += THREADS) atomicAdd(b + i, ((volatile float *)b)[i]);
#else
    if (blockIdx.x || blockIdx.y) return;
    int threads = blockDim.x * blockDim.y * blockDim.z;
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    for (int i = thread; i < B_COUNT; i += threads) b[i] = 2 * b[i];
#endif
}

extern "C" __global__ void __launch_bounds__(CASE == block_of_1024 ? 1024 : 256)
    right(int n, float a, const float *__restrict__ x, const float *__restrict__ y0, float *y, float *b, float *s,
          u32 *z)
{
    inout_part(b);
    vector_part(n, a, x, y0, y, s, z);
}
