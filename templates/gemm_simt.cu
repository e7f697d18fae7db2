/*
 * gemm_simt.cu: C = alpha*A*B + beta*C in FP32 on the FMA units, no tensor cores.
 *
 * A is M x K, B is K x N, C is M x N, all row-major with leading dimensions lda, ldb, ldc (in floats). Any M, N, K >= 1, any
 * leading dimensions, any 4-byte aligned pointers. With beta == 0, C is never read. One launch, no scratch memory:
 *
 *     grid    ceil_div(M, BLOCK_M) * ceil_div(N, BLOCK_N)                      (one-dimensional)
 *     block   (BLOCK_M / WARP_M) * (BLOCK_N / WARP_N) * 32
 *     shared  4 * STAGES * BLOCK_K * (BLOCK_M + PAD + BLOCK_N)                 (dynamic, bytes)
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
 *     B:  BLOCK_K rows of BLOCK_N floats
 *
 * Parameters (macros; each has a default, and the defaults together are the best configuration measured so far at 4096 x 4096 x
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
 *     TILE_ROW_SIZE      rows a thread reads at a time (1, 2, 4, 8)
 *     TILE_COL_SIZE      columns a thread reads at a time (1, 2, 4, 8). 8 has the classic two-way bank conflict: eight lanes read
 *                        16 bytes each at columns 0, 8, ..., 56, and columns 0 and 32 share a bank; with 4 they read 128
 *                        contiguous bytes. At 1024 cubed, 128 x 128 tiles: 4,198,670 conflicts of loads against 213, 11% of time
 *     STAGES             slots in the ring. 1: copy, wait, compute. n: n-1 tiles are on their way while one is computed
 *     VECTOR             floats per global access of B and C (and of A when A_ASYNC is 0): 1, 2, 4
 *     A_ASYNC            1: A goes to shared memory by 4-byte cp.async, each float straight to its transposed place.
 *                        0: A is loaded VECTOR floats at a time into registers and stored transposed one tile later: fewer
 *                        wavefronts (18%), more registers. Neither wins everywhere
 *     PAD                floats added to a row of A in shared memory (multiple of 4 for 128-bit fragments). A warp writes 8
 *                        values of k times 4 or more rows at once, k being the slow index: with 4, bank 4k + row is different
 *                        for all 32; with 0, all 8 k of one row are in the same bank (14% of time with A_ASYNC)
 *     UNROLL_K           pragma text in front of the loop over the BLOCK_K rows of a tile: empty, _Pragma("unroll") or
 *                        _Pragma("unroll n")
 *     DOUBLE_BUFFER      1: the fragments of row k+1 are loaded before row k is multiplied, across tiles as well
 *     COLUMN_WISE        order of a row's multiplications in the source: 0 row after row of the thread's tile, 1 column after
 *                        column. The same arithmetic; it decides which registers and which order the compiler chooses, worth
 *                        up to 2% either way
 *     RASTER             blocks go down RASTER rows of blocks, then one column to the right, so that the blocks in flight
 *                        share more of A and B in L2. 1: row by row
 *     MIN_BLOCKS         blocks an SM must be able to hold (second argument of __launch_bounds__), which bounds registers.
 *                        0: left to the compiler
 *
 * What limits it. An SM issues one instruction per scheduler and cycle, and an FFMA is one of them, so every other instruction
 * costs a multiplication: with 128 x 256 x 8 tiles at 2048 cubed 91% are FFMAs, and in 86% of the cycles one is issued. Hence 16 x 8
 * thread tiles (6 shared loads for 128 FFMAs) at 8 warps an SM beat 8 x 8 ones (4 for 64) at 16. Power-of-two sizes lose 3% more,
 * because their blocks fill 132 SMs 3.88 times. Register banks are not the limit: the share of FFMAs with two operands in
 * the same bank (9% to 60%) does not go with the time.
 *
 * Ragged sizes. Only the copies into shared memory and the final store know about edges. A tile that lies inside the matrices,
 * with pointers and leading dimensions that VECTOR allows, is copied without a single test; every other tile is copied
 * float by float, zero-filled outside. The choice is one uniform branch per tile and per kernel. 4095 cubed, where with
 * VECTOR 4 all of B goes float by float, still reached 41 TFLOP/s.
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

namespace {

__host__ __device__ constexpr int smaller(int a, int b) { return a < b ? a : b; }
__host__ __device__ constexpr int larger(int a, int b) { return a > b ? a : b; }

constexpr int WARPS_N = BLOCK_N / WARP_N;
constexpr int N_THREADS = (BLOCK_M / WARP_M) * WARPS_N * 32;
constexpr int LANE_COLS = 32 / LANE_ROWS;
constexpr int THREAD_M = WARP_M / LANE_ROWS;
constexpr int THREAD_N = WARP_N / LANE_COLS;

/* Floats from one row of a slot to the next, in A's part of a slot, and in a slot. */
constexpr int A_ROW = BLOCK_M + PAD;
constexpr int B_ROW = BLOCK_N;
constexpr int A_SLOT = BLOCK_K * A_ROW;
constexpr int SLOT = A_SLOT + BLOCK_K * B_ROW;

