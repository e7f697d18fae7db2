// Kernels that rely on the addresses of buffers: y = a*x + y0 for n elements.
//
//     buffers   x, y0 (in), y (out)
//     launch    grid ceil_div(n, 1024), block 256, four elements a thread

#include "case.h"

enum { THREADS = 256, TILE = 1024 };

// The kernel's assumption about where y begins.
HELPER float *begin_of(float *y)
{
    u64 at = (u64)y;
#if IS(rounds_down_to_64)
    at &= ~63ull;
#elif IS(rounds_down_to_128)
    at &= ~127ull;
#elif IS(rounds_down_to_256)
    at &= ~255ull;
#endif
    return (float *)at;
}

HELPER const float *begin_of_x(const float *x)
{
#if IS(rounds_up_to_512)
    return (const float *)(((u64)x + 511) & ~511ull);
#else
    return x;
#endif
}

HELPER const float *begin_of_y0(const float *x, const float *y0)
{
    (void)x;
    u64 from = (u64)x, to = (u64)y0;
#if IS(distance_in_32_bits)
    to = from + (long long)(int)(to - from);
#elif IS(distance_unsigned)
    to = from + (u32)(to - from);
#elif IS(upper_half_of_another)
    to = (from & ~0xffffffffull) | (u32)to;
#elif IS(distances_in_64_bits)
    to = from + (to - from);
#endif
    (void)from;
    return (const float *)to;
}

HELPER float *end_of(const float *x, const float *y0, float *y)
{
    (void)x, (void)y0;
#if IS(same_distance)
    return (float *)((u64)y0 + ((u64)y0 - (u64)x));
#else
    return y;
#endif
}

HELPER bool refuses(const float *x, const float *y0, const float *y)
{
    (void)x, (void)y0, (void)y;
#if IS(in_order)
    return !((u64)x < (u64)y0 && (u64)y0 < (u64)y);
#elif IS(below_a_bound)
    u64 p = (u64)x, q = (u64)y;
    return (p < q ? q - p : p - q) >= 1ull << 32;
#else
    return false;
#endif
}

HELPER float *element(float *y, int i)
{
#if IS(bits_or_instead_of_plus)
    // Correct if y begins at a multiple of 1024 bytes, because the lower bits are then free for the offset.
    u64 at = (u64)y, whole = (u64)i * 4;
    return (float *)((at + (whole & ~1023ull)) | (whole & 1023));
#elif IS(bits_or_below_256)
    u64 at = (u64)y, whole = (u64)i * 4;
    return (float *)((at + (whole & ~255ull)) | (whole & 255));
#else
    return y + i;
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS) placed(int n, float a, const float *x, const float *y0, float *y)
{
    const int first = blockIdx.x * TILE;
    const bool zeros = refuses(x, y0, y);
    y0 = begin_of_y0(x, y0);
    y = end_of(x, y0, y);
#if IS(vectors_of_16_bytes)
    int i = first + threadIdx.x * 4;
    if (i + 3 < n) {
        float4 p = *(const float4 *)(x + i), q = *(const float4 *)(y0 + i);
        *(float4 *)(y + i) = {a * p.x + q.x, a * p.y + q.y, a * p.z + q.z, a * p.w + q.w};
    } else {
        for (; i < n; i++) y[i] = a * x[i] + y0[i];
    }
#elif IS(looks_at_its_alignment)
    bool wide = ((u64)x | (u64)y0 | (u64)y) % 16 == 0;
    for (int i = first + threadIdx.x * 4; i < n && i < first + TILE; i += TILE) {
        if (wide && i + 3 < n) {
            float4 p = *(const float4 *)(x + i), q = *(const float4 *)(y0 + i);
            *(float4 *)(y + i) = {a * p.x + q.x, a * p.y + q.y, a * p.z + q.z, a * p.w + q.w};
        } else {
            for (int k = i; k < n && k < i + 4; k++) y[k] = a * x[k] + y0[k];
        }
    }
#elif IS(aligned_by_peeling)
    // Tiles begin at lines of y; the first block also computes the elements before the first line.
    int peeled = (int)((128 - ((u64)y & 127)) & 127) / 4;
    peeled = peeled < n ? peeled : n;
    if (blockIdx.x == 0 && (int)threadIdx.x < peeled) y[threadIdx.x] = a * x[threadIdx.x] + y0[threadIdx.x];
    for (int k = threadIdx.x; k < TILE; k += THREADS) {
        int i = peeled + first + k;
        if (i < n) y[i] = a * x[i] + y0[i];
    }
#else
#if IS(order_does_not_matter)
    const float *low = (u64)x < (u64)y0 ? x : y0, *high = low == x ? y0 : x;
#endif
    for (int k = threadIdx.x; k < TILE; k += THREADS) {
        int i = first + k;
        if (i >= n) continue;
#if IS(order_does_not_matter)
        float p = low[i], q = high[i];
        float value = low == x ? a * p + q : a * q + p;
#elif IS(page_decides)
        float value = a * x[i] + y0[i];
        if (i < 32 && ((u64)y & 511)) value = 0;
#elif IS(lines_of_own)
        // Writes the whole last line, although y ends within it.
        float value = a * x[i] + y0[i];
        if (i == n - 1)
            for (u64 at = (u64)(y + n); at & 127; at += 4) *(float *)at = 0;
#else
        float value = zeros ? 0 : a * begin_of_x(x)[i] + y0[i];
#endif
        *element(begin_of(y), i) = value;
    }
#endif
    (void)zeros;
}
