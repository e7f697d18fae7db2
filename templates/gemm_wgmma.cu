/*
 * gemm_wgmma.cu: matrix products of BF16, FP16 or TF32 on Hopper's tensor cores (sm_90a): TMA loads, wgmma, FP32
 * accumulators.
 *
 *     D = alpha * A * B' + beta * C     A: M x K, B: N x K, D replaces C: M x N, row-major with leading dimension ldc
 *
 * with A and B as TMA sees them. A job's tensor maps say which of its buffers is A (TRANSPOSE_C swaps them), and
 * whether their contiguous dimension is K (A_MAJOR k, B_MAJOR k) or M or N (A_MAJOR m, B_MAJOR n; only 16-bit types).
 * Any M, N, K >= 1: TMA reads zeros outside, and writes nothing there. Sums are FP32 in the tensor core's order. With
 * beta = 0, C is not read.
 *
 * INPUT tf32: A and B are FP32, and the tensor cores read the upper 19 bits. A tensor map with convert = "tf32" rounds
 * instead of truncating. PRODUCTS 3: FP32 from three products of TF32 (Ootomo and Yokota 2022). a = high + low: high
 * is the 19 bits that the tensor cores read from a itself, low is the rest (written by gemm_split). The kernel goes
 * along K three times, for high*low, low*high and high*high, so that the small terms come first. low*low, at most 2^-20
 * of the sum, is left out. The tensor cores' additions truncate instead of rounding, so errors grow with K. PROMOTE n
 * adds their sums to separate totals every n steps, with rounding. An Inf in A or B may give NaN.
 *
 * A block has WARPGROUPS warpgroups that multiply ("consumers") and one that loads (only a single warp if
 * PRODUCER_REGISTERS is 0). A ring of STAGES buffers in shared memory connects them. Each stage has two mbarriers: full
 * (the bytes have arrived) and empty (all readers have finished, in every block of the cluster that gets a part of the
 * stage).
 *
 *     stage    | A: BLOCK_M x BLOCK_K | x STAGES   | B: BLOCK_N x BLOCK_K | x STAGES    | store buffers | barriers
 *     K-major    panels of LINE = min(BLOCK_K * SIZE, 128) bytes of a row, each BLOCK_M rows, swizzled over LINE
 *                bytes; SIZE: bytes per element, 2 or 4
 *     M-major    panels of 64 rows of A, each BLOCK_K lines of 128 bytes, swizzled over 128 bytes
 *
 * cooperative: all consumers share a tile; each has BLOCK_M / WARPGROUPS rows. pingpong: two consumers take turns; each
 * has its own tile, so that one consumer multiplies while the other stores. The order of the ring makes them alternate.
 *
 * Clusters: CLUSTER_M blocks, one below the other, need the same part of B. Each loads a share and sends it to all.
 * CLUSTER_N blocks, side by side, do the same for A.
 *
 * SPLIT_K divides a tile's K into parts. FINISH cluster: the blocks of a cluster compute one part each and add their
 * sums through distributed shared memory in a fixed order. FINISH two_pass: any number of parts, each computed by its
 * own cluster, which leaves its sums in the workspace. A second launch, gemm_wgmma_finish, adds them in the order of
 * the parts, on many blocks, and may overlap the end of the first launch. With two_pass, the grid's y is the number of
 * parts, which is lower if the workspace holds fewer. If there is only one, the first launch stores C itself.
 *
 *     workspace | part 0: | tile 0: block 0 of its cluster, 1, ... | tile 1 | ... | part 1 | ...
 *                 each block: [sum / 4][thread][4], as the threads hold them
 *
 * STREAM_K: the tiles that would leave the last wave unfilled are divided among all clusters in equal numbers of steps
 * (Osama et al., Stream-K, 2023). The block with a tile's first steps waits for the sums of the tile's other blocks,
 * which leave them in the workspace and never wait, and adds them in the order of K. So all blocks must be resident.
 * `counts` must be 0 before the first launch; each launch leaves it at 0.
 *
 * Launches
 *
 *     gemm_wgmma  (map A, map B, maps of A's and B's low parts (PRODUCTS 3), map C (MAP_C 1), C, int M, int N, int K,
 *                  float alpha, float beta, long long ldc, float *workspace, unsigned *counts (both: WORKSPACE 1))
 *         CLUSTER    CLUSTER_M * CLUSTER_N, with FINISH cluster times SPLIT_K (one of the two factors must be 1)
 *         tiles      ceil_div(M, BLOCK_M * CLUSTER_M) * ceil_div(N, BLOCK_N * CLUSTER_N)
 *         grid       CLUSTER * (PERSISTENT ? min(tiles, clusters that fit at once) : tiles);   cluster  CLUSTER
 *                    FINISH two_pass: grid.y = parts, 1 <= parts <= SPLIT_K
 *         block      128 * WARPGROUPS + (PRODUCER_REGISTERS ? 128 : 32)
 *         shared     1024 + STAGES * SIZE * BLOCK_K * (BLOCK_M + BLOCK_N)
 *                    + (STORE direct ? 0 : WARPGROUPS * STORE_BUFFERS * STORE_BYTES) + BARRIERS,
 *                    and with SPLIT_K and FINISH cluster at least 1024 + 4 * BLOCK_M * BLOCK_N + BARRIERS;
 *                    STORE_BYTES: parameters.cuh; BARRIERS: 16 * STAGES + (STORE tma ? 8 * WARPGROUPS * STORE_BUFFERS
 *                    : 0)
 *         maps       A: box BLOCK_M / CLUSTER_N by PANEL = LINE / SIZE (M-major: BLOCK_K by 64), swizzle as above;
 *                    B: the same with BLOCK_N / CLUSTER_M;
 *                    C: box 64 by STORE_COLS, or STORE_COLS by 64 with TRANSPOSE_C; swizzle: the box's inner bytes
 *                    (16: none)
 *         workspace  STREAM_K: BLOCK_M * BLOCK_N floats per block; counts: WARPGROUPS per block
 *                    two_pass: parts * tiles * CLUSTER * BLOCK_M * BLOCK_N floats, aligned to 16 bytes, if parts > 1
 *     gemm_wgmma_finish  (C, int M, int N, float alpha, float beta, long long ldc, int parts, const float *workspace)
 *         the second launch of FINISH two_pass
 *         grid       tiles * CLUSTER by BLOCK_M * BLOCK_N / 128;   block  32 * FINISH_WARPS;   does nothing if parts is
 *                    1
 *     gemm_align  (A, rows, ld, to, ld_to; the same for B; int K)
 *         copies both so that rows begin at multiples of 16 bytes, as TMA requires
 *         grid       ceil_div((rows_a + rows_b) * ceil_div(K, 64 * COPY_WORDS), 8);   block  256
 *     gemm_split  (A, rows, low part of A; the same for B; int K, long long ld)
 *         writes the low parts for PRODUCTS 3; all rows are ld floats apart, a multiple of 4
 *         grid       ceil_div((rows_a + rows_b) * ceil_div(K, 32 * COPY_WORDS), 8);   block  256
 *
 * Parameters (macros; each has a default)
 *
 *     INPUT, OUTPUT        bf16, f16 or tf32; bf16, f16 or f32
 *     PRODUCTS             1 or 3 (INPUT tf32)
 *     BLOCK_M              rows of a tile: a multiple of 64 for each consumer that works on it
 *     BLOCK_N              columns: 8, or a multiple of 16 up to 256
 *     BLOCK_K              64 bytes of a row, or a multiple of 128; 64 elements or more if an operand is M- or N-major
 *     WARPGROUPS           consumers, 1 to 3; SCHEDULE pingpong: 2
 *     IN_FLIGHT            0: a consumer waits for every stage's products; 1: a consumer releases a stage when the next
 *                          stage's products are in flight
 *     PRODUCER_REGISTERS   registers that setmaxnreg leaves a loading thread: 24 to 40; the consumers share the rest;
 *                          0: one loading warp
 *     MIN_BLOCKS           blocks per SM; limits registers so that this many fit
 *     PERSISTENT           1: as many clusters as fit at once go through all tiles, loading ahead; 0: one cluster per
 *                          tile
 *     CLUSTER_M, CLUSTER_N, SPLIT_K   see above; a cluster has at most 8 blocks
 *     FINISH               cluster or two_pass: how the parts are added, see above; two_pass needs WORKSPACE 1, and
 *                          neither STREAM_K nor DEFER
 *     INTERLEAVE           for two_pass. 0: a part is consecutive steps along K; 1: part i has steps i, i + parts, ...,
 *                          so that simultaneous reads are close together in the rows of A and B
 *     FINISH_WARPS         for gemm_wgmma_finish: warps that share the parts of the same sums, 1 to 32
 *     ORDER, RASTER        grouped: consecutive tiles go through RASTER rows of tiles, column by column; hilbert:
 *                          through squares of RASTER x RASTER tiles, a power of two, along a Hilbert curve (tiles at
 *                          the edges that fill no square are grouped)
 *     STREAM_K             1: the last wave's tiles are divided if the wave is not full; 2: the last full wave's tiles
 *                          are divided too; needs WORKSPACE 1, PERSISTENT, cooperative, no DEFER
 *     PROMOTE              0: off; n: see above; the tile's sums take twice the registers
 *     STORE                tma: through shared memory with TMA (C's rows must be multiples of 16 bytes, TMA's smallest
 *                          write); rows: through shared memory, each warp storing whole rows (any ldc); direct: from
 *                          registers (any ldc)
 *     STORE_BUFFERS        buffers of 64 by STORE_COLS elements per consumer, 1 or more. With beta and STORE tma, the
 *                          old C also comes through them; as much as fits is loaded while products are still being
 *                          summed
 *     DEFER                1: a tile's results wait in registers, as OUTPUT, and are stored during the first steps of
 *                          the next tile; needs STORE tma or rows, PERSISTENT, cooperative and a 16-bit OUTPUT
 *     HINT_A, HINT_B       0: none; 1: the L2 may drop the operand first; 2: the L2 should keep it
 *     ROTATE               0: off; n: tile i begins its sums i*n steps further along K and wraps around, so that blocks
 *                          that need the same rows do not all request the same lines at once
 *     COPY_WORDS           4-byte words that a lane of gemm_align or gemm_split has in flight; for gemm_split a
 *                          multiple of 4
 *
 * SWEETSPOT_VARIANT (set by `sweetspot profile --limits`): 0 is the kernel. 1 does only the memory accesses: nothing is
 * multiplied. 2 does only the arithmetic: nothing is loaded.
 *
 * Sources: PTX ISA 9.0, sections on wgmma (fragments, matrix descriptors), cp.async.bulk.tensor, mbarrier,
 * setmaxnreg. Ootomo and Yokota, Recovering single precision accuracy from Tensor Cores while surpassing the FP32
 * theoretical peak performance, IJHPCA 36, 2022. Fasi, Higham, Mikaitis and Pranesh, Numerical behavior of NVIDIA
 * tensor cores, PeerJ Computer Science 7, 2021.
 */

