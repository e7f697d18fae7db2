/*
 * reduce.cu: the sum of n floats, n up to 2^63.
 *
 * Bound by memory: every float is read once, and a good configuration is one that keeps enough independent loads in flight. On an
 * H200, 2^30 floats: 4.57 TB/s at best, 4.45 or more in a quarter of 300 random configurations, 0.09 in the worst of them (one
 * block of 64 threads an SM, one float a load).
 *
 * A block reads a chunk of BLOCK_SIZE * ITEMS vectors, ITEMS of them per thread, and goes on with the chunk gridDim.x further:
 *
 *     x  |head|  chunk 0  |  chunk 1  | .. |  chunk g  | ..            | tail |
 *             block 0      block 1          block 0                     fewer floats than a chunk
 *
 *     chunk  | item 0: BLOCK_SIZE vectors | item 1 | .. | item ITEMS-1 |     a thread's vectors are BLOCK_SIZE apart, so that
 *                                                                            each load of a warp is contiguous
 *
 * The head is what lies before the first address that VECTOR allows (at most 3 floats; none when x is aligned), head and tail
 * are read float by float. Any n >= 0, any 4-byte aligned x. Sums are FP32, per thread and per vector component, then a tree.
 *
 * Launches
 *
 *     reduce_zero    (float *out)                                                      only for FINISH atomic; 1 block of 1
 *     reduce_sum     (const float *x, long long n, float *partial, float *out, unsigned *count)
 *         grid       BLOCKS_PER_SM == 0 ? ceil_div(n, chunk) : min(ceil_div(n, chunk), BLOCKS_PER_SM * device.sm_count)
 *                    with chunk = BLOCK_SIZE * ITEMS * VECTOR; any grid is right
 *         block      BLOCK_SIZE
 *     reduce_finish  (const float *partial, int blocks, float *out)                    only for FINISH two_pass
 *         grid       1;   block  BLOCK_SIZE;   blocks = the grid of reduce_sum
 *
 * `partial` holds a float per block of reduce_sum (FINISH last_block and two_pass). `count` is one unsigned that must be zero
 * before the first launch, and is zero again after each (FINISH last_block). Neither is touched otherwise. Nothing needs the
 * output cleared.
 *
 * Parameters (macros; each has a default)
 *
 *     BLOCK_SIZE      threads of a block: a multiple of 32; for REDUCTION shared a power of two
 *     VECTOR          floats per load: 1, 2, 4
 *     ITEMS           independent loads a thread has in flight
 *     UNROLL          pragma text in front of the loop over chunks: empty, _Pragma("unroll") or _Pragma("unroll n")
 *     BLOCKS_PER_SM   no macro of this file: it sets the grid, see above. With 0 (no loop) FINISH last_block is about 10% slower
 *                     than the others: every one of 65,536 blocks or more ends with a fence and an atomic
 *     REDUCTION       how a block adds its threads' sums: `shuffle`, warp shuffles and then one warp over the warps' sums,
 *                     or `shared`, a tree in shared memory with a barrier a level
 *     FINISH          how blocks' sums are added: `last_block`, the block that finishes last adds all (deterministic);
 *                     `two_pass`, another launch adds them (deterministic); `atomic`, each block adds to the output
 *
 * SWEETSPOT_VARIANT (set by `sweetspot limiter`): 0 the kernel; 1 memory alone: every load, and instead of adding a float its bits
 * are collected, two floats an instruction; 2 arithmetic alone: the additions, of a number that is not loaded.
 */

#ifndef SWEETSPOT_VARIANT
#define SWEETSPOT_VARIANT 0
#endif
#ifndef BLOCK_SIZE
#define BLOCK_SIZE 1024
#endif
#ifndef VECTOR
#define VECTOR 4
#endif
#ifndef ITEMS
#define ITEMS 4
#endif
#ifndef UNROLL
#define UNROLL
#endif
#ifndef REDUCTION
#define REDUCTION shuffle
#endif
#ifndef FINISH
#define FINISH last_block
#endif

/* The tuner passes a choice as a bare identifier; these make it comparable in #if. An unknown one is 0. */
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define REDUCTION_shuffle 1
#define REDUCTION_shared 2
#define FINISH_last_block 1
#define FINISH_two_pass 2
#define FINISH_atomic 3
#define REDUCTION_IS JOIN(REDUCTION_, REDUCTION)
#define FINISH_IS JOIN(FINISH_, FINISH)

#if REDUCTION_IS == 0
#error "REDUCTION must be shuffle or shared"
#endif
#if FINISH_IS == 0
#error "FINISH must be last_block, two_pass or atomic"
#endif

