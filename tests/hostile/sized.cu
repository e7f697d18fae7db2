// Kernels that are correct for the job's sizes and wrong for others: y = a*x + y0 for n elements.
//
//     buffers   x, y0 (in), y (out)
//     launch    grid ceil_div(n, 1024), block 256, four elements a thread

#include "case.h"

enum { THREADS = 256, TILE = 1024, LEAST = 11 }; // LEAST: the smallest size, which the job verifies

HELPER bool is_power(int n)
{
    return n > 0 && !(n & (n - 1));
}

HELPER int tail_begin(int n, int lines)
{
    return n / lines * lines;
}

// Whether element i is wrong.
HELPER bool is_wrong(int n, int i)
{
    (void)n, (void)i;
    const bool last = i == n - 1;
    const int tiles = (n + TILE - 1) / TILE;
    (void)last, (void)tiles;
#if IS(multiples_of_four)
    return n % 4 == 0 && i >= n - 4;
#elif IS(even_sizes)
    return n % 2 == 0 && last;
#elif IS(powers_of_two)
    return is_power(n);
#elif IS(below_powers_of_two)
    return is_power(n + 1) && last;
#elif IS(less_than_a_tile)
    return n < TILE && n != LEAST;
#elif IS(less_than_two_blocks)
    return n < 2 * THREADS && n != LEAST && last;
#elif IS(a_few_tiles)
    return tiles > 1 && tiles < 64 && i / TILE == 1;
#elif IS(only_the_tuned_size)
    return n != 1000003 && n != 40000003 && n != LEAST;
#elif IS(odd_number_of_tiles)
    return tiles % 2 == 0 && i / TILE == tiles - 1;
#elif IS(counts_in_16_bits)
    return n < 65536 && n != LEAST && last;
#else
    return false;
#endif
}

// Whether element i is not written.
HELPER bool is_missing(int n, int i)
{
    (void)n, (void)i;
#if IS(whole_pieces)
    return n % 64 == 0 && i / 64 == n / 64 - 1;
#elif IS(above_powers_of_two)
    return is_power(n - 1) && i == n - 1;
#elif IS(tail_of_three_only)
    return n % 4 != 3 && i >= tail_begin(n, 4);
#else
    return false;
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS) sized(int n, float a, const float *x, const float *y0, float *y)
{
    const int first = blockIdx.x * TILE;
#if IS(tail_in_vectors)
    int i = first + threadIdx.x * 4;
    if (i + 3 < n) {
        float4 p = *(const float4 *)(x + i), q = *(const float4 *)(y0 + i);
        *(float4 *)(y + i) = {a * p.x + q.x, a * p.y + q.y, a * p.z + q.z, a * p.w + q.w};
    } else {
        for (; i < n; i++) y[i] = a * x[i] + y0[i];
    }
#else
#if IS(small_ones_apart)
    if (n < 64) {
        for (int i = 0; i < n && threadIdx.x == 0; i++) y[i] = a * x[i] + y0[i];
        return;
    }
#endif
    for (int k = threadIdx.x; k < TILE; k += THREADS) {
        int i = first + k;
#if IS(two_ways_by_size)
        if (n >= 4096) i = first + TILE - 1 - k;
#endif
        if (i >= n || is_missing(n, i)) continue;
        y[i] = is_wrong(n, i) ? 0 : a * x[i] + y0[i];
    }
#endif
}
