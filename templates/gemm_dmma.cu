/*
 * gemm_dmma.cu: matrix product in FP64 on the tensor cores, C = alpha * A * B + beta * C, by mma.sync.
 *
 *     A: M x K, B: K x N, C: M x N; row-major with leading dimensions lda, ldb, ldc. Any M, N, K >= 1, any leading
 *     dimensions; beta = 0: C is not read. Sums are in FP64, fused, in the tensor core's order.
 *
 * The block's tiles of A and B come through a ring of STAGES buffers in shared memory by cp.async. What lies where is
 * made for loads without conflicts, one double a lane: loads of two would bring them in another order than the
 * instruction wants its registers, and moving them takes more instructions than it saves.
 *
 *     A   panels of 4 k's: BLOCK_M rows of 32 bytes, then a gap of 32   lane 4*g + t reads rows g and g + 8 of 16,
 *                                                                       k t of 4
 *     B   BLOCK_K rows of BLOCK_N + 4 doubles                           lane 4*g + t reads row t of 4, column g of 8
 *     C   lane 4*g + t has rows g and g + 8 of 16, columns 2t and 2t + 1 of 8
 *
 *     gemm_dmma  (int M, int N, int K, double alpha, A, int lda, B, int ldb, double beta, C, int ldc)
 *         grid     ceil_div(M, BLOCK_M) * ceil_div(N, BLOCK_N)
 *         block    32 * (BLOCK_M / WARP_M) * (BLOCK_N / WARP_N)
 *         shared   8 * STAGES * BLOCK_K * (BLOCK_M + 1 + BLOCK_N + 4)
 *
 * Parameters (macros; each has a default)
 *
 *     BLOCK_M, BLOCK_N, BLOCK_K   the tile, multiples of WARP_M, WARP_N and MMA_K
 *     WARP_M, WARP_N   a warp's part of it, multiples of 16 and of 8
 *     MMA_K            k's of an instruction: 4, 8 or 16 on sm_90; before, instructions are 8 x 8 x 4 whatever it says
 *     STAGES           2 or more
 *     RASTER           consecutive blocks go through RASTER rows of tiles, column by column: they share what they
 *                      read of B in the L2
 *     MIN_BLOCKS       blocks per SM that the registers must suffice for
 *
 * Where rows of A or B do not begin at multiples of 16 bytes they are copied by 8.
 *
 * SWEETSPOT_VARIANT (set by `sweetspot limiter`): 0 the kernel; 1 memory alone: nothing is multiplied but the last
 * sums; 2 arithmetic alone: nothing is copied.
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
#define STAGES 3
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
constexpr int TILES_M = WARP_M / 16, TILES_N = WARP_N / 8; /* of a warp: 16 rows, 8 columns */
/* doubles */
constexpr int PANEL = 4 * BLOCK_M + 4, A_SIZE = BLOCK_K / 4 * PANEL, B_PITCH = BLOCK_N + 4,
              STAGE = A_SIZE + BLOCK_K * B_PITCH;
constexpr int GROUP = MMA_K; /* k's that are in registers at a time */

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
constexpr int PART = 4; /* k's of an instruction */
#else
constexpr int PART = MMA_K;
#endif

static_assert(WARP_M % 16 == 0 && WARP_N % 8 == 0, "WARP_M must be a multiple of 16, WARP_N of 8");
static_assert(BLOCK_M % WARP_M == 0 && BLOCK_N % WARP_N == 0,
              "BLOCK_M and BLOCK_N must be multiples of WARP_M and WARP_N");
static_assert(MMA_K == 4 || MMA_K == 8 || MMA_K == 16, "MMA_K must be 4, 8 or 16");
static_assert(BLOCK_K % GROUP == 0, "BLOCK_K must be a multiple of MMA_K");
static_assert(THREADS <= 1024, "a block has at most 1024 threads");
static_assert(STAGES >= 2, "STAGES must be at least 2");