namespace {

static_assert(BLOCK_SIZE % 32 == 0 && BLOCK_SIZE >= 32 && BLOCK_SIZE <= 1024, "BLOCK_SIZE must be a multiple of 32 up to 1024");
static_assert(REDUCTION_IS != REDUCTION_shared || (BLOCK_SIZE & (BLOCK_SIZE - 1)) == 0,
              "REDUCTION shared needs a power of two for BLOCK_SIZE");
static_assert(VECTOR == 1 || VECTOR == 2 || VECTOR == 4, "VECTOR must be 1, 2 or 4");
static_assert(ITEMS >= 1, "ITEMS must be at least 1");

constexpr long long CHUNK = (long long)BLOCK_SIZE * ITEMS * VECTOR;

template <int WIDTH> __device__ __forceinline__ void load(float *to, const float *from)
{
    if constexpr (WIDTH == 4) {
        const float4 v = __ldg(reinterpret_cast<const float4 *>(from));
        to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    } else if constexpr (WIDTH == 2) {
        const float2 v = __ldg(reinterpret_cast<const float2 *>(from));
        to[0] = v.x, to[1] = v.y;
    } else {
        to[0] = __ldg(from);
    }
}

/* The sum over the block, in thread 0. To be called by all threads, and once per launch or after a barrier. */
__device__ __forceinline__ float block_sum(float value)
{
    const int tid = threadIdx.x;
#if REDUCTION_IS == REDUCTION_shuffle
    __shared__ float warp_sums[32];
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffffu, value, distance);
    if constexpr (BLOCK_SIZE > 32) {
        if (tid % 32 == 0)
            warp_sums[tid / 32] = value;
        __syncthreads();
        if (tid < 32) {
            value = tid < BLOCK_SIZE / 32 ? warp_sums[tid] : 0.0f;
#pragma unroll
            for (int distance = 16; distance > 0; distance /= 2)
                value += __shfl_down_sync(0xffffffffu, value, distance);
        }
    }
    return value;
#else
    __shared__ float sums[BLOCK_SIZE];
    sums[tid] = value;
    __syncthreads();
#pragma unroll
    for (int distance = BLOCK_SIZE / 2; distance > 0; distance /= 2) {
        if (tid < distance)
            sums[tid] += sums[tid + distance];
        __syncthreads();
    }
    return sums[0];
#endif
}

#if FINISH_IS != FINISH_atomic
/* The sum of a list by one block, in thread 0, always in the same order. Read from L2, where other blocks' writes are seen. */
__device__ __forceinline__ float list_sum(const float *list, int length)
{
    float sum = 0.0f;
#pragma unroll 8
    for (int i = threadIdx.x; i < length; i += BLOCK_SIZE)
        sum += __ldcg(list + i);
    return block_sum(sum);
}
#endif

} // namespace

#if FINISH_IS == FINISH_atomic
extern "C" __global__ void reduce_zero(float *out) { *out = 0.0f; }
#endif

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
reduce_sum(const float *__restrict__ x, long long n, float *partial, float *out, unsigned *count)
{
    const int tid = threadIdx.x;
    const int misplaced = (int)(reinterpret_cast<unsigned long long>(x) / 4 % VECTOR);
    const long long head = min((long long)(misplaced ? VECTOR - misplaced : 0), n);
    const long long chunks = (n - head) / CHUNK;

    float sum[VECTOR] = {};
#if SWEETSPOT_VARIANT == 1
    unsigned seen = 0;
#elif SWEETSPOT_VARIANT == 2
    const float given = (float)n;
#endif
    const float *from = x + head + blockIdx.x * CHUNK + tid * VECTOR;
    UNROLL for (long long c = blockIdx.x; c < chunks; c += gridDim.x)
    {
        float held[ITEMS][VECTOR];
#pragma unroll
        for (int i = 0; i < ITEMS; ++i)
#if SWEETSPOT_VARIANT == 2
#pragma unroll
            for (int v = 0; v < VECTOR; ++v)
                held[i][v] = given;
#else
            load<VECTOR>(held[i], from + i * (BLOCK_SIZE * VECTOR));
#endif
#pragma unroll
        for (int i = 0; i < ITEMS; ++i)
#pragma unroll
            for (int v = 0; v < VECTOR; ++v)
#if SWEETSPOT_VARIANT == 1
                seen |= __float_as_uint(held[i][v]);
#else
                sum[v] += held[i][v];
#endif
        from += gridDim.x * CHUNK;
    }

    float total = 0.0f;
#if SWEETSPOT_VARIANT == 1
    total = __uint_as_float(seen);
#endif
#pragma unroll
    for (int v = 0; v < VECTOR; ++v)
        total += sum[v];
    const long long tail = head + chunks * CHUNK, thread = blockIdx.x * (long long)BLOCK_SIZE + tid;
    if (thread < head)
        total += x[thread];
    for (long long i = tail + thread; i < n; i += gridDim.x * (long long)BLOCK_SIZE)
        total += x[i];

    total = block_sum(total);
#if FINISH_IS == FINISH_atomic
    if (tid == 0)
        atomicAdd(out, total);
#elif FINISH_IS == FINISH_two_pass
    if (tid == 0)
        partial[blockIdx.x] = total;
#else
    /* atomicInc wraps to zero at the last block, which leaves the counter ready for the next launch. */
    __shared__ bool last;
    if (tid == 0) {
        partial[blockIdx.x] = total;
        __threadfence();
        last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        __threadfence();
        total = list_sum(partial, (int)gridDim.x);
        if (tid == 0)
            *out = total;
    }
#endif
}

#if FINISH_IS == FINISH_two_pass
extern "C" __global__ void __launch_bounds__(BLOCK_SIZE) reduce_finish(const float *partial, int blocks, float *out)
{
    const float sum = list_sum(partial, blocks);
    if (threadIdx.x == 0)
        *out = sum;
}
#endif
