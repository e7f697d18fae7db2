/*
 * gemm_wgmma.cu: matrix products of BF16, FP16 or TF32 on Hopper's tensor cores (sm_90a): TMA loads, wgmma, FP32
 * accumulators.
 *
 *     D = alpha * A * B' + beta * C     A: M x K, B: N x K, D over C: M x N, row-major with leading dimension ldc
 *
 * with A and B as TMA sees them: a job's tensor maps say which of its buffers is A (TRANSPOSE_C swaps them), and
 * whether K is their contiguous dimension (A_MAJOR k, B_MAJOR k) or M or N is (A_MAJOR m, B_MAJOR n; 16-bit types
 * alone). Any M, N, K >= 1: TMA reads zeros outside, and writes nothing there. Sums are FP32 in the tensor core's
 * order. beta = 0: C is not read.
 *
 * INPUT tf32: A and B are FP32, of which the tensor cores read the upper 19 bits; a tensor map with convert = "tf32"
 * rounds instead of cutting off. PRODUCTS 3: FP32 from three products of TF32 (Ootomo and Yokota 2022). a = high +
 * low, high the 19 bits that the tensor cores read of a itself, low the rest (gemm_split writes it); K is walked
 * three times, over high*low, low*high and high*high, the small terms first; low*low, 2^-20 of the whole at most, is
 * left out. The tensor cores' additions cut off instead of rounding, so that errors grow with K: PROMOTE n adds their
 * sums to others, with rounding, every n steps. An Inf in A or B may give NaN.
 *
 * A block has WARPGROUPS warpgroups that multiply ("consumers") and one that loads (or one warp,
 * PRODUCER_REGISTERS 0). A ring of STAGES buffers in shared memory connects them, each with two mbarriers: full (the
 * bytes have come) and empty (all who read them have done so, in every block of the cluster that was sent a part of
 * them).
 *
 *     stage    | A: BLOCK_M x BLOCK_K | x STAGES   | B: BLOCK_N x BLOCK_K | x STAGES    | store buffers | barriers
 *     K-major    panels of LINE = min(BLOCK_K * SIZE, 128) bytes of a row, each BLOCK_M rows, swizzled over LINE
 *                bytes; SIZE: an element's, 2 or 4
 *     M-major    panels of 64 rows of A, each BLOCK_K lines of 128 bytes, swizzled over 128 bytes
 *
 * cooperative: all consumers share a tile, each has BLOCK_M / WARPGROUPS rows. pingpong: two consumers take turns,
 * each has a tile of its own, so that one multiplies while the other stores; the ring's order is what makes them
 * alternate.
 *
 * Clusters: CLUSTER_M blocks one below the other need the same part of B, each loads a share and sends it to all;
 * likewise CLUSTER_N and A.
 *
 * SPLIT_K divides a tile's K into parts. FINISH cluster: its parts are the blocks of a cluster, which add their sums
 * through distributed shared memory in a fixed order. FINISH two_pass: any number of parts, each by a cluster of its
 * own, which leaves its sums in the workspace; a second launch, gemm_wgmma_finish, adds them in the order of the
 * parts, on many blocks, and may overlap the first one's end. With two_pass the grid's y says how many parts there
 * are: fewer where the workspace holds no more, and if it is 1 the first launch stores C itself.
 *
 *     workspace | part 0: | tile 0: block 0 of its cluster, 1, ... | tile 1 | ... | part 1 | ...
 *                 a block's: [sum / 4][thread][4], as the threads hold them
 *
 * STREAM_K: the tiles that would leave the last wave unfilled are divided among all clusters in equal numbers of
 * steps (Osama et al., Stream-K, 2023). The block with a tile's first steps waits for the others' sums, which they
 * leave in the workspace, and adds them in the order of K; they never wait. So all blocks must be resident, and
 * `counts` must be 0 at first, as each launch leaves it.
 *
 * Launches
 *
 *     gemm_wgmma  (map A, map B, maps of A's and B's low parts (PRODUCTS 3), map C (MAP_C 1), C, int M, int N, int K,
 *                  float alpha, float beta, long long ldc, float *workspace, unsigned *counts (both: WORKSPACE 1))
 *         CLUSTER    CLUSTER_M * CLUSTER_N, FINISH cluster: times SPLIT_K (one of the two kinds must be 1)
 *         tiles      ceil_div(M, BLOCK_M * CLUSTER_M) * ceil_div(N, BLOCK_N * CLUSTER_N)
 *         grid       CLUSTER * (PERSISTENT ? min(tiles, clusters that fit at once) : tiles);   cluster  CLUSTER
 *                    FINISH two_pass: by parts, 1 <= parts <= SPLIT_K
 *         block      128 * WARPGROUPS + (PRODUCER_REGISTERS ? 128 : 32)
 *         shared     1024 + STAGES * SIZE * BLOCK_K * (BLOCK_M + BLOCK_N)
 *                    + (STORE direct ? 0 : WARPGROUPS * STORE_BUFFERS * STORE_BYTES) + BARRIERS,
 *                    and with SPLIT_K and FINISH cluster at least 1024 + 4 * BLOCK_M * BLOCK_N + BARRIERS;
 *                    STORE_BYTES: below; BARRIERS 16 * STAGES + (STORE tma ? 8 * WARPGROUPS * STORE_BUFFERS : 0)
 *         maps       A: box BLOCK_M / CLUSTER_N by PANEL = LINE / SIZE (M-major: BLOCK_K by 64), swizzle as above;
 *                    B: likewise, BLOCK_N / CLUSTER_M;
 *                    C: box 64 by STORE_COLS, or STORE_COLS by 64 with TRANSPOSE_C; swizzle: the box's inner bytes
 *                    (16: none)
 *         workspace  STREAM_K: BLOCK_M * BLOCK_N floats a block; counts: WARPGROUPS a block
 *                    two_pass: parts * tiles * CLUSTER * BLOCK_M * BLOCK_N floats, aligned to 16 bytes, if parts > 1
 *     gemm_wgmma_finish  (C, int M, int N, float alpha, float beta, long long ldc, int parts, const float *workspace)
 *         the second launch of FINISH two_pass
 *         grid       tiles * CLUSTER by BLOCK_M * BLOCK_N / 128;   block  32 * FINISH_WARPS;   nothing happens if parts
 *                    is 1
 *     gemm_align  (A, rows, ld, to, ld_to; the same of B; int K)
 *         copies both so that rows begin at multiples of 16 bytes, which TMA needs
 *         grid       ceil_div((rows_a + rows_b) * ceil_div(K, 64 * COPY_WORDS), 8);   block  256
 *     gemm_split  (A, rows, low part of A; the same of B; int K, long long ld)
 *         the low parts for PRODUCTS 3; all rows ld floats apart, a multiple of 4
 *         grid       ceil_div((rows_a + rows_b) * ceil_div(K, 32 * COPY_WORDS), 8);   block  256
 *
 * Parameters (macros; each has a default)
 *
 *     INPUT, OUTPUT        bf16, f16 or tf32; bf16, f16 or f32
 *     PRODUCTS             1 or 3 (INPUT tf32)
 *     BLOCK_M              rows of a tile: a multiple of 64 for each consumer that works on it
 *     BLOCK_N              columns: 8, or a multiple of 16 up to 256
 *     BLOCK_K              64 bytes of a row, or a multiple of 128; 64 elements or more where an operand is M- or
 *                          N-major
 *     WARPGROUPS           consumers, 1 to 3; SCHEDULE pingpong: 2
 *     IN_FLIGHT            0: every stage's products are waited for; 1: a stage is given back when the next one's are
 *                          under way
 *     PRODUCER_REGISTERS   what setmaxnreg leaves a loading thread: 24 to 40; the consumers share the rest; 0: one
 *                          loading warp
 *     MIN_BLOCKS           blocks per SM that the registers must suffice for
 *     PERSISTENT           1: as many clusters as fit at once go through all tiles, loading ahead; 0: a cluster for
 *                          each tile
 *     CLUSTER_M, CLUSTER_N, SPLIT_K   see above; a cluster has at most 8 blocks
 *     FINISH               cluster or two_pass: who adds the parts, see above; two_pass needs WORKSPACE 1, and
 *                          neither STREAM_K nor DEFER
 *     INTERLEAVE           of two_pass, 0: a part is consecutive steps along K; 1: part i has steps i, i + parts,
 *                          ..., so that what is read at one time lies close together in A's and B's rows
 *     FINISH_WARPS         of gemm_wgmma_finish: warps that share the parts of the same sums, 1 to 32
 *     ORDER, RASTER        grouped: consecutive tiles go through RASTER rows of tiles, column by column; hilbert:
 *                          through squares of RASTER tiles, a power of two, along a Hilbert curve (what is left at
 *                          the edges: grouped)
 *     STREAM_K             1: the last wave's tiles are divided if it is not full; 2: those of the last full wave
 *                          too; needs WORKSPACE 1, PERSISTENT, cooperative, no DEFER
 *     PROMOTE              0; n: see above; the tile's sums take twice the registers
 *     STORE                tma: through shared memory by TMA (C's rows must be multiples of 16 bytes: it writes no
 *                          less); rows: through shared memory, whole rows by each warp (any ldc); direct: from
 *                          registers (any ldc)
 *     STORE_BUFFERS        of 64 by STORE_COLS elements, for each consumer: 1 or more. With beta and STORE tma the
 *                          old C comes through them too, as much of it as they hold while the products are still
 *                          being summed
 *     DEFER                1: a tile's results wait in registers, as OUTPUT, and are stored during the first steps of
 *                          the next tile; needs STORE tma or rows, PERSISTENT, cooperative and a 16-bit OUTPUT
 *     HINT_A, HINT_B       0; 1: the L2 may drop it first; 2: the L2 should keep it
 *     ROTATE               0; n: tile i begins its sums i*n steps further along K and comes round, so that blocks
 *                          that need the same rows do not all ask for the same lines at once
 *     COPY_WORDS           4-byte words that a lane of gemm_align or gemm_split has in flight; of gemm_split a
 *                          multiple of 4
 *
 * SWEETSPOT_VARIANT (set by `sweetspot limiter`): 0 the kernel; 1 memory alone: nothing is multiplied; 2 arithmetic
 * alone: nothing is loaded.
 *
 * Sources: PTX ISA 9.0, sections on wgmma (fragments, matrix descriptors), cp.async.bulk.tensor, mbarrier,
 * setmaxnreg. Ootomo and Yokota, Recovering single precision accuracy from Tensor Cores while surpassing the FP32
 * theoretical peak performance, IJHPCA 36, 2022. Fasi, Higham, Mikaitis and Pranesh, Numerical behavior of NVIDIA
 * tensor cores, PeerJ Computer Science 7, 2021.
 */

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

