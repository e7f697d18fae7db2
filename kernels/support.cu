// The GPU worker's own kernels: filling buffers, checking what a candidate left in them, helping references, emptying
// the L2. Compiled by sweetspot-compile like any candidate, loaded by tuner/gpu/support.c, which also holds the C side
// of struct finding. Free of headers, because headers dominate NVRTC's time. All comparison happens here: a result is
// never copied to the host, only its findings are.
//
// A kernel that works on elements exists once for each type: support_fill_f32, support_compare_bf16, ...

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

struct f16 {
    u16 bits;
};
struct bf16 {
    u16 bits;
};

// What was found about one buffer in one run. All fields begin as zero, and places are kept complemented, so that the
// lowest place is the highest value and atomicMax finds it.
struct finding {
    u64 bad;                   // elements beyond the bound
    u64 unwritten;             // of these, how many still hold the fill pattern
    u64 worst;                 // 27 bits of the largest error/allowed, then 37 bits of complemented index
    u64 differ;                // elements that differ bitwise from the first run
    u64 first_differ;          // complemented index of the first of them
    u64 guard_bad;             // guard bytes overwritten
    u64 guard_first;           // complemented offset, from the front guard's beginning, of the first of them
    double sum_squares;        // of error/scale
    double max_scaled;         // largest error/scale
    double got, want, allowed; // at the worst element
    i64 place;                 // its index, -1 if no element is off at all
};
static_assert(sizeof(finding) == 13 * 8, "tuner/gpu/support.h has the same struct");

// A run of guard bytes: `rows` pieces of `bytes` bytes, `pitch` apart, `offset` bytes into the buffer's slot.
struct region {
    u64 address, rows, bytes, pitch, offset;
    u64 buffer;
};

enum { PLACE_BITS = 37 };
static const u64 place_mask = (1ull << PLACE_BITS) - 1;

// splitmix64's finaliser (Steele, Lea, Flood, Fast splittable pseudorandom number generators, OOPSLA 2014).
static __device__ u64 mix(u64 x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

// What hides the judge's memory from a candidate that looks around: word i of it is XORed with this, whose key only the
// host keeps. Nothing that protects a secret for long; enough that an answer cannot be copied.
static __device__ u64 mask(u64 key, u64 i)
{
    u64 x = (key ^ i) * 0x9e3779b97f4a7c15ull;
    return x ^ (x >> 29) ^ (key << 17);
}

// ---- elements ------------------------------------------------------------------------------------------------------

template <typename T> struct traits {
    static const bool floats = false;
};
template <> struct traits<float> {
    static const bool floats = true;
};
template <> struct traits<double> {
    static const bool floats = true;
};
template <> struct traits<f16> {
    static const bool floats = true;
};
template <> struct traits<bf16> {
    static const bool floats = true;
};

template <typename T> static __device__ double value(T x)
{
    return (double)x;
}
template <> __device__ double value(f16 x)
{
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(x.bits));
    return f;
}
template <> __device__ double value(bf16 x)
{
    return __uint_as_float((u32)x.bits << 16);
}

template <typename T> static __device__ i64 integer(T x)
{
    return (i64)x;
}
template <> __device__ i64 integer(f16)
{
    return 0;
}
template <> __device__ i64 integer(bf16)
{
    return 0;
}

template <typename T> static __device__ T element(double x)
{
    return (T)x;
}
template <> __device__ f16 element(double x)
{
    f16 r;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r.bits) : "f"((float)x));
    return r;
}
template <> __device__ bf16 element(double x)
{
    u32 bits = __float_as_uint((float)x);
    bf16 r;
    r.bits = x != x ? 0x7fff : (u16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16); // to nearest even
    return r;
}

template <int size> struct bits_of;
template <> struct bits_of<1> {
    typedef u8 type;
};
template <> struct bits_of<2> {
    typedef u16 type;
};
template <> struct bits_of<4> {
    typedef u32 type;
};
template <> struct bits_of<8> {
    typedef u64 type;
};
template <typename T> static __device__ u64 raw(const T *at)
{
    return *(const typename bits_of<sizeof(T)>::type *)at;
}
template <typename T> static __device__ void store_raw(T *at, u64 bits)
{
    *(typename bits_of<sizeof(T)>::type *)at = (typename bits_of<sizeof(T)>::type)bits;
}

// ---- filling -------------------------------------------------------------------------------------------------------

enum {
    FILL_UNIFORM,
    FILL_NORMAL,
    FILL_INTEGER,
    FILL_ZERO,
    FILL_CONSTANT,
    FILL_INDEX,
    FILL_NONFINITE
}; // tuner/base/buffer_kind.h

