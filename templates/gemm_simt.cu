/*
 * gemm_simt.cu: C = alpha*op(A)*op(B) + beta*C in FP32 on the FMA units, without tensor cores.
 *
 * op(A) is M x K, op(B) is K x N, C is M x N, all row-major with leading dimensions lda, ldb, ldc (in floats);
 * TRANSPOSE_A says that A is stored K x M, TRANSPOSE_B that B is stored N x K. Any M, N >= 1, K >= 0, any leading
 * dimensions, any 4-byte aligned pointers. With beta == 0, C is never read. There are two main entries.
 *
 *     gemm_simt  (int M, int N, int K, float alpha, const float *A, int lda, const float *B, int ldb, float beta,
 *                 float *C, int ldc)
 *
 *         exists if SPLIT_K is not defined: one launch, no scratch memory
 *         grid    ceil_div(M, BLOCK_M) * ceil_div(N, BLOCK_N) = tiles                  (one-dimensional)
 *         block   (BLOCK_M / WARP_M) * (BLOCK_N / WARP_N) * 32
 *         shared  4 * STAGES * BLOCK_K * (A_ROW + B_ROW)                              (dynamic, bytes), with
 *                 A_ROW = BLOCK_M + (TRANSPOSE_A ? 0 : PAD), B_ROW = BLOCK_N + (TRANSPOSE_B ? PAD : 0)
 *
 *     gemm_simt_split  (int M, int N, int K, float alpha, const float *A, int lda, long long stride_a, const float *B,
 *                       int ldb, long long stride_b, float beta, float *C, int ldc, long long stride_c, int batch,
 *                       float *partial, unsigned *count)
 *
 *         exists if SPLIT_K is defined: a batch of products, whose matrices are stride_* floats apart. Each sum over k
 *         is divided into SPLIT_K parts, which different blocks compute
 *         grid    tiles * batch * SPLIT_K, or fewer: see `struct share`
 *         block   as above
 *         shared  as above; with FINISH cluster at least 4 * BLOCK_M * BLOCK_N
 *         cluster SPLIT_K with FINISH cluster, otherwise none
 *         partial for FINISH last_block and two_pass: BLOCK_M * BLOCK_N floats per part, aligned to 16 bytes
 *         count   for FINISH last_block: one unsigned per split tile, zero before the first launch; each launch leaves
 *                 zeros
 *
 *     gemm_simt_align (const float *A, int rows_a, int cols_a, int lda, float *to_a, int rows_to_a, int ld_to_a,
 *                      the same for B)
 *
 *         copies operands as they are stored to rows that begin at multiples of 16 bytes, and pads them with zeros up
 *         to rows_to and ld_to. With ALIGNED, the other entries take such copies. M and N are padded to multiples of 4.
 *         If both operands are copied, k is padded to a multiple K' of BLOCK_K, and K' is passed as K
 *         grid    rows_to_a + rows_to_b; 0 rows for an operand that is not copied
 *         block   256
 *
 *     gemm_simt_finish (int M, int N, float beta, float *C, int ldc, long long stride_c, int alone, int shared,
 *                       const float *partial)
 *
 *         the second launch of FINISH two_pass. alone, shared: numbers of tiles that are not split, and that are
 *         grid    shared, BLOCK_M * BLOCK_N / 128
 *         block   256
 *
 * Results are bit-identical across runs; block order does not matter. Every launch of a candidate except the first may
 * overlap the previous one.
 *
 * There are three levels of tiles. A block owns BLOCK_M x BLOCK_N elements of C, and each warp WARP_M x WARP_N of
 * these. The warp's 32 lanes, laid out LANE_ROWS x (32 / LANE_ROWS), own TILE_ROW_SIZE x TILE_COL_SIZE patches that
 * repeat over the warp tile:
 *
 *          BLOCK_N                       WARP_N                          TILE_COL_SIZE
 *     +-------+-------+        +----+----+----+----+----           TILE_  +-----------+
 *     | warp  | warp  |        | l0 | l1 | .. | l7 | l0 ..         ROW_   | one 128-  |  a patch: what a lane
 *     |   0   |   1   |  --->  +----+----+----+----+----    --->   SIZE   | bit load  |  reads contiguously from
 *     +-------+-------+        | l8 | l9 | .. |l15 | l8 ..                | per 4     |  a row of shared memory
 *     | warp  | warp  |        +----+----+----+----+----                  +-----------+
 *     |   2   |   3   |        | .. (4 x 8 lanes, then the pattern repeats right and down)
 *     +-------+-------+
 *
 * Shared memory is a ring of STAGES slots, each with a tile of A and then a tile of B. In both, K is the slow index, so
 * that a lane reads its fragments of row k with vector loads:
 *
 *     A:  BLOCK_K rows of BLOCK_M + PAD floats   (transposed while it is copied, see A_ASYNC)
 *     B:  BLOCK_K rows of BLOCK_N floats         (the other way round for operands that are stored transposed)
 *
 * Parameters (macros with defaults; together these were the best configuration of an earlier version at 4096 x 4096 x
 * 4096 and at 2048 x 2048 x 2048 on an H200: 52.7 and 51.8 TFLOP/s of 66.9, 1.03 times cuBLAS)
 *
 *     BLOCK_M, BLOCK_N   the tile of C that a block computes
 *     BLOCK_K            depth of one stage; a multiple of 8
 *     WARP_M, WARP_N     the tile of C that a warp computes
 *     LANE_ROWS          lanes of a warp along M: 4 is the classic 4 x 8, 8 is 8 x 4. A thread's tile is
 *                        (WARP_M / LANE_ROWS) x (WARP_N / (32 / LANE_ROWS))
 *     LANE_PAIRS         0: lanes go row by row. 1: lanes go down a pair of rows first, so that lanes i and i^1 share
 *                        their columns and i and i^2 their rows. Where the hardware finds such sharing, it serves a
 *                        128-bit load in half-warps instead of quarters: 2 wavefronts per load instead of 3 on
 *                        average, 27% fewer for the whole kernel
 *     TILE_ROW_SIZE      rows that a thread reads at a time (1, 2, 4, 8). If it does not divide the number of a
 *                        thread's rows, the remaining rows (1, 2 or 4) are read last, from a separate part of the warp
 *                        tile: 18 rows are 4 + 4 + 4 + 4 + 2
 *     TILE_COL_SIZE      columns that a thread reads at a time (1, 2, 4, 8). 8 has the classic two-way bank conflict:
 *                        eight lanes read 16 bytes each at columns 0, 8, ..., 56, and columns 0 and 32 share a bank;
 *                        with 4 they read 128 contiguous bytes. At 1024 cubed with 128 x 128 tiles, 8 has 4,198,670
 *                        load conflicts, 4 has 213; the difference is 11% of the time
 *     STAGES             slots in the ring. 1: copy, wait, compute. n: n-1 tiles are in flight while one is computed
 *     VECTOR             floats per global access of B and C (and of A when A_ASYNC is 0): 1, 2, 4
 *     A_ASYNC            1: an operand that is transposed while it is copied (A unless TRANSPOSE_A, B with TRANSPOSE_B)
 *                        goes to shared memory by 4-byte cp.async, each float directly to its position. 0: it is loaded
 *                        into registers VECTOR floats at a time and stored transposed one tile later, which takes 18%
 *                        fewer wavefronts but more registers. Neither wins everywhere
 *     PAD                floats added to a row of A in shared memory (multiple of 4 for 128-bit fragments). A warp
 *                        writes 8 values of k times 4 or more rows at once, and k is the slow index. With 4, bank 4k +
 *                        row is different for all 32; with 0, all 8 k of one row are in the same bank, which costs 14%
 *                        of the time with A_ASYNC
 *     UNROLL_K           pragma text before the loop over the BLOCK_K rows of a tile: empty, _Pragma("unroll") or
 *                        _Pragma("unroll n")
 *     DOUBLE_BUFFER      1: the fragments of row k+1 are loaded before row k is multiplied, across tiles as well
 *     COLUMN_WISE        order of a row's multiplications in the source: even values go row by row through the thread's
 *                        tile, odd ones column by column. 0, 1: back and forth; 2, 3: the same, even elements first; 4,
 *                        5: groups of four back and forth, the first group backwards; 6: pairs back and forth, every
 *                        second pair backwards; 7: groups of four, backwards in every second column. The arithmetic is
 *                        the same. The order influences register allocation and instruction scheduling, which changes
 *                        the time by up to 8% either way. Of 1,024 FFMAs in the main loop, 107 to 213 find no operand
 *                        in the reuse cache, depending on the order (64x256x8, 8x16 per thread). The order also changes
 *                        how early loads are issued
 *     RASTER             blocks go down RASTER rows of blocks, then one column to the right, so that the blocks in
 *                        flight share more of A and B in L2. 1: row by row
 *     MIN_BLOCKS         blocks that an SM must be able to hold (second argument of __launch_bounds__), which limits
 *                        registers. 0: the compiler decides
 *     SPLIT_K            parts of the sum over k, see gemm_simt_split. They keep SMs busy if there are few tiles: 512
 *                        cubed takes 10.3 us with FINISH cluster, 13.2 with the other ways, and 12.4 with cuBLAS
 *     FINISH             which blocks add the parts: `cluster`, the blocks of a cluster through each other's shared
 *                        memory (sm_90; up to 8 parts); `last_block`, the block that finishes last, from `partial`;
 *                        `two_pass`, a second launch
 *     TRANSPOSE_A, TRANSPOSE_B   how A and B are stored
 *     ALIGNED            1: A and B are copies that gemm_simt_align made, so that VECTOR can be 4 for any matrices. 2:
 *                        only B is a copy; with A_ASYNC, A is copied float by float anyway, unless TRANSPOSE_A
 *     AFTER_LAUNCH       1: the previous launch writes A, and this one may overlap it (programmatic dependent launch).
 *                        Nothing is read before the previous launch has ended. 2: meanwhile B, which that launch does
 *                        not write, is fetched into the L2
 *
 * What limits the speed. A scheduler issues one instruction per cycle, so every instruction that is not an FFMA costs a
 * multiplication. With 128 x 256 x 8 tiles at 2048 cubed, 91% of the instructions are FFMAs, which are issued in 86%
 * of the cycles. So 16 x 8 thread tiles (6 shared loads for 128 FFMAs) with 8 warps per SM beat 8 x 8 tiles (4 loads
 * for 64 FFMAs) with 16 warps. Power-of-two sizes lose 3% more, because their blocks fill 132 SMs 3.88 times.
 * Warps wait for the dispatcher 7% of their time. An FFMA without an operand in the reuse cache (one in eight) holds
 * them 3.7 times as long as other FFMAs (2048 cubed, 64 x 256 x 8, 8 x 16 per thread). Loops of 19 KB and more wait for
 * instructions, up to 5% of the time. But unrolling less costs more: 3% to 16% between the best configurations, on
 * twelve square problems.
 *
 * Ragged sizes. The last tiles of a row or column are moved back into the matrix and only store elements that no other
 * tile stores. So if the matrix is at least as large as a tile, only the last step along k is copied with tests, float
 * by float, with zeros outside. If pointers or leading dimensions do not allow VECTOR, every copy is made this way, so
 * tune such problems with VECTOR 1.
 *
 * SWEETSPOT_VARIANT (set by `sweetspot profile --limits`): 0 is the kernel. 1 does only the memory accesses: the copies
 * from global to shared memory and the store of C, no fragments, no multiplications. 2 does only the arithmetic:
 * fragments and multiplications with whatever shared memory contains, no copies, and a store under a condition that
 * never holds.
 */

