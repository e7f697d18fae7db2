// Matrix times vector: y = alpha*op(A)*x + beta*y, A row-major, for f64 and f32 (libraries do not offer other types).
//
// The bound is the same as for a matrix product whose sums have as many terms as x (see gemm.c, which also explains
// what it proves): (2*sqrt(n) + 4)*u*(|alpha||A||x| + |beta||y|), element by element, against fp64.
#include <float.h>
#include <math.h>

#include "kernels/least.h"
#include "kernels/operation.h"

enum { GEMV_M, GEMV_N, GEMV_ALPHA, GEMV_BETA, GEMV_TRANSPOSE, GEMV_A, GEMV_X, GEMV_Y };

static const struct operation_role roles[] = {
    [GEMV_M] = {"M", ROLE_SIZE, 0, "rows of A as it is stored"},
    [GEMV_N] = {"N", ROLE_SIZE, 0, "columns of A as it is stored"},
    [GEMV_ALPHA] = {"alpha", ROLE_SCALAR, 1, "factor of the product"},
    [GEMV_BETA] = {"beta", ROLE_SCALAR, 0, "factor of the old y; 0: y is not read"},
    [GEMV_TRANSPOSE] = {"transpose", ROLE_SCALAR, 0, "1: A's transpose is multiplied"},
    [GEMV_A] = {"A", ROLE_INPUT, 0, "M by N"},
    [GEMV_X] = {"x", ROLE_INPUT, 0, "one row; N elements, M with transpose"},
    [GEMV_Y] = {"y", ROLE_OUTPUT, 0, "one row; M elements, N with transpose"},
    {0},
};

static bool transposed(const struct operation_problem *p)
{
    return p->value[GEMV_TRANSPOSE] != 0;
}

static int check(const struct operation_problem *p, struct error *err)
{
    const struct operand *a = &p->operand[GEMV_A], *x = &p->operand[GEMV_X], *y = &p->operand[GEMV_Y];
    int64_t in = transposed(p) ? a->rows : a->cols, out = transposed(p) ? a->cols : a->rows;
    if (x->rows != 1 || y->rows != 1) return error_set(err, "x and y must have one dimension");
    if (x->cols != in || y->cols != out)
        return error_set(err, "shapes do not fit: A %lldx%lld%s, x %lld, y %lld", (long long)a->rows,
                         (long long)a->cols, transposed(p) ? " transposed" : "", (long long)x->cols,
                         (long long)y->cols);
    const int64_t sizes[] = {[GEMV_M] = a->rows, [GEMV_N] = a->cols};
    for (int i = GEMV_M; i <= GEMV_N; i++)
        if (p->value[i] > 0 && p->value[i] != (double)sizes[i])
            return error_set(err, "%s is %g, but the shape of A says %lld", roles[i].name, p->value[i],
                             (long long)sizes[i]);
    if (a->type != x->type || a->type != y->type || (a->type != ELEMENT_F32 && a->type != ELEMENT_F64))
        return error_set(err, "A is %s, x %s and y %s: all must be f32, or all f64", element_name(a->type),
                         element_name(x->type), element_name(y->type));
    return 0;
}

// Describes the product as a matrix product whose second operand has one column.
static struct device_gemm product(const struct operation_problem *p)
{
    struct device_gemm g = {
        .transpose_a = transposed(p),
        .batch = 1,
        .m = p->operand[GEMV_Y].cols,
        .n = 1,
        .k = p->operand[GEMV_X].cols,
        .alpha = p->value[GEMV_ALPHA],
        .beta = p->value[GEMV_BETA],
        .a = p->operand[GEMV_A],
        .b = p->operand[GEMV_X],
        .c = p->operand[GEMV_Y],
    };
    g.b.rows = g.k;
    g.c.rows = g.m;
    g.b.cols = g.c.cols = g.b.ld = g.c.ld = 1;
    return g;
}

static void bound(const struct operation_problem *p, struct operation_expected *expected)
{
    enum element type = p->operand[GEMV_Y].type;
    double k = (double)p->operand[GEMV_X].cols;
    expected->per_scale = element_roundoff(type) * (2 * sqrt(k) + 4);
    expected->per_value = 0;
    expected->floor = k * (type == ELEMENT_F64 ? DBL_TRUE_MIN : (double)FLT_TRUE_MIN);
}

