// The matrix products (kernels/gemm.c, gemv.c) without a GPU: references on the CPU are compared with the simplest
// loops. Bounds must accept the results of honest kernels and reject results that lack one term.
#include "tests/operation_problem.h"

static struct error err; // from the last call that failed

static struct result gemm_problem(enum element in, enum element out, int64_t m, int64_t n, int64_t k, bool ta, bool tb,
                                  double alpha, double beta, double (*fill)(uint64_t *))
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
    r.problem.operand[operation_role(op, "A")] =
        ta ? matrix(in, k, m, m + 3, fill, 1) : matrix(in, m, k, k + 3, fill, 1);
    r.problem.operand[operation_role(op, "B")] =
        tb ? matrix(in, n, k, k + 1, fill, 2) : matrix(in, k, n, n + 1, fill, 2);
    r.problem.operand[r.out] = matrix(out, m, n, n + 5, fill, 3);
    return r;
}

TEST(the_product_agrees_with_three_loops)
{
    const struct operation *op = operation_find("gemm", NULL);
    static const enum element types[] = {ELEMENT_F64, ELEMENT_F32, ELEMENT_F16, ELEMENT_BF16, ELEMENT_F32};
    for (int variant = 0; variant < 40; variant++) {
        bool tf32 = variant >= 32, ta = variant & 1, tb = variant & 2, with_c = variant & 4;
        struct result r =
            gemm_problem(types[variant / 8], types[variant / 8], 7, 5, 11, ta, tb, 1.5, with_c ? -0.5 : 0, noise);
        const struct operand *a = &r.problem.operand[operation_role(op, "A")],
                             *b = &r.problem.operand[operation_role(op, "B")];
        r.problem.value[operation_role(op, "compute")] = operation_class(op, tf32 ? "tf32" : "full");
        compute(op, &r);
        for (int64_t i = 0; i < 7; i++)
            for (int64_t j = 0; j < 5; j++) {
                double sum = 0, size = 0, squares = 0;
                for (int64_t k = 0; k < 11; k++) {
                    double term = (ta ? at(a, k, i) : at(a, i, k)) * (tb ? at(b, j, k) : at(b, k, j));
                    sum += term;
                    size += fabs(term);
                    squares += term * term;
                }
                double old = with_c ? at(&r.problem.operand[r.out], i, j) : 0;
                const struct operation_expected *e = &r.expected[r.out];
                double scale = 1.5 * size + 0.5 * fabs(old);
                assert_true(fabs(e->host_expected[i * 5 + j] - (1.5 * sum - 0.5 * old)) < 1e-12);
                if (tf32) {
                    double of_inputs = 0x1p-9 * fabs(e->host_expected[i * 5 + j]) +
                                       2.5 * 0x1p-10 * sqrt(2.25 * squares + 0.25 * old * old);
                    double more = allowed(e, (size_t)(i * 5 + j)) - of_inputs, sums = 0x1p-24 * (2 * sqrt(11) + 4);
                    assert_true(more > sums * scale && more < sums * scale + 1e-8);
                    continue;
                }
                assert_true(fabs((double)e->host_scale[i * 5 + j] - scale) < 1e-5);
                assert_true((double)e->host_scale[i * 5 + j] >= scale); // rounded up
            }
    }
}

TEST(an_integer_product_is_exact)
{
    const struct operation *op = operation_find("gemm", NULL);
    struct result r = gemm_problem(ELEMENT_I8, ELEMENT_I32, 4, 3, 50, false, true, 2, 1, integers);
    const struct operand *a = &r.problem.operand[operation_role(op, "A")],
                         *b = &r.problem.operand[operation_role(op, "B")];
    compute(op, &r);
    for (int64_t i = 0; i < 4; i++)
        for (int64_t j = 0; j < 3; j++) {
            int64_t sum = 0;
            for (int64_t k = 0; k < 50; k++) sum += (int64_t)at(a, i, k) * (int64_t)at(b, j, k);
            assert_true(r.expected[r.out].host_exact[i * 3 + j] ==
                        2 * sum + (int64_t)at(&r.problem.operand[r.out], i, j));
        }
}

// Products in single precision in the worst order, one term after the other, with signed and with non-negative data.
TEST(the_bound_of_a_product_accepts_rounding_and_rejects_a_missing_term)
{
    const struct operation *op = operation_find("gemm", NULL);
    double (*const fills[])(uint64_t *) = {noise, positive};
    for (int f = 0; f < 2; f++) {
        const int64_t m = 24, n = 20, k = 2048;
        struct result r = gemm_problem(ELEMENT_F32, ELEMENT_F32, m, n, k, false, false, 1, 0, fills[f]);
        const struct operand *a = &r.problem.operand[operation_role(op, "A")],
                             *b = &r.problem.operand[operation_role(op, "B")];
        const struct operation_expected *e = &r.expected[r.out];
        int rejected = 0;
        compute(op, &r);
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) {
                float sum = 0, without = 0;
                for (int64_t l = 0; l < k; l++) {
                    without = sum;
                    sum += (float)at(a, i, l) * (float)at(b, l, j); // not fused: two roundings per term
                }
                size_t place = (size_t)(i * n + j);
                assert_true(fabs((double)sum - e->host_expected[place]) <= allowed(e, place));
                rejected += !(fabs((double)without - e->host_expected[place]) <= allowed(e, place));
            }
        assert_true(rejected > 0.95 * (double)(m * n));
    }
}

