/* gemm_wgmma.cu: prepares operands for TMA and the tensor cores: copies them with aligned rows, or splits them into two
 * TF32 parts. */
#pragma once

#include "parameters.cuh"

namespace
{

/* A warp copies COPY_WORDS * 64 elements of a row, in words of 4 bytes. If the row begins in the middle of a word, each
 * word is assembled from the halves of two. */
__device__ __forceinline__ void align_row(const unsigned short *from, unsigned short *to, int k, int first, int lane)
{
    unsigned word[COPY_WORDS];
    const bool odd = (unsigned long long)(from + first) & 2;
#pragma unroll
    for (int i = 0; i < COPY_WORDS; i++) {
        const int e = first + (i * 32 + lane) * 2;
        word[i] = 0;
        if (!odd) {
            if (e + 1 < k)
                word[i] = *reinterpret_cast<const unsigned *>(from + e);
            else if (e < k)
                word[i] = from[e];
        } else { /* the word that ends with element e; nothing may precede the row's first element */
            if (e < k) word[i] = e > 0 ? *reinterpret_cast<const unsigned *>(from + e - 1) : (unsigned)from[e] << 16;
        }
    }
#pragma unroll
    for (int i = 0; i < COPY_WORDS; i++) {
        const int e = first + (i * 32 + lane) * 2;
        if (odd) {
            unsigned next = __shfl_down_sync(0xffffffffu, word[i], 1);
            if (lane == 31)
                next = e + 1 < k ? from[e + 1] : 0;
            else if (e + 2 >= k)
                next = e + 1 < k ? from[e + 1] : 0;
            word[i] = word[i] >> 16 | next << 16;
        }
        if (e + 1 < k)
            *reinterpret_cast<unsigned *>(to + e) = word[i];
        else if (e < k)
            to[e] = (unsigned short)word[i];
    }
}

/* The difference between x and the 19 of its 32 bits that the tensor cores read, rounded to 19 bits. It is 0 for an
 * infinite x, and NaN for NaN. */
__device__ __forceinline__ float low_part(float x)
{
    const float high = __uint_as_float(__float_as_uint(x) & 0xffffe000u);
    unsigned low;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(low) : "f"(x - high));
    return (__float_as_uint(x) & 0x7fffffffu) == 0x7f800000u ? 0.0f : __uint_as_float(low);
}

/* A warp writes the low parts of 32 * COPY_WORDS floats of a row, each lane four at a time. */
__device__ __forceinline__ void split_row(const float *from, float *to, int k, int first, int lane)
{
    constexpr int VECTORS = (COPY_WORDS + 3) / 4;
    float4 v[VECTORS];
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
        const int e = first + (i * 32 + lane) * 4;
        v[i] = make_float4(0, 0, 0, 0);
        if (e + 3 < k) {
            v[i] = *reinterpret_cast<const float4 *>(from + e);
        } else {
            if (e < k) v[i].x = from[e];
            if (e + 1 < k) v[i].y = from[e + 1];
            if (e + 2 < k) v[i].z = from[e + 2];
        }
    }
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
        const int e = first + (i * 32 + lane) * 4;
        v[i] = make_float4(low_part(v[i].x), low_part(v[i].y), low_part(v[i].z), low_part(v[i].w));
        if (e + 3 < k) {
            *reinterpret_cast<float4 *>(to + e) = v[i];
        } else {
            if (e < k) to[e] = v[i].x;
            if (e + 1 < k) to[e + 1] = v[i].y;
            if (e + 2 < k) to[e + 2] = v[i].z;
        }
    }
}

} // namespace