// Element i depends on the seed and i alone, not on the leading dimension: two layouts of a matrix hold the same
// numbers.
template <typename T>
static __device__ void fill(T *to, i64 rows, i64 cols, i64 ld, int kind, double low, double high, u64 seed)
{
    i64 n = rows * cols, stride = (i64)gridDim.x * blockDim.x;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        u64 random = mix(seed + (u64)i * 0x9e3779b97f4a7c15ull);
        double x = low;
        switch (kind) {
        // As many bits as the type holds: rounding up to `high` is then impossible, and f64 has no trailing zeros.
        case FILL_UNIFORM:
            x = low +
                (high - low) * (sizeof(T) == 8 ? (double)(random >> 11) * 0x1p-53 : (double)(random >> 40) * 0x1p-24);
            break;
        case FILL_NORMAL: {
            if (sizeof(T) == 8) {
                double radius = sqrt(-2.0 * log(((double)(random >> 11) + 1.0) * 0x1p-53));
                x = radius * cospi((double)(mix(random) >> 11) * 0x1p-52);
                break;
            }
            float radius = sqrtf(-2.0f * logf(((float)(random >> 40) + 1.0f) * 0x1p-24f));
            x = radius * cospif(2.0f * (float)(random & 0xffffff) * 0x1p-24f); // Box and Muller 1958
            break;
        }
        case FILL_INTEGER:
            x = low + (double)(i64)(random % (u64)(high - low + 1));
            break;
        case FILL_INDEX:
            x = (double)i;
            break;
        // One element in 512 is an infinity or no number, the others are uniform in [low, high).
        case FILL_NONFINITE: {
            u32 which = (u32)mix(random) & 2047;
            x = low + (high - low) * ((double)(random >> 40) * 0x1p-24);
            if (which < 3)
                x = __longlong_as_double(which == 0   ? 0x7ff0000000000000ll
                                         : which == 1 ? 0xfff0000000000000ll
                                                      : 0x7ff8000000000000ll);
            break;
        }
        }
        i64 row = ld == cols ? 0 : i / cols;
        to[i + row * (ld - cols)] = element<T>(x);
    }
}

// Fills `rows` pieces of `bytes` bytes with a 16-bit pattern that starts at even addresses.
extern "C" __global__ void support_pattern(u8 *base, i64 rows, i64 bytes, i64 pitch, u32 pattern)
{
    i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 row = blockIdx.y; row < rows; row += gridDim.y) {
        u8 *piece = base + row * pitch;
        for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < bytes; i += stride)
            piece[i] = (u64)(piece + i) & 1 ? (u8)(pattern >> 8) : (u8)pattern;
    }
}

// ---- checking ------------------------------------------------------------------------------------------------------

// Sums over a block in shared memory; the result is valid in thread 0.
template <typename T, typename F> static __device__ T block_reduce(T x, T *shared, F combine)
{
    __syncthreads();
    shared[threadIdx.x] = x;
    __syncthreads();
    for (u32 half = blockDim.x / 2; half; half /= 2) {
        if (threadIdx.x < half) shared[threadIdx.x] = combine(shared[threadIdx.x], shared[threadIdx.x + half]);
        __syncthreads();
    }
    return shared[0];
}

enum { CHECKED = 128, COPIES = 128, REGIONS = 48, RESTORED = 16 };

// Pieces of memory at 8-byte aligned addresses. Handed over by value, like all lists here: what lies in device memory,
// a candidate can change.
struct checked {
    u64 address[CHECKED], bytes[CHECKED];
};

// A cheap hash of a word that holds key and place: one multiplication, since it is computed for every word of the
// inputs.
static __device__ u64 digest(u64 x)
{
    x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9ull;
    return x ^ (x >> 29);
}

// Order-independent checksums under two keys: sums[2 * i] and sums[2 * i + 1], which begin as zero, of piece i =
// blockIdx.y: the sum of hashes of (word, place, key). The first is held against what was found earlier, under a key
// that no kernel has seen; the second is for the next time.
extern "C" __global__ void __launch_bounds__(256)
    support_checksums(const __grid_constant__ checked list, u64 old_key, u64 new_key, u64 *sums)
{
    __shared__ u64 shared[256];
    const u64 *words = (const u64 *)list.address[blockIdx.y];
    u64 sum = 0, next = 0;
    i64 bytes = (i64)list.bytes[blockIdx.y], n = bytes / 8;
    i64 stride = (i64)gridDim.x * blockDim.x, i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i + 3 * stride < n; i += 4 * stride) {
        u64 w[4];
        for (int j = 0; j < 4; j++) w[j] = words[i + j * stride];
        for (int j = 0; j < 4; j++) {
            u64 place = (u64)(i + j * stride + 1) * 0x9e3779b97f4a7c15ull;
            sum += digest((w[j] ^ old_key) + place);
            next += digest((w[j] ^ new_key) + place);
        }
    }
    for (; i < n; i += stride) {
        u64 place = (u64)(i + 1) * 0x9e3779b97f4a7c15ull;
        sum += digest((words[i] ^ old_key) + place);
        next += digest((words[i] ^ new_key) + place);
    }
    if (blockIdx.x == 0 && threadIdx.x < bytes % 8) {
        u64 place = (u64)(n + 1 + threadIdx.x) * 0xd1342543de82ef95ull, w = ((const u8 *)words)[n * 8 + threadIdx.x];
        sum += digest((w ^ old_key) + place);
        next += digest((w ^ new_key) + place);
    }
    auto add = [](u64 a, u64 b) { return a + b; };
    sum = block_reduce(sum, shared, add);
    next = block_reduce(next, shared, add);
    if (threadIdx.x) return;
    atomicAdd(&sums[2 * blockIdx.y], sum);
    atomicAdd(&sums[2 * blockIdx.y + 1], next);
}

// XORs 8-byte words with mask().
extern "C" __global__ void support_mask(u64 *words, i64 n, u64 key)
{
    i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) words[i] ^= mask(key, (u64)i);
}

// A copy of a problem's memory: how far it lies from the first one, a multiple of 1024; the lowest bit says which data
// it holds.
struct copies {
    i64 shift[COPIES];
};

// A writable buffer: `rows` pieces of `bytes` bytes, `pitch` apart (dense: one piece). With origins it gets what lies
// there at the same distances, else the repeated pattern, whose lowest byte belongs to multiples of 8.
struct restored {
    u64 address, rows, bytes, pitch, pattern, origin[2];
};
struct restored_list {
    restored buffer[RESTORED];
};

