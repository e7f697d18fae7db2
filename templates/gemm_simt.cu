/*
 * gemm_simt.cu: C = alpha*op(A)*op(B) + beta*C in FP32 on the FMA units, no tensor cores.
 *
 * op(A) is M x K, op(B) is K x N, C is M x N, all row-major with leading dimensions lda, ldb, ldc (in floats); TRANSPOSE_A says that A
 * is stored K x M, TRANSPOSE_B that B is stored N x K. Any M, N >= 1, K >= 0, any leading dimensions, any 4-byte aligned pointers. With
 * beta == 0, C is never read. There are two ways in.
 *
 *     gemm_simt  (int M, int N, int K, float alpha, const float *A, int lda, const float *B, int ldb, float beta, float *C, int ldc)
 *
 *         one launch, no scratch memory; when SPLIT_K is not defined
 *         grid    ceil_div(M, BLOCK_M) * ceil_div(N, BLOCK_N) = tiles                  (one-dimensional)
 *         block   (BLOCK_M / WARP_M) * (BLOCK_N / WARP_N) * 32
 *         shared  4 * STAGES * BLOCK_K * (A_ROW + B_ROW)                              (dynamic, bytes), with
 *                 A_ROW = BLOCK_M + (TRANSPOSE_A ? 0 : PAD), B_ROW = BLOCK_N + (TRANSPOSE_B ? PAD : 0)
 *
 *     gemm_simt_split  (int M, int N, int K, float alpha, const float *A, int lda, long long stride_a, const float *B, int ldb,
 *                       long long stride_b, float beta, float *C, int ldc, long long stride_c, int batch, float *partial, unsigned *count)
 *
 *         a batch of products, the stride_ floats apart, and sums over k in SPLIT_K parts, by as many blocks; when SPLIT_K is defined
 *         grid    tiles * batch * SPLIT_K, or fewer: see `struct share`
 *         block   as above
 *         shared  as above; with FINISH cluster at least 4 * BLOCK_M * BLOCK_N
 *         cluster SPLIT_K with FINISH cluster, else none
 *         partial BLOCK_M * BLOCK_N floats a part, for FINISH last_block and two_pass, aligned to 16 bytes
 *         count   an unsigned for each tile in parts, zero before the first launch and zero again after each, for FINISH last_block
 *
 *     gemm_simt_align (const float *A, int rows_a, int cols_a, int lda, float *to_a, int rows_to_a, int ld_to_a,  the same of B)
 *
 *         copies operands, as they are stored, to rows whose beginnings are aligned to 16 bytes, with zeros up to rows_to and ld_to.
 *         With ALIGNED the other entries take such copies: M and N padded to multiples of 4; with both copied, k to a multiple K' of
 *         BLOCK_K, and K' given as K
 *         grid    rows_to of both; 0 for an operand that is not copied
 *         block   256
 *
 *     gemm_simt_finish (int M, int N, float beta, float *C, int ldc, long long stride_c, int alone, int shared, const float *partial)
 *
 *         the second launch of FINISH two_pass. alone: tiles that are not in parts; shared: tiles that are
 *         grid    shared, BLOCK_M * BLOCK_N / 128
 *         block   256
 *
 * Nothing depends on which block comes last: same bits in every run. Every launch but the first of a candidate may overlap the one before it.
 *
 * Three levels of tiles. A block owns BLOCK_M x BLOCK_N of C, a warp WARP_M x WARP_N of that, and the warp's 32 lanes, laid
 * out LANE_ROWS x (32 / LANE_ROWS), own TILE_ROW_SIZE x TILE_COL_SIZE patches that repeat over the warp tile:
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
 * Shared memory is a ring of STAGES slots, each a tile of A, then one of B. Both have K as the slow index, so that a lane reads
 * its fragments of row k with vector loads:
 *
 *     A:  BLOCK_K rows of BLOCK_M + PAD floats   (transposed while it is copied, see A_ASYNC)
 *     B:  BLOCK_K rows of BLOCK_N floats         (the other way round for operands that are stored transposed)
 *
 * Parameters (macros; each has a default; the defaults together were the best configuration of an earlier version at 4096 x 4096 x
 * 4096 and at 2048 x 2048 x 2048 on an H200: 52.7 and 51.8 TFLOP/s of 66.9, 1.03 times cuBLAS)
 *
 *     BLOCK_M, BLOCK_N   tile of C that a block computes
 *     BLOCK_K            depth of one stage; a multiple of 8
 *     WARP_M, WARP_N     tile of C that a warp computes
 *     LANE_ROWS          lanes of a warp along M: 4 is the classic 4 x 8, 8 is 8 x 4. A thread's tile is
 *                        (WARP_M / LANE_ROWS) x (WARP_N / (32 / LANE_ROWS))
 *     LANE_PAIRS         0: lanes go row by row. 1: lanes go down a pair of rows first, so that lanes i and i^1 share their columns
 *                        and i and i^2 their rows. The hardware serves a 128-bit load a half-warp at a time where it finds such
 *                        sharing, else a quarter: 2 wavefronts a load instead of 3 on average, 27% fewer for the
 *                        whole kernel
 *     TILE_ROW_SIZE      rows a thread reads at a time (1, 2, 4, 8). Where it does not divide the thread's rows, the rest (1, 2 or 4) is
 *                        read last, from a part of the warp tile of its own: 18 rows are 4 + 4 + 4 + 4 + 2
 *     TILE_COL_SIZE      columns a thread reads at a time (1, 2, 4, 8). 8 has the classic two-way bank conflict: eight lanes read
 *                        16 bytes each at columns 0, 8, ..., 56, and columns 0 and 32 share a bank; with 4 they read 128
 *                        contiguous bytes. At 1024 cubed, 128 x 128 tiles: 4,198,670 conflicts of loads against 213, 11% of time
 *     STAGES             slots in the ring. 1: copy, wait, compute. n: n-1 tiles are on their way while one is computed
 *     VECTOR             floats per global access of B and C (and of A when A_ASYNC is 0): 1, 2, 4
 *     A_ASYNC            1: an operand that is transposed while it is copied (A; B where TRANSPOSE_B; not A where TRANSPOSE_A) goes to
 *                        shared memory by 4-byte cp.async, each float straight to its place.
 *                        0: it is loaded VECTOR floats at a time into registers and stored transposed one tile later: fewer
 *                        wavefronts (18%), more registers. Neither wins everywhere
 *     PAD                floats added to a row of A in shared memory (multiple of 4 for 128-bit fragments). A warp writes 8
 *                        values of k times 4 or more rows at once, k being the slow index: with 4, bank 4k + row is different
 *                        for all 32; with 0, all 8 k of one row are in the same bank (14% of time with A_ASYNC)
 *     UNROLL_K           pragma text in front of the loop over the BLOCK_K rows of a tile: empty, _Pragma("unroll") or
 *                        _Pragma("unroll n")
 *     DOUBLE_BUFFER      1: the fragments of row k+1 are loaded before row k is multiplied, across tiles as well
 *     COLUMN_WISE        order of a row's multiplications in the source: even row after row of the thread's tile, odd column after column.
 *                        0, 1: to and fro; 2, 3: the same, even elements first; 4, 5: groups of four to and fro, the first of them backwards; 6:
 *                        pairs to and fro, every second backwards; 7: groups of four, backwards in every second column. The same arithmetic; it
 *                        decides which registers and which order the compiler chooses, worth up to 8% either way. Of 1,024 FFMAs in the main loop
 *                        107 to 213 find no operand in the reuse cache, by this order (64x256x8, 8x16 a thread); how long before
 *                        their use the loads are issued differs too
 *     RASTER             blocks go down RASTER rows of blocks, then one column to the right, so that the blocks in flight
 *                        share more of A and B in L2. 1: row by row
 *     MIN_BLOCKS         blocks an SM must be able to hold (second argument of __launch_bounds__), which bounds registers.
 *                        0: left to the compiler
 *     SPLIT_K            parts of the sum over k, see gemm_simt_split. What keeps SMs busy where tiles are few: at 512 cubed
 *                        10.3 us with parts in clusters, 13.2 with parts finished otherwise, 12.4 by cuBLAS
 *     FINISH             who adds the parts: `cluster`, the blocks of a cluster through each other's shared memory (sm_90; up to 8
 *                        parts); `last_block`, the block that finishes last, from `partial`; `two_pass`, a second launch
 *     TRANSPOSE_A, TRANSPOSE_B   how A and B are stored
 *     ALIGNED            1: A and B are copies that gemm_simt_align made, so that VECTOR can be 4 for any matrices. 2: B is; with
 *                        A_ASYNC, A goes float by float anyway, unless TRANSPOSE_A
 *     AFTER_LAUNCH       1: A is what the launch before writes, which this one may overlap (programmatic dependent launch): nothing is read
 *                        before that one has ended. 2: meanwhile B, which it does not write, is brought to the L2
 *
 * What limits it. An SM issues one instruction per scheduler and cycle, and an FFMA is one of them, so every other instruction
 * costs a multiplication: with 128 x 256 x 8 tiles at 2048 cubed 91% are FFMAs, and in 86% of the cycles one is issued. Hence 16 x 8
 * thread tiles (6 shared loads for 128 FFMAs) at 8 warps an SM beat 8 x 8 ones (4 for 64) at 16. Power-of-two sizes lose 3% more,
 * because their blocks fill 132 SMs 3.88 times. Warps are held back by the dispatcher 7% of their time; where an FFMA finds no
 * operand in the reuse cache, as one in eight does, they are 3.7 times as long as at another (2048 cubed, 64 x 256 x 8, 8 x 16 a thread). Loops of 19 KB and more wait for instructions, up to 5%; unrolling
 * less cost more, though: 3% to 16%, best against best, on twelve squares.
 *
 * Ragged sizes. The last tiles of a row or column are moved back into the matrix and store only what no neighbour stores, so where
 * the matrix is at least as large as a tile, nothing but the last step along k is copied with tests, float by float, zero-filled
 * outside. Pointers and leading dimensions that VECTOR does not allow make every copy such a one: tune these with VECTOR 1.
 *
 * SWEETSPOT_VARIANT (set by `sweetspot limiter`): 0 the kernel; 1 memory alone: the copies from global to shared memory and the store
 * of C, no fragments, no multiplications; 2 arithmetic alone: fragments and multiplications on whatever lies in shared memory, no
 * copies, and a store behind a condition that never holds.
 */

