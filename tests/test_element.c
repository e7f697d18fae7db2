// Element types (kernels/element.c): every f16, bf16 and FP8 number survives a round trip. A number between two such
// numbers is rounded to the nearer of the two, or to the even one if both are equally near.
#include "kernels/element.h"
#include "tests/testing.h"

static uint16_t store16(enum element type, double value)
{
    uint16_t bits;
    element_store(type, value, &bits);
    return bits;
}

static double load16(enum element type, uint16_t bits)
{
    return element_load(type, &bits);
}

// Tests rounding between all neighbours of the same sign, from 0 up to the largest finite number.
static void hold_rounding(enum element type, uint16_t infinity)
{
    for (uint16_t bits = 0; bits < infinity; bits++) {
        double low = load16(type, bits), high = load16(type, (uint16_t)(bits + 1));
        if (bits + 1 == infinity) { // use the value that the next number would have
            assert_true(isinf(high));
            high = low + (low - load16(type, (uint16_t)(bits - 1)));
        }
        double middle = (low + high) / 2;
        uint16_t even = bits & 1 ? (uint16_t)(bits + 1) : bits;
        assert_true(low < high);
        for (int sign = 0; sign < 2; sign++) {
            double s = sign ? -1 : 1;
            uint16_t mark = sign ? 0x8000 : 0;
            if (store16(type, s * low) != (mark | bits) || store16(type, s * nextafter(middle, 0)) != (mark | bits) ||
                store16(type, s * nextafter(middle, INFINITY)) != (mark | (bits + 1)) ||
                store16(type, s * middle) != (mark | even))
                fail_msg("%s: around %04x, %.17g", element_name(type), bits, low);
        }
    }
    assert_int_equal(store16(type, INFINITY), infinity);
    assert_int_equal(store16(type, -INFINITY), infinity | 0x8000);
    assert_true(isnan(load16(type, store16(type, NAN))));
    assert_true(isnan(load16(type, (uint16_t)(infinity + 1))));
}

TEST(halves_are_rounded_to_the_nearest_even)
{
    hold_rounding(ELEMENT_F16, 0x7c00);
    assert_true(load16(ELEMENT_F16, 0x3c00) == 1 && load16(ELEMENT_F16, 0x7bff) == 65504 &&
                load16(ELEMENT_F16, 1) == 0x1p-24);
}

TEST(bfloats_are_rounded_to_the_nearest_even)
{
    hold_rounding(ELEMENT_BF16, 0x7f80);
    assert_true(load16(ELEMENT_BF16, 0x3f80) == 1 && load16(ELEMENT_BF16, 1) == 0x1p-133);
}

// Compares with cuda_fp8.h of CUDA 13.0: __nv_cvt_fp8_to_halfraw for all codes, and a hash of the results of
// __nv_cvt_double_to_fp8 with __NV_SATFINITE for every 4096th float and its two neighbours.
TEST(fp8_is_converted_as_cuda_does)
{
    static const struct {
        enum element type;
        int digits, bias, infinity; // infinity: the code of infinity, or for e4m3 of NaN
        uint64_t hash;
        double largest, smallest;
    } types[] = {{ELEMENT_E4M3, 3, 7, 0x7f, 0x24b223ff52e2a703u, 448, 0x1p-9},
                 {ELEMENT_E5M2, 2, 15, 0x7c, 0x94075b8612c9b603u, 57344, 0x1p-16}};
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        enum element type = types[k].type;
        uint64_t hash = 1469598103934665603u;
        uint8_t byte, code;
        double before = -1;
        for (int i = 0; i < 256; i++) {
            code = (uint8_t)i;
            double x = element_load(type, &code), size = fabs(x);
            if ((code & 0x7f) > types[k].infinity || (type == ELEMENT_E4M3 && (code & 0x7f) == 0x7f)) {
                assert_true(isnan(x));
                continue;
            }
            if (code == 0x80) before = -1;
            assert_true(size > before && !signbit(x) == (code < 0x80));
            before = size;
            if (isinf(x)) continue;
            element_store(type, x, &byte);
            assert_int_equal(byte, code);
        }
        byte = 1;
        assert_true(element_load(type, &byte) == types[k].smallest);
        assert_true(element_largest(type) == types[k].largest && element_saturates(type));
        static const double above[] = {1, 1.01, 1e3, INFINITY};
        for (size_t i = 0; i < 4; i++) {
            element_store(type, -types[k].largest * above[i], &byte);
            assert_true(element_load(type, &byte) == -types[k].largest);
        }
        for (uint64_t i = 0; i < 1u << 20; i++)
            for (uint32_t d = 0; d < 3; d++) {
                uint32_t bits = (uint32_t)(i << 12) + d - 1;
                float x;
                memcpy(&x, &bits, sizeof x);
                element_store(type, isnan(x) ? NAN : (double)x, &byte);
                hash = (hash ^ byte) * 1099511628211u;
            }
        assert_true(hash == types[k].hash);
    }
}

