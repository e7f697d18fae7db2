/*
 * gemm_dmma.cu: matrix product in FP64 on the tensor cores, C = alpha * A * B + beta * C, by mma.sync.
 *
 *     A: M x K, B: K x N, C: M x N; row-major with leading dimensions lda, ldb, ldc. Any M, N, K >= 1, any leading dimensions; beta = 0: C is
 *     not read. Sums are in FP64, fused, in the tensor core's order.
 *
 * The block's tiles of A and B come through a ring of STAGES buffers in shared memory by cp.async. What lies where is made for loads of 16
 * bytes without conflicts, with two liberties that cost nothing. The order of k within eight is not the instruction's but the same
 * for A and B; and the columns of a pair of the instruction's tiles alternate, so that a lane ends up with four neighbours of C.
 *
 *     A   panels of 8 k's: BLOCK_M rows of 64 bytes, then a gap of 64      lane 4*g + t reads row g, k 2t and 2t + 1
 *     B   BLOCK_K rows of BLOCK_N + 2 doubles                              lane 4*g + t reads rows 2t and 2t + 1, columns 2g and 2g + 1 of 16
 *     C   lane 4*g + t has rows g and g + 8 of 16, columns 4t .. 4t + 3 of 16
 *
 *     gemm_dmma  (int M, int N, int K, double alpha, A, int lda, B, int ldb, double beta, C, int ldc)
 *         grid     ceil_div(M, BLOCK_M) * ceil_div(N, BLOCK_N)
 *         block    32 * (BLOCK_M / WARP_M) * (BLOCK_N / WARP_N)
 *         shared   8 * STAGES * (BLOCK_K / 8 * (8 * BLOCK_M + 8) + BLOCK_K * (BLOCK_N + 2))
 *
 * Parameters (macros; each has a default)
 *
 *     BLOCK_M, BLOCK_N, BLOCK_K   the tile, multiples of WARP_M, WARP_N and MMA_K
 *     WARP_M, WARP_N   a warp's part of it, multiples of 16
 *     MMA_K            k's of an instruction: 4, 8 or 16 on sm_90; before, instructions are 8 x 8 x 4 whatever it says
 *     STAGES           2 or more
 *     RASTER           consecutive blocks go through RASTER rows of tiles, column by column: they share what they read of B in the L2
 *     MIN_BLOCKS       blocks an SM that registers must suffice for
 *
 * Where rows of A or B do not begin at multiples of 16 bytes they are copied by 8.
 *
 * SWEETSPOT_VARIANT (set by `sweetspot limiter`): 0 the kernel; 1 memory alone: nothing is multiplied but the last sums; 2 arithmetic alone:
 * nothing is copied.
 *
 * Sources: PTX ISA 9.0, mma.sync for f64 (fragments).
 */

#ifndef SWEETSPOT_VARIANT
#define SWEETSPOT_VARIANT 0
#endif
#ifndef BLOCK_M
#define BLOCK_M 128
#endif
#ifndef BLOCK_N
#define BLOCK_N 128
#endif
#ifndef BLOCK_K
#define BLOCK_K 16
#endif
#ifndef WARP_M
#define WARP_M 64
#endif
#ifndef WARP_N
#define WARP_N 32
#endif
#ifndef MMA_K
#define MMA_K 8
#endif
#ifndef STAGES
#define STAGES 3
#endif
#ifndef RASTER
#define RASTER 8
#endif
#ifndef MIN_BLOCKS
#define MIN_BLOCKS 1
#endif

