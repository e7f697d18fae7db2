// Matrix product: C = alpha*op(A)*op(B) + beta*C, row-major, for f64, f32, f16, bf16 and for i8 into i32.
//
// What the check proves. The reference is computed in fp64 (by cuBLAS's DGEMM on the inputs converted without loss, or
// by the loop below), and so is S = |alpha||A||B| + |beta||C|, element by element. In floating-point arithmetic with
// unit roundoff u, *any* order of summation satisfies |computed - exact| <= gamma_K * S with gamma_K ~ K*u (Higham,
// Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.5), and if rounding errors behave like independent
// random variables, as they do on random data, c*sqrt(K)*u*S with overwhelming probability (Higham and Mary, A new
// approach to probabilistic rounding error analysis, SIAM J. Sci. Comput. 41, 2019). We allow (2*sqrt(K) + 4)*u*S, plus
// the rounding of the stored result when C's type is coarser than the accumulator's. Sequential summation of
// non-negative data, the least favourable correct case, reaches about sqrt(K)*u*S in the worst of 10^8 elements; with
// zero-mean data it is 2 to 6 u*S (measured on an H200: 6.2 at K=2048, 7.1 at K=16384).
//
// So a kernel that passes may have rounding errors, but no other error that exceeds the bound. The bound rejects the
// following. With inputs uniform in [-1,1], a missing term in one element's sum is detected with a probability of 98%
// at K=2048 and 76% at K=16384 *for each affected element*, and a bug in a row, a column or a tile affects hundreds of
// elements. TF32 inputs (2^-11) exceed it by a factor of 4 at K=2048, but barely at K=16384, so a job with larger K
// that must exclude TF32 should set the tolerance below 1, and a job whose kernel uses TF32 must declare it (see
// below). S is exact. The cheaper product of row and column norms is not used, because for structured inputs it can be
// sqrt(K) times too large. For f64 the reference is computed in twice the working precision (Dot2, in
// kernels/support.cu), so that it adds only an error of u*|C| and terms of K*u^2. On the CPU the reference is as
// inexact as the kernel, and the bound covers both errors. Integer results must be equal: DGEMM of i8 values is exact,
// since |sum| < 2^53.
//
// Classes. `compute` says how much precision f32 inputs may lose before they are multiplied; each class has its own
// baselines.
//
// - "tf32": they may be rounded or cut off to 11 bits. This changes each product by a factor 1 - d: 0 <= d < 2^-9 if
//   cut off, |d| < 2^-10 if rounded. Let Q be the root of the sum of the terms' squares, including the old C's. If the
//   terms' signs and the inputs' low bits are random, the mean of d moves the sum by less than 2^-9*|expected|. The
//   rest is sub-Gaussian, *whatever the sizes of the terms*: it is larger than t deviations with a probability of at
//   most 2*exp(-t^2/2). A deviation is at most 0.32*2^-10*Q for uniform and normal data (0.31 and 0.32 if cut off, 0.29
//   and 0.30 if rounded), and 0.41*2^-10*Q if all mantissas are just above a power of two. We allow 2^-9*|expected| +
//   2.5*2^-10*Q and the sum's own errors as above. The term in Q is eight deviations for uniform and normal data (a
//   probability of 6e-14) and six for mantissas just above a power of two (1e-8). If signs are not random, any values
//   of d change the sum by at most 2^-10*(S + |expected|). That is within the bound for terms of one sign, and for few
//   terms (S <= 2.5*Q, that is, up to six). Operands rounded to BF16 exceed the bound in one element in twelve, even if
//   a few large terms dominate. Errors are reported relative to the scale Q + u*(2*sqrt(K) + 4)/(2.5*2^-10)*S.
//   Baselines: cuBLAS and cublasLt with CUBLAS_COMPUTE_32F_FAST_TF32.
// - "3xtf32": each input is the sum of two TF32 numbers, and three of the four products are summed (Ootomo and Yokota,
//   Recovering single precision accuracy from Tensor Cores while surpassing the FP32 theoretical peak performance,
//   IJHPCA 36, 2022). If the high part is cut off and the low one rounded, a product misses at most (2*2^-21 +
//   2^-20)|ab| = 32u|ab|. We allow FP32's own bound plus that, (2*sqrt(K) + 4 + 32)*u*S. Tensor cores truncate when
//   they add (Fasi, Higham, Mikaitis and Pranesh, Numerical behavior of NVIDIA tensor cores, PeerJ CS 7, 2021). With
//   data of one sign, this error grows like K, so for such data a kernel must regularly add the tensor cores' sums to
//   an accumulator that rounds. Plain TF32 exceeds this bound in one element in ten at K=2048. Baselines: cuBLAS and
//   cublasLt in FP32, whose errors `compare` also shows.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/least.h"
#include "kernels/operation.h"
#include "tuner/base/memory.h"

