/*
 * reduce.cu: one number from n floats, n up to 2^63. REDUCE says which: their sum, the sum of their absolute values
 * (asum), the root of the sum of their squares (nrm2), the sum of products with a second vector (dot), or the largest
 * absolute value and its lowest index (iamax).
 *
 * Bound by memory: every float is read once. A good configuration keeps enough independent loads in flight. The sum of
 * 2^30 floats on an H200 reaches 4.57 TB/s at best, 4.45 TB/s or more in a quarter of 300 random configurations, and
 * 0.09 TB/s in the worst of them (one block of 64 threads per SM, one float per load).
 *
 * A block reads a chunk of BLOCK_SIZE * ITEMS vectors, ITEMS of them per thread, and continues with the chunk gridDim.x
 * further on:
 *
 *     x  |head|  chunk 0  |  chunk 1  | .. |  chunk g  | ..            | tail |
 *             block 0      block 1          block 0                     fewer floats than a chunk
 *
 *     chunk  | item 0: BLOCK_SIZE vectors | item 1 | .. | item ITEMS-1 |   a thread's vectors are BLOCK_SIZE apart,
 *                                                                          so that each load of a warp is contiguous
 *
 * The head ends at the first address that VECTOR allows (at most 3 floats; none when x is aligned). Head and tail are
 * read float by float. Any n >= 0, any 4-byte aligned x. Sums are in FP32: per thread and per vector component, then in
 * a tree.
 *
 * Launches
 *
 *     reduce_zero    (float *out)   only for FINISH atomic; 1 block of 1 thread
 *     reduce_sum     (const float *x, long long n, float *partial, float *out, unsigned *count)
 *     reduce_asum, reduce_nrm2   with the same arguments
 *     reduce_dot     (const float *x, const float *y, long long n, float *partial, float *out, unsigned *count)
 *     reduce_iamax   (const float *x, long long n, total *partial, float *out, long long *index, unsigned *count)
 *                    total: 16 bytes
 *         grid       BLOCKS_PER_SM == 0 ? ceil_div(n, chunk) : min(ceil_div(n, chunk), BLOCKS_PER_SM * device.sm_count)
 *                    with chunk = BLOCK_SIZE * ITEMS * VECTOR; any grid gives correct results
 *         block      BLOCK_SIZE
 *     reduce_finish  (const float *partial, int blocks, float *out)   only for FINISH two_pass; with `long long *index`
 *                                                                     at the end for iamax
 *         grid       1;   block  BLOCK_SIZE;   blocks = the grid of the previous launch
 *
 * `partial` holds a number per block (FINISH last_block and two_pass). `count` is one unsigned that must be zero before
 * the first launch; each launch leaves it at zero (FINISH last_block). Neither is used otherwise. The output need not
 * be cleared. Squares must not overflow (nrm2); NaNs are ignored (iamax). For dot, if x and y are not equally aligned,
 * they are read float by float.
 *
 * Parameters (macros; each has a default)
 *
 *     REDUCE          the result to compute, sum, asum, nrm2, dot or iamax; the same for a whole job
 *     BLOCK_SIZE      threads of a block: a multiple of 32; for REDUCTION shared a power of two
 *     VECTOR          floats per load: 1, 2, 4
 *     ITEMS           independent loads that a thread has in flight
 *     UNROLL          pragma text before the loop over chunks: empty, _Pragma("unroll") or _Pragma("unroll n")
 *     BLOCKS_PER_SM   not a macro of this file; it sets the grid, see above. With 0 (no loop), FINISH last_block is
 *                     about 10% slower than the other ways, because each of 65,536 or more blocks ends with a fence and
 *                     an atomic
 *     REDUCTION       how a block adds its threads' sums: `shuffle`, warp shuffles and then one warp over the warps'
 *                     sums, or `shared`, a tree in shared memory with one barrier per level
 *     FINISH          how blocks' sums are added: `last_block`, the block that finishes last adds all
 *                     (deterministic); `two_pass`, another launch adds them (deterministic); `atomic`, each block
 *                     adds to the output (not nrm2 and iamax)
 *
 * SWEETSPOT_VARIANT (set by `sweetspot profile --limits`): 0 is the kernel. 1 does only the memory accesses: every
 * load, with bits collected instead of added, two floats per instruction. 2 does only the arithmetic: the additions, on
 * a number that is not loaded.
 */