namespace {

constexpr int WARPS_M = BLOCK_M / WARP_M, WARPS_N = BLOCK_N / WARP_N, THREADS = 32 * WARPS_M * WARPS_N;
constexpr int TILES_M = WARP_M / 16, PAIRS_N = WARP_N / 16; /* of a warp: 16 rows, twice 8 columns */
constexpr int PANEL = 8 * BLOCK_M + 8, A_SIZE = BLOCK_K / 8 * PANEL, B_PITCH = BLOCK_N + 2, STAGE = A_SIZE + BLOCK_K * B_PITCH; /* doubles */
constexpr int GROUP = MMA_K < 8 ? 8 : MMA_K; /* k's that are in registers at a time */

static_assert(WARP_M % 16 == 0 && WARP_N % 16 == 0, "WARP_M and WARP_N must be multiples of 16");
static_assert(BLOCK_M % WARP_M == 0 && BLOCK_N % WARP_N == 0, "BLOCK_M and BLOCK_N must be multiples of WARP_M and WARP_N");
static_assert(MMA_K == 4 || MMA_K == 8 || MMA_K == 16, "MMA_K must be 4, 8 or 16");
static_assert(BLOCK_K % GROUP == 0, "BLOCK_K must be a multiple of 8 and of MMA_K");
static_assert(THREADS <= 1024, "a block has at most 1024 threads");
static_assert(STAGES >= 2, "STAGES must be at least 2");

struct problem {
    int M, N, K;
    double alpha, beta;
    const double *A, *B;
    double *C;
    int lda, ldb, ldc;
};

__device__ __forceinline__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

/* Copies BYTES, of which the first `valid` come from memory, the rest are zeros. */
template <int BYTES> __device__ __forceinline__ void copy_async(unsigned to, const double *from, int valid)
{
#if SWEETSPOT_VARIANT != 2
    if constexpr (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(valid) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(valid) : "memory");
#endif
}

/* A tile that is ROWS x COLS, WIDTH doubles a copy: element (i, j) of the tile, from (row + i, column + j) of the
 * matrix of rows x columns, goes to place(i, j). */
template <int ROWS, int COLS, int WIDTH, typename PLACE>
__device__ __forceinline__ void copy_tile(const double *matrix, int ld, int row, int column, int rows, int columns, PLACE place)
{
    constexpr int UNITS = ROWS * COLS / WIDTH;
#pragma unroll 1 /* the tensor core leaves time for addresses, and the sums no registers */
    for (int first = 0; first < UNITS; first += THREADS) {
        const int unit = first + (int)threadIdx.x, i = unit / (COLS / WIDTH), j = unit % (COLS / WIDTH) * WIDTH;
        if (UNITS % THREADS && unit >= UNITS)
            break;
        const bool inside = row + i < rows && column + j < columns;
        copy_async<8 * WIDTH>(place(i, j), inside ? matrix + (long long)ld * (row + i) + column + j : matrix, inside ? 8 * min(WIDTH, columns - column - j) : 0);
    }
}

/* A stage's tiles of A and B, from k on. */
__device__ __forceinline__ void copy_stage(double *stage, const problem &p, int row, int column, int k, bool aligned)
{
    const unsigned a = shared_address(stage), b = a + A_SIZE * 8;
    const auto place_a = [&](int i, int j) { return a + (j / 8 * PANEL + i * 8 + j % 8) * 8; };
    const auto place_b = [&](int i, int j) { return b + (i * B_PITCH + j) * 8; };
    if (aligned) {
        copy_tile<BLOCK_M, BLOCK_K, 2>(p.A, p.lda, row, k, p.M, p.K, place_a);
        copy_tile<BLOCK_K, BLOCK_N, 2>(p.B, p.ldb, k, column, p.K, p.N, place_b);
    } else {
        copy_tile<BLOCK_M, BLOCK_K, 1>(p.A, p.lda, row, k, p.M, p.K, place_a);
        copy_tile<BLOCK_K, BLOCK_N, 1>(p.B, p.ldb, k, column, p.K, p.N, place_b);
    }
}

/* What a lane holds of A and B for GROUP k's: [k of its eight][..]. */
struct fragments {
    double a[GROUP / 8][TILES_M][2][2]; /* row g or g + 8; k 2t or 2t + 1 */
    double b[GROUP / 8][2][PAIRS_N][2]; /* k 2t or 2t + 1; which of the pair's tiles */
};

__device__ __forceinline__ void load_fragments(fragments &f, const double *a, const double *b)
{
#pragma unroll
    for (int e = 0; e < GROUP / 8; ++e) {
#pragma unroll
        for (int m = 0; m < TILES_M; ++m)
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                const double2 v = *reinterpret_cast<const double2 *>(a + e * PANEL + (m * 16 + h * 8) * 8);
                f.a[e][m][h][0] = v.x, f.a[e][m][h][1] = v.y;
            }
#pragma unroll
        for (int k = 0; k < 2; ++k)
#pragma unroll
            for (int n = 0; n < PAIRS_N; ++n) {
                const double2 v = *reinterpret_cast<const double2 *>(b + (e * 8 + k) * B_PITCH + n * 16);
                f.b[e][k][n][0] = v.x, f.b[e][k][n][1] = v.y;
            }
    }
}

typedef double sums[TILES_M][PAIRS_N][2][4];

__device__ __forceinline__ void multiply(sums &sum, const fragments &f)
{
#pragma unroll
    for (int m = 0; m < TILES_M; ++m)
#pragma unroll
        for (int n = 0; n < PAIRS_N; ++n)
#pragma unroll
            for (int s = 0; s < 2; ++s) {
                double(&d)[4] = sum[m][n][s];
#if SWEETSPOT_VARIANT == 1
                d[0] += f.a[0][m][0][0] + f.a[0][m][1][1] + f.b[0][0][n][s] + f.b[0][1][n][s];
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#pragma unroll
                for (int e = 0; e < GROUP / 8; ++e)
#pragma unroll
                    for (int k = 0; k < 2; ++k)
#pragma unroll
                        for (int h = 0; h < 2; ++h)
                            asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                                         : "+d"(d[2 * h]), "+d"(d[2 * h + 1])
                                         : "d"(f.a[e][m][h][k]), "d"(f.b[e][k][n][s]));
#elif MMA_K == 4
#pragma unroll
                for (int k = 0; k < 2; ++k)
                    asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                                 : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                                 : "d"(f.a[0][m][0][k]), "d"(f.a[0][m][1][k]), "d"(f.b[0][k][n][s]));
