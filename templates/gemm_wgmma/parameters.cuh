/* gemm_wgmma.cu: the parameters with their defaults, their constraints, and the sizes that follow from them. */
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
#ifndef PRODUCTS
#define PRODUCTS 1
#endif
#ifndef A_MAJOR
#define A_MAJOR k
#endif
#ifndef B_MAJOR
#define B_MAJOR k
#endif
#ifndef TRANSPOSE_C
#define TRANSPOSE_C 0
#endif
#ifndef MAP_C
#define MAP_C 1
#endif
#ifndef BLOCK_M
#define BLOCK_M 128
#endif
#ifndef BLOCK_N
#define BLOCK_N 256
#endif
#ifndef BLOCK_K
#define BLOCK_K 64
#endif
#ifndef STAGES
#define STAGES 4
#endif
#ifndef WARPGROUPS
#define WARPGROUPS 2
#endif
#ifndef SCHEDULE
#define SCHEDULE cooperative
#endif
#ifndef IN_FLIGHT
#define IN_FLIGHT 1
#endif
#ifndef PRODUCER_REGISTERS
#define PRODUCER_REGISTERS 40
#endif
#ifndef MIN_BLOCKS
#define MIN_BLOCKS 1
#endif
#ifndef CLUSTER_M
#define CLUSTER_M 2
#endif
#ifndef CLUSTER_N
#define CLUSTER_N 1
#endif
#ifndef SPLIT_K
#define SPLIT_K 1
#endif
#ifndef FINISH
#define FINISH cluster
#endif
#ifndef INTERLEAVE
#define INTERLEAVE 0
#endif
#ifndef FINISH_WARPS
#define FINISH_WARPS 8
#endif
#ifndef PERSISTENT
#define PERSISTENT 1
#endif
#ifndef ORDER
#define ORDER grouped
#endif
#ifndef RASTER
#define RASTER 8
#endif
#ifndef WORKSPACE
#define WORKSPACE 0
#endif
#ifndef STREAM_K
#define STREAM_K 0
#endif
#ifndef PROMOTE
#define PROMOTE 0
#endif
#ifndef STORE
#define STORE tma
#endif
#ifndef STORE_BUFFERS
#define STORE_BUFFERS 2
#endif
#ifndef DEFER
#define DEFER 0
#endif
#ifndef HINT_A
#define HINT_A 0
#endif
#ifndef HINT_B
#define HINT_B 0
#endif
#ifndef ROTATE
#define ROTATE 0
#endif
#ifndef COPY_WORDS
#define COPY_WORDS 8
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
#define ORDER_grouped 1
#define ORDER_hilbert 2
#define MAJOR_k 1
#define MAJOR_m 2
#define MAJOR_n 2
#define SCHEDULE_cooperative 1
#define SCHEDULE_pingpong 2
#define STORE_tma 1
#define STORE_rows 2
#define STORE_direct 3
#define FINISH_cluster 1
#define FINISH_two_pass 2
#define INPUT_IS JOIN(TYPE_, INPUT)
#define OUTPUT_IS JOIN(TYPE_, OUTPUT)
#define A_MAJOR_IS JOIN(MAJOR_, A_MAJOR)
#define B_MAJOR_IS JOIN(MAJOR_, B_MAJOR)
#define SCHEDULE_IS JOIN(SCHEDULE_, SCHEDULE)
#define STORE_IS JOIN(STORE_, STORE)
#define ORDER_IS JOIN(ORDER_, ORDER)
#define FINISH_IS JOIN(FINISH_, FINISH)

/* Whether a second launch adds the parts of a tile's K, and how many blocks of a cluster share a tile's K. */
#if FINISH_IS == FINISH_two_pass && SPLIT_K > 1
#define TWO_PASS 1
#define CLUSTER_K 1
#else
#define TWO_PASS 0
#define CLUSTER_K SPLIT_K
#endif

