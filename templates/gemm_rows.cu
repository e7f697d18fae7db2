/*
 * gemm_rows.cu: products of a tall matrix and very few vectors, with multiply-adds: FP32, BF16 or FP16, sums in FP32.
 *
 *     D = alpha * W * x' + beta * D     W: rows x K, x: tokens x K, both with K contiguous; D: rows x tokens, or with
 *                                       TRANSPOSE_C tokens x rows
 *
 * W is read only once, so the speed depends on how it is read. Memory is fastest with long runs of addresses: WARPS_K
 * warps go along the same ROWS rows together, each lane has ITEMS loads of 16 bytes per row in flight, and consecutive
 * blocks have consecutive rows. x comes from the L1, which W bypasses. Any rows, tokens, K >= 1, any leading
 * dimensions. With beta = 0, D is not read. If addresses do not allow 16 bytes, and for the remainder of K, single
 * elements are loaded.
 *
 *     gemm_rows  (int rows, int tokens, int K, float alpha, const W, long long ldw, const x, long long ldx,
 *                 float beta, D, long long ldd)
 *         grid    ceil_div(rows, ROWS * WARPS_N), ceil_div(tokens, TOKENS);   block  32 * WARPS_N * WARPS_K
 *
 *                      32 * 16 bytes    warps_k 0           warps_k 1
 *         row 0   | lane 0 | lane 1 | .. x ITEMS  | lane 0 | lane 1 | .. x ITEMS | ..  -> shuffles, shared memory
 *         row 1   | lane 0 | lane 1 | ..
 *         ..      ROWS rows, then those of the next warps_n
 *
 * Parameters (macros; each has a default)
 *
 *     INPUT, OUTPUT   f32, bf16 or f16
 *     TOKENS          vectors that a block computes: each costs a load from the L1 and a multiply-add per element of W
 *     ROWS            rows that a warp has in flight; they share the loads of x
 *     ITEMS           vectors of 16 bytes that a lane has in flight for each row
 *     WARPS_N         groups of warps, each with its own rows
 *     WARPS_K         warps along the same rows
 *     HINT            1: the L2 may drop W first
 *     MIN_BLOCKS      blocks per SM; limits registers so that this many fit
 *
 * SWEETSPOT_VARIANT (set by `sweetspot profile --limits`): 0 is the kernel. 1 does only the memory accesses: instead of
 * multiplying, the bits are collected. 2 does only the arithmetic: W is not loaded.
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
#define TOKENS 1
#endif
#ifndef ROWS
#define ROWS 1
#endif
#ifndef ITEMS
#define ITEMS 4
#endif
#ifndef WARPS_N
#define WARPS_N 1
#endif
#ifndef WARPS_K
#define WARPS_K 4
#endif
#ifndef HINT
#define HINT 0
#endif
#ifndef MIN_BLOCKS
#define MIN_BLOCKS 1
#endif

/* The tuner passes a choice as a bare identifier. These macros make it usable in #if; an unknown choice becomes 0. */
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)
#define TYPE_bf16 1
#define TYPE_f16 2
#define TYPE_f32 3
#define INPUT_IS JOIN(TYPE_, INPUT)
#define OUTPUT_IS JOIN(TYPE_, OUTPUT)

#if INPUT_IS == 0 || OUTPUT_IS == 0
#error "INPUT and OUTPUT must be f32, bf16 or f16"
#endif

#pragma nv_diag_suppress 177 /* some of the following is unused, depending on the parameters */

