/* gemm_mma.cu: the parameters with their defaults, their constraints, and the sizes that follow from them. */
#pragma once

#ifndef SWEETSPOT_VARIANT
#define SWEETSPOT_VARIANT 0
#endif
#ifndef INPUT
#define INPUT bf16
#endif
#ifndef OUTPUT
#define OUTPUT bf16
#endif
#ifndef A_MAJOR
#define A_MAJOR k
#endif
#ifndef B_MAJOR
#define B_MAJOR k
#endif
#ifndef BLOCK_M
#define BLOCK_M 128
#endif
#ifndef BLOCK_N
#define BLOCK_N 256
#endif
#ifndef BLOCK_K
#define BLOCK_K 32
#endif
#ifndef WARP_M
#define WARP_M 64
#endif
#ifndef WARP_N
#define WARP_N 64
#endif
#ifndef STAGES
#define STAGES 4
#endif
#ifndef DOUBLE_BUFFER
#define DOUBLE_BUFFER 1
#endif
#ifndef RASTER
#define RASTER 8
#endif
#ifndef PERSISTENT
#define PERSISTENT 0
#endif
#ifndef WORKSPACE
#define WORKSPACE 0
#endif
#ifndef MIN_BLOCKS
#define MIN_BLOCKS 1
#endif

/* The tuner passes a choice as a bare identifier. These macros make it usable in #if; an unknown choice becomes 0. */
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)
#define TYPE_bf16 1
#define TYPE_f16 2
#define TYPE_f32 3
#define TYPE_tf32 4
#define TYPE_i8 5
#define TYPE_i32 6
#define MAJOR_k 1
#define MAJOR_m 2
#define MAJOR_n 2
#define INPUT_IS JOIN(TYPE_, INPUT)
#define OUTPUT_IS JOIN(TYPE_, OUTPUT)
#define A_MAJOR_IS JOIN(MAJOR_, A_MAJOR)
#define B_MAJOR_IS JOIN(MAJOR_, B_MAJOR)

#if INPUT_IS != TYPE_bf16 && INPUT_IS != TYPE_f16 && INPUT_IS != TYPE_tf32 && INPUT_IS != TYPE_i8
#error "INPUT must be bf16, f16, tf32 or i8"
#endif
#if INPUT_IS == TYPE_i8 && OUTPUT_IS != TYPE_i32
#error "INPUT i8 needs OUTPUT i32"
#endif
#if INPUT_IS != TYPE_i8 && OUTPUT_IS != TYPE_bf16 && OUTPUT_IS != TYPE_f16 && OUTPUT_IS != TYPE_f32
#error "OUTPUT must be bf16, f16 or f32 (with INPUT i8: i32)"
#endif
#if A_MAJOR_IS == 0 || B_MAJOR_IS == 0
#error "A_MAJOR must be k or m, B_MAJOR k or n"
#endif
#if INPUT_IS == TYPE_i8 && (A_MAJOR_IS != MAJOR_k || B_MAJOR_IS != MAJOR_k)
#error "INPUT i8 needs A_MAJOR k and B_MAJOR k: ldmatrix transposes pairs of bytes, not bytes"
#endif

#pragma nv_diag_suppress 177 /* some of the following is unused, depending on the parameters */

namespace
{

#if INPUT_IS == TYPE_tf32
typedef float input;
typedef unsigned input_bits;
#elif INPUT_IS == TYPE_i8
typedef signed char input;
typedef unsigned char input_bits;
#else
typedef unsigned short input, input_bits;
#endif
#if OUTPUT_IS == TYPE_f32
typedef float output;
#elif OUTPUT_IS == TYPE_i32
typedef int output;
#else
typedef unsigned short output;
#endif
#if INPUT_IS == TYPE_i8
typedef int number; /* the type of sums, alpha and beta */
#else
typedef float number;
#endif

constexpr int SIZE = sizeof(input), CHUNK = 16 / SIZE; /* bytes per element; elements in 16 bytes */
constexpr int WARPS_N = BLOCK_N / WARP_N, THREADS = 32 * (BLOCK_M / WARP_M) * WARPS_N;
constexpr int TILES_M = WARP_M / 16, TILES_N = WARP_N / 8; /* instructions along a warp's tile */
constexpr int GROUPS = BLOCK_K * SIZE / 32;                /* instructions along a stage's K; each takes 32 bytes */
constexpr int A_BYTES = BLOCK_M * BLOCK_K * SIZE, STAGE = A_BYTES + BLOCK_N * BLOCK_K * SIZE;

static_assert(WARP_M % 16 == 0 && WARP_N % 16 == 0, "WARP_M and WARP_N must be multiples of 16");
static_assert(BLOCK_M % WARP_M == 0 && BLOCK_N % WARP_N == 0,
              "BLOCK_M and BLOCK_N must be multiples of WARP_M and WARP_N");
static_assert(BLOCK_K * SIZE == 64 || BLOCK_K * SIZE % 128 == 0, "BLOCK_K must be 64 bytes or a multiple of 128");
static_assert(THREADS <= 1024 && THREADS % 64 == 0, "a block has at most 1024 threads, and an even number of warps");
static_assert(PERSISTENT < 2 || WORKSPACE, "PERSISTENT 2 needs WORKSPACE 1");
static_assert(STAGES >= 2, "STAGES must be at least 2");

__device__ constexpr bool fits(int block, int warp, bool k_major)
{
    return k_major || (block * SIZE % 128 == 0 && (128 % (warp * SIZE) == 0 || warp * SIZE % 128 == 0));
}
static_assert(
    fits(BLOCK_M, WARP_M, A_MAJOR_IS == MAJOR_k) && fits(BLOCK_N, WARP_N, B_MAJOR_IS == MAJOR_k),
    "M- and N-major operands need a tile of whole 128 bytes, and a warp's part that divides 128 bytes or is a "
    "multiple of them");

/* Bytes of a staged row of a warp's results, without and with the padding that avoids bank conflicts. */
constexpr int STORE_ROW = WARP_N * (int)sizeof(output), PITCH = STORE_ROW + 8 * (int)sizeof(output);
static_assert(THREADS / 32 * 8 * PITCH <= STAGE, "8 rows of each warp's results must fit into a stage");

} // namespace