#include "gemm_simt/mainloop.cuh"
#include "gemm_simt/partials.cuh"

#if MIN_BLOCKS > 0
#define GEMM_BOUNDS __launch_bounds__(N_THREADS, MIN_BLOCKS)
#else
#define GEMM_BOUNDS __launch_bounds__(N_THREADS)
#endif

#if ALIGNED
/* A block copies a row of A, or of B. */
extern "C" __global__ void __launch_bounds__(256)
    gemm_simt_align(const float *__restrict__ A, int rows_a, int cols_a, int lda, float *__restrict__ to_a,
                    int rows_to_a, int ld_to_a, const float *__restrict__ B, int rows_b, int cols_b, int ldb,
                    float *__restrict__ to_b, int rows_to_b, int ld_to_b)
{
    const bool of_a = (int)blockIdx.x < rows_to_a;
    const int row = of_a ? blockIdx.x : blockIdx.x - rows_to_a, cols = of_a ? cols_a : cols_b,
              end = of_a ? ld_to_a : ld_to_b;
    if (row >= (of_a ? rows_to_a : rows_to_b)) return;
    let_launch_after_begin();
    const bool there = row < (of_a ? rows_a : rows_b);
    const float *const from = of_a ? A + (long long)row * lda : B + (long long)row * ldb;
    float *const to = of_a ? to_a + (long long)row * ld_to_a : to_b + (long long)row * ld_to_b;
#pragma unroll 8
    for (int i = threadIdx.x; i < end; i += 256) to[i] = there && i < cols ? __ldcs(from + i) : 0.0f;
}
#endif

