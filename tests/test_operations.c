// The operations (kernels/*.c) without a GPU: references on the CPU against the simplest loops, and bounds that accept what
// honest kernels compute and reject what is off by one term.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/operation.h"

static double noise(uint64_t *state) // uniform in [-1, 1)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

static double positive(uint64_t *state)
{
    return fabs(noise(state));
}

static double integers(uint64_t *state)
{
    return floor(noise(state) * 8);
}

static double large_integers(uint64_t *state)
{
    return floor(noise(state) * 0x1p31);
}

// A matrix with its memory; padding holds NaN.
static struct operand matrix(enum element type, int64_t rows, int64_t cols, int64_t ld, double (*fill)(uint64_t *), uint64_t seed)
{
    struct operand m = {.type = type, .rows = rows, .cols = cols, .ld = ld};
    size_t size = element_size(type);
    m.host = malloc((size_t)(rows * ld) * size);
    assert_non_null(m.host);
    for (int64_t i = 0; i < rows * ld; i++)
        element_store(type, i % ld < cols ? fill(&seed) : element_is_float(type) ? NAN : 77, (char *)m.host + (size_t)i * size);
    return m;
}

static double at(const struct operand *m, int64_t i, int64_t j)
{
    return element_load(m->type, (const char *)m->host + (size_t)(i * m->ld + j) * element_size(m->type));
}

struct result {
    struct operation_problem problem;
    struct operation_expected expected[OPERATION_ROLES_MAX];
    int out; // role of the output
};

// Allocates the output's expected values and runs the CPU reference.
static void compute(const struct operation *op, struct result *r)
{
    struct error err = {""};
    const struct operand *o = &r->problem.operand[r->out];
    struct operation_expected *e = &r->expected[r->out];
    size_t n = (size_t)(o->rows * o->cols);
    if (element_is_float(o->type)) {
        e->host_expected = malloc(n * sizeof(double));
        e->host_scale = malloc(n * sizeof(float));
    } else {
        e->host_exact = malloc(n * sizeof(int64_t));
    }
    assert_int_equal(op->check(&r->problem, &err), 0);
    assert_int_equal(op->cpu(&r->problem, r->expected, &err), 0);
}

static void release(struct result *r)
{
    for (int i = 0; i < OPERATION_ROLES_MAX; i++) free(r->problem.operand[i].host);
    free(r->expected[r->out].host_expected);
    free(r->expected[r->out].host_scale);
    free(r->expected[r->out].host_exact);
}

static double allowed(const struct operation_expected *e, size_t i)
{
    return e->per_scale * (double)e->host_scale[i] + e->per_value * fabs(e->host_expected[i]) + e->floor;
}

static struct result gemm_problem(enum element in, enum element out, int64_t m, int64_t n, int64_t k, bool ta, bool tb, double alpha, double beta,
                                  double (*fill)(uint64_t *))
{
    const struct operation *op = operation_find("gemm", NULL);
    struct result r;
    memset(&r, 0, sizeof r);
    r.out = operation_role(op, "C");
    r.problem.value[operation_role(op, "M")] = (double)m;
    r.problem.value[operation_role(op, "K")] = (double)k;
    r.problem.value[operation_role(op, "batch")] = 1;
    r.problem.value[operation_role(op, "alpha")] = alpha;
    r.problem.value[operation_role(op, "beta")] = beta;
    r.problem.value[operation_role(op, "transpose_a")] = ta;
    r.problem.value[operation_role(op, "transpose_b")] = tb;
    r.problem.operand[operation_role(op, "A")] = ta ? matrix(in, k, m, m + 3, fill, 1) : matrix(in, m, k, k + 3, fill, 1);
    r.problem.operand[operation_role(op, "B")] = tb ? matrix(in, n, k, k + 1, fill, 2) : matrix(in, k, n, n + 1, fill, 2);
    r.problem.operand[r.out] = matrix(out, m, n, n + 5, fill, 3);
    return r;
}

static void the_product_agrees_with_three_loops(void **state)
{
    (void)state;
    const struct operation *op = operation_find("gemm", NULL);
    static const enum element types[] = {ELEMENT_F64, ELEMENT_F32, ELEMENT_F16, ELEMENT_BF16};
    for (int variant = 0; variant < 32; variant++) {
        bool ta = variant & 1, tb = variant & 2, with_c = variant & 4;
        struct result r = gemm_problem(types[variant / 8], types[variant / 8], 7, 5, 11, ta, tb, 1.5, with_c ? -0.5 : 0, noise);
        const struct operand *a = &r.problem.operand[operation_role(op, "A")], *b = &r.problem.operand[operation_role(op, "B")];
        compute(op, &r);
        for (int64_t i = 0; i < 7; i++)
            for (int64_t j = 0; j < 5; j++) {
                double sum = 0, size = 0;
                for (int64_t k = 0; k < 11; k++) {
                    double term = (ta ? at(a, k, i) : at(a, i, k)) * (tb ? at(b, j, k) : at(b, k, j));
                    sum += term;
                    size += fabs(term);
                }
                double old = with_c ? at(&r.problem.operand[r.out], i, j) : 0;
                const struct operation_expected *e = &r.expected[r.out];
                double scale = 1.5 * size + 0.5 * fabs(old);
                assert_true(fabs(e->host_expected[i * 5 + j] - (1.5 * sum - 0.5 * old)) < 1e-12);
                assert_true(fabs((double)e->host_scale[i * 5 + j] - scale) < 1e-5);
                assert_true((double)e->host_scale[i * 5 + j] >= scale); // rounded up
            }
        release(&r);
    }
}