#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
#error "gemm_wgmma.cu needs sm_90a: wgmma, TMA and setmaxnreg are Hopper's own"
#endif
#if INPUT_IS != TYPE_bf16 && INPUT_IS != TYPE_f16 && INPUT_IS != TYPE_tf32
#error "INPUT must be bf16, f16 or tf32"
#endif
#if INPUT_IS == TYPE_tf32 && (A_MAJOR_IS != MAJOR_k || B_MAJOR_IS != MAJOR_k)
#error "INPUT tf32 needs A_MAJOR k and B_MAJOR k: wgmma transposes 16-bit types alone"
#endif
#if PRODUCTS != 1 && !(PRODUCTS == 3 && INPUT_IS == TYPE_tf32)
#error "PRODUCTS must be 1, or 3 with INPUT tf32"
#endif
#if ORDER_IS == 0
#error "ORDER must be grouped or hilbert"
#endif
#if OUTPUT_IS == 0 || OUTPUT_IS == TYPE_tf32
#error "OUTPUT must be bf16, f16 or f32"
#endif
#if A_MAJOR_IS == 0 || B_MAJOR_IS == 0
#error "A_MAJOR must be k or m, B_MAJOR k or n"
#endif
#if SCHEDULE_IS == 0
#error "SCHEDULE must be cooperative or pingpong"
#endif
#if STORE_IS == 0
#error "STORE must be tma, rows or direct"
#endif
#if FINISH_IS == 0
#error "FINISH must be cluster or two_pass"
#endif

#pragma nv_diag_suppress 177 /* some of the following is unused, depending on the parameters */

