/*
 * gemm_dmma.cu: FP64 matrix product on the tensor cores with mma.sync, C = alpha * A * B + beta * C.
 *
 *     A: M x K, B: K x N, C: M x N; row-major with leading dimensions lda, ldb, ldc. Any M, N, K >= 1, any leading
 *     dimensions. With beta = 0, C is not read. Sums are in FP64, with fused multiply-adds in the tensor core's order.
 *
 * A block's tiles of A and B pass through a ring of STAGES buffers in shared memory. A tile consists of panels with
 * rows of 16 doubles (128 bytes): 16 values of k for a row of A, or 16 columns for one k of B. The 16-byte chunk c of
 * row r is stored at position c ^ (r % 8), which is TMA's swizzle of 128 bytes. Loads of two doubles per lane then have
 * no bank conflicts.
 *
 * There are two ways to copy, with the same layout:
 *
 *     gemm_dmma       all threads copy with cp.async; a block barrier separates two stages
 *     gemm_dmma_tma   (sm_90, TMA 1) one thread copies with TMA; mbarriers show which stages are full, and which empty
 *
 * The instruction's first operand is B and its second is A, so that the product is transposed. A load of two doubles
 * then fills two registers of one instruction, and no registers are moved. For g = lane / 4 and t = lane % 4:
 *
 *     B   columns 2g and 2g + 1 of 16 are the instruction's rows g and g + 8; k = 2t and 2t + 1 of 8 are its k = t and
 *         t + 4
 *     A   row g / 2 + g % 2 * 4 of 8 is its column g (rows of one load then differ in bit 2 of their number, and chunks
 *         in the other two bits); k = 2t and 2t + 1 as above
 *     C   rows t and t + 4 of 8, columns 2g and 2g + 1 of 16, which allows stores of 16 bytes
 *
 * There are two sets of fragments. While one is multiplied, the other is loaded, even across the border between two
 * stages. Otherwise the tensor cores wait after each border (docs/experiments/dgemm.md).
 *
 *     gemm_dmma      (int M, int N, int K, double alpha, A, int lda, B, int ldb, double beta, C, int ldc)
 *     gemm_dmma_tma  (map A, map B, int M, int N, int K, double alpha, double beta, C, int ldc)
 *         grid     ceil_div(M, BLOCK_M) * ceil_div(N, BLOCK_N)
 *         block    32 * (BLOCK_M / WARP_M) * (BLOCK_N / WARP_N)
 *         shared   1024 + 8 * STAGES * BLOCK_K * (BLOCK_M + BLOCK_N), with TMA 16 * STAGES more
 *         maps     A: M by K, box BLOCK_M by 16
 *                  B: ldb / 16 panels of K by 16, box BLOCK_N / 16 by BLOCK_K by 16, strides 16 and ldb
 *                  Both are swizzled over 128 bytes. lda must be even, ldb a multiple of 16, and A and B aligned to 16
 *                  bytes. If N is not a multiple of 16, B's last panel reaches past the end of the rows; no result
 *                  depends on these elements.
 *
 * Parameters (macros; each has a default)
 *
 *     BLOCK_M, BLOCK_N, BLOCK_K   the tile, multiples of WARP_M, WARP_N and 16; BLOCK_K also of 2 * MMA_K
 *     WARP_M, WARP_N   a warp's part of the tile, multiples of 8 and of 16
 *     MMA_K            extent of an instruction along K: 8 or 16 on sm_90; older devices always use 8 x 8 x 4
 *     STAGES           2 or more
 *     TMA              1: gemm_dmma_tma exists
 *     RASTER           consecutive blocks go through RASTER rows of tiles, column by column, so that they share their
 *                      parts of B in the L2
 *     MIN_BLOCKS       blocks per SM; limits registers so that this many fit
 *
 * The number of warps must be even. gemm_dmma copies faster if the number of rows of a panel (BLOCK_M; BLOCK_K)
 * divides, or is a multiple of, the number of rows that all threads copy at once (4 per warp). If rows of A or B do not
 * begin at multiples of 16 bytes, 8 bytes are copied at a time.
 *
 * SWEETSPOT_VARIANT (set by `sweetspot profile --limits`): 0 is the kernel. 1 does only the memory accesses: nothing is
 * multiplied except the final sums. 2 does only the arithmetic: nothing is copied.
 *
 * Sources: PTX ISA 9.0, mma.sync for f64 (fragments), cp.async.bulk.tensor, mbarrier.
 */