static void an_integer_product_is_exact(void **state)
{
    (void)state;
    const struct operation *op = operation_find("gemm", NULL);
    struct result r = gemm_problem(ELEMENT_I8, ELEMENT_I32, 4, 3, 50, false, true, 2, 1, integers);
    const struct operand *a = &r.problem.operand[operation_role(op, "A")], *b = &r.problem.operand[operation_role(op, "B")];
    compute(op, &r);
    for (int64_t i = 0; i < 4; i++)
        for (int64_t j = 0; j < 3; j++) {
            int64_t sum = 0;
            for (int64_t k = 0; k < 50; k++) sum += (int64_t)at(a, i, k) * (int64_t)at(b, j, k);
            assert_true(r.expected[r.out].host_exact[i * 3 + j] == 2 * sum + (int64_t)at(&r.problem.operand[r.out], i, j));
        }
    release(&r);
}

// Single-precision products in the least favourable order, one term after the other, with signed and with non-negative data.
static void the_bound_of_a_product_accepts_rounding_and_rejects_a_missing_term(void **state)
{
    (void)state;
    const struct operation *op = operation_find("gemm", NULL);
    double (*const fills[])(uint64_t *) = {noise, positive};
    for (int f = 0; f < 2; f++) {
        const int64_t m = 24, n = 20, k = 2048;
        struct result r = gemm_problem(ELEMENT_F32, ELEMENT_F32, m, n, k, false, false, 1, 0, fills[f]);
        const struct operand *a = &r.problem.operand[operation_role(op, "A")], *b = &r.problem.operand[operation_role(op, "B")];
        const struct operation_expected *e = &r.expected[r.out];
        int rejected = 0;
        compute(op, &r);
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) {
                float sum = 0, without = 0;
                for (int64_t l = 0; l < k; l++) {
                    without = sum;
                    sum += (float)at(a, i, l) * (float)at(b, l, j); // not fused: two roundings a term
                }
                size_t place = (size_t)(i * n + j);
                assert_true(fabs((double)sum - e->host_expected[place]) <= allowed(e, place));
                rejected += !(fabs((double)without - e->host_expected[place]) <= allowed(e, place));
            }
        assert_true(rejected > 0.95 * (double)(m * n));
        release(&r);
    }
}

// The upper `bits` of a float's 23 below the leading one; `nearest` rounds (halves away from zero).
static float shortened(float x, int bits, bool nearest)
{
    uint32_t word, unit = (uint32_t)1 << (23 - bits);
    memcpy(&word, &x, sizeof word);
    if (nearest) word += unit / 2;
    word &= ~(unit - 1);
    memcpy(&x, &word, sizeof x);
    return x;
}

enum { IN_TF32_CUT, IN_TF32_ROUNDED, IN_BF16, IN_THREE, WAYS };

// a*b as tensor cores see it: operands shortened, or split in two with the product of the low parts left out.
static double seen(int way, float a, float b)
{
    if (way == IN_TF32_CUT) return (double)shortened(a, 10, false) * (double)shortened(b, 10, false);
    if (way == IN_TF32_ROUNDED) return (double)shortened(a, 10, true) * (double)shortened(b, 10, true);
    if (way == IN_BF16) return (double)shortened(a, 7, true) * (double)shortened(b, 7, true);
    float high_a = shortened(a, 10, false), high_b = shortened(b, 10, false);
    float low_a = shortened(a - high_a, 10, true), low_b = shortened(b - high_b, 10, true);
    return (double)high_a * (double)low_b + (double)low_a * (double)high_b + (double)high_a * (double)high_b;
}

static void the_bound_of_a_compute_class_tells_it_from_the_others(void **state)
{
    (void)state;
    const struct operation *op = operation_find("gemm", NULL);
    double (*const fills[])(uint64_t *) = {noise, positive};
    static const struct {
        const char *class;
        bool fits[WAYS];
    } cases[] = {{"full", {false, false, false, true}}, {"tf32", {true, true, false, true}}, {"3xtf32", {false, false, false, true}}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int f = 0; f < 2; f++)
            for (int way = 0; way < WAYS; way++) {
                const int64_t m = 40, n = 48, k = 2048;
                struct result r = gemm_problem(ELEMENT_F32, ELEMENT_F32, m, n, k, false, false, 1, 0, fills[f]);
                const struct operand *a = &r.problem.operand[operation_role(op, "A")], *b = &r.problem.operand[operation_role(op, "B")];
                const struct operation_expected *e = &r.expected[r.out];
                int rejected = 0;
                r.problem.value[operation_role(op, "compute")] = operation_class(op, cases[c].class);
                compute(op, &r);
                for (int64_t i = 0; i < m; i++)
                    for (int64_t j = 0; j < n; j++) {
                        double sum = 0;
                        for (int64_t l = 0; l < k; l++) sum += seen(way, (float)at(a, i, l), (float)at(b, l, j));
                        size_t place = (size_t)(i * n + j);
                        rejected += !(fabs(sum - e->host_expected[place]) <= allowed(e, place));
                    }
                if (cases[c].fits[way] ? rejected : f == 0 && !rejected)
                    fail_msg("class %s, way %d, data %d: %d of %d rejected", cases[c].class, way, f, rejected, (int)(m * n));
                release(&r);
            }
}

