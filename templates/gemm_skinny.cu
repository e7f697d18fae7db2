/*
 * gemm_skinny.cu: products of a tall matrix of BF16 or FP16 with a few vectors, at the speed of memory: mma.sync, FP32 accumulators.
 *
 *     D = alpha * W * x' + beta * D     W: rows x K, x: tokens x K, both with K contiguous; D: rows x tokens, or with TRANSPOSE_C
 *                                       tokens x rows
 *
 * Such a product reads W once and does little with it, so all that counts is how many bytes are on their way from the first to the last
 * microsecond. A warp has ROW_TILES * 16 rows and a share of K for itself, and never waits for another one until its sums are done. The 16 rows
 * of an mma.sync m16n8k16 are rows of W, its 8 columns are tokens. A lane takes 16 bytes at a time from one row, which serve two
 * instructions: the order of k within them is not the one the instruction has in mind, but the same for W and for x, so that the sum is the
 * same.
 *
 *     lane 4*g + t          W: rows g and g + 8           k + 8t .. k + 8t + 7        32 k's, 64 bytes of a row
 *                           x: token g                    the same k's
 *
 * LOAD bulk: a warp has STAGES buffers in shared memory, each for CHUNK k's of its rows, a line 64 bytes longer than it need be (so that
 * the lanes of a quarter warp, which read two rows, meet 32 banks). Every lane orders the copies of some rows (cp.async.bulk), one mbarrier
 * counts their bytes. With X ring the tokens' share is ordered with them. LOAD direct: the same in registers. A last, partial chunk of K, and all where rows do not begin at multiples of 16
 * bytes, is loaded by elements.
 *
 * K is shared by WARPS_K warps, which take chunks in turn, and by the SPLIT_K blocks of a cluster; what they have is added through
 * (distributed) shared memory in a fixed order. Any rows, tokens, K >= 1, any leading dimensions; beta = 0: D is not read.
 *
 *     gemm_skinny  (int rows, int tokens, int K, float alpha, W, long long ldw, x, long long ldx, float beta, D, long long ldd)
 *         TILES      ceil_div(rows, 16 * ROW_TILES * WARPS_N)
 *         grid       SPLIT_K * (PERSISTENT ? any number up to TILES : TILES), ceil_div(tokens, TOKENS);   cluster  SPLIT_K
 *         block      32 * WARPS_N * WARPS_K
 *         shared     RING + SUMS + BARRIERS, in this order:
 *                    RING      WARPS * STAGES * (16 * ROW_TILES + (X ring ? TOKENS : 0)) * (2 * CHUNK + 64), with LOAD bulk
 *                    SUMS      WARPS * ROW_TILES * ceil_div(TOKENS, 8) * 512
 *                    BARRIERS  8 * WARPS * STAGES
 *
 * Parameters (macros; each has a default)
 *
 *     INPUT, OUTPUT   bf16 or f16; bf16, f16 or f32
 *     TOKENS          that a block does, 1 to 32: in tiles of 8
 *     ROW_TILES       of 16 rows, which a warp does; they share what is read of x
 *     WARPS_N         warps one below the other
 *     WARPS_K         warps that share the same rows' sums
 *     SPLIT_K         blocks that do (sm_90 when more than one)
 *     CHUNK           k's that a warp loads at a time, a multiple of 64
 *     STAGES          chunks that a warp has in flight
 *     LOAD            bulk (sm_90) or direct
 *     X               ring: x comes with W (LOAD bulk); cached: it is read through the L1, which W passes by
 *     HINT            1: the L2 may drop W first
 *     PERSISTENT      1: blocks stay, and load the next tile's W while they finish one; 0: a block for each tile
 *     MIN_BLOCKS      blocks an SM that registers must suffice for
 *
 * SWEETSPOT_VARIANT (set by `sweetspot limiter`): 0 the kernel; 1 memory alone: instead of multiplying, the bits are collected; 2
 * arithmetic alone: W is not loaded.
 *
 * Sources: PTX ISA 9.0, sections on mma.sync m16n8k16 (fragments), cp.async.bulk, mbarrier, mapa.
 */