#ifndef SPLIT_K

extern "C" __global__ void GEMM_BOUNDS gemm_simt(int M, int N, int K, float alpha, const float *__restrict__ A, int lda,
                                                 const float *__restrict__ B, int ldb, float beta,
                                                 float *__restrict__ C, int ldc)
{
    extern __shared__ float4 shared_memory[]; /* float4 for its alignment */
    const problem p = {M, N, K, alpha, beta, A, B, C, lda, ldb, ldc};
    float sum[THREAD_M][THREAD_N];
    prepare(B, ldb, 0, TRANSPOSE_B ? N : K, TRANSPOSE_B ? K : N, 1);
    multiply_tile(sum, p, tile_place(block_anew(), M, N), 0, K, reinterpret_cast<float *>(shared_memory));
    if (!nothing_to_store(sum, alpha))
        store_tile(sum, p, tile_place(block_anew(), M, N), reinterpret_cast<float *>(shared_memory));
}

#else

extern "C" __global__ void GEMM_BOUNDS gemm_simt_split(int M, int N, int K, float alpha, const float *__restrict__ A,
                                                       int lda, long long stride_a, const float *__restrict__ B,
                                                       int ldb, long long stride_b, float beta, float *__restrict__ C,
                                                       int ldc, long long stride_c, int batch, float *partial,
                                                       unsigned *count)
{
    extern __shared__ float4 shared_memory[];
    float *const ring = reinterpret_cast<float *>(shared_memory);
    const int tiles_of_one = tiles_along(M, BLOCK_M) * tiles_along(N, BLOCK_N);
    const problem all = {M, N, K, alpha, beta, A, B, C, lda, ldb, ldc};
    float sum[THREAD_M][THREAD_N];
    prepare(B, ldb, stride_b, TRANSPOSE_B ? N : K, TRANSPOSE_B ? K : N, batch);
    {
        const share mine(block_anew(), tiles_of_one * batch);
        const int which = mine.tile / tiles_of_one;
        problem p = all;
        p.A += which * stride_a;
        p.B += which * stride_b;
        multiply_tile(sum, p, tile_place(mine.tile % tiles_of_one, M, N), mine.begin(K), mine.end(K), ring);
    }
    if (nothing_to_store(sum, alpha)) return;

    const share mine(block_anew(), tiles_of_one * batch);
    const place at = tile_place(mine.tile % tiles_of_one, M, N);
    problem p = all;
    p.C += mine.tile / tiles_of_one * stride_c;
#if SPLIT_K > 1 && FINISH_IS == FINISH_cluster
    finish_in_cluster(sum, mine.part, p, at, ring);
#else
#if SPLIT_K > 1
    if (mine.shared >= 0) {
        float *const slots = partial + mine.shared * (SPLIT_K * SLOT_FLOATS);
#if FINISH_IS == FINISH_two_pass
        let_launch_after_begin();
#endif
        keep_partial(sum, alpha, slots + mine.part * SLOT_FLOATS);
#if FINISH_IS == FINISH_two_pass
        return;
#else
        /* The block that finishes last adds all parts. atomicInc wraps to zero there, so that the counter is ready for
         * the next launch. */
        __shared__ bool last;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) last = atomicInc(count + mine.shared, SPLIT_K - 1) == SPLIT_K - 1;
        __syncthreads();
        if (!last) return;
        __threadfence();
        add_partials(sum, slots);
        p.alpha = 1.0f;
#endif
    }