enum {
    GEMM_M,
    GEMM_N,
    GEMM_K,
    GEMM_ALPHA,
    GEMM_BETA,
    GEMM_TRANSPOSE_A,
    GEMM_TRANSPOSE_B,
    GEMM_BATCH,
    GEMM_COMPUTE,
    GEMM_A,
    GEMM_B,
    GEMM_C
};

static const struct operation_role roles[] = {
    [GEMM_M] = {"M", ROLE_SIZE, 0, "rows of C"},
    [GEMM_N] = {"N", ROLE_SIZE, 0, "columns of C"},
    [GEMM_K] = {"K", ROLE_SIZE, 0, "length of the sums"},
    [GEMM_ALPHA] = {"alpha", ROLE_SCALAR, 1, "factor of the product"},
    [GEMM_BETA] = {"beta", ROLE_SCALAR, 0, "factor of the old C; 0: C is not read"},
    [GEMM_TRANSPOSE_A] = {"transpose_a", ROLE_SCALAR, 0, "1: A is stored K by M"},
    [GEMM_TRANSPOSE_B] = {"transpose_b", ROLE_SCALAR, 0, "1: B is stored N by K"},
    [GEMM_BATCH] = {"batch", ROLE_SCALAR, 1, "products of this shape, one below the other in A, in B and in C"},
    [GEMM_COMPUTE] = {"compute", ROLE_SCALAR, 0,
                      "\"full\", or for f32 \"tf32\" or \"3xtf32\": how inputs may be rounded first"},
    [GEMM_A] = {"A", ROLE_INPUT, 0, "M by K"},
    [GEMM_B] = {"B", ROLE_INPUT, 0, "K by N"},
    [GEMM_C] = {"C", ROLE_OUTPUT, 0, "M by N"},
    {0},
};

enum compute { COMPUTE_FULL, COMPUTE_TF32, COMPUTE_3XTF32 };
static const char *const classes[] = {
    [COMPUTE_FULL] = "full", [COMPUTE_TF32] = "tf32", [COMPUTE_3XTF32] = "3xtf32", NULL};

// The product that a problem describes. C's shape determines M and N, and A's shape K; the job's sizes are only
// compared with them. If the operands do not hold a whole number of products, `batch` is 0, which check() rejects.
static struct device_gemm product(const struct operation_problem *p)
{
    const struct operand *a = &p->operand[GEMM_A], *c = &p->operand[GEMM_C];
    bool transpose_a = p->value[GEMM_TRANSPOSE_A] != 0;
    double batch = p->value[GEMM_BATCH];
    int64_t count = batch >= 1 && batch <= (double)c->rows && batch == floor(batch) ? (int64_t)batch : 0;
    int64_t each = count ? count : 1;
    return (struct device_gemm){
        .batch = count,
        .transpose_a = transpose_a,
        .transpose_b = p->value[GEMM_TRANSPOSE_B] != 0,
        .m = c->rows / each,
        .n = c->cols,
        .k = transpose_a ? a->rows / each : a->cols,
        .alpha = p->value[GEMM_ALPHA],
        .beta = p->value[GEMM_BETA],
        .tf32 = p->value[GEMM_COMPUTE] == COMPUTE_TF32,
        .a = *a,
        .b = p->operand[GEMM_B],
        .c = *c,
    };
}