#ifndef SWEETSPOT_VARIANT
#define SWEETSPOT_VARIANT 0
#endif
#ifndef INPUT
#define INPUT bf16
#endif
#ifndef OUTPUT
#define OUTPUT bf16
#endif
#ifndef TRANSPOSE_C
#define TRANSPOSE_C 1
#endif
#ifndef TOKENS
#define TOKENS 8
#endif
#ifndef ROW_TILES
#define ROW_TILES 1
#endif
#ifndef WARPS_N
#define WARPS_N 1
#endif
#ifndef WARPS_K
#define WARPS_K 4
#endif
#ifndef SPLIT_K
#define SPLIT_K 1
#endif
#ifndef CHUNK
#define CHUNK 128
#endif
#ifndef STAGES
#define STAGES 2
#endif
#ifndef LOAD
#define LOAD direct
#endif
#ifndef X
#define X cached
#endif
#ifndef HINT
#define HINT 0
#endif
#ifndef PERSISTENT
#define PERSISTENT 0
#endif
#ifndef MIN_BLOCKS
#define MIN_BLOCKS 1
#endif

/* The tuner passes a choice as a bare identifier; these make it comparable in #if. An unknown one is 0. */
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)
#define TYPE_bf16 1
#define TYPE_f16 2
#define TYPE_f32 3
#define LOAD_bulk 1
#define LOAD_direct 2
#define X_ring 1
#define X_cached 2
#define INPUT_IS JOIN(TYPE_, INPUT)
#define OUTPUT_IS JOIN(TYPE_, OUTPUT)

#if INPUT_IS != TYPE_bf16 && INPUT_IS != TYPE_f16
#error "INPUT must be bf16 or f16"
#endif
#if OUTPUT_IS == 0
#error "OUTPUT must be bf16, f16 or f32"
#endif
#if JOIN(LOAD_, LOAD) == 0
#error "LOAD must be bulk or direct"
#endif
#if JOIN(X_, X) == 0
#error "X must be ring or cached"
#endif

#pragma nv_diag_suppress 177 /* which of what follows is used depends on the parameters */