/* Copying A: 8 consecutive k of a row (one 32-byte sector) are the unit, whatever the width, so that with PAD 4 the transposed
 * writes of a warp fall into 32 different banks. A pass of the block covers A_ROW_STEP rows by 8 * A_GROUP_STEP of K. */
constexpr int A_WIDTH = A_ASYNC ? 1 : VECTOR;
constexpr int A_LANES = 8 / A_WIDTH;
constexpr int A_ROW_STEP = smaller(N_THREADS / A_LANES, BLOCK_M);
constexpr int A_GROUP_STEP = larger(1, N_THREADS / A_LANES / BLOCK_M);
constexpr int A_ROW_PASSES = BLOCK_M / A_ROW_STEP;
constexpr int A_GROUP_PASSES = BLOCK_K / 8 / A_GROUP_STEP;

/* Copying B: a pass covers B_COL_STEP columns of B_ROW_STEP values of k. */
constexpr int B_COL_STEP = smaller(N_THREADS * VECTOR, BLOCK_N);
constexpr int B_ROW_STEP = larger(1, N_THREADS * VECTOR / BLOCK_N);
constexpr int B_COL_PASSES = BLOCK_N / B_COL_STEP;
constexpr int B_ROW_PASSES = BLOCK_K / B_ROW_STEP;

__host__ __device__ constexpr bool is_width(int n) { return n == 1 || n == 2 || n == 4 || n == 8; }
static_assert(BLOCK_M % WARP_M == 0 && BLOCK_N % WARP_N == 0, "the block tile must be a multiple of the warp tile");
static_assert(LANE_ROWS == 2 || LANE_ROWS == 4 || LANE_ROWS == 8 || LANE_ROWS == 16, "LANE_ROWS must be 2, 4, 8 or 16");
static_assert(is_width(TILE_ROW_SIZE) && is_width(TILE_COL_SIZE), "TILE_ROW_SIZE and TILE_COL_SIZE must be 1, 2, 4 or 8");
static_assert(WARP_M % (LANE_ROWS * TILE_ROW_SIZE) == 0, "WARP_M must be a multiple of LANE_ROWS * TILE_ROW_SIZE");
static_assert(WARP_N % (LANE_COLS * TILE_COL_SIZE) == 0, "WARP_N must be a multiple of 32 / LANE_ROWS * TILE_COL_SIZE");
static_assert(N_THREADS <= 1024, "more than 1024 threads in a block");
static_assert(BLOCK_K % 8 == 0, "BLOCK_K must be a multiple of 8");
static_assert(VECTOR == 1 || VECTOR == 2 || VECTOR == 4, "VECTOR must be 1, 2 or 4");
static_assert(BLOCK_N % 4 == 0, "BLOCK_N must be a multiple of 4");
static_assert(STAGES >= 1, "STAGES must be at least 1");
static_assert(PAD >= 0 && PAD % smaller(4, TILE_ROW_SIZE) == 0, "PAD must keep the rows of A aligned for TILE_ROW_SIZE");
static_assert(A_ROW_STEP * A_GROUP_STEP == N_THREADS / A_LANES && A_ROW_PASSES * A_ROW_STEP == BLOCK_M
                  && A_GROUP_PASSES * A_GROUP_STEP == BLOCK_K / 8,
              "the threads of the block do not divide the tile of A evenly");
