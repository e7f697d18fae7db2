// The reader of .npy files (kernels/npy.c), on files written here byte by byte.
#include <unistd.h>

#include "kernels/npy.h"
#include "tests/testing.h"

static struct error err; // from the last call that failed

static char path[] = "/tmp/sweetspot-npy-XXXXXX";

static void set_up(void)
{
    int fd = mkstemp(path);
    assert_true(fd >= 0 && !close(fd));
}

static void tear_down(void)
{
    assert_int_equal(unlink(path), 0);
}

// Writes a file as numpy does: magic, version, length, header padded to 64 bytes, data.
static void write_npy(int version, const char *descr, const char *order, const char *shape, const void *data,
                      size_t bytes)
{
    char header[256];
    int n = snprintf(header, sizeof header, "{'descr': %s, 'fortran_order': %s, 'shape': %s, }", descr, order, shape);
    size_t before = version == 1 ? 10 : 12, length = (before + (size_t)n + 1 + 63) / 64 * 64 - before;
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fwrite("\x93NUMPY", 1, 6, f);
    fputc(version, f);
    fputc(0, f);
    for (size_t i = 0; i < (version == 1 ? 2 : 4); i++) fputc((int)(length >> (8 * i) & 255), f);
    fwrite(header, 1, (size_t)n, f);
    for (size_t i = (size_t)n; i + 1 < length; i++) fputc(' ', f);
    fputc('\n', f);
    fwrite(data, 1, bytes, f);
    fclose(f);
}

// Writes a file and reads it back. The caller releases the result.
static struct npy written(int version, const char *descr, const char *order, const char *shape, const void *data,
                          size_t bytes)
{
    struct npy npy;
    write_npy(version, descr, order, shape, data, bytes);
    if (npy_read(&npy, path, &err)) fail_msg("%s", err.message);
    return npy;
}

// Checks that the file cannot be read, with a message that contains `says` and the file's name.
static void refused(const char *file, const char *says)
{
    struct npy npy;
    assert_int_not_equal(npy_read(&npy, file, &err), 0);
    assert_contains(err.message, says, file);
    npy_release(&npy);
}

TEST(every_type_is_read)
{
    static const double f8[] = {1.5, -2};
    static const float f4[] = {1.5, -2};
    static const uint16_t f2[] = {0x3e00, 0xc000};
    static const int8_t i1[] = {7, -2};
    static const int32_t i4[] = {7, -2};
    static const uint32_t u4[] = {7, 4294967294u};
    static const int64_t i8[] = {7, -9007199254740993};
    static const struct {
        const char *descr;
        const void *data;
        size_t bytes;
        double first, second;
    } table[] = {
        {"'<f8'", f8, sizeof f8, 1.5, -2},
        {"'<f4'", f4, sizeof f4, 1.5, -2},
        {"'<f2'", f2, sizeof f2, 1.5, -2},
        {"'|i1'", i1, sizeof i1, 7, -2},
        {"'<i4'", i4, sizeof i4, 7, -2},
        {"'<u4'", u4, sizeof u4, 7, 4294967294.0},
        {"'<i8'", i8, sizeof i8, 7, -9007199254740992.0},
    };
    for (int version = 1; version <= 3; version++)
        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
            struct npy npy = written(version, table[i].descr, "False", "(2,)", table[i].data, table[i].bytes);
            assert_int_equal(npy.count, 2);
            assert_true(npy_number(&npy, 0) == table[i].first);
            assert_true(npy_number(&npy, 1) == table[i].second);
            npy_release(&npy);
        }
}

TEST(large_integers_lose_no_bits)
{
    const int64_t data[] = {9007199254740993};
    int64_t stored = 0;
    struct npy npy = written(1, "'<i8'", "False", "(1,)", data, sizeof data);
    assert_true(npy_integer(&npy, 0) == data[0]);
    npy_element(&npy, 0, ELEMENT_I64, &stored);
    assert_true(stored == data[0]);
    npy_release(&npy);
}

TEST(fortran_order_is_turned_around)
{
    // A 2x3 matrix {{0,1,2},{3,4,5}} in column-major order.
    const float data[] = {0, 3, 1, 4, 2, 5};
    struct npy npy = written(1, "'<f4'", "True", "(2, 3)", data, sizeof data);
    for (size_t i = 0; i < 6; i++) assert_true(npy_number(&npy, i) == (double)i);
    npy_release(&npy);
}

TEST(a_scalar_has_one_element)
{
    const double data[] = {42};
    struct npy npy = written(2, "'<f8'", "False", "()", data, sizeof data);
    assert_int_equal(npy.count, 1);
    assert_true(npy_number(&npy, 0) == 42);
    npy_release(&npy);
}