// Puts writable buffers into the state that the job promises, in every copy (blockIdx.y).
extern "C" __global__ void support_restore(const __grid_constant__ restored_list list, int count,
                                           const __grid_constant__ copies to)
{
    const i64 code = to.shift[blockIdx.y], shift = code & ~1023ll;
    u64 stride = (u64)gridDim.x * blockDim.x, first = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < count; k++) {
        const restored &b = list.buffer[k];
        u8 *at = (u8 *)(b.address + shift);
        const u8 *from = (const u8 *)b.origin[code & 1];
        if (b.rows == 1) {
            const uint4 filled = {(u32)b.pattern, (u32)(b.pattern >> 32), (u32)b.pattern, (u32)(b.pattern >> 32)};
            u64 n = b.bytes / 16;
            for (u64 i = first; i < n; i += stride) ((uint4 *)at)[i] = from ? ((const uint4 *)from)[i] : filled;
            for (u64 i = n * 16 + first; i < b.bytes; i += stride)
                at[i] = from ? from[i] : (u8)(b.pattern >> 8 * (i & 7));
        } else if ((b.address | b.bytes | b.pitch) % 4 == 0) {
            u64 width = b.bytes / 4;
            for (u64 i = first; i < b.rows * width; i += stride) {
                u64 row = i / width, offset = row * b.pitch + (i - row * width) * 4;
                *(u32 *)(at + offset) = from ? *(const u32 *)(from + offset) : (u32)(b.pattern >> 8 * (offset & 7));
            }
        } else {
            for (u64 i = first; i < b.rows * b.bytes; i += stride) {
                u64 row = i / b.bytes, offset = row * b.pitch + (i - row * b.bytes);
                at[offset] = from ? from[offset] : (u8)(b.pattern >> 8 * (offset & 7));
            }
        }
    }
}

// Overwrites the shared memory of one multiprocessor: launched with all of it, a block for each.
extern "C" __global__ void support_poison(u32 value, int words)
{
    extern __shared__ volatile u32 everything[];
    for (int i = threadIdx.x; i < words; i += blockDim.x) everything[i] = value + i * 0x9e3779b9u;
}

struct guarded {
    region list[REGIONS];
};

// Looks at every guard byte of a problem, in every copy of its memory: one row of blocks a region (blockIdx.y) and copy
// (blockIdx.z).
extern "C" __global__ void support_guards(const __grid_constant__ guarded regions, const __grid_constant__ copies in,
                                          u32 pattern, finding *findings)
{
    const region &r = regions.list[blockIdx.y];
    i64 shift = in.shift[blockIdx.z] & ~1023ll;
    u64 n = r.rows * r.bytes, stride = (u64)gridDim.x * blockDim.x;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        u64 row = r.rows == 1 ? 0 : i / r.bytes;
        u64 at = row * r.pitch + (i - row * r.bytes);
        const u8 *byte = (const u8 *)(r.address + shift + at);
        u8 meant = (u64)byte & 1 ? (u8)(pattern >> 8) : (u8)pattern;
        if (*byte != meant) {
            atomicAdd(&findings[r.buffer].guard_bad, 1ull);
            atomicMax(&findings[r.buffer].guard_first, ~(r.offset + at));
        }
    }
}

enum { PREVIOUS_NONE, PREVIOUS_STORE, PREVIOUS_COMPARE };
enum { TILE = 2048 };