static_assert(B_COL_STEP * B_ROW_STEP == N_THREADS * VECTOR && B_COL_PASSES * B_COL_STEP == BLOCK_N
                  && B_ROW_PASSES * B_ROW_STEP == BLOCK_K,
              "the threads of the block do not divide the tile of B evenly");
static_assert(RASTER >= 1, "RASTER must be at least 1");

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

/* Where a thread's i-th row and j-th column lie, counted from its first. */
__device__ __forceinline__ int thread_row(int i) { return i / TILE_ROW_SIZE * (LANE_ROWS * TILE_ROW_SIZE) + i % TILE_ROW_SIZE; }
__device__ __forceinline__ int thread_col(int j) { return j / TILE_COL_SIZE * (LANE_COLS * TILE_COL_SIZE) + j % TILE_COL_SIZE; }

__device__ __forceinline__ int next_slot(int slot)
{
    if constexpr (STAGES <= 2)
        return (STAGES - 1) * SLOT - slot;
    else
        return slot == (STAGES - 1) * SLOT ? 0 : slot + SLOT;
}

/* What a thread needs for row k of its product: one value per row and one per column of its tile. */
struct fragments {
    float a[THREAD_M], b[THREAD_N];

    __device__ __forceinline__ void read(const float *a_row, const float *b_row)
    {
#if SWEETSPOT_VARIANT == 1
        return;
#endif
#pragma unroll
        for (int i = 0; i < THREAD_M / TILE_ROW_SIZE; ++i)
            load<TILE_ROW_SIZE>(a + i * TILE_ROW_SIZE, a_row + i * LANE_ROWS * TILE_ROW_SIZE);
#pragma unroll
        for (int j = 0; j < THREAD_N / TILE_COL_SIZE; ++j)
            load<TILE_COL_SIZE>(b + j * TILE_COL_SIZE, b_row + j * LANE_COLS * TILE_COL_SIZE);
    }
};

/* Walked to and fro, so that consecutive FFMAs share an operand at the turn too (operand reuse cache). */
__device__ __forceinline__ void multiply(float (&sum)[THREAD_M][THREAD_N], const fragments &f)
{
#if SWEETSPOT_VARIANT == 1
#elif COLUMN_WISE
#pragma unroll
    for (int j = 0; j < THREAD_N; ++j)
#pragma unroll
        for (int i = 0; i < THREAD_M; ++i) {
            const int m = j % 2 ? THREAD_M - 1 - i : i;
            sum[m][j] += f.a[m] * f.b[j];
        }
#else
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i)
#pragma unroll
        for (int j = 0; j < THREAD_N; ++j) {
            const int n = i % 2 ? THREAD_N - 1 - j : j;
            sum[i][n] += f.a[i] * f.b[n];
        }
#endif
}

/* The copying side: moves tile after tile into the ring. A tile that does not exist is a copy of nothing, so callers need not
 * count. */
struct copier {
    const float *a_from, *b_from;   /* this thread's first element of the next tile */
    unsigned a_to, b_to;            /* this thread's first place in the first slot */
    int lda, ldb;
    int rows_left, cols_left;       /* rows of A and columns of B from this thread's first one to the matrix's end */
    int k_left;                     /* values of k from this thread's next tile to the end, whole block */
    int k_checked;                  /* tiles are copied without tests while k_left >= k_checked */
    int slot, last_slot;            /* where the next tile goes, where the last one went: floats from the ring's start */
    float a_held[A_ASYNC ? 1 : A_ROW_PASSES * A_GROUP_PASSES * A_WIDTH];