// Keeps the upper `bits` of a float's 23 mantissa bits. `nearest` rounds (halves away from zero), otherwise truncates.
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

// Computes a*b as tensor cores do: from shortened operands, or from operands split in two. The product of the two low
// parts is left out.
static double seen(int way, float a, float b)
{
    if (way == IN_TF32_CUT) return (double)shortened(a, 10, false) * (double)shortened(b, 10, false);
    if (way == IN_TF32_ROUNDED) return (double)shortened(a, 10, true) * (double)shortened(b, 10, true);
    if (way == IN_BF16) return (double)shortened(a, 7, true) * (double)shortened(b, 7, true);
    float high_a = shortened(a, 10, false), high_b = shortened(b, 10, false);
    float low_a = shortened(a - high_a, 10, true), low_b = shortened(b - high_b, 10, true);
    return (double)high_a * (double)low_b + (double)low_a * (double)high_b + (double)high_a * (double)high_b;
}

TEST(the_bound_of_a_compute_class_tells_it_from_the_others)
{
    const struct operation *op = operation_find("gemm", NULL);
    double (*const fills[])(uint64_t *) = {noise, positive};
    static const struct {
        const char *class;
        bool fits[WAYS];
    } cases[] = {{"full", {false, false, false, true}},
                 {"tf32", {true, true, false, true}},
                 {"3xtf32", {false, false, false, true}}};
    enum { M = 40, N = 48, K = 2048 };
    autofree float *rows = memory_new(M * K, sizeof *rows), *columns = memory_new(N * K, sizeof *columns);
    autofree double *sums = memory_new(M * N, sizeof *sums);
    for (int f = 0; f < 2; f++) {
        struct result r = gemm_problem(ELEMENT_F32, ELEMENT_F32, M, N, K, false, false, 1, 0, fills[f]);
        const struct operand *a = &r.problem.operand[operation_role(op, "A")],
                             *b = &r.problem.operand[operation_role(op, "B")];
        const struct operation_expected *e = &r.expected[r.out];
        for (int i = 0; i < M * K; i++) rows[i] = (float)at(a, i / K, i % K);
        for (int i = 0; i < N * K; i++) columns[i] = (float)at(b, i % K, i / K);
        for (int way = 0; way < WAYS; way++) {
            for (int place = 0; place < M * N; place++) {
                const float *x = rows + place / N * K, *y = columns + place % N * K;
                sums[place] = 0;
                for (int l = 0; l < K; l++) sums[place] += seen(way, x[l], y[l]);
            }
            for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
                int rejected = 0;
                r.problem.value[operation_role(op, "compute")] = operation_class(op, cases[c].class);
                compute(op, &r);
                for (size_t place = 0; place < M * N; place++)
                    rejected += !(fabs(sums[place] - e->host_expected[place]) <= allowed(e, place));
                if (cases[c].fits[way] ? rejected : f == 0 && !rejected)
                    fail_msg("class %s, way %d, data %d: %d of %d rejected", cases[c].class, way, f, rejected, M * N);
            }
        }
    }
}

// Three quarters of A are 0, and in row i some of the first 1 + i % 32 elements are 1000 times as large as the rest.
// They come first in FP32 sums, so that all other terms have the largest rounding errors.
TEST(the_bound_of_tf32_holds_where_few_large_terms_dominate)
{
    enum { M = 64, N = 1024, K = 1024 };
    const struct operation *op = operation_find("gemm", NULL);
    struct result r = gemm_problem(ELEMENT_F32, ELEMENT_F32, M, N, K, false, false, 1, 0, noise);
    const struct operand *a = &r.problem.operand[operation_role(op, "A")],
                         *b = &r.problem.operand[operation_role(op, "B")];
    const struct operation_expected *e = &r.expected[r.out];
    uint64_t random = 5;
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            ((float *)a->host)[i * a->ld + k] *= noise(&random) < 0.5 ? 0.0f : k <= i % 32 ? 1000.0f : 1.0f;
    r.problem.value[operation_role(op, "compute")] = operation_class(op, "tf32");
    compute(op, &r);
    for (int way = IN_TF32_CUT; way <= IN_BF16; way++) {
        const int bits = way == IN_BF16 ? 7 : 10;
        int rejected = 0;
        for (int i = 0; i < M; i++) {
            float sums[N] = {0};
            for (int k = 0; k < K; k++) {
                const float x = shortened((float)at(a, i, k), bits, way != IN_TF32_CUT);
                const float *y = (const float *)b->host + k * b->ld;
                for (int j = 0; j < N && x != 0; j++) sums[j] += x * shortened(y[j], bits, way != IN_TF32_CUT);
            }
            for (int j = 0; j < N; j++) {
                const int place = i * N + j;
                rejected += !(fabs((double)sums[j] - e->host_expected[place]) <= allowed(e, (size_t)place));
            }
        }
        if (way == IN_BF16 ? rejected < M * N / 20 : rejected)
            fail_msg("way %d: %d of %d rejected", way, rejected, M * N);
    }
}

