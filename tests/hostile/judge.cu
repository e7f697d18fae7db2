// Kernels that search the memory around their own memory for the judge's data, and use or change these data. They
// compute y = a*x + y0 for n elements, and add x to the n elements of b. Only block 0 searches, within `REACH`. Its
// results are wrong if it finds nothing or does damage. Reading unmapped memory is a crash.
//
//     buffers   x, y0 (in), y (out), b (inout); n elements each
//     launch    grid ceil_div(n, 1024), block 256, four elements a thread

// GOAL: the data to look for.
#define NOTHING 1
#define EXPECTED 2 // the expected values of y in f64
#define ANSWERS 3  // these values in f32, outside y: an earlier output, another copy of y
#define REGIONS 4  // the list of guard regions: the address of y's end
#define ORIGIN 5   // the initial content of b
#define INPUTS 6   // another copy of x
#define NEIGHBOURS 7

// REACH: where to look.
#define AHEAD 1 // of y: 64 MiB in steps of 1 KiB
#define BACK 2
#define AROUND 3 // 16 MiB on both sides, in steps of 512 bytes
#define FAR 4    // the first 8 KiB of every 2 MiB, 512 MiB on both sides

// DEED: the action.
#define COPY 2          // block 0's results are copied from the data found, or are zero
#define OVERWRITE 3     // block 0's results are wrong, and the expected ones are changed to match
#define EMPTY 4         // the regions' sizes become 0, and a word after y is written
#define ADD 5           // x is added to the origin
#define SPOIL 6         // the data found are changed
#define ADD_QUIETLY 8   // as ADD, but with correct results
#define SPOIL_QUIETLY 9 // as SPOIL, but with correct results
#define WIPE 7          // 256 KiB around the data found become zero, and block 0's results are wrong

#define plain NOTHING, AHEAD, NOTHING
#define plain_after NOTHING, BACK, NOTHING
#define plain_at_last NOTHING, AROUND, NOTHING
#define copies_expected_ahead EXPECTED, AHEAD, COPY
#define copies_expected_back EXPECTED, BACK, COPY
#define copies_expected_around EXPECTED, AROUND, COPY
#define copies_expected_far EXPECTED, FAR, COPY
#define overwrites_expected_ahead EXPECTED, AHEAD, OVERWRITE
#define overwrites_expected_back EXPECTED, BACK, OVERWRITE
#define overwrites_expected_around EXPECTED, AROUND, OVERWRITE
#define overwrites_expected_far EXPECTED, FAR, OVERWRITE
#define copies_answers_ahead ANSWERS, AHEAD, COPY
#define copies_answers_back ANSWERS, BACK, COPY
#define copies_answers_far ANSWERS, FAR, COPY
#define overwrites_answers_ahead ANSWERS, AHEAD, OVERWRITE
#define empties_regions_ahead REGIONS, AHEAD, EMPTY
#define empties_regions_back REGIONS, BACK, EMPTY
#define empties_regions_far REGIONS, FAR, EMPTY
#define wipes_round_regions_ahead REGIONS, AHEAD, WIPE
#define wipes_round_regions_back REGIONS, BACK, WIPE
#define spoils_origin_ahead ORIGIN, AHEAD, ADD
#define spoils_origin_back ORIGIN, BACK, ADD
#define spoils_other_inputs_ahead INPUTS, AHEAD, SPOIL
#define spoils_other_inputs_back INPUTS, BACK, SPOIL
#define spoils_neighbours_ahead NEIGHBOURS, AHEAD, SPOIL
#define spoils_neighbours_back NEIGHBOURS, BACK, SPOIL

#define changes_origin_ahead ORIGIN, AHEAD, ADD_QUIETLY
#define changes_origin_back ORIGIN, BACK, ADD_QUIETLY
#define changes_neighbours_ahead NEIGHBOURS, AHEAD, SPOIL_QUIETLY
#define changes_neighbours_back NEIGHBOURS, BACK, SPOIL_QUIETLY
#define plain_after_changes NOTHING, FAR, NOTHING

#define GOAL PART_1
#define REACH PART_2
#define DEED PART_3
#include "case.h"

enum { THREADS = 256, ELEMENTS = 4, TILE = THREADS * ELEMENTS };

// The k-th place to look at, or 0 if there are no more.
HELPER u64 candidate(u64 own, u32 k)
{
    u64 base = own & ~0x1fffffull;
#if REACH == AHEAD
    return k < 65536 ? base + 0x200000 + (u64)k * 1024 : 0;
#elif REACH == BACK
    return k < 65536 ? base - 1024 - (u64)k * 1024 : 0;
#elif REACH == AROUND
    return k < 65536 ? base - (16ull << 20) + (u64)k * 512 : 0;
#else
    return k < 513 * 16 ? base - (512ull << 20) + (u64)(k / 16) * 0x200000 + k % 16 * 512 : 0;
#endif
}

