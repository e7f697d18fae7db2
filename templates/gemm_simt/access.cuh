/* gemm_simt.cu: accesses of several floats at once, and values that are read again to save registers. */
#pragma once

#include "parameters.cuh"

namespace
{

/* Loads WIDTH consecutive floats with the widest accesses available. */
template <int WIDTH> __device__ __forceinline__ void load(float *to, const float *from)
{
    if constexpr (WIDTH == 8) {
        load<4>(to, from);
        load<4>(to + 4, from + 4);
    } else if constexpr (WIDTH == 4) {
        const float4 v = *reinterpret_cast<const float4 *>(from);
        to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    } else if constexpr (WIDTH == 2) {
        const float2 v = *reinterpret_cast<const float2 *>(from);
        to[0] = v.x, to[1] = v.y;
    } else {
        to[0] = *from;
    }
}

template <int WIDTH> __device__ __forceinline__ void store(float *to, const float *from)
{
    if constexpr (WIDTH == 4)
        *reinterpret_cast<float4 *>(to) = make_float4(from[0], from[1], from[2], from[3]);
    else if constexpr (WIDTH == 2)
        *reinterpret_cast<float2 *>(to) = make_float2(from[0], from[1]);
    else
        *to = *from;
}

__device__ __forceinline__ bool aligned(const float *p, int ld, int width)
{
    return (reinterpret_cast<unsigned long long>(p) % (4 * width)) == 0 && ld % width == 0;
}

/* threadIdx.x and blockIdx.x, read again. Values that depend on them after the main loop are then computed after it and
 * occupy no registers in the loop. With split products this avoids spills in the loop. */
__device__ __forceinline__ int thread_anew()
{
    int thread;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    return thread;
}

__device__ __forceinline__ int block_anew()
{
    int block;
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(block));
    return block;
}

} // namespace
