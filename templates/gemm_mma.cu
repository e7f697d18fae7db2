/*
 * gemm_mma.cu: matrix product on the tensor cores with mma.sync, C = alpha * op(A) * op(B) + beta * C, for BF16, FP16,
 * FP32 multiplied as TF32, and INT8. It needs sm_80 or later, and uses no instruction that only one architecture has.
 *
 *     op(A): M x K, stored M x K (A_MAJOR k) or K x M (A_MAJOR m); op(B): K x N, stored N x K (B_MAJOR k) or K x N
 *     (B_MAJOR n); C: M x N; row-major with leading dimensions lda, ldb, ldc. Any M, N >= 1, any K >= 0, any alignment
 *     and leading dimensions. With beta = 0, C is not read. Sums are in FP32 (for INT8 in INT32, which wraps around),
 *     in the tensor core's order. With TF32, the lowest 13 bits of the operands are ignored.
 *
 * A block's tiles of A and B pass through a ring of STAGES buffers in shared memory. cp.async copies 16 bytes at a time
 * (operand.cuh). ldmatrix reads without bank conflicts. All four types are moved in the same way, because every
 * instruction takes 32 bytes along K from each of 16 rows and 8 columns. While fragments are multiplied, the next ones
 * are loaded, even across the border between two stages (mainloop.cuh).
 *
 * Copies of complete tiles along K need no checks, not even in blocks at the edge of C. The incomplete tile at the end
 * of K comes first, with checks. If the rows of A or B do not begin at multiples of 16 bytes, all copies are checked,
 * and this operand is copied through registers, element by element. This takes several times as long.
 *
 *     gemm_mma  (int M, int N, int K, alpha, A, int lda, B, int ldb, beta, C, int ldc, parts, flags)
 *         alpha and beta are float, for INT8 int
 *         grid     ceil_div(M, BLOCK_M) * ceil_div(N, BLOCK_N), with PERSISTENT at most as many as fit at once
 *         block    32 * (BLOCK_M / WARP_M) * (BLOCK_N / WARP_N)
 *         parts, flags   with WORKSPACE 1: BLOCK_M * BLOCK_N sums per block, aligned to 16 bytes, and one flag per
 *                  block, which is zero before and after the launch
 *         shared   STAGES * BLOCK_K * (BLOCK_M + BLOCK_N) * bytes per element
 *
 * Parameters (macros; each has a default)
 *
 *     INPUT, OUTPUT    bf16, f16 or tf32 to bf16, f16 or f32; i8 to i32
 *     A_MAJOR, B_MAJOR see above; i8 only k
 *     BLOCK_M, BLOCK_N the tile, multiples of WARP_M and WARP_N
 *     BLOCK_K          64 bytes of a row, or a multiple of 128
 *     WARP_M, WARP_N   a warp's part of the tile, multiples of 16. For operands that are not K-major, the tile must be
 *                      a multiple of 128 bytes, and the warp's part must divide 128 bytes or be a multiple of them
 *     STAGES           2 or more
 *     DOUBLE_BUFFER    1: two sets of fragments; 0: one set, in which a fragment is loaded as soon as its predecessor
 *                      has been used for the last time. This leaves registers for more sums
 *     RASTER           consecutive blocks go through RASTER rows of tiles, column by column, so that they share their
 *                      parts of B in the L2
 *     PERSISTENT       0: one block per tile
 *                      1: blocks go through all tiles, and load the first stages of the next tile while they store
 *                      2: as 1, and if the last wave of tiles is not full, its steps along K are divided among the
 *                      blocks, at most four per tile, which leave partial sums in the workspace; needs WORKSPACE 1
 *     MIN_BLOCKS       blocks per SM; limits registers so that this many fit
 *
 * The number of warps must be even. If a tile has several panels (operand.cuh), the number of lines per panel (K-major:
 * BLOCK_M, BLOCK_N; otherwise BLOCK_K) must divide the number of lines that all threads copy at once (a quarter or an
 * eighth of the threads), or the other way round.
 *
 * SWEETSPOT_VARIANT (set by `sweetspot profile --limits`): 0 is the kernel. 1 does only the memory accesses: nothing is
 * multiplied. 2 does only the arithmetic: nothing is copied.
 *
 * Sources: PTX ISA 9.0, mma.sync for bf16, f16, tf32 and s8 (fragments), ldmatrix, cp.async. The order of the main loop
 * follows CUTLASS's multistage main loop for sm_80.
 */

#include "gemm_mma/epilogue.cuh"

namespace
{

/* The work of a block. The copies for the next piece begin before the results of the current one are stored. These
 * results pass through the stage that the copies leave free. */
__device__ __forceinline__ void multiply_and_store(const product &p, const target &t, const workspace &space)
{
    extern __shared__ uint4 shared_memory[];
    char *const memory = reinterpret_cast<char *>(shared_memory);
    const int warp = threadIdx.x / 32, first_row = warp / WARPS_N * WARP_M, first_column = warp % WARPS_N * WARP_N;
    const reader_a a(first_row);
    const reader_b b(first_column);
    walk w = walk_begin(p);
    piece now, next;
    int row, column;
    walk_next(p, w, now);
    place(p, now.tile, row, column);
    ring r(p, shared_address(memory), now, row, column);
    r.begin();
#pragma unroll 1
    for (bool more = true; more; now = next) {
        sums sum = {};
        if (r.checked)
            multiply_tile<true>(sum, r, a, b);
        else
            multiply_tile<false>(sum, r, a, b);
        __syncthreads(); /* before results and copies overwrite the stages */
        const int to_row = row + first_row, to_column = column + first_column;
        more = PERSISTENT && walk_next(p, w, next);
        if (more) {
            place(p, next.tile, row, column);
            r = ring(p, shared_address(memory), next, row, column);
            r.begin();
        }
        if (PERSISTENT < 2 || now.to == steps_of(p)) {
            if (PERSISTENT == 2 && now.from > 0) add_parts(sum, p, space, w.alone, now.from);
            store_tile(sum, t, memory + (STAGES - 1) * STAGE, to_row, to_column);
        } else {
            leave_part(sum, space);
        }
    }
}

} // namespace

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    gemm_mma(int M, int N, int K, number alpha, const input *__restrict__ A, int lda, const input *__restrict__ B,
             int ldb, number beta, output *C, int ldc
#if WORKSPACE
             ,
             number *parts, unsigned *flags)
{
    multiply_and_store({A, B, lda, ldb, M, N, K}, {C, ldc, M, N, alpha, beta}, {parts, flags});
}
#else
    )
{
    multiply_and_store({A, B, lda, ldb, M, N, K}, {C, ldc, M, N, alpha, beta}, {});
}
#endif
