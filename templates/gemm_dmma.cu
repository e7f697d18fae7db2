/*
 * gemm_dmma.cu: matrix product in FP64 on the tensor cores, C = alpha * A * B + beta * C, by mma.sync.
 *
 *     A: M x K, B: K x N, C: M x N; row-major with leading dimensions lda, ldb, ldc. Any M, N, K >= 1, any leading
 *     dimensions; beta = 0: C is not read. Sums are in FP64, fused, in the tensor core's order.
 *
 * The block's tiles of A and B come through a ring of STAGES buffers in shared memory by cp.async. A tile consists of
 * panels with rows of 16 doubles (128 bytes): 16 k's of each row of A, 16 columns of each k of B. The 16-byte chunk c
 * of row r lies at position c ^ (r % 8), so that loads of two doubles a lane have no bank conflicts.
 *
 * The instruction's first operand is B, its second A: the product is transposed. A load of two doubles then fills two
 * registers of one instruction and nothing is moved. In group g = lane / 4, with t = lane % 4:
 *
 *     B   columns 2g and 2g + 1 of 16 are the instruction's rows g and g + 8; k's 2t and 2t + 1 of 8 its k's t, t + 4
 *     A   row g / 2 + g % 2 * 4 of 8 is its column g (rows of one load then differ in bit 2 of their number, and chunks
 *         in the other two); k's 2t and 2t + 1 as above
 *     C   rows t and t + 4 of 8, columns 2g and 2g + 1 of 16: stores of 16 bytes
 *
 * There are two sets of fragments. While one is multiplied the other is loaded, also across the barrier between two
 * stages. Without that the tensor cores wait after each barrier (docs/experiments/dgemm.md).
 *
 *     gemm_dmma  (int M, int N, int K, double alpha, A, int lda, B, int ldb, double beta, C, int ldc)
 *         grid     ceil_div(M, BLOCK_M) * ceil_div(N, BLOCK_N)
 *         block    32 * (BLOCK_M / WARP_M) * (BLOCK_N / WARP_N)
 *         shared   1024 + 8 * STAGES * BLOCK_K * (BLOCK_M + BLOCK_N)
 *
 * Parameters (macros; each has a default)
 *
 *     BLOCK_M, BLOCK_N, BLOCK_K   the tile, multiples of WARP_M, WARP_N and 16; BLOCK_K also of 2 * MMA_K
 *     WARP_M, WARP_N   a warp's part of it, multiples of 8 and of 16
 *     MMA_K            k's of an instruction: 8 or 16 on sm_90; before, instructions are 8 x 8 x 4 whatever it says
 *     STAGES           2 or more
 *     RASTER           consecutive blocks go through RASTER rows of tiles, column by column: they share what they
 *                      read of B in the L2
 *     MIN_BLOCKS       blocks per SM that the registers must suffice for
 *
 * The number of warps is even, and rows of a panel (BLOCK_M; BLOCK_K) divide, or are divided by, those that all threads
 * copy at once (4 per warp). Where rows of A or B do not begin at multiples of 16 bytes they are copied by 8.
 *
 * SWEETSPOT_VARIANT (set by `sweetspot profile --limits`): 0 the kernel; 1 memory alone: nothing is multiplied but the
 * last sums; 2 arithmetic alone: nothing is copied.
 *
 * Sources: PTX ISA 9.0, mma.sync for f64 (fragments).
 */

#include "device/ptx.cuh"

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
#define STAGES 4
#endif
#ifndef RASTER
#define RASTER 8
#endif
#ifndef MIN_BLOCKS
#define MIN_BLOCKS 1
#endif