TEST(a_compute_class_is_one_of_f32)
{
    const struct operation *op = operation_find("gemm", NULL);
    assert_int_equal(operation_class(op, "full"), 0);
    assert_int_equal(operation_class(op, "tf23"), -1);
    assert_int_equal(operation_class(operation_find("sum", NULL), "full"), -1);
    struct result r = gemm_problem(ELEMENT_BF16, ELEMENT_BF16, 4, 3, 2, false, false, 1, 0, noise);
    r.problem.value[operation_role(op, "compute")] = operation_class(op, "3xtf32");
    assert_int_equal(op->check(&r.problem, &err), -1);
    assert_non_null(strstr(err.message, "compute \"3xtf32\" needs f32; A and B are bf16"));
}

static double no_number(uint64_t *state)
{
    (void)state;
    return NAN;
}

TEST(with_beta_0_a_product_does_not_read_c_and_keeps_what_is_not_finite)
{
    const struct operation *op = operation_find("gemm", NULL);
    struct result r = gemm_problem(ELEMENT_F32, ELEMENT_F32, 3, 4, 5, false, false, 1, 0, noise);
    r.problem.operand[r.out] = matrix(ELEMENT_F32, 3, 4, 9, no_number, 3);
    float *a = r.problem.operand[operation_role(op, "A")].host, *b = r.problem.operand[operation_role(op, "B")].host;
    int64_t lda = r.problem.operand[operation_role(op, "A")].ld, ldb = r.problem.operand[operation_role(op, "B")].ld;
    a[1 * lda + 2] = INFINITY;
    b[2 * ldb + 3] = 0; // and infinity times zero is NaN
    compute(op, &r);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) {
            double x = r.expected[r.out].host_expected[i * 4 + j];
            assert_true(i != 1 ? isfinite(x) : j == 3 ? isnan(x) : isinf(x) && (x > 0) == (b[2 * ldb + j] > 0));
        }
}

TEST(a_product_s_shapes_must_fit)
{
    const struct operation *op = operation_find("gemm", NULL);
    struct result r = gemm_problem(ELEMENT_F32, ELEMENT_F32, 4, 3, 2, false, false, 1, 0, noise);
    r.problem.value[operation_role(op, "M")] = 5;
    assert_int_equal(op->check(&r.problem, &err), -1);
    assert_non_null(strstr(err.message, "M is 5"));
    r.problem.value[operation_role(op, "M")] = 4;
    r.problem.operand[operation_role(op, "B")].rows = 3;
    assert_int_equal(op->check(&r.problem, &err), -1);
    assert_non_null(strstr(err.message, "shapes do not fit"));
    r = gemm_problem(ELEMENT_F32, ELEMENT_I32, 4, 3, 2, false, false, 1, 0, integers);
    assert_int_equal(op->check(&r.problem, &err), -1);
    assert_non_null(strstr(err.message, "f32 into i32"));
}

TEST(a_batch_is_products_one_below_the_other)
{
    const struct operation *op = operation_find("gemm", NULL);
    for (int variant = 0; variant < 4; variant++) {
        bool ta = variant & 1, tb = variant & 2;
        struct result all = gemm_problem(ELEMENT_F32, ELEMENT_F32, 4, 5, 6, ta, tb, 2, -1, noise);
        for (int i = 0; i < OPERATION_ROLES_MAX; i++) {
            struct operand *o = &all.problem.operand[i];
            if (!o->host) continue;
            int64_t rows = o->rows;
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
        }
    }
}

TEST(a_batch_must_divide_the_rows)
{
    const struct operation *op = operation_find("gemm", NULL);
    static const double bad[] = {0, -1, 2.5, 3, 1e300};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct result r = gemm_problem(ELEMENT_F32, ELEMENT_F32, 4, 3, 2, false, false, 1, 0, noise);
        r.problem.value[operation_role(op, "batch")] = bad[i];
        assert_int_equal(op->check(&r.problem, &err), -1);
        assert_non_null(strstr(err.message, "batch is"));
    }
}

