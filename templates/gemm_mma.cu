/*
 * gemm_mma.cu: matrix product on the tensor cores by mma.sync, C = alpha * op(A) * op(B) + beta * C, for BF16, FP16,
 * FP32 multiplied as TF32, and INT8. It needs sm_80 or later, and no instruction that only one architecture has.
 *
 *     op(A): M x K, stored M x K (A_MAJOR k) or K x M (A_MAJOR m); op(B): K x N, stored N x K (B_MAJOR k) or K x N
 *     (B_MAJOR n); C: M x N; row-major with leading dimensions lda, ldb, ldc. Any M, N >= 1, any K >= 0, any alignment
 *     and leading dimensions; beta = 0: C is not read. Sums are in FP32 (of INT8 in INT32, which wraps around), in the
 *     tensor core's order. TF32: the lowest 13 bits of the operands are ignored.
 *
 * The block's tiles of A and B come through a ring of STAGES buffers in shared memory, by cp.async of 16 bytes
 * (operand.cuh). ldmatrix reads them without bank conflicts. All four types move in the same way, because every
 * instruction takes 32 bytes along K of 16 rows and 8 columns. There are two sets of fragments. While one is multiplied
 * the other is loaded, also across the border between two stages (mainloop.cuh).
 *
 * Blocks at the edge need no checks either, except for the incomplete tile at the end of K, which comes first. Where a
 * row of A or B does not begin at a multiple of 16 bytes, all copies are checked, and those of that operand go through
 * registers, element by element, which takes several times as long.
 *
 *     gemm_mma  (int M, int N, int K, alpha, A, int lda, B, int ldb, beta, C, int ldc)
 *         alpha and beta are float, for INT8 int
 *         grid     ceil_div(M, BLOCK_M) * ceil_div(N, BLOCK_N)
 *         block    32 * (BLOCK_M / WARP_M) * (BLOCK_N / WARP_N)
 *         shared   STAGES * BLOCK_K * (BLOCK_M + BLOCK_N) * bytes of an element
 *
 * Parameters (macros; each has a default)
 *
 *     INPUT, OUTPUT    bf16, f16 or tf32 to bf16, f16 or f32; i8 to i32
 *     A_MAJOR, B_MAJOR see above; i8 only k
 *     BLOCK_M, BLOCK_N the tile, multiples of WARP_M and WARP_N
 *     BLOCK_K          64 bytes of a row, or a multiple of 128
 *     WARP_M, WARP_N   a warp's part of the tile, multiples of 16. Of operands that are not K-major the tile has a
 *                      multiple of 128 bytes, and the warp's part divides 128 bytes or is a multiple of them
 *     STAGES           2 or more
 *     DOUBLE_BUFFER    1: two sets of fragments; 0: one, which leaves registers for more sums
 *     RASTER           consecutive blocks go through RASTER rows of tiles, column by column, so that they share what
 *                      they read of B in the L2
 *     MIN_BLOCKS       blocks per SM that the registers must suffice for
 *
 * The number of warps must be even. Where a tile has several panels (operand.cuh), their lines (K-major: BLOCK_M,
 * BLOCK_N; otherwise BLOCK_K) must divide the lines that all threads copy at once (a quarter or an eighth of the
 * threads), or the other way round.
 *
 * SWEETSPOT_VARIANT (set by `sweetspot profile --limits`): 0 the kernel; 1 only memory: nothing is multiplied; 2 only
 * arithmetic: nothing is copied.
 *
 * Sources: PTX ISA 9.0, mma.sync for bf16, f16, tf32 and s8 (fragments), ldmatrix, cp.async. The order of the main loop
 * is that of CUTLASS's multistage main loop for sm_80.
 */

#include "gemm_mma/epilogue.cuh"

namespace
{

/* The tile of a block: RASTER rows of tiles at a time, column by column. */
__device__ __forceinline__ void tile_of_block(int M, int N, int &row, int &column)
{
    const int rows = (M + BLOCK_M - 1) / BLOCK_M, columns = (N + BLOCK_N - 1) / BLOCK_N,
              strip = blockIdx.x / (RASTER * columns);
    const int height = min(RASTER, rows - strip * RASTER), within = blockIdx.x - strip * RASTER * columns;
    row = (strip * RASTER + within % height) * BLOCK_M;
    column = within / height * BLOCK_N;
}

/* The work of a block. */
__device__ __forceinline__ void multiply_and_store(int K, const input *A, int lda, const input *B, int ldb,
                                                   const target &t)
{
    extern __shared__ uint4 shared_memory[];
    char *const memory = reinterpret_cast<char *>(shared_memory);
    const int warp = threadIdx.x / 32, first_row = warp / WARPS_N * WARP_M, first_column = warp % WARPS_N * WARP_N;
    int row, column;
    tile_of_block(t.M, t.N, row, column);
    copier_a a(A, lda, row, t.M);
    copier_b b(B, ldb, column, t.N);
    sums sum = {};
    if (a.regular() && b.regular())
        multiply_tile<false>(sum, a, b, shared_address(memory), K, first_row, first_column);
    else
        multiply_tile<true>(sum, a, b, shared_address(memory), K, first_row, first_column);
    __syncthreads(); /* before results overwrite the stages */
    store_tile(sum, t, memory, row + first_row, column + first_column);
}

} // namespace

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    gemm_mma(int M, int N, int K, number alpha, const input *__restrict__ A, int lda, const input *__restrict__ B,
             int ldb, number beta, output *C, int ldc)
{
    multiply_and_store(K, A, lda, B, ldb, {C, ldc, M, N, alpha, beta});
}