namespace {

constexpr bool BULK = JOIN(LOAD_, LOAD) == LOAD_bulk, X_STAGED = JOIN(X_, X) == X_ring;
constexpr int WARPS = WARPS_N * WARPS_K, THREADS = 32 * WARPS;
constexpr int ROWS = 16 * ROW_TILES;   /* of a warp */
constexpr int BLOCK_N = ROWS * WARPS_N; /* of a block */
constexpr int TOKEN_TILES = (TOKENS + 7) / 8;
constexpr int VECTORS = CHUNK / 32;    /* of 16 bytes, a lane and row */
constexpr int PIECE = ROW_TILES >= 4 ? 1 : VECTORS < 4 / ROW_TILES ? VECTORS : 4 / ROW_TILES; /* of those, what is in registers at a time with LOAD bulk */
constexpr int PITCH = 2 * CHUNK + 64;  /* bytes of a row's chunk in shared memory */
constexpr int LINES = ROWS + (X_STAGED ? TOKENS : 0); /* of a stage: W's, then x's */
constexpr int RING = BULK ? WARPS * STAGES * LINES * PITCH : 0;
constexpr int SUMS = ROW_TILES * TOKEN_TILES * 128; /* of a warp */
constexpr int BARRIERS_AT = RING + WARPS * SUMS * 4;

static_assert(THREADS <= 1024, "WARPS_N * WARPS_K must be at most 32");
static_assert(CHUNK % 64 == 0, "CHUNK must be a multiple of 64");
static_assert(STAGES >= 1 && ROW_TILES >= 1, "STAGES and ROW_TILES must be at least 1");
static_assert(TOKENS >= 1 && TOKENS <= 32, "TOKENS must be 1 to 32");
static_assert(BULK || !X_STAGED, "X ring needs LOAD bulk");
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
static_assert(!BULK && SPLIT_K == 1, "LOAD bulk and SPLIT_K need sm_90");
#endif

typedef unsigned short half_bits; /* of either type */
#if OUTPUT_IS == TYPE_f32
typedef float output;
#else
typedef unsigned short output;
#endif

struct problem {
    int rows, tokens, K;
    float alpha, beta;
    const half_bits *W, *x;
    output *D;
    long long ldw, ldx, ldd;
};

/* ---- barriers, copies --------------------------------------------------------------------------------------------- */

__device__ __forceinline__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ __forceinline__ int cluster_rank() { return SPLIT_K == 1 ? 0 : (int)(blockIdx.x % SPLIT_K); }

__device__ __forceinline__ void cluster_sync()
{
    if constexpr (SPLIT_K == 1)
        __syncthreads();
    else
        asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

__device__ __forceinline__ void barrier_init(unsigned barrier) { asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory"); }

__device__ __forceinline__ void barrier_expect(unsigned barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ __forceinline__ void barrier_wait(unsigned barrier, unsigned parity)
{
    asm volatile("{\n.reg .pred done;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@done bra READY;\nbra AGAIN;\nREADY:\n}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

__device__ __forceinline__ unsigned long long cache_policy()
{
    unsigned long long policy = 0;
    if constexpr (HINT)
        asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

__device__ __forceinline__ void copy_bulk(unsigned to, const void *from, int bytes, unsigned barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}

__device__ __forceinline__ void copy_bulk_once(unsigned to, const void *from, int bytes, unsigned barrier, unsigned long long policy)
{
    if constexpr (HINT)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(to), "l"(from),
                     "r"(bytes), "r"(barrier), "l"(policy)
                     : "memory");
    else
        copy_bulk(to, from, bytes, barrier);
}

/* 16 bytes of W, which nobody reads again. */
__device__ __forceinline__ uint4 load_once(const half_bits *from, unsigned long long policy)
{
    uint4 v;
    if constexpr (HINT)
        asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "l"(from), "l"(policy));
    else
        asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from));
    return v;
}

__device__ __forceinline__ uint4 load_shared(unsigned from)
{
    uint4 v;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(from));
    return v;
}

/* Elements k to k + 7 of a row, 0 from K on. */
__device__ uint4 load_elements(const half_bits *row, int k, int K)
{
    unsigned word[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const unsigned low = k + 2 * i < K ? row[k + 2 * i] : 0, high = k + 2 * i + 1 < K ? row[k + 2 * i + 1] : 0;
        word[i] = high << 16 | low;
    }
    return make_uint4(word[0], word[1], word[2], word[3]);
}

/* ---- multiplying -------------------------------------------------------------------------------------------------- */

__device__ __forceinline__ void mma(float (&d)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." TEXT(INPUT) "." TEXT(INPUT) ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

typedef float sums[ROW_TILES][TOKEN_TILES][4];

/* 32 k's: w has rows g and g + 8 of each tile. */
__device__ __forceinline__ void multiply(sums &sum, const uint4 (&w)[ROW_TILES][2], const uint4 (&x)[TOKEN_TILES])
{
#pragma unroll
    for (int r = 0; r < ROW_TILES; ++r)
#pragma unroll
        for (int n = 0; n < TOKEN_TILES; ++n) {
            const uint4 u = w[r][0], v = w[r][1];
#if SWEETSPOT_VARIANT == 1
            sum[r][n][0] = __uint_as_float(__float_as_uint(sum[r][n][0]) | u.x | u.y | u.z | u.w);
            sum[r][n][1] = __uint_as_float(__float_as_uint(sum[r][n][1]) | v.x | v.y | v.z | v.w);
            sum[r][n][2] = __uint_as_float(__float_as_uint(sum[r][n][2]) | x[n].x | x[n].y | x[n].z | x[n].w);
#else
            mma(sum[r][n], u.x, v.x, u.y, v.y, x[n].x, x[n].y);
            mma(sum[r][n], u.z, v.z, u.w, v.w, x[n].z, x[n].w);
#endif
        }
}

/* What a warp's lanes read: rows of W from `row` on, tokens from `token` on, both held within the matrices: what is computed from
 * a repeated row or token is not stored. */
struct place {
    const half_bits *w[ROW_TILES][2], *x[TOKEN_TILES];
};

__device__ __forceinline__ place place_of(const problem &p, int row, int token)
{
    const int g = threadIdx.x % 32 / 4;
    place at;
#pragma unroll
    for (int r = 0; r < ROW_TILES; ++r)
#pragma unroll
        for (int i = 0; i < 2; ++i)
            at.w[r][i] = p.W + p.ldw * min(row + 16 * r + 8 * i + g, p.rows - 1);
#pragma unroll
    for (int n = 0; n < TOKEN_TILES; ++n)
        at.x[n] = p.x + p.ldx * min(token + 8 * n + g, p.tokens - 1);
    return at;
}

/* A chunk by elements. */
__device__ void multiply_elements(sums &sum, const place &at, int begin, int K)
{
#pragma unroll 1
    for (int k = begin + threadIdx.x % 4 * 8, left = VECTORS; left > 0 && k - (int)(threadIdx.x % 4 * 8) < K; --left, k += 32) {
        uint4 w[ROW_TILES][2], x[TOKEN_TILES];
#pragma unroll
        for (int r = 0; r < ROW_TILES; ++r)
#pragma unroll
            for (int i = 0; i < 2; ++i)
                w[r][i] = load_elements(at.w[r][i], k, K);
#pragma unroll
        for (int n = 0; n < TOKEN_TILES; ++n)
            x[n] = load_elements(at.x[n], k, K);
        multiply(sum, w, x);
    }
}

/* A lane's tokens, from k on. */
__device__ __forceinline__ void load_x(uint4 (&x)[TOKEN_TILES], const place &at, int k)
{
#pragma unroll
    for (int n = 0; n < TOKEN_TILES; ++n)
        x[n] = __ldg(reinterpret_cast<const uint4 *>(at.x[n] + k));
}

typedef uint4 chunk[VECTORS][ROW_TILES][2];

__device__ __forceinline__ void load_chunk(chunk &w, const place &at, int k, unsigned long long policy)
{
#pragma unroll
    for (int r = 0; r < ROW_TILES; ++r)
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
            for (int v = 0; v < VECTORS; ++v)
#if SWEETSPOT_VARIANT == 2
                w[v][r][i] = make_uint4(k, r, i, v);
#else
                w[v][r][i] = load_once(at.w[r][i] + k + 32 * v, policy);
#endif
}

/* ---- a block ------------------------------------------------------------------------------------------------------ */

/* A block's share of K in chunks: [begin, end), of which [begin, full) are whole ones that begin at multiples of 16 bytes. */
struct share {
    int begin, full, end;
};

__device__ __forceinline__ share share_of(const problem &p)
{
    const int chunks = (p.K + CHUNK - 1) / CHUNK, each = (chunks + SPLIT_K - 1) / SPLIT_K;
    const bool aligned = (reinterpret_cast<unsigned long long>(p.W) | reinterpret_cast<unsigned long long>(p.x)) % 16 == 0 && (p.ldw | p.ldx) % 8 == 0;
    share s;
    s.begin = min(cluster_rank() * each, chunks);
    s.end = min(s.begin + each, chunks);
    s.full = aligned ? max(s.begin, min(s.end, p.K / CHUNK)) : s.begin;
    return s;
}

/* The next chunk that a warp loads: of tile `tile`, which begins at row `row`. */
struct cursor {
    int tile, chunk;
};

__device__ __forceinline__ float load_output(const output *from)
{
#if OUTPUT_IS == TYPE_f32
    return *from;
#elif OUTPUT_IS == TYPE_bf16
    return __uint_as_float((unsigned)*from << 16);
#else
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(*from));
    return value;
#endif
}

__device__ __forceinline__ output narrow(float value)
{
#if OUTPUT_IS == TYPE_f32
    return value;
#else
    output bits;
    asm("cvt.rn." TEXT(OUTPUT) ".f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
#endif
}

__device__ __forceinline__ float load_peer(unsigned from, int rank)
{
    float value;
    asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %1, %2;\nld.shared::cluster.f32 %0, [there];\n}" : "=f"(value) : "r"(from), "r"(rank) : "memory");
    return value;
}

/* Adds what warps and blocks have, and stores: the blocks of a cluster share the elements. */
__device__ __forceinline__ void finish(const problem &p, const sums &sum, float *shared, int row, int token)
{
    float *const mine = shared + threadIdx.x / 32 * SUMS + threadIdx.x % 32;
#pragma unroll
    for (int r = 0; r < ROW_TILES; ++r)
#pragma unroll
        for (int n = 0; n < TOKEN_TILES; ++n)
#pragma unroll
            for (int i = 0; i < 4; ++i)
                mine[((r * TOKEN_TILES + n) * 4 + i) * 32] = sum[r][n][i];
    cluster_sync();
    const int rows = min(BLOCK_N, p.rows - row), tokens = min(TOKENS, p.tokens - token);
    for (int e = cluster_rank() * THREADS + threadIdx.x; e < BLOCK_N * tokens; e += SPLIT_K * THREADS) {
        const int i = TRANSPOSE_C ? e % BLOCK_N : e / tokens, j = TRANSPOSE_C ? e / BLOCK_N : e % tokens;
        if (i >= rows)
            continue;
        const float *from = shared + i / ROWS * SUMS + ((i % ROWS / 16 * TOKEN_TILES + j / 8) * 4 + i / 8 % 2 * 2 + j % 2) * 32 + i % 8 * 4 + j % 8 / 2;
        float total = 0.0f;
#pragma unroll
        for (int rank = 0; rank < SPLIT_K; ++rank)
#pragma unroll
            for (int w = 0; w < WARPS_K; ++w)
                if constexpr (SPLIT_K == 1)
                    total += from[w * WARPS_N * SUMS];
                else
                    total += load_peer(shared_address(from + w * WARPS_N * SUMS), rank);
        output *const d = p.D + (TRANSPOSE_C ? p.ldd * (token + j) + row + i : p.ldd * (row + i) + token + j);
        *d = narrow(p.alpha * total + (p.beta != 0.0f ? p.beta * load_output(d) : 0.0f));
    }
    cluster_sync();
}

} // namespace

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
gemm_skinny(int rows, int tokens, int K, float alpha, const half_bits *__restrict__ W, long long ldw, const half_bits *__restrict__ x, long long ldx, float beta,
            output *D, long long ldd)
{
    extern __shared__ uint4 shared_memory[];
    const problem p = {rows, tokens, K, alpha, beta, W, x, D, ldw, ldx, ldd};
    const share mine = share_of(p);
    const unsigned long long policy = cache_policy();
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warp_n = warp % WARPS_N, warp_k = warp / WARPS_N;
    const int tiles = (rows + BLOCK_N - 1) / BLOCK_N, first = blockIdx.x / SPLIT_K, stride = gridDim.x / SPLIT_K;
    const int token = blockIdx.y * TOKENS;
    float *const shared_sums = reinterpret_cast<float *>(reinterpret_cast<char *>(shared_memory) + RING);
    const unsigned ring = shared_address(shared_memory) + warp * (STAGES * LINES * PITCH);
    const unsigned barrier = shared_address(shared_memory) + BARRIERS_AT + warp * STAGES * 8;
    const int here = min(TOKENS, tokens - token);

    /* The ring's next chunk, and ordering it. */
    cursor next = {mine.begin + warp_k < mine.full ? first : tiles, mine.begin + warp_k};
    const auto load_next = [&](int stage) {
        if (next.tile >= tiles)
            return;
        const unsigned full = barrier + stage * 8;
        if (SWEETSPOT_VARIANT == 2) {
            if (lane == 0)
                barrier_expect(full, 0);
        } else {
            if (lane == 0)
                barrier_expect(full, (ROWS + (X_STAGED ? here : 0)) * CHUNK * 2);
            __syncwarp();
#pragma unroll
            for (int i = lane; i < ROWS; i += 32)
                copy_bulk_once(ring + (stage * LINES + i) * PITCH, p.W + p.ldw * min(next.tile * BLOCK_N + warp_n * ROWS + i, p.rows - 1) + next.chunk * CHUNK,
                               CHUNK * 2, full, policy);
            /* By the lanes at the other end, which have none of W's rows when there are sixteen. */
            if (X_STAGED && 31 - lane < here)
                copy_bulk(ring + (stage * LINES + ROWS + 31 - lane) * PITCH, p.x + p.ldx * (token + 31 - lane) + next.chunk * CHUNK, CHUNK * 2, full);
        }
        next.chunk += WARPS_K;
        if (next.chunk >= mine.full) {
            next.chunk = mine.begin + warp_k;
            next.tile += stride;
        }
    };
    if constexpr (BULK) {
        if (lane < STAGES)
            barrier_init(barrier + lane * 8);
        asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
        __syncwarp();
#pragma unroll 1
        for (int stage = 0; stage < STAGES; ++stage)
            load_next(stage);
    }

    int stage = 0;
    unsigned parity = 0;
#pragma unroll 1
    for (int tile = first; tile < tiles; tile += stride) {
        const place at = place_of(p, tile * BLOCK_N + warp_n * ROWS, token);
        sums sum = {};
        int c = mine.begin + warp_k;
        if constexpr (BULK) {
#pragma unroll 1
            for (; c < mine.full; c += WARPS_K) {
                const unsigned from = ring + (stage * LINES + lane / 4) * PITCH + lane % 4 * 16;
                const int k = c * CHUNK + lane % 4 * 8;
                uint4 w[PIECE][ROW_TILES][2], t[PIECE][TOKEN_TILES];
#pragma unroll
                for (int piece = 0; piece < VECTORS; piece += PIECE) {
                    if constexpr (!X_STAGED)
#pragma unroll
                        for (int v = 0; v < PIECE; ++v)
                            load_x(t[v], at, k + 32 * (piece + v));
                    if (piece == 0)
                        barrier_wait(barrier + stage * 8, parity);
                    if constexpr (X_STAGED)
#pragma unroll
                        for (int v = 0; v < PIECE; ++v)
#pragma unroll
                            for (int n = 0; n < TOKEN_TILES; ++n)
                                t[v][n] = load_shared(ring + (stage * LINES + ROWS + min(8 * n + lane / 4, here - 1)) * PITCH + lane % 4 * 16 + 64 * (piece + v));
#pragma unroll
                    for (int v = 0; v < PIECE; ++v)
#pragma unroll
                        for (int r = 0; r < ROW_TILES; ++r)
#pragma unroll
                            for (int i = 0; i < 2; ++i)
                                w[v][r][i] = load_shared(from + (16 * r + 8 * i) * PITCH + 64 * (piece + v));
                    /* What is in registers makes room for what is under way, before it is multiplied. */
                    if (piece + PIECE >= VECTORS) {
                        __syncwarp();
                        load_next(stage);
                    }
#pragma unroll
                    for (int v = 0; v < PIECE; ++v)
                        multiply(sum, w[v], t[v]);
                }
                if (++stage == STAGES) {
                    stage = 0;
                    parity ^= 1;
                }
            }
        } else {
            chunk w[STAGES];
#pragma unroll
            for (int s = 0; s < STAGES; ++s)
                if (c + s * WARPS_K < mine.full)
                    load_chunk(w[s], at, (c + s * WARPS_K) * CHUNK + lane % 4 * 8, policy);
            while (c < mine.full) {
#pragma unroll
                for (int s = 0; s < STAGES; ++s, c += WARPS_K) {
                    if (c >= mine.full)
                        break;
#pragma unroll
                    for (int v = 0; v < VECTORS; ++v) {
                        uint4 t[TOKEN_TILES];
                        load_x(t, at, c * CHUNK + 32 * v + lane % 4 * 8);
                        multiply(sum, w[s][v], t);
                    }
                    if (c + STAGES * WARPS_K < mine.full)
                        load_chunk(w[s], at, (c + STAGES * WARPS_K) * CHUNK + lane % 4 * 8, policy);
                }
            }
        }
        for (; c < mine.end; c += WARPS_K)
            multiply_elements(sum, at, c * CHUNK, K);
        finish(p, sum, shared_sums, tile * BLOCK_N, token);
    }
}