// ---- the services that the reference on the GPU needs, in host memory ----

static void *memory_at(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

static int host_scratch(void *self, size_t bytes, uint64_t *pointer, struct error *error)
{
    (void)self, (void)error;
    *pointer = (uint64_t)(uintptr_t)test_owned(memory_new(bytes, 1));
    return 0;
}

static int host_widen(void *self, const struct operand *from, enum widened how, uint64_t to, struct error *error)
{
    (void)self, (void)error;
    for (int64_t i = 0; i < from->rows * from->cols; i++) {
        double x = at(from, i / from->cols, i % from->cols);
        ((double *)memory_at(to))[i] = how == WIDENED_SQUARE ? x * x : how == WIDENED_SIZE ? fabs(x) : x;
    }
    return 0;
}

static int host_narrow_up(void *self, double factor, uint64_t from, uint64_t squares, int64_t n, uint64_t to,
                          struct error *error)
{
    (void)self, (void)error;
    for (int64_t i = 0; i < n; i++)
        ((float *)memory_at(to))[i] =
            (float)(factor * ((double *)memory_at(from))[i] + (squares ? sqrt(((double *)memory_at(squares))[i]) : 0));
    return 0;
}

static int host_gemm(void *self, const struct device_gemm *g, struct error *error)
{
    const double *a = memory_at(g->a.device), *b = memory_at(g->b.device);
    double *c = memory_at(g->c.device);
    (void)self, (void)error;
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t j = 0; j < g->n; j++) {
            double sum = 0;
            for (int64_t k = 0; k < g->k; k++)
                sum += (g->transpose_a ? a[k * g->m + i] : a[i * g->k + k]) *
                       (g->transpose_b ? b[j * g->k + k] : b[k * g->n + j]);
            c[i * g->n + j] = g->alpha * sum + (g->beta != 0 ? g->beta * c[i * g->n + j] : 0);
        }
    return 0;
}

TEST(the_references_on_gpu_and_cpu_agree)
{
    const struct device_operations tools = {
        .scratch = host_scratch, .widen = host_widen, .narrow_up = host_narrow_up, .gemm = host_gemm};
    const struct operation *op = operation_find("gemm", NULL);
    enum { M = 9, N = 6, K = 70 };
    for (int variant = 0; variant < 24; variant++) {
        double beta = variant & 4 ? 3 : 0;
        struct result r = gemm_problem(ELEMENT_F32, ELEMENT_F32, M, N, K, variant & 1, variant & 2, -1.5, beta, noise);
        r.problem.value[operation_role(op, "compute")] = variant / 8;
        compute(op, &r);
        double expected[M * N];
        float scale[M * N];
        struct operation_expected all[OPERATION_ROLES_MAX] = {0}, *e = &r.expected[r.out], *got = &all[r.out];
        got->expected = (uint64_t)(uintptr_t)expected;
        got->scale = (uint64_t)(uintptr_t)scale;
        assert_int_equal(op->reference(&tools, &r.problem, all, &err), 0);
        assert_true(got->per_scale == e->per_scale && got->per_value == e->per_value && got->floor == e->floor);
        for (int i = 0; i < M * N; i++) {
            assert_true(fabs(expected[i] - e->host_expected[i]) < 1e-12);
            assert_true(fabsf(scale[i] - e->host_scale[i]) < 1e-6f * scale[i]);
        }
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

TEST(matrix_times_vector_agrees_with_two_loops)
{
    const struct operation *op = operation_find("gemv", NULL);
    for (int variant = 0; variant < 8; variant++) {
        bool transpose = variant & 1, with_y = variant & 2;
        int64_t m = 7, n = 12, out = transpose ? n : m, in = transpose ? m : n;
        struct result r =
            gemv_problem(variant & 4 ? ELEMENT_F64 : ELEMENT_F32, m, n, transpose, 1.5, with_y ? -0.5 : 0);
        const struct operand *a = &r.problem.operand[operation_role(op, "A")],
                             *x = &r.problem.operand[operation_role(op, "x")];
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
            assert_true(allowed(e, (size_t)i) < 1.5 * least); // a missing term is detected
        }
    }
}

TEST(a_vector_s_shape_must_fit)
{
    const struct operation *op = operation_find("gemv", NULL);
    struct result r = gemv_problem(ELEMENT_F32, 4, 3, false, 1, 0);
    r.problem.value[operation_role(op, "transpose")] = 1;
    assert_int_equal(op->check(&r.problem, &err), -1);
    assert_non_null(strstr(err.message, "A 4x3 transposed, x 3, y 4"));
    r = gemv_problem(ELEMENT_F16, 4, 3, false, 1, 0);
    assert_int_equal(op->check(&r.problem, &err), -1);
    assert_non_null(strstr(err.message, "f32, or all f64"));
}

TEST_MAIN(NULL, NULL)