/* The tuner passes a choice as a bare identifier; these make it comparable in #if. An unknown one is 0. */
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

/* Parts of a tile's K that other launches add, and blocks of a cluster that share a tile's K. */
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

#pragma nv_diag_suppress 177 /* which of what follows is used depends on the parameters */

namespace
{

constexpr bool PINGPONG = SCHEDULE_IS == SCHEDULE_pingpong;
constexpr int OWNERS = PINGPONG ? 1 : WARPGROUPS;   /* consumers that share a tile */
constexpr int ROWS = BLOCK_M / OWNERS;              /* of a consumer */
constexpr int PARTS = ROWS / 64;                    /* wgmma is 64 rows high */
constexpr int SIZE = INPUT_IS == TYPE_tf32 ? 4 : 2; /* of an element of A or B */
constexpr int LINE = BLOCK_K * SIZE < 128 ? BLOCK_K * SIZE : 128, PANEL = LINE / SIZE;
constexpr int A_BYTES = BLOCK_M * BLOCK_K * SIZE, B_BYTES = BLOCK_N * BLOCK_K * SIZE;
constexpr int CLUSTER = CLUSTER_M * CLUSTER_N * CLUSTER_K;
constexpr int THREADS = 128 * WARPGROUPS + (PRODUCER_REGISTERS ? 128 : 32);
constexpr int RELEASES = OWNERS * (CLUSTER_M + CLUSTER_N - 1); /* arrivals that empty a stage */

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

/* What a consumer stages at a time: 64 rows by STORE_COLS columns of the tile, or with TRANSPOSE_C their transpose. */
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

/* Registers a thread: what the launch bounds give, shared out anew by setmaxnreg in units of 8. */
constexpr int LAUNCH_REGISTERS = 65536 / (MIN_BLOCKS * THREADS) / 8 * 8 > 248 ? 248
                                                                              : 65536 / (MIN_BLOCKS * THREADS) / 8 * 8;
constexpr int SHARE = (LAUNCH_REGISTERS * (WARPGROUPS + 1) - PRODUCER_REGISTERS) / WARPGROUPS / 8 * 8;
constexpr int CONSUMER_REGISTERS = SHARE > 240 ? 240 : SHARE;

struct alignas(64) tensor_map {
    unsigned long long opaque[16];
};

/* ---- barriers, copies -------------------------------------------------------------------------------------------- */

__device__ __forceinline__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ __forceinline__ unsigned cluster_rank()
{
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ __forceinline__ void cluster_sync()
{
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

__device__ __forceinline__ void barrier_init(unsigned barrier, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

__device__ __forceinline__ void barrier_expect(unsigned barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ __forceinline__ void barrier_arrive(unsigned barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/* The same barrier of another block of the cluster. Without .cluster: what is released are reads by wgmma that have
 * been waited for, and a fence of cluster scope in every step made the whole product three times slower. */
__device__ __forceinline__ void barrier_arrive_at(unsigned barrier, unsigned rank)
{
    asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(barrier),
                 "r"(rank)
                 : "memory");
}

__device__ __forceinline__ void barrier_wait(unsigned barrier, unsigned parity)
{
    asm volatile("{\n.reg .pred done;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@done bra "
                 "READY;\nbra AGAIN;\nREADY:\n}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

/* The threads of consumer `group`. */
__device__ __forceinline__ void group_sync(int group)
{
    asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
}

/* pingpong: a consumer's steps along K begin when the other's have all been loaded. A barrier's parity tells only one
 * round of the ring from the next, so a consumer must not look at a stage that is the other's. */
__device__ __forceinline__ void turn_begin(int group)
{
    asm volatile("bar.sync %0, 256;" ::"r"(group + 8) : "memory");
}

__device__ __forceinline__ void turn_end(int group)
{
    asm volatile("bar.arrive %0, 256;" ::"r"(9 - group) : "memory");
}

template <int HINT> __device__ __forceinline__ unsigned long long cache_policy()
{
    unsigned long long policy = 0;
    if constexpr (HINT == 1) asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    if constexpr (HINT == 2) asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

/* A box from (x, y) of the map to shared memory; with PEERS > 1 to the same place in every block of `mask`. x: the
 * contiguous dimension. */
template <int PEERS, int HINT>
__device__ __forceinline__ void load_box(unsigned to, const tensor_map *map, int x, int y, unsigned barrier,
                                         unsigned short mask, unsigned long long policy)
{
    if constexpr (PEERS > 1 && HINT)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster."
                     "L2::cache_hint [%0], [%1, {%2, %3}], [%4], "
                     "%5, %6;" ::"r"(to),
                     "l"(map), "r"(x), "r"(y), "r"(barrier), "h"(mask), "l"(policy)
                     : "memory");
    else if constexpr (PEERS > 1)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                     "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
                     "l"(map), "r"(x), "r"(y), "r"(barrier), "h"(mask)
                     : "memory");
    else if constexpr (HINT)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], "
                     "[%1, {%2, %3}], [%4], %5;" ::"r"(to),
                     "l"(map), "r"(x), "r"(y), "r"(barrier), "l"(policy)
                     : "memory");
    else
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
                "r"(to),
            "l"(map), "r"(x), "r"(y), "r"(barrier)
            : "memory");
}

__device__ __forceinline__ void store_box(const tensor_map *map, unsigned from, int x, int y)
{
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];\ncp.async.bulk.commit_group;" ::
            "l"(map),
        "r"(x), "r"(y), "r"(from)
        : "memory");
}

template <int LEFT> __device__ __forceinline__ void stores_read()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(LEFT) : "memory");
}

#if TWO_PASS
/* For launches that may overlap (programmatic dependent launch): waits until the launch before has ended and its
 * writes are seen; says that the launch after may begin, which it does when all blocks have said so. Nothing happens
 * where launches do not overlap. */
__device__ __forceinline__ void wait_for_launch_before()
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