namespace
{

constexpr bool PINGPONG = SCHEDULE_IS == SCHEDULE_pingpong;
constexpr int OWNERS = PINGPONG ? 1 : WARPGROUPS;   /* consumers that share a tile */
constexpr int ROWS = BLOCK_M / OWNERS;              /* rows per consumer */
constexpr int PARTS = ROWS / 64;                    /* one wgmma computes 64 rows */
constexpr int SIZE = INPUT_IS == TYPE_tf32 ? 4 : 2; /* bytes per element of A or B */
constexpr int LINE = BLOCK_K * SIZE < 128 ? BLOCK_K * SIZE : 128, PANEL = LINE / SIZE;
constexpr int A_BYTES = BLOCK_M * BLOCK_K * SIZE, B_BYTES = BLOCK_N * BLOCK_K * SIZE;
constexpr int CLUSTER = CLUSTER_M * CLUSTER_N * CLUSTER_K;
constexpr int THREADS = 128 * WARPGROUPS + (PRODUCER_REGISTERS ? 128 : 32);
constexpr int RELEASES = OWNERS * (CLUSTER_M + CLUSTER_N - 1); /* arrivals that mark a stage as empty */

static_assert(BLOCK_M % (64 * OWNERS) == 0 && BLOCK_M <= 256 * (A_MAJOR_IS == MAJOR_k ? 1 : 4),
              "BLOCK_M: 64 rows for each consumer, at most 256");
static_assert(BLOCK_N == 8 || (BLOCK_N % 16 == 0 && BLOCK_N <= 256), "BLOCK_N must be 8 or a multiple of 16 up to 256");
static_assert(BLOCK_K * SIZE == 64 || BLOCK_K * SIZE % 128 == 0, "BLOCK_K must be 64 bytes or a multiple of 128");
static_assert((A_MAJOR_IS == MAJOR_k || (BLOCK_K % 64 == 0 && BLOCK_M / 64 % CLUSTER_N == 0)) &&
                  (B_MAJOR_IS == MAJOR_k || (BLOCK_K % 64 == 0 && BLOCK_N % (64 * CLUSTER_M) == 0)),
              "M- and N-major operands need BLOCK_K 64 or more, and 64 rows or columns for each block of the cluster");
static_assert(BLOCK_M % (8 * CLUSTER_N) == 0 && BLOCK_N % (8 * CLUSTER_M) == 0,
              "a cluster shares loads in units of 8 rows");
static_assert(CLUSTER_K == 1 || (CLUSTER_M * CLUSTER_N == 1 && !PERSISTENT && !PINGPONG),
              "SPLIT_K with FINISH cluster goes with neither CLUSTER_M, CLUSTER_N, PERSISTENT nor pingpong");
static_assert(CLUSTER_K == 1 || STORE_IS == STORE_direct ||
                  4 * BLOCK_M * BLOCK_N <= STAGES * SIZE * BLOCK_K * (BLOCK_M + BLOCK_N),
              "with SPLIT_K, FINISH cluster and STORE tma or rows the partial sums must fit into the stages");
static_assert(CLUSTER <= 8, "a cluster has at most 8 blocks; more parts: FINISH two_pass");
static_assert(!TWO_PASS || (WORKSPACE && !DEFER), "FINISH two_pass needs WORKSPACE 1 and no DEFER");
static_assert(!INTERLEAVE || TWO_PASS, "INTERLEAVE needs SPLIT_K and FINISH two_pass");
static_assert(FINISH_WARPS >= 1 && FINISH_WARPS <= 32, "FINISH_WARPS must be 1 to 32");
static_assert(!PINGPONG || (WARPGROUPS == 2 && PERSISTENT), "pingpong needs two consumers and PERSISTENT");
static_assert(STORE_IS != STORE_tma || MAP_C, "STORE tma needs a tensor map of C");
static_assert(PRODUCER_REGISTERS == 0 || WARPGROUPS * MIN_BLOCKS > 1,
              "with one consumer a thread has all registers it can have: PRODUCER_REGISTERS 0");
static_assert(!DEFER || (STORE_IS != STORE_direct && PERSISTENT && !PINGPONG && OUTPUT_IS != TYPE_f32),
              "DEFER needs STORE tma or rows, PERSISTENT, SCHEDULE cooperative and a 16-bit OUTPUT");
static_assert(STAGES >= 2, "STAGES must be at least 2");
static_assert(ORDER_IS != ORDER_hilbert || (RASTER & (RASTER - 1)) == 0,
              "ORDER hilbert needs a power of two as RASTER");
static_assert(!STREAM_K || (WORKSPACE && PERSISTENT && !PINGPONG && !DEFER && SPLIT_K == 1),
              "STREAM_K needs WORKSPACE 1, PERSISTENT, SCHEDULE cooperative, and neither DEFER nor SPLIT_K");
static_assert(!PROMOTE || !DEFER, "PROMOTE and DEFER do not go together");

/* A consumer stages 64 rows by STORE_COLS columns of the tile at a time, or with TRANSPOSE_C their transpose. */
#if OUTPUT_IS == TYPE_f32
typedef float output;
constexpr int STORE_COLS = BLOCK_N % 32 == 0 ? 32 : BLOCK_N % 16 == 0 ? 16 : 8;
static_assert(!TRANSPOSE_C || STORE_IS == STORE_direct, "OUTPUT f32 with TRANSPOSE_C needs STORE direct");
#else
typedef unsigned short output;
constexpr int STORE_COLS = BLOCK_N % 64 == 0 ? 64 : BLOCK_N % 32 == 0 ? 32 : BLOCK_N % 16 == 0 ? 16 : 8;
#endif
constexpr int STORE_WIDTH = (TRANSPOSE_C ? 64 : STORE_COLS) * (int)sizeof(output); /* bytes of a staged line */
constexpr int STORE_LINES = TRANSPOSE_C ? STORE_COLS : 64;
constexpr int STORE_BYTES = (64 * STORE_COLS * (int)sizeof(output) + 1023) / 1024 * 1024;

/* Registers per thread: the launch bounds' number, which setmaxnreg redistributes in units of 8. */
constexpr int LAUNCH_REGISTERS = 65536 / (MIN_BLOCKS * THREADS) / 8 * 8 > 248 ? 248
                                                                              : 65536 / (MIN_BLOCKS * THREADS) / 8 * 8;
constexpr int SHARE = (LAUNCH_REGISTERS * (WARPGROUPS + 1) - PRODUCER_REGISTERS) / WARPGROUPS / 8 * 8;
constexpr int CONSUMER_REGISTERS = SHARE > 240 ? 240 : SHARE;

constexpr int SUMS = BLOCK_N / 2; /* accumulators per thread for 64 rows */

} // namespace
