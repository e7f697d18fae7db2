// Kernels that are wrong in every launch, or correct only for some data: y = a*x + y0 for n elements. Four jobs use
// them: data.cfg (uniform inputs), nonfinite.cfg (infinities and NaN among them), tiny.cfg (denormal numbers, no
// absolute error allowed) and exact.cfg (no error allowed).
//
//     buffers   x, y0 (in), y (out)
//     launch    grid ceil_div(n, 1024), block 256, four elements a thread

#include "case.h"

enum { THREADS = 256, ELEMENTS = 4, TILE = THREADS * ELEMENTS };

// Element i of buffer `buffer` (0 for x) under a uniform fill with the default seed of jobs: see kernels/support.cu and
// tuner/gpu/buffers.c.
HELPER float filled(u32 buffer, u64 i)
{
    u64 seed = 0x9e3779b97f4a7c15ull * 1 + (buffer + 1) * 0x632be59bd9b4e019ull;
    u64 random = mix(seed + i * 0x9e3779b97f4a7c15ull);
    return (float)(-1.0 + 2.0 * ((double)(random >> 40) * 0x1p-24));
}

HELPER bool finite(float x)
{
    return fabsf(x) <= 3.4028234e38f;
}

// Whether the data come from the default seed.
HELPER bool known_data(int n, const float *x, const float *y0)
{
    (void)n, (void)x, (void)y0;
#if IS(seed_by_x)
    return x[0] == filled(0, 0) && x[1] == filled(0, 1) && x[2] == filled(0, 2);
#elif IS(seed_by_y0)
    return y0[n / 2] == filled(1, n / 2) && y0[7] == filled(1, 7);
#elif IS(seed_by_last)
    return x[n - 1] == filled(0, n - 1) && x[n - 2] == filled(0, n - 2);
#elif IS(seed_by_sum)
    float there = 0, meant = 0;
    for (int i = 0; i < 32; i++) {
        there += x[i];
        meant += filled(0, i);
    }
    return there == meant;
#elif IS(seed_per_block)
    u64 i = (u64)blockIdx.x * TILE;
    return x[i] == filled(0, i);
#else
    return true;
#endif
}

#if IS(input_forged)
// The digest of kernels/support.cu, and its inverse.
HELPER u64 digest(u64 x)
{
    x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9ull;
    return x ^ (x >> 29);
}
HELPER u64 undigest(u64 x)
{
    x = (x ^ (x >> 29) ^ (x >> 58)) * 0x96de1b173f119089ull;
    return x ^ (x >> 31) ^ (x >> 62);
}

// Forges the first two words of x: the lowest bit of the first word is changed, and the second word is chosen such that
// the sum of their digests stays the same. Forging twice restores x.
HELPER void forge(const float *x, u64 to[2])
{
    const u64 key = 0x5eed, place = 0x9e3779b97f4a7c15ull;
    const volatile u64 *from = (const volatile u64 *)x;
    u64 first = from[0], second = from[1], sum = digest((first ^ key) + place) + digest((second ^ key) + 2 * place);
    to[0] = first ^ 1;
    to[1] = (undigest(sum - digest((to[0] ^ key) + place)) - 2 * place) ^ key;
}

// Under a uniform fill the lowest bit is 0.
HELPER bool is_forged(const float *x)
{
    return *(const volatile u32 *)x & 1;
}

HELPER float original(const float *x, int i)
{
    u64 words[2];
    forge(x, words);
    return is_forged(x) ? __uint_as_float((u32)(words[i / 2] >> 32 * (i % 2))) : x[i];
}
#endif