__device__ __forceinline__ void let_launch_after_begin()
{
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
#endif

/* ---- wgmma ------------------------------------------------------------------------------------------------------- */

/* Operand lists of one instruction: BLOCK_N / 2 accumulators, then the two descriptors and whether to add to them. */
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

constexpr int SUMS = BLOCK_N / 2; /* accumulators of a thread for 64 rows */

/* d (64 x BLOCK_N) = a (64 x 32 bytes) * b' + (add ? d : 0), enqueued. */
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

/* Keeps the compiler from moving accumulators across: it does not know that they change until they are waited for. */
__device__ __forceinline__ void pin(float (&d)[PARTS][SUMS])
{
#pragma unroll
    for (int p = 0; p < PARTS; p++)
#pragma unroll
        for (int i = 0; i < SUMS; i++) asm volatile("" : "+f"(d[p][i])::"memory");
}

/* The constant part of a matrix descriptor: strides in units of 16 bytes and the swizzle. K-major: `stride` is that
 * of 8 rows; M-major: of 8 lines of K, and `leading` that of 64 rows. */
__device__ __forceinline__ constexpr unsigned long long descriptor(int leading, int stride, int line_bytes)
{
    return (unsigned long long)(leading >> 4) << 16 | (unsigned long long)(stride >> 4) << 32 |
           (unsigned long long)(line_bytes == 128 ? 1 : 2) << 62;
}

__device__ __forceinline__ unsigned long long at(unsigned long long constant, unsigned address)
{
    return constant | (unsigned long long)((address & 0x3ffff) >> 4);
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

struct problem {
    int m, n, k, tiles_m, tiles_n, tiles;
    int first, steps; /* of every tile along K: this block's */
    int alone; /* tiles that a cluster computes from the first step to the last; the others are divided (STREAM_K) */
};

/* Row and column of a cluster's tile, in units of clusters' tiles. The first load waits for this, hence one division
 * but at the lower edge. */
__device__ __forceinline__ void place(const problem &p, int tile, int &row, int &col)
{
    const int band = RASTER * p.tiles_n, number = (unsigned)tile / (unsigned)band, first = number * RASTER,
              rest = tile - number * band;
    const int rows = min(RASTER, p.tiles_m - first);
    col = rows == RASTER ? (unsigned)rest / RASTER : (unsigned)rest / (unsigned)rows;
    row = first + rest - col * rows;
#if ORDER_IS == ORDER_hilbert
    const int square = col / RASTER;
    if (rows < RASTER || (square + 1) * RASTER > p.tiles_n) return;
    /* From the curve's place to the square's: two bits a time, the lowest first. It ends beside the next square's
     * beginning. */
    int at = rest - square * RASTER * RASTER, x = 0, y = 0;
#pragma unroll
    for (int side = 1; side < RASTER; side *= 2, at /= 4) {
        const int right = at / 2 & 1, up = (at ^ right) & 1;
        if (!up) {
            if (right) {
                x = side - 1 - x;
                y = side - 1 - y;
            }
            const int swap = x;
            x = y;
            y = swap;
        }
        x += side * right;
        y += side * up;
    }
    row = first + y;
    col = square * RASTER + x;
#endif
}

/* Steps of a tile that a cluster has: all, or with STREAM_K a part. */
struct piece {
    int tile, first, count;
};

/* The pieces of a cluster, one after the other. */
struct walk {
    int tile;    /* the next that it has alone */
    int at, end; /* STREAM_K: its part of the steps of all divided tiles */
};

__device__ __forceinline__ int stream_begin(const problem &p, int cluster)
{
    return (int)((long long)(p.tiles - p.alone) * p.steps * cluster / (gridDim.x / CLUSTER));
}

__device__ __forceinline__ walk walk_begin(const problem &p)
{
    const int cluster = blockIdx.x / CLUSTER;
    walk w = {cluster, 0, 0};
    if (STREAM_K) {
        w.at = stream_begin(p, cluster);
        w.end = stream_begin(p, cluster + 1);
    }
    return w;
}

__device__ __forceinline__ bool walk_next(const problem &p, walk &w, piece &next)
{
    if (w.tile < p.alone) {
        next = {w.tile, p.first, p.steps};
        w.tile += PERSISTENT ? gridDim.x / CLUSTER : p.alone;
        return true;
    }
#if STREAM_K
    if (w.at < w.end) {
        const int first = w.at % p.steps;
        next = {p.alone + w.at / p.steps, first, min(p.steps - first, w.end - w.at)};
        w.at += next.count;
        return true;
    }
#endif
    return false;
}

__device__ __forceinline__ float from_output(output v)
{
#if OUTPUT_IS == TYPE_f32
    return v;
#elif OUTPUT_IS == TYPE_bf16
    return __uint_as_float((unsigned)v << 16);
#else
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(v));
    return f;
#endif
}

#if OUTPUT_IS != TYPE_f32
/* Two values as they lie in memory, `low` first. */
__device__ __forceinline__ unsigned pack(float low, float high)
{
    unsigned both;
    asm("cvt.rn." TEXT(OUTPUT) "x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}
#endif

/* Where a consumer's results go. */
struct target {
    output *c;
    long long ldc;
    int m, n;
    float alpha, beta;
    const tensor_map *map;
    int group;        /* the consumer */
    unsigned buffers; /* its store buffers */
    unsigned loaded;  /* STORE tma: a barrier a buffer: the old C has come into it */
    unsigned phases;  /* those barriers' parities, a bit each */
};

__device__ __forceinline__ output *element(const target &t, int row, int col)
{
    return t.c + (TRANSPOSE_C ? col * t.ldc + row : row * t.ldc + col);
}

/* Whether two neighbouring elements of a row can be accessed at once. */
__device__ __forceinline__ bool in_pairs(const target &t)
{
    return !TRANSPOSE_C && t.ldc % 2 == 0 && ((unsigned long long)t.c & (2 * sizeof(output) - 1)) == 0;
}

/* alpha * sum + beta * C: in place, for N of a thread's elements. Element j*4 + h*2 + e of part p lies at row 64*p +
 * 8*h + lane/4 (of its warp's 16) and column 8*j + 2*(lane%4) + e; `row` and `col` are those of the first. C is read
 * in this order. */
template <int N> __device__ __forceinline__ void scale_sums(float *d, const target &t, int row, int col)
{
#pragma unroll
    for (int i = 0; i < N; i++) d[i] *= t.alpha;
    if (t.beta == 0) return;
    const bool pairs = in_pairs(t);
#pragma unroll
    for (int i = 0; i < N; i += 2) {
        const int r = row + i / 2 % 2 * 8, c = col + i / 4 * 8;
        if (r >= t.m) continue;
        if (pairs && c + 1 < t.n) {
#if OUTPUT_IS == TYPE_f32
            const float2 old = *reinterpret_cast<const float2 *>(element(t, r, c));
            d[i] += t.beta * old.x;
            d[i + 1] += t.beta * old.y;
#else
            const unsigned old = *reinterpret_cast<const unsigned *>(element(t, r, c));
            d[i] += t.beta * from_output((output)old);
            d[i + 1] += t.beta * from_output((output)(old >> 16));
#endif
            continue;
        }
        if (c < t.n) d[i] += t.beta * from_output(*element(t, r, c));
        if (c + 1 < t.n) d[i + 1] += t.beta * from_output(*element(t, r, c + 1));
    }
}

#if STORE_IS == STORE_direct || TWO_PASS
/* Elements from registers, those of columns 8*j to 8*j+7. `row` and `col` are the thread's first. */
__device__ __forceinline__ void store_direct(const float *d, const target &t, int row, int col, bool pairs)
{
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const int r = row + 8 * h;
        if (r >= t.m) continue;
#if OUTPUT_IS == TYPE_f32
        if (pairs && col + 1 < t.n) {
            *reinterpret_cast<float2 *>(element(t, r, col)) = make_float2(d[2 * h], d[2 * h + 1]);
            continue;
        }
        if (col < t.n) *element(t, r, col) = d[2 * h];
        if (col + 1 < t.n) *element(t, r, col + 1) = d[2 * h + 1];
#else
        const unsigned both = pack(d[2 * h], d[2 * h + 1]);
        if (pairs && col + 1 < t.n) {
            *reinterpret_cast<unsigned *>(element(t, r, col)) = both;
            continue;
        }
        if (col < t.n) *element(t, r, col) = (output)both;
        if (col + 1 < t.n) *element(t, r, col + 1) = (output)(both >> 16);
#endif
    }
}
#endif

#if STORE_IS != STORE_direct
/* Where 16 bytes of a staged line lie: TMA's swizzle over the line's width. */
__device__ __forceinline__ unsigned staged(int line, int bytes)
{
    constexpr unsigned MASK = STORE_WIDTH >= 128 ? 7 : STORE_WIDTH == 64 ? 3 : STORE_WIDTH == 32 ? 1 : 0;
    const unsigned offset = (unsigned)(line * STORE_WIDTH + bytes);
    return offset ^ ((offset >> 7 & MASK) << 4);
}

constexpr int CHUNKS = BLOCK_N / STORE_COLS; /* of 64 rows; what is staged at a time */
constexpr int CHUNK_SUMS = STORE_COLS / 2;   /* of a thread */
/* What a thread stores of a chunk: words of one f32 or two 16-bit elements, in the order of its sums. */
constexpr int WORDS = OUTPUT_IS == TYPE_f32 ? CHUNK_SUMS : CHUNK_SUMS / 2;

__device__ __forceinline__ void encode(unsigned *v, const float *d)
{
#pragma unroll
    for (int i = 0; i < WORDS; i++)
#if OUTPUT_IS == TYPE_f32
        v[i] = __float_as_uint(d[i]);
#else
        v[i] = pack(d[2 * i], d[2 * i + 1]);
#endif
}

#if OUTPUT_IS == TYPE_f32
/* Where a thread's sums 4*j + 2*h and the next lie in the buffer. */
__device__ __forceinline__ unsigned pair_address(unsigned buffer, int j, int h, int warp, int lane)
{
    return buffer + staged(warp * 16 + lane / 4 + 8 * h, (8 * j + 2 * (lane % 4)) * 4);
}
#else
/* The line that a lane names to stmatrix and ldmatrix for columns 16*j to 16*j + 15 of its warp's 16 rows; with 8
 * columns, of these. */
__device__ __forceinline__ unsigned matrix_address(unsigned buffer, int j, int warp, int lane)
{
    const int matrix = lane / 8, line = lane % 8, low = warp * 16 + matrix % 2 * 8,
              right = 16 * j + (STORE_COLS == 8 ? 0 : matrix / 2 * 8);
    return buffer + (TRANSPOSE_C ? staged(right + line, low * 2) : staged(low + line, right * 2));
}
#if TRANSPOSE_C
#define TRANSPOSED ".trans"
#else
#define TRANSPOSED ""
#endif
#endif

/* A warp's 16 rows of a chunk into the buffer. */
__device__ __forceinline__ void stage(unsigned buffer, const unsigned *v, int warp, int lane)
{
#if OUTPUT_IS == TYPE_f32
#pragma unroll
    for (int j = 0; j < STORE_COLS / 8; j++)
#pragma unroll
        for (int h = 0; h < 2; h++)
            asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(pair_address(buffer, j, h, warp, lane)),
                         "r"(v[4 * j + 2 * h]), "r"(v[4 * j + 2 * h + 1])
                         : "memory");
#else
    if constexpr (STORE_COLS == 8) {
        asm volatile("stmatrix.sync.aligned.m8n8.x2" TRANSPOSED
                     ".shared.b16 [%0], {%1, %2};" ::"r"(matrix_address(buffer, 0, warp, lane)),
                     "r"(v[0]), "r"(v[1])
                     : "memory");
    } else {
#pragma unroll
        for (int j = 0; j < STORE_COLS / 16; j++)
            asm volatile("stmatrix.sync.aligned.m8n8.x4" TRANSPOSED
                         ".shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(matrix_address(buffer, j, warp, lane)),
                         "r"(v[4 * j]), "r"(v[4 * j + 1]), "r"(v[4 * j + 2]), "r"(v[4 * j + 3])
                         : "memory");
    }
#endif
}

/* Adds beta times the old C, which lies in the buffer as stage() would put it, to a thread's sums of a chunk. */
__device__ __forceinline__ void add_old(float *d, unsigned buffer, float beta, int warp, int lane)
{
#if OUTPUT_IS == TYPE_f32
#pragma unroll
    for (int j = 0; j < STORE_COLS / 8; j++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float old[2];
            asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                         : "=f"(old[0]), "=f"(old[1])
                         : "r"(pair_address(buffer, j, h, warp, lane))
                         : "memory");
            d[4 * j + 2 * h] += beta * old[0];
            d[4 * j + 2 * h + 1] += beta * old[1];
        }
#else
#pragma unroll
    for (int j = 0; j < (STORE_COLS + 15) / 16; j++) {
        unsigned old[4];
        if constexpr (STORE_COLS == 8)
            asm volatile("ldmatrix.sync.aligned.m8n8.x2" TRANSPOSED ".shared.b16 {%0, %1}, [%2];"
                         : "=r"(old[0]), "=r"(old[1])
                         : "r"(matrix_address(buffer, j, warp, lane))
                         : "memory");
        else
            asm volatile("ldmatrix.sync.aligned.m8n8.x4" TRANSPOSED ".shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(old[0]), "=r"(old[1]), "=r"(old[2]), "=r"(old[3])
                         : "r"(matrix_address(buffer, j, warp, lane))
                         : "memory");
#pragma unroll
        for (int i = 0; i < (STORE_COLS == 8 ? 2 : 4); i++) {
            d[8 * j + 2 * i] += beta * from_output((output)old[i]);
            d[8 * j + 2 * i + 1] += beta * from_output((output)(old[i] >> 16));
        }
    }
#endif
    __syncwarp();
}

