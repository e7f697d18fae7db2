/*
 * smith_waterman.cu: the best local alignment score for each of many pairs of sequences, with affine gaps (Smith and
 * Waterman 1981, Gotoh 1982), in integers.
 *
 * Bound by integer arithmetic, and by the instruction cache if much is unrolled: warps drift apart, and the more warps
 * there are, the more different instructions they need at a time. GROUP threads align one pair (two with ARITHMETIC
 * pairs and halves). Each takes ROWS letters of a into registers and goes along b, one letter behind the thread above
 * it:
 *
 *            b ->                       for rows of GROUP * ROWS letters of a            (UNROLL_OUTER before)
 *     a   |  thread 0    j          |       for letters j of b, and GROUP - 1 more       (UNROLL_INNER before)
 *     |   |  thread 1    j - 1      |           take H, F of the row above and b's letter from the thread before
 *     v   |  thread 2    j - 2      |           (shuffles); for ROWS letters             (always unrolled)
 *
 * If a has more letters than the group has rows, `above` holds H and F of the group's last row for every letter of b:
 * two words per group, adjacent for neighbouring groups. Sequences are stored letter by letter, a[i] of pair p at a + i
 * * count + p. Letters are 0 to 125 (SIMILARITY permute: 0 to 3). Outside b, a thread sees a letter that equals no
 * other. It raises no score, so that the loop needs no special case.
 *
 *     ARITHMETIC plain    32-bit integers, C++ max (for sm_90 the compiler may still use DPX instructions)
 *     ARITHMETIC dpx      32-bit integers with Hopper's DPX intrinsics: max(a + b, c) and max(a, b, c) in one
 *                         instruction; emulated below sm_90
 *     ARITHMETIC pairs    two pairs of sequences in the halves of 32-bit words, DPX on 16 bits: scores must stay below
 *                         16384
 *     ARITHMETIC halves   as pairs, but pure additions are done in FP16: scores must stay below 2000
 *
 * H is stored as H - open, the value from which gaps begin. The score s has open added, so that the same value serves
 * the diagonal. DPX instructions share a half-rate execution unit with other integer instructions (measured: 62.9
 * results per cycle and SM, against 119 FP16 additions). So the number of instructions per cell decides:
 *
 *     plain, dpx          E, F, and H = max(diagonal + s, E, F, 0), whose addition the compiler may move to another
 *                         unit. The best score takes half an instruction per cell, with maxima of three values
 *     pairs               E, F, H, and max(E, F, 0). Everything has open added, so that nothing is negative. One 32-bit
 *                         subtraction then serves both halves (MINUS selects its instruction)
 *     halves              E, F and H = max(diagonal + s, E, F), with both additions on the FP16 unit. Read as FP16, the
 *                         bits of an integer n up to 2047 are the number n * 2^-24 (subnormal, or with the smallest
 *                         exponent), so 16-bit words have the same order as integers and as FP16 numbers. This is not
 *                         true of negative numbers, but E and F are clamped at 0 (`relu`, at no cost), so that no
 *                         negative number is the largest of three
 *
 *     SIMILARITY compare  letters are multiplied by KEY, a power of two not below match + mismatch. Then a ^ b is 0 or
 *                         at least KEY, and s = max(match - (a ^ b), -mismatch)
 *     SIMILARITY permute  the four scores of b's letter are the bytes of a word, one per letter of a; one instruction
 *                         takes the bytes that two letters select
 *
 * Launches
 *     smith_waterman        (const signed char *a, const signed char *b, int *score, uint2 *above, int count,
 *                            int length_a, int length_b)
 *         grid  ceil_div(ceil_div(count, EACH) * GROUP, BLOCK_SIZE); EACH is 2 for pairs and halves, otherwise 1
 *         block BLOCK_SIZE
 *         above: grid * BLOCK_SIZE / GROUP * length_b elements
 *
 * Parameters (macros; each has a default): ARITHMETIC; SIMILARITY; GROUP 1, 2, 4 .. 32; BLOCK_SIZE, a multiple of 32;
 * ROWS, even; AHEAD 1 fetches b's letters one step before they are used; MINUS `add` or `multiply` (a multiply-add by 1
 * uses a different unit than DPX instructions; only for pairs); UNROLL_OUTER, UNROLL_INNER pragma text. MATCH,
 * MISMATCH, OPEN (the whole cost of a gap's first letter), EXTEND, KEY are the same for a whole job.
 *
 * SWEETSPOT_VARIANT (set by `sweetspot profile --limits`): 0 is the kernel. 1 does only the memory accesses: letters
 * are read, `above` is read and written, nothing is scored. 2 does only the arithmetic: no letter is read, and `above`
 * is neither read nor written.
 */