static int check(const struct operation_problem *p, struct error *err)
{
    struct device_gemm g = product(p);
    if (!g.batch || g.a.rows % g.batch || g.b.rows % g.batch || g.c.rows % g.batch)
        return error_set(
            err, "batch is %g: it must be a whole number that divides the rows of A (%lld), B (%lld) and C (%lld)",
            p->value[GEMM_BATCH], (long long)g.a.rows, (long long)g.b.rows, (long long)g.c.rows);
    int64_t a_rows = g.transpose_a ? g.a.cols : g.a.rows / g.batch;
    int64_t b_rows = g.transpose_b ? g.b.cols : g.b.rows / g.batch,
            b_cols = g.transpose_b ? g.b.rows / g.batch : g.b.cols;
    if (a_rows != g.m || b_rows != g.k || b_cols != g.n)
        return error_set(err, "shapes do not fit: A %lldx%lld, B %lldx%lld, C %lldx%lld", (long long)g.a.rows,
                         (long long)g.a.cols, (long long)g.b.rows, (long long)g.b.cols, (long long)g.c.rows,
                         (long long)g.c.cols);
    const int64_t sizes[] = {[GEMM_M] = g.m, [GEMM_N] = g.n, [GEMM_K] = g.k};
    for (int i = GEMM_M; i <= GEMM_K; i++)
        if (p->value[i] > 0 && p->value[i] != (double)sizes[i])
            return error_set(err, "%s is %g, but the buffers' shapes say %lld", roles[i].name, p->value[i],
                             (long long)sizes[i]);
    if (g.a.type != g.b.type)
        return error_set(err, "A is %s and B is %s: both must have one type", element_name(g.a.type),
                         element_name(g.b.type));
    bool floats = element_is_float(g.a.type);
    if (floats != element_is_float(g.c.type) || (!floats && (g.a.type != ELEMENT_I8 || g.c.type != ELEMENT_I32)))
        return error_set(err, "cannot multiply %s into %s: the types must be floats into floats, or i8 into i32",
                         element_name(g.a.type), element_name(g.c.type));
    if (!floats && (g.alpha != nearbyint(g.alpha) || g.beta != nearbyint(g.beta)))
        return error_set(err, "alpha and beta of an integer product must be integers");
    if (p->value[GEMM_COMPUTE] != COMPUTE_FULL && g.a.type != ELEMENT_F32)
        return error_set(err, "compute \"%s\" needs f32; A and B are %s",
                         classes[p->value[GEMM_COMPUTE] == COMPUTE_TF32 ? COMPUTE_TF32 : COMPUTE_3XTF32],
                         element_name(g.a.type));
    return 0;
}

static const double tf32_per_root = 2.5 * 0x1p-10;

// Every library and tensor core accumulates f16, bf16 and FP8 products in fp32. If a job's kernel does not, the job
// needs a larger tolerance.
static double roundoff(const struct device_gemm *g)
{
    return element_roundoff(element_size(g->a.type) < 4 ? ELEMENT_F32 : g->a.type);
}

// The allowance for the sums' rounding errors, relative to S.
static double of_sums(const struct device_gemm *g)
{
    return roundoff(g) * (2 * sqrt((double)g->k) + 4);
}

// Fills in the factors of the scale; see the paragraphs at the top.
static void bound(const struct operation_problem *p, const struct device_gemm *g, struct operation_expected *expected)
{
    double u = roundoff(g), stored = element_roundoff(g->c.type);
    expected->per_scale = g->tf32 ? tf32_per_root : of_sums(g);
    expected->per_value = stored > u ? stored * (1 + 0x1p-4) : 0;
    if (g->tf32) expected->per_value += 0x1p-9;
    if (p->value[GEMM_COMPUTE] == COMPUTE_3XTF32) expected->per_scale += 32 * u;
    // Results and products below the smallest normal number have an absolute error of half the smallest subnormal.
    double smallest = g->c.type == ELEMENT_F64    ? DBL_TRUE_MIN
                      : g->c.type == ELEMENT_F16  ? 0x1p-24
                      : g->c.type == ELEMENT_E4M3 ? 0x1p-9
                      : g->c.type == ELEMENT_E5M2 ? 0x1p-16
                                                  : (double)FLT_TRUE_MIN;
    bool coarse = g->c.type == ELEMENT_F16 || element_size(g->c.type) == 1;
    expected->floor = smallest * (coarse ? 1.0 : (double)g->k);
}

// The factor of S in the scale.
static double share_of_sums(const struct device_gemm *g)
{
    return g->tf32 ? of_sums(g) / tf32_per_root : 1;
}