#if STORE_IS == STORE_rows
/* Staged lines to C, a line at a time by each warp. x, y: of the buffer's first element, x along C's rows. */
__device__ __forceinline__ void store_rows(const target &t, unsigned buffer, int x, int y, int warp, int lane)
{
    constexpr int COLS = STORE_WIDTH / (int)sizeof(output);
    const int lines = TRANSPOSE_C ? t.n : t.m, cols = min(COLS, (TRANSPOSE_C ? t.m : t.n) - x);
    for (int line = warp; line < STORE_LINES && y + line < lines; line += 4) {
        output *to = t.c + (y + line) * t.ldc + x;
#if OUTPUT_IS == TYPE_f32
        float v;
        if (lane >= cols) continue;
        asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(buffer + staged(line, lane / 4 * 16) + lane % 4 * 4));
        to[lane] = v;
#else
        /* Words of two elements; where the row begins in the middle of a word, each lane's second with the next
         * lane's first. */
        unsigned v = 0;
        if (2 * lane < COLS)
            asm volatile("ld.shared.u32 %0, [%1];"
                         : "=r"(v)
                         : "r"(buffer + staged(line, lane / 4 * 16) + lane % 4 * 4));
        const bool odd = (unsigned long long)to & 2;
        const unsigned next = __shfl_down_sync(0xffffffffu, v, 1);
        if (odd) {
            if (lane == 0 && cols > 0) to[0] = (output)v;
            v = v >> 16 | next << 16;
        }
        const int first = 2 * lane + odd;
        if (first + 1 < cols)
            *reinterpret_cast<unsigned *>(to + first) = v;
        else if (first < cols)
            to[first] = (output)v;
#endif
    }
}

/* The reverse: the old C into the buffer. */
__device__ __forceinline__ void load_rows(const target &t, unsigned buffer, int x, int y, int warp, int lane)
{
    constexpr int COLS = STORE_WIDTH / (int)sizeof(output), EACH = 4 / (int)sizeof(output); /* elements of a word */
    const int lines = TRANSPOSE_C ? t.n : t.m, cols = min(COLS, (TRANSPOSE_C ? t.m : t.n) - x);
    unsigned v[STORE_LINES / 4];
#pragma unroll
    for (int i = 0; i < STORE_LINES / 4; i++) {
        const int line = warp + 4 * i;
        const output *from = t.c + (y + line) * t.ldc + x;
        v[i] = 0;
        if (y + line >= lines) continue;
#if OUTPUT_IS == TYPE_f32
        if (lane < cols) v[i] = __float_as_uint(from[lane]);
#else
        if (2 * lane < cols) v[i] = from[2 * lane];
        if (2 * lane + 1 < cols) v[i] |= (unsigned)from[2 * lane + 1] << 16;
#endif
    }
#pragma unroll
    for (int i = 0; i < STORE_LINES / 4; i++)
        if (EACH * lane < COLS)
            asm volatile("st.shared.u32 [%0], %1;" ::"r"(buffer + staged(warp + 4 * i, lane / 4 * 16) + lane % 4 * 4),
                         "r"(v[i])
                         : "memory");
}
#endif
#endif

#if STORE_IS != STORE_direct
/* A chunk of a consumer's part of a tile, whose rows begin at `row` and columns at `col`. */
struct chunk_place {
    int x, y; /* of its first element in C; x along C's rows */
};

__device__ __forceinline__ chunk_place place_chunk(int p, int chunk, int row, int col)
{
    const int r = row + 64 * p, c = col + chunk * STORE_COLS;
    return TRANSPOSE_C ? chunk_place{r, c} : chunk_place{c, r};
}

__device__ __forceinline__ unsigned chunk_buffer(const target &t, int slot)
{
    return t.buffers + slot % STORE_BUFFERS * STORE_BYTES;
}

/* Waits until the buffer of a tile's chunk number `slot`, in the order of storing, is free. */
__device__ __forceinline__ void free_buffer(const target &t, int slot)
{
#if STORE_IS == STORE_tma
    if (threadIdx.x % 128 == 0) {
        if (slot == 0)
            stores_read<0>(); /* the last tile's last may be in this buffer */
        else
            stores_read<STORE_BUFFERS - 1>();
    }
    group_sync(t.group);
#else
    if (slot == 0 || STORE_BUFFERS == 1) group_sync(t.group);
#endif
}

/* Staged words to C. */
__device__ __forceinline__ void send_chunk(const unsigned *words, int slot, const target &t, const chunk_place &at)
{
    const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    const unsigned buffer = chunk_buffer(t, slot);
    stage(buffer, words, warp, lane);
#if STORE_IS == STORE_tma
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    group_sync(t.group);
    if (threadIdx.x % 128 == 0) store_box(t.map, buffer, at.x, at.y);
#else
    group_sync(t.group);
    store_rows(t, buffer, at.x, at.y, warp, lane);
#endif
}

#if STORE_IS == STORE_tma
/* One thread: the old C of a chunk into its buffer, which must be free. */
__device__ __forceinline__ void load_old(const target &t, int slot, const chunk_place &at)
{
    const unsigned barrier = t.loaded + slot % STORE_BUFFERS * 8;
    barrier_expect(barrier, 64 * STORE_COLS * (int)sizeof(output));
    load_box<1, 0>(chunk_buffer(t, slot), t.map, at.x, at.y, barrier, 0, 0);
}

