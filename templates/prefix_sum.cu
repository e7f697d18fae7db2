/*
 * prefix_sum.cu: y[i] = x[0] + ... + x[i] for n floats, n up to 2^40, in one pass over memory with decoupled look-back (Merrill and Garland 2016).
 *
 * Bound by memory: every float is read once and written once. A block takes the next tile of BLOCK_SIZE * ITEMS floats (a ticket, so that all tiles before it
 * are taken by blocks that run), adds within the tile, publishes the tile's sum, and looks back over the tiles before it until it meets one whose
 * prefix is known:
 *
 *     tile       .. | prefix known | sum known | sum known | sum known | mine |
 *     state word    |   2, value   | 1, value  | 1, value  | 1, value  |        32 * LOOK words at a time; flag and value in one word, so no fence
 *
 *     within a tile  a warp has 32 * ITEMS neighbouring floats, in rows of 32 * V: a lane holds V neighbours of each row. Sums within a lane, a scan of a
 *                    row by shuffles, rows one after the other, then the warps' sums through shared memory
 *
 *     FLOW tile       a block a tile
 *     FLOW stream     as many blocks as fit, each taking tile after tile. The next one is on its way to shared memory (asynchronous copies, each thread to places that only it
 *                     reads) while the block adds, looks back and stores: its loads do not wait for other blocks. The ticket after that is taken meanwhile, too
 *
 * Sums are FP32. How far a block looks back depends on timing and with it the order of additions: results differ in the last bits from run to run.
 *
 * Launches
 *     prefix_sum_clear  (unsigned long long *state, long long tiles)           grid ceil_div(tiles + 1, 256), block 256
 *     prefix_sum        (const float *x, float *y, long long n, unsigned long long *state)
 *         grid  tiles = ceil_div(n, BLOCK_SIZE * ITEMS), FLOW stream: any number up to that;   block  BLOCK_SIZE;   state: tiles + 1 words, the first is the ticket
 *         dynamic shared memory: FLOW stream 8 * BLOCK_SIZE * ITEMS bytes
 *
 * Parameters (macros; each has a default): FLOW; BLOCK_SIZE; ITEMS, a multiple of VECTOR; VECTOR 1, 2, 4 (single floats where x or y is not aligned);
 * STORE and LOAD `plain` or `streaming` (.cs); PAUSE nanoseconds between looks at a word that is not there yet; LOOK how many
 * words a lane fetches at once; MIN_BLOCKS blocks of a multiprocessor, for which the compiler limits registers
 *
 * SWEETSPOT_VARIANT (set by `sweetspot limiter`): 0 the kernel; 1 memory alone: a copy; 2 arithmetic alone, with tickets and look-back: nothing loaded, and stores
 * behind a condition that never holds.
 */
#ifndef SWEETSPOT_VARIANT
#define SWEETSPOT_VARIANT 0
#endif
#ifndef FLOW
#define FLOW tile
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
static_assert(BLOCK_SIZE % 32 == 0 && BLOCK_SIZE <= 1024, "BLOCK_SIZE must be a multiple of 32 up to 1024");
static_assert(VECTOR == 1 || VECTOR == 2 || VECTOR == 4, "VECTOR must be 1, 2 or 4");
static_assert(ITEMS % VECTOR == 0, "ITEMS must be a multiple of VECTOR");

typedef unsigned long long u64;

namespace {

constexpr int TILE = BLOCK_SIZE * ITEMS, WARPS = BLOCK_SIZE / 32;
constexpr unsigned SUM = 1, PREFIX = 2;

__device__ __forceinline__ void publish(u64 *to, unsigned flag, float value)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"((u64)flag << 32 | __float_as_uint(value)) : "memory");
}

__device__ __forceinline__ u64 look(const u64 *at)
{
    u64 word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
    return word;
}