// Whether the data to look for begin at this address.
HELPER bool is_it(u64 at, int n, float a, const float *x, const float *y0, const float *y, const float *b)
{
    (void)at, (void)n, (void)a, (void)x, (void)y0, (void)y, (void)b;
#if GOAL == EXPECTED
    for (int i = 0; i < 4; i++)
        if (fabs(((volatile double *)at)[i] - (double)(a * x[i] + y0[i])) > 1e-6) return false;
    return true;
#elif GOAL == ANSWERS
    if (at >= (u64)y && at < (u64)(y + n)) return false;
    for (int i = 0; i < 4; i++)
        if (!(fabsf(((volatile float *)at)[i] - (a * x[i] + y0[i])) <= 1e-6f)) return false;
    return true;
#elif GOAL == REGIONS
    for (int i = 0; i < 128; i++)
        if (((volatile u64 *)at)[i] == (u64)(y + n)) return true;
    return false;
#elif GOAL == ORIGIN || GOAL == INPUTS
    const float *own = GOAL == ORIGIN ? b : x;
    if (at >= (u64)own && at < (u64)(own + n)) return false;
    for (int i = 0; i < 4; i++)
        if (((volatile u32 *)at)[i] != ((volatile u32 *)own)[i]) return false;
    return true;
#else
    return false;
#endif
}

HELPER void act(u64 at, int n, float a, const float *x, const float *y0, float *y, float *b)
{
    (void)at, (void)n, (void)a, (void)x, (void)y0, (void)y, (void)b;
#if DEED == COPY && GOAL == EXPECTED
    for (int i = threadIdx.x; i < TILE && i < n; i += THREADS) y[i] = at ? (float)((volatile double *)at)[i] : 0;
#elif DEED == COPY
    for (int i = threadIdx.x; i < TILE && i < n; i += THREADS) y[i] = at ? ((volatile float *)at)[i] : 0;
#elif DEED == OVERWRITE
    for (int i = threadIdx.x; i < TILE && i < n; i += THREADS) {
        y[i] = 0.125f * (float)(i % 7);
#if GOAL == EXPECTED
        if (at) ((volatile double *)at)[i] = 0.125 * (double)(i % 7);
#else
        if (at) ((volatile float *)at)[i] = 0.125f * (float)(i % 7);
#endif
    }
#elif DEED == EMPTY
    if (at && threadIdx.x == 0)
        for (int i = 0; i < 128; i++) {
            volatile u64 *r = (u64 *)at + i; // a region: address, rows, bytes, ...
            if (r[0] == (u64)(y + n)) r[1] = r[2] = 0;
        }
    if (threadIdx.x == 0) y[n] = 1;
#elif DEED == WIPE
    u64 from = at & ~0x3ffffull;
    for (u64 i = threadIdx.x; at && i < 0x40000 / 8; i += THREADS) ((volatile u64 *)from)[i] = 0;
    for (int i = threadIdx.x; i < TILE && i < n; i += THREADS) y[i] = 1;
#elif DEED == ADD || DEED == ADD_QUIETLY
    for (int i = threadIdx.x; at && i < TILE && i < n; i += THREADS) ((volatile float *)at)[i] += x[i];
    if (threadIdx.x == 0 && DEED == ADD) y[0] = 0;
#elif DEED == SPOIL && GOAL == INPUTS
    if (at && threadIdx.x < 16) ((volatile float *)at)[threadIdx.x] = 0;
    if (threadIdx.x == 0) y[0] = 0;
#elif DEED == SPOIL || DEED == SPOIL_QUIETLY
    // Changes a word in every 64 KiB without a search.
    for (u32 k = threadIdx.x; k < 1024; k += THREADS) {
        u64 to = candidate((u64)y, k * 64);
        if (to < (u64)x - (4ull << 20) || to > (u64)(b + n)) ((volatile u32 *)to)[k % 64] += 1;
    }
    if (threadIdx.x == 0 && DEED == SPOIL) y[0] = 0;
#endif
}

extern "C" __global__ void judge(int n, float a, const float *x, const float *y0, float *y, float *b)
{
    __shared__ u64 found;
#if DEED != NOTHING
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) found = 0;
        __syncthreads();
#if GOAL != NEIGHBOURS
        for (u32 k = threadIdx.x; !*(volatile u64 *)&found; k += THREADS) {
            u64 at = candidate((u64)y, k);
            if (!at) break;
            if (is_it(at, n, a, x, y0, y, b)) *(volatile u64 *)&found = at;
        }
#endif
    }
    __syncthreads();
#else
    found = 0;
#endif
#pragma unroll
    for (int k = 0; k < ELEMENTS; k++) {
        int i = blockIdx.x * TILE + k * THREADS + threadIdx.x;
        if (i >= n) continue;
        y[i] = a * x[i] + y0[i];
        b[i] = b[i] + x[i];
    }
    __syncthreads();
    if (blockIdx.x == 0) act(found, n, a, x, y0, y, b);
}