static void a_compute_class_is_one_of_f32(void **state)
{
    (void)state;
    const struct operation *op = operation_find("gemm", NULL);
    struct error err = {""};
    assert_int_equal(operation_class(op, "full"), 0);
    assert_int_equal(operation_class(op, "tf23"), -1);
    assert_int_equal(operation_class(operation_find("sum", NULL), "full"), -1);
    struct result r = gemm_problem(ELEMENT_BF16, ELEMENT_BF16, 4, 3, 2, false, false, 1, 0, noise);
    r.problem.value[operation_role(op, "compute")] = operation_class(op, "3xtf32");
    assert_int_equal(op->check(&r.problem, &err), -1);
    assert_non_null(strstr(err.message, "compute \"3xtf32\" is a way to multiply f32; A and B are bf16"));
    release(&r);
}

static double no_number(uint64_t *state)
{
    (void)state;
    return NAN;
}

static void with_beta_0_a_product_does_not_read_c_and_keeps_what_is_not_finite(void **state)
{
    (void)state;
    const struct operation *op = operation_find("gemm", NULL);
    struct result r = gemm_problem(ELEMENT_F32, ELEMENT_F32, 3, 4, 5, false, false, 1, 0, noise);
    free(r.problem.operand[r.out].host);
    r.problem.operand[r.out] = matrix(ELEMENT_F32, 3, 4, 9, no_number, 3);
    float *a = r.problem.operand[operation_role(op, "A")].host, *b = r.problem.operand[operation_role(op, "B")].host;
    int64_t lda = r.problem.operand[operation_role(op, "A")].ld, ldb = r.problem.operand[operation_role(op, "B")].ld;
    a[1 * lda + 2] = INFINITY;
    b[2 * ldb + 3] = 0; // and infinity times nothing is no number
    compute(op, &r);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) {
            double x = r.expected[r.out].host_expected[i * 4 + j];
            assert_true(i != 1 ? isfinite(x) : j == 3 ? isnan(x) : isinf(x) && (x > 0) == (b[2 * ldb + j] > 0));
        }
    release(&r);
}

static void a_product_s_shapes_must_fit(void **state)
{
    (void)state;
    const struct operation *op = operation_find("gemm", NULL);
    struct error err = {""};
    struct result r = gemm_problem(ELEMENT_F32, ELEMENT_F32, 4, 3, 2, false, false, 1, 0, noise);
    r.problem.value[operation_role(op, "M")] = 5;
    assert_int_equal(op->check(&r.problem, &err), -1);
    assert_non_null(strstr(err.message, "M is 5"));
    r.problem.value[operation_role(op, "M")] = 4;
    r.problem.operand[operation_role(op, "B")].rows = 3;
    assert_int_equal(op->check(&r.problem, &err), -1);
    assert_non_null(strstr(err.message, "shapes do not fit"));
    release(&r);
    r = gemm_problem(ELEMENT_F32, ELEMENT_I32, 4, 3, 2, false, false, 1, 0, integers);
    assert_int_equal(op->check(&r.problem, &err), -1);
    assert_non_null(strstr(err.message, "f32 into i32"));
    release(&r);
}

static void a_batch_is_products_one_below_the_other(void **state)
{
    (void)state;
    const struct operation *op = operation_find("gemm", NULL);
    for (int variant = 0; variant < 4; variant++) {
        bool ta = variant & 1, tb = variant & 2;
        struct result all = gemm_problem(ELEMENT_F32, ELEMENT_F32, 4, 5, 6, ta, tb, 2, -1, noise);
        for (int i = 0; i < OPERATION_ROLES_MAX; i++) {
            struct operand *o = &all.problem.operand[i];
            if (!o->host) continue;
            int64_t rows = o->rows;
            free(o->host);
            *o = matrix(o->type, 3 * rows, o->cols, o->ld, noise, (uint64_t)i + 7);
        }
        all.problem.value[operation_role(op, "batch")] = 3;
        compute(op, &all);
        for (int which = 0; which < 3; which++) {
            struct result one = {.problem = all.problem, .out = all.out};
            one.problem.value[operation_role(op, "batch")] = 1;
            for (int i = 0; i < OPERATION_ROLES_MAX; i++) {
                struct operand *o = &one.problem.operand[i];
                if (!o->host) continue;
                o->rows /= 3;
                o->host = (char *)o->host + (size_t)(which * o->rows * o->ld) * sizeof(float);
            }
            compute(op, &one);
            const struct operation_expected *e = &one.expected[one.out], *f = &all.expected[all.out];
            assert_memory_equal(e->host_expected, f->host_expected + which * 20, 20 * sizeof(double));
            assert_memory_equal(e->host_scale, f->host_scale + which * 20, 20 * sizeof(float));
            free(e->host_expected);
            free(e->host_scale);
        }
        release(&all);
    }
}

static void a_batch_must_divide_the_rows(void **state)
{
    (void)state;
    const struct operation *op = operation_find("gemm", NULL);
    static const double bad[] = {0, -1, 2.5, 3, 1e300};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error err = {""};
        struct result r = gemm_problem(ELEMENT_F32, ELEMENT_F32, 4, 3, 2, false, false, 1, 0, noise);
        r.problem.value[operation_role(op, "batch")] = bad[i];
        assert_int_equal(op->check(&r.problem, &err), -1);
        assert_non_null(strstr(err.message, "batch is"));
        release(&r);
    }
}

