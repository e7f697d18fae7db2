// Sum of the absolute values of an array.
//
// What the check proves. The bound and its derivation are those of kernels/sum.c for data of one sign. Partial sums
// grow like the number of elements, so the chain that joins the sums of B blocks allows an error of about
// u*sqrt(B)*sum. A missing element (0.5 on average, uniform in [-1, 1)) is detected with 99% probability at n = 10^4
// (allowed: 2e-3). At 10^6 (allowed: 1.0), only a missing block is detected. Therefore jobs also verify small ragged
// problems.
#include <math.h>

#include "kernels/least.h"
#include "kernels/vectors.h"

enum { N, X, RESULT };

static const struct operation_role roles[] = {
    [N] = {"n", ROLE_SIZE, 0, "number of elements"},
    [X] = {"x", ROLE_INPUT, 0, "the elements"},
    [RESULT] = {"result", ROLE_OUTPUT, 0, "one element"},
    {0},
};

static int check(const struct operation_problem *p, struct error *err)
{
    return vector_check(&p->operand[X], &p->operand[RESULT], p->value[N], err);
}

static double term(const struct operand *x, const struct operand *y, int64_t i)
{
    (void)y;
    return fabs(operand_at(x, i));
}

static int cpu(const struct operation_problem *p, struct operation_expected *all, struct error *err)
{
    const struct operand *x = &p->operand[X];
    struct operation_expected *expected = &all[RESULT];
    struct device_sums sums;
    if (vector_sums(x, NULL, operand_count(x), term, &sums, err)) return -1;
    float scale = vector_bound(element_roundoff(p->operand[RESULT].type), operand_count(x), &sums, expected);
    if (expected->host_scale) *expected->host_scale = scale;
    if (expected->host_expected) *expected->host_expected = sums.sum;
    return 0;
}

// Uses the worker's own fp64 sums.
static int reference(const struct device_operations *tools, const struct operation_problem *p,
                     struct operation_expected *all, struct error *err)
{
    struct operation_expected *expected = &all[RESULT];
    struct device_sums sums;
    if (tools->sums(tools->self, &p->operand[X], &sums, err)) return -1;
    sums.sum = sums.sum_abs;
    float scale =
        vector_bound(element_roundoff(p->operand[RESULT].type), operand_count(&p->operand[X]), &sums, expected);
    if (expected->scale && tools->upload(tools->self, &scale, sizeof scale, expected->scale, err)) return -1;
    return tools->upload(tools->self, &sums.sum, sizeof sums.sum, expected->expected, err);
}

static void least(const struct operation_problem *p, struct operation_least *least)
{
    least_of_pass(&p->operand[X], &p->operand[RESULT], least);
}

static int run_cublas(const struct device_operations *tools, const struct operation_problem *p, void *state,
                      struct error *err)
{
    (void)state;
    return tools->vector(tools->self, VECTOR_ASUM, &p->operand[X], NULL, &p->operand[RESULT], err);
}

static const struct operation_baseline baselines[] = {
    {"cublas", "cublasAsumEx", true, .run = run_cublas},
    {0},
};

const struct operation operation_asum = {
    .name = "asum",
    .summary = "sum of the absolute values of x",
    .bound = "u*(1.2*sqrt(n/1024)+8)*||x||_2 + u*(sqrt(n/1024)+4)*sum against fp64; exact where no rounding can occur "
             "(Higham and Mary 2019)",
    .roles = roles,
    .check = check,
    .deterministic = false,
    .domain = VALUES_SCALED | VALUES_ZERO | VALUES_NEGATIVE,
    .least = least,
    .pipe = operation_pipe_of_sums,
    .reference = reference,
    .cpu = cpu,
    .baselines = baselines,
};
