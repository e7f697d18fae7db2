// Sum of all elements of an array into one number.
//
// What the check proves. The reference is an fp64 sum (for integers, the exact sum modulo 2^64, which the result must
// match exactly in its type). A textbook bound of the form c*u*sum|x| would be worthless here: 2^30 values in [-1,1]
// have sum|x| = 5e8 and a sum near 2e4, so that even the answer 0 would pass. The actual error of a parallel sum
// consists of rounding in each thread's own chain, and in the chain that joins the blocks' partial sums (with atomics,
// one addition per block). With zero-mean data, the partial sums of a chain of length h grow like sqrt(h), and
// independent rounding errors (Higham and Mary 2019) add up to about 0.2*u*sqrt(h)*||x||_2; with biased data, the
// joining chain of B blocks contributes about 0.2*u*sqrt(B)*|sum|. We allow six standard deviations, and blocks of 1024
// elements, the smallest in practice:
//     allowed = u*(1.2*sqrt(n/1024) + 8)*||x||_2 + u*(sqrt(n/1024) + 4)*|sum|.
// A missing element is then detected with a probability of 99.8% at n = 10^6 and 97% at 2^24. At 2^30, only a missing
// block is detected. So a job also verifies small ragged problems. Small integers are a sharper test. Every partial sum
// is then an integer, and if sum|x| <= 1/u, no order of additions rounds at all, so the bound is zero and the result
// must be exact. Such data is recognised automatically.
#include "kernels/least.h"
#include "kernels/vectors.h"

enum { SUM_N, SUM_X, SUM_RESULT };

static const struct operation_role roles[] = {
    [SUM_N] = {"n", ROLE_SIZE, 0, "number of elements"},
    [SUM_X] = {"x", ROLE_INPUT, 0, "the elements"},
    [SUM_RESULT] = {"result", ROLE_OUTPUT, 0, "one element"},
    {0},
};

static int check(const struct operation_problem *p, struct error *err)
{
    const struct operand *x = &p->operand[SUM_X], *result = &p->operand[SUM_RESULT];
    if (result->rows * result->cols != 1)
        return error_set(err, "the result must be one element, not %lldx%lld", (long long)result->rows,
                         (long long)result->cols);
    if (p->value[SUM_N] > 0 && p->value[SUM_N] != (double)(x->rows * x->cols))
        return error_set(err, "n is %g, but x has %lld elements", p->value[SUM_N], (long long)operand_count(x));
    if (element_is_float(x->type) != element_is_float(result->type))
        return error_set(err, "cannot sum %s into %s", element_name(x->type), element_name(result->type));
    return 0;
}

// The exact sum, wrapped to the result's type.
static int64_t wrapped(enum element type, int64_t exact)
{
    switch (type) {
    case ELEMENT_I8:
        return (int8_t)exact;
    case ELEMENT_U8:
        return (uint8_t)exact;
    case ELEMENT_I16:
        return (int16_t)exact;
    case ELEMENT_U16:
        return (uint16_t)exact;
    case ELEMENT_I32:
        return (int32_t)exact;
    case ELEMENT_U32:
        return (uint32_t)exact;
    default:
        return exact;
    }
}

static int reference(const struct device_operations *tools, const struct operation_problem *p,
                     struct operation_expected *all, struct error *err)
{
    struct operation_expected *expected = &all[SUM_RESULT];
    struct device_sums sums;
    if (tools->sums(tools->self, &p->operand[SUM_X], &sums, err)) return -1;
    float norm =
        vector_bound(element_roundoff(p->operand[SUM_RESULT].type), operand_count(&p->operand[SUM_X]), &sums, expected);
    if (expected->scale && tools->upload(tools->self, &norm, sizeof norm, expected->scale, err)) return -1;
    int64_t exact = wrapped(p->operand[SUM_RESULT].type, sums.exact);
    const void *value = element_is_float(p->operand[SUM_RESULT].type) ? (const void *)&sums.sum : &exact;
    return tools->upload(tools->self, value, 8, expected->expected, err);
}

static double term(const struct operand *x, const struct operand *y, int64_t i)
{
    (void)y;
    return operand_at(x, i);
}

// The sum modulo 2^64.
static int64_t exact_sum(const struct operand *x)
{
    size_t size = element_size(x->type);
    uint64_t sum = 0;
    for (int64_t i = 0; i < x->rows; i++) {
        const char *row = (const char *)x->host + (size_t)(i * x->ld) * size;
        for (int64_t j = 0; j < x->cols; j++, row += size) sum += (uint64_t)element_load_integer(x->type, row);
    }
    return (int64_t)sum;
}

static int cpu(const struct operation_problem *p, struct operation_expected *all, struct error *err)
{
    const struct operand *x = &p->operand[SUM_X];
    struct operation_expected *expected = &all[SUM_RESULT];
    struct device_sums sums;
    if (vector_sums(x, NULL, operand_count(x), term, &sums, err)) return -1;
    float norm = vector_bound(element_roundoff(p->operand[SUM_RESULT].type), operand_count(x), &sums, expected);
    if (expected->host_scale) *expected->host_scale = norm;
    if (expected->host_expected) *expected->host_expected = sums.sum;
    if (expected->host_exact) *expected->host_exact = wrapped(p->operand[SUM_RESULT].type, exact_sum(x));
    return 0;
}

static void least(const struct operation_problem *p, struct operation_least *least)
{
    least_of_pass(&p->operand[SUM_X], &p->operand[SUM_RESULT], least);
}

static int run_asum(const struct device_operations *tools, const struct operation_problem *p, void *state,
                    struct error *err)
{
    (void)state;
    return tools->vector(tools->self, VECTOR_ASUM, &p->operand[SUM_X], NULL, &p->operand[SUM_RESULT], err);
}

static const struct operation_baseline baselines[] = {
    {"cublas_asum", "cublasAsumEx: the sum of absolute values, which reads the same bytes; cuBLAS has no plain sum",
     false, .run = run_asum},
    {0},
};

const struct operation operation_sum = {
    .name = "sum",
    .summary = "sum of all elements of x",
    .bound =
        "u*(1.2*sqrt(n/1024)+8)*||x||_2 + u*(sqrt(n/1024)+4)*|sum| against fp64; exact where no rounding can occur "
        "(Higham and Mary 2019)",
    .roles = roles,
    .check = check,
    .deterministic = false,
    .domain = VALUES_SCALED | VALUES_ZERO | VALUES_FULL,
    .least = least,
    .pipe = operation_pipe_of_sums,
    .reference = reference,
    .cpu = cpu,
    .baselines = baselines,
};
