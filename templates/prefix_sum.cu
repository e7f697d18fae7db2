/*
 * prefix_sum.cu: y[i] = x[0] + ... + x[i] for n floats, n up to 2^40, in one pass over memory with decoupled
 * look-back (Merrill and Garland 2016).
 *
 * Bound by memory: every float is read once and written once. Blocks draw tickets for tiles of BLOCK_SIZE * ITEMS
 * floats, so that all earlier tiles belong to blocks that have started. A block adds within its tile, publishes the
 * tile's sum, and looks back over the earlier tiles until it finds one whose prefix is known:
 *
 *     tile       .. | prefix known | sum known | sum known | sum known | mine |
 *     state word    |   2, value   | 1, value  | 1, value  | 1, value  |   32 * LOOK words at a time; flag and value
 *                                                                          share a word, so no fence is needed
 *
 *     within a tile  a warp has 32 * ITEMS adjacent floats, in rows of 32 * V: a lane holds V adjacent floats of each
 *                    row. A lane adds its floats, shuffles scan a row, and rows follow one another. Then the warps'
 *                    sums are added through shared memory
 *
 *     FLOW tile      one block per tile
 *     FLOW stream    as many blocks as fit; each takes tile after tile, with STAGES of them in shared memory
 *                    (asynchronous copies; each thread copies the floats that it reads). One tile is scanned, one is
 *                    summed, and the others are in flight. A separate warp looks back for the second tile while the
 *                    other warps scan the first. The sequence with STAGES 3:
 *
 *                        workers          copy 3 | sum of 1 | scan, store 0 | copy 4 | sum of 2 | scan, store 1
 *                        look-back warp           \_ publish sum, look back, publish prefix of 1 _/
 *
 * Sums are FP32. How far a block looks back depends on timing, and so does the order of additions. So the last bits of
 * the results differ from run to run.
 *
 * Launches
 *     prefix_sum_clear  (unsigned long long *state, long long tiles)           grid ceil_div(tiles + 1, 256), block 256
 *     prefix_sum        (const float *x, float *y, long long n, unsigned long long *state)
 *         FLOW tile    grid  tiles = ceil_div(n, BLOCK_SIZE * ITEMS);   block  BLOCK_SIZE
 *         FLOW stream  grid  at most that;   block  BLOCK_SIZE + 32;
 *                      dynamic shared memory  4 * STAGES * BLOCK_SIZE * ITEMS bytes
 *         state: tiles + 1 words, the first is the ticket
 *
 * Parameters (macros; each has a default): FLOW; STAGES, at least 3; BLOCK_SIZE; ITEMS, a multiple of VECTOR;
 * VECTOR 1, 2, 4 (single floats if x or y is not aligned); STORE and LOAD `plain` or `streaming` (.cs; with FLOW
 * stream, LOAD streaming bypasses the L1); PAUSE, nanoseconds between polls of a word that is not ready; LOOK, words
 * that a lane fetches at once; MIN_BLOCKS, blocks per SM, which limits registers so that this many fit
 *
 * SWEETSPOT_VARIANT (set by `sweetspot profile --limits`): 0 is the kernel. 1 does only the memory accesses, like a
 * copy. 2 does only the arithmetic, with tickets and look-back: nothing is loaded, and stores are under a condition
 * that never holds.
 */
#ifndef SWEETSPOT_VARIANT
#define SWEETSPOT_VARIANT 0
#endif
#ifndef FLOW
#define FLOW tile
#endif
#ifndef STAGES
#define STAGES 3
#endif
#ifndef BLOCK_SIZE
#define BLOCK_SIZE 256
#endif
#ifndef ITEMS
#define ITEMS 16
#endif
#ifndef VECTOR
#define VECTOR 4
#endif
#ifndef STORE
#define STORE plain
#endif
#ifndef LOAD
#define LOAD plain
#endif
#ifndef LOOK
#define LOOK 1
#endif
#ifndef MIN_BLOCKS
#define MIN_BLOCKS 1
#endif
#ifndef PAUSE
#define PAUSE 0
#endif
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define ACCESS_plain 1
#define ACCESS_streaming 2
#define FLOW_tile 1
#define FLOW_stream 2
#define FLOW_IS JOIN(FLOW_, FLOW)
#define STORE_IS JOIN(ACCESS_, STORE)
#define LOAD_IS JOIN(ACCESS_, LOAD)
#if FLOW_IS == 0 || STORE_IS == 0 || LOAD_IS == 0
#error "FLOW must be tile or stream, STORE and LOAD plain or streaming"
#endif
#define THREADS (FLOW_IS == FLOW_stream ? BLOCK_SIZE + 32 : BLOCK_SIZE)
static_assert(BLOCK_SIZE % 32 == 0 && THREADS <= 1024,
              "BLOCK_SIZE must be a multiple of 32 up to 1024, up to 992 for FLOW stream");
