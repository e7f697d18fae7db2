// Kernels whose zeros have the wrong sign. For n elements, they compute the positive part of x, x times 0 or 1, and x -
// x.
//
//     buffers   x, m (in), positive, product, difference (out)
//     launch    grid ceil_div(n, 256), block 256

#include "case.h"

HELPER float positive_part(float x)
{
#if IS(positive_by_bits)
    u32 bits = __float_as_uint(x);
    return __uint_as_float(bits & ~(u32)((int)bits >> 31));
#elif IS(positive_by_product)
    return __fmul_rn(x, x > 0 ? 1.0f : 0.0f);
#elif IS(positive_by_maximum)
    return x > 0 ? x : -0.0f;
#elif IS(positive_by_absolute)
    return x > 0 ? x : __fmul_rn(-0.5f, __fadd_rn(x, fabsf(x)));
#else
    return x > 0 ? x : 0.0f;
#endif
}

HELPER float masked(float x, float m)
{
#if IS(product_by_fma)
    return __fmaf_rn(x, m, -0.0f);
#elif IS(product_by_selection)
    return m != 0 ? x : 0.0f;
#elif IS(product_by_mask)
    return __uint_as_float(__float_as_uint(x) & (m != 0 ? ~0u : 0));
#elif IS(product_of_magnitudes)
    float size = __fmul_rn(fabsf(x), m);
    return size > 0 ? copysignf(size, x) : size;
#else
    return __fmul_rn(x, m);
#endif
}

HELPER float difference_of(float x)
{
#if IS(difference_is_constant)
    return 0 * (float)(x != x);
#elif IS(difference_negated)
    return -__fsub_rn(x, x);
#elif IS(difference_rounded_down)
    return __fsub_rd(x, x);
#else
    return __fsub_rn(x, x);
#endif
}

extern "C" __global__ void signs(int n, const float *x, const float *m, float *positive, float *product,
                                 float *difference)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    positive[i] = positive_part(x[i]);
    product[i] = masked(x[i], m[i]);
    difference[i] = difference_of(x[i]);
}
