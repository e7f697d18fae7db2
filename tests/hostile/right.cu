// Correct kernels with unusual features: y = a*x + y0 for n elements, and the 4096 elements of b doubled. None of them
// may be refused, whatever the worker does to detect wrong kernels. right.cfg defines how each is launched.
//
//     buffers   x, y0 (in), y (out), b (inout, 4096), s (scratch, n + 4096 floats without a fill),
//               z (scratch, 4096 u32, zero)
//     launch    most: grid ceil_div(n, 1024), block 256, four elements a thread; see right.cfg

#include "case.h"

#if IS(block_of_32)
enum { THREADS = 32 };
#elif IS(block_of_1024)
enum { THREADS = 1024 };
#elif IS(block_of_33)
enum { THREADS = 33 };
#else
enum { THREADS = 256 };
#endif
enum { TILE = 1024, B_COUNT = 4096, Z_COUNT = 4096 };

extern __shared__ __align__(128) u8 pool[];

#if IS(constant_table)
__constant__ float factors[4] = {0.25f, 0.5f, 0.125f, 0.125f};
#elif IS(initialised_table)
static __device__ const float factors[4] = {0.25f, 0.5f, 0.125f, 0.125f};
#elif IS(initialised_array)
#define EIGHT(v) v, v, v, v, v, v, v, v
__device__ float weights[16384] = {EIGHT(1), EIGHT(1), EIGHT(1), EIGHT(1)};
#elif IS(managed_constant)
__managed__ float one_in_memory = 1;
#elif IS(global_workspace)
__device__ float workspace[1 << 18];
#elif IS(global_flag_cleared)
__device__ u32 flag, arrived;
#elif IS(queue_resets_itself)
__device__ u32 queue, arrived;
#elif IS(generations)
__device__ u32 generation;
#elif IS(alternating) || IS(global_counter_wraps) || IS(table_filled_once) || IS(inout_by_last_block)
__device__ u32 launches, arrived;
#endif
#if IS(table_filled_once)
__device__ float factors[4];
#endif

// ---- one element ---------------------------------------------------------------------------------------------------

#if IS(recursion_bounded)
static __device__ __noinline__ float times(float a, float x, int depth)
{
    return depth ? times(a, x, depth - 1) : a * x;
}
#elif IS(function_pointers)
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
#elif IS(large_frame)
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
#if IS(through_f64)
    return (float)((double)a * x[i] + y0[i]);
#elif IS(recursion_bounded)
    return times(a, x[i], (int)(i & 7)) + y0[i];
#elif IS(function_pointers)
    step first = *(step volatile *)&steps[0], second = *(step volatile *)&steps[1];
    return second(first(a, x[i]), y0[i]);
#elif IS(local_arrays)
    float parts[8];
    for (int k = 0; k < 8; k++) parts[(k + i) & 7] = k == 3 ? a * x[i] : 0;
    return parts[(3 + i) & 7] + y0[i];
#elif IS(large_frame)
    return by_way_of_stack(a * x[i], (int)i) + y0[i];
#elif IS(volatile_accesses)
    return a * ((volatile const float *)x)[i] + ((volatile const float *)y0)[i];
#elif IS(inline_assembly)
    float r;
    asm("{\n.reg .f32 p, q;\nld.global.nc.f32 p, [%1];\nld.global.nc.f32 q, [%2];\nfma.rn.f32 %0, %3, p, q;\n}"
        : "=f"(r)
        : "l"(x + i), "l"(y0 + i), "f"(a));
    return r;
#elif IS(divergent)
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
#elif IS(rounding_apart)
    return __fadd_rn(__fmul_rn(a, x[i]), y0[i]);
#elif IS(constant_table) || IS(initialised_table)
    return a * (x[i] * factors[0] + x[i] * factors[1] + x[i] * factors[2] + x[i] * factors[3]) + y0[i];
#elif IS(initialised_array)
    return a * x[i] * weights[i & 31] + y0[i] + weights[32 + (i & 4095)];
#elif IS(managed_constant)
    return a * x[i] * one_in_memory + y0[i];
#elif IS(hints)
    return a * __ldcs(x + i) + __ldlu(y0 + i);