/* As much of a tile's old C as the buffers hold, before it is needed. */
__device__ __forceinline__ void load_old_ahead(const target &t, int row, int col)
{
    if (t.beta == 0 || threadIdx.x % 128) return;
    stores_read<0>();
#pragma unroll
    for (int slot = 0; slot < STORE_BUFFERS && slot < PARTS * CHUNKS; slot++)
        load_old(t, slot, place_chunk(slot / CHUNKS, slot % CHUNKS, row, col));
}
#endif

/* alpha * sums + beta * C of part p's chunk to C. `d`: the chunk's sums; AHEAD: what load_old_ahead began is
 * continued. */
template <bool AHEAD>
__device__ __forceinline__ void store_chunk(float *d, int p, int chunk, int slot, target &t, int row, int col)
{
    const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    const unsigned buffer = chunk_buffer(t, slot);
    const chunk_place at = place_chunk(p, chunk, row, col);
    unsigned words[WORDS];
#pragma unroll
    for (int i = 0; i < CHUNK_SUMS; i++) d[i] *= t.alpha;
    if (t.beta == 0) {
        free_buffer(t, slot);
    } else {
#if STORE_IS == STORE_tma
        if (!AHEAD) {
            free_buffer(t, slot);
            if (threadIdx.x % 128 == 0) load_old(t, slot, at);
        }
        barrier_wait(t.loaded + slot % STORE_BUFFERS * 8, t.phases >> slot % STORE_BUFFERS & 1);
        t.phases ^= 1u << slot % STORE_BUFFERS;
#else
        free_buffer(t, slot);
        load_rows(t, buffer, at.x, at.y, warp, lane);
        group_sync(t.group);
#endif
        add_old(d, buffer, t.beta, warp, lane);
    }
    encode(words, d);
    send_chunk(words, slot, t, at);
#if STORE_IS == STORE_tma
    constexpr int BEHIND = STORE_BUFFERS > 1 ? 1 : 0; /* chunks whose buffers may still be read */
    const int next = slot - BEHIND + STORE_BUFFERS;
    if (AHEAD && t.beta != 0 && slot >= BEHIND && next < PARTS * CHUNKS && threadIdx.x % 128 == 0) {
        stores_read<BEHIND>();
        load_old(t, next, place_chunk(next / CHUNKS, next % CHUNKS, row, col));
    }
#endif
}
#endif

/* A consumer's rows of a tile, from `row` on, and columns from `col` on, to C. */
__device__ __forceinline__ void store_tile(float (&d)[PARTS][SUMS], target &t, int row, int col)
{
#if STORE_IS == STORE_direct
    const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    const bool pairs = in_pairs(t);
#pragma unroll
    for (int p = 0; p < PARTS; p++) {
        const int own_row = row + 64 * p + warp * 16 + lane / 4, own_col = col + 2 * (lane % 4);
        scale_sums<SUMS>(d[p], t, own_row, own_col);
#pragma unroll
        for (int j = 0; j < BLOCK_N / 8; j++) store_direct(&d[p][4 * j], t, own_row, own_col + 8 * j, pairs);
    }
#else
#pragma unroll
    for (int i = 0; i < PARTS * CHUNKS; i++)
        store_chunk<true>(&d[i / CHUNKS][i % CHUNKS * CHUNK_SUMS], i / CHUNKS, i % CHUNKS, i, t, row, col);
#endif
}

#if DEFER
/* A tile's results that wait to be stored. */
struct deferred {
    unsigned words[PARTS * CHUNKS][WORDS];
    int row, col;
    bool waiting;
};

__device__ __forceinline__ void defer_tile(deferred &later, float (&d)[PARTS][SUMS], const target &t, int row, int col)
{
    const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
#pragma unroll
    for (int p = 0; p < PARTS; p++) {
        scale_sums<SUMS>(d[p], t, row + 64 * p + warp * 16 + lane / 4, col + 2 * (lane % 4));
#pragma unroll
        for (int chunk = 0; chunk < CHUNKS; chunk++) encode(later.words[p * CHUNKS + chunk], &d[p][chunk * CHUNK_SUMS]);
    }
    later.row = row;
    later.col = col;
    later.waiting = true;
}

__device__ __forceinline__ void store_deferred(deferred &later, int i, const target &t)
{
    free_buffer(t, i);
    send_chunk(later.words[i], i, t, place_chunk(i / CHUNKS, i % CHUNKS, later.row, later.col));
}
#endif

#if STREAM_K
/* Where a block's sums of a divided tile lie: [block][sum][thread]. */
struct workspace {
    float *sums;
    unsigned *counts; /* a consumer's is 1 while its sums are there */
};

__device__ __forceinline__ float *partial_sums(const workspace &w, unsigned block)
{
    return w.sums + (long long)block * (BLOCK_M * BLOCK_N) + threadIdx.x;
}

/* Leaves this block's sums to the block that has the tile's first steps. */
__device__ __forceinline__ void leave_sums(const float (&d)[PARTS][SUMS], const workspace &w, int group)
{
    float *to = partial_sums(w, blockIdx.x);
#pragma unroll
    for (int i = 0; i < PARTS * SUMS; i++)
        asm volatile("st.global.cg.f32 [%0], %1;" ::"l"(to + i * 128 * WARPGROUPS), "f"(d[i / SUMS][i % SUMS])
                     : "memory");
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    group_sync(group);
    if (threadIdx.x % 128 == 0)
        asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(w.counts + blockIdx.x * WARPGROUPS + group) : "memory");
}

/* Adds what the clusters that follow have of the rest of the tile, from step `done` of it on, in their order. */
__device__ __forceinline__ void collect_sums(float (&d)[PARTS][SUMS], const problem &p, const workspace &w, int tile,
                                             int done, int group)
{
    const int end = (tile - p.alone + 1) * p.steps;
    int at = (tile - p.alone) * p.steps + done;
    for (int cluster = blockIdx.x / CLUSTER + 1; at < end; cluster++) {
        const int next = min(stream_begin(p, cluster + 1), end);
        if (next == at) continue;
        at = next;
        const unsigned block = cluster * CLUSTER + blockIdx.x % CLUSTER;
        unsigned *count = w.counts + block * WARPGROUPS + group, there = 0;
        if (threadIdx.x % 128 == 0)
            while (!there) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(there) : "l"(count) : "memory");
        group_sync(group);
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        const float *from = partial_sums(w, block);
#pragma unroll
        for (int i = 0; i < PARTS * SUMS; i++) {
            float v;
            asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(v) : "l"(from + i * 128 * WARPGROUPS) : "memory");
            d[i / SUMS][i % SUMS] += v;
        }
        if (threadIdx.x % 128 == 0) *count = 0; /* for the next launch */
    }
}
#endif

#if TWO_PASS
/* Where a block's sums of a part lie; `slot`: which of the part's blocks, `slots`: how many. */
__device__ __forceinline__ long long part_offset(int part, int slot, int slots)
{
    return ((long long)part * slots + slot) * (BLOCK_M * BLOCK_N);
}

/* Leaves this block's sums of its part to gemm_wgmma_finish: [sum / 4][thread][4], threads of the consumers that
 * share a tile. */
__device__ __forceinline__ void leave_part(const float (&d)[PARTS][SUMS], float *to)
{
    const unsigned thread = threadIdx.x % (128 * OWNERS);
#pragma unroll
    for (int i = 0; i < PARTS * SUMS; i += 4) {
        const float *v = &d[i / SUMS][i % SUMS];
        asm volatile("st.global.cg.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to + (i / 4 * 128 * OWNERS + thread) * 4),
                     "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3])
                     : "memory");
    }
}
#endif

#if CLUSTER_K > 1
/* of a tile: 64 rows by STORE_COLS columns, share i for the block of rank i % CLUSTER_K */
constexpr int SHARES = PARTS * (BLOCK_N / STORE_COLS);
constexpr int SHARE_SUMS = STORE_COLS / 2; /* of a thread */
/* blocks whose sums are on their way at once: each way takes longer than all loads */
constexpr int TOGETHER = CLUSTER_K * SHARE_SUMS <= 64 ? CLUSTER_K : 2;

/* Of four sums of a thread, from the i-th on, for 16-byte accesses. */
__device__ __forceinline__ unsigned partial_address(unsigned partial, int i)
{
    return partial + (i / 4 * 128 * WARPGROUPS + (int)threadIdx.x) * 16;
}

/* Lays down the sums that other blocks of the cluster will add: shared memory, [sum / 4][thread][4]. */
__device__ __forceinline__ void offer_partial(const float (&d)[PARTS][SUMS], unsigned partial, unsigned rank)
{
#pragma unroll
    for (int i = 0; i < PARTS * SUMS; i += 4) {
        const float *v = &d[i / SUMS][i % SUMS];
        if ((unsigned)(i / SHARE_SUMS) % CLUSTER_K != rank)
            asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(partial_address(partial, i)), "f"(v[0]),
                         "f"(v[1]), "f"(v[2]), "f"(v[3])
                         : "memory");
    }
}