// to = fp64 copy of an operand; device memory is allocated if `to` has none.
static int widened(const struct device_operations *tools, const struct operand *from, enum widened how,
                   struct operand *to, struct error *err)
{
    size_t bytes = (size_t)(from->rows * from->cols) * sizeof(double);
    to->type = ELEMENT_F64;
    to->ld = to->cols;
    if (!to->device && tools->scratch(tools->self, bytes, &to->device, err)) return -1;
    return tools->widen(tools->self, from, how, to->device, err);
}

static int reference(const struct device_operations *tools, const struct operation_problem *p,
                     struct operation_expected *all, struct error *err)
{
    struct operation_expected *expected = &all[GEMV_Y];
    struct device_gemm g = product(p), wide = g;
    const struct operand *a = &p->operand[GEMV_A], *x = &p->operand[GEMV_X], *y = &p->operand[GEMV_Y];
    bound(p, expected);
    wide.a.device = wide.b.device = 0;
    wide.c.device = expected->expected;
    if (widened(tools, a, WIDENED_VALUE, &wide.a, err) || widened(tools, x, WIDENED_VALUE, &wide.b, err) ||
        widened(tools, y, WIDENED_VALUE, &wide.c, err) || tools->gemm(tools->self, &wide, err))
        return -1;
    wide.c.device = 0;
    wide.alpha = fabs(g.alpha);
    wide.beta = fabs(g.beta);
    if (widened(tools, a, WIDENED_SIZE, &wide.a, err) || widened(tools, x, WIDENED_SIZE, &wide.b, err) ||
        widened(tools, y, WIDENED_SIZE, &wide.c, err) || tools->gemm(tools->self, &wide, err))
        return -1;
    return tools->narrow_up(tools->self, 1, wide.c.device, 0, g.m, expected->scale, err);
}

static double host_at(const struct operand *m, int64_t i, int64_t j)
{
    return element_load(m->type, (const char *)m->host + (size_t)(i * m->ld + j) * element_size(m->type));
}

static int cpu(const struct operation_problem *p, struct operation_expected *all, struct error *err)
{
    (void)err;
    struct operation_expected *expected = &all[GEMV_Y];
    struct device_gemm g = product(p);
    bound(p, expected);
    for (int64_t i = 0; i < g.m; i++) {
        double sum = 0, scale = 0, old = g.beta != 0 ? host_at(&p->operand[GEMV_Y], 0, i) : 0;
        for (int64_t k = 0; k < g.k; k++) {
            double term =
                (g.transpose_a ? host_at(&g.a, k, i) : host_at(&g.a, i, k)) * host_at(&p->operand[GEMV_X], 0, k);
            sum += term;
            scale += fabs(term);
        }
        if (expected->host_expected) expected->host_expected[i] = g.alpha * sum + g.beta * old;
        if (expected->host_scale)
            expected->host_scale[i] = (float)((fabs(g.alpha) * scale + fabs(g.beta * old)) * (1 + 0x1p-22));
    }
    return 0;
}

static void least(const struct operation_problem *p, struct operation_least *least)
{
    struct device_gemm g = product(p);
    struct operation_expected expected;
    bound(p, &expected);
    least_of_product(&g, expected.per_scale, expected.per_value, least);
}

static int run_gemv(const struct device_operations *tools, const struct operation_problem *p, void *state,
                    struct error *err)
{
    (void)state;
    struct device_gemm g = product(p);
    return tools->gemv(tools->self, &g, err);
}

static int run_gemm(const struct device_operations *tools, const struct operation_problem *p, void *state,
                    struct error *err)
{
    (void)state;
    struct device_gemm g = product(p);
    return tools->gemm(tools->self, &g, err);
}

static const struct operation_baseline baselines[] = {
    {"cublas", "cublasSgemv or cublasDgemv", true, .run = run_gemv},
    {"cublas_gemm", "cublasGemmEx with one column; FP32 without TF32", true, .run = run_gemm},
    {0},
};

const struct operation operation_gemv = {
    .name = "gemv",
    .summary = "matrix times vector y = alpha*op(A)*x + beta*y, A row-major",
    .bound = "u*(2*sqrt(n)+4) * (|alpha||A||x| + |beta||y|), element-wise against fp64 "
             "(Higham 2002, section 3.5; Higham and Mary 2019)",
    .roles = roles,
    .check = check,
    .deterministic = true,
    .domain = VALUES_SCALED | VALUES_ZERO,
    .least = least,
    .pipe = operation_pipe_of_sums,
    .reference = reference,
    .cpu = cpu,
    .baselines = baselines,
};