static_assert(VECTOR == 1 || VECTOR == 2 || VECTOR == 4, "VECTOR must be 1, 2 or 4");
static_assert(STAGES >= 3, "STAGES must be at least 3");
static_assert(ITEMS % VECTOR == 0, "ITEMS must be a multiple of VECTOR");

typedef unsigned long long u64;

namespace
{

constexpr int TILE = BLOCK_SIZE * ITEMS, WARPS = BLOCK_SIZE / 32;
constexpr unsigned SUM = 1, PREFIX = 2;

__device__ __forceinline__ void publish(u64 *to, unsigned flag, float value)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"((u64)flag << 32 | __float_as_uint(value))
                 : "memory");
}

__device__ __forceinline__ u64 look(const u64 *at)
{
    u64 word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
    return word;
}

/* The sum of everything before tile `tile` > 0. One whole warp calls it; all lanes get the same sum. */
__device__ __forceinline__ float look_back(const u64 *words, long long tile)
{
    const int lane = threadIdx.x % 32;
    float value = 0.0f; /* sum over the tiles that this lane has seen */
    unsigned known = 0;
    for (long long next = tile - 1; !known; next -= 32 * LOOK) { /* lane k looks at tiles next - k, next - 32 - k, .. */
        u64 word[LOOK];
        /* all loads are in flight before the first is used; the prefix before the first tile is 0 */
#pragma unroll
        for (int j = 0; j < LOOK; ++j)
            word[j] = next - 32 * j - lane >= 0 ? look(words + next - 32 * j - lane) : (u64)PREFIX << 32;
#pragma unroll
        for (int j = 0; j < LOOK; ++j) {
            while (!known && word[j] >> 32 == 0) {
                if (PAUSE > 0) __nanosleep(PAUSE);
                word[j] = look(words + next - 32 * j - lane);
            }
            if (known) continue;
            known = __ballot_sync(0xffffffffu, word[j] >> 32 == PREFIX);
            if (lane <= (known ? __ffs(known) - 1 : 31)) value += __uint_as_float((unsigned)word[j]);
        }
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}

template <int V> __device__ __forceinline__ void load(float *to, const float *from)
{
    if constexpr (V == 4) {
        const float4 *at = reinterpret_cast<const float4 *>(from), v = LOAD_IS == ACCESS_streaming ? __ldcs(at) : *at;
        to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    } else if constexpr (V == 2) {
        const float2 *at = reinterpret_cast<const float2 *>(from), v = LOAD_IS == ACCESS_streaming ? __ldcs(at) : *at;
        to[0] = v.x, to[1] = v.y;
    } else {
        to[0] = LOAD_IS == ACCESS_streaming ? __ldcs(from) : *from;
    }
}

template <int V> __device__ __forceinline__ void store(float *to, const float *x)
{
#if SWEETSPOT_VARIANT == 2
    if (x[0] != -1.0f) return;
#endif
    if constexpr (V == 4) {
        const float4 v = make_float4(x[0], x[1], x[2], x[3]);
        if (STORE_IS == ACCESS_streaming)
            __stcs(reinterpret_cast<float4 *>(to), v);
        else
            *reinterpret_cast<float4 *>(to) = v;
    } else if constexpr (V == 2) {
        const float2 v = make_float2(x[0], x[1]);
        if (STORE_IS == ACCESS_streaming)
            __stcs(reinterpret_cast<float2 *>(to), v);
        else
            *reinterpret_cast<float2 *>(to) = v;
    } else {
        if (STORE_IS == ACCESS_streaming)
            __stcs(to, x[0]);
        else
            *to = x[0];
    }
}

/* Where this thread's part of the warp's first row begins, counted from the start of the tile. Its part of row r begins
 * 32 * V * r floats later. */
template <int V> __device__ __forceinline__ int own_place()
{
    return threadIdx.x / 32 * (32 * ITEMS) + threadIdx.x % 32 * V;
}

template <int V>
__device__ __forceinline__ void load_tile(float (*held)[V], const float *x, long long n, long long tile)
{
    const long long first = tile * TILE + own_place<V>();
#if SWEETSPOT_VARIANT == 2
#pragma unroll
    for (int r = 0; r < ITEMS / V; ++r)
#pragma unroll
        for (int v = 0; v < V; ++v) held[r][v] = (float)(first + r);
#else
    if ((tile + 1) * TILE <= n) { /* all tiles except the last need one address and no tests */
#pragma unroll
        for (int r = 0; r < ITEMS / V; ++r) load<V>(held[r], x + first + r * (32 * V));
    } else {
#pragma unroll
        for (int r = 0; r < ITEMS / V; ++r)
#pragma unroll
            for (int v = 0; v < V; ++v) held[r][v] = first + r * (32 * V) + v < n ? x[first + r * (32 * V) + v] : 0.0f;
    }
#endif
}

/* Begins to copy a tile to `stage`. The last tile, which may be incomplete, is copied before this returns. */
template <int V> __device__ __forceinline__ void begin_copy(float *stage, const float *x, long long n, long long tile)
{
    float *to = stage + own_place<V>();
#if SWEETSPOT_VARIANT != 2
    if ((tile + 1) * TILE <= n) {
        const float *from = x + tile * TILE + own_place<V>();
        const unsigned at = (unsigned)__cvta_generic_to_shared(to);
#pragma unroll
        for (int r = 0; r < ITEMS / V; ++r) {
            if (V == 4 && LOAD_IS == ACCESS_streaming) /* bypasses the L1 */
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at + r * (128 * V)),
                             "l"(from + r * (32 * V))
                             : "memory");
            else
                asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at + r * (128 * V)),
                             "l"(from + r * (32 * V)), "n"(4 * V)
                             : "memory");
        }
    } else if (tile * TILE < n)
