// Configurations as points (search/model/encoding.c): how order, ratio, alignment and equality are encoded.
#include "tests/space_fixture.h"

#include <math.h>

#include "search/model/encoding.h"

static struct encoding encode(const struct fixture *f)
{
    struct encoding e;
    encoding_init(&e, f->space);
    return e;
}

static void expect_coordinates(const struct encoding *e, size_t parameter, size_t i, const double *expected,
                               size_t count)
{
    uint16_t config[SPACE_MAX_PARAMETERS] = {0};
    for (size_t v = 0; v < count; v++) {
        float point[16];
        config[parameter] = (uint16_t)v;
        encoding_of(e, config, point);
        double found = (double)point[e->first[parameter] + i];
        if (fabs(found - expected[v]) > 1e-6) fail_msg("value %zu is at %g, expected %g", v, found, expected[v]);
    }
}

TEST(sizes_lie_half_by_rank_and_half_by_ratio)
{
    struct fixture f = open_space();
    ADD(&f, "POWERS", 16, 32, 64, 128, 256);
    ADD(&f, "UNEVEN", 1, 2, 16);
    ADD(&f, "FROM_ZERO", 0, 1, 3);
    ADD(&f, "BACKWARDS", 8, 4, 2);
    ADD(&f, "NEGATIVE", -1, 0, 2);
    build(&f);
    struct encoding e = encode(&f);
    expect_coordinates(&e, 0, 0, (double[]){0, 0.25, 0.5, 0.75, 1}, 5);
    expect_coordinates(&e, 1, 0, (double[]){0, 0.5 * 0.5 + 0.5 * 0.25, 1}, 3);
    expect_coordinates(&e, 2, 0, (double[]){0, 0.5 * 0.5 + 0.5 * 0.5, 1}, 3); // shifted by one: 1, 2, 4
    expect_coordinates(&e, 3, 0, (double[]){1, 0.5, 0}, 3);
    expect_coordinates(&e, 4, 0, (double[]){0, 0.5 * 0.5 + 0.5 * 0.5, 1}, 3); // shifted by two: 1, 2, 4
    encoding_release(&e);
}

TEST(alignment_is_a_coordinate_where_a_large_value_is_not_a_power_of_two)
{
    struct fixture f = open_space();
    ADD(&f, "TILE", 24, 32, 40, 64, 128, 33);
    ADD(&f, "SMALL", 1, 3, 5, 16);
    ADD(&f, "EDGE", 16, 17);
    build(&f);
    struct encoding e = encode(&f);
    assert_int_equal(e.first[1] - e.first[0], 2);
    assert_int_equal(e.first[2] - e.first[1], 1); // up to 16 every value is near a power of two
    assert_int_equal(e.first[3] - e.first[2], 2);
    expect_coordinates(&e, 0, 1, (double[]){1.5 / 6, 5.5 / 6, 1.5 / 6, 1, 1, 0}, 6);
    expect_coordinates(&e, 2, 1, (double[]){5 / 6.0, 0}, 2);
    encoding_release(&e);
}

TEST(unroll_factors_are_ordered_by_rank)
{
    struct fixture f = open_space();
    struct error err;
    assert_int_equal(space_add_parameter(f.space, "UNROLL", PARAMETER_UNROLL, (int64_t[]){0, 1, 2, 64}, 4, &err), 0);
    build(&f);
    struct encoding e = encode(&f);
    assert_int_equal(e.ordinal, 1); // 64 here is not a size: no alignment
    double expected[4];
    for (int i = 0; i < 4; i++) expected[i] = 0.5 * i / 3 + 0.5 * log(i + 1) / log(4);
    expect_coordinates(&e, 0, 0, expected, 4);
    encoding_release(&e);
}

TEST(words_are_nominal_and_two_values_need_one_coordinate)
{
    struct fixture f = open_space();
    struct error err;
    int64_t words[3] = {symbols_intern(f.symbols, "a"), symbols_intern(f.symbols, "b"), symbols_intern(f.symbols, "c")};
    assert_int_equal(space_add_parameter(f.space, "THREE", PARAMETER_STRING, words, 3, &err), 0);
    assert_int_equal(space_add_parameter(f.space, "TWO", PARAMETER_STRING, words, 2, &err), 0);
    assert_int_equal(space_add_parameter(f.space, "ONE", PARAMETER_STRING, words, 1, &err), 0);
    ADD(&f, "SIZES", 1, 2, 4);
    ADD(&f, "FLAG", 0, 1);
    ADD(&f, "FIXED", 7);
    build(&f);
    struct encoding e = encode(&f);
    static const size_t widths[] = {0, 1, 0, 1, 1, 0};
    static const bool nominal[] = {true, false, false, true, false, false};
    size_t at = 3; // after the ordinal coordinates
    assert_int_equal(e.ordinal, 3);
    assert_int_equal(e.count, 5);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(e.first[i + 1] - e.first[i], widths[i]);
        if (nominal[i])
            assert_int_equal(e.nominal[i], at++);
        else
            assert_true(e.nominal[i] == SIZE_MAX);
    }
    float point[5];
    encoding_of(&e, (uint16_t[]){2, 1, 0, 1, 0, 0}, point);
    assert_true(point[0] == 1.0f && point[1] == 0.5f && point[2] == 0.0f); // TWO=b, SIZES=2, FLAG=0
    assert_true(point[3] == 2.0f && point[4] == 1.0f);
    encoding_release(&e);
}

TEST(distances_add_squares_and_count_what_differs)
{
    struct fixture f = open_space();
    struct error err;
    int64_t words[3] = {symbols_intern(f.symbols, "a"), symbols_intern(f.symbols, "b"), symbols_intern(f.symbols, "c")};
    ADD(&f, "SIZES", 1, 2, 4, 8, 16);
    assert_int_equal(space_add_parameter(f.space, "WORD", PARAMETER_STRING, words, 3, &err), 0);
    build(&f);
    struct encoding e = encode(&f);
    static const struct {
        uint16_t a[2], b[2];
        double expected; // with nominal = 0.3: 0.3 for a different size, 0.3 for a different word
    } cases[] = {
        {{0, 0}, {0, 0}, 0},   {{0, 0}, {4, 0}, 1 + 0.3}, {{1, 0}, {3, 0}, 0.25 + 0.3},
        {{1, 0}, {1, 2}, 0.3}, {{1, 1}, {1, 2}, 0.3},     {{0, 1}, {2, 2}, 0.25 + 0.6},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float a[3], b[3];
        encoding_of(&e, cases[i].a, a);
        encoding_of(&e, cases[i].b, b);
        double there = 0;
        for (size_t k = 0; k < e.count; k++)
            there += k < e.ordinal ? (double)((a[k] - b[k]) * (a[k] - b[k])) : a[k] != b[k] ? 0.3 : 0;
        if (fabs(there - cases[i].expected) > 1e-6) fail_msg("case %zu: %g", i, there);
    }
    encoding_release(&e);
}

TEST_MAIN(NULL, NULL)