#ifndef SWEETSPOT_VARIANT
#define SWEETSPOT_VARIANT 0
#endif
#ifndef REDUCE
#define REDUCE sum
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

/* The tuner passes a choice as a bare identifier. These macros make it usable in #if; an unknown choice becomes 0. */
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define REDUCE_sum 1
#define REDUCE_asum 2
#define REDUCE_nrm2 3
#define REDUCE_dot 4
#define REDUCE_iamax 5
#define REDUCTION_shuffle 1
#define REDUCTION_shared 2
#define FINISH_last_block 1
#define FINISH_two_pass 2
#define FINISH_atomic 3
#define REDUCE_IS JOIN(REDUCE_, REDUCE)
#define REDUCTION_IS JOIN(REDUCTION_, REDUCTION)
#define FINISH_IS JOIN(FINISH_, FINISH)
#define TWO_INPUTS (REDUCE_IS == REDUCE_dot)
#define WITH_INDEX (REDUCE_IS == REDUCE_iamax)

#if REDUCE_IS == 0
#error "REDUCE must be sum, asum, nrm2, dot or iamax"
#endif
#if REDUCTION_IS == 0
#error "REDUCTION must be shuffle or shared"
#endif
#if FINISH_IS == 0
#error "FINISH must be last_block, two_pass or atomic"
#endif
#if FINISH_IS == FINISH_atomic && (REDUCE_IS == REDUCE_nrm2 || WITH_INDEX)
#error "FINISH atomic adds, and cannot finish nrm2 or iamax"
#endif

namespace
{

static_assert(BLOCK_SIZE % 32 == 0 && BLOCK_SIZE >= 32 && BLOCK_SIZE <= 1024,
              "BLOCK_SIZE must be a multiple of 32 up to 1024");
static_assert(REDUCTION_IS != REDUCTION_shared || (BLOCK_SIZE & (BLOCK_SIZE - 1)) == 0,
              "REDUCTION shared needs a power of two for BLOCK_SIZE");
static_assert(VECTOR == 1 || VECTOR == 2 || VECTOR == 4, "VECTOR must be 1, 2 or 4");
static_assert(ITEMS >= 1, "ITEMS must be at least 1");

constexpr long long CHUNK = (long long)BLOCK_SIZE * ITEMS * VECTOR;

/* The result of a thread, a warp or a block. */
struct total {
    float value;
#if WITH_INDEX
    long long at;
#endif
};

__device__ __forceinline__ total nothing()
{
#if WITH_INDEX
    return {-1.0f, 0x7fffffffffffffffll};
#else
    return {0.0f};
#endif
}

__device__ __forceinline__ total join(total a, const total b)
{
#if WITH_INDEX
    if (b.value > a.value || (b.value == a.value && b.at < a.at)) a = b;
#else
    a.value += b.value;
#endif
    return a;
}

/* The total of lane + distance. */
__device__ __forceinline__ total from_lane_above(total mine, int distance)
{
    total other;
    other.value = __shfl_down_sync(0xffffffffu, mine.value, distance);
#if WITH_INDEX
    other.at = __shfl_down_sync(0xffffffffu, mine.at, distance);
#endif
    return other;
}

/* Adds one more element to a sum; y is the second vector's element. */
__device__ __forceinline__ float add(float sum, float x, float y)
{
#if REDUCE_IS == REDUCE_nrm2
    return fmaf(x, x, sum);
#elif REDUCE_IS == REDUCE_dot
    return fmaf(x, y, sum);
#elif REDUCE_IS == REDUCE_sum
    return sum + x;
#else
    return sum + fabsf(x);
#endif
}

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

/* The total over the block, in thread 0. All threads must call it, only once per launch or after a barrier. */
__device__ __forceinline__ total block_total(total mine)
{
    const int tid = threadIdx.x;
#if REDUCTION_IS == REDUCTION_shuffle
    __shared__ total warp_totals[32];
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) mine = join(mine, from_lane_above(mine, distance));
    if constexpr (BLOCK_SIZE > 32) {
        if (tid % 32 == 0) warp_totals[tid / 32] = mine;
        __syncthreads();
        if (tid < 32) {
            mine = tid < BLOCK_SIZE / 32 ? warp_totals[tid] : nothing();
#pragma unroll
            for (int distance = 16; distance > 0; distance /= 2) mine = join(mine, from_lane_above(mine, distance));
        }
    }
    return mine;
#else
    __shared__ total totals[BLOCK_SIZE];
    totals[tid] = mine;
    __syncthreads();
#pragma unroll
    for (int distance = BLOCK_SIZE / 2; distance > 0; distance /= 2) {
        if (tid < distance) totals[tid] = join(totals[tid], totals[tid + distance]);
        __syncthreads();
    }
    return totals[0];
#endif
}