struct problem {
    int M, N, K;
    double alpha, beta;
    const double *A, *B;
    double *C;
    int lda, ldb, ldc;
};

/* Copies BYTES, of which the first `valid` come from memory, the rest are zeros. */
template <int BYTES> __device__ __forceinline__ void copy(unsigned to, const double *from, int valid)
{
#if SWEETSPOT_VARIANT != 2
    copy_async_or_zero<BYTES>(to, from, valid);
#endif
}

/* A tile that is ROWS x COLS, WIDTH doubles a copy: element (i, j) of the tile, from (row + i, column + j) of the
 * matrix of rows x columns, goes to place(i, j). */
template <int ROWS, int COLS, int WIDTH, typename PLACE>
__device__ __forceinline__ void copy_tile(const double *matrix, int ld, int row, int column, int rows, int columns,
                                          PLACE place)
{
    constexpr int UNITS = ROWS * COLS / WIDTH;
#pragma unroll 1 /* the tensor core leaves time for addresses, and the sums leave no registers */
    for (int first = 0; first < UNITS; first += THREADS) {
        const int unit = first + (int)threadIdx.x, i = unit / (COLS / WIDTH), j = unit % (COLS / WIDTH) * WIDTH;
        if (UNITS % THREADS && unit >= UNITS) break;
        const bool inside = row + i < rows && column + j < columns;
        copy<8 * WIDTH>(place(i, j), inside ? matrix + (long long)ld * (row + i) + column + j : matrix,
                        inside ? 8 * min(WIDTH, columns - column - j) : 0);
    }
}

/* Where element (i, j) of a tile of A and of B lies in a stage, in doubles. */
__device__ __forceinline__ int place_a(int i, int j)
{
    return j / 4 * PANEL + i * 4 + j % 4;
}
__device__ __forceinline__ int place_b(int i, int j)
{
    return A_SIZE + i * B_PITCH + j;
}

/* How threads share a tile that lies within the matrix: a pass covers STEP rows, and what a thread copies is at a
 * constant distance from what it copied in the pass before, so that a copy costs three instructions instead of
 * thirty. With those thirty the whole product was at half its speed: all warps copy at the same time, right after the
 * barrier. */
template <int ROWS, int COLS, int WIDTH> struct shares {
    static constexpr int ACROSS = COLS / WIDTH, STEP = THREADS >= ACROSS ? THREADS / ACROSS : 1, PASSES = ROWS / STEP;
    static constexpr bool EVEN = THREADS % ACROSS == 0 && ROWS % STEP == 0;
    static __device__ __forceinline__ int row()
    {
        return (int)threadIdx.x / ACROSS;
    }
    static __device__ __forceinline__ int column()
    {
        return (int)threadIdx.x % ACROSS * WIDTH;
    }
};

/* A thread's place in the tiles that are copied next. */
struct walk {
    const double *a, *b;
    int to_a, to_b; /* in a stage */
};

template <int WIDTH> __device__ __forceinline__ walk walk_begin(const problem &p, int row, int column)
{
    typedef shares<BLOCK_M, BLOCK_K, WIDTH> of_a;
    typedef shares<BLOCK_K, BLOCK_N, WIDTH> of_b;
    return {p.A + (long long)p.lda * (row + of_a::row()) + of_a::column(),
            p.B + (long long)p.ldb * of_b::row() + column + of_b::column(), place_a(of_a::row(), of_a::column()),
            place_b(of_b::row(), of_b::column())};
}

/* The tiles at the walk's place, all of them within the matrices. */
template <int WIDTH> __device__ __forceinline__ void copy_inside(const double *stage, const walk &at, const problem &p)
{
    typedef shares<BLOCK_M, BLOCK_K, WIDTH> of_a;
    typedef shares<BLOCK_K, BLOCK_N, WIDTH> of_b;
    const unsigned to_a = shared_address(stage) + at.to_a * 8, to_b = shared_address(stage) + at.to_b * 8;
    const long long step_a = (long long)p.lda * of_a::STEP, step_b = (long long)p.ldb * of_b::STEP;
    const double *from = at.a;
#pragma unroll
    for (int i = 0; i < of_a::PASSES; ++i, from += step_a)
        copy<8 * WIDTH>(to_a + i * (of_a::STEP * 4 * 8), from, 8 * WIDTH);
    from = at.b;
#pragma unroll
    for (int i = 0; i < of_b::PASSES; ++i, from += step_b)
        copy<8 * WIDTH>(to_b + i * (of_b::STEP * B_PITCH * 8), from, 8 * WIDTH);
}

