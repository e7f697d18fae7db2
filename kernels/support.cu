// The GPU worker's own kernels, which fill buffers, check a candidate's results, help compute references, and flush the
// L2. sweetspot-compile compiles them like any candidate. tuner/gpu/support.c loads them, and tuner/gpu/support.h has
// the C side of struct finding. They use no headers, because headers dominate NVRTC's time. All comparisons happen
// here: only findings are copied to the host, never a result.
//
// A kernel that works on elements exists once for each type whose macro is defined. With SUPPORT_F32, there are
// support_fill_f32, support_compare_f32 and so on. NVRTC takes as long for the kernels of one type as for all
// type-independent ones together, so the driver compiles only those for the types of the job's buffers
// (tuner/setup/job_setup.c).

#ifndef SUPPORT_MEMORY
#include "support_memory.cuh"
#endif

enum { PLACE_BITS = 37 };
static const u64 place_mask = (1ull << PLACE_BITS) - 1;

// Hides expected results from a candidate that searches memory for them: word i is XORed with this, and only the host
// keeps the key. This would not protect a secret for long, but it prevents a candidate from copying the answers.
static __device__ u64 mask(u64 key, u64 i)
{
    u64 x = (key ^ i) * 0x9e3779b97f4a7c15ull;
    return x ^ (x >> 29) ^ (key << 17);
}

// ---- checking ------------------------------------------------------------------------------------------------------

// Reduces over a block in shared memory; the result is valid in thread 0.
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

enum { CHECKED = 128 };

// Pieces of memory at 8-byte aligned addresses. Passed by value, like all lists here, because a candidate can change
// device memory.
struct checked {
    u64 address[CHECKED], bytes[CHECKED];
};

// A cheap hash of a word that combines data, key and place. It has only one multiplication, since it is computed for
// every word of the inputs.
static __device__ u64 digest(u64 x)
{
    x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9ull;
    return x ^ (x >> 29);
}

// Order-independent checksums with two keys. For piece i = blockIdx.y, sums[2 * i] and sums[2 * i + 1], which start at
// zero, get the sum of the hashes of (word, place, key). The first is compared with the earlier sum, and uses a key
// that no kernel has seen; the second is for the next check.
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

// Which elements are compared, by their number i in row-major order; tuner/gpu/support.h has the same struct.
struct part {
    i64 rank, leading, size[5], first[5], end[5];
};

static __device__ bool is_compared(const part &p, i64 i)
{
    if (i >= p.leading) return false;
    for (i64 d = p.rank - 1; d >= 0; d--) {
        i64 rest = i / p.size[d], at = i - rest * p.size[d];
        if (at < p.first[d] || at >= p.end[d]) return false;
        i = rest;
    }
    return true;
}

extern "C" __global__ void support_drop(u64 *words, i64 n, const __grid_constant__ part kept)
{
    i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        if (!is_compared(kept, i)) words[i] = 0;
}

enum { PREVIOUS_NONE, PREVIOUS_STORE, PREVIOUS_COMPARE, COMPARE_BITS = 4 }; // BITS: ORed in; -0 and 0 then differ
enum { TILE = 2048 };

