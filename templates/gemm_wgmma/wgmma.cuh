/* gemm_wgmma.cu: the tensor core's instructions. */
#pragma once

#include "parameters.cuh"

/* Operands of one instruction: BLOCK_N / 2 accumulators, two descriptors, and whether to add to the accumulators. */
#define L8(a, b, c, d, e, f, g, h) "%" #a ", %" #b ", %" #c ", %" #d ", %" #e ", %" #f ", %" #g ", %" #h
#define L0 L8(0, 1, 2, 3, 4, 5, 6, 7)
#define L1 L0 ", " L8(8, 9, 10, 11, 12, 13, 14, 15)
#define L2 L1 ", " L8(16, 17, 18, 19, 20, 21, 22, 23)
#define L3 L2 ", " L8(24, 25, 26, 27, 28, 29, 30, 31)
#define L4 L3 ", " L8(32, 33, 34, 35, 36, 37, 38, 39)
#define L5 L4 ", " L8(40, 41, 42, 43, 44, 45, 46, 47)
#define L6 L5 ", " L8(48, 49, 50, 51, 52, 53, 54, 55)
#define L7 L6 ", " L8(56, 57, 58, 59, 60, 61, 62, 63)
#define L8_ L7 ", " L8(64, 65, 66, 67, 68, 69, 70, 71)
#define L9 L8_ ", " L8(72, 73, 74, 75, 76, 77, 78, 79)
#define L10 L9 ", " L8(80, 81, 82, 83, 84, 85, 86, 87)
#define L11 L10 ", " L8(88, 89, 90, 91, 92, 93, 94, 95)
#define L12 L11 ", " L8(96, 97, 98, 99, 100, 101, 102, 103)
#define L13 L12 ", " L8(104, 105, 106, 107, 108, 109, 110, 111)
#define L14 L13 ", " L8(112, 113, 114, 115, 116, 117, 118, 119)
#define L15 L14 ", " L8(120, 121, 122, 123, 124, 125, 126, 127)
#define D8(i)                                                                                                   \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), \
        "+f"(d[i + 7])