static int widened(const struct device_operations *tools, const struct operand *from, enum widened how,
                   struct operand *to, struct error *err)
{
    *to = (struct operand){
        .type = ELEMENT_F64, .rows = from->rows, .cols = from->cols, .ld = from->cols, .device = to->device};
    size_t bytes = (size_t)(from->rows * from->cols) * sizeof(double);
    if (!to->device && tools->scratch(tools->self, bytes, &to->device, err)) return -1;
    return tools->widen(tools->self, from, how, to->device, err);
}

static int reference(const struct device_operations *tools, const struct operation_problem *p,
                     struct operation_expected *all, struct error *err)
{
    struct device_gemm g = product(p), wide = g;
    struct operation_expected *expected = &all[GEMM_C];
    int64_t n = g.c.rows * g.c.cols;
    bool exact = !element_is_float(g.c.type);
    bound(p, &g, expected);

    wide.a.device = wide.b.device = wide.c.device = 0;
    if (widened(tools, &g.a, WIDENED_VALUE, &wide.a, err) || widened(tools, &g.b, WIDENED_VALUE, &wide.b, err))
        return -1;
    wide.c.device = exact ? 0 : expected->expected;
    // The reference of an fp64 product is computed in twice the working precision, since cuBLAS must not be its own
    // reference.
    if (widened(tools, &g.c, WIDENED_VALUE, &wide.c, err) ||
        (g.a.type == ELEMENT_F64 ? tools->product : tools->gemm)(tools->self, &wide, err))
        return -1;
    if (exact) return tools->to_integer(tools->self, wide.c.device, n, expected->expected, err);

    uint64_t sums[WIDENED_SQUARE + 1] = {0}; // S, and Q^2 if it is needed
    for (enum widened how = WIDENED_SIZE; how <= (g.tf32 ? WIDENED_SQUARE : WIDENED_SIZE); how++) {
        wide.c.device = 0;
        wide.alpha = how == WIDENED_SIZE ? fabs(g.alpha) : g.alpha * g.alpha;
        wide.beta = how == WIDENED_SIZE ? fabs(g.beta) : g.beta * g.beta;
        if (widened(tools, &g.a, how, &wide.a, err) || widened(tools, &g.b, how, &wide.b, err) ||
            widened(tools, &g.c, how, &wide.c, err) || tools->gemm(tools->self, &wide, err))
            return -1;
        sums[how] = wide.c.device;
    }
    return tools->narrow_up(tools->self, share_of_sums(&g), sums[WIDENED_SIZE], sums[WIDENED_SQUARE], n,
                            expected->scale, err);
}

// Dense fp64 copy of an operand for the batch's product `which`, transposed if `transpose`; NULL if there is no memory.
static double *host_copy(const struct operand *all, int64_t batch, int64_t which, bool transpose, struct error *err)
{
    int64_t rows = all->rows / batch;
    double *to = memory_try((size_t)(rows * all->cols), sizeof *to, err);
    size_t size = element_size(all->type);
    const char *data = (const char *)all->host + (size_t)(which * rows * all->ld) * size;
    for (int64_t i = 0; to && i < rows; i++)
        for (int64_t j = 0; j < all->cols; j++)
            to[transpose ? j * rows + i : i * all->cols + j] =
                element_load(all->type, data + (size_t)(i * all->ld + j) * size);
    return to;
}

static int cpu_one(const struct device_gemm *g, int64_t which, struct operation_expected *expected, struct error *err)
{
    double *a = host_copy(&g->a, g->batch, which, g->transpose_a, err),
           *b = host_copy(&g->b, g->batch, which, g->transpose_b, err), *c = NULL;
    double *row = memory_try((size_t)g->n * 3, sizeof *row, err);
    if (g->beta != 0) c = host_copy(&g->c, g->batch, which, false, err);
    int result = -1;
    if (!a || !b || !row || (g->beta != 0 && !c)) goto out;
    result = 0;
    double *scale = row + g->n, *squares = scale + g->n;
    for (int64_t i = 0; i < g->m; i++) {
        memset(row, 0, (size_t)g->n * 3 * sizeof *row);
        for (int64_t k = 0; k < g->k; k++) {
            double x = a[i * g->k + k];
            const double *y = b + k * g->n;
            for (int64_t j = 0; j < g->n; j++) {
                row[j] += x * y[j];
                scale[j] += fabs(x * y[j]);
            }
            for (int64_t j = 0; j < g->n && g->tf32; j++) squares[j] += x * y[j] * (x * y[j]);
        }
        for (int64_t j = 0; j < g->n; j++) {
            double old = c ? c[i * g->n + j] : 0;
            double value = g->alpha * row[j] + g->beta * old;
            double size = fabs(g->alpha) * scale[j] + fabs(g->beta * old);
            if (g->tf32)
                size = share_of_sums(g) * size + sqrt(g->alpha * g->alpha * squares[j] + pow(g->beta * old, 2));
            int64_t at = (which * g->m + i) * g->n + j;
            if (expected->host_exact) expected->host_exact[at] = (int64_t)value;
            if (expected->host_expected) expected->host_expected[at] = value;
            if (expected->host_scale) expected->host_scale[at] = (float)(size * (1 + 0x1p-22));
        }
    }
out:
    free(a);
    free(b);
    free(c);
    free(row);
    return result;
}

