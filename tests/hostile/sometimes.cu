// Kernels that are wrong in only some of their launches. The clock or the caches decide which launches are wrong. They
// compute y = a*x + y0 for n elements. No launch passes data to another launch, and no launch uses anything that the
// worker restores.
//
//     buffers   x, y0 (in), y (out)
//     launch    grid ceil_div(n, 1024), block 256, four elements a thread

// WHEN: the launches that are wrong.
#define NEVER 1
#define HALF 2 // decided by the clock, in one thread or block
#define QUARTER 3
#define EIGHTH 4
#define MOST 5    // seven of eight launches
#define WINDOWS 6 // every other period of 131 us; blocks disagree only at the ends of a period
#define RARELY 8  // once in 256 launches
#define COLD 7    // if a block's first load takes more than 800 cycles: x was not in the L2

// WHAT: the mistake.
#define NOTHING 1
#define LAST 2      // the last element is off by one
#define ONE_BLOCK 3 // one block writes nothing
#define SKIP 4      // a block writes nothing; each decides for itself
#define ZEROS 5     // a block writes zeros
#define PAST 6      // one thread writes after y's end
#define INPUT 7     // one thread flips a bit of x
#define BLOCKS 8    // as SKIP, but only every 64th block

#define plain NEVER, NOTHING
#define half_last HALF, LAST
#define half_one_block HALF, ONE_BLOCK
#define half_past HALF, PAST
#define half_input HALF, INPUT
#define half_each_block HALF, SKIP
#define half_each_block_zeros HALF, ZEROS
#define quarter_last QUARTER, LAST
#define quarter_one_block QUARTER, ONE_BLOCK
#define quarter_each_block QUARTER, SKIP
#define eighth_last EIGHTH, LAST
#define eighth_one_block EIGHTH, ONE_BLOCK
#define eighth_each_block EIGHTH, SKIP
#define most_last MOST, LAST
#define most_one_block MOST, ONE_BLOCK
#define most_past MOST, PAST
#define windows_skip WINDOWS, SKIP
#define windows_zeros WINDOWS, ZEROS
#define windows_some_blocks WINDOWS, BLOCKS
#define rarely_last RARELY, LAST
#define rarely_one_block RARELY, ONE_BLOCK
#define cold_skip COLD, SKIP
#define cold_zeros COLD, ZEROS

#define WHEN PART_1
#define WHAT PART_2
#include "case.h"

enum { THREADS = 256, ELEMENTS = 4, TILE = THREADS * ELEMENTS };

HELPER bool now(const float *x)
{
    (void)x;
#if WHEN == HALF
    return (chance() & 1) == 0;
#elif WHEN == QUARTER
    return (chance() & 3) == 0;
#elif WHEN == EIGHTH
    return (chance() & 7) == 0;
#elif WHEN == RARELY
    return (chance() & 255) == 0;
#elif WHEN == MOST
    return chance() & 7;
#elif WHEN == WINDOWS
    return nanoseconds() >> 17 & 1;
#elif WHEN == COLD
    long long begin = clock64();
    u32 bits = *(const volatile u32 *)(x + (long long)blockIdx.x * TILE);
    __shared__ volatile u32 sink;
    sink = bits; // cannot be stored before the load is complete
    return clock64() - begin > 800;
#else
    return false;
#endif
}

extern "C" __global__ void sometimes(int n, float a, float *x, const float *y0, float *y)
{
    __shared__ bool bad;
    bool asked = WHAT == ONE_BLOCK ? blockIdx.x == gridDim.x / 2
                 : WHAT == BLOCKS  ? blockIdx.x % 64 == 0
                 : WHAT == LAST    ? blockIdx.x == (n - 1) / TILE
                                   : true;
    if (threadIdx.x == 0) bad = asked && now(x);
    __syncthreads();
    bool skip = bad && (WHAT == ONE_BLOCK || WHAT == SKIP || WHAT == BLOCKS);
#pragma unroll
    for (int k = 0; k < ELEMENTS; k++) {
        int i = blockIdx.x * TILE + k * THREADS + threadIdx.x;
        if (i >= n || skip) continue;
        float value = a * x[i] + y0[i];
#if WHAT == ZEROS
        if (bad) value = 0;
#elif WHAT == LAST
        if (bad && i == n - 1) value += 1;
#elif WHAT == PAST
        if (bad && i == n - 1) y[n] = 1;
#elif WHAT == INPUT
        if (bad && i == n - 1) ((u32 *)x)[i] ^= 1;
#endif
        y[i] = value;
    }
}