/* Adds the cluster's partial sums of this block's shares, in the order of their ranks, and stores them. */
__device__ __forceinline__ void store_split(float (&d)[PARTS][SUMS], target &t, int row, int col, unsigned partial,
                                            unsigned rank)
{
#if STORE_IS == STORE_direct
    const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    const bool pairs = in_pairs(t);
#endif
#pragma unroll
    for (int share = 0; share < SHARES; share++) {
        if ((unsigned)share % CLUSTER_K != rank) continue;
        const int p = share * SHARE_SUMS / SUMS, first = share * SHARE_SUMS % SUMS;
        float sum[SHARE_SUMS];
#pragma unroll
        for (int i = 0; i < SHARE_SUMS; i++) sum[i] = 0;
#pragma unroll
        for (unsigned s = 0; s < CLUSTER_K; s += TOGETHER) {
            float v[TOGETHER][SHARE_SUMS];
#pragma unroll
            for (unsigned q = 0; q < TOGETHER && s + q < CLUSTER_K; q++) {
                unsigned there;
                asm("mapa.shared::cluster.u32 %0, %1, %2;"
                    : "=r"(there)
                    : "r"(partial_address(partial, share * SHARE_SUMS)), "r"(s + q));
#pragma unroll
                for (int i = 0; i < SHARE_SUMS; i += 4)
                    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                                 : "=f"(v[q][i]), "=f"(v[q][i + 1]), "=f"(v[q][i + 2]), "=f"(v[q][i + 3])
                                 : "r"(there + i / 4 * 128 * WARPGROUPS * 16)
                                 : "memory");
            }
#pragma unroll
            for (unsigned q = 0; q < TOGETHER && s + q < CLUSTER_K; q++)
#pragma unroll
                for (int i = 0; i < SHARE_SUMS; i++) sum[i] += s + q == rank ? d[p][first + i] : v[q][i];
        }
#if STORE_IS == STORE_direct
        const int own_row = row + 64 * p + warp * 16 + lane / 4, own_col = col + 2 * (lane % 4) + 2 * first;
        scale_sums<SHARE_SUMS>(sum, t, own_row, own_col);
#pragma unroll
        for (int j = 0; j < SHARE_SUMS / 4; j++) store_direct(&sum[4 * j], t, own_row, own_col + 8 * j, pairs);
#else
        store_chunk<false>(sum, p, first / CHUNK_SUMS, share / CLUSTER_K, t, row, col);
#endif
    }
}
#endif

/* ---- the two roles ----------------------------------------------------------------------------------------------- */

struct ring {
    unsigned a, b, full, empty; /* shared addresses */
};

/* The tensor maps of the operands; with PRODUCTS 3 also of their low parts. */
struct operands {
    const tensor_map *a, *b, *a_low, *b_low;
};

/* The thread that loads. */
__device__ __forceinline__ void produce(const operands &from, const problem &p, const ring &r, unsigned rank)
{
    const int cm = CLUSTER_K > 1 ? 0 : rank % CLUSTER_M, cn = CLUSTER_K > 1 ? 0 : rank / CLUSTER_M;
    unsigned short a_mask = 0, b_mask = (unsigned short)(((1u << CLUSTER_M) - 1) << (CLUSTER_M * cn));
#pragma unroll
    for (int i = 0; i < CLUSTER_N; i++) a_mask |= (unsigned short)(1u << (cm + CLUSTER_M * i));
    const unsigned long long a_policy = cache_policy<HINT_A>(), b_policy = cache_policy<HINT_B>();
    constexpr int A_SHARE = BLOCK_M / CLUSTER_N, B_SHARE = BLOCK_N / CLUSTER_M;
    const int walked = PRODUCTS == 3 ? (p.k + BLOCK_K - 1) / BLOCK_K : 0; /* steps of one of three products */
    int s = 0;
    unsigned parity = 1;
    piece next;
    for (walk w = walk_begin(p); walk_next(p, w, next);) {
        int row, col;
        place(p, next.tile, row, col);
        row = (row * CLUSTER_M + cm) * BLOCK_M + cn * A_SHARE;
        col = (col * CLUSTER_N + cn) * BLOCK_N + cm * B_SHARE;
        int at = ROTATE && next.count > 0 ? (int)((unsigned)next.tile * ROTATE % (unsigned)next.count) : 0;
        for (int step = 0; step < next.count; step++) {
            int k = next.first + at * (INTERLEAVE ? gridDim.y : 1);
            const tensor_map *a = from.a, *b = from.b;
            if (++at == next.count) at = 0;
            if (PRODUCTS == 3) {
                if (k >= 2 * walked) {
                    k -= 2 * walked;
                } else if (k >= walked) {
                    k -= walked;
                    a = from.a_low;
                } else {
                    b = from.b_low;
                }
            }
            barrier_wait(r.empty + 8 * s, parity);
#if SWEETSPOT_VARIANT == 2
            barrier_arrive(r.full + 8 * s);
#else
            barrier_expect(r.full + 8 * s, A_BYTES + B_BYTES);
            const unsigned to_a = r.a + s * A_BYTES, to_b = r.b + s * B_BYTES, full = r.full + 8 * s;
#if A_MAJOR_IS == MAJOR_k
#pragma unroll
            for (int panel = 0; panel < BLOCK_K / PANEL; panel++)
                load_box<CLUSTER_N, HINT_A>(to_a + (panel * BLOCK_M + cn * A_SHARE) * LINE, a,
                                            k * BLOCK_K + panel * PANEL, row, full, a_mask, a_policy);
#else
#pragma unroll
            for (int panel = 0; panel < A_SHARE / 64; panel++)
                load_box<CLUSTER_N, HINT_A>(to_a + (cn * A_SHARE + panel * 64) * BLOCK_K * 2, a, row + panel * 64,
                                            k * BLOCK_K, full, a_mask, a_policy);
#endif
#if B_MAJOR_IS == MAJOR_k
#pragma unroll
            for (int panel = 0; panel < BLOCK_K / PANEL; panel++)
                load_box<CLUSTER_M, HINT_B>(to_b + (panel * BLOCK_N + cm * B_SHARE) * LINE, b,
                                            k * BLOCK_K + panel * PANEL, col, full, b_mask, b_policy);
#else
#pragma unroll
            for (int panel = 0; panel < B_SHARE / 64; panel++)
                load_box<CLUSTER_M, HINT_B>(to_b + (cm * B_SHARE + panel * 64) * BLOCK_K * 2, b, col + panel * 64,
                                            k * BLOCK_K, full, b_mask, b_policy);
#endif
#endif
            if (++s == STAGES) {
                s = 0;
                parity ^= 1;
            }
        }
    }
}

/* Tells those who send to this block that it has read a stage. */
__device__ __forceinline__ void release(const ring &r, int s, unsigned rank)
{
    const unsigned barrier = r.empty + 8 * s;
    if constexpr (CLUSTER_M * CLUSTER_N == 1) {
        if (threadIdx.x % 128 == 0) barrier_arrive(barrier);
    } else {
        const unsigned cm = rank % CLUSTER_M, cn = rank / CLUSTER_M, i = threadIdx.x % 128;
        if (i < CLUSTER_N)
            barrier_arrive_at(barrier, cm + CLUSTER_M * i);
        else if (i < CLUSTER_N + CLUSTER_M - 1)
            barrier_arrive_at(barrier, i - CLUSTER_N + (i - CLUSTER_N >= cm) + CLUSTER_M * cn);
    }
}

/* One stage's products, enqueued: 32 bytes along K at a time. */
__device__ __forceinline__ void multiply_stage(float (&d)[PARTS][SUMS], unsigned a, unsigned b, int row, bool add)
{
    constexpr unsigned long long A =
        A_MAJOR_IS == MAJOR_k ? descriptor(16, 8 * LINE, LINE) : descriptor(BLOCK_K * 128, 1024, 128);
    constexpr unsigned long long B =
        B_MAJOR_IS == MAJOR_k ? descriptor(16, 8 * LINE, LINE) : descriptor(BLOCK_K * 128, 1024, 128);
#pragma unroll
    for (int k = 0; k < BLOCK_K * SIZE / 32; k++) {
        const int panel = k * 32 / LINE, within = k * 32 % LINE;
        const unsigned from_b = b + (B_MAJOR_IS == MAJOR_k ? panel * BLOCK_N * LINE + within : k * 16 * 128);
#pragma unroll
        for (int p = 0; p < PARTS; p++) {
            const unsigned from_a = a + (A_MAJOR_IS == MAJOR_k ? (panel * BLOCK_M + row + 64 * p) * LINE + within
                                                               : (row + 64 * p) * BLOCK_K * 2 + k * 16 * 128);
            multiply(d[p], at(A, from_a), at(B, from_b), k > 0 || add);
        }
    }
}