#define D0 D8(0)
#define D1 D0, D8(8)
#define D2 D1, D8(16)
#define D3 D2, D8(24)
#define D4 D3, D8(32)
#define D5 D4, D8(40)
#define D6 D5, D8(48)
#define D7 D6, D8(56)
#define D8_ D7, D8(64)
#define D9 D8_, D8(72)
#define D10 D9, D8(80)
#define D11 D10, D8(88)
#define D12 D11, D8(96)
#define D13 D12, D8(104)
#define D14 D13, D8(112)
#define D15 D14, D8(120)
#if BLOCK_N == 8
#define MMA_LIST "%0, %1, %2, %3"
#define MMA_SUMS "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
#define MMA_REST "%4, %5"
#define MMA_ADD "%6"
#elif BLOCK_N == 16
#define MMA_LIST L0
#define MMA_SUMS D0
#define MMA_REST "%8, %9"
#define MMA_ADD "%10"
#elif BLOCK_N == 32
#define MMA_LIST L1
#define MMA_SUMS D1
#define MMA_REST "%16, %17"
#define MMA_ADD "%18"
#elif BLOCK_N == 48
#define MMA_LIST L2
#define MMA_SUMS D2
#define MMA_REST "%24, %25"
#define MMA_ADD "%26"
#elif BLOCK_N == 64
#define MMA_LIST L3
#define MMA_SUMS D3
#define MMA_REST "%32, %33"
#define MMA_ADD "%34"
#elif BLOCK_N == 80
#define MMA_LIST L4
#define MMA_SUMS D4
#define MMA_REST "%40, %41"
#define MMA_ADD "%42"
#elif BLOCK_N == 96
#define MMA_LIST L5
#define MMA_SUMS D5
#define MMA_REST "%48, %49"
#define MMA_ADD "%50"
#elif BLOCK_N == 112
#define MMA_LIST L6
#define MMA_SUMS D6
#define MMA_REST "%56, %57"
#define MMA_ADD "%58"
#elif BLOCK_N == 128
#define MMA_LIST L7
#define MMA_SUMS D7
#define MMA_REST "%64, %65"
#define MMA_ADD "%66"
#elif BLOCK_N == 144
#define MMA_LIST L8_
#define MMA_SUMS D8_
#define MMA_REST "%72, %73"
#define MMA_ADD "%74"
#elif BLOCK_N == 160
#define MMA_LIST L9
#define MMA_SUMS D9
#define MMA_REST "%80, %81"
#define MMA_ADD "%82"
#elif BLOCK_N == 176
#define MMA_LIST L10
#define MMA_SUMS D10
#define MMA_REST "%88, %89"
#define MMA_ADD "%90"
#elif BLOCK_N == 192
#define MMA_LIST L11
#define MMA_SUMS D11
#define MMA_REST "%96, %97"
#define MMA_ADD "%98"
#elif BLOCK_N == 208
#define MMA_LIST L12
#define MMA_SUMS D12
#define MMA_REST "%104, %105"
#define MMA_ADD "%106"
#elif BLOCK_N == 224
#define MMA_LIST L13
#define MMA_SUMS D13
#define MMA_REST "%112, %113"
#define MMA_ADD "%114"
#elif BLOCK_N == 240
#define MMA_LIST L14
#define MMA_SUMS D14
#define MMA_REST "%120, %121"
#define MMA_ADD "%122"
#else
#define MMA_LIST L15
#define MMA_SUMS D15
#define MMA_REST "%128, %129"
#define MMA_ADD "%130"
#endif
#if INPUT_IS == TYPE_tf32
#define MMA_SHAPE "k8.f32.tf32.tf32"
#define MMA_FLAGS ""
#else
#define MMA_SHAPE "k16.f32." TEXT(INPUT) "." TEXT(INPUT)
#if A_MAJOR_IS == MAJOR_k
#define A_FLAG ", 0"
#else
#define A_FLAG ", 1"
#endif
#if B_MAJOR_IS == MAJOR_k
#define B_FLAG ", 0"
#else
#define B_FLAG ", 1"
#endif
#define MMA_FLAGS A_FLAG B_FLAG
#endif

namespace
{

/* Enqueues d (64 x BLOCK_N) = a (64 x 32 bytes) * b' + (add ? d : 0). */
__device__ __forceinline__ void multiply(float (&d)[SUMS], unsigned long long a, unsigned long long b, int add)
{
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " MMA_ADD ", 0;\nwgmma.mma_async.sync.aligned.m64n" TEXT(BLOCK_N)
                     MMA_SHAPE " {" MMA_LIST "}, " MMA_REST ", p, 1, 1" MMA_FLAGS ";\n}"
                 : MMA_SUMS
                 : "l"(a), "l"(b), "r"(add));
}

__device__ __forceinline__ void multiply_begin()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void multiply_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int LEFT> __device__ __forceinline__ void multiply_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
}

/* Keeps the compiler from moving accumulators across this point. The compiler does not know that accumulators change
 * until the products have been waited for. */
__device__ __forceinline__ void pin(float (&d)[PARTS][SUMS])
{
#pragma unroll
    for (int p = 0; p < PARTS; p++)
#pragma unroll
        for (int i = 0; i < SUMS; i++) asm volatile("" : "+f"(d[p][i])::"memory");
}

/* The constant part of a matrix descriptor: strides in units of 16 bytes and the swizzle. K-major: `stride` is the
 * distance between groups of 8 rows. M-major: `stride` is the distance between groups of 8 lines of K, `leading` is the
 * distance between groups of 64 rows. */
__device__ __forceinline__ constexpr unsigned long long descriptor(int leading, int stride, int line_bytes)
{
    return (unsigned long long)(leading >> 4) << 16 | (unsigned long long)(stride >> 4) << 32 |
           (unsigned long long)(line_bytes == 128 ? 1 : 2) << 62;
}

__device__ __forceinline__ unsigned long long at(unsigned long long constant, unsigned address)
{
    return constant | (unsigned long long)((address & 0x3ffff) >> 4);
}

} // namespace