#include "device/ptx.cuh"
#include "device/tma.cuh"

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
#ifndef TMA
#define TMA 0
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
constexpr int TILES_M = WARP_M / 8, TILES_N = WARP_N / 16;  /* tiles of a warp: 8 rows, 16 columns */
constexpr int GROUPS = BLOCK_K / MMA_K, EIGHTS = MMA_K / 8; /* per stage; per group */
constexpr int ROW = 128;                                    /* bytes of a panel's row */
constexpr int A_BYTES = BLOCK_M * BLOCK_K * 8, STAGE = A_BYTES + BLOCK_N * BLOCK_K * 8;
constexpr int PASS = THREADS / 8; /* rows that all threads copy at once */

static_assert(WARP_M % 8 == 0 && WARP_N % 16 == 0, "WARP_M must be a multiple of 8, WARP_N of 16");
static_assert(BLOCK_M % WARP_M == 0 && BLOCK_N % WARP_N == 0,
              "BLOCK_M and BLOCK_N must be multiples of WARP_M and WARP_N");
static_assert(MMA_K == 8 || MMA_K == 16, "MMA_K must be 8 or 16");
static_assert(BLOCK_K % (2 * MMA_K) == 0, "BLOCK_K must be a multiple of 2 * MMA_K");
static_assert(THREADS <= 1024 && THREADS % 64 == 0, "a block has at most 1024 threads, and an even number of warps");
static_assert(STAGES >= 2, "STAGES must be at least 2");

struct problem {
    int M, N, K;
    double alpha, beta;
    const double *A, *B;
    double *C;
    int lda, ldb, ldc;
};

/* Copies 8 or 16 bytes if they are `there`, otherwise writes zeros. */
template <int BYTES> __device__ __forceinline__ void copy_or_zero(unsigned to, const double *from, bool there)
{
#if SWEETSPOT_VARIANT != 2
    copy_async_or_zero<BYTES>(to, from, there ? BYTES : 0);
#endif
}

/* How the threads copy a tile of PANELS panels with ROWS rows each. Thread i has chunk i % 8 of row i / 8. In each pass
 * it moves on by PASS rows; after the last row it continues in the next panel. If the sizes allow it (REGULAR), its
 * copies are at constant distances, which takes three instructions per copy instead of thirty. */