extern "C" __global__ void data(int n, float a, const float *x, const float *y0, float *y)
{
    bool known = known_data(n, x, y0);
#if IS(block_number_in_a_byte)
    u32 block = (u8)blockIdx.x;
#else
    u32 block = blockIdx.x;
#endif
#pragma unroll
    for (int k = 0; k < ELEMENTS; k++) {
        int i = block * TILE + k * THREADS + threadIdx.x;
        if (i >= n) continue;
        float value = known ? a * x[i] + y0[i] : 0;
#if IS(fused)
        value = __fmaf_rn(a, x[i], y0[i]);
#elif IS(multiply_add)
        value = __fadd_rn(__fmul_rn(a, x[i]), y0[i]);
#elif IS(doubled_width)
        value = (float)((double)a * (double)x[i] + (double)y0[i]);
#elif IS(just_inside)
        value += 0.8e-6f;
#elif IS(rounded_down)
        value = __fmaf_rd(a, x[i], y0[i]);
#elif IS(zeros)
        value = 0;
#elif IS(nothing_written)
        continue;
#elif IS(last_missing)
        if (i == n - 1) continue;
#elif IS(first_missing)
        if (i == 0) continue;
#elif IS(last_eighth_missing)
        if (i >= n / 8 * 7) continue;
#elif IS(tail_missing)
        if (i >= n / 256 * 256) continue;
#elif IS(every_tenth_nan)
        if (i % 10 == 3) value = __int_as_float(0x7fffffff);
#elif IS(off_by_one)
        if (i + 1 < n) value = a * x[i + 1] + y0[i + 1];
#elif IS(one_off_by_1e3)
        if (i == n / 3) value += 1e-3f;
#elif IS(one_off_by_1e5)
        if (i == n / 5) value += 1e-5f * (1 + fabsf(value));
#elif IS(just_outside)
        value += 1.5e-6f + 1.5e-6f * fabsf(value);
#elif IS(y0_ignored)
        value = a * x[i];
#elif IS(x_copied)
        value = x[i];
#elif IS(wrong_factor)
        value = (a + 1e-4f) * x[i] + y0[i];
#elif IS(pairs_swapped)
        if (mix(i / 2) % 1000 == 0 && (i ^ 1) < n) value = a * x[i ^ 1] + y0[i ^ 1];
#elif IS(two_swapped)
        if (i == 17 || i == n - 17) value = a * x[n - i] + y0[n - i];
#elif IS(block_reversed)
        if (blockIdx.x == 1 && n > 2 * TILE) {
            int j = 3 * TILE - 1 - i;
            value = a * x[j] + y0[j];
        }
#elif IS(bf16_inputs)
        value = a * to_bf16(x[i]) + to_bf16(y0[i]);
#elif IS(tf32_inputs)
        value = a * to_tf32(x[i]) + to_tf32(y0[i]);
#elif IS(f16_arithmetic)
        value = to_f16(to_f16(a * to_f16(x[i])) + to_f16(y0[i]));
#elif IS(index_overflow)
        int j = (int)((u32)i * 4099u) / 4099; // wraps like a product in 32 bits
        if (j < 0) j = 0;
        value = a * x[j] + y0[j];
#elif IS(right_on_average)
        value += i & 1 ? 1e-4f : -1e-4f;
#elif IS(clamped)
        value = a * fminf(x[i], 0.9999f) + y0[i];
#elif IS(rare_values)
        if ((mix(__float_as_uint(x[i])) & 16383) == 0) value += 1;
#elif IS(small_values_zero)
        if (fabsf(x[i]) < 1e-3f) value = y0[i];
#elif IS(sign_lost)
        if (fabsf(value) < 1e-2f) value = fabsf(value);
#elif IS(tail_shifted)
        if (blockIdx.x == gridDim.x - 1 && n > TILE) {
            int from = n - TILE + k * THREADS + threadIdx.x;
            value = a * x[from] + y0[from];
        }
#elif IS(one_infinite)
        if (i == n / 7) value = __int_as_float(0x7f800000);
#elif IS(input_forged)
        if (i < 4) value = a * original(x, i) + y0[i];
#elif IS(noise_inside)
        if (chance() & 1) value += 4e-7f * (1 + fabsf(value));
#elif IS(smooth)
        if (i && i + 1 < n) value = a * (0.5f * x[i] + 0.25f * x[i - 1] + 0.25f * x[i + 1]) + y0[i];
#elif IS(nan_dropped)
        value = fmaxf(value, -1e30f);
#elif IS(infinity_clamped)
        if (value == value) value = fminf(fmaxf(value, -3e38f), 3e38f);
#elif IS(infinity_to_nan)
        value += 0.0f * x[i];
#elif IS(nan_to_infinity)
        if (value != value) value = __int_as_float(0x7f800000);
#elif IS(nan_not_written)
        if (value != value) continue;
#elif IS(nonfinite_to_zero)
        if (!finite(value)) value = 0;
#elif IS(sign_of_infinity)
        if (!finite(value)) value = fabsf(value);
#elif IS(denormals_flushed)
        asm("add.ftz.f32 %0, %0, %1;" : "+f"(value) : "f"(0.0f));
#elif IS(input_denormals_flushed)
        float flushed;
        asm("add.ftz.f32 %0, %1, %2;" : "=f"(flushed) : "f"(x[i]), "f"(0.0f));
        value = a * flushed + y0[i];
#elif IS(one_ulp_in_one)
        if (i == n / 9) value = __uint_as_float(__float_as_uint(value) + 1);
#elif IS(one_ulp_in_some)
        if (mix(i) % 1000 == 0) value = __uint_as_float(__float_as_uint(value) ^ 1);
#elif IS(half_precision_low_bits)
        value = to_f16(value) + to_f16(value - to_f16(value));
#endif
        y[i] = value;
    }
#if IS(input_forged)
    __syncthreads();
    if (blockIdx.x || threadIdx.x || is_forged(x)) return;
    u64 words[2];
    forge(x, words);
    ((volatile u64 *)x)[1] = words[1];
    ((volatile u64 *)x)[0] = words[0];
#endif
}