TEST(what_cannot_be_read_is_refused_with_the_file_s_name)
{
    const double data[] = {1, 2};
    static const struct {
        const char *descr, *shape, *says;
    } table[] = {
        {"'<f8'", "(3,)", "truncated"},      {"'>f8'", "(2,)", "big-endian"},
        {"'<c16'", "(1,)", "not supported"}, {"[('a', '<f8')]", "(2,)", "not supported"},
        {"'", "(2,)", "not supported"},      {"'<", "(2,)", "not supported"},
        {"'<f'", "(2,)", "not supported"},   {"'<f4294967300'", "(2,)", "not supported"},
        {"'<f8'", "(-1,)", "strange shape"}, {"'<f8'", "(99999999999999999999, 0)", "strange shape"},
        {"'<f8'", "(x,)", "strange shape"},  {"'<f8'", "(4294967296, 4294967296, 2)", "strange shape"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        write_npy(1, table[i].descr, "False", table[i].shape, data, sizeof data);
        refused(path, table[i].says);
    }
    refused("/nonexistent.npy", "cannot read '/nonexistent.npy'");
    FILE *f = fopen(path, "wb");
    fputs("PK\x03\x04 an .npz is not an .npy", f);
    fclose(f);
    refused(path, "is not a .npy file");
}

// Headers that end in the middle of an expected string, at the end of the file.
TEST(a_header_is_not_read_beyond_its_end)
{
    static const char whole[] = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }";
    for (size_t length = 0; length < sizeof whole - 1; length++) {
        FILE *f = fopen(path, "wb");
        fwrite("\x93NUMPY\x01\x00", 1, 8, f);
        fputc((int)length, f);
        fputc(0, f);
        fwrite(whole, 1, length, f);
        fclose(f);
        refused(path, "");
    }
}

TEST(numbers_that_the_elements_cannot_hold_are_refused)
{
    static const struct {
        double value;
        enum element type;
        bool fits;
    } table[] = {
        {127, ELEMENT_I8, true},
        {128, ELEMENT_I8, false},
        {-129, ELEMENT_I8, false},
        {0.5, ELEMENT_I32, false},
        {-1, ELEMENT_U32, false},
        {4294967295.0, ELEMENT_U32, true},
        {2147483648.0, ELEMENT_I32, false},
        {0x1p62, ELEMENT_I64, true},
        {0x1p63, ELEMENT_I64, false},
        {-0x1p63, ELEMENT_I64, true},
        {1e300, ELEMENT_I64, false},
        {NAN, ELEMENT_I64, false},
        {1e300, ELEMENT_F32, true},
        {NAN, ELEMENT_F64, true},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct npy npy = written(1, "'<f8'", "False", "(1,)", &table[i].value, sizeof table[i].value);
        if (!npy_check(&npy, path, table[i].type, &err) != table[i].fits) fail_msg("case %zu", i);
        if (!table[i].fits) assert_non_null(strstr(err.message, "element 0 is "));
        npy_release(&npy);
    }
    struct npy npy;
    const uint64_t large = UINT64_MAX, fits = INT64_MAX;
    npy = written(1, "'<u8'", "False", "(1,)", &large, sizeof large);
    assert_int_not_equal(npy_check(&npy, path, ELEMENT_I64, &err), 0);
    npy_release(&npy);
    npy = written(1, "'<u8'", "False", "(1,)", &fits, sizeof fits);
    assert_int_equal(npy_check(&npy, path, ELEMENT_I64, &err), 0);
    assert_true(npy_integer(&npy, 0) == INT64_MAX);
    npy_release(&npy);
}

TEST(bytes_are_the_bits_of_fp8)
{
    static const unsigned char bits[] = {0x38, 0xfe};
    static const float numbers[] = {1, -448};
    for (int i = 0; i < 3; i++) {
        struct npy npy;
        unsigned char stored;
        npy = written(1,
                      i == 0   ? "'|u1'"
                      : i == 1 ? "'|V1'"
                               : "'<f4'",
                      "False", "(2,)", i < 2 ? (const void *)bits : numbers, i < 2 ? sizeof bits : sizeof numbers);
        assert_int_equal(npy_check(&npy, path, ELEMENT_E4M3, &err), 0);
        npy_element(&npy, 1, ELEMENT_E4M3, &stored);
        assert_int_equal(stored, 0xfe);
        assert_true(npy_value(&npy, 0, ELEMENT_E4M3) == 1 && npy_value(&npy, 1, ELEMENT_E4M3) == -448);
        if (i == 1) {
            assert_int_equal(npy_check(&npy, path, ELEMENT_F32, &err), -1);
            assert_contains(err.message, "bytes without a type, which can only be read as FP8, not as f32");
        }
        npy_release(&npy);
    }
}

TEST_MAIN(set_up, tear_down)