template <int ROWS, int PANELS> struct panels {
    static constexpr int PASSES = (ROWS * PANELS + PASS - 1) / PASS;
    static constexpr bool REGULAR = (PASS % ROWS == 0 || ROWS % PASS == 0) && ROWS * PANELS % PASS == 0;

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

    /* `from` is the thread's element in the first pass, at (row, column) of a rows x columns matrix. !CHECKED: the
     * whole tile lies within the matrix. */
    template <bool CHECKED, bool ALIGNED>
    static __device__ __forceinline__ void copy(unsigned to, const double *from, int ld, int row, int column, int rows,
                                                int columns)
    {
#pragma unroll(REGULAR ? PASSES : 1)
        for (int i = 0; i < PASSES; ++i) {
            int down = i * PASS % ROWS, across = i * PASS / ROWS * 16;
            if constexpr (!REGULAR) {
                const int first = threadIdx.x / 8, number = i * PASS + first;
                if (number >= ROWS * PANELS) break;
                down = number % ROWS - first % ROWS;
                across = (number / ROWS - first / ROWS) * 16;
            }
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

/* The ring with cp.async: all threads copy, and a block barrier separates two stages. `here` is the stage whose
 * fragments are loaded next. */
struct async_ring {
    const problem &p;
    unsigned stages, here, free;
    const double *a, *b; /* the thread's element of the tiles that are copied next */
    int row, column, k;  /* where those tiles begin */
    bool aligned;        /* all rows are aligned to 16 bytes */

    __device__ __forceinline__ async_ring(const problem &problem, unsigned memory, int row, int column)
        : p(problem), stages(memory), here(memory), free(memory + (STAGES - 1) * STAGE),
          a(p.A + (long long)p.lda * (row + panels_a::row(threadIdx.x)) + panels_a::column(threadIdx.x)),
          b(p.B + (long long)p.ldb * panels_b::row(threadIdx.x) + column + panels_b::column(threadIdx.x)), row(row),
          column(column), k(0),
          aligned((reinterpret_cast<unsigned long long>(p.A) | reinterpret_cast<unsigned long long>(p.B)) % 16 == 0 &&
                  (p.lda | p.ldb) % 2 == 0)
    {
    }

    template <bool CHECKED, bool ALIGNED> __device__ __forceinline__ void copy_tiles(unsigned to)
    {
        const int thread = threadIdx.x;
        panels_a::copy<CHECKED, ALIGNED>(to + panels_a::place(thread), a, p.lda, row + panels_a::row(thread),
                                         k + panels_a::column(thread), p.M, p.K);
        panels_b::copy<CHECKED, ALIGNED>(to + A_BYTES + panels_b::place(thread), b, p.ldb, k + panels_b::row(thread),
                                         column + panels_b::column(thread), p.K, p.N);
    }

    /* Copies the next tiles, if there are any, to a stage. */
    __device__ __forceinline__ void copy_stage(unsigned stage)
    {
        if (k < p.K) {
            const bool inside = row + BLOCK_M <= p.M && column + BLOCK_N <= p.N && k + BLOCK_K <= p.K;
            if (!inside)
                copy_tiles<true, false>(stage);
            else if (aligned)
                copy_tiles<false, true>(stage);
            else
                copy_tiles<false, false>(stage);
            k += BLOCK_K;
            a += BLOCK_K;
            b += (long long)p.ldb * BLOCK_K;
        }
        commit_copies();
    }

    __device__ __forceinline__ void begin()
    {
#pragma unroll 1
        for (int s = 0; s < STAGES - 1; ++s) copy_stage(stages + s * STAGE);
        wait_for_copies<STAGES - 2>();
        __syncthreads();
    }
    __device__ __forceinline__ void refill(int)
    {
        copy_stage(free);
        free = here;
    }
    __device__ __forceinline__ void next(int)
    {
        here = here == stages + (STAGES - 1) * STAGE ? stages : here + STAGE;
        wait_for_copies<STAGES - 2>();
        __syncthreads(); /* also: all threads have read the previous stage */
    }
    __device__ __forceinline__ void end()
    {
        wait_for_copies<0>();
    }
};

#if TMA
/* The ring with TMA: one thread copies. A stage has two mbarriers: `full` means that its bytes have arrived, `empty`
 * that all warps have loaded its fragments. A stage is refilled at the beginning of the step after its use, when the
 * slower warps have loaded its fragments too. */
struct tma_ring {
    const tensor_map *a, *b;
    int row, column, K;
    unsigned stages, full, empty, here;
    int stage;       /* number of `here` */
    unsigned parity; /* of its `full` barrier */

    __device__ __forceinline__ tma_ring(const problem &p, unsigned memory, int row, int column, const tensor_map &a,
                                        const tensor_map &b)
        : a(&a), b(&b), row(row), column(column), K(p.K), stages(memory), full(memory + STAGES * STAGE),
          empty(full + 8 * STAGES), here(memory), stage(0), parity(0)
    {
    }

    /* Copies the tiles of a step to stage number `to`. The copying thread calls it. */
    __device__ __forceinline__ void copy_stage(int step, int to)
    {
        const unsigned at = stages + to * STAGE, barrier = full + 8 * to;
#if SWEETSPOT_VARIANT == 2
        barrier_arrive(barrier);
#else
        barrier_expect(barrier, STAGE);
#pragma unroll
        for (int panel = 0; panel < BLOCK_K / 16; ++panel)
            load_box<1, 0>(at + panel * BLOCK_M * ROW, a, step * BLOCK_K + panel * 16, row, barrier, 0, 0);
        load_box_3d(at + A_BYTES, b, 0, step * BLOCK_K, column / 16, barrier);
#endif
    }

    __device__ __forceinline__ void begin()
    {
        if (threadIdx.x == 0) {
#pragma unroll 1
            for (int s = 0; s < STAGES; ++s) {
                barrier_init(full + 8 * s, 1);
                barrier_init(empty + 8 * s, THREADS / 32);
            }
            barriers_initialised();
#pragma unroll 1
            for (int s = 0; s < STAGES - 1 && s * BLOCK_K < K; ++s) copy_stage(s, s);
        }
        __syncthreads();
        if (K > 0) barrier_wait(full, 0);
    }
    __device__ __forceinline__ void refill(int step)
    {
        const int ahead = step + STAGES - 1;
        if (threadIdx.x == 0 && ahead * BLOCK_K < K) {
            const int before = stage > 0 ? stage - 1 : STAGES - 1;
            barrier_wait(empty + 8 * before, stage > 0 ? parity : parity ^ 1);
            copy_stage(ahead, before);
        }
        __syncwarp();
    }
    __device__ __forceinline__ void next(int step)
    {
        __syncwarp();
        if (threadIdx.x % 32 == 0) barrier_arrive(empty + 8 * stage);
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
        here = stages + stage * STAGE;
        if ((step + 1) * BLOCK_K < K) barrier_wait(full + 8 * stage, parity);
    }
    __device__ __forceinline__ void end()
    {
    }
};
#endif

/* A lane's elements of B and A for MMA_K values of k, in groups of eight. */
struct fragments {
    double b[EIGHTS][TILES_N][4]; /* k = 2t: columns 2g, 2g + 1; then the same for k = 2t + 1 */
    double a[EIGHTS][TILES_M][2]; /* k = 2t, 2t + 1 */
};

__device__ __forceinline__ void load_pair(double &x, double &y, unsigned from)
{
    asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(x), "=d"(y) : "r"(from) : "memory");
}

/* Loads a group of a stage for the warp that begins at the given row and column of the tile. */
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

/* Executes one instruction for tile (m, n), or several before sm_90. */
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
            const int n = m % 2 ? TILES_N - 1 - i : i; /* back and forth, so that the last operand is used again */
            multiply_one(sum[m][n], f, m, n);
        }
}