    __device__ __forceinline__ void start(const float *A, int lda_, const float *B, int ldb_, int M, int N, int K, int row, int col,
                                          float *ring)
    {
        const int tid = threadIdx.x;
        const int a_k = tid % A_LANES * A_WIDTH + tid / A_LANES / BLOCK_M * 8, a_m = tid / A_LANES % BLOCK_M;
        const int b_n = tid * VECTOR % BLOCK_N, b_k = tid * VECTOR / BLOCK_N;
        lda = lda_, ldb = ldb_;
        a_from = A + (long long)(row + a_m) * lda + a_k;
        b_from = B + (long long)b_k * ldb + col + b_n;
        a_to = shared_address(ring + a_k * A_ROW + a_m);
        b_to = shared_address(ring + A_SLOT + b_k * B_ROW + b_n);
        rows_left = M - row - a_m;
        cols_left = N - col - b_n;
        k_left = K;
        slot = last_slot = 0;
        const bool inside = row + BLOCK_M <= M && col + BLOCK_N <= N && aligned(B, ldb, VECTOR) && aligned(A, lda, A_WIDTH);
        k_checked = inside ? BLOCK_K : 0x7fffffff;
    }

    /* Starts copying the next tile into the next slot. With A_ASYNC 0, A's part arrives in registers: see finish(). */
    __device__ __forceinline__ void next()
    {
#if SWEETSPOT_VARIANT != 2
        if (k_left >= k_checked)
            copy_inside();
        else if (k_left > 0)
            copy_checked();
#endif
        a_from += BLOCK_K;
        b_from += (long long)BLOCK_K * ldb;
        k_left -= BLOCK_K;
        last_slot = slot;
        slot = next_slot(slot);
    }

    __device__ __forceinline__ void copy_inside()
    {
        const unsigned a_slot = a_to + 4 * slot, b_slot = b_to + 4 * slot;
#pragma unroll
        for (int i = 0; i < A_ROW_PASSES; ++i)
#pragma unroll
            for (int g = 0; g < A_GROUP_PASSES; ++g) {
                const float *from = a_from + (long long)lda * (i * A_ROW_STEP) + g * (8 * A_GROUP_STEP);
                if constexpr (A_ASYNC)
                    copy_async<1>(a_slot + 4 * (g * 8 * A_GROUP_STEP * A_ROW + i * A_ROW_STEP), from);
                else
                    load<A_WIDTH>(a_held + (i * A_GROUP_PASSES + g) * A_WIDTH, from);
            }
#pragma unroll
        for (int k = 0; k < B_ROW_PASSES; ++k)
#pragma unroll
            for (int j = 0; j < B_COL_PASSES; ++j)
                copy_async<VECTOR>(b_slot + 4 * (k * B_ROW_STEP * B_ROW + j * B_COL_STEP),
                                   b_from + (long long)ldb * (k * B_ROW_STEP) + j * B_COL_STEP);
    }