namespace
{

constexpr int WARPS_M = BLOCK_M / WARP_M, WARPS_N = BLOCK_N / WARP_N, THREADS = 32 * WARPS_M * WARPS_N;
constexpr int TILES_M = WARP_M / 8, TILES_N = WARP_N / 16;  /* of a warp: 8 rows, 16 columns */
constexpr int GROUPS = BLOCK_K / MMA_K, EIGHTS = MMA_K / 8; /* of a stage; of a group */
constexpr int ROW = 128;                                    /* bytes, of a panel */
constexpr int A_BYTES = BLOCK_M * BLOCK_K * 8, STAGE = A_BYTES + BLOCK_N * BLOCK_K * 8;
constexpr int PASS = THREADS / 8; /* rows that all threads copy at once */

static_assert(WARP_M % 8 == 0 && WARP_N % 16 == 0, "WARP_M must be a multiple of 8, WARP_N of 16");
static_assert(BLOCK_M % WARP_M == 0 && BLOCK_N % WARP_N == 0,
              "BLOCK_M and BLOCK_N must be multiples of WARP_M and WARP_N");
static_assert(MMA_K == 8 || MMA_K == 16, "MMA_K must be 8 or 16");
static_assert(BLOCK_K % (2 * MMA_K) == 0, "BLOCK_K must be a multiple of 2 * MMA_K");
static_assert(THREADS <= 1024 && THREADS % 64 == 0, "a block has at most 1024 threads, and an even number of warps");
static_assert((PASS % BLOCK_M == 0 || BLOCK_M % PASS == 0) && (PASS % BLOCK_K == 0 || BLOCK_K % PASS == 0),
              "BLOCK_M and BLOCK_K must divide, or be multiples of, 4 rows per warp");
static_assert(BLOCK_M * BLOCK_K / 16 % PASS == 0 && BLOCK_N * BLOCK_K / 16 % PASS == 0,
              "the threads must copy a tile in whole passes");
static_assert(STAGES >= 2, "STAGES must be at least 2");

struct problem {
    int M, N, K;
    double alpha, beta;
    const double *A, *B;
    double *C;
    int lda, ldb, ldc;
};

/* Copies 8 or 16 bytes; where they are not `there`, they become zeros. */
template <int BYTES> __device__ __forceinline__ void copy_or_zero(unsigned to, const double *from, bool there)
{
#if SWEETSPOT_VARIANT != 2
    copy_async_or_zero<BYTES>(to, from, there ? BYTES : 0);
#endif
}

/* How the threads copy a tile of PANELS panels with ROWS rows each. Thread i has chunk i % 8 of row i / 8, and in each
 * pass the row that is PASS rows further on, in the next panel after the last row. What it copies is then at a constant
 * distance from what it copied in the pass before, which costs three instructions a copy instead of thirty. */
template <int ROWS, int PANELS> struct panels {
    static constexpr int PASSES = ROWS * PANELS / PASS;

    static __device__ __forceinline__ int row(int thread)
    {
        return thread / 8 % ROWS;
    }
    static __device__ __forceinline__ int column(int thread)
    {
        return thread / 8 / ROWS * 16 + thread % 8 * 2;
    }
    static __device__ __forceinline__ unsigned place(int thread)
    {
        return thread / 8 * ROW + (thread % 8 ^ thread / 8 % 8) * 16;
    }

    /* `from` is the thread's element of the first pass, at (row, column) of a matrix of rows x columns; !CHECKED: all
     * of the tile lies within. */
    template <bool CHECKED, bool ALIGNED>
    static __device__ __forceinline__ void copy(unsigned to, const double *from, int ld, int row, int column, int rows,
                                                int columns)
    {
#pragma unroll
        for (int i = 0; i < PASSES; ++i) {
            const int down = i * PASS % ROWS, across = i * PASS / ROWS * 16;
            const double *const at = from + (long long)down * ld + across;
            const int left = !CHECKED ? 2 : row + down < rows ? columns - column - across : 0;
            if constexpr (ALIGNED && !CHECKED) {
                copy_or_zero<16>(to + i * PASS * ROW, at, true);
            } else {
                copy_or_zero<8>(to + i * PASS * ROW, at, left > 0);
                copy_or_zero<8>(to + i * PASS * ROW + 8, at + 1, left > 1);
            }
        }
    }
};
typedef panels<BLOCK_M, BLOCK_K / 16> panels_a;
typedef panels<BLOCK_K, BLOCK_N / 16> panels_b;

/* The ring's input: a thread's place in the tiles that are copied next, from k on. */
struct source {
    const double *a, *b;
    int row, column; /* of the block's tile of C */
    int k;
    bool aligned; /* to 16 bytes, all rows */
};

__device__ __forceinline__ source source_begin(const problem &p, int row, int column)
{
    const int thread = threadIdx.x;
    return {p.A + (long long)p.lda * (row + panels_a::row(thread)) + panels_a::column(thread),
            p.B + (long long)p.ldb * panels_b::row(thread) + column + panels_b::column(thread),
            row,
            column,
            0,
            (reinterpret_cast<unsigned long long>(p.A) | reinterpret_cast<unsigned long long>(p.B)) % 16 == 0 &&
                (p.lda | p.ldb) % 2 == 0};
}

template <bool CHECKED, bool ALIGNED>
__device__ __forceinline__ void copy_tiles(const problem &p, const source &s, unsigned to)
{
    const int thread = threadIdx.x;
    panels_a::copy<CHECKED, ALIGNED>(to + panels_a::place(thread), s.a, p.lda, s.row + panels_a::row(thread),
                                     s.k + panels_a::column(thread), p.M, p.K);
    panels_b::copy<CHECKED, ALIGNED>(to + A_BYTES + panels_b::place(thread), s.b, p.ldb, s.k + panels_b::row(thread),
                                     s.column + panels_b::column(thread), p.K, p.N);
}

/* Copies the next tiles, if there are any, to a stage. */
__device__ __forceinline__ void copy_stage(const problem &p, source &s, unsigned stage)
{
    if (s.k < p.K) {
        const bool inside = s.row + BLOCK_M <= p.M && s.column + BLOCK_N <= p.N && s.k + BLOCK_K <= p.K;
        if (!inside)
            copy_tiles<true, false>(p, s, stage);
        else if (s.aligned)
            copy_tiles<false, true>(p, s, stage);
        else
            copy_tiles<false, false>(p, s, stage);
        s.k += BLOCK_K;
        s.a += BLOCK_K;
        s.b += (long long)p.ldb * BLOCK_K;
    }
    commit_copies();
}

/* What a lane holds of B and A for MMA_K k's, eight by eight. */
struct fragments {
    double b[EIGHTS][TILES_N][4]; /* k 2t: columns 2g, 2g + 1; then the same of k 2t + 1 */
    double a[EIGHTS][TILES_M][2]; /* k's 2t, 2t + 1 */
};

__device__ __forceinline__ void load_pair(double &x, double &y, unsigned from)
{
    asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(x), "=d"(y) : "r"(from) : "memory");
}

