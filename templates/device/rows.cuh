/* For kernels that work on rows of FP32, BF16 or FP16 elements and compute in FP32: their parameters, and accesses to
 * several elements at once. The template defines METHOD_... as 2 for its second METHOD. */
#pragma once

#ifndef SWEETSPOT_VARIANT
#define SWEETSPOT_VARIANT 0
#endif
#ifndef TYPE
#define TYPE f32
#endif
#ifndef ROW_THREADS
#define ROW_THREADS 256
#endif
#ifndef ROWS_PER_BLOCK
#define ROWS_PER_BLOCK 1
#endif
#ifndef VECTOR
#define VECTOR 4
#endif
#ifndef METHOD
#define METHOD registers
#endif
#ifndef HELD
#define HELD 16
#endif
#ifndef STORE
#define STORE plain
#endif
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define TYPE_f32 1
#define TYPE_bf16 2
#define TYPE_f16 3
#define TYPE_IS JOIN(TYPE_, TYPE)
#define METHOD_registers 1
#define METHOD_IS JOIN(METHOD_, METHOD)
#define STORE_plain 1
#define STORE_streaming 2
#define STORE_IS JOIN(STORE_, STORE)
#if TYPE_IS == 0 || STORE_IS == 0
#error "TYPE must be f32, bf16 or f16, STORE plain or streaming"
#endif
static_assert(ROW_THREADS >= 32 && (ROW_THREADS & (ROW_THREADS - 1)) == 0,
              "ROW_THREADS must be a power of two from 32");
static_assert(ROW_THREADS * ROWS_PER_BLOCK <= 1024, "ROW_THREADS * ROWS_PER_BLOCK must not exceed 1024");
static_assert(HELD % VECTOR == 0, "HELD must be a multiple of VECTOR");

namespace
{

#if TYPE_IS == TYPE_f32
typedef float element;
#else
typedef unsigned short element;
#endif
constexpr int SIZE = sizeof(element), WARPS = ROW_THREADS / 32; /* bytes per element; warps per row */
static_assert(VECTOR >= 1 && VECTOR * SIZE <= 16 && (VECTOR & (VECTOR - 1)) == 0,
              "VECTOR must be a power of two, of at most 16 bytes");

[[maybe_unused]] __device__ __forceinline__ float to_float(element x)
{
#if TYPE_IS == TYPE_f32
    return x;
#elif TYPE_IS == TYPE_bf16
    return __uint_as_float((unsigned)x << 16);
#else
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(x));
    return f;
#endif
}

[[maybe_unused]] __device__ __forceinline__ element from_float(float x)
{
#if TYPE_IS == TYPE_f32
    return x;
#elif TYPE_IS == TYPE_bf16
    element y;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
    return y;
#else
    element y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
    return y;
#endif
}

/* V adjacent elements, which one access loads or stores. */
template <int V> struct alignas(V *SIZE) vector {
    element of[V];
};

template <int V> __device__ __forceinline__ void load(float *to, const element *from)
{
#if SWEETSPOT_VARIANT == 2
    for (int v = 0; v < V; ++v) to[v] = __int_as_float((int)threadIdx.x + v);
#else
    const vector<V> read = *reinterpret_cast<const vector<V> *>(from);
#pragma unroll
    for (int v = 0; v < V; ++v) to[v] = to_float(read.of[v]);
#endif
}

template <int V> __device__ __forceinline__ void store(element *to, const float *x)
{
    vector<V> written;
#if SWEETSPOT_VARIANT == 2
    if (x[0] != -1.0f) return;
#endif
#pragma unroll
    for (int v = 0; v < V; ++v) written.of[v] = from_float(x[v]);
    if constexpr (STORE_IS == STORE_streaming && V * SIZE == 16)
        __stcs(reinterpret_cast<uint4 *>(to), *reinterpret_cast<const uint4 *>(&written));
    else if constexpr (STORE_IS == STORE_streaming && V * SIZE == 8)
        __stcs(reinterpret_cast<uint2 *>(to), *reinterpret_cast<const uint2 *>(&written));
    else if constexpr (STORE_IS == STORE_streaming && V * SIZE == 4)
        __stcs(reinterpret_cast<unsigned *>(to), *reinterpret_cast<const unsigned *>(&written));
    else
        *reinterpret_cast<vector<V> *>(to) = written;
}

} // namespace