    /* Not unrolled over the passes: it is the rare path, and half the kernel's code otherwise. Unrolled only where a register
     * array is indexed. */
    __device__ __forceinline__ void copy_checked()
    {
        const int tid = threadIdx.x;
        const int a_k = tid % A_LANES * A_WIDTH + tid / A_LANES / BLOCK_M * 8, b_k = tid * VECTOR / BLOCK_N;
        const unsigned a_slot = a_to + 4 * slot, b_slot = b_to + 4 * slot;
        if constexpr (A_ASYNC) {
#pragma unroll 1
            for (int i = 0; i < A_ROW_PASSES; ++i)
#pragma unroll 1
                for (int g = 0; g < A_GROUP_PASSES; ++g) {
                    const int m = i * A_ROW_STEP, k = g * (8 * A_GROUP_STEP);
                    const bool valid = m < rows_left && a_k + k < k_left;
                    copy_async_or_zero(a_slot + 4 * (k * A_ROW + m), valid ? a_from + (long long)lda * m + k : a_from, valid);
                }
        } else {
#pragma unroll
            for (int i = 0; i < A_ROW_PASSES; ++i)
#pragma unroll
                for (int g = 0; g < A_GROUP_PASSES; ++g)
#pragma unroll
                    for (int v = 0; v < A_WIDTH; ++v) {
                        const int m = i * A_ROW_STEP, k = g * (8 * A_GROUP_STEP) + v;
                        const bool valid = m < rows_left && a_k + k < k_left;
                        a_held[(i * A_GROUP_PASSES + g) * A_WIDTH + v] = valid ? a_from[(long long)lda * m + k] : 0.0f;
                    }
        }
#pragma unroll 1
        for (int i = 0; i < B_ROW_PASSES; ++i)
#pragma unroll 1
            for (int j = 0; j < B_COL_PASSES * VECTOR; ++j) {
                const int n = j / VECTOR * B_COL_STEP + j % VECTOR, k = i * B_ROW_STEP;
                const bool valid = n < cols_left && b_k + k < k_left;
                copy_async_or_zero(b_slot + 4 * (k * B_ROW + n), valid ? b_from + (long long)ldb * k + n : b_from, valid);
            }
    }

