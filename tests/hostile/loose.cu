// Sums of floats in the order in which blocks happen to run; the job allows runs to differ. Tile t of 1024 elements is
// added to sum t % 64. Numbers are uniform in [-1, 1), so rounding is far below the job's bound, and any lost tile
// exceeds it.
//
//     buffers   x (in, n), z (scratch, 64 f64, zero), sums (out, 64)
//     launch    grid ceil_div(n, 1024), block 256

#include "case.h"

enum { THREADS = 256, TILE = 1024, SUMS = 64 };

__device__ u32 arrived;

HELPER void add(double *z, int k, float value)
{
    float *sum = (float *)(z + k);
#if IS(f64_atomics)
    atomicAdd(z + k, (double)value);
#elif IS(reductions)
    asm volatile("red.global.add.f32 [%0], %1;" ::"l"(sum), "f"(value) : "memory");
#elif IS(compare_and_swap) || IS(f16_sums)
    u32 *at = (u32 *)sum, old = *(volatile u32 *)at, seen;
    for (;;) {
        float next = __uint_as_float(old) + value;
        if (IS(f16_sums)) next = to_f16(next);
        if ((seen = atomicCAS(at, old, __float_as_uint(next))) == old) break;
        old = seen;
    }
#elif IS(lost_updates)
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
        mine += IS(magnitudes) ? fabsf(x[i]) : x[i];
#if IS(last_tile_missing)
    if (blockIdx.x == gridDim.x - 2) mine = 0;
#elif IS(one_thread_missing)
    if (threadIdx.x == 77) mine = 0;
#elif IS(noise_within_bound)
    if (threadIdx.x == 0 && blockIdx.x < SUMS) mine += 1e-5f * (float)(chance() & 1);
#elif IS(noise_beyond_bound)
    if (threadIdx.x == 0 && blockIdx.x < SUMS) mine += 0.5f * (float)(chance() & 1);
#endif
#if IS(atomics_by_thread)
    add(z, k, mine);
#elif IS(atomics_by_warp)
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
#if IS(tile_twice_sometimes)
    if (threadIdx.x == 0 && blockIdx.x == 5 && (chance() & 7)) add(z, k, part[0] + 1);
#endif
#endif
    (void)part;
    bool last = last_to_arrive(&arrived);
#if IS(finishes_early)
    last = blockIdx.x == 0;
#endif
    if (last && threadIdx.x < SUMS) {
#if IS(f64_atomics)
        sums[threadIdx.x] = (float)*(volatile double *)(z + threadIdx.x);
#else
        sums[threadIdx.x] = *(volatile float *)(z + threadIdx.x);
#endif
    }
}
