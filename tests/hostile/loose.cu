// Sums of floats in whatever order blocks come, where the job allows runs to differ: tile t of 1024 elements is added
// to sum t % 64. Numbers are uniform in [-1, 1), so that rounding is far below the job's bound, and any lost tile is
// above it.
//
//     buffers   x (in, n), z (scratch, 64 f64, zero), sums (out, 64)
//     launch    grid ceil_div(n, 1024), block 256

// Right.
#define plain 1 // one atomicAdd a block
#define atomics_by_warp 2
#define atomics_by_thread 3
#define reductions 4 // red.global.add.f32
#define f64_atomics 5
#define compare_and_swap 6
#define noise_within_bound 7 // 1e-5, by the clock
// Wrong.
#define lost_updates 10       // loads, adds and stores
#define noise_beyond_bound 11 // 0.5, by the clock
#define last_tile_missing 12
#define magnitudes 13
#define f16_sums 14
#define one_thread_missing 15
#define finishes_early 16       // the first block stores the sums
#define tile_twice_sometimes 17 // one tile, in seven of eight launches

#include "case.h"

enum { THREADS = 256, TILE = 1024, SUMS = 64 };

__device__ u32 arrived;

HELPER void add(double *z, int k, float value)
{
    float *sum = (float *)(z + k);
#if CASE == f64_atomics
    atomicAdd(z + k, (double)value);
#elif CASE == reductions
    asm volatile("red.global.add.f32 [%0], %1;" ::"l"(sum), "f"(value) : "memory");
#elif CASE == compare_and_swap || CASE == f16_sums
    u32 *at = (u32 *)sum, old = *(volatile u32 *)at, seen;
    for (;;) {
        float next = __uint_as_float(old) + value;
        if (CASE == f16_sums) next = to_f16(next);
        if ((seen = atomicCAS(at, old, __float_as_uint(next))) == old) break;
        old = seen;
    }
#elif CASE == lost_updates
    float old = *(volatile float *)sum;
    __nanosleep(1000);
    *(volatile float *)sum = old + value;
#else
    atomicAdd(sum, value);
#endif
}

extern "C" __global__ void loose(int n, const float *x, double *z, float *sums)
{
    __shared__ float part[THREADS];
    int k = blockIdx.x % SUMS;
    float mine = 0;
    for (int i = blockIdx.x * TILE + threadIdx.x; i < n && i < (int)(blockIdx.x + 1) * TILE; i += THREADS)
        mine += CASE == magnitudes ? fabsf(x[i]) : x[i];
#if CASE == last_tile_missing
    if (blockIdx.x == gridDim.x - 2) mine = 0;
#elif CASE == one_thread_missing
    if (threadIdx.x == 77) mine = 0;
#elif CASE == noise_within_bound
    if (threadIdx.x == 0 && blockIdx.x < SUMS) mine += 1e-5f * (float)(chance() & 1);
#elif CASE == noise_beyond_bound
    if (threadIdx.x == 0 && blockIdx.x < SUMS) mine += 0.5f * (float)(chance() & 1);
#endif
#if CASE == atomics_by_thread
    add(z, k, mine);
#elif CASE == atomics_by_warp
    for (int s = 16; s; s /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, s);
    if (threadIdx.x % 32 == 0) add(z, k, mine);
#else
    part[threadIdx.x] = mine;
    __syncthreads();
    for (int s = THREADS / 2; s; s /= 2) {
        if ((int)threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) add(z, k, part[0]);
#if CASE == tile_twice_sometimes
    if (threadIdx.x == 0 && blockIdx.x == 5 && (chance() & 7)) add(z, k, part[0] + 1);
#endif
#endif
    (void)part;
    bool last = last_to_arrive(&arrived);
#if CASE == finishes_early
    last = blockIdx.x == 0;
#endif
    if (last && threadIdx.x < SUMS) {
#if CASE == f64_atomics
        sums[threadIdx.x] = (float)*(volatile double *)(z + threadIdx.x);
#else
        sums[threadIdx.x] = *(volatile float *)(z + threadIdx.x);
#endif
    }
}