#endif
    store_tile(sum, p, at, ring);
#endif
}

#if SPLIT_K != 1 && FINISH_IS == FINISH_two_pass
/* Adds the parts of tile alone + blockIdx.x, one of `shared` tiles, 32 quads per block. Each warp adds every eighth
 * part, then the first warp adds the eight sums. */
extern "C" __global__ void __launch_bounds__(256)
    gemm_simt_finish(int M, int N, float beta, float *__restrict__ C, int ldc, long long stride_c, int alone,
                     int shared, const float *__restrict__ partial)
{
    __shared__ float4 found[8][32];
    if ((int)blockIdx.x >= shared) return;
    wait_for_launch_before();
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, quad = blockIdx.y * 32 + lane;
    const float *const slots = partial + blockIdx.x * (SPLIT_K * SLOT_FLOATS);
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 8
    for (int part = warp; part < SPLIT_K; part += 8)
        add(sum, __ldcg(reinterpret_cast<const float4 *>(slots + part * SLOT_FLOATS) + quad));
    found[warp][lane] = sum;
    __syncthreads();
    if (warp > 0) return;
#pragma unroll
    for (int w = 1; w < 8; ++w) add(sum, found[w][lane]);
    const int tiles_of_one = tiles_along(M, BLOCK_M) * tiles_along(N, BLOCK_N), tile = alone + blockIdx.x;
    const place at = tile_place(tile % tiles_of_one, M, N);
    const problem p = {M, N, 0, 1.0f, beta, nullptr, nullptr, C + tile / tiles_of_one * stride_c, 0, 0, ldc};
    if constexpr (BY_ROWS) {
        found[0][lane] = sum;
        __syncwarp();
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            const taken t(lane, v);
            store_quad_taken(quad, t, reinterpret_cast<const float *>(found[0])[t.from], p, at);
        }
    } else {
        store_quad(quad, sum, p, at);
    }
}
#endif
#endif