#elif MMA_K == 8
                asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                             : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                             : "d"(f.a[0][m][0][0]), "d"(f.a[0][m][1][0]), "d"(f.a[0][m][0][1]), "d"(f.a[0][m][1][1]), "d"(f.b[0][0][n][s]),
                               "d"(f.b[0][1][n][s]));
#else
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, "
                             "%1, %2, %3};"
                             : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                             : "d"(f.a[0][m][0][0]), "d"(f.a[0][m][1][0]), "d"(f.a[0][m][0][1]), "d"(f.a[0][m][1][1]), "d"(f.a[1][m][0][0]),
                               "d"(f.a[1][m][1][0]), "d"(f.a[1][m][0][1]), "d"(f.a[1][m][1][1]), "d"(f.b[0][0][n][s]), "d"(f.b[0][1][n][s]),
                               "d"(f.b[1][0][n][s]), "d"(f.b[1][1][n][s]));
#endif
            }
}

/* sum = the block's product. */
__device__ __forceinline__ void multiply_tile(sums &sum, const problem &p, double *stages, int row, int column)
{
    const bool aligned = (reinterpret_cast<unsigned long long>(p.A) | reinterpret_cast<unsigned long long>(p.B)) % 16 == 0 && (p.lda | p.ldb) % 2 == 0;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, steps = (p.K + BLOCK_K - 1) / BLOCK_K;
    const int a_at = (warp / WARPS_N * WARP_M + g) * 8 + 2 * t, b_at = A_SIZE + 2 * t * B_PITCH + warp % WARPS_N * WARP_N + 2 * g;
#pragma unroll 1
    for (int s = 0; s < STAGES - 1; ++s) {
        if (s < steps)
            copy_stage(stages + s * STAGE, p, row, column, s * BLOCK_K, aligned);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    int stage = 0, free = STAGES - 1;
#pragma unroll 1
    for (int i = 0; i < steps; ++i) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads(); /* also: all have done with the stage that is filled now */
        if (i + STAGES - 1 < steps)
            copy_stage(stages + free * STAGE, p, row, column, (i + STAGES - 1) * BLOCK_K, aligned);
        asm volatile("cp.async.commit_group;" ::: "memory");
        const double *const here = stages + stage * STAGE;
#pragma unroll
        for (int k = 0; k < BLOCK_K; k += GROUP) {
            fragments f;
            load_fragments(f, here + a_at + k / 8 * PANEL, here + b_at + k * B_PITCH);
            multiply(sum, f);
        }
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        free = free + 1 == STAGES ? 0 : free + 1;
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
}

/* The tile of a block: RASTER rows of tiles at a time, column by column. */
__device__ __forceinline__ void tile_of_block(int M, int N, int &row, int &column)
{
    const int rows = (M + BLOCK_M - 1) / BLOCK_M, columns = (N + BLOCK_N - 1) / BLOCK_N, strip = blockIdx.x / (RASTER * columns);
    const int height = min(RASTER, rows - strip * RASTER), within = blockIdx.x - strip * RASTER * columns;
    row = (strip * RASTER + within % height) * BLOCK_M;
    column = within / height * BLOCK_N;
}

/* What a block does. */
__device__ __forceinline__ void multiply_and_store(const problem &p)
{
    extern __shared__ double2 shared_memory[];
    double *const stages = reinterpret_cast<double *>(shared_memory);
    sums sum = {};
    int row, column;
    tile_of_block(p.M, p.N, row, column);
    multiply_tile(sum, p, stages, row, column);

    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int first_row = row + warp / WARPS_N * WARP_M + lane / 4, first_column = column + warp % WARPS_N * WARP_N + lane % 4 * 4;
#pragma unroll
    for (int m = 0; m < TILES_M; ++m)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const int i = first_row + m * 16 + h * 8;
            if (i >= p.M)
                continue;
#pragma unroll
            for (int n = 0; n < PAIRS_N; ++n) {
                const int j = first_column + n * 16;
                double *const c = p.C + (long long)p.ldc * i + j;
#pragma unroll
                for (int e = 0; e < 4; ++e) /* the pair's tiles alternate */
                    if (j + e < p.N)
                        c[e] = p.alpha * sum[m][n][e % 2][2 * h + e / 2] + (p.beta != 0.0 ? p.beta * c[e] : 0.0);
            }
        }
}

} // namespace

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
gemm_dmma(int M, int N, int K, double alpha, const double *__restrict__ A, int lda, const double *__restrict__ B, int ldb, double beta, double *C, int ldc)
{
    multiply_and_store({M, N, K, alpha, beta, A, B, C, lda, ldb, ldc});
}