/* Those of a group of a stage, for the warp whose first row and column of the tile are given. */
__device__ __forceinline__ void load_fragments(fragments &f, unsigned stage, int group, int first_row, int first_column)
{
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, row = g / 2 + g % 2 * 4;
#pragma unroll
    for (int e = 0; e < EIGHTS; ++e) {
        const int eight = group * EIGHTS + e;
        const unsigned a =
            stage + eight / 2 * (BLOCK_M * ROW) + (first_row + row) * ROW + ((eight % 2 * 4 + t) ^ row) * 16;
#pragma unroll
        for (int m = 0; m < TILES_M; ++m) load_pair(f.a[e][m][0], f.a[e][m][1], a + m * 8 * ROW);
        const unsigned b = stage + A_BYTES + first_column / 16 * (BLOCK_K * ROW) + eight * 8 * ROW;
#pragma unroll
        for (int n = 0; n < TILES_N; ++n)
#pragma unroll
            for (int h = 0; h < 2; ++h)
                load_pair(f.b[e][n][2 * h], f.b[e][n][2 * h + 1],
                          b + n * (BLOCK_K * ROW) + (2 * t + h) * ROW + (g ^ (2 * t + h)) * 16);
    }
}

typedef double sums[TILES_M][TILES_N][4];

/* One instruction, or more before sm_90, for tile (m, n). */
__device__ __forceinline__ void multiply_one(double (&d)[4], const fragments &f, int m, int n)
{
#if SWEETSPOT_VARIANT == 1
    d[0] += f.b[0][n][0] + f.b[0][n][3] + f.a[0][m][0];
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#pragma unroll
    for (int e = 0; e < 2 * EIGHTS; ++e)
#pragma unroll
        for (int h = 0; h < 2; ++h)
            asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                         : "+d"(d[2 * h]), "+d"(d[2 * h + 1])
                         : "d"(f.b[e / 2][n][e % 2 * 2 + h]), "d"(f.a[e / 2][m][e % 2]));
#elif MMA_K == 8
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, "
                 "%1, %2, %3};"
                 : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                 : "d"(f.b[0][n][0]), "d"(f.b[0][n][1]), "d"(f.b[0][n][2]), "d"(f.b[0][n][3]), "d"(f.a[0][m][0]),
                   "d"(f.a[0][m][1]));
#else
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, "
                 "%11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
                 : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                 : "d"(f.b[0][n][0]), "d"(f.b[0][n][1]), "d"(f.b[0][n][2]), "d"(f.b[0][n][3]), "d"(f.b[1][n][0]),
                   "d"(f.b[1][n][1]), "d"(f.b[1][n][2]), "d"(f.b[1][n][3]), "d"(f.a[0][m][0]), "d"(f.a[0][m][1]),
                   "d"(f.a[1][m][0]), "d"(f.a[1][m][1]));
#endif
}