/* A step along K: waits for its stage and enqueues its products. */
__device__ __forceinline__ void begin_step(float (&d)[PARTS][SUMS], const ring &r, int s, unsigned parity, int row,
                                           bool add)
{
    barrier_wait(r.full + 8 * s, parity);
#if SWEETSPOT_VARIANT != 1
    multiply_begin();
    multiply_stage(d, r.a + s * A_BYTES, r.b + s * B_BYTES, row, add);
    multiply_commit();
#endif
}

/* Waits for the products, those of this step or of the one before, gives their stage back and goes on to the next. */
__device__ __forceinline__ void end_step(const ring &r, int &s, unsigned &parity, int &last, bool any, unsigned rank)
{
#if SWEETSPOT_VARIANT != 1
    multiply_wait<IN_FLIGHT>();
#endif
    if (IN_FLIGHT == 0)
        release(r, s, rank);
    else if (any)
        release(r, last, rank);
    last = s;
    if (++s == STAGES) {
        s = 0;
        parity ^= 1;
    }
}

/* Steps of a piece from the k-th on. */
__device__ __forceinline__ void multiply_piece(float (&d)[PARTS][SUMS], const ring &r, int &s, unsigned &parity,
                                               int &last, int k, int count, int own, unsigned rank)
{
#if PROMOTE
    float total[PARTS][SUMS];
    const int all = count;
#pragma unroll
    for (int i = 0; i < PARTS * SUMS; i++) total[i / SUMS][i % SUMS] = 0;
    while (k < all) {
        const int begin = k;
        count = min(k + PROMOTE, all);
        for (; k < count; k++) {
            begin_step(d, r, s, parity, own, k > begin);
            end_step(r, s, parity, last, k > 0, rank);
        }
        multiply_wait<0>();
        pin(d);
#pragma unroll
        for (int i = 0; i < PARTS * SUMS; i++) total[i / SUMS][i % SUMS] += d[i / SUMS][i % SUMS];
        pin(d);
    }
#pragma unroll
    for (int i = 0; i < PARTS * SUMS; i++) d[i / SUMS][i % SUMS] = total[i / SUMS][i % SUMS];
#else
    for (; k < count; k++) {
        begin_step(d, r, s, parity, own, k > 0);
        end_step(r, s, parity, last, k > 0, rank);
    }
#endif
}

__device__ __forceinline__ void consume(const problem &p, const ring &r, const target &to, unsigned rank,
                                        unsigned buffers, unsigned loaded
#if STREAM_K
                                        ,
                                        const workspace &space
#elif TWO_PASS
                                        ,
                                        float *sums
#endif
)
{
    const int group = threadIdx.x / 128;
    const int cm = CLUSTER_K > 1 ? 0 : rank % CLUSTER_M, cn = CLUSTER_K > 1 ? 0 : rank / CLUSTER_M;
    const int own = PINGPONG ? 0 : group * ROWS;
    float d[PARTS][SUMS];
    target t = to;
    t.group = group;
    t.buffers = buffers + group * STORE_BUFFERS * STORE_BYTES;
    t.loaded = loaded + group * STORE_BUFFERS * 8;
    t.phases = 0;
    bool turn = !PINGPONG || group == 0; /* whether the next piece is this consumer's */
    unsigned before = 0;                 /* steps of this block before the next piece */
    if (PINGPONG && group == 1) turn_end(group);
#if DEFER
    deferred later;
    later.waiting = false;
#endif
    piece next;
    for (walk w = walk_begin(p); walk_next(p, w, next);) {
        const int count = next.count;
        int s = (int)(before % STAGES), last = 0;
        unsigned parity = before / STAGES & 1;
        before += (unsigned)count;
        if (PINGPONG) {
            turn = !turn;
            if (turn) continue;
        }
        int row, col;
        place(p, next.tile, row, col);
        row = (row * CLUSTER_M + cm) * BLOCK_M + own;
        col = (col * CLUSTER_N + cn) * BLOCK_N;
        if (count == 0) {
#pragma unroll
            for (int i = 0; i < PARTS * SUMS; i++) d[i / SUMS][i % SUMS] = 0;
        }
        pin(d);
        if (PINGPONG) turn_begin(group);
#if STORE_IS == STORE_tma && !DEFER && CLUSTER_K == 1
        if (TWO_PASS ? gridDim.y == 1 : !STREAM_K || next.first == 0) load_old_ahead(t, row, col);
#endif
        int k = 0;
#if DEFER
        if (later.waiting) {
            if (count >= PARTS * CHUNKS) {
#pragma unroll
                for (; k < PARTS * CHUNKS; k++) {
                    begin_step(d, r, s, parity, own, k > 0);
                    store_deferred(later, k, t);
                    end_step(r, s, parity, last, k > 0, rank);
                }
            } else {
#pragma unroll
                for (int i = 0; i < PARTS * CHUNKS; i++) store_deferred(later, i, t);
            }
            later.waiting = false;
        }
#endif
        multiply_piece(d, r, s, parity, last, k, count, own, rank);
        if (PINGPONG && w.tile < p.tiles) turn_end(group);
        multiply_wait<0>();
        if (IN_FLIGHT && count > 0) release(r, last, rank);
        pin(d);
#if CLUSTER_K > 1
        /* All loads have come and been read; the ring's memory is free once every consumer is here. */
        asm volatile("bar.sync %0, %1;" ::"n"(WARPGROUPS + 1), "n"(128 * WARPGROUPS) : "memory");
        offer_partial(d, r.a, rank);
        cluster_sync();
        store_split(d, t, row, col, r.a, rank);
#elif DEFER
        defer_tile(later, d, t, row, col);
#elif STREAM_K
        if (next.first > 0) {
            leave_sums(d, space, group);
            continue;
        }
        if (count < p.steps) collect_sums(d, p, space, next.tile, count, group);
        store_tile(d, t, row, col);
#elif TWO_PASS
        if (gridDim.y > 1)
            leave_part(d, sums + part_offset(blockIdx.y, next.tile * CLUSTER + rank, p.tiles * CLUSTER));
        else
            store_tile(d, t, row, col);
#else
        store_tile(d, t, row, col);
#endif
    }
#if DEFER
    if (later.waiting) {
#pragma unroll
        for (int i = 0; i < PARTS * CHUNKS; i++) store_deferred(later, i, t);
    }
#endif
#if STORE_IS == STORE_tma
    if (threadIdx.x % 128 == 0) stores_read<0>();
#endif
}

} // namespace

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    gemm_wgmma(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b,
#if PRODUCTS == 3
               const __grid_constant__ tensor_map a_low, const __grid_constant__ tensor_map b_low,
#endif
#if MAP_C
               const __grid_constant__ tensor_map map_c,
#endif
               output *c, int m, int n, int k, float alpha, float beta, long long ldc
#if WORKSPACE
               ,
               float *sums, unsigned *counts
#endif
    )
{
    extern __shared__ char memory[];
    const unsigned base = (shared_address(memory) + 1023) & ~1023u;
    const unsigned rank = CLUSTER > 1 ? cluster_rank() : 0;
    constexpr int BUFFERS = STORE_IS == STORE_direct ? 0 : WARPGROUPS * STORE_BUFFERS * STORE_BYTES;
    constexpr int USED = STAGES * (A_BYTES + B_BYTES) + BUFFERS, SPLIT = CLUSTER_K > 1 ? 4 * BLOCK_M * BLOCK_N : 0;
    const unsigned barriers = base + (USED > SPLIT ? USED : SPLIT);
    const ring r = {base, base + STAGES * A_BYTES, barriers, barriers + 8 * STAGES};
    const unsigned loaded = barriers + 16 * STAGES; /* barriers of the store buffers */
    const int per_product = (k + BLOCK_K - 1) / BLOCK_K;
    problem p = {m, n, k, (m + BLOCK_M * CLUSTER_M - 1) / (BLOCK_M * CLUSTER_M),
                 (n + BLOCK_N * CLUSTER_N - 1) / (BLOCK_N * CLUSTER_N)};
    p.tiles = p.alone = p.tiles_m * p.tiles_n;
    p.steps = PRODUCTS * per_product;
#if TWO_PASS
    {
        /* the first `more` have one step more */
        const int parts = gridDim.y, part = blockIdx.y, each = (unsigned)p.steps / (unsigned)parts,
                  more = p.steps - each * parts;
        p.first = INTERLEAVE ? part : part * each + min(part, more);
        p.steps = each + (part < more);
    }
#endif
    if (CLUSTER_K > 1) {
        const int share = (p.steps + SPLIT_K - 1) / SPLIT_K;
        p.first = min((int)rank * share, p.steps);
        p.steps = min(share, p.steps - p.first);
    }
    if (STREAM_K && p.steps > 0) {
        const int clusters = gridDim.x / CLUSTER, full = p.tiles / clusters;
        if (p.tiles % clusters) p.alone = max(0, full - (STREAM_K == 2)) * clusters;
    }
    const target t = {
        c,
        ldc,
        m,
        n,
        alpha,
        beta,
#if MAP_C
        &map_c
#else
        nullptr
#endif
    };
    if (threadIdx.x == 128 * WARPGROUPS) {
        for (int s = 0; s < STAGES; s++) {
            barrier_init(r.full + 8 * s, 1);
            barrier_init(r.empty + 8 * s, RELEASES);
        }
        if (STORE_IS == STORE_tma)
            for (int i = 0; i < WARPGROUPS * STORE_BUFFERS; i++) barrier_init(loaded + 8 * i, 1);
        asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
    }
    /* The thread that initialises the barriers is the one that loads, so that where no other block arrives at them it
     * need not wait for the others. */
    if (CLUSTER_M * CLUSTER_N > 1)
        cluster_sync();
    else if (threadIdx.x < 128 * WARPGROUPS)
        asm volatile("bar.sync 15, %0;" ::"n"(128 * WARPGROUPS + 32) : "memory");
    else if (threadIdx.x < 128 * WARPGROUPS + 32) {
        __syncwarp();
        asm volatile("bar.arrive 15, %0;" ::"n"(128 * WARPGROUPS + 32) : "memory");
    }
    if (threadIdx.x >= 128 * WARPGROUPS) {
        if (PRODUCER_REGISTERS)
            asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(PRODUCER_REGISTERS ? PRODUCER_REGISTERS : 24));
        if (threadIdx.x == 128 * WARPGROUPS) {
            asm volatile("prefetch.tensormap [%0];\nprefetch.tensormap [%1];" ::"l"(&a), "l"(&b) : "memory");
#if PRODUCTS == 3
            produce({&a, &b, &a_low, &b_low}, p, r, rank);
#else
            produce({&a, &b, nullptr, nullptr}, p, r, rank);
#endif
#if TWO_PASS
            let_launch_after_begin();
#endif
        }
        __syncwarp();
#if CLUSTER_K > 1
        cluster_sync();
#endif
    } else {
        if (PRODUCER_REGISTERS) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(CONSUMER_REGISTERS));