static struct result gemv_problem(enum element type, int64_t m, int64_t n, bool transpose, double alpha, double beta)
{
    const struct operation *op = operation_find("gemv", NULL);
    struct result r;
    memset(&r, 0, sizeof r);
    r.out = operation_role(op, "y");
    r.problem.value[operation_role(op, "alpha")] = alpha;
    r.problem.value[operation_role(op, "beta")] = beta;
    r.problem.value[operation_role(op, "transpose")] = transpose;
    r.problem.operand[operation_role(op, "A")] = matrix(type, m, n, n + 2, noise, 1);
    r.problem.operand[operation_role(op, "x")] = matrix(type, 1, transpose ? m : n, transpose ? m : n, noise, 2);
    r.problem.operand[r.out] = matrix(type, 1, transpose ? n : m, transpose ? n : m, noise, 3);
    return r;
}

static void matrix_times_vector_agrees_with_two_loops(void **state)
{
    (void)state;
    const struct operation *op = operation_find("gemv", NULL);
    for (int variant = 0; variant < 8; variant++) {
        bool transpose = variant & 1, with_y = variant & 2;
        int64_t m = 7, n = 12, out = transpose ? n : m, in = transpose ? m : n;
        struct result r = gemv_problem(variant & 4 ? ELEMENT_F64 : ELEMENT_F32, m, n, transpose, 1.5, with_y ? -0.5 : 0);
        const struct operand *a = &r.problem.operand[operation_role(op, "A")], *x = &r.problem.operand[operation_role(op, "x")];
        compute(op, &r);
        for (int64_t i = 0; i < out; i++) {
            double sum = 0, size = 0, least = 1, old = with_y ? at(&r.problem.operand[r.out], 0, i) : 0;
            for (int64_t k = 0; k < in; k++) {
                double term = (transpose ? at(a, k, i) : at(a, i, k)) * at(x, 0, k);
                sum += term;
                size += fabs(term);
                least = fmin(least, fabs(term));
            }
            const struct operation_expected *e = &r.expected[r.out];
            assert_true(fabs(e->host_expected[i] - (1.5 * sum - 0.5 * old)) < 1e-12);
            assert_true((double)e->host_scale[i] >= 1.5 * size + 0.5 * fabs(old));
            assert_true(allowed(e, (size_t)i) < 1.5 * least); // no term may be missing
        }
        release(&r);
    }
}

static void a_vector_s_shape_must_fit(void **state)
{
    (void)state;
    const struct operation *op = operation_find("gemv", NULL);
    struct error err = {""};
    struct result r = gemv_problem(ELEMENT_F32, 4, 3, false, 1, 0);
    r.problem.value[operation_role(op, "transpose")] = 1;
    assert_int_equal(op->check(&r.problem, &err), -1);
    assert_non_null(strstr(err.message, "A 4x3 transposed, x 3, y 4"));
    release(&r);
    r = gemv_problem(ELEMENT_F16, 4, 3, false, 1, 0);
    assert_int_equal(op->check(&r.problem, &err), -1);
    assert_non_null(strstr(err.message, "f32, or all f64"));
    release(&r);
}

static struct result sum_problem(enum element in, enum element out, int64_t rows, int64_t cols, double (*fill)(uint64_t *))
{
    const struct operation *op = operation_find("sum", NULL);
    struct result r;
    memset(&r, 0, sizeof r);
    r.out = operation_role(op, "result");
    r.problem.operand[operation_role(op, "x")] = matrix(in, rows, cols, rows > 1 ? cols + 1 : cols, fill, 4);
    r.problem.operand[r.out] = matrix(out, 1, 1, 1, integers, 5);
    return r;
}

static void the_sum_agrees_with_a_loop(void **state)
{
    (void)state;
    const struct operation *op = operation_find("sum", NULL);
    struct result r = sum_problem(ELEMENT_F32, ELEMENT_F32, 13, 77, noise);
    double sum = 0, squares = 0;
    compute(op, &r);
    for (int64_t i = 0; i < 13; i++)
        for (int64_t j = 0; j < 77; j++) {
            double x = at(&r.problem.operand[operation_role(op, "x")], i, j);
            sum += x;
            squares += x * x;
        }
    assert_true(fabs(*r.expected[r.out].host_expected - sum) < 1e-10);
    assert_true(fabs((double)*r.expected[r.out].host_scale - sqrt(squares)) < 1e-4);
    release(&r);
}

static void the_bound_of_a_sum_accepts_every_shape_of_kernel_and_rejects_a_missing_element(void **state)
{
    (void)state;
    const struct operation *op = operation_find("sum", NULL);
    double (*const fills[])(uint64_t *) = {noise, positive};
    const int64_t n = 1000003;
    for (int f = 0; f < 2; f++) {
        struct result r = sum_problem(ELEMENT_F32, ELEMENT_F32, 1, n, fills[f]);
        const float *x = r.problem.operand[operation_role(op, "x")].host;
        const struct operation_expected *e = &r.expected[r.out];
        compute(op, &r);
        float strided = 0, blocked = 0;
        for (int64_t thread = 0; thread < 8192; thread++) { // a chain in each of 8192 threads
            float part = 0;
            for (int64_t i = thread; i < n; i += 8192) part += x[i];
            strided += part;
        }
        for (int64_t start = 0; start < n; start += 1024) { // one addition a block of 1024
            float part = 0;
            for (int64_t i = start; i < n && i < start + 1024; i++) part += x[i];
            blocked += part;
        }
        assert_true(fabs((double)strided - *e->host_expected) <= allowed(e, 0));
        assert_true(fabs((double)blocked - *e->host_expected) <= allowed(e, 0));
        int rejected = 0, tried = 0;
        for (int64_t i = 0; i < n; i += 997, tried++) rejected += !(fabs((double)x[i]) <= allowed(e, 0));
        if (f == 0) assert_true(rejected > 0.99 * tried);
        assert_true(allowed(e, 0) < 1024 * 0.5 / 10); // a missing block is seen with any data
        release(&r);
    }
}