namespace
{

constexpr int THREADS = 32 * WARPS_N * WARPS_K;
static_assert(THREADS <= 1024, "WARPS_N * WARPS_K must be at most 32");
static_assert(TOKENS >= 1 && ROWS >= 1 && ITEMS >= 1, "TOKENS, ROWS and ITEMS must be at least 1");

#if INPUT_IS == TYPE_f32
typedef float input;
#else
typedef unsigned short input;
#endif
#if OUTPUT_IS == TYPE_f32
typedef float output;
#else
typedef unsigned short output;
#endif

constexpr int WIDTH = 16 / (int)sizeof(input); /* elements per vector */
constexpr int STEP = 32 * WIDTH * ITEMS;       /* elements of a row that a warp reads at a time */

template <int TYPE> struct type_tag {
};

__device__ __forceinline__ float widen(float value, type_tag<TYPE_f32>)
{
    return value;
}
__device__ __forceinline__ float widen(unsigned short bits, type_tag<TYPE_bf16>)
{
    return __uint_as_float((unsigned)bits << 16);
}
__device__ __forceinline__ float widen(unsigned short bits, type_tag<TYPE_f16>)
{
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
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

/* Converts the elements of a vector to FP32. */
__device__ __forceinline__ void unpack(float (&to)[WIDTH], uint4 v)
{
    const unsigned word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#if INPUT_IS == TYPE_f32
        to[i] = __uint_as_float(word[i]);
#elif INPUT_IS == TYPE_bf16
        to[2 * i] = __uint_as_float(word[i] << 16);
        to[2 * i + 1] = __uint_as_float(word[i] & 0xffff0000u);
#else
        to[2 * i] = widen((unsigned short)word[i], type_tag<TYPE_f16>());
        to[2 * i + 1] = widen((unsigned short)(word[i] >> 16), type_tag<TYPE_f16>());
#endif
    }
}

__device__ __forceinline__ unsigned long long cache_policy()
{
    unsigned long long policy = 0;
    if constexpr (HINT) asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

/* Loads 16 bytes of W, which is not read again. */
__device__ __forceinline__ uint4 load_once(const input *from, unsigned long long policy)
{
    uint4 v;
#if SWEETSPOT_VARIANT == 2
    v = make_uint4(threadIdx.x, 1, 2, 3);
#else
    if constexpr (HINT)
        asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "l"(from), "l"(policy));
    else
        asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "l"(from));
#endif
    return v;
}

__device__ __forceinline__ void add_products(float &sum, const float (&w)[WIDTH], const float (&x)[WIDTH])
{
#pragma unroll
    for (int i = 0; i < WIDTH; ++i)
#if SWEETSPOT_VARIANT == 1
        sum = __uint_as_float(__float_as_uint(sum) | __float_as_uint(w[i]));
#else
        sum += w[i] * x[i];
#endif
}

struct matrices {
    const input *w[ROWS], *x[TOKENS]; /* past the end, the last row or token again, which is not stored */
};

/* Adds the products of ITEMS vectors of each row, from k on. CHECKED: only those within K. */
template <bool CHECKED>
__device__ __forceinline__ void step(float (&sum)[ROWS][TOKENS], const matrices &m, int k, int K,
                                     unsigned long long policy)
{
    uint4 w[ROWS][ITEMS], x[TOKENS][ITEMS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
#pragma unroll
        for (int i = 0; i < ITEMS; ++i)
            w[r][i] = !CHECKED || k + (32 * i + 1) * WIDTH <= K ? load_once(m.w[r] + k + 32 * i * WIDTH, policy)
                                                                : make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int t = 0; t < TOKENS; ++t)
#pragma unroll
        for (int i = 0; i < ITEMS; ++i)
            x[t][i] = !CHECKED || k + (32 * i + 1) * WIDTH <= K
                          ? __ldg(reinterpret_cast<const uint4 *>(m.x[t] + k + 32 * i * WIDTH))
                          : make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        float b[TOKENS][WIDTH];
#pragma unroll
        for (int t = 0; t < TOKENS; ++t) unpack(b[t], x[t][i]);
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            float a[WIDTH];
            unpack(a, w[r][i]);
#pragma unroll
            for (int t = 0; t < TOKENS; ++t) add_products(sum[r][t], a, b[t]);
        }
    }
}