/* A stage's tiles of A and B, from k on, wherever they lie. */
__device__ __forceinline__ void copy_checked(const double *stage, const problem &p, int row, int column, int k,
                                             bool aligned)
{
    const unsigned to = shared_address(stage);
    const auto to_a = [&](int i, int j) { return to + place_a(i, j) * 8; };
    const auto to_b = [&](int i, int j) { return to + place_b(i, j) * 8; };
    if (aligned) {
        copy_tile<BLOCK_M, BLOCK_K, 2>(p.A, p.lda, row, k, p.M, p.K, to_a);
        copy_tile<BLOCK_K, BLOCK_N, 2>(p.B, p.ldb, k, column, p.K, p.N, to_b);
    } else {
        copy_tile<BLOCK_M, BLOCK_K, 1>(p.A, p.lda, row, k, p.M, p.K, to_a);
        copy_tile<BLOCK_K, BLOCK_N, 1>(p.B, p.ldb, k, column, p.K, p.N, to_b);
    }
}

/* What a lane holds of A and B for GROUP k's, four by four. */
struct fragments {
    double a[GROUP / 4][TILES_M][2]; /* rows g and g + 8 */
    double b[GROUP / 4][TILES_N];
};

__device__ __forceinline__ void load_fragments(fragments &f, const double *a, const double *b)
{
#pragma unroll
    for (int part = 0; part < GROUP / 4; ++part) {
#pragma unroll
        for (int m = 0; m < TILES_M; ++m)
#pragma unroll
            for (int h = 0; h < 2; ++h) f.a[part][m][h] = a[part * PANEL + (m * 16 + h * 8) * 4];
#pragma unroll
        for (int n = 0; n < TILES_N; ++n) f.b[part][n] = b[part * 4 * B_PITCH + n * 8];
    }
}

typedef double sums[TILES_M][TILES_N][4];

/* One instruction, or two before sm_90, for tile (m, n): the k's of the fragments that begin at 4 * part. */
__device__ __forceinline__ void multiply_one(double (&d)[4], const fragments &f, int m, int n, int part)
{
#if SWEETSPOT_VARIANT == 1
    d[0] += f.a[part][m][0] + f.a[part][m][1] + f.b[part][n];
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#pragma unroll
    for (int h = 0; h < 2; ++h)
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                     : "+d"(d[2 * h]), "+d"(d[2 * h + 1])
                     : "d"(f.a[part][m][h]), "d"(f.b[part][n]));
#elif MMA_K == 4
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                 : "d"(f.a[part][m][0]), "d"(f.a[part][m][1]), "d"(f.b[part][n]));
#elif MMA_K == 8
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, "
                 "%1, %2, %3};"
                 : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                 : "d"(f.a[0][m][0]), "d"(f.a[0][m][1]), "d"(f.a[1][m][0]), "d"(f.a[1][m][1]), "d"(f.b[0][n]),
                   "d"(f.b[1][n]));
#else
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, "
                 "%11}, {%12, %13, %14, %15}, {%0, "
                 "%1, %2, %3};"
                 : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                 : "d"(f.a[0][m][0]), "d"(f.a[0][m][1]), "d"(f.a[1][m][0]), "d"(f.a[1][m][1]), "d"(f.a[2][m][0]),
                   "d"(f.a[2][m][1]), "d"(f.a[3][m][0]), "d"(f.a[3][m][1]), "d"(f.b[0][n]), "d"(f.b[1][n]),
                   "d"(f.b[2][n]), "d"(f.b[3][n]));