static void a_sum_that_cannot_round_must_be_exact(void **state)
{
    (void)state;
    const struct operation *op = operation_find("sum", NULL);
    struct result r = sum_problem(ELEMENT_F32, ELEMENT_F32, 1, 1000003, integers);
    compute(op, &r);
    assert_true(allowed(&r.expected[r.out], 0) == 0);
    release(&r);
    r = sum_problem(ELEMENT_F32, ELEMENT_F32, 1, 1000003, noise);
    compute(op, &r);
    assert_true(allowed(&r.expected[r.out], 0) > 0);
    release(&r);
}

static void an_integer_sum_wraps_like_its_type(void **state)
{
    (void)state;
    const struct operation *op = operation_find("sum", NULL);
    static const enum element outs[] = {ELEMENT_I32, ELEMENT_U32, ELEMENT_I64};
    for (int k = 0; k < 3; k++) {
        struct result r = sum_problem(ELEMENT_I32, outs[k], 1, 10001, large_integers);
        const int32_t *x = r.problem.operand[operation_role(op, "x")].host;
        int64_t sum = 0;
        compute(op, &r);
        for (int i = 0; i < 10001; i++) sum += x[i];
        int64_t want = k == 0 ? (int32_t)sum : k == 1 ? (int64_t)(uint32_t)sum : sum;
        assert_true(*r.expected[r.out].host_exact == want);
        release(&r);
    }
}

// ---- operations on vectors and matrices -------------------------------------------------------------------------------

// A problem with the operation's buffers by role; the caller frees with release_all.
static void give(struct result *r, const struct operation *op, const char *role, struct operand o)
{
    assert_true(operation_role(op, role) >= 0);
    r->problem.operand[operation_role(op, role)] = o;
}

// Allocates the expected values of every output, and runs the CPU reference.
static void compute_all(const struct operation *op, struct result *r)
{
    struct error err = {""};
    for (int i = 0; op->roles[i].name; i++) {
        if (op->roles[i].kind != ROLE_OUTPUT) continue;
        size_t n = (size_t)(r->problem.operand[i].rows * r->problem.operand[i].cols);
        bool floats = element_is_float(r->problem.operand[i].type);
        r->expected[i].host_expected = floats ? calloc(n, sizeof(double)) : NULL;
        r->expected[i].host_scale = floats ? calloc(n, sizeof(float)) : NULL;
        r->expected[i].host_exact = floats ? NULL : calloc(n, sizeof(int64_t));
    }
    if (op->check(&r->problem, &err) || op->cpu(&r->problem, r->expected, &err)) fail_msg("%s: %s", op->name, err.message);
}

static void release_all(struct result *r)
{
    for (int i = 0; i < OPERATION_ROLES_MAX; i++) {
        free(r->problem.operand[i].host);
        free(r->expected[i].host_expected);
        free(r->expected[i].host_scale);
        free(r->expected[i].host_exact);
    }
}

static struct operation_expected *expected_of(struct result *r, const struct operation *op, const char *role)
{
    return &r->expected[operation_role(op, role)];
}

static void a_transpose_is_exact_in_and_out_of_place(void **state)
{
    (void)state;
    static const enum element types[] = {ELEMENT_F32, ELEMENT_F16, ELEMENT_I32};
    for (int k = 0; k < 3; k++) {
        const struct operation *op = operation_find("transpose", NULL), *in_place = operation_find("transpose_in_place", NULL);
        bool floats = element_is_float(types[k]);
        struct result r = {0}, s = {0};
        give(&r, op, "A", matrix(types[k], 70, 131, 133, floats ? noise : integers, 6));
        give(&r, op, "B", matrix(types[k], 131, 70, 70, integers, 7));
        compute_all(op, &r);
        give(&s, in_place, "A", matrix(types[k], 97, 97, 99, floats ? noise : integers, 8));
        compute_all(in_place, &s);
        const struct operand *a = &r.problem.operand[operation_role(op, "A")], *b = &s.problem.operand[operation_role(in_place, "A")];
        struct operation_expected *e = expected_of(&r, op, "B"), *f = expected_of(&s, in_place, "A");
        for (int64_t i = 0; i < 131; i++)
            for (int64_t j = 0; j < 70; j++) assert_true((floats ? e->host_expected[i * 70 + j] : (double)e->host_exact[i * 70 + j]) == at(a, j, i));
        for (int64_t i = 0; i < 97; i++)
            for (int64_t j = 0; j < 97; j++) assert_true((floats ? f->host_expected[i * 97 + j] : (double)f->host_exact[i * 97 + j]) == at(b, j, i));
        if (floats) assert_true(allowed(e, 0) == 0 && allowed(f, 5) == 0);
        release_all(&r);
        release_all(&s);
    }
}

