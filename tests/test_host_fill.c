// Fills that the host computes (kernels/host_fill.c): the properties that each promises, for two seeds, and
// combinations that are refused.
#include "kernels/host_fill.h"
#include "tests/testing.h"

static struct operand operand_of(enum element type, int64_t rows, int64_t cols, int64_t ld)
{
    struct operand o = {.type = type, .rows = rows, .cols = cols, .ld = ld};
    o.host = calloc((size_t)(rows * ld), element_size(type));
    assert_non_null(o.host);
    return o;
}

static double at(const struct operand *o, int64_t i)
{
    return element_load(o->type, (const char *)o->host + (size_t)i * element_size(o->type));
}

// Fills a new operand twice, which must give the same contents.
static struct operand filled(struct host_fill f, enum element type, int64_t rows, int64_t cols, uint64_t seed)
{
    struct operand a = operand_of(type, rows, cols, cols), b = operand_of(type, rows, cols, cols);
    struct error err = {""};
    assert_true(fill_is_on_host(f.kind));
    if (host_fill_check(&f, &a, &err)) fail_msg("%s", err.message);
    assert_int_equal(host_fill_compute(&f, &a, seed, &err), 0);
    assert_int_equal(host_fill_compute(&f, &b, seed, &err), 0);
    assert_memory_equal(a.host, b.host, (size_t)(rows * cols) * element_size(type));
    free(b.host);
    return a;
}

static void hold_differ(const struct operand *a, const struct operand *b)
{
    assert_true(memcmp(a->host, b->host, (size_t)(a->rows * a->cols) * element_size(a->type)) != 0);
}

TEST(sorted_numbers_ascend_within_their_range_and_spread_over_it)
{
    static const struct {
        enum element type;
        int64_t n;
        double low, high;
    } cases[] = {{ELEMENT_F32, 10000, -1, 1}, {ELEMENT_F64, 1, 5, 6},      {ELEMENT_I32, 10000, 0, 9},
                 {ELEMENT_I32, 5000, 7, 7},   {ELEMENT_U8, 3000, 10, 250}, {ELEMENT_I64, 1000, -1e12, 1e12}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct host_fill f = {FILL_SORTED, cases[k].low, cases[k].high};
        struct operand a = filled(f, cases[k].type, 1, cases[k].n, 1), b = filled(f, cases[k].type, 1, cases[k].n, 2);
        double sum = 0, range = cases[k].high - cases[k].low;
        for (int64_t i = 0; i < cases[k].n; i++) {
            assert_true(at(&a, i) >= cases[k].low && at(&a, i) <= cases[k].high);
            if (i) assert_true(at(&a, i) >= at(&a, i - 1));
            if (!element_is_float(cases[k].type)) assert_true(at(&a, i) == floor(at(&a, i)));
            sum += (at(&a, i) - cases[k].low) / (double)cases[k].n;
        }
        if (cases[k].n > 100) assert_true(fabs(sum - range / 2) <= 0.05 * range);
        if (range > 0) hold_differ(&a, &b);
        free(a.host);
        free(b.host);
    }
}

TEST(a_permutation_has_every_number_once_and_moves_most)
{
    static const enum element types[] = {ELEMENT_I32, ELEMENT_U16, ELEMENT_I64, ELEMENT_F32};
    for (size_t k = 0; k < 4; k++) {
        enum { N = 5000 };
        struct host_fill f = {FILL_PERMUTATION, 0, 0};
        struct operand a = filled(f, types[k], 50, 100, 1), b = filled(f, types[k], 50, 100, 2);
        char seen[N] = {0};
        int fixed = 0;
        for (int64_t i = 0; i < N; i++) {
            int64_t x = (int64_t)at(&a, i);
            assert_true(x >= 0 && x < N && !seen[x]);
            seen[x] = 1;
            fixed += x == i;
        }
        assert_true(fixed < 20);
        hold_differ(&a, &b);
        free(a.host);
        free(b.host);
    }
}

TEST(offsets_ascend_from_0_to_the_total_with_some_rows_empty)
{
    for (int64_t n = 2; n <= 4097; n += n < 8 ? 1 : 1000) {
        for (int total = 0; total <= 100000; total = total > 0 ? total * 100 : 10) {
            struct host_fill f = {FILL_OFFSETS, 0, (double)total};
            struct operand a = filled(f, ELEMENT_I32, 1, n, 1), b = filled(f, ELEMENT_I32, 1, n, 2);
            int empty = 0;
            assert_true(at(&a, 0) == 0 && at(&a, n - 1) == total);
            for (int64_t i = 1; i < n; i++) {
                assert_true(at(&a, i) >= at(&a, i - 1));
                empty += at(&a, i) <= at(&a, i - 1);
            }
            if (n > 1000 && total > 50000) assert_true(empty > n / 16 && empty < n / 4);
            if (n > 100 && total > 500) hold_differ(&a, &b);
            free(a.host);
            free(b.host);
        }
    }
}

TEST(what_does_not_fit_is_refused_with_the_reason)
{
    const struct {
        struct host_fill f;
        enum element type;
        int64_t rows, cols;
        const char *said;
    } cases[] = {
        {{FILL_PERMUTATION, 0, 0}, ELEMENT_I8, 1, 129, "up to 128, but i8 holds them only up to 127"},
        {{FILL_PERMUTATION, 0, 0}, ELEMENT_F16, 1, 2050, "up to 2049, but f16 holds them only up to 2048"},
        {{FILL_OFFSETS, 0, 9}, ELEMENT_F32, 1, 5, "needs an integer type"},
        {{FILL_OFFSETS, 0, 9}, ELEMENT_I32, 1, 1, "needs at least 2 elements"},
        {{FILL_OFFSETS, 0, 1e10}, ELEMENT_I32, 1, 5, "cannot end in 10000000000: i32 holds 0 to 2147483647"},
        {{FILL_OFFSETS, 0, -1}, ELEMENT_I32, 1, 5, "cannot end in -1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct operand to = {
            .type = cases[i].type, .rows = cases[i].rows, .cols = cases[i].cols, .ld = cases[i].cols};
        struct error err = {""};
        assert_int_equal(host_fill_check(&cases[i].f, &to, &err), -1);
        if (!strstr(err.message, cases[i].said)) fail_msg("case %zu: %s", i, err.message);
    }
}

TEST_MAIN(NULL, NULL)