#if FINISH_IS != FINISH_atomic
/* The total of a list, computed by one block, in thread 0, always in the same order. The list is read from L2, where
 * other blocks' writes are visible. */
__device__ __forceinline__ total list_total(const total *list, int length)
{
    total sum = nothing();
#pragma unroll 8
    for (int i = threadIdx.x; i < length; i += BLOCK_SIZE) {
        total one;
        one.value = __ldcg(&list[i].value);
#if WITH_INDEX
        one.at = __ldcg(&list[i].at);
#endif
        sum = join(sum, one);
    }
    return block_total(sum);
}
#endif

#if WITH_INDEX
#define SECOND_OUTPUT , long long *index
#define SECOND_RESULT , index
#else
#define SECOND_OUTPUT
#define SECOND_RESULT
#endif

__device__ __forceinline__ void finish(total t, float *out SECOND_OUTPUT)
{
#if REDUCE_IS == REDUCE_nrm2
    *out = sqrtf(t.value);
#else
    *out = t.value;
#endif
#if WITH_INDEX
    *index = t.at;
#endif
}

/* The total of a thread's floats in the block's chunks. */
__device__ __forceinline__ total chunks_total(const float *x, const float *y, long long n, long long head,
                                              long long chunks)
{
    const int tid = threadIdx.x;
    float sum[VECTOR] = {};
#if WITH_INDEX
    int where[VECTOR]; /* which of this thread's loads had the largest value */
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) sum[v] = -1.0f, where[v] = 0;
    int step = 0;
#endif
#if SWEETSPOT_VARIANT == 1
    unsigned seen = 0;
#elif SWEETSPOT_VARIANT == 2
    const float given = (float)n;
#endif
    const float *from = x + head + blockIdx.x * CHUNK + tid * VECTOR;
#if TWO_INPUTS
    const float *from_y = y + head + blockIdx.x * CHUNK + tid * VECTOR;
#endif
    UNROLL for (long long c = blockIdx.x; c < chunks; c += gridDim.x)
    {
        float held[1 + TWO_INPUTS][ITEMS][VECTOR];
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
#if SWEETSPOT_VARIANT == 2
#pragma unroll
            for (int v = 0; v < VECTOR; ++v) held[0][i][v] = held[TWO_INPUTS][i][v] = given;
#else
            load<VECTOR>(held[0][i], from + i * (BLOCK_SIZE * VECTOR));
#if TWO_INPUTS
            load<VECTOR>(held[1][i], from_y + i * (BLOCK_SIZE * VECTOR));
#endif
#endif
        }
#pragma unroll
        for (int i = 0; i < ITEMS; ++i)
#pragma unroll
            for (int v = 0; v < VECTOR; ++v)
#if SWEETSPOT_VARIANT == 1
                seen |= __float_as_uint(held[0][i][v]) | __float_as_uint(held[TWO_INPUTS][i][v]);
#elif WITH_INDEX
                if (fabsf(held[0][i][v]) > sum[v]) sum[v] = fabsf(held[0][i][v]), where[v] = step + i;