static void shapes_of_a_transpose_must_fit(void **state)
{
    (void)state;
    const struct operation *op = operation_find("transpose", NULL), *in_place = operation_find("transpose_in_place", NULL);
    struct error err = {""};
    struct result r = {0};
    give(&r, op, "A", matrix(ELEMENT_F32, 3, 4, 4, noise, 1));
    give(&r, op, "B", matrix(ELEMENT_F32, 3, 4, 4, noise, 1));
    assert_int_equal(op->check(&r.problem, &err), -1);
    assert_non_null(strstr(err.message, "shapes do not fit"));
    struct operation_problem p = {.operand = {[1] = r.problem.operand[operation_role(op, "A")]}};
    assert_int_equal(in_place->check(&p, &err), -1);
    assert_non_null(strstr(err.message, "square"));
    release_all(&r);
}

// asum, nrm2 and dot of x (and y) against a loop in long double; and in single precision in a chain a thread.
static void reductions_agree_with_loops_and_reject_a_missing_element(void **state)
{
    (void)state;
    static const char *const names[] = {"asum", "nrm2", "dot"};
    const int64_t n = 10007;
    for (int k = 0; k < 3; k++) {
        const struct operation *op = operation_find(names[k], NULL);
        struct result r = {0};
        give(&r, op, "x", matrix(ELEMENT_F32, 1, n, n, noise, 11));
        if (k == 2) give(&r, op, "y", matrix(ELEMENT_F32, 1, n, n, noise, 12));
        give(&r, op, "result", matrix(ELEMENT_F32, 1, 1, 1, integers, 13));
        compute_all(op, &r);
        const float *x = r.problem.operand[operation_role(op, "x")].host, *y = k == 2 ? r.problem.operand[operation_role(op, "y")].host : x;
        const struct operation_expected *e = expected_of(&r, op, "result");
        long double sum = 0;
        float parts[64] = {0}, single = 0;
        for (int64_t i = 0; i < n; i++) {
            sum += k == 0 ? fabsl((long double)x[i]) : (long double)x[i] * y[i];
            parts[i % 64] += k == 0 ? fabsf(x[i]) : x[i] * y[i];
        }
        for (int i = 0; i < 64; i++) single += parts[i];
        if (k == 1) sum = sqrtl(sum), single = sqrtf(single);
        assert_true(fabs(*e->host_expected - (double)sum) < 1e-9);
        assert_true(fabs((double)single - *e->host_expected) <= allowed(e, 0));
        int rejected = 0;
        for (int64_t i = 0; i < n; i++) {
            double term = k == 0 ? fabs((double)x[i]) : (double)x[i] * (double)y[i], without = k == 1 ? sqrt((double)(sum * sum) - term) : (double)sum - term;
            rejected += !(fabs(without - *e->host_expected) <= allowed(e, 0));
        }
        assert_true(rejected > 0.9 * (double)n);
        release_all(&r);
    }
}

static void the_largest_magnitude_is_found_at_its_lowest_place(void **state)
{
    (void)state;
    const struct operation *op = operation_find("iamax", NULL);
    struct result r = {0};
    const int64_t n = 3000001;
    give(&r, op, "x", matrix(ELEMENT_F32, 1, n, n, noise, 21));
    give(&r, op, "value", matrix(ELEMENT_F32, 1, 1, 1, integers, 22));
    give(&r, op, "index", matrix(ELEMENT_I64, 1, 1, 1, integers, 23));
    float *x = r.problem.operand[operation_role(op, "x")].host;
    x[2000003] = -5;
    x[2900000] = 5;
    x[n - 1] = 5;
    compute_all(op, &r);
    assert_true(*expected_of(&r, op, "index")->host_exact == 2000003);
    assert_true(*expected_of(&r, op, "value")->host_expected == 5);
    assert_true(allowed(expected_of(&r, op, "value"), 0) == 0);
    release_all(&r);
}

static void sums_of_rows_and_columns_agree_with_loops(void **state)
{
    (void)state;
    static const char *const names[] = {"row_sums", "column_sums"};
    for (int k = 0; k < 2; k++) {
        const struct operation *op = operation_find(names[k], NULL);
        struct result r = {0};
        const int64_t rows = 300, cols = 517, n = k ? cols : rows, length = k ? rows : cols;
        give(&r, op, "A", matrix(ELEMENT_F32, rows, cols, cols + 3, noise, 31));
        give(&r, op, "sums", matrix(ELEMENT_F32, 1, n, n, integers, 32));
        compute_all(op, &r);
        const struct operand *a = &r.problem.operand[operation_role(op, "A")];
        const struct operation_expected *e = expected_of(&r, op, "sums");
        int rejected = 0;
        for (int64_t i = 0; i < n; i++) {
            double sum = 0;
            float single = 0, last = 0;
            for (int64_t j = 0; j < length; j++) {
                last = (float)(k ? at(a, j, i) : at(a, i, j));
                sum += (double)last;
                single += last;
            }
            assert_true(fabs(sum - e->host_expected[i]) < 1e-11);
            assert_true(fabs((double)single - sum) <= allowed(e, (size_t)i));
            rejected += !(fabs((double)last) <= allowed(e, (size_t)i));
        }
        assert_true(rejected > 0.95 * (double)n);
        release_all(&r);
    }
}

