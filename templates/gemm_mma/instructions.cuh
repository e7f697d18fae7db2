/* gemm_mma.cu: the PTX instructions that are not in device/ptx.cuh. */
#pragma once

#include "../device/ptx.cuh"
#include "parameters.cuh"

namespace
{

/* Loads four matrices with 8 rows of 16 bytes each. Lane i passes the address of row i % 8 of matrix i / 8. From each
 * matrix, a lane gets the 4 bytes at offset 4 * (lane % 4) of row lane / 4. */
__device__ __forceinline__ void load_matrices(unsigned &x, unsigned &y, unsigned &z, unsigned &w, unsigned from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                 : "r"(from)
                 : "memory");
}

/* The same, but transposes the matrices, which have 8 x 8 elements of 2 bytes: a lane gets element lane / 4 of row
 * 2 * (lane % 4) and of the next row. */
__device__ __forceinline__ void load_transposed(unsigned &x, unsigned &y, unsigned &z, unsigned &w, unsigned from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                 : "r"(from)
                 : "memory");
}

__device__ __forceinline__ void load_word(unsigned &x, unsigned from)
{
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(from) : "memory");
}

__device__ __forceinline__ void store_words(unsigned to, const unsigned (&v)[4])
{
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3])
                 : "memory");
}

/* Copies 16 bytes asynchronously, or does nothing if `there` is 0. It has no branch, so that ptxas can place copies
 * between other instructions. */
__device__ __forceinline__ void copy_async_if(unsigned there, unsigned to, const input *from)
{
    asm volatile(
        "{ .reg .pred p; setp.ne.u32 p, %2, 0; @p cp.async.cg.shared.global.L2::128B [%0], [%1], 16; }" ::"r"(to),
        "l"(from), "r"(there)
        : "memory");
}

/* d += a * b for 16 rows, 8 columns and 32 bytes along K. */
#if INPUT_IS == TYPE_i8
#define MMA "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"
#define MMA_SUM "r"
#else
#if INPUT_IS == TYPE_tf32
#define MMA "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"
#else
#define MMA "mma.sync.aligned.m16n8k16.row.col.f32." TEXT(INPUT) "." TEXT(INPUT) ".f32"
#endif
#define MMA_SUM "f"
#endif
__device__ __forceinline__ void multiply(number (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm volatile(MMA " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+" MMA_SUM(d[0]), "+" MMA_SUM(d[1]), "+" MMA_SUM(d[2]), "+" MMA_SUM(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* Loads four sums that another block has left, from the L2. */
__device__ __forceinline__ void load_sums(number (&v)[4], const number *from)
{
    asm volatile("ld.global.cg.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=" MMA_SUM(v[0]), "=" MMA_SUM(v[1]), "=" MMA_SUM(v[2]), "=" MMA_SUM(v[3])
                 : "l"(from)
                 : "memory");
}

/* The first function raises a flag, which publishes all writes that this thread made or observed. The second waits
 * until another thread has raised the flag. */
__device__ __forceinline__ void raise(unsigned *flag)
{
    asm volatile("fence.acq_rel.gpu;\nst.relaxed.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
}
__device__ __forceinline__ void wait_until_raised(const unsigned *flag)
{
    unsigned raised;
    do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(raised) : "l"(flag) : "memory");
    while (!raised);
}

#if OUTPUT_IS == TYPE_bf16 || OUTPUT_IS == TYPE_f16
/* Packs two values as they lie in memory, `low` first. */
__device__ __forceinline__ unsigned pack(float low, float high)
{
    unsigned both;
    asm("cvt.rn." TEXT(OUTPUT) "x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}
#endif

__device__ __forceinline__ number from_output(output v)
{
#if OUTPUT_IS == TYPE_bf16
    return __uint_as_float((unsigned)v << 16);
#elif OUTPUT_IS == TYPE_f16
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(v));
    return f;
#else
    return v;
#endif
}

} // namespace