/* The sum of all before tile `tile` > 0; by one whole warp, the same in all lanes. */
__device__ __forceinline__ float look_back(const u64 *words, long long tile)
{
    const int lane = threadIdx.x % 32;
    float before = 0.0f;
    for (long long next = tile - 1;; next -= 32 * LOOK) { /* lane k looks at tiles next - k, next - 32 - k, .. */
        u64 word[LOOK];
#pragma unroll
        for (int j = 0; j < LOOK; ++j) /* all on their way before the first is looked at; before the first tile there is nothing */
            word[j] = next - 32 * j - lane >= 0 ? look(words + next - 32 * j - lane) : (u64)PREFIX << 32;
#pragma unroll
        for (int j = 0; j < LOOK; ++j) {
            while (word[j] >> 32 == 0) {
                if (PAUSE > 0) __nanosleep(PAUSE);
                word[j] = look(words + next - 32 * j - lane);
            }
            const unsigned known = __ballot_sync(0xffffffffu, word[j] >> 32 == PREFIX);
            const int nearest = known ? __ffs(known) - 1 : 31;
            float value = lane <= nearest ? __uint_as_float((unsigned)word[j]) : 0.0f;
#pragma unroll
            for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
            before += value;
            if (known) return before;
        }
    }
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

/* Where this thread's floats begin in the warp's first row, from the tile's first on. Its part of row r is 32 * V * r further. */
template <int V> __device__ __forceinline__ int own_place() { return threadIdx.x / 32 * (32 * ITEMS) + threadIdx.x % 32 * V; }

template <int V> __device__ __forceinline__ void load_tile(float (*held)[V], const float *x, long long n, long long tile)
{
    const long long first = tile * TILE + own_place<V>();
#if SWEETSPOT_VARIANT == 2
#pragma unroll
    for (int r = 0; r < ITEMS / V; ++r)
#pragma unroll
        for (int v = 0; v < V; ++v) held[r][v] = (float)(first + r);
#else
    if ((tile + 1) * TILE <= n) { /* all tiles but the last: one address and no tests */
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

/* Begins to bring a tile to `stage`; the last tile, of which a part is missing, is there when this returns. */
template <int V> __device__ __forceinline__ void begin_copy(float *stage, const float *x, long long n, long long tile)
{
    float *to = stage + own_place<V>();
#if SWEETSPOT_VARIANT != 2
    if ((tile + 1) * TILE <= n) {
        const float *from = x + tile * TILE + own_place<V>();
        const unsigned at = (unsigned)__cvta_generic_to_shared(to);
#pragma unroll
        for (int r = 0; r < ITEMS / V; ++r) {
            if (V == 4 && LOAD_IS == ACCESS_streaming) /* past the L1 */
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at + r * (128 * V)), "l"(from + r * (32 * V)) : "memory");
            else
                asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at + r * (128 * V)), "l"(from + r * (32 * V)), "n"(4 * V) : "memory");
        }
    } else if (tile * TILE < n)
