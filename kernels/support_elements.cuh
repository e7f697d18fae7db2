// Elements of buffers in the GPU worker's own kernels: their types, values and bits, and how buffers are filled with
// them. Source text given to NVRTC has no folder to include files from, so tuner/base/embedded.c puts this file before
// support.cu.
#define SUPPORT_ELEMENTS

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
struct e4m3 {
    u8 bits;
};
struct e5m2 {
    u8 bits;
};

struct signed_integer {
    static const bool floats = false, natural = false; // natural: 64 bits without a sign
};
struct natural_number {
    static const bool floats = false, natural = true;
};
struct floating_point {
    static const bool floats = true, natural = false;
};
template <typename T> struct traits : signed_integer {};
template <> struct traits<u64> : natural_number {};
template <> struct traits<float> : floating_point {};
template <> struct traits<double> : floating_point {};
template <> struct traits<f16> : floating_point {};
template <> struct traits<bf16> : floating_point {};
template <> struct traits<e4m3> : floating_point {};
template <> struct traits<e5m2> : floating_point {};

// FP8 is converted by hand, since devices before sm_89 have no instructions for it. kernels/element.c does the same.
static __device__ double from_fp8(u8 bits, int digits, int bias, double largest)
{
    int code = bits & 0x7f, exponent = code >> digits, mantissa = code & ((1 << digits) - 1);
    int power = (exponent ? exponent : 1) - bias - digits;
    double size =
        (double)(exponent ? mantissa + (1 << digits) : mantissa) * __longlong_as_double((i64)(1023 + power) << 52);
    if (size > largest)
        size = __longlong_as_double(digits == 2 && mantissa == 0 ? 0x7ff0000000000000ll : 0x7ff8000000000000ll);
    return bits & 0x80 ? -size : size;
}
static __device__ u8 to_fp8(double x, int digits, int bias, double largest)
{
    u64 bits = (u64)__double_as_longlong(x);
    if (x != x) return digits == 2 ? 0x7e : 0x7f;
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    if (exponent < 1 - bias) exponent = 1 - bias;
    if (fabs(x) >= largest) exponent = digits == 2 ? 15 : 8;
    double size = fmin(fabs(x), largest), unit = __longlong_as_double((i64)(1023 + digits - exponent) << 52);
    return (u8)((bits >> 63 << 7) | (u64)(((exponent + bias - 1) << digits) + (int)rint(size * unit)));
}

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

template <> __device__ double value(e4m3 x)
{
    return from_fp8(x.bits, 3, 7, 448);
}
template <> __device__ double value(e5m2 x)
{
    return from_fp8(x.bits, 2, 15, 57344);
}

template <typename T> static __device__ i64 integer(T x)
{
    if constexpr (__is_class(T))
        return 0;
    else
        return (i64)x;
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

template <> __device__ e4m3 element(double x)
{
    e4m3 r;
    r.bits = to_fp8(x, 3, 7, 448);
    return r;
}
template <> __device__ e5m2 element(double x)
{
    e5m2 r;
    r.bits = to_fp8(x, 2, 15, 57344);
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

// splitmix64's finaliser (Steele, Lea, Flood, Fast splittable pseudorandom number generators, OOPSLA 2014).
static __device__ u64 mix(u64 x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

// ---- filling -------------------------------------------------------------------------------------------------------

enum {
    FILL_UNIFORM,
    FILL_NORMAL,
    FILL_INTEGER,
    FILL_ZERO,
    FILL_CONSTANT,
    FILL_INDEX,
    FILL_NONFINITE,
    FILL_ZEROS
}; // tuner/base/buffer_kind.h

// Element i depends only on the seed and i, not on the leading dimension, so two layouts of a matrix hold the same
// numbers.
template <typename T>
static __device__ void fill(T *to, i64 rows, i64 cols, i64 ld, int kind, double low, double high, u64 seed)
{
    i64 n = rows * cols, stride = (i64)gridDim.x * blockDim.x;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        u64 random = mix(seed + (u64)i * 0x9e3779b97f4a7c15ull);
        double x = low;
        switch (kind) {
        // Uses as many random bits as the type holds, so that nothing is rounded up to `high`, and f64 has no trailing
        // zeros.
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
        case FILL_ZEROS: // half of the elements are 0 or -0, drawn at random; the others are uniform in [low, high)
            x = low + (high - low) * ((double)(random >> 40) * 0x1p-24);
            if (random & 1) x = random & 2 ? -0.0 : 0.0;
            break;
        // Three elements in 2048 are infinite or NaN, the others are uniform in [low, high).
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