#ifndef SWEETSPOT_VARIANT
#define SWEETSPOT_VARIANT 0
#endif
#ifndef ARITHMETIC
#define ARITHMETIC pairs
#endif
#ifndef SIMILARITY
#define SIMILARITY compare
#endif
#ifndef GROUP
#define GROUP 1
#endif
#ifndef BLOCK_SIZE
#define BLOCK_SIZE 128
#endif
#ifndef ROWS
#define ROWS 16
#endif
#ifndef AHEAD
#define AHEAD 0
#endif
#ifndef MINUS
#define MINUS add
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
#define ARITHMETIC_halves 4
#define ARITHMETIC_IS JOIN(ARITHMETIC_, ARITHMETIC)
#define SIMILARITY_compare 1
#define SIMILARITY_permute 2
#define SIMILARITY_IS JOIN(SIMILARITY_, SIMILARITY)
#define MINUS_add 1
#define MINUS_multiply 2
#define MINUS_IS JOIN(MINUS_, MINUS)
#if ARITHMETIC_IS == 0 || SIMILARITY_IS == 0 || MINUS_IS == 0
#error "ARITHMETIC must be plain, dpx, pairs or halves, SIMILARITY compare or permute, MINUS add or multiply"
#endif
static_assert(ROWS >= 2 && ROWS % 2 == 0, "ROWS must be even");
static_assert(GROUP >= 1 && GROUP <= 32 && (GROUP & (GROUP - 1)) == 0, "GROUP must be a power of two up to 32");
static_assert(BLOCK_SIZE % 32 == 0, "BLOCK_SIZE must be a multiple of 32");
static_assert(KEY >= MATCH + MISMATCH && (KEY & (KEY - 1)) == 0,
              "KEY must be a power of two, not below MATCH + MISMATCH");
static_assert(SIMILARITY_IS != SIMILARITY_permute || (OPEN >= MISMATCH && OPEN + MATCH < 128),
              "scores with OPEN added must be bytes from 0 to 127");