static int cpu(const struct operation_problem *p, struct operation_expected *all, struct error *err)
{
    struct device_gemm g = product(p);
    bound(p, &g, &all[GEMM_C]);
    for (int64_t i = 0; i < g.batch; i++)
        if (cpu_one(&g, i, &all[GEMM_C], err)) return -1;
    return 0;
}

static void least(const struct operation_problem *p, struct operation_least *least)
{
    struct device_gemm g = product(p);
    struct operation_expected expected;
    bound(p, &g, &expected);
    // Q is at most 1.6*S/sqrt(K) on random data.
    if (g.tf32) expected.per_scale = of_sums(&g) + tf32_per_root * fmin(1, 1.6 / sqrt((double)g.k));
    least_of_product(&g, expected.per_scale, expected.per_value, least);
}

static int run_cublas(const struct device_operations *tools, const struct operation_problem *p, void *state,
                      struct error *err)
{
    (void)state;
    struct device_gemm g = product(p);
    return tools->gemm(tools->self, &g, err);
}

static int list_lt(const struct device_operations *tools, const struct operation_problem *p,
                   struct operation_way ways[OPERATION_WAYS_MAX], size_t *count, struct error *err)
{
    struct device_gemm g = product(p);
    return tools->list_gemm(tools->self, &g, ways, count, err);
}

static int prepare_lt(const struct device_operations *tools, const struct operation_problem *p, const char *way,
                      void **state, struct error *err)
{
    struct device_gemm g = product(p);
    return tools->plan_gemm(tools->self, &g, way, state, err);
}

static int run_lt(const struct device_operations *tools, const struct operation_problem *p, void *state,
                  struct error *err)
{
    struct device_gemm g = product(p);
    return tools->run_plan(tools->self, &g, state, err);
}

static void release_lt(const struct device_operations *tools, void *state)
{
    tools->plan_free(tools->self, state);
}

static const struct operation_baseline baselines[] = {
    {"cublas",
     "cublasGemmEx (a batch: cublasGemmStridedBatchedEx), its own choice of algorithm; FP32 without TF32 unless "
     "compute is \"tf32\"",
     true, .run = run_cublas},
    {"cublasLt", "the fastest of cublasLt's first 32 heuristics, 64 MiB of workspace", true, prepare_lt, run_lt,
     release_lt, 1, list_lt},
    {"cublasLt_2", "the second fastest of them", true, prepare_lt, run_lt, release_lt, 2, list_lt},
    {"cublasLt_3", "the third fastest of them", true, prepare_lt, run_lt, release_lt, 3, list_lt},
    {0},
};

const struct operation operation_gemm = {
    .name = "gemm",
    .summary = "matrix product C = alpha*op(A)*op(B) + beta*C, row-major",
    .bound = "u*(2*sqrt(K)+4) * (|alpha||A||B| + |beta||C|), element-wise against fp64 "
             "(Higham 2002, section 3.5; Higham and Mary 2019); compute \"tf32\": "
             "+ 2.5*2^-10 * sqrt(sum of the terms' squares) + 2^-9*|expected|; \"3xtf32\": + 32*u * (|alpha||A||B| + "
             "|beta||C|) (Ootomo and Yokota 2022)",
    .classes = classes,
    .roles = roles,
    .check = check,
    .deterministic = true,
    .domain = VALUES_SCALED | VALUES_ZERO | VALUES_FULL,
    .least = least,
    .pipe = operation_pipe_of_products,
    .reference = reference,
    .cpu = cpu,
    .baselines = baselines,
};