#endif
}

/* All of them; parts of k outermost, so that no instruction waits for the one before it. */
__device__ __forceinline__ void multiply(sums &sum, const fragments &f)
{
#pragma unroll
    for (int part = 0; part < GROUP / PART; ++part)
#pragma unroll
        for (int m = 0; m < TILES_M; ++m)
#pragma unroll
            for (int n = 0; n < TILES_N; ++n) multiply_one(sum[m][n], f, m, n, part);
}

/* sum = the block's product. */
__device__ __forceinline__ void multiply_tile(sums &sum, const problem &p, double *stages, int row, int column)
{
    constexpr bool EVEN_2 = shares<BLOCK_M, BLOCK_K, 2>::EVEN && shares<BLOCK_K, BLOCK_N, 2>::EVEN;
    constexpr bool EVEN_1 = shares<BLOCK_M, BLOCK_K, 1>::EVEN && shares<BLOCK_K, BLOCK_N, 1>::EVEN;
    const bool aligned =
        (reinterpret_cast<unsigned long long>(p.A) | reinterpret_cast<unsigned long long>(p.B)) % 16 == 0 &&
        (p.lda | p.ldb) % 2 == 0;
    const bool inside = (aligned ? EVEN_2 : EVEN_1) && row + BLOCK_M <= p.M && column + BLOCK_N <= p.N;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4,
              steps = (p.K + BLOCK_K - 1) / BLOCK_K;
    const int whole = inside ? p.K / BLOCK_K : 0; /* steps whose tiles are within the matrices */
    const int a_at = (warp / WARPS_N * WARP_M + g) * 4 + t, b_at = A_SIZE + t * B_PITCH + warp % WARPS_N * WARP_N + g;
    walk at = aligned ? walk_begin<2>(p, row, column) : walk_begin<1>(p, row, column);
    const auto copy_stage = [&](int step, const double *stage) {
        if (step >= whole)
            copy_checked(stage, p, row, column, step * BLOCK_K, aligned);
        else if (aligned)
            copy_inside<2>(stage, at, p);
        else
            copy_inside<1>(stage, at, p);
        at.a += BLOCK_K;
        at.b += (long long)p.ldb * BLOCK_K;
    };
#pragma unroll 1
    for (int s = 0; s < STAGES - 1; ++s) {
        if (s < steps) copy_stage(s, stages + s * STAGE);
        commit_copies();
    }
    int stage = 0, free = STAGES - 1;
#pragma unroll 1
    for (int i = 0; i < steps; ++i) {
        wait_for_copies<STAGES - 2>();
        __syncthreads(); /* also: all are done with the stage that is filled next */
        if (i + STAGES - 1 < steps) copy_stage(i + STAGES - 1, stages + free * STAGE);
        commit_copies();
        const double *const here = stages + stage * STAGE;
#pragma unroll
        for (int k = 0; k < BLOCK_K; k += GROUP) {
            fragments f;
            load_fragments(f, here + a_at + k / 4 * PANEL, here + b_at + k * B_PITCH);
            multiply(sum, f);
        }
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        free = free + 1 == STAGES ? 0 : free + 1;
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
    const int first_row = row + warp / WARPS_N * WARP_M + lane / 4,
              first_column = column + warp % WARPS_N * WARP_N + lane % 4 * 2;
#pragma unroll
    for (int m = 0; m < TILES_M; ++m)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const int i = first_row + m * 16 + h * 8;
            if (i >= p.M) continue;
#pragma unroll
            for (int n = 0; n < TILES_N; ++n) {
                const int j = first_column + n * 8;
                double *const c = p.C + (long long)p.ldc * i + j;
#pragma unroll
                for (int e = 0; e < 2; ++e)
                    if (j + e < p.N) c[e] = p.alpha * sum[m][n][2 * h + e] + (p.beta != 0.0 ? p.beta * c[e] : 0.0);
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