#elif IS(no_allocate)
    float p, q;
    asm("ld.global.nc.L1::no_allocate.f32 %0, [%1];" : "=f"(p) : "l"(x + i));
    asm("ld.global.nc.L1::no_allocate.L2::128B.f32 %0, [%1];" : "=f"(q) : "l"(y0 + i));
    return a * p + q;
#elif IS(neighbours_read)
    float left = i ? x[i - 1] : 0, right = i + 1 < n ? x[i + 1] : 0;
    return a * x[i] + y0[i] + 0.0f * (left + right);
#elif IS(table_filled_once)
    // Uses the table of ones as soon as it is there.
    float f = *(volatile u32 *)&launches ? *(volatile float *)&factors[i & 3] : 1.0f;
    return a * x[i] * f + y0[i];
#else
    return a * x[i] + y0[i];
#endif
}

HELPER void put(float *y, long long i, float value)
{
#if IS(written_twice)
    ((volatile float *)y)[i] = 0;
    ((volatile float *)y)[i] = value;
#elif IS(nan_first)
    ((volatile float *)y)[i] = __int_as_float(0x7fffffff);
    ((volatile float *)y)[i] = value;
#elif IS(atomics_exchange)
    atomicExch(y + i, value);
#elif IS(compare_and_swap)
    u32 *at = (u32 *)y + i, old = *at, seen;
    while ((seen = atomicCAS(at, old, __float_as_uint(value))) != old) old = seen;
#elif IS(hints)
    __stcs(y + i, value);
#elif IS(bytes_written)
    u32 bits = __float_as_uint(value);
    for (int k = 0; k < 4; k++) ((volatile u8 *)(y + i))[k] = (u8)(bits >> 8 * k);
#elif IS(volatile_accesses)
    ((volatile float *)y)[i] = value;
#elif IS(many_registers)
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

#if IS(grid_barrier) || IS(scratch_by_others)
// All blocks run at once, because the launch is cooperative. At each barrier the counter grows by the grid's size.
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
#if IS(grid_stride)
    for (; tile < tiles; tile += gridDim.x) tile_plainly(tile, n, a, x, y0, y);
#elif IS(last_tiles_first)
    tile_plainly(tiles - 1 - tile, n, a, x, y0, y);
#elif IS(written_in_reverse)
    for (int k = TILE - 1 - threadIdx.x; k >= 0; k -= THREADS)
        if (tile * TILE + k < n) y[tile * TILE + k] = a * x[tile * TILE + k] + y0[tile * TILE + k];
#elif IS(half_blocks_idle)
    if (blockIdx.x & 1) return;
    tile_plainly(tile / 2, n, a, x, y0, y);
#elif IS(grid_in_two_dimensions)
    tile = (long long)blockIdx.y * gridDim.x + blockIdx.x;
    if (tile < tiles) tile_plainly(tile, n, a, x, y0, y);
#elif IS(block_in_three_dimensions)
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    for (int k = thread; k < TILE; k += THREADS) {
        long long i = tile * TILE + k;
        if (i < n) y[i] = a * x[i] + y0[i];
    }
#elif IS(one_thread_many)
    for (int k = 0; k < 16; k++) {
        long long i = (tile * THREADS + threadIdx.x) * 16 + k;
        if (i < n) y[i] = a * x[i] + y0[i];
    }
#elif IS(work_queue) || IS(queue_resets_itself)
    __shared__ u32 next;
#if IS(work_queue)
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
#if IS(queue_resets_itself)
    if (last_to_arrive(&arrived) && threadIdx.x == 0) *(volatile u32 *)&queue = 0;
#endif
#elif IS(random_order)
    // A block computes both of its tiles, in random order.
    __shared__ u32 turn;
    if (threadIdx.x == 0) turn = (u32)chance() & 1;
    __syncthreads();
    for (int k = 0; k < 2; k++) {
        long long mine = tile * 2 + (k ^ turn);
        if (mine < tiles) tile_plainly(mine, n, a, x, y0, y);
    }
#elif IS(vectors_of_two)
    long long i = tile * TILE + threadIdx.x * 2;
    for (int k = 0; k < 2; k++, i += THREADS * 2)
        if (i + 1 < n) {
            float2 p = *(const float2 *)(x + i), q = *(const float2 *)(y0 + i);
            *(float2 *)(y + i) = make_float2(a * p.x + q.x, a * p.y + q.y);
        } else if (i < n) {
            y[i] = a * x[i] + y0[i];
        }
#elif IS(vectors_of_four)
    long long i = tile * TILE + threadIdx.x * 4;
    if (i + 3 < n) {
        float4 p = *(const float4 *)(x + i), q = *(const float4 *)(y0 + i);
        *(float4 *)(y + i) = make_float4(a * p.x + q.x, a * p.y + q.y, a * p.z + q.z, a * p.w + q.w);
    } else {
        for (; i < n; i++) y[i] = a * x[i] + y0[i];
    }
#elif IS(read_back)
    for (int k = threadIdx.x; k < TILE; k += THREADS) {
        long long i = tile * TILE + k;
        if (i >= n) continue;
        ((volatile float *)y)[i] = a * x[i];
        ((volatile float *)y)[i] = ((volatile float *)y)[i] + y0[i];
    }
#elif defined(BY_SHARED)
    shared_part(tile, n, a, x, y0, y);
#elif IS(early_exits)
    if (threadIdx.x >= 64) return;
    for (int k = threadIdx.x; k < TILE; k += 64)
        if (tile * TILE + k < n) y[tile * TILE + k] = a * x[tile * TILE + k] + y0[tile * TILE + k];
#elif IS(heap_used) || IS(heap_and_prints)
    // A block that gets no memory works without it.
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
#if IS(heap_and_prints)
    if (blockIdx.x == 0 && threadIdx.x == 0) printf("{\"%d\": \"not a line of the protocol\"\n", n);
#endif
#elif IS(print_never) || IS(print_one) || IS(assertion_holds) || IS(trap_unreached)
    for (int k = threadIdx.x; k < TILE; k += THREADS) {
        long long i = tile * TILE + k;
        if (i >= n) continue;
        float value = a * x[i] + y0[i];
#if IS(print_never)
        if (value > 100) printf("%g\n", value);
#elif IS(print_one)
        if (i == 12345) printf("%s is %lld\n", "an element", i);
#elif IS(assertion_holds)
        if (!(value < 100)) __assertfail("value < 100", "right.cu", 1, "vector_part", 1);
#else
        if (value > 100) __trap();
#endif
        y[i] = value;
    }
#elif IS(loop_unreached)
    for (int k = threadIdx.x; k < TILE; k += THREADS) {
        long long i = tile * TILE + k;
        if (i >= n) continue;
        while (((volatile const float *)x)[i] > 100) {
        }
        y[i] = a * x[i] + y0[i];
    }
#elif IS(global_workspace)
    // Blocks share the array. Each uses its own part, or works without it if the array is too short.
    for (int k = threadIdx.x; k < TILE; k += THREADS) {
        long long i = tile * TILE + k;
        if (i >= n) continue;
        volatile float *part = tile < 256 ? workspace + tile * TILE + k : 0;
        if (part) *part = a * x[i];
        y[i] = (part ? *part : a * x[i]) + y0[i];
    }
#elif IS(scratch_workspace)
    for (int k = threadIdx.x; k < TILE; k += THREADS)
        if (tile * TILE + k < n) ((volatile float *)s)[tile * TILE + k] = a * x[tile * TILE + k];
    __syncthreads();
    for (int k = TILE - 1 - threadIdx.x; k >= 0; k -= THREADS)
        if (tile * TILE + k < n) y[tile * TILE + k] = ((volatile float *)s)[tile * TILE + k] + y0[tile * TILE + k];
#elif IS(scratch_by_others) || IS(grid_barrier)
    for (; tile < tiles; tile += gridDim.x)
        for (int k = threadIdx.x; k < TILE; k += THREADS)
            if (tile * TILE + k < n) ((volatile float *)s)[tile * TILE + k] = a * x[tile * TILE + k];
    wait_for_grid(z, 1);
#if IS(grid_barrier)
    wait_for_grid(z, 2);
    wait_for_grid(z, 3);
#endif
    for (tile = gridDim.x - 1 - blockIdx.x; tile < tiles; tile += gridDim.x)
        for (int k = threadIdx.x; k < TILE; k += THREADS)
            if (tile * TILE + k < n) y[tile * TILE + k] = ((volatile float *)s)[tile * TILE + k] + y0[tile * TILE + k];
#elif IS(scratch_zero_used)
    for (int k = threadIdx.x; k < TILE; k += THREADS) {
        long long i = tile * TILE + k;
        if (i < n) y[i] = a * x[i] + y0[i] + (float)z[i % Z_COUNT];
    }
#elif IS(global_flag_cleared)
    if (threadIdx.x == 0) atomicExch(&flag, 1u);
    tile_plainly(tile, n, a, x, y0, y);
    if (last_to_arrive(&arrived) && threadIdx.x == 0) *(volatile u32 *)&flag = 0;
#elif IS(generations)
    // Each launch adds the grid's size; the counter's initial value does not matter.
    __shared__ u32 mine;
    if (threadIdx.x == 0) mine = atomicAdd(&generation, 1u);
    tile_plainly(tile, n, a, x, y0, y);
    __syncthreads();
    if (threadIdx.x == 0 && mine == 0xffffffffu) y[0] = a * x[0] + y0[0];
#elif IS(alternating)
    bool odd = *(volatile u32 *)&launches & 1;
    for (int k = threadIdx.x; k < TILE; k += THREADS) {
        long long i = tile * TILE + (odd ? TILE - 1 - k : k);
        if (i < n) y[i] = a * x[i] + y0[i];
    }
    if (last_to_arrive(&arrived) && threadIdx.x == 0) launches = launches + 1;
#elif IS(global_counter_wraps)
    tile_plainly(tile, n, a, x, y0, y);
    if (last_to_arrive(&arrived) && threadIdx.x == 0) launches = (launches + 1) % 3;
#elif IS(table_filled_once)
    tile_plainly(tile, n, a, x, y0, y);
    if (last_to_arrive(&arrived) && threadIdx.x == 0) {
        for (int k = 0; k < 4; k++) factors[k] = 1;
        __threadfence();
        *(volatile u32 *)&launches = 1;
    }
#elif IS(sleeps)
    __nanosleep(500 + (blockIdx.x & 7) * 100);
    tile_plainly(tile, n, a, x, y0, y);
#elif IS(reads_clocks)
    u64 begin = nanoseconds() + (u64)clock64();
    tile_plainly(tile, n, a, x, y0, y);
    if (begin == 0x123456789abcdefull && threadIdx.x == 0) s[0] = 1;
#elif IS(prefetching)
    for (int k = threadIdx.x * 32; k < TILE; k += THREADS * 32)
        if (tile * TILE + k < n) asm volatile("prefetch.global.L2 [%0];" ::"l"(y0 + tile * TILE + k));
    tile_plainly(tile, n, a, x, y0, y);
#elif IS(launch_dependents) || IS(early_dependents)
    if (IS(early_dependents)) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("griddepcontrol.wait;" ::: "memory");
    tile_plainly(tile, n, a, x, y0, y);
    if (IS(launch_dependents)) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#elif IS(thread_fences)
    tile_plainly(tile, n, a, x, y0, y);
    __threadfence_system();
    __threadfence();
    __threadfence_block();
#elif IS(many_registers)
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
#elif IS(unrolled_wide)
#pragma unroll
    for (int k = 0; k < 32; k++) {
        long long i = (tile * 32 + k) * THREADS + threadIdx.x;
        if (i < n) y[i] = a * x[i] + y0[i];
    }
#elif IS(uniform_loads)
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

// Doubles b.
HELPER void inout_part(float *b)
{
#if IS(inout_by_last_block)
    if (last_to_arrive(&arrived))
        for (int i = threadIdx.x; i < B_COUNT; i += THREADS) b[i] = 2 * b[i];
#elif IS(inout_by_atomics)
    if (blockIdx.x == 0)
        for (int i = threadIdx.x; i < B_COUNT; i += THREADS) atomicAdd(b + i, ((volatile float *)b)[i]);
#else
    if (blockIdx.x || blockIdx.y) return;
    int threads = blockDim.x * blockDim.y * blockDim.z;
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    for (int i = thread; i < B_COUNT; i += threads) b[i] = 2 * b[i];
#endif
}

extern "C" __global__ void __launch_bounds__(IS(block_of_1024) ? 1024 : 256)
    right(int n, float a, const float *__restrict__ x, const float *__restrict__ y0, float *y, float *b, float *s,
          u32 *z)
{
    inout_part(b);
    vector_part(n, a, x, y0, y, s, z);
}