#ifndef SWEETSPOT_VARIANT
#define SWEETSPOT_VARIANT 0
#endif
#ifndef BLOCK_M
#define BLOCK_M 128
#endif
#ifndef BLOCK_N
#define BLOCK_N 256
#endif
#ifndef BLOCK_K
#define BLOCK_K 8
#endif
#ifndef WARP_M
#define WARP_M 64
#endif
#ifndef WARP_N
#define WARP_N 64
#endif
#ifndef LANE_ROWS
#define LANE_ROWS 4
#endif
#ifndef LANE_PAIRS
#define LANE_PAIRS 1
#endif
#ifndef TILE_ROW_SIZE
#define TILE_ROW_SIZE 4
#endif
#ifndef TILE_COL_SIZE
#define TILE_COL_SIZE 4
#endif
#ifndef STAGES
#define STAGES 2
#endif
#ifndef VECTOR
#define VECTOR 4
#endif
#ifndef A_ASYNC
#define A_ASYNC 1
#endif
#ifndef PAD
#define PAD 4
#endif
#ifndef UNROLL_K
#define UNROLL_K _Pragma("unroll")
#endif
#ifndef DOUBLE_BUFFER
#define DOUBLE_BUFFER 1
#endif
#ifndef COLUMN_WISE
#define COLUMN_WISE 1
#endif
#ifndef RASTER
#define RASTER 8
#endif
#ifndef MIN_BLOCKS
#define MIN_BLOCKS 1
#endif
#ifndef TRANSPOSE_A
#define TRANSPOSE_A 0
#endif
#ifndef TRANSPOSE_B
#define TRANSPOSE_B 0
#endif
#ifndef ALIGNED
#define ALIGNED 0
#endif
#ifndef AFTER_LAUNCH
#define AFTER_LAUNCH 0
#endif
#ifndef FINISH
#define FINISH last_block
#endif

/* The tuner passes a choice as a bare identifier; these make it comparable in #if. An unknown one is 0. */
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define FINISH_last_block 1
#define FINISH_two_pass 2
#define FINISH_cluster 3
#define FINISH_IS JOIN(FINISH_, FINISH)
#if FINISH_IS == 0
#error "FINISH must be last_block, two_pass or cluster"
#endif
#if FINISH_IS == FINISH_cluster && defined __CUDA_ARCH__ && __CUDA_ARCH__ < 900
#error "FINISH cluster needs sm_90"
#endif
#if defined SPLIT_K && SPLIT_K < 1
#error "SPLIT_K must be at least 1"
#endif