    /* A_ASYNC 0: stores the part of A that the last next() brought into registers. */
    __device__ __forceinline__ void finish(float *ring)
    {
        if constexpr (!A_ASYNC && SWEETSPOT_VARIANT != 2) {
            const int tid = threadIdx.x;
            const int a_k = tid % A_LANES * A_WIDTH + tid / A_LANES / BLOCK_M * 8, a_m = tid / A_LANES % BLOCK_M;
            float *const to = ring + last_slot + a_k * A_ROW + a_m;
#pragma unroll
            for (int i = 0; i < A_ROW_PASSES; ++i)
#pragma unroll
                for (int g = 0; g < A_GROUP_PASSES; ++g)
#pragma unroll
                    for (int v = 0; v < A_WIDTH; ++v)
                        to[(g * 8 * A_GROUP_STEP + v) * A_ROW + i * A_ROW_STEP] = a_held[(i * A_GROUP_PASSES + g) * A_WIDTH + v];
        }
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

} // namespace

#if MIN_BLOCKS > 0
#define GEMM_BOUNDS __launch_bounds__(N_THREADS, MIN_BLOCKS)
#else
#define GEMM_BOUNDS __launch_bounds__(N_THREADS)
#endif

extern "C" __global__ void GEMM_BOUNDS gemm_simt(int M, int N, int K, float alpha, const float *__restrict__ A, int lda,
                                                 const float *__restrict__ B, int ldb, float beta, float *__restrict__ C, int ldc)
{
    extern __shared__ float4 shared_memory[]; /* float4 for its alignment */
    float *const ring = reinterpret_cast<float *>(shared_memory);

    /* Which tile of C. The last group of rows may be lower than RASTER. */
    const int blocks_n = (N + BLOCK_N - 1) / BLOCK_N;
    int block_m = blockIdx.x / blocks_n, block_n = blockIdx.x % blocks_n;
    if constexpr (RASTER > 1) {
        const int blocks_m = (M + BLOCK_M - 1) / BLOCK_M;
        const int first = block_m / RASTER * RASTER, height = min(RASTER, blocks_m - first);
        const int in_group = blockIdx.x - first * blocks_n;
        block_m = first + in_group % height;
        block_n = in_group / height;
    }
    const int row = block_m * BLOCK_M, col = block_n * BLOCK_N;

    /* Which part of it. */
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int lane_m = LANE_PAIRS ? lane % 2 + lane / (2 * LANE_COLS) * 2 : lane / LANE_COLS;
    const int lane_n = LANE_PAIRS ? lane / 2 % LANE_COLS : lane % LANE_COLS;
    const int thread_m = warp / WARPS_N * WARP_M + lane_m * TILE_ROW_SIZE;
    const int thread_n = warp % WARPS_N * WARP_N + lane_n * TILE_COL_SIZE;

    copier copy;
    copy.start(A, lda, B, ldb, M, N, K, row, col, ring);
#pragma unroll 1
    for (int s = 0; s < STAGES - 1; ++s) {
        copy.next();
        commit_copies();
        if (s < STAGES - 2)
            copy.finish(ring);
    }

    float sum[THREAD_M][THREAD_N] = {};
    const float *const a_first = ring + thread_m, *const b_first = ring + A_SLOT + thread_n;
    const float *a_row = a_first, *b_row = b_first;
    int slot = 0;
#if DOUBLE_BUFFER
    fragments now, next;
    advance(copy, ring);
    now.read(a_row, b_row);
#pragma unroll 1
    while (copy.k_left > -STAGES * BLOCK_K) {
        UNROLL_K for (int k = 0; k < BLOCK_K; ++k)
        {
            a_row += A_ROW, b_row += B_ROW;
            if (k == BLOCK_K - 1) {
                advance(copy, ring);
                slot = next_slot(slot);
                a_row = a_first + slot, b_row = b_first + slot;
            }
            next.read(a_row, b_row); /* past the last tile: a stale slot, never used */
            multiply(sum, now);
            now = next;
        }
    }
#else
#pragma unroll 1
    while (copy.k_left > -(STAGES - 1) * BLOCK_K) {
        advance(copy, ring);
        UNROLL_K for (int k = 0; k < BLOCK_K; ++k)
        {
            fragments now;
            now.read(a_row + k * A_ROW, b_row + k * B_ROW);
            multiply(sum, now);
        }
        slot = next_slot(slot);
        a_row = a_first + slot, b_row = b_first + slot;
    }
#endif

#if SWEETSPOT_VARIANT == 2
    if (sum[0][0] != 1.2345e-33f || alpha != -1.2345e-33f)
        return;
#endif
    constexpr int WIDTH = smaller(VECTOR, TILE_COL_SIZE);
    const int first_m = row + thread_m, first_n = col + thread_n;
    if (row + BLOCK_M <= M && col + BLOCK_N <= N && aligned(C, ldc, WIDTH)) {
#pragma unroll
        for (int i = 0; i < THREAD_M; ++i) {
            float *const c_row = C + (long long)(first_m + thread_row(i)) * ldc + first_n;
#pragma unroll
            for (int j = 0; j < THREAD_N; j += WIDTH) {
                float out[WIDTH] = {};
                if (beta != 0.0f)
                    load<WIDTH>(out, c_row + thread_col(j));
#pragma unroll
                for (int v = 0; v < WIDTH; ++v)
                    out[v] = alpha * sum[i][j + v] + beta * out[v];
                store<WIDTH>(c_row + thread_col(j), out);
            }
        }
        return;
    }

    /* At an edge, the first row is stored and the others move up by one: with a test for each element, this loop unrolled
     * would be a third of the kernel's code and of its compile time. */
#pragma unroll 1
    for (int i = 0; i < THREAD_M; ++i) {
        const int m = first_m + thread_row(i);
        float *const c_row = C + (long long)m * ldc + first_n;
#pragma unroll
        for (int j = 0; j < THREAD_N; ++j)
            if (m < M && first_n + thread_col(j) < N) {
                const float old = beta != 0.0f ? c_row[thread_col(j)] : 0.0f;
                c_row[thread_col(j)] = alpha * sum[0][j] + beta * old;
            }
#pragma unroll
        for (int r = 1; r < THREAD_M; ++r)
#pragma unroll
            for (int j = 0; j < THREAD_N; ++j)
                sum[r - 1][j] = sum[r][j];
    }
}