namespace
{

constexpr int EACH = ARITHMETIC_IS == ARITHMETIC_pairs || ARITHMETIC_IS == ARITHMETIC_halves ? 2 : 1;
#if ARITHMETIC_IS == ARITHMETIC_pairs || ARITHMETIC_IS == ARITHMETIC_halves
typedef unsigned number; /* two 16-bit numbers */
__device__ __forceinline__ constexpr number both(int x)
{
    return ((unsigned)x & 0xffffu) * 0x10001u;
}
[[maybe_unused]] __device__ __forceinline__ number add_max(number a, number b, number c)
{
    return __viaddmax_s16x2(a, b, c);
}
__device__ __forceinline__ number max3(number a, number b, number c)
{
    return __vimax3_s16x2(a, b, c);
}
__device__ __forceinline__ number largest(number a, number b)
{
    return __vimax3_s16x2(a, b, b);
}
#else
typedef int number;
__device__ __forceinline__ constexpr number both(int x)
{
    return x;
}
#if ARITHMETIC_IS == ARITHMETIC_dpx
__device__ __forceinline__ number add_max(number a, number b, number c)
{
    return __viaddmax_s32(a, b, c);
}
__device__ __forceinline__ number add_max_relu(number a, number b, number c)
{
    return __viaddmax_s32_relu(a, b, c);
}
__device__ __forceinline__ number max3(number a, number b, number c)
{
    return __vimax3_s32(a, b, c);
}
#else
__device__ __forceinline__ number add_max(number a, number b, number c)
{
    return max(a + b, c);
}
__device__ __forceinline__ number add_max_relu(number a, number b, number c)
{
    return max(max(a + b, c), 0);
}
__device__ __forceinline__ number max3(number a, number b, number c)
{
    return max(max(a, b), c);
}
#endif
__device__ __forceinline__ number largest(number a, number b)
{
    return max(a, b);
}
#endif

/* Computes one cell. `left`, `diagonal`, `up` are the stored values of H of these neighbours; s has OPEN added. Returns
 * H plus FLOOR, which minus_open() converts to the value that is stored. */
#if ARITHMETIC_IS == ARITHMETIC_halves
constexpr int FLOOR = 0;
constexpr number NOTHING = (0x8000u | OPEN) * 0x10001u; /* stored for H = 0: -OPEN in FP16, sign and magnitude */
__device__ __forceinline__ number add_fp16(number a, number b)
{
    number sum;
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
    return sum;
}
__device__ __forceinline__ number cell(number &e, number &f, number left, number diagonal, number up, number s)
{
    e = __viaddmax_s16x2_relu(e, both(-EXTEND), left);
    f = __viaddmax_s16x2_relu(f, both(-EXTEND), up);
    return max3(add_fp16(diagonal, s), e, f);
}
__device__ __forceinline__ number minus_open(number h, int)
{
    return add_fp16(h, NOTHING);
}
#elif ARITHMETIC_IS == ARITHMETIC_pairs
constexpr int FLOOR = OPEN;
constexpr number NOTHING = 0;
__device__ __forceinline__ number cell(number &e, number &f, number left, number diagonal, number up, number s)
{
    e = add_max(e, both(-EXTEND), left);
    f = add_max(f, both(-EXTEND), up);
    return add_max(diagonal, s, max3(e, f, both(FLOOR)));
}
/* `one` is 1, but the compiler must not know it. Neither half borrows, because both are at least OPEN. */
__device__ __forceinline__ number minus_open(number h, int one)
{
    return (MINUS_IS == MINUS_multiply ? h * (number)one : h) - both(OPEN);
}
#else
constexpr int FLOOR = 0;
constexpr number NOTHING = -OPEN;
__device__ __forceinline__ number cell(number &e, number &f, number left, number diagonal, number up, number s)
{
    e = add_max(e, -EXTEND, left);
    f = add_max(f, -EXTEND, up);
    return add_max_relu(diagonal, s, largest(e, f));
}
__device__ __forceinline__ number minus_open(number h, int)
{
    return h - OPEN;
}
#endif

/* The letters of the group's pairs at one position, one byte each, as in memory. `even`: two adjacent letters can be
 * read as one 16-bit word. */
__device__ __forceinline__ unsigned fetch(const signed char *from, int second, bool even)
{
#if SWEETSPOT_VARIANT == 2
    return threadIdx.x % 4;
#else
    if (EACH == 1) return (unsigned char)__ldg(from);
    if (even) return __ldg(reinterpret_cast<const unsigned short *>(from));
    return (unsigned char)__ldg(from) | (unsigned)(unsigned char)__ldg(from + second) << 8;
#endif
}

/*
 * How a row and a column store their letters, and the score of both (s + OPEN). The letters of rows after the end of a
 * and of columns outside b equal no other letter.
 */
#if SIMILARITY_IS == SIMILARITY_permute
constexpr unsigned OUTSIDE = 0x0404, BEHIND = EACH == 2 ? 0xcc88 : 0x4444;
struct column {
    unsigned first, second; /* byte k: the score of letter k in a */
};
/* Selects the byte of the row's letter, and zero bytes: the sign of a non-negative byte (EACH 2), or bytes of a word
 * that is 0. */
__device__ __forceinline__ unsigned of_row(unsigned letters)
{
    return EACH == 2 ? (letters & 0xff) * 0x11 + (letters >> 8) * 0x1100 + 0xc480 : letters | 0x4440;
}
__device__ __forceinline__ unsigned table(unsigned letter)
{
    unsigned match; /* the PTX instruction shifts everything out where C++ leaves the result undefined */
    asm("shl.b32 %0, %1, %2;" : "=r"(match) : "r"(MATCH + MISMATCH), "r"(8 * letter));
    return (OPEN - MISMATCH) * 0x01010101u + match;
}
__device__ __forceinline__ column of_column(unsigned letters)
{
    return {table(letters & 0xff), EACH == 2 ? table(letters >> 8) : 0};
}
__device__ __forceinline__ number similarity(unsigned row, column c)
{
    unsigned s; /* not __byte_perm(), which cannot select signs */
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(s) : "r"(c.first), "r"(c.second), "r"(row));
    return (number)s;
}
#else
constexpr unsigned OUTSIDE = 0x7e7e, BEHIND = KEY * (EACH == 2 ? 0x7f007f : 0x7f);
typedef unsigned column;
__device__ __forceinline__ unsigned of_row(unsigned letters)
{
    return EACH == 2 ? ((letters & 0xff) | (letters & 0xff00) << 8) * KEY : (letters & 0xff) * KEY;
}
__device__ __forceinline__ column of_column(unsigned letters)
{
    return of_row(letters);
}
__device__ __forceinline__ number similarity(unsigned row, column c)
{
    if (EACH == 1) return row == c ? MATCH + OPEN : OPEN - MISMATCH;
    return add_max(~(row ^ c), both(MATCH + OPEN + 1), both(OPEN - MISMATCH)); /* ~x is -x - 1 in each half */
}
#endif

/* Loads a thread's letters of a from `first` on, and sets the values to the left of the first column. */
__device__ __forceinline__ void take_rows(unsigned (&row)[ROWS], number (&kept)[ROWS], number (&e)[ROWS],
                                          const signed char *a, int first, int count, int pair, int second, bool even,
                                          int length_a)
{
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        const int i = first + r;
        row[r] = i < length_a ? of_row(fetch(a + (long long)i * count + pair, second, even)) : BEHIND;
        kept[r] = NOTHING;
        e[r] = 0;
    }
}

