// Inner product of two vectors.
//
// What the check proves. The bound is that of kernels/sum.c for the sum of the products z = x*y. Its first term also
// covers the rounding of the products (one error each, unless fused). A missing product (0.25 on average) is detected
// with 99% probability at n = 10^6.
#include <math.h>

#include "kernels/least.h"
#include "kernels/vectors.h"

enum { N, X, Y, RESULT };

static const struct operation_role roles[] = {
    [N] = {"n", ROLE_SIZE, 0, "number of elements"},
    [X] = {"x", ROLE_INPUT, 0, "the elements"},
    [Y] = {"y", ROLE_INPUT, 0, "the other elements"},
    [RESULT] = {"result", ROLE_OUTPUT, 0, "one element"},
    {0},
};

static int check(const struct operation_problem *p, struct error *err)
{
    const struct operand *x = &p->operand[X], *y = &p->operand[Y];
    if (vector_check_pair(x, y, 0, err)) return -1;
    if (x->type != y->type)
        return error_set(err, "x is %s and y is %s: both must have one type", element_name(x->type),
                         element_name(y->type));
    return vector_check(&p->operand[X], &p->operand[RESULT], p->value[N], err);
}

static double term(const struct operand *x, const struct operand *y, int64_t i)
{
    return operand_at(x, i) * operand_at(y, i);
}

static int cpu(const struct operation_problem *p, struct operation_expected *all, struct error *err)
{
    const struct operand *x = &p->operand[X];
    struct operation_expected *expected = &all[RESULT];
    struct device_sums sums;
    if (vector_sums(x, &p->operand[Y], operand_count(x), term, &sums, err)) return -1;
    float scale = vector_bound(element_roundoff(p->operand[RESULT].type), operand_count(x), &sums, expected);
    if (expected->host_scale) *expected->host_scale = scale;
    if (expected->host_expected) *expected->host_expected = sums.sum;
    return 0;
}

// An element matters unless its partner is zero.
static void least(const struct operation_problem *p, struct operation_least *least)
{
    const struct operand *x = &p->operand[X], *y = &p->operand[Y];
    bool finite = x->data.finite && y->data.finite;
    least->written = operand_bytes(&p->operand[RESULT]);
    if (finite) least->read = operand_bytes(x) * y->data.nonzero;
    if (finite && !operand_is_same(x, y)) least->read += operand_bytes(y) * x->data.nonzero;
    least->bits = 1;
}

static int run_cublas(const struct device_operations *tools, const struct operation_problem *p, void *state,
                      struct error *err)
{
    (void)state;
    return tools->vector(tools->self, VECTOR_DOT, &p->operand[X], &p->operand[Y], &p->operand[RESULT], err);
}

static const struct operation_baseline baselines[] = {
    {"cublas", "cublasDotEx", true, .run = run_cublas},
    {0},
};

const struct operation operation_dot = {
    .name = "dot",
    .summary = "inner product of x and y",
    .bound = "u*(1.2*sqrt(n/1024)+8)*||x*y||_2 + u*(sqrt(n/1024)+4)*|result| against fp64; exact where no rounding can "
             "occur (Higham and Mary 2019)",
    .roles = roles,
    .check = check,
    .deterministic = false,
    .domain = VALUES_SCALED | VALUES_ZERO,
    .least = least,
    .pipe = operation_pipe_of_sums,
    .cpu = cpu,
    .baselines = baselines,
};