/* Adds the products of every `stride`-th element from k on. */
__device__ void add_elements(float (&sum)[ROWS][TOKENS], const matrices &m, int k, int stride, int K)
{
    const type_tag<INPUT_IS> type;
#pragma unroll 1
    for (; k < K; k += stride)
#pragma unroll
        for (int t = 0; t < TOKENS; ++t) {
            const float b = widen(m.x[t][k], type);
#pragma unroll
            for (int r = 0; r < ROWS; ++r) sum[r][t] += widen(m.w[r][k], type) * b;
        }
}

/* The work of the kernel. */
__device__ __forceinline__ void multiply(int rows, int tokens, int K, float alpha, const input *__restrict__ W,
                                         long long ldw, const input *__restrict__ x, long long ldx, float beta,
                                         output *D, long long ldd)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warp_n = warp % WARPS_N, warp_k = warp / WARPS_N;
    const int first = blockIdx.x * (ROWS * WARPS_N), row = first + warp_n * ROWS, token = blockIdx.y * TOKENS;
    matrices m;
    float sum[ROWS][TOKENS] = {};
#pragma unroll
    for (int r = 0; r < ROWS; ++r) m.w[r] = W + ldw * min(row + r, rows - 1);
#pragma unroll
    for (int t = 0; t < TOKENS; ++t) m.x[t] = x + ldx * min(token + t, tokens - 1);

    if ((reinterpret_cast<unsigned long long>(W) | reinterpret_cast<unsigned long long>(x)) % 16 == 0 &&
        (ldw | ldx) % WIDTH == 0) {
        const unsigned long long policy = cache_policy();
        int k = warp_k * STEP;
        for (; k + STEP <= K; k += WARPS_K * STEP) step<false>(sum, m, k + lane * WIDTH, K, policy);
        if (k < K) {
            step<true>(sum, m, k + lane * WIDTH, K, policy);
            add_elements(sum, m, max(k, K / WIDTH * WIDTH) + lane, 32, min(K, k + STEP));
        }
    } else {
        add_elements(sum, m, warp_k * 32 + lane, WARPS_K * 32, K);
    }

#pragma unroll
    for (int r = 0; r < ROWS; ++r)
#pragma unroll
        for (int t = 0; t < TOKENS; ++t)
#pragma unroll
            for (int distance = 16; distance > 0; distance /= 2)
                sum[r][t] += __shfl_xor_sync(0xffffffffu, sum[r][t], distance);
    __shared__ float sums[WARPS_K][WARPS_N][ROWS][TOKENS];
    if (lane == 0)
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
#pragma unroll
            for (int t = 0; t < TOKENS; ++t) sums[warp_k][warp_n][r][t] = sum[r][t];
    if constexpr (WARPS_K > 1)
        __syncthreads();
    else
        __syncwarp();
    /* The sums of a row's warps are in shared memory. The first warp adds them (with WARPS_K 1 only its own) and stores
     * the result. */
    if (warp_k > 0) return;
    for (int e = lane; e < ROWS * TOKENS; e += 32) {
        const int r = e % ROWS, t = e / ROWS;
        if (row + r >= rows || token + t >= tokens) continue;
        float total = 0.0f;
#pragma unroll
        for (int w = 0; w < WARPS_K; ++w) total += sums[w][warp_n][r][t];
        output *const d = D + (TRANSPOSE_C ? ldd * (token + t) + row + r : ldd * (row + r) + token + t);
        *d = narrow(alpha * total + (beta != 0.0f ? beta * widen(*d, type_tag<OUTPUT_IS>()) : 0.0f));
    }
}

} // namespace

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    gemm_rows(int rows, int tokens, int K, float alpha, const input *__restrict__ W, long long ldw,
              const input *__restrict__ x, long long ldx, float beta, output *D, long long ldd)
{
    multiply(rows, tokens, K, alpha, W, ldw, x, ldx, beta, D, ldd);
}