// Compares an output with what is expected: fp64 values with a bound, or exact integers. With PREVIOUS_STORE the output
// is copied to `previous` on the way, with PREVIOUS_COMPARE it must have the same bits as what lies there.
//     allowed = per_scale*scale + per_value*|expected| + floor
// Where an infinity is expected, or no number, it must be that, and not the pattern that was there before.
// `expected` and `previous` are masked with the key. `expected` may be null: then only bits are compared. `scale` may
// be null: then errors are relative to |expected|.
template <typename T>
static __device__ void compare(const T *out, i64 rows, i64 cols, i64 ld, const void *expected, const float *scale,
                               double per_scale, double per_value, double floor, T *previous, int mode, u64 pattern,
                               u64 key, finding *to)
{
    __shared__ u64 shared[256];
    u64 bad = 0, unwritten = 0, worst = 0, differ = 0, first = 0;
    double squares = 0, largest = 0;
    i64 tiles_per_row = (cols + TILE - 1) / TILE, tiles = rows * tiles_per_row;
    for (i64 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        i64 row = tile / tiles_per_row, begin = (tile - row * tiles_per_row) * TILE;
        i64 end = begin + TILE < cols ? begin + TILE : cols;
#pragma unroll 4
        for (i64 col = begin + threadIdx.x; col < end; col += blockDim.x) {
            const T *at = out + row * ld + col;
            i64 i = row * cols + col;
            const u64 hidden = mask(key, (u64)i);
            if (mode == PREVIOUS_STORE) store_raw(previous + i, raw(at) ^ hidden);
            if (mode == PREVIOUS_COMPARE &&
                raw(at) != (raw(previous + i) ^ (hidden & (~0ull >> (64 - 8 * sizeof(T)))))) {
                differ++;
                first = max(first, ~(u64)i);
            }
            if (!expected) continue;
            bool good;
            float ratio;
            if (traits<T>::floats) {
                double x = value(*at), want = __longlong_as_double((i64)(((const u64 *)expected)[i] ^ hidden)),
                       size = fabs(want);
                double unit = scale ? (double)scale[i] : size;
                double error = x == want ? 0 : fabs(x - want);
                double allowed = per_scale * unit + per_value * size + floor;
                good = error <= allowed; // false for NaN
                if (!(size <= 1.7976931348623157e308)) {
                    good = (x == want || (x != x && want != want)) &&
                           raw(at) != (pattern & (~0ull >> (64 - 8 * sizeof(T))));
                    error = good ? 0 : __longlong_as_double(0x7ff0000000000000ll);
                }
                ratio = good ? (error == 0 ? 0.0f : (float)error / (float)allowed) : (float)(error / allowed);
                if (!(ratio <= 3e38f)) ratio = __uint_as_float(0x7f800000);
                double scaled = error == 0 ? 0 : (float)error / (float)unit;
                if (!(scaled <= 1e300)) scaled = __longlong_as_double(0x7ff0000000000000ll);
                squares += scaled * scaled;
                if (scaled > largest) largest = scaled;
            } else {
                good = integer(*at) == (i64)(((const u64 *)expected)[i] ^ hidden);
                ratio = good ? 0.0f : __uint_as_float(0x7f800000);
            }
            if (!good) {
                bad++;
                if (sizeof(T) > 1 && raw(at) == (pattern & (~0ull >> (64 - 8 * sizeof(T))))) unwritten++;
            }
            u64 key = (u64)(__float_as_uint(ratio) >> 4) << PLACE_BITS | (place_mask - (u64)i);
            if (ratio > 0 && key > worst) worst = key;
        }
    }
    auto add = [](u64 a, u64 b) { return a + b; };
    auto most = [](u64 a, u64 b) { return a > b ? a : b; };
    worst = block_reduce(worst, shared, most);
    bad = block_reduce(bad, shared, add);
    if (bad) unwritten = block_reduce(unwritten, shared, add);
    if (mode == PREVIOUS_COMPARE) {
        differ = block_reduce(differ, shared, add);
        if (differ) first = block_reduce(first, shared, most);
    }
    squares = block_reduce(squares, (double *)shared, [](double a, double b) { return a + b; });
    largest = block_reduce(largest, (double *)shared, [](double a, double b) { return a >= b ? a : b; });
    if (threadIdx.x) return;
    if (worst) atomicMax(&to->worst, worst);
    if (bad) atomicAdd(&to->bad, bad), atomicAdd(&to->unwritten, unwritten);
    if (differ) atomicAdd(&to->differ, differ), atomicMax(&to->first_differ, first);
    if (squares != 0) atomicAdd(&to->sum_squares, squares);
    // Bits of non-negative doubles are ordered like the numbers.
    if (largest != 0) atomicMax((u64 *)&to->max_scaled, (u64)__double_as_longlong(fabs(largest)));
}

// Looks the worst element up again, so that its values can be named. One thread.
template <typename T>
static __device__ void judge(const T *out, i64 cols, i64 ld, const void *expected, const float *scale, double per_scale,
                             double per_value, double floor, u64 key, finding *to)
{
    if (!to->worst) {
        to->place = -1;
        return;
    }
    i64 i = (i64)(place_mask - (to->worst & place_mask)), row = i / cols;
    T x = out[row * ld + (i - row * cols)];
    const u64 want = ((const u64 *)expected)[i] ^ mask(key, (u64)i);
    to->place = i;
    if (traits<T>::floats) {
        to->got = value(x);
        to->want = __longlong_as_double((i64)want);
        double size = fabs(to->want), unit = scale ? (double)scale[i] : size;
        to->allowed = per_scale * unit + per_value * size + floor;
    } else {
        to->got = (double)integer(x);
        to->want = (double)(i64)want;
        to->allowed = 0;
    }
}

// ---- references ----------------------------------------------------------------------------------------------------

// A dense copy in fp64 (absolute: of absolute values), or of integers in 64 bits.
template <typename T>
static __device__ void widen(const T *from, i64 rows, i64 cols, i64 ld, int absolute, int exact, void *to)
{
    i64 n = rows * cols, stride = (i64)gridDim.x * blockDim.x;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        T x = from[ld == cols ? i : i + i / cols * (ld - cols)];
        if (exact)
            ((i64 *)to)[i] = integer(x);
        else
            ((double *)to)[i] = absolute ? fabs(value(x)) : value(x);
    }
}

// Row-major m x n:  c = alpha * a * b + beta * c, dense but for the strides of a and b, which may be those of a
// transpose, as if computed with twice the bits and then rounded: algorithm 5.3, Dot2, of Ogita, Rump and Oishi,
// Accurate sum and dot product, SIAM J. Sci. Comput. 26, 2005. Its corrections are no numbers where an infinity comes
// up; then the plain sum stands. Blocks of 16 x 16 threads as 256.
extern "C" __global__ void __launch_bounds__(256)
    support_product(const double *a, i64 a_row, i64 a_col, const double *b, i64 b_row, i64 b_col, double *c, i64 m,
                    i64 n, i64 k, double alpha, double beta)
{
    __shared__ double as[16][17], bs[16][17];
    i64 tiles = (n + 15) / 16, i0 = blockIdx.x / tiles * 16, j0 = blockIdx.x % tiles * 16;
    int y = threadIdx.x / 16, x = threadIdx.x % 16;
    double sum = 0, rest = 0;
    for (i64 l = 0; l < k; l += 16) {
        as[y][x] = i0 + y < m && l + x < k ? a[(i0 + y) * a_row + (l + x) * a_col] : 0;
        bs[y][x] = l + y < k && j0 + x < n ? b[(l + y) * b_row + (j0 + x) * b_col] : 0;
        __syncthreads();
        int depth = k - l < 16 ? (int)(k - l) : 16;
        for (int e = 0; e < depth; e++) {
            double p = __dmul_rn(as[y][e], bs[e][x]), missing = __fma_rn(as[y][e], bs[e][x], -p);
            double s = __dadd_rn(sum, p), t = __dadd_rn(s, -sum);
            rest = __dadd_rn(rest, __dadd_rn(__dadd_rn(__dadd_rn(sum, -__dadd_rn(s, -t)), __dadd_rn(p, -t)), missing));
            sum = s;
        }
        __syncthreads();
    }
    if (i0 + y >= m || j0 + x >= n) return;
    double *to = c + (i0 + y) * n + j0 + x, total = sum + rest;
    if (!(fabs(total) <= 1.7976931348623157e308)) total = sum;
    *to = alpha * total + (beta != 0 ? beta * *to : 0);
}