// Compares an output with the expected values: fp64 values with a bound, or exact integers. With PREVIOUS_STORE the
// output is also copied to `previous`; with PREVIOUS_COMPARE it must have the same bits as `previous`.
//     allowed = per_scale*scale + per_value*|expected| + floor
// If an infinity or NaN is expected, the element must be one too, and not the NaN from before the launch.
// `expected` and `previous` are masked with the key. If `expected` is null, only bits are compared. If `scale` is null,
// errors are relative to |expected|. Elements outside `kept` are not checked.
template <typename T>
static __device__ void compare(const T *out, i64 rows, i64 cols, i64 ld, const void *expected, const float *scale,
                               double per_scale, double per_value, double floor, T *previous, int mode,
                               const content &before, u64 key, const part &kept, finding *to)
{
    __shared__ u64 shared[256];
    const bool signs = (mode & COMPARE_BITS) != 0;
    mode &= COMPARE_BITS - 1;
    const bool partly = kept.rank || kept.leading < rows * cols;
    const content_maker made = content_begin(before, before.key, (int)before.kind);
    // For integers of one byte, and for zeros, it is impossible to tell whether an element was written.
    const bool recognised = (sizeof(T) > 1 || traits<T>::floats) && before.kind != CONTENT_LEFT &&
                            before.kind != CONTENT_CLOSE && before.kind != CONTENT_ZEROS &&
                            before.kind != CONTENT_PROMISED;
    // The bits that element `at` had before the launch.
    auto held = [&](const T *at) {
        const u64 offset = (u64)(at - out) * sizeof(T);
        return content_word(made, offset / 8) >> 8 * (offset & 7) & (~0ull >> (64 - 8 * sizeof(T)));
    };
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
            if (partly && !is_compared(kept, i)) continue;
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
                if (signs && x == 0 && want == 0) good = __double_as_longlong(x) == __double_as_longlong(want);
                if (!(size <= 1.7976931348623157e308)) {
                    good =
                        (x == want || (x != x && want != want)) && !(before.kind == CONTENT_NAN && raw(at) == held(at));
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
                if (recognised && raw(at) == held(at)) unwritten++;
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
    // The bits of non-negative doubles are ordered like the numbers.
    if (largest != 0) atomicMax((u64 *)&to->max_scaled, (u64)__double_as_longlong(fabs(largest)));
}

// Fills an output with disturbed expected values. Each element differs by 4 to 512 times the allowed error from its own
// expected value or a neighbour's, depending on the key.
template <typename T>
static __device__ void disturb(T *out, i64 rows, i64 cols, i64 ld, const void *expected, const float *scale,
                               double per_scale, double per_value, double floor, u64 hidden_key, u64 key)
{
    const i64 n = rows * cols, stride = (i64)gridDim.x * blockDim.x;
    const i64 turned = key & 1 ? 0 : key & 2 ? 1 : 32;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        const i64 j = (i ^ turned) < n ? i ^ turned : i;
        const u64 random = mix(key + (u64)i * 0x9e3779b97f4a7c15ull);
        const u64 word = ((const u64 *)expected)[j] ^ mask(hidden_key, (u64)j);
        T *at = out + i / cols * ld + i % cols;
        if (!traits<T>::floats) {
            store_raw(at, word ^ (1 + random % 3));
            continue;
        }
        double want = __longlong_as_double((i64)word);
        if (!(fabs(want) <= 1.7976931348623157e308)) want = 1;
        const double allowed = per_scale * (scale ? (double)scale[j] : fabs(want)) + per_value * fabs(want) + floor;
        const double off = allowed * (double)(4 << (random >> 8 & 7));
        const T x = element<T>(random & 1 ? want + off : want - off);
        u64 bits = raw(&x);
        // If rounding has turned the number into an allowed one, its bits are changed.
        for (u64 bit = 1; bit >> (8 * sizeof(T) - 1) == 0; bit <<= 1) {
            T seen;
            store_raw(&seen, bits);
            if (fabs(value(seen) - want) > allowed) break;
            bits = raw(&x) ^ bit;
        }
        store_raw(at, bits);
    }
}

// Reads the worst element again, so that its values can be reported. One thread.
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
        to->got = value(x);
        to->want = traits<T>::natural ? (double)want : (double)(i64)want;
        to->allowed = 0;
    }
}

// ---- references ----------------------------------------------------------------------------------------------------

// A dense copy in fp64 (`absolute` is 1 for absolute values, 2 for squares), or for integers in 64 bits.
template <typename T>
static __device__ void widen(const T *from, i64 rows, i64 cols, i64 ld, int absolute, int exact, void *to)
{
    i64 n = rows * cols, stride = (i64)gridDim.x * blockDim.x;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        T x = from[ld == cols ? i : i + i / cols * (ld - cols)];
        if (exact)
            ((i64 *)to)[i] = integer(x);
        else
            ((double *)to)[i] = absolute == 2 ? value(x) * value(x) : absolute ? fabs(value(x)) : value(x);
    }
}

// Row-major m x n: c = alpha * a * b + beta * c, as if computed in twice the working precision and then rounded
// (algorithm 5.3, Dot2, of Ogita, Rump and Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26, 2005). c is
// dense; a and b have strides, which may be those of a transpose. The algorithm's corrections are NaN where an infinity
// occurs; then the plain sum is used. A block's 256 threads are arranged as a 16 x 16 square.
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

extern "C" __global__ void support_narrow_up(double factor, const double *from, const double *squares, i64 n, float *to)
{
    i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        to[i] = __double2float_ru(squares ? factor * from[i] + sqrt(squares[i]) : factor * from[i]);
}

extern "C" __global__ void support_to_integer(const double *from, i64 n, i64 *to)
{
    i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) to[i] = __double2ll_rn(from[i]);
}

// Adds the sum of the finite squares of n numbers to to[0], and their count to to[1]. Unless `sizes` is null, writes to
// it, for each element, the root mean square of the element's row. Each block processes one row at a time.
extern "C" __global__ void __launch_bounds__(256)
    support_row_sizes(const double *from, i64 n, i64 rows, i64 cols, float *sizes, double *to)
{
    __shared__ double shared[256];
    __shared__ float size;
    auto add = [](double a, double b) { return a + b; };
    double all = 0, all_count = 0;
    for (i64 row = blockIdx.x; row < rows; row += gridDim.x) {
        double squares = 0, count = 0;
        i64 end = row * cols + cols < n ? row * cols + cols : n;
        for (i64 i = row * cols + threadIdx.x; i < end; i += blockDim.x) {
            double square = from[i] * from[i];
            if (!(square <= 1.7976931348623157e308)) continue;
            squares += square;
            count++;
        }
        squares = block_reduce(squares, shared, add);
        count = block_reduce(count, shared, add);
        all += squares, all_count += count; // valid in thread 0
        if (!sizes) continue;
        if (threadIdx.x == 0) size = count > 0 ? __double2float_ru(sqrt(squares / count)) : 0.0f;
        __syncthreads();
        for (i64 i = row * cols + threadIdx.x; i < end; i += blockDim.x) sizes[i] = size;
    }
    if (threadIdx.x == 0) atomicAdd(&to[0], all), atomicAdd(&to[1], all_count);
}

