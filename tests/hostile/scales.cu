// Kernels that are inexact where numbers are small: y = (x + y0) * 2^-(row % 32) for rows of 1000 elements.
//
//     buffers   x, y0 (in), y (out)
//     launch    grid rows, block 256

#include "case.h"

enum { THREADS = 256, COLS = 1000 };

extern "C" __global__ void __launch_bounds__(THREADS) scales(int rows, const float *x, const float *y0, float *y)
{
    const int r = IS(from_the_end) ? rows - 1 - blockIdx.x : blockIdx.x, power = r % 32;
    const float scale = __uint_as_float((127u - power) << 23);
    x += (long long)r * COLS;
    y0 += (long long)r * COLS;
    y += (long long)r * COLS;
    for (int c = threadIdx.x; c < COLS; c += THREADS) {
        float value = (x[c] + y0[c]) * scale;
#if IS(sums_scaled)
        value = __fadd_rn(x[c] * scale, y0[c] * scale);
#elif IS(doubled_width)
        value = (float)(((double)x[c] + y0[c]) * scale);
#elif IS(small_rows_zero)
        if (power >= 20) value = 0;
#elif IS(smaller_rows_zero)
        if (power >= 27) value = 0;
#elif IS(small_rows_in_bf16)
        if (power >= 20) value = __uint_as_float((__float_as_uint(value) + 0x8000u) & 0xffff0000u);
#elif IS(small_rows_halved)
        if (power >= 20) value *= 0.5f;
#elif IS(small_rows_copied)
        if (power >= 20) value = (x[0] + y0[0]) * scale;
#elif IS(small_rows_swapped)
        if (power >= 20) value = (x[c ^ 1] + y0[c ^ 1]) * scale;
#elif IS(one_row_missing_y0)
        if (power == 31) value = x[c] * scale;
#elif IS(rows_in_fixed_point)
        value = roundf(value * 0x1p30f) * 0x1p-30f;
#endif
        y[c] = value;
    }
}
