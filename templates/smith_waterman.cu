/*
 * smith_waterman.cu: the best local alignment score of each of many pairs of short sequences, affine gaps (Smith and Waterman 1981, Gotoh 1982), in integers.
 *
 * Bound by integer arithmetic, and by the instruction cache where much is unrolled: warps drift apart, and with more of them more different instructions are wanted
 * at a time. A thread aligns one pair (ARITHMETIC pairs: two). It takes ROWS letters of a at a time into registers and goes along b:
 *
 *            b ->                       for rows of ROWS letters of a       (UNROLL_OUTER in front)
 *     a   | H, F of the row above |         for letters of b                (UNROLL_INNER in front)
 *     |   | ROWS x H, E in regs   |             for ROWS letters            (always unrolled)
 *     v   | H, F go to `above`    |
 *
 * `above` holds H - open and F of the last row for every letter of b: two words a thread, side by side for neighbouring threads. It is not touched when a has no more than ROWS
 * letters. Sequences are stored letter by letter, a[i] of pair p at a + i * count + p. Letters are 0 to 126.
 *
 *     ARITHMETIC plain    32-bit integers, max as the language has it (for sm_90 the compiler may use DPX instructions all the same)
 *     ARITHMETIC dpx      32-bit integers by Hopper's DPX intrinsics: max(a + b, c) and max(a, b, 0) in one instruction; emulated below sm_90
 *     ARITHMETIC pairs    two pairs a thread in the halves of 32-bit words, DPX on 16 bits: scores must stay below 16384
 *
 * s(a, b) without a comparison (pairs): letters are multiplied by KEY, a power of two not below match + mismatch; then a ^ b is 0 or at least KEY, and
 * s = max(match - (a ^ b), -mismatch). H is only kept as H - open, which is what gaps begin with; s has open added, so that H[i-1][j-1] - open does for it.
 *
 * Launches
 *     smith_waterman        (const signed char *a, const signed char *b, int *score, uint2 *above, int count, int length_a, int length_b)
 *         grid  ceil_div(count, BLOCK_SIZE * (2 for pairs, else 1));   block  BLOCK_SIZE;   above: grid * BLOCK_SIZE * length_b elements
 *
 * Parameters (macros; each has a default): ARITHMETIC; BLOCK_SIZE; ROWS, even; UNROLL_OUTER, UNROLL_INNER pragma text. MATCH, MISMATCH, OPEN (a gap's first letter in
 * all), EXTEND, KEY are the same for a whole job.
 *
 * SWEETSPOT_VARIANT (set by `sweetspot limiter`): 0 the kernel; 1 memory alone: letters and `above` are read and written, nothing is scored; 2 arithmetic alone: no letter
 * is read, and `above` is neither.
 */
#ifndef SWEETSPOT_VARIANT
#define SWEETSPOT_VARIANT 0
#endif
#ifndef ARITHMETIC
#define ARITHMETIC pairs
#endif
#ifndef BLOCK_SIZE
#define BLOCK_SIZE 128
#endif
#ifndef ROWS
#define ROWS 16
#endif
#ifndef UNROLL_OUTER
#define UNROLL_OUTER
#endif
#ifndef UNROLL_INNER
#define UNROLL_INNER
#endif
#ifndef MATCH
#define MATCH 2
#endif
#ifndef MISMATCH
#define MISMATCH 3
#endif
#ifndef OPEN
#define OPEN 5
#endif
#ifndef EXTEND
#define EXTEND 2
#endif
#ifndef KEY
#define KEY 8
#endif
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define ARITHMETIC_plain 1
#define ARITHMETIC_dpx 2
#define ARITHMETIC_pairs 3
#define ARITHMETIC_IS JOIN(ARITHMETIC_, ARITHMETIC)
#if ARITHMETIC_IS == 0
#error "ARITHMETIC must be plain, dpx or pairs"
#endif
static_assert(ROWS >= 2 && ROWS % 2 == 0, "ROWS must be even");
static_assert(KEY >= MATCH + MISMATCH && (KEY & (KEY - 1)) == 0, "KEY must be a power of two, not below MATCH + MISMATCH");