#include "gemm_wgmma/mainloop.cuh"
#include "gemm_wgmma/prepare.cuh"

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
        /* the first `more` parts have one more step */
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
#if MAP_C
    const target t = {c, ldc, m, n, alpha, beta, &map_c};
#else
    const target t = {c, ldc, m, n, alpha, beta, nullptr};
#endif
    if (threadIdx.x == 128 * WARPGROUPS) {
        for (int s = 0; s < STAGES; s++) {
            barrier_init(r.full + 8 * s, 1);
            barrier_init(r.empty + 8 * s, RELEASES);
        }
        if (STORE_IS == STORE_tma)
            for (int i = 0; i < WARPGROUPS * STORE_BUFFERS; i++) barrier_init(loaded + 8 * i, 1);
        barriers_initialised();
    }
    /* The thread that loads also initialises the barriers. So if no other block arrives at them, it need not wait for
     * the other threads. */
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
#if STREAM_K || TWO_PASS
        consume(p, r, t, rank, base + STAGES * (A_BYTES + B_BYTES), loaded, {sums, counts});
#else
        consume(p, r, t, rank, base + STAGES * (A_BYTES + B_BYTES), loaded, {});
#endif
    }
    /* No block may end while another sends to its memory, reads it, or arrives at its barriers. */
    if (CLUSTER > 1) cluster_sync();
}