extern "C" __global__ void support_narrow_up(const double *from, i64 n, float *to)
{
    i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) to[i] = __double2float_ru(from[i]);
}

extern "C" __global__ void support_to_integer(const double *from, i64 n, i64 *to)
{
    i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) to[i] = __double2ll_rn(from[i]);
}

// The largest absolute value, by the order of bits of non-negative doubles. NaN counts as largest.
extern "C" __global__ void support_max_abs(const double *from, i64 n, u64 *to)
{
    __shared__ u64 shared[256];
    u64 largest = 0;
    i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        largest = max(largest, (u64)__double_as_longlong(fabs(from[i])));
    largest = block_reduce(largest, shared, [](u64 a, u64 b) { return a > b ? a : b; });
    if (threadIdx.x == 0) atomicMax(to, largest);
}

struct sums {
    double sum, sum_abs, sum_squares, fractional;
    u64 exact;
};

// One partial result a block, joined by support_sums_join in a fixed order, so that a reference is reproducible.
template <typename T> static __device__ void sum_up(const T *from, i64 rows, i64 cols, i64 ld, sums *partial)
{
    __shared__ u64 shared[256];
    sums s = {};
    i64 n = rows * cols, stride = (i64)gridDim.x * blockDim.x;
#pragma unroll 4
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        T element = from[ld == cols ? i : i + i / cols * (ld - cols)];
        double x = value(element);
        s.sum += x;
        s.sum_abs += fabs(x);
        s.sum_squares += x * x;
        s.fractional += x != floor(x);
        s.exact += (u64)integer(element);
    }
    auto add = [](double a, double b) { return a + b; };
    s.sum = block_reduce(s.sum, (double *)shared, add);
    s.sum_abs = block_reduce(s.sum_abs, (double *)shared, add);
    s.sum_squares = block_reduce(s.sum_squares, (double *)shared, add);
    s.fractional = block_reduce(s.fractional, (double *)shared, add);
    s.exact = block_reduce(s.exact, shared, [](u64 a, u64 b) { return a + b; });
    if (threadIdx.x == 0) partial[blockIdx.x] = s;
}

// One thread: a thousand partial sums, once a job.
extern "C" __global__ void support_sums_join(const sums *partial, int n, sums *to)
{
    sums s = {};
    for (int i = 0; i < n; i++) {
        s.sum += partial[i].sum;
        s.sum_abs += partial[i].sum_abs;
        s.sum_squares += partial[i].sum_squares;
        s.fractional += partial[i].fractional;
        s.exact += partial[i].exact;
    }
    *to = s;
}

// ---- the L2 cache --------------------------------------------------------------------------------------------------

// Fills the L2 with lines of its own, as ones to be evicted last: what is only read does not displace all lines of an
// earlier kernel. On an H200, after reading twice the L2's size, a quarter of the lines of 16 MB were still there, and
// all of 4 MB that had been loaded with evict_last themselves. Reading, unlike writing, leaves lines that need not be
// written back during the timed kernel. `sink` is never written: no sum of zeros is 1.
extern "C" __global__ void support_flush(const uint4 *data, i64 n, u32 *sink)
{
    u32 sum = 0;
    i64 stride = (i64)gridDim.x * blockDim.x;
#if __CUDA_ARCH__ >= 800
    u64 last;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(last));
#endif
#pragma unroll 4
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        uint4 x;
#if __CUDA_ARCH__ >= 800
        asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                     : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                     : "l"(data + i), "l"(last));
#else
        x = data[i];
#endif
        sum |= x.x | x.y | x.z | x.w;
    }
    if (sum == 1) *sink = sum;
}

// Afterwards: makes these lines ordinary ones, which yield to those of the timed kernel.
extern "C" __global__ void support_yield(const uint4 *data, i64 n, u32 *sink)
{
    u32 sum = 0;
    for (i64 i = ((i64)blockIdx.x * blockDim.x + threadIdx.x) * 8; i < n; i += (i64)gridDim.x * blockDim.x * 8) {
#if __CUDA_ARCH__ >= 800
        asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(data + i) : "memory");
#else
        sum |= data[i].x;
#endif
    }
    if (sum == 1) *sink = sum;
}

// ---- ceilings ------------------------------------------------------------------------------------------------------