static void softmax_rows_add_to_one_and_a_missing_term_is_seen(void **state)
{
    (void)state;
    const struct operation *op = operation_find("softmax", NULL);
    struct result r = {0};
    const int64_t rows = 20, cols = 1030;
    give(&r, op, "x", matrix(ELEMENT_F32, rows, cols, cols, noise, 41));
    give(&r, op, "y", matrix(ELEMENT_F32, rows, cols, cols, integers, 42));
    compute_all(op, &r);
    const struct operand *x = &r.problem.operand[operation_role(op, "x")];
    const struct operation_expected *e = expected_of(&r, op, "y");
    for (int64_t i = 0; i < rows; i++) {
        double all = 0;
        float largest = -2, sum = 0;
        for (int64_t j = 0; j < cols; j++) largest = fmaxf(largest, (float)at(x, i, j));
        for (int64_t j = 0; j < cols; j++) sum += expf((float)at(x, i, j) - largest);
        for (int64_t j = 0; j < cols; j++) {
            size_t place = (size_t)(i * cols + j);
            double single = (double)(expf((float)at(x, i, j) - largest) / sum), without = (double)(expf((float)at(x, i, j) - largest) / (sum - 0.3f));
            all += e->host_expected[place];
            assert_true(fabs(single - e->host_expected[place]) <= allowed(e, place));
            assert_false(fabs(without - e->host_expected[place]) <= allowed(e, place));
        }
        assert_true(fabs(all - 1) < 1e-12);
    }
    release_all(&r);
}

static void a_prefix_sum_agrees_with_a_loop_across_pieces(void **state)
{
    (void)state;
    const struct operation *op = operation_find("prefix_sum", NULL);
    struct result r = {0};
    const int64_t n = 2500000; // more than two of the reference's pieces
    give(&r, op, "x", matrix(ELEMENT_F32, 1, n, n, noise, 51));
    give(&r, op, "y", matrix(ELEMENT_F32, 1, n, n, integers, 52));
    compute_all(op, &r);
    const float *x = r.problem.operand[operation_role(op, "x")].host;
    const struct operation_expected *e = expected_of(&r, op, "y");
    long double sum = 0;
    int64_t rejected = 0, tried = 0;
    float chain = 0, in_block = 0, blocks = 0; // 32 elements a thread, 1024 a block
    for (int64_t i = 0; i < n; i++) {
        sum += (long double)x[i];
        chain += x[i];
        assert_true(fabs(e->host_expected[i] - (double)sum) < 1e-9);
        assert_true(fabs((double)(blocks + (in_block + chain)) - (double)sum) <= allowed(e, (size_t)i));
        if (i % 32 == 31) in_block += chain, chain = 0;
        if (i % 1024 == 1023) blocks += in_block, in_block = 0;
        if (i < 100000) tried++, rejected += !(fabs((double)x[i]) <= allowed(e, (size_t)i)); // x[i] left out of y[i]
    }
    assert_true((double)rejected > 0.99 * (double)tried);
    release_all(&r);

    memset(&r, 0, sizeof r); // integers cannot round: exact
    give(&r, op, "x", matrix(ELEMENT_F32, 1, 5000, 5000, integers, 53));
    give(&r, op, "y", matrix(ELEMENT_F32, 1, 5000, 5000, integers, 54));
    compute_all(op, &r);
    for (size_t i = 0; i < 5000; i++) assert_true(allowed(expected_of(&r, op, "y"), i) == 0);
    release_all(&r);
}

// The recurrence over whole matrices, with gaps of every length instead of E and F: no shortcut shared with the reference.
static int score_of(const char *a, const char *b)
{
    static int h[16][16];
    int best = 0, n = (int)strlen(a), m = (int)strlen(b);
    memset(h, 0, sizeof h);
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++) {
            int here = h[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 2 : -3);
            for (int k = 1; k <= i; k++)
                if (h[i - k][j] - 5 - 2 * (k - 1) > here) here = h[i - k][j] - 5 - 2 * (k - 1);
            for (int k = 1; k <= j; k++)
                if (h[i][j - k] - 5 - 2 * (k - 1) > here) here = h[i][j - k] - 5 - 2 * (k - 1);
            h[i][j] = here > 0 ? here : 0;
            if (h[i][j] > best) best = h[i][j];
        }
    return best;
}

static void alignments_have_the_scores_of_the_definition(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"ACGTACGTACGT", "ACGTACGTACGT"}, {"AAAAAAAAAAAA", "CCCCCCCCCCCC"}, {"ACGTACGTTTGA", "ACGTACCCGTTT"}, {"GGATCGATCCTA", "TTGGATGATCCT"},
                                           {"ACGTTTGCAACG", "ACGTGCAACGAA"}, {"CAAAAAAAAAAC", "TTTTTCTTTTTT"}};
    enum { PAIRS = sizeof pairs / sizeof *pairs, LENGTH = 12 };
    const struct operation *op = operation_find("smith_waterman", NULL);
    for (int length = 0; length <= LENGTH; length += LENGTH) {
        struct result r = {0};
        give(&r, op, "a", matrix(ELEMENT_I8, LENGTH, PAIRS, PAIRS, integers, 61));
        give(&r, op, "b", matrix(ELEMENT_I8, LENGTH, PAIRS, PAIRS, integers, 62));
        give(&r, op, "score", matrix(ELEMENT_I32, 1, PAIRS, PAIRS, integers, 63));
        for (int p = 0; p < PAIRS; p++)
            for (int i = 0; i < LENGTH; i++) {
                ((signed char *)r.problem.operand[operation_role(op, "a")].host)[i * PAIRS + p] = pairs[p][0][i];
                ((signed char *)r.problem.operand[operation_role(op, "b")].host)[i * PAIRS + p] = pairs[p][1][i];
            }
        static const struct {
            const char *name;
            int value;
        } scores[] = {{"match", 2}, {"mismatch", 3}, {"open", 5}, {"extend", 2}};
        for (size_t i = 0; i < sizeof scores / sizeof *scores; i++) r.problem.value[operation_role(op, scores[i].name)] = scores[i].value;
        r.problem.value[operation_role(op, "length_a")] = length;
        r.problem.value[operation_role(op, "length_b")] = LENGTH;
        compute_all(op, &r);
        for (int p = 0; p < PAIRS; p++) assert_int_equal(expected_of(&r, op, "score")->host_exact[p], length ? score_of(pairs[p][0], pairs[p][1]) : 0);
        release_all(&r);
    }
}