/* Stores the best scores of a group's pairs. */
__device__ __forceinline__ void store_scores(number best, int *score, int second)
{
#if ARITHMETIC_IS == ARITHMETIC_pairs || ARITHMETIC_IS == ARITHMETIC_halves
    score[0] = (int)(best & 0xffff) - FLOOR;
    if (second) score[1] = (int)(best >> 16) - FLOOR;
#else
    score[0] = best - FLOOR;
#endif
}

} // namespace

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    smith_waterman(const signed char *__restrict__ a, const signed char *__restrict__ b, int *__restrict__ score,
                   uint2 *above, int count, int length_a, int length_b)
{
    const int lane = threadIdx.x % GROUP, group = (blockIdx.x * BLOCK_SIZE + threadIdx.x) / GROUP;
    const bool mine = (long long)group * EACH < count;
    const int pair =
        mine ? group * EACH : 0; /* a group without a pair repeats the first one, because shuffles need all threads */
    const int second = pair + 1 < count ? 1 : 0; /* a group without a second pair uses its first twice */
    const bool even =
        (count | reinterpret_cast<unsigned long long>(a) | reinterpret_cast<unsigned long long>(b)) % 2 == 0;
    const long long groups = (long long)gridDim.x * (BLOCK_SIZE / GROUP);
    const int one = blockDim.y;
    number best = both(FLOOR);
    UNROLL_OUTER for (int first = 0; first < length_a; first += GROUP * ROWS)
    {
        unsigned row[ROWS];
        number kept[ROWS], e[ROWS]; /* values of the column to the left */
        take_rows(row, kept, e, a, first + lane * ROWS, count, pair, second, even, length_a);
        const bool from_above = first > 0, to_below = first + GROUP * ROWS < length_a;
        const signed char *from = b + pair;
        uint2 *link = above + group;
        number corner = NOTHING, bottom = NOTHING,
               bottom_f = 0; /* corner: of the row above, to the left; bottom: of this thread's last row */
        unsigned letters = OUTSIDE, next_letters = OUTSIDE;
        uint2 next_words = make_uint2((unsigned)NOTHING, 0);
        if (AHEAD) {
            if (lane == 0 && length_b > 0) next_letters = fetch(from, second, even);
#if SWEETSPOT_VARIANT != 2
            if (from_above && lane == 0 && length_b > 0) next_words = *link;
#endif
        }
        UNROLL_INNER for (int step = 0; step < length_b + GROUP - 1; ++step)
        {
            number up = bottom, f = bottom_f;
            if (GROUP > 1) {
                up = __shfl_up_sync(0xffffffffu, bottom, 1, GROUP);
                f = __shfl_up_sync(0xffffffffu, bottom_f, 1, GROUP);
                letters = __shfl_up_sync(0xffffffffu, letters, 1, GROUP);
            }
            if (!AHEAD) {
                next_letters = OUTSIDE;
                next_words = make_uint2((unsigned)NOTHING, 0);
                if (lane == 0 && (GROUP == 1 || step < length_b)) {
                    next_letters = fetch(from, second, even);
#if SWEETSPOT_VARIANT != 2
                    if (from_above) next_words = *link;
#endif
                }
            }
            if (lane == 0) letters = next_letters, up = (number)next_words.x, f = (number)next_words.y;
            if (AHEAD) {
                next_letters = OUTSIDE;
                next_words = make_uint2((unsigned)NOTHING, 0);
                if (lane == 0 && step + 1 < length_b) {
                    next_letters = fetch(from + count, second, even);
#if SWEETSPOT_VARIANT != 2
                    if (from_above) next_words = link[groups];
#endif
                }
            }
            from += count;
            number diagonal = corner;
            corner = up;
#if SWEETSPOT_VARIANT == 1
            best = largest(best, (number)(letters ^ row[0]) ^ up);
#else
            const column here = of_column(letters);
            number h[2];
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                h[r % 2] = cell(e[r], f, kept[r], diagonal, up, similarity(row[r], here));
                diagonal = kept[r];
                kept[r] = up = minus_open(h[r % 2], one);
                if (r % 2) best = max3(best, h[0], h[1]);
            }
#endif
            bottom = up, bottom_f = f;
#if SWEETSPOT_VARIANT != 2
            if (to_below && lane == GROUP - 1 && (GROUP == 1 || step >= GROUP - 1))
                link[-(GROUP - 1) * groups] = make_uint2((unsigned)up, (unsigned)f);
#endif
            link += groups;
        }
        if (GROUP > 1) __syncwarp(); /* the first thread reads what the last has written */
    }
#pragma unroll
    for (int distance = GROUP / 2; distance > 0; distance /= 2)
        best = largest(best, __shfl_xor_sync(0xffffffffu, best, distance));
    if (!mine || lane > 0) return;
    store_scores(best, score + pair, second);
}