#endif
    {
        const long long first = tile * TILE + own_place<V>();
#pragma unroll 1
        for (int r = 0; r < ITEMS / V; ++r)
#pragma unroll 1
            for (int v = 0; v < V; ++v) {
                const long long i = first + r * (32 * V) + v;
                to[r * (32 * V) + v] = SWEETSPOT_VARIANT == 2 ? (float)i : i < n ? x[i] : 0.0f;
            }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
}

__device__ __forceinline__ long long take(u64 *ticket)
{
    return (long long)atomicAdd(ticket, 1ull);
}

/* The sum of all lanes' values up to this lane. */
__device__ __forceinline__ float scan_warp(float x)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        const float below = __shfl_up_sync(0xffffffffu, x, distance);
        if (lane >= distance) x += below;
    }
    return x;
}

/* Publishes a tile's sum and its prefix. Returns the sum of everything before the tile. One whole warp calls it. */
__device__ __forceinline__ float exchange(u64 *words, long long tile, float all)
{
    const int lane = threadIdx.x % 32;
    float before = 0.0f;
    if (tile > 0) {
        if (lane == 0) publish(words + tile, SUM, all);
        before = look_back(words, tile);
    }
    if (lane == 0) publish(words + tile, PREFIX, before + all);
    return before;
}