namespace {

__host__ __device__ constexpr int smaller(int a, int b) { return a < b ? a : b; }
__host__ __device__ constexpr int larger(int a, int b) { return a > b ? a : b; }

/* The largest power of two up to `limit` that divides n. */
__host__ __device__ constexpr int power_of_two_in(int limit, int n)
{
    int p = 1;
    while (2 * p <= limit && n % (2 * p) == 0)
        p *= 2;
    return p;
}

constexpr int WARPS_N = BLOCK_N / WARP_N;
constexpr int N_THREADS = (BLOCK_M / WARP_M) * WARPS_N * 32;
constexpr int LANE_COLS = 32 / LANE_ROWS;
constexpr int THREAD_M = WARP_M / LANE_ROWS;
constexpr int THREAD_N = WARP_N / LANE_COLS;
constexpr int FULL_ROWS = THREAD_M / TILE_ROW_SIZE * TILE_ROW_SIZE, REST_ROWS = THREAD_M - FULL_ROWS;

/* Floats from one row of a slot to the next, in A's part of a slot, and in a slot. Padded where the copy transposes. */
constexpr int A_ROW = BLOCK_M + (TRANSPOSE_A ? 0 : PAD);
constexpr int B_ROW = BLOCK_N + (TRANSPOSE_B ? PAD : 0);
constexpr int A_SLOT = BLOCK_K * A_ROW;
constexpr int SLOT = A_SLOT + BLOCK_K * B_ROW;

__host__ __device__ constexpr bool is_width(int n) { return n == 1 || n == 2 || n == 4 || n == 8; }
static_assert(BLOCK_M % WARP_M == 0 && BLOCK_N % WARP_N == 0, "the block tile must be a multiple of the warp tile");
static_assert(LANE_ROWS == 2 || LANE_ROWS == 4 || LANE_ROWS == 8 || LANE_ROWS == 16, "LANE_ROWS must be 2, 4, 8 or 16");
static_assert(is_width(TILE_ROW_SIZE) && is_width(TILE_COL_SIZE), "TILE_ROW_SIZE and TILE_COL_SIZE must be 1, 2, 4 or 8");
static_assert(WARP_M % LANE_ROWS == 0 && is_width(larger(1, REST_ROWS)), "WARP_M must be LANE_ROWS times patches of TILE_ROW_SIZE and one of 1, 2 or 4");
static_assert(WARP_N % (LANE_COLS * TILE_COL_SIZE) == 0, "WARP_N must be a multiple of 32 / LANE_ROWS * TILE_COL_SIZE");
static_assert(N_THREADS <= 1024, "more than 1024 threads in a block");
static_assert(BLOCK_K % 8 == 0, "BLOCK_K must be a multiple of 8");
static_assert(VECTOR == 1 || VECTOR == 2 || VECTOR == 4, "VECTOR must be 1, 2 or 4");
static_assert(BLOCK_N % 4 == 0, "BLOCK_N must be a multiple of 4");
static_assert(STAGES >= 1, "STAGES must be at least 1");
static_assert(PAD >= 0 && PAD % smaller(4, larger(TILE_ROW_SIZE, TRANSPOSE_B ? TILE_COL_SIZE : 1)) == 0,
              "PAD must keep the rows of shared memory aligned for TILE_ROW_SIZE and TILE_COL_SIZE");
static_assert(ALIGNED != 2 || (A_ASYNC && !TRANSPOSE_A), "ALIGNED 2 needs A_ASYNC and no TRANSPOSE_A");
static_assert(RASTER >= 1, "RASTER must be at least 1");
static_assert(AFTER_LAUNCH >= 0 && AFTER_LAUNCH <= 2, "AFTER_LAUNCH must be 0, 1 or 2");

/* Shared memory addresses as cp.async wants them. */
__device__ __forceinline__ unsigned shared_address(const float *p) { return (unsigned)__cvta_generic_to_shared(p); }

/* Asynchronous copy of WIDTH floats. 16 bytes bypass L1 (.cg), which smaller ones cannot. */
template <int WIDTH> __device__ __forceinline__ void copy_async(unsigned to, const float *from)
{
    if constexpr (WIDTH == 4)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(4 * WIDTH) : "memory");
}

/* One float, or zero without touching `from`. */
__device__ __forceinline__ void copy_async_or_zero(unsigned to, const float *from, bool valid)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(valid ? 4 : 0) : "memory");
}

__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int PENDING> __device__ __forceinline__ void wait_for_copies()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

/* WIDTH consecutive floats by the widest accesses there are. */
template <int WIDTH> __device__ __forceinline__ void load(float *to, const float *from)
{
    if constexpr (WIDTH == 8) {
        load<4>(to, from);
        load<4>(to + 4, from + 4);
    } else if constexpr (WIDTH == 4) {
        const float4 v = *reinterpret_cast<const float4 *>(from);
        to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    } else if constexpr (WIDTH == 2) {
        const float2 v = *reinterpret_cast<const float2 *>(from);
        to[0] = v.x, to[1] = v.y;
    } else {
        to[0] = *from;
    }
}

template <int WIDTH> __device__ __forceinline__ void store(float *to, const float *from)
{
    if constexpr (WIDTH == 4)
        *reinterpret_cast<float4 *>(to) = make_float4(from[0], from[1], from[2], from[3]);
    else if constexpr (WIDTH == 2)
        *reinterpret_cast<float2 *>(to) = make_float2(from[0], from[1]);
    else
        *to = *from;
}

__device__ __forceinline__ bool aligned(const float *p, int ld, int width)
{
    return (reinterpret_cast<unsigned long long>(p) % (4 * width)) == 0 && ld % width == 0;
}

/* threadIdx.x and blockIdx.x, read anew: what is worked out from these after the main loop is worked out there, and occupies no
 * registers in the loop. With split products that is the difference between spills in the loop and none. */
__device__ __forceinline__ int thread_anew()
{
    int thread;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    return thread;
}

__device__ __forceinline__ int block_anew()
{
    int block;
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(block));
    return block;
}

/* Where a thread's j-th column lies, counted from its first. */
__device__ __forceinline__ int thread_col(int j) { return j / TILE_COL_SIZE * (LANE_COLS * TILE_COL_SIZE) + j % TILE_COL_SIZE; }

__device__ __forceinline__ int next_slot(int slot)
{
    if constexpr (STAGES <= 2)
        return (STAGES - 1) * SLOT - slot;
    else
        return slot == (STAGES - 1) * SLOT ? 0 : slot + SLOT;
}

__device__ __forceinline__ int last_slot(int slot)
{
    if constexpr (STAGES <= 2)
        return (STAGES - 1) * SLOT - slot;
    else
        return slot == 0 ? (STAGES - 1) * SLOT : slot - SLOT;
}

/* What a thread needs for row k of its product: one value per row and one per column of its tile. */
struct fragments {
    float a[THREAD_M], b[THREAD_N];

    /* rest: from the thread's first row to the first of its REST_ROWS */
    __device__ __forceinline__ void read(const float *a_row, const float *b_row, int rest)
    {
#if SWEETSPOT_VARIANT == 1
        return;
#endif
#pragma unroll
        for (int i = 0; i < THREAD_M / TILE_ROW_SIZE; ++i)
            load<TILE_ROW_SIZE>(a + i * TILE_ROW_SIZE, a_row + i * LANE_ROWS * TILE_ROW_SIZE);
        if constexpr (REST_ROWS > 0)
            load<REST_ROWS>(a + FULL_ROWS, a_row + rest);
#pragma unroll
        for (int j = 0; j < THREAD_N / TILE_COL_SIZE; ++j)
            load<TILE_COL_SIZE>(b + j * TILE_COL_SIZE, b_row + j * LANE_COLS * TILE_COL_SIZE);
    }
};

/* The i-th element of n that the line-th row, or column, of a thread's tile multiplies: see COLUMN_WISE. */
__host__ __device__ constexpr int in_order(int line, int i, int n)
{
    constexpr int STYLE = COLUMN_WISE / 2, GROUP = COLUMN_WISE == 6 ? 2 : 4;
    const int turned = line % 2 ? n - 1 - i : i;
    if (STYLE == 1)
        return turned < (n + 1) / 2 ? 2 * turned : 2 * (turned - (n + 1) / 2) + 1;
    if (STYLE == 0 || n % GROUP)
        return turned;
    const int group = i / GROUP, last = n / GROUP - 1, within = i % GROUP;
    const bool back = STYLE == 2 ? group == 0 : COLUMN_WISE == 6 ? group % 2 : line % 2;
    return (line % 2 && COLUMN_WISE != 7 ? last - group : group) * GROUP + (back ? GROUP - 1 - within : within);
}