static void elements_survive_storing_and_loading(void **state)
{
    (void)state;
    static const struct {
        enum element type;
        double in, out;
    } table[] = {
        {ELEMENT_F16, 1.0, 1.0},
        {ELEMENT_F16, 65504, 65504},
        {ELEMENT_F16, 65519, 65504},
        {ELEMENT_F16, 65520, INFINITY},
        {ELEMENT_F16, 0x1p-24, 0x1p-24},
        {ELEMENT_F16, 0x1p-25, 0},
        {ELEMENT_F16, 0x1.8p-24, 0x1p-23},
        {ELEMENT_F16, 0x1.ffcp-15, 0x1p-14}, // rounds up into the normal numbers
        {ELEMENT_F16, 1 + 0x1p-11, 1},
        {ELEMENT_F16, 1 + 0x1.8p-10, 1 + 0x1p-9},
        {ELEMENT_BF16, 1 + 0x1p-8, 1},
        {ELEMENT_BF16, 1 + 0x1.8p-7, 1 + 0x1p-6},
        {ELEMENT_BF16, INFINITY, INFINITY},
        {ELEMENT_F32, 0.1, 0x1.99999ap-4},
        {ELEMENT_I8, -128, -128},
        {ELEMENT_U32, 4294967295.0, 4294967295.0},
        {ELEMENT_I64, -0x1p60, -0x1p60},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char bytes[8];
        element_store(table[i].type, table[i].in, bytes);
        assert_true(element_load(table[i].type, bytes) == table[i].out);
    }
    for (int bits = 0; bits < 65536; bits++) { // every f16 and bf16 comes back as it was
        uint16_t from = (uint16_t)bits, to;
        double half = element_load(ELEMENT_F16, &from), bfloat = element_load(ELEMENT_BF16, &from);
        element_store(ELEMENT_F16, half, &to);
        assert_true(isnan(half) || to == from);
        element_store(ELEMENT_BF16, bfloat, &to);
        assert_true(isnan(bfloat) || to == from);
    }
}

static void names_are_found_and_misspelt_ones_get_a_proposal(void **state)
{
    (void)state;
    const char *nearest = NULL;
    assert_null(operation_find("gem", &nearest));
    assert_string_equal(nearest, "gemm");
    assert_null(operation_find("convolution", &nearest));
    assert_null(nearest);
    for (int i = 0; operations[i]; i++) {
        assert_ptr_equal(operation_find(operations[i]->name, NULL), operations[i]);
        assert_non_null(operations[i]->bound);
        int roles = 0;
        while (operations[i]->roles[roles].name) roles++;
        assert_true(roles <= OPERATION_ROLES_MAX);
    }
    assert_int_equal(operation_role(operation_find("sum", NULL), "nothing"), -1);
    assert_non_null(operation_baseline(operation_find("gemm", NULL), "cublasLt"));
    for (int i = 0; i < ELEMENT_COUNT; i++) assert_int_equal(element_find(element_name((enum element)i)), i);
    assert_int_equal(element_find("fp32"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_product_agrees_with_three_loops),
        cmocka_unit_test(an_integer_product_is_exact),
        cmocka_unit_test(the_bound_of_a_product_accepts_rounding_and_rejects_a_missing_term),
        cmocka_unit_test(the_bound_of_a_compute_class_tells_it_from_the_others),
        cmocka_unit_test(a_compute_class_is_one_of_f32),
        cmocka_unit_test(with_beta_0_a_product_does_not_read_c_and_keeps_what_is_not_finite),
        cmocka_unit_test(a_product_s_shapes_must_fit),
        cmocka_unit_test(a_batch_is_products_one_below_the_other),
        cmocka_unit_test(a_batch_must_divide_the_rows),
        cmocka_unit_test(matrix_times_vector_agrees_with_two_loops),
        cmocka_unit_test(a_vector_s_shape_must_fit),
        cmocka_unit_test(the_sum_agrees_with_a_loop),
        cmocka_unit_test(the_bound_of_a_sum_accepts_every_shape_of_kernel_and_rejects_a_missing_element),
        cmocka_unit_test(a_sum_that_cannot_round_must_be_exact),
        cmocka_unit_test(an_integer_sum_wraps_like_its_type),
        cmocka_unit_test(a_transpose_is_exact_in_and_out_of_place),
        cmocka_unit_test(shapes_of_a_transpose_must_fit),
        cmocka_unit_test(reductions_agree_with_loops_and_reject_a_missing_element),
        cmocka_unit_test(the_largest_magnitude_is_found_at_its_lowest_place),
        cmocka_unit_test(sums_of_rows_and_columns_agree_with_loops),
        cmocka_unit_test(softmax_rows_add_to_one_and_a_missing_term_is_seen),
        cmocka_unit_test(a_prefix_sum_agrees_with_a_loop_across_pieces),
        cmocka_unit_test(alignments_have_the_scores_of_the_definition),
        cmocka_unit_test(elements_survive_storing_and_loading),
        cmocka_unit_test(names_are_found_and_misspelt_ones_get_a_proposal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