/* FLOW tile: scans the next tile in registers. */
template <int V> __device__ __forceinline__ void scan_tile(const float *x, float *y, long long n, u64 *state)
{
    constexpr int ROWS = ITEMS / V;
    __shared__ float of_warp[WARPS];
    __shared__ float of_tiles_before;
    __shared__ long long ticket;
    if (threadIdx.x == 0) ticket = take(state);
    __syncthreads();
    const long long tile = ticket;
    float held[ROWS][V];
    load_tile<V>(held, x, n, tile);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const long long first = tile * TILE + own_place<V>();
    const bool whole = (tile + 1) * TILE <= n;
#if SWEETSPOT_VARIANT != 1
    float sum = 0.0f; /* over the warp's rows so far */
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
        for (int v = 1; v < V; ++v) held[r][v] += held[r][v - 1];
        const float total = scan_warp(held[r][V - 1]);
        float before = __shfl_up_sync(0xffffffffu, total, 1);
        before = sum + (lane > 0 ? before : 0.0f);
#pragma unroll
        for (int v = 0; v < V; ++v) held[r][v] += before;
        sum += __shfl_sync(0xffffffffu, total, 31);
    }
    if (lane == 0) of_warp[warp] = sum;
    __syncthreads();
    if (warp == 0) { /* each warp's sum becomes the sum before that warp */
        const float total = scan_warp(lane < WARPS ? of_warp[lane] : 0.0f);
        const float before = exchange(state + 1, tile, __shfl_sync(0xffffffffu, total, 31));
        if (lane == 0) of_tiles_before = before;
        const float exclusive = __shfl_up_sync(0xffffffffu, total, 1);
        if (lane < WARPS) of_warp[lane] = lane > 0 ? exclusive : 0.0f;
    }
    __syncthreads();
    const float before = of_tiles_before + of_warp[warp];
#else
    const float before = 0.0f;
#endif
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
#pragma unroll
        for (int v = 0; v < V; ++v) held[r][v] += before;
    if (whole) {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) store<V>(y + first + r * (32 * V), held[r]);
    } else {
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
#pragma unroll
            for (int v = 0; v < V; ++v)
                if (first + r * (32 * V) + v < n) y[first + r * (32 * V) + v] = held[r][v];
    }
}

#if FLOW_IS == FLOW_stream
constexpr int BOTH = BLOCK_SIZE + 32; /* workers and the look-back warp */

/* Barriers 1 and 2 (by the tile's parity): a tile's sums are ready. Barriers 3 and 4: the sum of the preceding tiles is
 * ready. One side waits at a barrier, the other only arrives. */
__device__ __forceinline__ void await(int barrier)
{
    asm volatile("barrier.cta.sync %0, %1;" ::"r"(barrier), "n"(BOTH) : "memory");
}
__device__ __forceinline__ void arrive(int barrier)
{
    asm volatile("barrier.cta.arrive %0, %1;" ::"r"(barrier), "n"(BOTH) : "memory");
}

template <int V> __device__ __forceinline__ void read_row(float *to, const float *stage, int r)
{
    const float *at = stage + own_place<V>() + r * (32 * V);
    if constexpr (V == 4) {
        const float4 v = *reinterpret_cast<const float4 *>(at);
        to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    } else if constexpr (V == 2) {
        const float2 v = *reinterpret_cast<const float2 *>(at);
        to[0] = v.x, to[1] = v.y;
    } else {
        to[0] = *at;
    }
}