namespace {

#if ARITHMETIC_IS == ARITHMETIC_pairs
constexpr int EACH = 2;
typedef unsigned number; /* two 16-bit numbers */
__device__ __forceinline__ constexpr number both(int x) { return ((unsigned)x & 0xffffu) * 0x10001u; }
__device__ __forceinline__ number add_max(number a, number b, number c) { return __viaddmax_s16x2(a, b, c); }
__device__ __forceinline__ number add_max_relu(number a, number b, number c) { return __viaddmax_s16x2_relu(a, b, c); }
__device__ __forceinline__ number max3(number a, number b, number c) { return __vimax3_s16x2(a, b, c); }
__device__ __forceinline__ number largest(number a, number b) { return __vimax3_s16x2(a, b, b); }
/* No plain addition of halves in one instruction, but one with a maximum that never matters. */
__device__ __forceinline__ number minus_open(number a) { return add_max(a, both(-OPEN), both(-16384)); }
/* s + open */
__device__ __forceinline__ number similarity(number a, number b) { return add_max(~(a ^ b), both(MATCH + OPEN + 1), both(OPEN - MISMATCH)); } /* ~x is -x - 1 in each half */
constexpr int LOWEST = -12000;
#else
constexpr int EACH = 1;
typedef int number;
__device__ __forceinline__ constexpr number both(int x) { return x; }
#if ARITHMETIC_IS == ARITHMETIC_dpx
__device__ __forceinline__ number add_max(number a, number b, number c) { return __viaddmax_s32(a, b, c); }
__device__ __forceinline__ number add_max_relu(number a, number b, number c) { return __viaddmax_s32_relu(a, b, c); }
__device__ __forceinline__ number max3(number a, number b, number c) { return __vimax3_s32(a, b, c); }
#else
__device__ __forceinline__ number add_max(number a, number b, number c) { return max(a + b, c); }
__device__ __forceinline__ number add_max_relu(number a, number b, number c) { return max(max(a + b, c), 0); }
__device__ __forceinline__ number max3(number a, number b, number c) { return max(max(a, b), c); }
#endif
__device__ __forceinline__ number largest(number a, number b) { return max(a, b); }
__device__ __forceinline__ number minus_open(number a) { return a - OPEN; }
/* s + open */
__device__ __forceinline__ number similarity(number a, number b) { return a == b ? MATCH + OPEN : OPEN - MISMATCH; }
constexpr int LOWEST = -1000000;
#endif

/* The letters of this thread's pairs at one place, times KEY. */
__device__ __forceinline__ number letters(const signed char *from, int second)
{
#if SWEETSPOT_VARIANT == 2
    return both(KEY * (threadIdx.x % 4));
#elif ARITHMETIC_IS == ARITHMETIC_pairs
    return (unsigned)(__ldg(from) * KEY) | (unsigned)(__ldg(from + second) * KEY) << 16;
#else
    return __ldg(from) * KEY;
#endif
}

} // namespace

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
smith_waterman(const signed char *__restrict__ a, const signed char *__restrict__ b, int *__restrict__ score, uint2 *__restrict__ above, int count, int length_a, int length_b)
{
    const int thread = blockIdx.x * BLOCK_SIZE + threadIdx.x, pair = thread * EACH;
    if (pair >= count) return;
    const int second = pair + 1 < count ? 1 : 0; /* a thread without a second pair does its first twice */
    const long long threads = (long long)gridDim.x * BLOCK_SIZE;
    number best = 0;
    UNROLL_OUTER for (int first = 0; first < length_a; first += ROWS)
    {
        number letter[ROWS], h_open[ROWS], e[ROWS]; /* H - open and E of the column to the left */
#pragma unroll
        for (int r = 0; r < ROWS; ++r) { /* behind the end: a letter that matches none, so that no score rises */
            letter[r] = first + r < length_a ? letters(a + (long long)(first + r) * count + pair, second) : both(127 * KEY);
            h_open[r] = both(-OPEN);
            e[r] = both(LOWEST);
        }
        const bool from_above = first > 0, to_below = first + ROWS < length_a;
        const signed char *from = b + pair;
        uint2 *link = above + thread;
        number corner = both(-OPEN); /* H - open of the row above, in the column to the left */
        UNROLL_INNER for (int j = 0; j < length_b; ++j)
        {
            const number other = letters(from, second);
            from += count;
            number up = both(-OPEN), f = both(LOWEST);
#if SWEETSPOT_VARIANT != 2
            if (from_above) {
                const uint2 words = *link;
                up = (number)words.x, f = (number)words.y;
            }
#endif
            number diagonal = corner;
            corner = up;
#if SWEETSPOT_VARIANT == 1
            best = largest(best, other ^ letter[0] ^ up);
#else
            number h[2];
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                e[r] = add_max(e[r], both(-EXTEND), h_open[r]);
                f = add_max(f, both(-EXTEND), up);
                h[r % 2] = add_max_relu(diagonal, similarity(letter[r], other), largest(e[r], f));
                diagonal = h_open[r];
                up = minus_open(h[r % 2]);
                h_open[r] = up;
                if (r % 2) best = max3(best, h[0], h[1]);
            }
#endif
#if SWEETSPOT_VARIANT != 2
            if (to_below) *link = make_uint2((unsigned)up, (unsigned)f);
#endif
            link += threads;
        }
    }
#if ARITHMETIC_IS == ARITHMETIC_pairs
    score[pair] = (short)(best & 0xffff);
    if (second) score[pair + 1] = (short)(best >> 16);
#else
    score[pair] = best;
#endif
}
