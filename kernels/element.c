// See element.h. f16, bf16, e4m3 and e5m2 are converted by hand, because C17 has none of these types, and gcc's
// _Float16 is missing on older targets.
#include "kernels/element.h"

#include <float.h>
#include <math.h>
#include <string.h>

const char *const element_text[] = {"f32", "f64", "f16", "bf16", "e4m3", "e5m2", "i8", "u8",
                                    "i16", "u16", "i32", "u32",  "i64",  "u64",  NULL};

static const struct {
    size_t size;
    double roundoff;
    int64_t least, greatest; // for integers
    double largest;          // for floats
} elements[ELEMENT_COUNT] = {
    [ELEMENT_F32] = {4, 0x1p-24, .largest = (double)FLT_MAX},
    [ELEMENT_F64] = {8, 0x1p-53, .largest = DBL_MAX},
    [ELEMENT_F16] = {2, 0x1p-11, .largest = 65504},
    [ELEMENT_BF16] = {2, 0x1p-8, .largest = 0x1.fep127},
    [ELEMENT_E4M3] = {1, 0x1p-4, .largest = 448},
    [ELEMENT_E5M2] = {1, 0x1p-3, .largest = 57344},
    [ELEMENT_I8] = {1, 0, INT8_MIN, INT8_MAX, 0},
    [ELEMENT_U8] = {1, 0, 0, UINT8_MAX, 0},
    [ELEMENT_I16] = {2, 0, INT16_MIN, INT16_MAX, 0},
    [ELEMENT_U16] = {2, 0, 0, UINT16_MAX, 0},
    [ELEMENT_I32] = {4, 0, INT32_MIN, INT32_MAX, 0},
    [ELEMENT_U32] = {4, 0, 0, UINT32_MAX, 0},
    [ELEMENT_I64] = {8, 0, INT64_MIN, INT64_MAX, 0},
    [ELEMENT_U64] = {8, 0, 0, INT64_MAX, 0},
};

const char *element_name(enum element type)
{
    return (unsigned)type < ELEMENT_COUNT ? element_text[type] : "?";
}

int element_find(const char *name)
{
    for (int i = 0; name && i < ELEMENT_COUNT; i++)
        if (!strcmp(name, element_text[i])) return i;
    return -1;
}

size_t element_size(enum element type)
{
    return elements[type].size;
}

bool element_is_float(enum element type)
{
    return elements[type].roundoff > 0;
}

int64_t element_least(enum element type)
{
    return elements[type].least;
}

int64_t element_greatest(enum element type)
{
    return elements[type].greatest;
}

double element_roundoff(enum element type)
{
    return elements[type].roundoff;
}

double element_largest(enum element type)
{
    return elements[type].largest;
}

bool element_saturates(enum element type)
{
    return type == ELEMENT_E4M3 || type == ELEMENT_E5M2;
}

// Rounds a double to a binary float of `digits` significant bits whose smallest normal exponent is `lowest` (value in
// [2^lowest, 2^(lowest+1))), ties to even. Overflow is left to the caller.
static double round_to(double value, int digits, int lowest)
{
    if (value == 0 || !isfinite(value)) return value;
    int exponent = ilogb(value);
    if (exponent < lowest) exponent = lowest;
    double unit = ldexp(1.0, exponent - (digits - 1));
    return nearbyint(value / unit) * unit;
}

static uint16_t to_half(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    if (isnan(value)) return (uint16_t)(sign | 0x7e00);
    double size = fabs(round_to(value, 11, -14));
    if (size > 65504) return (uint16_t)(sign | 0x7c00);
    if (size < 0x1p-14) return (uint16_t)(sign | (uint16_t)(size * 0x1p24));
    int exponent = ilogb(size);
    return (uint16_t)(sign | (exponent + 15) << 10 | ((int)(ldexp(size, 10 - exponent)) & 0x3ff));
}

static double from_half(uint16_t bits)
{
    int exponent = bits >> 10 & 31, mantissa = bits & 0x3ff;
    double size;
    if (exponent == 31)
        size = mantissa ? NAN : INFINITY;
    else
        size = exponent ? ldexp(mantissa + 1024, exponent - 25) : ldexp(mantissa, -24);
    return bits & 0x8000 ? -size : size;
}

static uint16_t to_bfloat(double value)
{
    // Rounding to 8 digits first makes the float exact, so that dropping its low half does not round again.
    float exact = (float)round_to(value, 8, -126);
    uint32_t bits;
    memcpy(&bits, &exact, sizeof bits);
    return isnan(value) ? 0x7fc0 : (uint16_t)(bits >> 16);
}

// FP8 as in cuda_fp8.h with __NV_SATFINITE: infinities and numbers out of range become the largest number, NaN is 0x7f
// or 0x7e. (Micikevicius et al., FP8 Formats for Deep Learning, 2022.) `digits`: digits of the mantissa, without the
// hidden one.
static uint8_t to_fp8(double value, int digits, int bias, double largest)
{
    uint8_t sign = signbit(value) ? 0x80 : 0;
    if (isnan(value)) return digits == 2 ? 0x7e : 0x7f;
    double size = fmin(fabs(round_to(value, digits + 1, 1 - bias)), largest);
    int exponent = size > 0 && ilogb(size) > 1 - bias ? ilogb(size) : 1 - bias;
    // The hidden digit of a normal number adds one to the exponent.
    return (uint8_t)(sign | (((exponent + bias - 1) << digits) + (int)ldexp(size, digits - exponent)));
}