template <int V> __device__ __forceinline__ float sum_of_stage(const float *stage)
{
    float sum = 0.0f;
#if SWEETSPOT_VARIANT != 1
#pragma unroll
    for (int r = 0; r < ITEMS / V; ++r) {
        float row[V];
        read_row<V>(row, stage, r);
#pragma unroll
        for (int v = 0; v < V; ++v) sum += row[v];
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
#endif
    return sum;
}

template <int V>
__device__ __forceinline__ void scan_stage(const float *stage, float *y, long long n, long long tile, float before)
{
    constexpr int ROWS = ITEMS / V;
    const int lane = threadIdx.x % 32;
    const long long first = tile * TILE + own_place<V>();
    const bool whole = (tile + 1) * TILE <= n;
#pragma unroll(ROWS < 8 ? ROWS : 8)
    for (int r = 0; r < ROWS; ++r) {
        float row[V];
        read_row<V>(row, stage, r);
#if SWEETSPOT_VARIANT != 1
#pragma unroll
        for (int v = 1; v < V; ++v) row[v] += row[v - 1];
        const float total = scan_warp(row[V - 1]), below = __shfl_up_sync(0xffffffffu, total, 1);
#pragma unroll
        for (int v = 0; v < V; ++v) row[v] += before + (lane > 0 ? below : 0.0f);
        before += __shfl_sync(0xffffffffu, total, 31);
#endif
        if (whole) {
            store<V>(y + first + r * (32 * V), row);
        } else {
#pragma unroll
            for (int v = 0; v < V; ++v)
                if (first + r * (32 * V) + v < n) y[first + r * (32 * V) + v] = row[v];
        }
    }
}

__device__ __forceinline__ void forward(long long *tile, long long last)
{
#pragma unroll
    for (int k = 1; k < STAGES; ++k) tile[k - 1] = tile[k];
    tile[STAGES - 1] = last;
}

template <int V>
__device__ __forceinline__ void scan_stream(const float *x, float *y, long long n, u64 *state, float *stage)
{
    __shared__ long long ticket[2];
    __shared__ float of_warp[2][WARPS], before[2][WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    long long tile[STAGES]; /* this turn's tile, the next, the one after that .. */
#pragma unroll
    for (int k = 0; k < STAGES; ++k) {
        if (threadIdx.x == BLOCK_SIZE) ticket[k % 2] = take(state);
        __syncthreads();
        tile[k] = ticket[k % 2];
        if (warp < WARPS) begin_copy<V>(stage + k * TILE, x, n, tile[k]);
    }
    if (warp == WARPS) {
        for (int parity = 0; tile[0] * TILE < n; parity ^= 1) {
            long long next = 0;
            if (lane == 0) next = take(state);
            await(1 + parity);
#if SWEETSPOT_VARIANT != 1
            const float total = scan_warp(lane < WARPS ? of_warp[parity][lane] : 0.0f);
            const float earlier = exchange(state + 1, tile[0], __shfl_sync(0xffffffffu, total, 31)),
                        exclusive = __shfl_up_sync(0xffffffffu, total, 1);
            if (lane < WARPS) before[parity][lane] = earlier + (lane > 0 ? exclusive : 0.0f);
#endif
            if (lane == 0) ticket[parity] = next;
            arrive(3 + parity);
            forward(tile, __shfl_sync(0xffffffffu, next, 0));
        }
        return;
    }
    /* this thread waits only for its own copies, because it reads only these */
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory");
    float sum = sum_of_stage<V>(stage);
    if (lane == 0) of_warp[0][warp] = sum;
    if (tile[0] * TILE < n) arrive(1);
    for (int parity = 0, at = 0; tile[0] * TILE < n; parity ^= 1) { /* `at`: the stage of this turn's tile */
        const int following = at == STAGES - 1 ? 0 : at + 1;
        if (tile[1] * TILE < n) {
            asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
            sum = sum_of_stage<V>(stage + following * TILE);
            if (lane == 0) of_warp[parity ^ 1][warp] = sum;
            arrive(1 + (parity ^ 1));
        }
        await(3 + parity);
        const long long next = ticket[parity];
        scan_stage<V>(stage + at * TILE, y, n, tile[0], before[parity][warp]);
        begin_copy<V>(stage + at * TILE, x, n, next);
        forward(tile, next);
        at = following;
    }
}
#endif

} // namespace

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    prefix_sum(const float *__restrict__ x, float *__restrict__ y, long long n, u64 *state)
{
    const bool aligned = VECTOR > 1 && (reinterpret_cast<u64>(x) | reinterpret_cast<u64>(y)) % (4 * VECTOR) == 0;
#if FLOW_IS == FLOW_stream
    extern __shared__ __align__(16) float stage[];
    if (aligned)
        scan_stream<VECTOR>(x, y, n, state, stage);
    else
        scan_stream<1>(x, y, n, state, stage);
#else
    if (aligned)
        scan_tile<VECTOR>(x, y, n, state);
    else
        scan_tile<1>(x, y, n, state);
#endif
}

extern "C" __global__ void __launch_bounds__(256) prefix_sum_clear(u64 *state, long long tiles)
{
    const long long at = blockIdx.x * 256ll + threadIdx.x;
    if (at <= tiles) state[at] = 0;
}
