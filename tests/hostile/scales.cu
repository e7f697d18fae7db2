// Kernels that are inexact where numbers are small: y = (x + y0) * 2^-(row % 32) for rows of 1000 elements.
//
//     buffers   x, y0 (in), y (out)
//     launch    grid rows, block 256

#define plain 1
#define sums_scaled 2
#define doubled_width 3
#define from_the_end 4
#define small_rows_zero 5
#define smaller_rows_zero 6
#define small_rows_in_bf16 7
#define small_rows_halved 8
#define small_rows_copied 9
#define small_rows_swapped 10
#define one_row_missing_y0 11
#define rows_in_fixed_point 12

#include "case.h"

enum { THREADS = 256, COLS = 1000 };

extern "C" __global__ void __launch_bounds__(THREADS) scales(int rows, const float *x, const float *y0, float *y)
{
    const int r = CASE == from_the_end ? rows - 1 - blockIdx.x : blockIdx.x, power = r % 32;
    const float scale = __uint_as_float((127u - power) << 23);
    x += (long long)r * COLS;
    y0 += (long long)r * COLS;
    y += (long long)r * COLS;
    for (int c = threadIdx.x; c < COLS; c += THREADS) {
        float value = (x[c] + y0[c]) * scale;
#if CASE == sums_scaled
        value = __fadd_rn(x[c] * scale, y0[c] * scale);
#elif CASE == doubled_width
        value = (float)(((double)x[c] + y0[c]) * scale);
#elif CASE == small_rows_zero
        if (power >= 20) value = 0;
#elif CASE == smaller_rows_zero
        if (power >= 27) value = 0;
#elif CASE == small_rows_in_bf16
        if (power >= 20) value = __uint_as_float((__float_as_uint(value) + 0x8000u) & 0xffff0000u);
#elif CASE == small_rows_halved
        if (power >= 20) value *= 0.5f;
#elif CASE == small_rows_copied
        if (power >= 20) value = (x[0] + y0[0]) * scale;
#elif CASE == small_rows_swapped
        if (power >= 20) value = (x[c ^ 1] + y0[c ^ 1]) * scale;
#elif CASE == one_row_missing_y0
        if (power == 31) value = x[c] * scale;
#elif CASE == rows_in_fixed_point
        value = roundf(value * 0x1p30f) * 0x1p-30f;
#endif
        y[c] = value;
    }
}