#endif
    {
        float held[ITEMS / V][V];
        load_tile<V>(held, x, n, tile);
#pragma unroll
        for (int r = 0; r < ITEMS / V; ++r)
#pragma unroll
            for (int v = 0; v < V; ++v) to[r * (32 * V) + v] = held[r][v];
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int V> __device__ __forceinline__ void from_stage(float (*held)[V], const float *stage)
{
#pragma unroll
    for (int r = 0; r < ITEMS / V; ++r) {
        const float *at = stage + own_place<V>() + r * (32 * V);
        if constexpr (V == 4) {
            const float4 v = *reinterpret_cast<const float4 *>(at);
            held[r][0] = v.x, held[r][1] = v.y, held[r][2] = v.z, held[r][3] = v.w;
        } else if constexpr (V == 2) {
            const float2 v = *reinterpret_cast<const float2 *>(at);
            held[r][0] = v.x, held[r][1] = v.y;
        } else {
            held[r][0] = *at;
        }
    }
}

struct shared_words {
    long long ticket;
    float of_warp[WARPS], of_tiles_before;
};

__device__ __forceinline__ long long take(u64 *ticket) { return (long long)atomicAdd(ticket, 1ull); }

/* Adds, looks back and stores. With `ticket` the first thread takes the next one and leaves it in `common`, where all see it when this returns. */
template <int V> __device__ __forceinline__ void scan_tile(float (*held)[V], float *y, long long n, u64 *words, long long tile, shared_words &common, u64 *ticket)
{
    constexpr int ROWS = ITEMS / V;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const long long first = tile * TILE + own_place<V>();
    const bool whole = (tile + 1) * TILE <= n;
    long long next = 0;
    if (ticket && threadIdx.x == 0) next = take(ticket); /* on its way while there is something else to do */
#if SWEETSPOT_VARIANT != 1
    float sum = 0.0f; /* of the warp's rows so far */
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
        for (int v = 1; v < V; ++v) held[r][v] += held[r][v - 1];
        float total = held[r][V - 1];
#pragma unroll
        for (int distance = 1; distance < 32; distance *= 2) {
            const float below = __shfl_up_sync(0xffffffffu, total, distance);
            if (lane >= distance) total += below;
        }
        float before = __shfl_up_sync(0xffffffffu, total, 1);
        before = sum + (lane > 0 ? before : 0.0f);
#pragma unroll
        for (int v = 0; v < V; ++v) held[r][v] += before;
        sum += __shfl_sync(0xffffffffu, total, 31);
    }
    if (lane == 0) common.of_warp[warp] = sum;
    __syncthreads();
    if (warp == 0) { /* the warps' sums become what lies before each */
        const float mine = lane < WARPS ? common.of_warp[lane] : 0.0f;
        float total = mine;
#pragma unroll
        for (int distance = 1; distance < 32; distance *= 2) {
            const float below = __shfl_up_sync(0xffffffffu, total, distance);
            if (lane >= distance) total += below;
        }
        const float all = __shfl_sync(0xffffffffu, total, 31);
        float before = 0.0f;
        if (tile > 0) {
            if (lane == 0) publish(words + tile, SUM, all);
            before = look_back(words, tile);
        }
        if (lane == 0) {
            publish(words + tile, PREFIX, before + all);
            common.of_tiles_before = before;
        }
        const float exclusive = __shfl_up_sync(0xffffffffu, total, 1);
        if (ticket && lane == 0) common.ticket = next;
        if (lane < WARPS) common.of_warp[lane] = lane > 0 ? exclusive : 0.0f;
    }
    __syncthreads();
    const float before = common.of_tiles_before + common.of_warp[warp];
#else
    __syncthreads(); /* all have read the ticket before */
    if (ticket && threadIdx.x == 0) common.ticket = next;
    __syncthreads();
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

template <int V> __device__ __forceinline__ void scan(const float *x, float *y, long long n, u64 *state, float *stage)
{
    __shared__ shared_words common;
    float held[ITEMS / V][V];
    if (threadIdx.x == 0) common.ticket = take(state);
    __syncthreads();
    long long tile = common.ticket;
#if FLOW_IS == FLOW_tile
    load_tile<V>(held, x, n, tile);
    scan_tile<V>(held, y, n, state + 1, tile, common, nullptr);
#else
    begin_copy<V>(stage, x, n, tile);
    __syncthreads(); /* all have read the first ticket */
    if (threadIdx.x == 0) common.ticket = take(state);
    __syncthreads();
    for (int turn = 0; tile * TILE < n; turn ^= 1) {
        const long long next = common.ticket;
        begin_copy<V>(stage + (turn ^ 1) * TILE, x, n, next);
        asm volatile("cp.async.wait_group 1;" ::: "memory"); /* what this thread copied, which is what it reads */
        from_stage<V>(held, stage + turn * TILE);
        scan_tile<V>(held, y, n, state + 1, tile, common, state);
        tile = next;
    }
#endif
}

} // namespace

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE, MIN_BLOCKS) prefix_sum(const float *__restrict__ x, float *__restrict__ y, long long n, u64 *state)
{
#if FLOW_IS == FLOW_stream
    extern __shared__ __align__(16) float stage[];
#else
    float *stage = nullptr;
#endif
    if (VECTOR > 1 && (reinterpret_cast<u64>(x) | reinterpret_cast<u64>(y)) % (4 * VECTOR) == 0)
        scan<VECTOR>(x, y, n, state, stage);
    else
        scan<1>(x, y, n, state, stage);
}

extern "C" __global__ void __launch_bounds__(256) prefix_sum_clear(u64 *state, long long tiles)
{
    const long long at = blockIdx.x * 256ll + threadIdx.x;
    if (at <= tiles) state[at] = 0;
}