static double from_fp8(uint8_t bits, int digits, int bias, double largest)
{
    int code = bits & 0x7f, exponent = code >> digits, mantissa = code & ((1 << digits) - 1);
    double size =
        exponent ? ldexp(mantissa + (1 << digits), exponent - bias - digits) : ldexp(mantissa, 1 - bias - digits);
    if (size > largest) size = digits == 2 && mantissa == 0 ? INFINITY : NAN;
    return bits & 0x80 ? -size : size;
}

// Truncates a value to an integer, or to the nearest one in range (outside it, C's conversion is undefined); 0 for NaN.
static int64_t whole(double value, int64_t low, int64_t high)
{
    if (isnan(value)) return 0;
    return value <= (double)low ? low : value >= (double)high ? high : (int64_t)value;
}

static uint64_t whole_unsigned(double value)
{
    if (value >= 18446744073709551616.0) return UINT64_MAX; // 2^64
    return value > 0 ? (uint64_t)value : 0;
}

void element_store(enum element type, double value, void *to)
{
    switch (type) {
    case ELEMENT_F32:
        memcpy(to, &(float){(float)value}, 4);
        break;
    case ELEMENT_F64:
        memcpy(to, &value, 8);
        break;
    case ELEMENT_F16:
        memcpy(to, &(uint16_t){to_half(value)}, 2);
        break;
    case ELEMENT_BF16:
        memcpy(to, &(uint16_t){to_bfloat(value)}, 2);
        break;
    case ELEMENT_E4M3:
        memcpy(to, &(uint8_t){to_fp8(value, 3, 7, elements[type].largest)}, 1);
        break;
    case ELEMENT_E5M2:
        memcpy(to, &(uint8_t){to_fp8(value, 2, 15, elements[type].largest)}, 1);
        break;
    case ELEMENT_I8:
        memcpy(to, &(int8_t){(int8_t)whole(value, INT8_MIN, INT8_MAX)}, 1);
        break;
    case ELEMENT_U8:
        memcpy(to, &(uint8_t){(uint8_t)whole(value, 0, UINT8_MAX)}, 1);
        break;
    case ELEMENT_I16:
        memcpy(to, &(int16_t){(int16_t)whole(value, INT16_MIN, INT16_MAX)}, 2);
        break;
    case ELEMENT_U16:
        memcpy(to, &(uint16_t){(uint16_t)whole(value, 0, UINT16_MAX)}, 2);
        break;
    case ELEMENT_I32:
        memcpy(to, &(int32_t){(int32_t)whole(value, INT32_MIN, INT32_MAX)}, 4);
        break;
    case ELEMENT_U32:
        memcpy(to, &(uint32_t){(uint32_t)whole(value, 0, UINT32_MAX)}, 4);
        break;
    case ELEMENT_I64:
        memcpy(to, &(int64_t){whole(value, INT64_MIN, INT64_MAX)}, 8);
        break;
    case ELEMENT_U64:
        memcpy(to, &(uint64_t){whole_unsigned(value)}, 8);
        break;
    case ELEMENT_COUNT:
        break;
    }
}

int64_t element_load_integer(enum element type, const void *from)
{
    int8_t byte;
    uint8_t octet;
    int16_t half;
    uint16_t pair;
    int32_t word;
    uint32_t natural;
    int64_t wide;
    switch (type) {
    case ELEMENT_I8:
        memcpy(&byte, from, 1);
        return byte;
    case ELEMENT_U8:
        memcpy(&octet, from, 1);
        return octet;
    case ELEMENT_I16:
        memcpy(&half, from, 2);
        return half;
    case ELEMENT_U16:
        memcpy(&pair, from, 2);
        return pair;
    case ELEMENT_I32:
        memcpy(&word, from, 4);
        return word;
    case ELEMENT_U32:
        memcpy(&natural, from, 4);
        return natural;
    case ELEMENT_I64:
    case ELEMENT_U64:
        memcpy(&wide, from, 8);
        return wide;
    default:
        return whole(element_load(type, from), INT64_MIN, INT64_MAX);
    }
}

double element_load(enum element type, const void *from)
{
    float single;
    double full;
    uint16_t half;
    uint8_t byte;
    uint32_t bits;
    switch (type) {
    case ELEMENT_F32:
        memcpy(&single, from, 4);
        return (double)single;
    case ELEMENT_F64:
        memcpy(&full, from, 8);
        return full;
    case ELEMENT_F16:
        memcpy(&half, from, 2);
        return from_half(half);
    case ELEMENT_BF16:
        memcpy(&half, from, 2);
        bits = (uint32_t)half << 16;
        memcpy(&single, &bits, 4);
        return (double)single;
    case ELEMENT_E4M3:
        memcpy(&byte, from, 1);
        return from_fp8(byte, 3, 7, elements[type].largest);
    case ELEMENT_E5M2:
        memcpy(&byte, from, 1);
        return from_fp8(byte, 2, 15, elements[type].largest);
    case ELEMENT_U64:
        return (double)(uint64_t)element_load_integer(type, from);
    default:
        return (double)element_load_integer(type, from);
    }
}