// Nothing but FP32 multiply-adds: 16 independent chains a thread, 64 * loops of them each. `sink` is never written: the
// values stay finite and are never exactly -1.
extern "C" __global__ void __launch_bounds__(256) support_ceiling_fma(float a, float b, int loops, float *sink)
{
    float x[16];
#pragma unroll
    for (int i = 0; i < 16; i++) x[i] = (float)(threadIdx.x + i);
    for (int loop = 0; loop < loops; loop++) {
#pragma unroll
        for (int step = 0; step < 64; step++)
#pragma unroll
            for (int i = 0; i < 16; i++) x[i] = x[i] * a + b;
    }
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 16; i++) sum += x[i];
    if (sum == -1.0f) *sink = sum;
}

// Reads n vectors, each once: a block takes 8 * 512 consecutive ones, so that every thread has 8 loads in flight.
extern "C" __global__ void __launch_bounds__(512) support_ceiling_read(const uint4 *data, i64 n, u32 *sink)
{
    uint4 x[8];
    u32 sum = 0;
    i64 first = (i64)blockIdx.x * (8 * 512) + threadIdx.x;
#pragma unroll
    for (int i = 0; i < 8; i++) x[i] = first + i * 512 < n ? __ldcs(&data[first + i * 512]) : uint4{0, 0, 0, 0};
#pragma unroll
    for (int i = 0; i < 8; i++) sum |= x[i].x | x[i].y | x[i].z | x[i].w;
    if (sum == 1) *sink = sum;
}

// The same in FP64.
extern "C" __global__ void __launch_bounds__(256) support_ceiling_fp64(double a, double b, int loops, double *sink)
{
    double x[16];
#pragma unroll
    for (int i = 0; i < 16; i++) x[i] = (double)(threadIdx.x + i);
    for (int loop = 0; loop < loops; loop++) {
#pragma unroll
        for (int step = 0; step < 64; step++)
#pragma unroll
            for (int i = 0; i < 16; i++) x[i] = x[i] * a + b;
    }
    double sum = 0;
#pragma unroll
    for (int i = 0; i < 16; i++) sum += x[i];
    if (sum == -1.0) *sink = sum;
}

// Copies n vectors, each read and written once, as support_ceiling_read reads them.
extern "C" __global__ void __launch_bounds__(512) support_ceiling_copy(const uint4 *data, i64 n, uint4 *to)
{
    uint4 x[8];
    i64 first = (i64)blockIdx.x * (8 * 512) + threadIdx.x;
#pragma unroll
    for (int i = 0; i < 8; i++) x[i] = first + i * 512 < n ? __ldcs(&data[first + i * 512]) : uint4{0, 0, 0, 0};
#pragma unroll
    for (int i = 0; i < 8; i++)
        if (first + i * 512 < n) __stcs(&to[first + i * 512], x[i]);
}

// Reads n vectors `loops` times, past the L1 (.cg): the L2's bandwidth where they fit there. Every block reads all of
// them, each from a start of its own, so that the blocks do not ask for the same lines at the same time.
extern "C" __global__ void __launch_bounds__(512) support_ceiling_l2(const uint4 *data, i64 n, int loops, u32 *sink)
{
    u32 sum = 0;
    i64 at = ((i64)blockIdx.x * 65537 * 512 + threadIdx.x) % n;
    for (int loop = 0; loop < loops; loop++) {
        uint4 x[8];
#pragma unroll
        for (int i = 0; i < 8; i++) {
            x[i] = __ldcg(&data[at]);
            at += 512;
            if (at >= n) at -= n;
        }
#pragma unroll
        for (int i = 0; i < 8; i++) sum |= x[i].x | x[i].y | x[i].z | x[i].w;
    }
    if (sum == 1) *sink = sum;
}

// Reads shared memory, 16 bytes a thread and access, without bank conflicts. The address depends on what was read, in a
// way that the compiler cannot see through: all of it is zero.
extern "C" __global__ void __launch_bounds__(512) support_ceiling_shared(int loops, u32 *sink)
{
    __shared__ uint4 data[2048];
    for (int i = threadIdx.x; i < 2048; i += blockDim.x) data[i] = uint4{0, 0, 0, 0};
    __syncthreads();
    u32 sum = 0;
    for (int loop = 0; loop < loops; loop++) {
        uint4 x[8];
        int first = (threadIdx.x + sum + loop * 32) % 2048;
#pragma unroll
        for (int i = 0; i < 8; i++) x[i] = data[(first + i * 256) % 2048];
#pragma unroll
        for (int i = 0; i < 8; i++) sum |= x[i].x | x[i].y | x[i].z | x[i].w;
    }
    if (sum == 1) *sink = sum;
}

// Nothing but mma.sync on registers: 8 independent accumulators a warp, 16 * loops instructions on each, of operands of
// either sign so that the sums stay small. `sink` is never written. mma.sync is what every architecture from sm_80 has
// (of FP8 from sm_89); wgmma, below, is sm_90a's own. On others the kernels are empty, and are not launched.
#if __CUDA_ARCH__ >= 800
template <typename M> static __device__ void tensor_ceiling(int loops, float *sink)
{
    typename M::in a[M::A], b[M::B];
    typename M::out c[8][M::C] = {};
    u32 seed = threadIdx.x * 2654435761u + blockIdx.x;
#pragma unroll
    for (int i = 0; i < M::A; i++) a[i] = M::operand(seed = seed * 1664525u + 1013904223u);
#pragma unroll
    for (int i = 0; i < M::B; i++) b[i] = M::operand(seed = seed * 1664525u + 1013904223u);
    for (int loop = 0; loop < loops; loop++) {
#pragma unroll
        for (int step = 0; step < 16; step++)
#pragma unroll
            for (int chain = 0; chain < 8; chain++) M::multiply(c[chain], a, b);
    }
    typename M::out sum = 0;
#pragma unroll
    for (int chain = 0; chain < 8; chain++)
#pragma unroll
        for (int i = 0; i < M::C; i++) sum += c[chain][i];
    if (sum == (typename M::out)1.2345e-33) *sink = (float)sum;
}