/* Consecutive FFMAs share an operand, at the turn from one row or column to the next too, as far as the compiler keeps the order (operand reuse cache). */
__device__ __forceinline__ void multiply(float (&sum)[THREAD_M][THREAD_N], const fragments &f)
{
#if SWEETSPOT_VARIANT == 1
#elif COLUMN_WISE % 2
#pragma unroll
    for (int j = 0; j < THREAD_N; ++j)
#pragma unroll
        for (int i = 0; i < THREAD_M; ++i) {
            const int m = in_order(j, i, THREAD_M);
            sum[m][j] += f.a[m] * f.b[j];
        }
#else
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i)
#pragma unroll
        for (int j = 0; j < THREAD_N; ++j) {
            const int n = in_order(i, j, THREAD_N);
            sum[i][n] += f.a[i] * f.b[n];
        }
#endif
}

/*
 * Copying one operand: EXTENT rows of op(A), or columns of op(B), by BLOCK_K values of k, into rows of shared memory that are ROW
 * floats apart. x counts along EXTENT.
 *
 * K_FAST says that k is contiguous in memory, so that the copy transposes. Then 8 consecutive k of one x (a 32-byte sector) are
 * the unit, whatever the width, so that with PAD 4 the transposed writes of a warp fall into 32 different banks. Otherwise x is
 * contiguous, and rows are copied as they are: a warp has a row of its own where that comes out even, since what a thread copies then lies at
 * constant distances and no addresses are worked out; else the block goes along x.
 *
 * A pass of the block covers X_STEP by K_STEP; of a transposing copy, the last one along x may find threads with nothing to do.
 */
template <bool K_FAST, int EXTENT, int ROW> struct operand {
    static constexpr bool HELD = K_FAST && !A_ASYNC; /* comes through registers */
    static constexpr int WIDTH = K_FAST && A_ASYNC ? 1 : VECTOR;
    static constexpr int LANES = K_FAST ? 8 / WIDTH : 1; /* threads along k in a unit */
    static constexpr int WARP_LANES = power_of_two_in(smaller(32, EXTENT / WIDTH), EXTENT / WIDTH); /* of a warp, along a row */
    static constexpr int WARP_ROWS = N_THREADS / WARP_LANES;
    static constexpr bool BY_WARPS = !K_FAST && WARP_ROWS <= BLOCK_K && BLOCK_K % larger(1, WARP_ROWS) == 0;
    static constexpr int THREADS_X = K_FAST ? N_THREADS / LANES : (BY_WARPS ? WARP_LANES : N_THREADS) * WIDTH;
    static constexpr int X_STEP = smaller(THREADS_X, EXTENT);
    static constexpr int K_STEP = BY_WARPS ? WARP_ROWS : (K_FAST ? 8 : 1) * larger(1, THREADS_X / EXTENT);
    static constexpr int X_PASSES = (EXTENT + X_STEP - 1) / larger(1, X_STEP), K_PASSES = BLOCK_K / K_STEP;
    static constexpr int PASSES = X_PASSES * K_PASSES;
    static constexpr bool UNEVEN = X_PASSES * X_STEP != EXTENT;
    static_assert(THREADS_X >= 1 && (K_FAST || !UNEVEN) && K_PASSES * K_STEP == BLOCK_K
                      && X_STEP * larger(1, THREADS_X < EXTENT ? 1 : THREADS_X / EXTENT) == THREADS_X,
                  "the threads of the block do not divide the tile of an operand evenly");

    const float *from; /* this thread's first element of the next tile */
    int ld;
    unsigned to; /* this thread's first place in the first slot */
    int left;    /* values of x from the tile's first one to the matrix's end */
    float held[HELD ? PASSES * WIDTH : 1];

    static __device__ __forceinline__ int own_x(int thread)
    {
        return K_FAST ? thread / LANES % EXTENT : BY_WARPS ? thread % WARP_LANES * WIDTH : thread * WIDTH % EXTENT;
    }
    static __device__ __forceinline__ int own_k(int thread)
    {
        return K_FAST     ? thread % LANES * WIDTH + thread / LANES / EXTENT * 8
               : BY_WARPS ? thread / WARP_LANES
                          : thread * WIDTH / EXTENT;
    }
    /* Whether the thread has something to copy in a pass along x. */
    static __device__ __forceinline__ bool in_pass(int i) { return !UNEVEN || i < X_PASSES - 1 || own_x((int)threadIdx.x) + i * X_STEP < EXTENT; }
    __device__ __forceinline__ const float *at(int x, int k) const { return K_FAST ? from + (long long)ld * x + k : from + (long long)ld * k + x; }

    /* From k = first of op(A)'s rows or op(B)'s columns x.. on; extent is how many there are. Returns whether tiles can be copied
     * without tests. */
    __device__ __forceinline__ bool start(const float *matrix, int ld_, int x, int extent, int first, float *slot)
    {
        ld = ld_;
        from = matrix;
        from = at(x, first);
        const bool inside = x + EXTENT <= extent && aligned(from, ld_, WIDTH);
        const int own_x_ = own_x((int)threadIdx.x), own_k_ = own_k((int)threadIdx.x);
        from = at(own_x_, own_k_);
        to = shared_address(slot + own_k_ * ROW + own_x_);
        left = extent - x;
        return inside;
    }

    __device__ __forceinline__ void step() { from += K_FAST ? BLOCK_K : (long long)BLOCK_K * ld; }

    __device__ __forceinline__ void copy_inside(int slot)
    {
#pragma unroll
        for (int i = 0; i < X_PASSES; ++i)
#pragma unroll
            for (int j = 0; j < K_PASSES; ++j) {
                const int x = i * X_STEP, k = j * K_STEP;
                if (!in_pass(i))
                    continue;
                if constexpr (HELD)
                    load<WIDTH>(held + (i * K_PASSES + j) * WIDTH, at(x, k));
                else
                    copy_async<WIDTH>(to + 4 * (slot + k * ROW + x), at(x, k));
            }
    }

    /* Float by float, zero outside. Not unrolled over the passes: it is the rare path, and half the kernel's code otherwise.
     * Unrolled only where a register array is indexed. */
    __device__ __forceinline__ void copy_checked(int slot, int k_left)
    {
        const int thread = thread_anew(), x_left = left - own_x(thread), k_own_left = k_left - own_k(thread);
        if constexpr (HELD) {
#pragma unroll
            for (int i = 0; i < X_PASSES; ++i)
#pragma unroll
                for (int j = 0; j < K_PASSES; ++j)
#pragma unroll
                    for (int v = 0; v < WIDTH; ++v) {
                        const int x = i * X_STEP, k = j * K_STEP + v;
                        held[(i * K_PASSES + j) * WIDTH + v] = in_pass(i) && x < x_left && k < k_own_left ? *at(x, k) : 0.0f;
                    }
        } else {
#pragma unroll 1
            for (int i = 0; i < X_PASSES; ++i)
#pragma unroll 1
                for (int j = 0; j < K_PASSES * WIDTH; ++j) {
                    const int x = i * X_STEP + j % WIDTH, k = j / WIDTH * K_STEP;
                    const bool valid = x < x_left && k < k_own_left;
                    if (!in_pass(i))
                        continue;
                    copy_async_or_zero(to + 4 * (slot + k * ROW + x), valid ? at(x, k) : from, valid);
                }
        }
    }

    /* Stores what the last copy left in registers. */
    __device__ __forceinline__ void finish(float *slot)
    {
        if constexpr (HELD) {
            const int thread = (int)threadIdx.x;
            float *const first = slot + own_k(thread) * ROW + own_x(thread);
#pragma unroll
            for (int i = 0; i < X_PASSES; ++i)
#pragma unroll
                for (int j = 0; j < K_PASSES; ++j)
#pragma unroll
                    for (int v = 0; v < WIDTH; ++v)
                        if (in_pass(i))
                            first[(j * K_STEP + v) * ROW + i * X_STEP] = held[(i * K_PASSES + j) * WIDTH + v];
        }
    }
};