#else
                sum[v] = add(sum[v], held[0][i][v], held[TWO_INPUTS][i][v]);
#endif
        from += gridDim.x * CHUNK;
#if TWO_INPUTS
        from_y += gridDim.x * CHUNK;
#endif
#if WITH_INDEX
        step += ITEMS;
#endif
    }

    total mine = nothing();
#if SWEETSPOT_VARIANT == 1
    mine.value = __uint_as_float(seen);
#endif
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) {
#if WITH_INDEX
        if (sum[v] >= 0.0f)
            mine = join(mine, {sum[v], head + (blockIdx.x + where[v] / ITEMS * (long long)gridDim.x) * CHUNK +
                                           (where[v] % ITEMS * BLOCK_SIZE + tid) * VECTOR + v});
#else
        mine.value += sum[v];
#endif
    }
    return mine;
}

/* Adds a thread's floats before `head` and from `tail` on to its total. */
__device__ __forceinline__ total with_edges(total mine, const float *x, const float *y, long long n, long long head,
                                            long long tail)
{
    const long long thread = blockIdx.x * (long long)BLOCK_SIZE + (int)threadIdx.x;
#if WITH_INDEX
    if (thread < head) mine = join(mine, {fabsf(x[thread]), thread});
    for (long long i = tail + thread; i < n; i += gridDim.x * (long long)BLOCK_SIZE)
        mine = join(mine, {fabsf(x[i]), i});
#else
    if (thread < head) mine.value = add(mine.value, x[thread], y[thread]);
    for (long long i = tail + thread; i < n; i += gridDim.x * (long long)BLOCK_SIZE)
        mine.value = add(mine.value, x[i], y[i]);
#endif
    return mine;
}

/* Adds the block's total to the output, or leaves it to be added. With FINISH last_block, the last block adds all. */
__device__ __forceinline__ void leave_total(total mine, total *partial, float *out SECOND_OUTPUT, unsigned *count)
{
    const int tid = threadIdx.x;
    mine = block_total(mine);
#if FINISH_IS == FINISH_atomic
    if (tid == 0) atomicAdd(out, mine.value);
#elif FINISH_IS == FINISH_two_pass
    if (tid == 0) partial[blockIdx.x] = mine;
#else
    /* atomicInc wraps to zero at the last block, so that the counter is ready for the next launch. */
    __shared__ bool last;
    if (tid == 0) {
        partial[blockIdx.x] = mine;
        __threadfence();
        last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        __threadfence();
        mine = list_total(partial, (int)gridDim.x);
        if (tid == 0) finish(mine, out SECOND_RESULT);
    }
#endif
}

} // namespace

#if FINISH_IS == FINISH_atomic
extern "C" __global__ void reduce_zero(float *out)
{
    *out = 0.0f;
}
#endif

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    JOIN(reduce_, REDUCE)(const float *__restrict__ x,
#if TWO_INPUTS
                          const float *__restrict__ y,
#endif
                          long long n, total *partial, float *out SECOND_OUTPUT, unsigned *count)
{
    const int misplaced = (int)(reinterpret_cast<unsigned long long>(x) / 4 % VECTOR);
    long long head = min((long long)(misplaced ? VECTOR - misplaced : 0), n);
    long long chunks = (n - head) / CHUNK;
#if TWO_INPUTS
    if (misplaced != (int)(reinterpret_cast<unsigned long long>(y) / 4 % VECTOR)) head = chunks = 0;
#else
    const float *const y = x;
#endif

    const total mine = chunks_total(x, y, n, head, chunks);
    leave_total(with_edges(mine, x, y, n, head, head + chunks * CHUNK), partial, out SECOND_RESULT, count);
}

#if FINISH_IS == FINISH_two_pass
extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    reduce_finish(const total *partial, int blocks, float *out SECOND_OUTPUT)
{
    const total sum = list_total(partial, blocks);
    if (threadIdx.x == 0) finish(sum, out SECOND_RESULT);
}
#endif