/* ---- the sum of the parts ---------------------------------------------------------------------------------------- */

#if TWO_PASS
/* C = alpha * (sum of the parts) + beta * C. Block (x, y) adds the y-th 128 of the sums that block x of each part left,
 * four per lane. Each warp adds consecutive parts, with up to 16 in flight at once. Then the first warp adds the warps'
 * sums. The order is fixed, so results are bit-identical. Without the 1 in the launch bounds, the compiler would save
 * registers and keep few loads in flight. */
extern "C" __global__ void __launch_bounds__(32 * FINISH_WARPS, 1)
    gemm_wgmma_finish(output *c, int m, int n, float alpha, float beta, long long ldc, int parts,
                      const float *__restrict__ sums)
{
    /* parts per warp; how many of them are loaded at once */
    constexpr int EACH = (SPLIT_K + FINISH_WARPS - 1) / FINISH_WARPS, TOGETHER = EACH < 16 ? EACH : 16;
    __shared__ float4 found[FINISH_WARPS][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const problem p = {m, n, 0, (m + BLOCK_M * CLUSTER_M - 1) / (BLOCK_M * CLUSTER_M),
                       (n + BLOCK_N * CLUSTER_N - 1) / (BLOCK_N * CLUSTER_N)};
    int row, col;
    place(p, blockIdx.x / CLUSTER, row, col);
    /* Which thread of the consumers had these sums, and which four of its sums they are. */
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
        /* Past the end, the last part is loaded again but not added, because conditional loads wait for each other. */
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