/* The copying side: moves tile after tile into the ring. A tile that does not exist is a copy of nothing, so callers need not
 * count. */
struct copier {
    operand<!TRANSPOSE_A, BLOCK_M, A_ROW> a;
    operand<TRANSPOSE_B, BLOCK_N, B_ROW> b;
    int k_left;          /* values of k from the next tile to the end */
    int k_checked;       /* tiles are copied without tests while k_left >= k_checked */
    int slot;            /* where the next tile goes: floats from the ring's start. Its last content is the tile that advance() made readable */

    /* Starts copying the next tile into the next slot. With A_ASYNC 0 the transposed part arrives in registers: see finish(). */
    __device__ __forceinline__ void next()
    {
#if SWEETSPOT_VARIANT != 2
        if (k_left >= k_checked) {
            a.copy_inside(slot);
            b.copy_inside(slot);
        } else if (k_left > 0) {
            a.copy_checked(slot, k_left);
            b.copy_checked(slot, k_left);
        }
#endif
        a.step();
        b.step();
        k_left -= BLOCK_K;
        slot = next_slot(slot);
    }

    __device__ __forceinline__ void finish(float *ring)
    {
#if SWEETSPOT_VARIANT != 2
        a.finish(ring + last_slot(slot));
        b.finish(ring + last_slot(slot) + A_SLOT);
#endif
    }
};

/* Makes the next tile readable for the whole block, and starts the copy of the one STAGES - 1 further on into the slot that
 * was read last: the barrier says that everyone is through with it. */
__device__ __forceinline__ void advance(copier &copy, float *ring)
{
    if constexpr (STAGES == 1) {
        __syncthreads();
        copy.next();
        copy.finish(ring);
        commit_copies();
        wait_for_copies<0>();
        __syncthreads();
    } else {
        copy.finish(ring);
        wait_for_copies<larger(0, STAGES - 2)>();
        __syncthreads();
        copy.next();
        commit_copies();
    }
}

/* The matrices of one product, as the kernel got them. */
struct problem {
    int M, N, K;
    float alpha, beta;
    const float *A, *B;
    float *C;
    int lda, ldb, ldc;
};

/* One tile of C. The last tiles of a row or column are moved back so that they lie inside the matrix, where it is as large as a
 * tile: then they are copied without tests like all others, and only what no neighbour stores is stored. */
struct place {
    int row, col;         /* its first row and column */
    int own_row, own_col; /* the first ones that it stores */
};

__device__ __forceinline__ int tiles_along(int extent, int block) { return (extent + block - 1) / block; }

/* For launches that may overlap (programmatic dependent launch): waits until the launch before has ended and its writes are seen; says that the launch after may
 * begin. Nothing happens where launches do not overlap. */
[[maybe_unused]] __device__ __forceinline__ void wait_for_launch_before()
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

[[maybe_unused]] __device__ __forceinline__ void let_launch_after_begin()
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* What comes before the first read of A and B. All blocks together ask the L2 for the lines of B, as it is stored: rows of `cols` floats, of `batch` matrices. */
[[maybe_unused]] __device__ __forceinline__ void prepare(const float *B, int ldb, long long stride, int rows, int cols, int batch)
{
#if AFTER_LAUNCH == 2 && SWEETSPOT_VARIANT != 2
    for (long long row = blockIdx.x; cols > 0 && row < (long long)rows * batch; row += gridDim.x) {
        const float *const first = B + row / rows * stride + row % rows * ldb;
        for (int i = 32 * (int)threadIdx.x; i < cols + 31; i += 32 * N_THREADS) { /* a row need not begin where a line does */
            const float *const line = first + min(i, cols - 1);
            asm volatile("prefetch.global.L2 [%0];" ::"l"(line));
        }
    }
#endif
    if (ALIGNED || AFTER_LAUNCH)
        wait_for_launch_before();
}

/* How many rows of op(A) and columns of op(B) there are to copy from. */
__device__ __forceinline__ int stored_rows(int M) { return ALIGNED == 1 ? (M + 3) / 4 * 4 : M; }
__device__ __forceinline__ int stored_cols(int N) { return ALIGNED ? (N + 3) / 4 * 4 : N; }

/* The tile of a number: down RASTER rows of tiles, then one column to the right. The last group of rows may be lower. */
__device__ __forceinline__ place tile_place(int number, int M, int N)
{
    const int tiles_n = tiles_along(N, BLOCK_N);
    int tile_m = number / tiles_n, tile_n = number % tiles_n;
    if constexpr (RASTER > 1) {
        const int first = tile_m / RASTER * RASTER, height = min(RASTER, tiles_along(M, BLOCK_M) - first);
        const int in_group = number - first * tiles_n;
        tile_m = first + in_group % height;
        tile_n = in_group / height;
    }
    const int row = tile_m * BLOCK_M, col = tile_n * BLOCK_N;
    const int rows = stored_rows(M), cols = stored_cols(N);
    return {rows >= BLOCK_M ? min(row, rows - BLOCK_M) : row, cols >= BLOCK_N ? min(col, cols - BLOCK_N) : col, row, col};
}

/* How the lanes of a warp are laid out over its tile. */
__device__ __forceinline__ int lane_row(int lane) { return LANE_PAIRS ? lane % 2 + lane / (2 * LANE_COLS) * 2 : lane / LANE_COLS; }
__device__ __forceinline__ int lane_col(int lane) { return LANE_PAIRS ? lane / 2 % LANE_COLS : lane % LANE_COLS; }
__host__ __device__ constexpr int lane_at(int row, int col)
{
    return LANE_PAIRS ? row % 2 + col * 2 + row / 2 * (2 * LANE_COLS) : row * LANE_COLS + col;
}

/* The first row and column of a thread in its block's tile. */
struct thread_place {
    int m, n;
    int rest; /* from row m to the first of the thread's REST_ROWS */
    __device__ __forceinline__ explicit thread_place(int thread)
    {
        const int warp = thread / 32, lane = thread % 32;
        const int lane_m = lane_row(lane);
        m = warp / WARPS_N * WARP_M + lane_m * TILE_ROW_SIZE;
        n = warp % WARPS_N * WARP_N + lane_col(lane) * TILE_COL_SIZE;
        rest = FULL_ROWS * LANE_ROWS - lane_m * (TILE_ROW_SIZE - REST_ROWS);
    }
    /* Where the thread's i-th row lies. */
    __device__ __forceinline__ int row(int i) const
    {
        return i < FULL_ROWS ? m + i / TILE_ROW_SIZE * (LANE_ROWS * TILE_ROW_SIZE) + i % TILE_ROW_SIZE : m + rest + i - FULL_ROWS;
    }
};