struct sums {
    double sum, sum_abs, sum_squares, fractional;
    u64 exact;
};

// Computes one partial result per block. support_sums_join joins them in a fixed order, so that a reference is
// reproducible.
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

// Runs as one thread: it only adds a thousand partial sums, once per job.
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

// Fills the L2 with its own lines, marked to be evicted last, because ordinary reads do not displace all lines of an
// earlier kernel. On an H200, after a flush that read twice the L2's size, the L2 still held a quarter of an earlier
// kernel's 16 MiB, and four fifths of 4 MiB that it had loaded with evict_last. Reading, unlike writing, leaves lines
// that need not be written back during the timed kernel. `sink` is never written: no sum of zeros is 1.
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

// Afterwards, this turns the lines into ordinary ones, which the timed kernel's lines can displace.
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

#define TYPED(name, T)                                                                                             \
    extern "C" __global__ void support_fill_##name(T *to, i64 rows, i64 cols, i64 ld, int kind, double low,        \
                                                   double high, u64 seed)                                          \
    {                                                                                                              \
        fill<T>(to, rows, cols, ld, kind, low, high, seed);                                                        \
    }                                                                                                              \
    extern "C" __global__ void __launch_bounds__(256) support_compare_##name(                                      \
        const T *out, i64 rows, i64 cols, i64 ld, const void *expected, const float *scale, double per_scale,      \
        double per_value, double floor, T *previous, int mode, const __grid_constant__ content before, u64 key,    \
        const __grid_constant__ part kept, finding *to)                                                            \
    {                                                                                                              \
        compare<T>(out, rows, cols, ld, expected, scale, per_scale, per_value, floor, previous, mode, before, key, \
                   kept, to);                                                                                      \
    }                                                                                                              \
    extern "C" __global__ void support_judge_##name(const T *out, i64 cols, i64 ld, const void *expected,          \
                                                    const float *scale, double per_scale, double per_value,        \
                                                    double floor, u64 key, finding *to)                            \
    {                                                                                                              \
        judge<T>(out, cols, ld, expected, scale, per_scale, per_value, floor, key, to);                            \
    }                                                                                                              \
    extern "C" __global__ void support_disturb_##name(T *out, i64 rows, i64 cols, i64 ld, const void *expected,    \
                                                      const float *scale, double per_scale, double per_value,      \
                                                      double floor, u64 hidden_key, u64 key)                       \
    {                                                                                                              \
        disturb<T>(out, rows, cols, ld, expected, scale, per_scale, per_value, floor, hidden_key, key);            \
    }                                                                                                              \
    extern "C" __global__ void support_widen_##name(const T *from, i64 rows, i64 cols, i64 ld, int absolute,       \
                                                    int exact, void *to)                                           \
    {                                                                                                              \
        widen<T>(from, rows, cols, ld, absolute, exact, to);                                                       \
    }                                                                                                              \
    extern "C" __global__ void support_sums_##name(const T *from, i64 rows, i64 cols, i64 ld, sums *partial)       \
    {                                                                                                              \
        sum_up<T>(from, rows, cols, ld, partial);                                                                  \
    }

#ifdef SUPPORT_F32
TYPED(f32, float)
#endif
#ifdef SUPPORT_F64
TYPED(f64, double)
#endif
#ifdef SUPPORT_F16
TYPED(f16, f16)
#endif
#ifdef SUPPORT_BF16
TYPED(bf16, bf16)
#endif
#ifdef SUPPORT_E4M3
TYPED(e4m3, e4m3)
#endif
#ifdef SUPPORT_E5M2
TYPED(e5m2, e5m2)
#endif
#ifdef SUPPORT_I8
TYPED(i8, signed char)
#endif
#ifdef SUPPORT_U8
TYPED(u8, u8)
#endif
#ifdef SUPPORT_I16
TYPED(i16, short)
#endif
#ifdef SUPPORT_U16
TYPED(u16, u16)
#endif
#ifdef SUPPORT_I32
TYPED(i32, int)
#endif
#ifdef SUPPORT_U32
TYPED(u32, u32)
#endif
#ifdef SUPPORT_I64
TYPED(i64, i64)
#endif
#ifdef SUPPORT_U64
TYPED(u64, u64)
#endif
