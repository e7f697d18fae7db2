/* gemm_simt.cu: sums over k in SPLIT_K parts: which block computes which part, and which block adds them. */
#pragma once

#include "epilogue.cuh"
#include "parameters.cuh"

#ifdef SPLIT_K

namespace
{

/*
 * Tiles are split into SPLIT_K parts along k, and each part has its own block. The first `alone` tiles are not split
 * and have one block each. Their number follows from the grid:
 *
 *     grid = alone + (tiles - alone) * SPLIT_K
 *
 *     blocks  | tile 0 | tile 1 | .. | tile alone - 1 | parts 0, 1, .. of tile alone | parts 0, 1, .. of the next | ..
 *
 * So a grid of tiles * SPLIT_K blocks is plain split-K. If `alone` is the number of blocks that the GPU holds at once,
 * or a multiple of it, small pieces fill the last wave. This is the purpose of stream-K (Osama, Merrill, Cecka,
 * Garland, Owens: Stream-K, PPoPP 2023). Stream-K itself, a loop over pieces in persistent blocks, was 12% slower than
 * no splitting at 4096 cubed, because a loop around it made the main loop's register allocation worse.
 *
 * Part i of the t-th shared tile leaves its sums in slot t * SPLIT_K + i of `partial`.
 */
struct share {
    int tile, part, shared; /* shared: number of the tile among the split tiles, or -1 */

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
    __device__ __forceinline__ int cut(int i, int K) const
    {
        return (int)((long long)tiles_along(K, BLOCK_K) * i / SPLIT_K) * BLOCK_K;
    }
    __device__ __forceinline__ int begin(int K) const
    {
        return cut(part, K);
    }
    __device__ __forceinline__ int end(int K) const
    {
        return shared < 0 ? K : min(K, cut(part + 1, K));
    }
};

#if SPLIT_K > 1

/* Outside registers, the sums of a tile are stored as quads: the first four floats of every thread, then their next
 * four, and so on. These fill whole lines of memory, and cause no bank conflicts in shared memory. They are multiplied
 * by alpha first. Otherwise vector stores would need them in adjacent registers throughout the main loop, which costs
 * 10%. */
constexpr int QUADS = THREAD_M * THREAD_N / 4;
static_assert(THREAD_M * THREAD_N % 4 == 0, "a split product needs a multiple of 4 elements a thread");

__device__ __forceinline__ float4 quad_of(const float (&sum)[THREAD_M][THREAD_N], int q, float alpha)
{
    return make_float4(alpha * sum[q * 4 / THREAD_N][q * 4 % THREAD_N],
                       alpha * sum[(q * 4 + 1) / THREAD_N][(q * 4 + 1) % THREAD_N],
                       alpha * sum[(q * 4 + 2) / THREAD_N][(q * 4 + 2) % THREAD_N],
                       alpha * sum[(q * 4 + 3) / THREAD_N][(q * 4 + 3) % THREAD_N]);
}

[[maybe_unused]] __device__ __forceinline__ void add(float4 &sum, const float4 &v)
{
    sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
}

/* C = sum + beta*C for one quad of a tile; quads are counted over all threads. */
[[maybe_unused]] __device__ __forceinline__ void store_quad(int quad, const float4 &sum, const problem &p,
                                                            const place &at)
{
    const thread_place thread(quad % N_THREADS);
    const int element = quad / N_THREADS * 4;
    const float in[4] = {sum.x, sum.y, sum.z, sum.w};
    const bool whole =
        at.row == at.own_row && at.col == at.own_col && at.row + BLOCK_M <= p.M && at.col + BLOCK_N <= p.N;
    if (VECTOR == 4 && TILE_COL_SIZE >= 4 && whole && p.beta == 0.0f && aligned(p.C, p.ldc, 4)) {
        const int m = at.row + thread.row(element / THREAD_N), n = at.col + thread.n + thread_col(element % THREAD_N);
        store<4>(p.C + (long long)m * p.ldc + n, in);
        return;
    }
#pragma unroll
    for (int e = 0; e < 4; ++e)
        store_element(in[e], at.row + thread.row((element + e) / THREAD_N),
                      at.col + thread.n + thread_col((element + e) % THREAD_N), p, at);
}

/* C = sum + beta*C for the float t that a lane takes from its warp's quads. The lane's own quad is `quad`. */
[[maybe_unused]] __device__ __forceinline__ void store_quad_taken(int quad, const taken &t, float sum, const problem &p,
                                                                  const place &at)
{
    const int thread = quad % N_THREADS, element = quad / N_THREADS * 4;
    const thread_place first(thread - thread % 32);
    store_element(sum, at.row + taken_row(t, first, element / THREAD_N),
                  at.col + first.n + thread_col(element % THREAD_N) + t.col, p, at);
}

#if FINISH_IS == FINISH_cluster

__device__ __forceinline__ void cluster_barrier()
{
    asm volatile("barrier.cluster.arrive.release.aligned;\n barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* Reads one or four floats from the shared memory of a block of the cluster. `at` is the same position in the shared
 * memory of this block. */
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
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(to.x), "=f"(to.y), "=f"(to.z), "=f"(to.w)
                 : "r"(from)
                 : "memory");
}

__device__ __forceinline__ void add(float &sum, float v)
{
    sum += v;
}

/* Adds the blocks' values at one position, in the order of k. */
template <class value> __device__ __forceinline__ value add_in_cluster(unsigned at)
{
    value found[SPLIT_K], total = {};
#pragma unroll
    for (int block = 0; block < SPLIT_K; ++block) read_in_cluster(found[block], at, block);
#pragma unroll
    for (int block = 0; block < SPLIT_K; ++block) add(total, found[block]);
    return total;
}

/* The blocks of a cluster leave their sums in shared memory. Each block then adds all of them for its share of the
 * quads. */
__device__ __forceinline__ void finish_in_cluster(const float (&sum)[THREAD_M][THREAD_N], int part, const problem &p,
                                                  const place &at, float *ring)
{
    float4 *const own = reinterpret_cast<float4 *>(ring);
    __syncthreads(); /* all threads have finished with the ring */
#pragma unroll
    for (int q = 0; q < QUADS; ++q) own[q * N_THREADS + threadIdx.x] = quad_of(sum, q, p.alpha);
    cluster_barrier();
    constexpr int WARP_QUADS = QUADS * N_THREADS / 32;
    const int first = WARP_QUADS * part / SPLIT_K * 32, end = WARP_QUADS * (part + 1) / SPLIT_K * 32,
              lane = threadIdx.x % 32;
#pragma unroll 1
    for (int quad = first + (int)threadIdx.x; quad < end; quad += N_THREADS) {
        if constexpr (BY_ROWS) {
            float total[4];
#pragma unroll
            for (int v = 0; v < 4; ++v)
                total[v] = add_in_cluster<float>(shared_address(ring) + 16 * (quad - lane) + 4 * taken(lane, v).from);
#pragma unroll
            for (int v = 0; v < 4; ++v) store_quad_taken(quad, taken(lane, v), total[v], p, at);
        } else {
            store_quad(quad, add_in_cluster<float4>(shared_address(ring) + 16 * quad), p, at);
        }
    }
    cluster_barrier(); /* no block ends while others read */
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
/* sum = all parts of a tile, added in the order of k, so that it has the same bits in every run, whichever block adds
 * them. */
__device__ __forceinline__ void add_partials(float (&sum)[THREAD_M][THREAD_N], const float *first)
{
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i)
#pragma unroll
        for (int j = 0; j < THREAD_N; ++j) sum[i][j] = 0.0f;
#pragma unroll 1
    for (int part = 0; part < SPLIT_K; ++part) {
        const float4 *const slot = reinterpret_cast<const float4 *>(first + part * SLOT_FLOATS) + threadIdx.x;
#pragma unroll
        for (int q = 0; q < QUADS; ++q) {
            const float4 v = __ldcg(slot + q * N_THREADS);
            const float in[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (int e = 0; e < 4; ++e) sum[(q * 4 + e) / THREAD_N][(q * 4 + e) % THREAD_N] += in[e];
        }
    }
}
#endif
#endif
#endif

} // namespace
#endif