/* sum = the thread's part of op(A) op(B) at a tile, over k in [first, end). */
__device__ __forceinline__ void multiply_tile(float (&sum)[THREAD_M][THREAD_N], const problem &p, const place &at, int first, int end,
                                              float *ring)
{
    const thread_place thread(thread_anew());
    copier copy;
    const bool a_inside = copy.a.start(p.A, p.lda, at.row, stored_rows(p.M), first, ring);
    const bool b_inside = copy.b.start(p.B, p.ldb, at.col, stored_cols(p.N), first, ring + A_SLOT);
    copy.k_left = end - first;
    copy.k_checked = a_inside && b_inside ? BLOCK_K : 0x7fffffff;
    copy.slot = 0;
#pragma unroll 1
    for (int s = 0; s < STAGES - 1; ++s) {
        copy.next();
        commit_copies();
        if (s < STAGES - 2)
            copy.finish(ring);
    }

#pragma unroll
    for (int i = 0; i < THREAD_M; ++i)
#pragma unroll
        for (int j = 0; j < THREAD_N; ++j)
            sum[i][j] = 0.0f;
    const float *const a_first = ring + thread.m, *const b_first = ring + A_SLOT + thread.n;
#if DOUBLE_BUFFER
    fragments now, next;
    advance(copy, ring);
    const float *a_row = a_first + copy.slot, *b_row = b_first + copy.slot;
    now.read(a_row, b_row, thread.rest);
#pragma unroll 1
    while (copy.k_left > -STAGES * BLOCK_K) {
        UNROLL_K for (int k = 0; k < BLOCK_K; ++k)
        {
            a_row += A_ROW, b_row += B_ROW;
            if (k == BLOCK_K - 1) {
                advance(copy, ring);
                a_row = a_first + copy.slot, b_row = b_first + copy.slot;
            }
            next.read(a_row, b_row, thread.rest); /* past the last tile: a stale slot, never used */
            multiply(sum, now);
            now = next;
        }
    }
#else
#pragma unroll 1
    while (copy.k_left > -(STAGES - 1) * BLOCK_K) {
        advance(copy, ring);
        const float *const a_row = a_first + copy.slot, *const b_row = b_first + copy.slot;
        UNROLL_K for (int k = 0; k < BLOCK_K; ++k)
        {
            fragments now;
            now.read(a_row + k * A_ROW, b_row + k * B_ROW, thread.rest);
            multiply(sum, now);
        }
    }
#endif
}

/* One element of C, if it is the tile's to store. */
[[maybe_unused]] __device__ __forceinline__ void store_element(float sum, int m, int n, const problem &p, const place &at)
{
    if (m >= at.own_row && m < p.M && n >= at.own_col && n < p.N) {
        float *const to = p.C + (long long)m * p.ldc + n;
        *to = sum + p.beta * (p.beta != 0.0f ? *to : 0.0f);
    }
}

/*
 * Stores where C's rows are not aligned to 16 bytes. A quad is four neighbours of a thread's row; stored float by float from where it is, a warp's
 * quads would be four stores of every fourth float, each of as many sectors as one of all. So the warp's 32 quads lie in shared memory, in the order of lanes, and
 * every lane takes four floats that lie beside its neighbours': consecutive lanes store consecutive floats.
 */
constexpr bool BY_ROWS = TILE_COL_SIZE == 4 && (ALIGNED || VECTOR < 4);

/* The v-th float that a lane takes of its warp's quads: where it lies among them, and the row of lanes and the column it belongs to. Each is
 * that of (lane, 0) plus that of (0, v). */
struct taken {
    int from, row, col;
    __device__ constexpr taken(int lane, int v)
        : from(4 * lane_at((v * 32 + lane) / (LANE_COLS * 4), lane % (LANE_COLS * 4) / 4 + v * 32 % (LANE_COLS * 4) / 4) + lane % 4),
          row((v * 32 + lane) / (LANE_COLS * 4)), col((v * 32 + lane) % (LANE_COLS * 4))
    {
    }
};

/* Its row, in quads of the threads' i-th rows, counted from the tile's; first: the place of the warp's first lane. */
[[maybe_unused]] __device__ __forceinline__ int taken_row(const taken &t, const thread_place &first, int i)
{
    return first.row(i) + t.row * (i < FULL_ROWS ? TILE_ROW_SIZE : REST_ROWS);
}

/* Buffers of a quad a thread that the ring holds, up to two: with two, a warp need not wait until one is read before it writes the next. */
constexpr int EXCHANGES = smaller(2, STAGES * SLOT / (4 * N_THREADS));

/* C = alpha*sum + beta*C at a tile, by way of the ring. */
[[maybe_unused]] __device__ __forceinline__ void store_tile_by_rows(float (&sum)[THREAD_M][THREAD_N], const problem &p, const place &at, float *ring)
{
    const int thread = thread_anew(), lane = thread & 31;
    const thread_place first(thread - lane);
    const taken own(lane, 0);
    float *const quads = ring + thread / 32 * (128 * EXCHANGES);
    const float *const from = quads + own.from;
    const int col = at.col + first.n + own.col;
    const unsigned own_col = col - at.own_col; /* counted from the first column that the tile stores */
    __syncthreads(); /* everyone is through with the ring */
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i) {
        float *to[4];                            /* the lane's first place of each row; it may lie outside the matrix */
        unsigned stored_columns[4], old_columns[4]; /* of the row, from the first that the tile stores: how many are stored, and read */
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            const int m = at.row + taken_row(own, first, i) + taken(0, v).row * (i < FULL_ROWS ? TILE_ROW_SIZE : REST_ROWS);
            to[v] = p.C + ((long long)m * p.ldc + col);
            stored_columns[v] = m >= at.own_row && m < p.M ? p.N - at.own_col : 0;
            old_columns[v] = p.beta != 0.0f ? stored_columns[v] : 0;
        }
#pragma unroll
        for (int j = 0; j < THREAD_N; j += 4) {
            const int buffer = EXCHANGES > 1 ? j / 4 % 2 * 128 : 0;
            const float out[4] = {p.alpha * sum[i][j], p.alpha * sum[i][j + 1], p.alpha * sum[i][j + 2], p.alpha * sum[i][j + 3]};
            store<4>(quads + buffer + 4 * lane, out);
            __syncwarp();
#pragma unroll
            for (int v = 0; v < 4; ++v) {
                const int further = taken(0, v).col + thread_col(j);
                const float old = own_col + further < old_columns[v] ? to[v][further] : 0.0f;
                if (own_col + further < stored_columns[v])
                    to[v][further] = from[buffer + taken(0, v).from] + p.beta * old;
            }
            if (EXCHANGES < 2 || THREAD_N / 4 % 2)
                __syncwarp();
        }
    }
}