TEST(each_type_has_its_size_its_roundoff_and_its_name)
{
    static const struct {
        enum element type;
        const char *name;
        size_t size;
        double roundoff;
        double value; // which it holds exactly
    } types[] = {
        {ELEMENT_F32, "f32", 4, 0x1p-24, 1.5},
        {ELEMENT_F64, "f64", 8, 0x1p-53, 0.1},
        {ELEMENT_F16, "f16", 2, 0x1p-11, -0.75},
        {ELEMENT_BF16, "bf16", 2, 0x1p-8, 3},
        {ELEMENT_E4M3, "e4m3", 1, 0x1p-4, -0.875},
        {ELEMENT_E5M2, "e5m2", 1, 0x1p-3, 0x1p-16},
        {ELEMENT_I8, "i8", 1, 0, -128},
        {ELEMENT_I32, "i32", 4, 0, -2147483648.0},
        {ELEMENT_U32, "u32", 4, 0, 4294967295.0},
        {ELEMENT_I64, "i64", 8, 0, -9007199254740992.0},
        {ELEMENT_U8, "u8", 1, 0, 255},
        {ELEMENT_I16, "i16", 2, 0, -32768},
        {ELEMENT_U16, "u16", 2, 0, 65535},
        {ELEMENT_U64, "u64", 8, 0, 9007199254740992.0},
    };
    assert_int_equal(sizeof types / sizeof *types, ELEMENT_COUNT);
    for (size_t i = 0; i < ELEMENT_COUNT; i++) {
        enum element type = types[i].type;
        unsigned char bytes[16];
        assert_int_equal(element_find(types[i].name), type);
        assert_string_equal(element_name(type), types[i].name);
        assert_int_equal(element_size(type), types[i].size);
        assert_true(element_roundoff(type) == types[i].roundoff);
        assert_true(element_is_float(type) == (types[i].roundoff > 0));
        memset(bytes, 0xa5, sizeof bytes);
        element_store(type, types[i].value, bytes);
        assert_true(element_load(type, bytes) == types[i].value);
        for (size_t k = types[i].size; k < sizeof bytes; k++) assert_int_equal(bytes[k], 0xa5);
        if (types[i].roundoff == 0) {
            assert_int_equal(element_load_integer(type, bytes), (int64_t)types[i].value);
            continue;
        }
        // The roundoff is half the distance from 1 to the next number.
        element_store(type, 1 + 2 * types[i].roundoff, bytes);
        assert_true(element_load(type, bytes) == 1 + 2 * types[i].roundoff);
        element_store(type, 1 + types[i].roundoff, bytes);
        assert_true(element_load(type, bytes) == 1);
    }
    uint64_t large = 0xfffffffffffff800u; // the double just below 2^64
    assert_true(element_load(ELEMENT_U64, &large) == 0x1.fffffffffffffp63);
    assert_int_equal(element_load_integer(ELEMENT_U64, &large), -2048); // its bits
    assert_int_equal(element_find("f8"), -1);
    assert_int_equal(element_find(NULL), -1);
}

TEST(integers_out_of_range_become_the_nearest)
{
    static const struct {
        enum element type;
        double value;
        int64_t stored;
    } cases[] = {
        {ELEMENT_I8, 128, 127},
        {ELEMENT_I8, -1e300, -128},
        {ELEMENT_U8, 256, 255},
        {ELEMENT_U8, NAN, 0},
        {ELEMENT_I16, -1e9, INT16_MIN},
        {ELEMENT_U16, -0.5, 0},
        {ELEMENT_U64, -3, 0},
        {ELEMENT_U64, INFINITY, -1}, // its bits
        {ELEMENT_I32, 0x1p31, INT32_MAX},
        {ELEMENT_U32, -4, 0},
        {ELEMENT_U32, INFINITY, UINT32_MAX},
        {ELEMENT_I64, 0x1p63, INT64_MAX},
        {ELEMENT_I64, -1e19, INT64_MIN},
        {ELEMENT_I32, NAN, 0},
        {ELEMENT_I32, -1.9, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bytes = 0;
        element_store(cases[i].type, cases[i].value, &bytes);
        assert_true(element_load_integer(cases[i].type, &bytes) == cases[i].stored);
    }
    assert_true(element_load_integer(ELEMENT_F64, &(double){1e300}) == INT64_MAX);
    assert_true(element_load_integer(ELEMENT_F32, &(float){NAN}) == 0);
}

TEST_MAIN(NULL, NULL)