__device__ __forceinline__ void multiply(sums &sum, const fragments &f)
{
#pragma unroll
    for (int m = 0; m < TILES_M; ++m)
#pragma unroll
        for (int i = 0; i < TILES_N; ++i) {
            const int n = m % 2 ? TILES_N - 1 - i : i; /* there and back: an operand that was used last is used again */
            multiply_one(sum[m][n], f, m, n);
        }
}

/* sum = the product of the warp's part of the tile. */
__device__ __forceinline__ void multiply_tile(sums &sum, const problem &p, unsigned stages, int row, int column,
                                              int first_row, int first_column)
{
    const int steps = (p.K + BLOCK_K - 1) / BLOCK_K;
    source from = source_begin(p, row, column);
#pragma unroll 1
    for (int s = 0; s < STAGES - 1; ++s) copy_stage(p, from, stages + s * STAGE);
    wait_for_copies<STAGES - 2>();
    __syncthreads();
    fragments f[2];
    unsigned here = stages, free = stages + (STAGES - 1) * STAGE;
    load_fragments(f[0], here, 0, first_row, first_column);
#pragma unroll 1
    for (int i = 0; i < steps; ++i) {
        copy_stage(p, from, free);
        free = here;
#pragma unroll
        for (int group = 0; group < GROUPS; ++group) {
            if (group == GROUPS - 1) {
                here = here == stages + (STAGES - 1) * STAGE ? stages : here + STAGE;
                wait_for_copies<STAGES - 2>();
                __syncthreads(); /* also: all have loaded what they need of the stage before */
            }
            /* After the last step these are read and not used. */
            load_fragments(f[(group + 1) % 2], here, (group + 1) % GROUPS, first_row, first_column);
            multiply(sum, f[group % 2]);
        }
    }
    wait_for_copies<0>();
}

/* The tile of a block: RASTER rows of tiles at a time, column by column. */
__device__ __forceinline__ void tile_of_block(int M, int N, int &row, int &column)
{
    const int rows = (M + BLOCK_M - 1) / BLOCK_M, columns = (N + BLOCK_N - 1) / BLOCK_N,
              strip = blockIdx.x / (RASTER * columns);
    const int height = min(RASTER, rows - strip * RASTER), within = blockIdx.x - strip * RASTER * columns;
    row = (strip * RASTER + within % height) * BLOCK_M;
    column = within / height * BLOCK_N;
}

/* Two neighbours of a row of C; `second`: whether it has both. */
__device__ __forceinline__ void store_pair(const problem &p, double *c, double x, double y, bool pairs, bool second)
{
    if (pairs && second) {
        const double2 old = p.beta != 0.0 ? *reinterpret_cast<const double2 *>(c) : double2{0.0, 0.0};
        *reinterpret_cast<double2 *>(c) = p.beta != 0.0
                                              ? double2{p.alpha * x + p.beta * old.x, p.alpha * y + p.beta * old.y}
                                              : double2{p.alpha * x, p.alpha * y};
        return;
    }
    c[0] = p.alpha * x + (p.beta != 0.0 ? p.beta * c[0] : 0.0);
    if (second) c[1] = p.alpha * y + (p.beta != 0.0 ? p.beta * c[1] : 0.0);
}

/* What a block does. */
__device__ __forceinline__ void multiply_and_store(const problem &p)
{
    extern __shared__ double2 shared_memory[];
    const unsigned stages = (shared_address(shared_memory) + 1023) / 1024 * 1024;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int first_row = warp / WARPS_N * WARP_M, first_column = warp % WARPS_N * WARP_N;
    sums sum = {};
    int row, column;
    tile_of_block(p.M, p.N, row, column);
    multiply_tile(sum, p, stages, row, column, first_row, first_column);

    const bool pairs = reinterpret_cast<unsigned long long>(p.C) % 16 == 0 && p.ldc % 2 == 0;
#pragma unroll
    for (int m = 0; m < TILES_M; ++m)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const int i = row + first_row + m * 8 + lane % 4 + h * 4;
            if (i >= p.M) continue;
#pragma unroll
            for (int n = 0; n < TILES_N; ++n) {
                const int j = column + first_column + n * 16 + lane / 4 * 2;
                if (j < p.N)
                    store_pair(p, p.C + (long long)p.ldc * i + j, sum[m][n][h], sum[m][n][2 + h], pairs, j + 1 < p.N);
            }
        }
}

} // namespace

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    gemm_dmma(int M, int N, int K, double alpha, const double *__restrict__ A, int lda, const double *__restrict__ B,
              int ldb, double beta, double *C, int ldc)
{
    multiply_and_store({M, N, K, alpha, beta, A, B, C, lda, ldb, ldc});
}