/* C = alpha*sum + beta*C at a tile. */
[[maybe_unused]] __device__ __forceinline__ void store_tile(float (&sum)[THREAD_M][THREAD_N], const problem &p, const place &at, float *ring)
{
    if constexpr (BY_ROWS && EXCHANGES > 0) {
        store_tile_by_rows(sum, p, at, ring);
        return;
    }
    const thread_place thread(thread_anew());
    constexpr int WIDTH = ALIGNED ? 1 : smaller(VECTOR, TILE_COL_SIZE);
    const int first_n = at.col + thread.n;
    const bool whole = at.row == at.own_row && at.col == at.own_col && at.row + BLOCK_M <= p.M && at.col + BLOCK_N <= p.N;
    if (whole && aligned(p.C, p.ldc, WIDTH)) {
#pragma unroll
        for (int i = 0; i < THREAD_M; ++i) {
            float *const c_row = p.C + (long long)(at.row + thread.row(i)) * p.ldc + first_n;
#pragma unroll
            for (int j = 0; j < THREAD_N; j += WIDTH) {
                float out[WIDTH] = {};
                if (p.beta != 0.0f)
                    load<WIDTH>(out, c_row + thread_col(j));
#pragma unroll
                for (int v = 0; v < WIDTH; ++v)
                    out[v] = p.alpha * sum[i][j + v] + p.beta * out[v];
                store<WIDTH>(c_row + thread_col(j), out);
            }
        }
        return;
    }

    /* At an edge, the first row is stored and the others move up by one: with a test for each element, this loop unrolled
     * would be a third of the kernel's code and of its compile time. */
#pragma unroll 1
    for (int i = 0; i < THREAD_M; ++i) {
        const int m = at.row + thread.row(i);
        float *const c_row = p.C + (long long)m * p.ldc + first_n;
#pragma unroll
        for (int j = 0; j < THREAD_N; ++j) {
            const int n = first_n + thread_col(j);
            if (m >= at.own_row && m < p.M && n >= at.own_col && n < p.N) {
                const float old = p.beta != 0.0f ? c_row[thread_col(j)] : 0.0f;
                c_row[thread_col(j)] = p.alpha * sum[0][j] + p.beta * old;
            }
        }
#pragma unroll
        for (int r = 1; r < THREAD_M; ++r)
#pragma unroll
            for (int j = 0; j < THREAD_N; ++j)
                sum[r - 1][j] = sum[r][j];
    }
}

__device__ __forceinline__ bool nothing_to_store(const float (&sum)[THREAD_M][THREAD_N], float alpha)
{
#if SWEETSPOT_VARIANT == 2
    return sum[0][0] != 1.2345e-33f || alpha != -1.2345e-33f;
#else
    return false;
#endif
}

#ifdef SPLIT_K
/*
 * Who computes what. Tiles are split in SPLIT_K parts along k, each by a block of its own; but not the first `alone`, which have one
 * block each. How many these are follows from the grid:
 *
 *     grid = alone + (tiles - alone) * SPLIT_K
 *
 *     blocks  | tile 0 | tile 1 | .. | tile alone - 1 | parts 0, 1, .. of tile alone | parts 0, 1, .. of the next | ..
 *
 * So a grid of tiles * SPLIT_K is split-K, and one with as many alone as the machine holds at a time, or a multiple of that, fills the
 * last wave with small pieces, which is what stream-K is for (Osama, Merrill, Cecka, Garland, Owens: Stream-K, PPoPP 2023).
 * Stream-K itself, a loop over pieces in blocks that stay, was 12% slower than no splitting at 4096 cubed: with a loop around it, the
 * main loop got worse registers.
 *
 * Part i of the t-th shared tile leaves its sums in slot t * SPLIT_K + i of `partial`.
 */
struct share {
    int tile, part, shared; /* shared: which of the tiles in parts, or -1 */

    __device__ __forceinline__ share(int block, int tiles)
    {
#if SPLIT_K == 1
        tile = block, part = 0, shared = -1;
#else
        const int alone = (int)(((long long)tiles * SPLIT_K - gridDim.x) / (SPLIT_K - 1));
        shared = block < alone ? -1 : (block - alone) / SPLIT_K;
        tile = block < alone ? block : alone + shared;
        part = block < alone ? 0 : (block - alone) % SPLIT_K;
#endif
    }

    /* The values of k that the block adds: [begin, end). */
    __device__ __forceinline__ int cut(int i, int K) const { return (int)((long long)tiles_along(K, BLOCK_K) * i / SPLIT_K) * BLOCK_K; }
    __device__ __forceinline__ int begin(int K) const { return cut(part, K); }
    __device__ __forceinline__ int end(int K) const { return shared < 0 ? K : min(K, cut(part + 1, K)); }
};

#if SPLIT_K > 1

/* Sums of a tile outside registers lie in quads: thread after thread's first four floats, then their next four, ...: whole lines
 * of memory, and no conflicts in shared memory. They are stored times alpha: stored as they are, four at a time, they would have to
 * lie in adjacent registers throughout the main loop, which costs it 10%. */
constexpr int QUADS = THREAD_M * THREAD_N / 4;
static_assert(THREAD_M * THREAD_N % 4 == 0, "a split product needs a multiple of 4 elements a thread");

__device__ __forceinline__ float4 quad_of(const float (&sum)[THREAD_M][THREAD_N], int q, float alpha)
{
    return make_float4(alpha * sum[q * 4 / THREAD_N][q * 4 % THREAD_N], alpha * sum[(q * 4 + 1) / THREAD_N][(q * 4 + 1) % THREAD_N],
                       alpha * sum[(q * 4 + 2) / THREAD_N][(q * 4 + 2) % THREAD_N],
                       alpha * sum[(q * 4 + 3) / THREAD_N][(q * 4 + 3) % THREAD_N]);
}

[[maybe_unused]] __device__ __forceinline__ void add(float4 &sum, const float4 &v) { sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w; }

/* C = sum + beta*C for one quad of a tile; quads are counted over all threads. */
[[maybe_unused]] __device__ __forceinline__ void store_quad(int quad, const float4 &sum, const problem &p, const place &at)
{
    const thread_place thread(quad % N_THREADS);
    const int element = quad / N_THREADS * 4;
    const float in[4] = {sum.x, sum.y, sum.z, sum.w};
    const bool whole = at.row == at.own_row && at.col == at.own_col && at.row + BLOCK_M <= p.M && at.col + BLOCK_N <= p.N;
    if (VECTOR == 4 && TILE_COL_SIZE >= 4 && whole && p.beta == 0.0f && aligned(p.C, p.ldc, 4)) {
        const int m = at.row + thread.row(element / THREAD_N), n = at.col + thread.n + thread_col(element % THREAD_N);
        store<4>(p.C + (long long)m * p.ldc + n, in);
        return;
    }
#pragma unroll
    for (int e = 0; e < 4; ++e)
        store_element(in[e], at.row + thread.row((element + e) / THREAD_N), at.col + thread.n + thread_col((element + e) % THREAD_N), p, at);
}

/* C = sum + beta*C for the v-th float that a lane takes of the quads of its warp, of which it has `quad` itself. */
[[maybe_unused]] __device__ __forceinline__ void store_quad_taken(int quad, const taken &t, float sum, const problem &p, const place &at)
{
    const int thread = quad % N_THREADS, element = quad / N_THREADS * 4;
    const thread_place first(thread - thread % 32);
    store_element(sum, at.row + taken_row(t, first, element / THREAD_N), at.col + first.n + thread_col(element % THREAD_N) + t.col, p, at);
}

#if FINISH_IS == FINISH_cluster

__device__ __forceinline__ void cluster_barrier()
{
    asm volatile("barrier.cluster.arrive.release.aligned;\n barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* A float, or four, of a block of the cluster, at the place that has this address in one's own shared memory. */
__device__ __forceinline__ void read_in_cluster(float &to, unsigned at, int block)
{
    unsigned from;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(from) : "r"(at), "r"(block));
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(to) : "r"(from) : "memory");
}