struct bf16_mma {
    enum { A = 4, B = 2, C = 4 };
    using in = u32;
    using out = float;
    static __device__ u32 operand(u32 bits)
    {
        return (bits & 0x807f807fu) | 0x3f003f00u;
    } // two of [0.5, 1), either sign
    static __device__ void multiply(float (&c)[4], const u32 (&a)[4], const u32 (&b)[2])
    {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
                     "%9}, {%0, %1, %2, %3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
};

struct tf32_mma {
    enum { A = 4, B = 2, C = 4 };
    using in = u32;
    using out = float;
    static __device__ u32 operand(u32 bits)
    {
        return (bits & 0x807fe000u) | 0x3f000000u;
    }
    static __device__ void multiply(float (&c)[4], const u32 (&a)[4], const u32 (&b)[2])
    {
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                     "{%0, %1, %2, %3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
};

struct s8_mma {
    enum { A = 4, B = 2, C = 4 };
    using in = u32;
    using out = int;
    static __device__ u32 operand(u32 bits)
    {
        return bits & 0x81818181u;
    } // four of -127, 1, -128 and 0
    static __device__ void multiply(int (&c)[4], const u32 (&a)[4], const u32 (&b)[2])
    {
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                     "{%0, %1, %2, %3};"
                     : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
};

#if __CUDA_ARCH__ >= 890
struct fp8_mma {
    enum { A = 4, B = 2, C = 4 };
    using in = u32;
    using out = float;
    static __device__ u32 operand(u32 bits)
    {
        return (bits & 0x87878787u) | 0x30303030u;
    } // four of [0.5, 1), either sign
    static __device__ void multiply(float (&c)[4], const u32 (&a)[4], const u32 (&b)[2])
    {
        asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
                     "%9}, {%0, %1, %2, %3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
};
#endif

#if __CUDA_ARCH__ >= 900 // m8n8k4 goes no faster there than the FP64 pipe: 33.2 TFLOP/s on H200
struct fp64_mma {
    enum { A = 8, B = 4, C = 4 };
    using in = double;
    using out = double;
    static __device__ double operand(u32 bits)
    {
        return (double)(int)bits * 0x1p-31;
    }
    static __device__ void multiply(double (&c)[4], const double (&a)[8], const double (&b)[4])
    {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, "
                     "%10, %11}, {%12, %13, %14, %15}, "
                     "{%0, %1, %2, %3};"
                     : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
                     : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
                       "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
    }
};
#else
struct fp64_mma {
    enum { A = 1, B = 1, C = 2 };
    using in = double;
    using out = double;
    static __device__ double operand(u32 bits)
    {
        return (double)(int)bits * 0x1p-31;
    }
    static __device__ void multiply(double (&c)[2], const double (&a)[1], const double (&b)[1])
    {
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                     : "+d"(c[0]), "+d"(c[1])
                     : "d"(a[0]), "d"(b[0]));
    }
};
#endif
#define TENSOR_CEILING(M) tensor_ceiling<M>(loops, sink)
#else
#define TENSOR_CEILING(M) (void)loops, (void)sink
#endif

extern "C" __global__ void __launch_bounds__(256) support_ceiling_tensor_bf16(int loops, float *sink)
{
    TENSOR_CEILING(bf16_mma);
}
extern "C" __global__ void __launch_bounds__(256) support_ceiling_tensor_tf32(int loops, float *sink)
{
    TENSOR_CEILING(tf32_mma);
}
extern "C" __global__ void __launch_bounds__(256) support_ceiling_tensor_fp64(int loops, float *sink)
{
    TENSOR_CEILING(fp64_mma);
}
extern "C" __global__ void __launch_bounds__(256) support_ceiling_tensor_int8(int loops, float *sink)
{
    TENSOR_CEILING(s8_mma);
}
extern "C" __global__ void __launch_bounds__(256) support_ceiling_tensor_fp8(int loops, float *sink)
{
#if __CUDA_ARCH__ >= 890
    TENSOR_CEILING(fp8_mma);
#else
    (void)loops, (void)sink;
#endif
}

// Nothing but wgmma: a warpgroup a block multiplies the same 64 rows of 32 bytes by the same 256 from shared memory, 16
// * loops times. The rows lie as 8 x 16 bytes, neither swizzled nor padded, where each comes to lie does not matter
// here.
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define WGMMA_LIST                                                                                                 \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, "   \
    "%23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, "    \
    "%44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, "    \
    "%65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, "    \
    "%86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, "   \
    "%106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, " \
    "%124, %125, %126, %127}, %128, %129, p"
#define WGMMA_4(kind, i) kind(c[i]), kind(c[(i) + 1]), kind(c[(i) + 2]), kind(c[(i) + 3])
#define WGMMA_16(kind, i) WGMMA_4(kind, i), WGMMA_4(kind, (i) + 4), WGMMA_4(kind, (i) + 8), WGMMA_4(kind, (i) + 12)
#define WGMMA_64(kind, i) \
    WGMMA_16(kind, i), WGMMA_16(kind, (i) + 16), WGMMA_16(kind, (i) + 32), WGMMA_16(kind, (i) + 48)
#define WGMMA(shape, kind, rest)                                                                                   \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\nwgmma.mma_async.sync.aligned." shape " " WGMMA_LIST rest \
                 ";\n}"                                                                                            \
                 : WGMMA_64(kind, 0), WGMMA_64(kind, 64)                                                           \
                 : "l"(a), "l"(b))

struct bf16_wgmma {
    using out = float;
    using operand = bf16_mma;
    static __device__ void multiply(float (&c)[128], u64 a, u64 b)
    {
        WGMMA("m64n256k16.f32.bf16.bf16", "+f", ", 1, 1, 0, 0");
    }
};
struct tf32_wgmma {
    using out = float;
    using operand = tf32_mma;
    static __device__ void multiply(float (&c)[128], u64 a, u64 b)
    {
        WGMMA("m64n256k8.f32.tf32.tf32", "+f", ", 1, 1");
    }
};
struct s8_wgmma {
    using out = int;
    using operand = s8_mma;
    static __device__ void multiply(int (&c)[128], u64 a, u64 b)
    {
        WGMMA("m64n256k32.s32.s8.s8", "+r", "");
    }
};
struct fp8_wgmma {
    using out = float;
    using operand = fp8_mma;
    static __device__ void multiply(float (&c)[128], u64 a, u64 b)
    {
        WGMMA("m64n256k32.f32.e4m3.e4m3", "+f", ", 1, 1");
    }
};

// A matrix of `rows` rows of 32 bytes: blocks of 8 rows 128 bytes apart, the second 16 bytes of all rows behind them.
static __device__ u64 wgmma_matrix(const void *at, int rows)
{
    u64 address = (u64)__cvta_generic_to_shared(at);
    return (address >> 4 & 0x3fff) | (u64)rows << 16 | (u64)(128 >> 4) << 32;
}

template <typename M> static __device__ void wgmma_ceiling(int loops, float *sink)
{
    __shared__ __align__(128) u32 rows[(64 + 256) * 8];
    typename M::out c[128] = {};
    u32 seed = threadIdx.x * 2654435761u + blockIdx.x;
    for (int i = threadIdx.x; i < (64 + 256) * 8; i += blockDim.x)
        rows[i] = (u32)M::operand::operand(seed = seed * 1664525u + 1013904223u);
    __syncthreads();
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    u64 a = wgmma_matrix(rows, 64), b = wgmma_matrix(rows + 64 * 8, 256);
    for (int loop = 0; loop < loops; loop++) {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int step = 0; step < 4; step++) M::multiply(c, a, b);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    typename M::out sum = 0;
#pragma unroll
    for (int i = 0; i < 128; i++) sum += c[i];
    if (sum == (typename M::out)1.2345e-33) *sink = (float)sum;
}
#define WGMMA_CEILING(M) wgmma_ceiling<M>(loops, sink)
#else
#define WGMMA_CEILING(M) (void)loops, (void)sink
#endif

extern "C" __global__ void __launch_bounds__(128) support_ceiling_wgmma_bf16(int loops, float *sink)
{
    WGMMA_CEILING(bf16_wgmma);
}
extern "C" __global__ void __launch_bounds__(128) support_ceiling_wgmma_tf32(int loops, float *sink)
{
    WGMMA_CEILING(tf32_wgmma);
}
extern "C" __global__ void __launch_bounds__(128) support_ceiling_wgmma_int8(int loops, float *sink)
{
    WGMMA_CEILING(s8_wgmma);
}
extern "C" __global__ void __launch_bounds__(128) support_ceiling_wgmma_fp8(int loops, float *sink)
{
    WGMMA_CEILING(fp8_wgmma);
}

#define TYPED(name, T)                                                                                              \
    extern "C" __global__ void support_fill_##name(T *to, i64 rows, i64 cols, i64 ld, int kind, double low,         \
                                                   double high, u64 seed)                                           \
    {                                                                                                               \
        fill<T>(to, rows, cols, ld, kind, low, high, seed);                                                         \
    }                                                                                                               \
    extern "C" __global__ void __launch_bounds__(256) support_compare_##name(                                       \
        const T *out, i64 rows, i64 cols, i64 ld, const void *expected, const float *scale, double per_scale,       \
        double per_value, double floor, T *previous, int mode, u64 pattern, u64 key, finding *to)                   \
    {                                                                                                               \
        compare<T>(out, rows, cols, ld, expected, scale, per_scale, per_value, floor, previous, mode, pattern, key, \
                   to);                                                                                             \
    }                                                                                                               \
    extern "C" __global__ void support_judge_##name(const T *out, i64 cols, i64 ld, const void *expected,           \
                                                    const float *scale, double per_scale, double per_value,         \
                                                    double floor, u64 key, finding *to)                             \
    {                                                                                                               \
        judge<T>(out, cols, ld, expected, scale, per_scale, per_value, floor, key, to);                             \
    }                                                                                                               \
    extern "C" __global__ void support_widen_##name(const T *from, i64 rows, i64 cols, i64 ld, int absolute,        \
                                                    int exact, void *to)                                            \
    {                                                                                                               \
        widen<T>(from, rows, cols, ld, absolute, exact, to);                                                        \
    }                                                                                                               \
    extern "C" __global__ void support_sums_##name(const T *from, i64 rows, i64 cols, i64 ld, sums *partial)        \
    {                                                                                                               \
        sum_up<T>(from, rows, cols, ld, partial);                                                                   \
    }

TYPED(f32, float)
TYPED(f64, double)
TYPED(f16, f16)
TYPED(bf16, bf16)
TYPED(i8, signed char)
TYPED(i32, int)
TYPED(u32, u32)
TYPED(i64, i64)