#if STREAM_K
        consume(p, r, t, rank, base + STAGES * (A_BYTES + B_BYTES), loaded, {sums, counts});
#elif TWO_PASS
        consume(p, r, t, rank, base + STAGES * (A_BYTES + B_BYTES), loaded, sums);
#else
        consume(p, r, t, rank, base + STAGES * (A_BYTES + B_BYTES), loaded);
#endif
    }
    /* No block may end while another sends to its memory, reads it, or arrives at its barriers. */
    if (CLUSTER > 1) cluster_sync();
}

/* ---- the sum of the parts ---------------------------------------------------------------------------------------- */

#if TWO_PASS
/* C = alpha * (all parts) + beta * C: four sums a thread of the 32 that are number blockIdx.y in what block
 * blockIdx.x of each part left. Each warp adds consecutive parts, up to 16 of which are on their way at once, then
 * the first what the warps found: the order is fixed, so results are bit-identical. Without the 1 of the launch
 * bounds the compiler saves registers and has few on their way. */
extern "C" __global__ void __launch_bounds__(32 * FINISH_WARPS, 1)
    gemm_wgmma_finish(output *c, int m, int n, float alpha, float beta, long long ldc, int parts,
                      const float *__restrict__ sums)
{
    /* parts of a warp; of those, loads in flight */
    constexpr int EACH = (SPLIT_K + FINISH_WARPS - 1) / FINISH_WARPS, TOGETHER = EACH < 16 ? EACH : 16;
    __shared__ float4 found[FINISH_WARPS][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const problem p = {m, n, 0, (m + BLOCK_M * CLUSTER_M - 1) / (BLOCK_M * CLUSTER_M),
                       (n + BLOCK_N * CLUSTER_N - 1) / (BLOCK_N * CLUSTER_N)};
    int row, col;
    place(p, blockIdx.x / CLUSTER, row, col);
    /* The thread of the consumers that had these sums, and which of its fours. */
    const int number = blockIdx.y * 32 + lane, thread = number % (128 * OWNERS), four = number / (128 * OWNERS),
              rank = blockIdx.x % CLUSTER;
    row = (row * CLUSTER_M + rank % CLUSTER_M) * BLOCK_M + thread / 128 * ROWS + four / (SUMS / 4) * 64 +
          thread / 32 % 4 * 16 + lane / 4;
    col = (col * CLUSTER_N + rank / CLUSTER_M) * BLOCK_N + four % (SUMS / 4) * 8 + lane % 4 * 2;
    const bool inside = row < m && col < n;
    const int first = warp * EACH, end = min(first + EACH, parts);
    const float *from = sums + part_offset(first, blockIdx.x, gridDim.x) + number * 4;
    const long long apart = part_offset(1, 0, gridDim.x);
    wait_for_launch_before();
    if (parts == 1 || !__any_sync(0xffffffffu, inside)) return; /* the same for all warps */
    float sum[4] = {0, 0, 0, 0};
#pragma unroll 1
    for (int left = end - first; left > 0; left -= TOGETHER, from += TOGETHER * apart) {
        float v[TOGETHER][4];
        /* Past the last the last again, not added: loads under conditions waited for each other. */
#pragma unroll
        for (int i = 0; i < TOGETHER; i++)
            asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
                         : "=f"(v[i][0]), "=f"(v[i][1]), "=f"(v[i][2]), "=f"(v[i][3])
                         : "l"(from + min(i, left - 1) * apart)
                         : "memory");
#pragma unroll
        for (int i = 0; i < TOGETHER; i++)
#pragma unroll
            for (int e = 0; e < 4; e++) sum[e] += i < left ? v[i][e] : 0.0f;
    }
    if (FINISH_WARPS > 1) {
        found[warp][lane] = make_float4(sum[0], sum[1], sum[2], sum[3]);
        __syncthreads();
        if (warp > 0) return;
#pragma unroll
        for (int w = 1; w < FINISH_WARPS; w++) {
            const float4 v = found[w][lane];
            sum[0] += v.x;
            sum[1] += v.y;
            sum[2] += v.z;
            sum[3] += v.w;
        }
    }
    if (!inside) return;
    const target t = {c, ldc, m, n, alpha, beta};
    scale_sums<4>(sum, t, row, col);
    store_direct(sum, t, row, col, in_pairs(t));
}
#endif

/* ---- rows that TMA cannot address -------------------------------------------------------------------------------- */

namespace
{

/* COPY_WORDS * 64 elements of a row by a warp. Words of 4 bytes; where the row begins in the middle of one, from the
 * halves of two. */
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
        } else { /* the word that ends with element e; before the row's first there may be none */
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

} // namespace

extern "C" __global__ void __launch_bounds__(256)
    gemm_align(const unsigned short *a, int rows_a, long long lda, unsigned short *to_a, long long ld_to_a,
               const unsigned short *b, int rows_b, long long ldb, unsigned short *to_b, long long ld_to_b, int k)
{
    const int chunks = (k + 64 * COPY_WORDS - 1) / (64 * COPY_WORDS);
    const long long task = (long long)blockIdx.x * 8 + threadIdx.x / 32;
    const int row = (int)(task / chunks), first = (int)(task % chunks) * 64 * COPY_WORDS, lane = threadIdx.x % 32;
    if (row < rows_a)
        align_row(a + row * lda, to_a + row * ld_to_a, k, first, lane);
    else if (row - rows_a < rows_b)
        align_row(b + (row - rows_a) * ldb, to_b + (row - rows_a) * ld_to_b, k, first, lane);
}

/* ---- FP32 as two parts of TF32 ----------------------------------------------------------------------------------- */

namespace
{

/* What the tensor cores, which read 19 bits of 32, leave of x, rounded to as many. Of an infinite x nothing; NaN
 * stays. */
__device__ __forceinline__ float low_part(float x)
{
    const float high = __uint_as_float(__float_as_uint(x) & 0xffffe000u);
    unsigned low;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(low) : "f"(x - high));
    return (__float_as_uint(x) & 0x7fffffffu) == 0x7f800000u ? 0.0f : __uint_as_float(low);
}

/* 32 * COPY_WORDS floats of a row by a warp, four at once by a lane. */
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

extern "C" __global__ void __launch_bounds__(256)
    gemm_split(const float *a, int rows_a, float *low_a, const float *b, int rows_b, float *low_b, int k, long long ld)
{
    const int chunks = (k + 32 * COPY_WORDS - 1) / (32 * COPY_WORDS);
    const long long task = (long long)blockIdx.x * 8 + threadIdx.x / 32;
    const int row = (int)(task / chunks), first = (int)(task % chunks) * 32 * COPY_WORDS, lane = threadIdx.x % 32;
    if (row < rows_a)
        split_row(a + row * ld, low_a + row * ld, k, first, lane);
    else if (row - rows_a < rows_b)
        split_row(b + (row - rows_a) * ld, low_b + (row - rows_a) * ld, k, first, lane);
}