/* sum = the product for the warp's part of the tile, which begins at the given row and column of the tile. */
template <class RING>
__device__ __forceinline__ void multiply_tile(sums &sum, RING &ring, int K, int first_row, int first_column)
{
    const int steps = (K + BLOCK_K - 1) / BLOCK_K;
    fragments f[2];
    ring.begin();
    load_fragments(f[0], ring.here, 0, first_row, first_column);
#pragma unroll 1
    for (int i = 0; i < steps; ++i) {
        ring.refill(i);
#pragma unroll
        for (int group = 0; group < GROUPS; ++group) {
            if (group == GROUPS - 1) ring.next(i);
            /* After the last step, these are loaded but not used. */
            load_fragments(f[(group + 1) % 2], ring.here, (group + 1) % GROUPS, first_row, first_column);
            multiply(sum, f[group % 2]);
        }
    }
    ring.end();
}

/* The tile of this block. Blocks go through RASTER rows of tiles at a time, column by column. */
__device__ __forceinline__ void tile_of_block(int M, int N, int &row, int &column)
{
    const int rows = (M + BLOCK_M - 1) / BLOCK_M, columns = (N + BLOCK_N - 1) / BLOCK_N,
              strip = blockIdx.x / (RASTER * columns);
    const int height = min(RASTER, rows - strip * RASTER), within = blockIdx.x - strip * RASTER * columns;
    row = (strip * RASTER + within % height) * BLOCK_M;
    column = within / height * BLOCK_N;
}

/* Stores two adjacent elements of a row of C. second: whether the row has the second element. */
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

/* Stores the warp's part of the block's tile at (row, column). */
__device__ __forceinline__ void store_tile(const problem &p, const sums &sum, int row, int column)
{
    const int lane = threadIdx.x % 32;
    const bool pairs = reinterpret_cast<unsigned long long>(p.C) % 16 == 0 && p.ldc % 2 == 0;
#pragma unroll
    for (int m = 0; m < TILES_M; ++m)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const int i = row + m * 8 + lane % 4 + h * 4;
            if (i >= p.M) continue;
#pragma unroll
            for (int n = 0; n < TILES_N; ++n) {
                const int j = column + n * 16 + lane / 4 * 2;
                if (j < p.N)
                    store_pair(p, p.C + (long long)p.ldc * i + j, sum[m][n][h], sum[m][n][2 + h], pairs, j + 1 < p.N);
            }
        }
}

/* The work of a block. `from`: the tensor maps of a tma_ring. */
template <class RING, class... MAPS>
__device__ __forceinline__ void multiply_and_store(const problem &p, const MAPS &...from)
{
    extern __shared__ double2 shared_memory[];
    const unsigned stages = (shared_address(shared_memory) + 1023) / 1024 * 1024;
    const int warp = threadIdx.x / 32, first_row = warp / WARPS_N * WARP_M, first_column = warp % WARPS_N * WARP_N;
    sums sum = {};
    int row, column;
    tile_of_block(p.M, p.N, row, column);
    RING ring(p, stages, row, column, from...);
    multiply_tile(sum, ring, p.K, first_row, first_column);
    store_tile(p, sum, row + first_row, column + first_column);
}

} // namespace

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    gemm_dmma(int M, int N, int K, double alpha, const double *__restrict__ A, int lda, const double *__restrict__ B,
              int ldb, double beta, double *C, int ldc)
{
    multiply_and_store<async_ring>({M, N, K, alpha, beta, A, B, C, lda, ldb, ldc});
}

#if TMA
extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    gemm_dmma_tma(const __grid_constant__ tensor_map A, const __grid_constant__ tensor_map B, int M, int N, int K,
                  double alpha, double beta, double *C, int ldc)
{
    multiply_and_store<tma_ring>({M, N, K, alpha, beta, nullptr, nullptr, C, 0, 0, ldc}, A, B);
}
#endif