__device__ __forceinline__ void read_in_cluster(float4 &to, unsigned at, int block)
{
    unsigned from;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(from) : "r"(at), "r"(block));
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(to.x), "=f"(to.y), "=f"(to.z), "=f"(to.w) : "r"(from) : "memory");
}

__device__ __forceinline__ void add(float &sum, float v) { sum += v; }

/* The blocks' values at one place, in the order of k. */
template <class value> __device__ __forceinline__ value add_in_cluster(unsigned at)
{
    value found[SPLIT_K], total = {};
#pragma unroll
    for (int block = 0; block < SPLIT_K; ++block)
        read_in_cluster(found[block], at, block);
#pragma unroll
    for (int block = 0; block < SPLIT_K; ++block)
        add(total, found[block]);
    return total;
}

/* The blocks of a cluster leave their sums in shared memory, and each adds all of them for its share of the quads. */
__device__ __forceinline__ void finish_in_cluster(const float (&sum)[THREAD_M][THREAD_N], int part, const problem &p, const place &at,
                                                  float *ring)
{
    float4 *const own = reinterpret_cast<float4 *>(ring);
    __syncthreads(); /* everyone is through with the ring */
#pragma unroll
    for (int q = 0; q < QUADS; ++q)
        own[q * N_THREADS + threadIdx.x] = quad_of(sum, q, p.alpha);
    cluster_barrier();
    constexpr int WARP_QUADS = QUADS * N_THREADS / 32;
    const int first = WARP_QUADS * part / SPLIT_K * 32, end = WARP_QUADS * (part + 1) / SPLIT_K * 32, lane = threadIdx.x % 32;
#pragma unroll 1
    for (int quad = first + (int)threadIdx.x; quad < end; quad += N_THREADS) {
        if constexpr (BY_ROWS) {
            float total[4];
#pragma unroll
            for (int v = 0; v < 4; ++v)
                total[v] = add_in_cluster<float>(shared_address(ring) + 16 * (quad - lane) + 4 * taken(lane, v).from);
#pragma unroll
            for (int v = 0; v < 4; ++v)
                store_quad_taken(quad, taken(lane, v), total[v], p, at);
        } else {
            store_quad(quad, add_in_cluster<float4>(shared_address(ring) + 16 * quad), p, at);
        }
    }
    cluster_barrier(); /* nobody leaves while others read */
}

#else

constexpr long long SLOT_FLOATS = BLOCK_M * BLOCK_N;

__device__ __forceinline__ void keep_partial(const float (&sum)[THREAD_M][THREAD_N], float alpha, float *slot)
{
#pragma unroll
    for (int q = 0; q < QUADS; ++q)
        __stcg(reinterpret_cast<float4 *>(slot) + q * N_THREADS + threadIdx.x, quad_of(sum, q, alpha));
}

#if FINISH_IS == FINISH_last_block
/* sum = all parts of a tile, added in the order of k, whoever does it: the same bits in every run. */
__device__ __forceinline__ void add_partials(float (&sum)[THREAD_M][THREAD_N], const float *first)
{
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i)
#pragma unroll
        for (int j = 0; j < THREAD_N; ++j)
            sum[i][j] = 0.0f;
#pragma unroll 1
    for (int part = 0; part < SPLIT_K; ++part) {
        const float4 *const slot = reinterpret_cast<const float4 *>(first + part * SLOT_FLOATS) + threadIdx.x;
#pragma unroll
        for (int q = 0; q < QUADS; ++q) {
            const float4 v = __ldcg(slot + q * N_THREADS);
            const float in[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (int e = 0; e < 4; ++e)
                sum[(q * 4 + e) / THREAD_N][(q * 4 + e) % THREAD_N] += in[e];
        }
    }
}
#endif
#endif
#endif
#endif

} // namespace

#if MIN_BLOCKS > 0
#define GEMM_BOUNDS __launch_bounds__(N_THREADS, MIN_BLOCKS)
#else
#define GEMM_BOUNDS __launch_bounds__(N_THREADS)
#endif

#if ALIGNED
/* A block copies a row of A, or of B. */
extern "C" __global__ void __launch_bounds__(256)
gemm_simt_align(const float *__restrict__ A, int rows_a, int cols_a, int lda, float *__restrict__ to_a, int rows_to_a, int ld_to_a,
                const float *__restrict__ B, int rows_b, int cols_b, int ldb, float *__restrict__ to_b, int rows_to_b, int ld_to_b)
{
    const bool of_a = (int)blockIdx.x < rows_to_a;
    const int row = of_a ? blockIdx.x : blockIdx.x - rows_to_a, cols = of_a ? cols_a : cols_b, end = of_a ? ld_to_a : ld_to_b;
    if (row >= (of_a ? rows_to_a : rows_to_b))
        return;
    let_launch_after_begin();
    const bool there = row < (of_a ? rows_a : rows_b);
    const float *const from = of_a ? A + (long long)row * lda : B + (long long)row * ldb;
    float *const to = of_a ? to_a + (long long)row * ld_to_a : to_b + (long long)row * ld_to_b;
#pragma unroll 8
    for (int i = threadIdx.x; i < end; i += 256)
        to[i] = there && i < cols ? __ldcs(from + i) : 0.0f;
}
#endif

#ifndef SPLIT_K

extern "C" __global__ void GEMM_BOUNDS gemm_simt(int M, int N, int K, float alpha, const float *__restrict__ A, int lda,
                                                 const float *__restrict__ B, int ldb, float beta, float *__restrict__ C, int ldc)
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

extern "C" __global__ void GEMM_BOUNDS gemm_simt_split(int M, int N, int K, float alpha, const float *__restrict__ A, int lda,
                                                       long long stride_a, const float *__restrict__ B, int ldb, long long stride_b,
                                                       float beta, float *__restrict__ C, int ldc, long long stride_c, int batch,
                                                       float *partial, unsigned *count)
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
    if (nothing_to_store(sum, alpha))
        return;

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
        /* The block that comes last adds all parts. atomicInc wraps to zero there, which leaves the counter ready for the next
         * launch. */
        __shared__ bool last;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0)
            last = atomicInc(count + mine.shared, SPLIT_K - 1) == SPLIT_K - 1;
        __syncthreads();
        if (!last)
            return;
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
/* Adds the parts of tile alone + blockIdx.x, one of `shared`, 32 quads a block. A warp adds every eighth part, then the first warp what the eight
 * found. */
extern "C" __global__ void __launch_bounds__(256)
gemm_simt_finish(int M, int N, float beta, float *__restrict__ C, int ldc, long long stride_c, int alone,
                 int shared, const float *__restrict__ partial)
{
    __shared__ float4 found[8][32];
    if ((int)blockIdx.x >= shared)
        return;
    wait_for_launch_before();
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, quad = blockIdx.y * 32 + lane;
    const float *const slots = partial + blockIdx.x * (SPLIT_K * SLOT_FLOATS);
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 8
    for (int part = warp; part < SPLIT_K; part += 8)
        add(sum, __ldcg(reinterpret_cast<const float4 *>(slots + part * SLOT_FLOATS) + quad));
    found[warp][lane] = sum;
    __syncthreads();
    if (warp > 0)
        return;
#pragma unroll
    for (int w = 1; w < 8; ++w)
        add(sum, found[w][lane]);
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
