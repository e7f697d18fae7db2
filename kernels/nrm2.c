// Euclidean norm of a vector: the root of the sum of squares.
//
// What the check proves. The sum S of squares has terms of one sign, so its relative error is at most about
// u*(sqrt(n/1024) + 8) (kernels/sum.c; each square is rounded once). The root halves relative errors and adds its own.
// We allow u*(0.5*sqrt(n/1024) + 8) times the norm. A missing element changes the norm by the relative amount x^2/(2S).
// This is detected with 80% probability at n = 10^5, but not at 10^7. Squares that overflow are not covered: data must
// be within 10^18.
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
    double value = operand_at(x, i);
    return value * value;
}

static void bound(const struct operation_problem *p, struct operation_expected *expected)
{
    expected->per_scale = expected->floor = 0;
    expected->per_value =
        element_roundoff(p->operand[RESULT].type) * (0.5 * sqrt((double)operand_count(&p->operand[X]) / 1024) + 8);
}

// Uses the worker's own fp64 sums.
static int reference(const struct device_operations *tools, const struct operation_problem *p,
                     struct operation_expected *all, struct error *err)
{
    struct operation_expected *expected = &all[RESULT];
    struct device_sums sums;
    if (tools->sums(tools->self, &p->operand[X], &sums, err)) return -1;
    double norm = sqrt(sums.sum_squares);
    float scale = (float)norm;
    bound(p, expected);
    if (expected->scale && tools->upload(tools->self, &scale, sizeof scale, expected->scale, err)) return -1;
    return tools->upload(tools->self, &norm, sizeof norm, expected->expected, err);
}

static int cpu(const struct operation_problem *p, struct operation_expected *all, struct error *err)
{
    const struct operand *x = &p->operand[X];
    struct operation_expected *expected = &all[RESULT];
    struct device_sums sums;
    if (vector_sums(x, NULL, operand_count(x), term, &sums, err)) return -1;
    bound(p, expected);
    if (expected->host_scale) *expected->host_scale = (float)sqrt(sums.sum);
    if (expected->host_expected) *expected->host_expected = sqrt(sums.sum);
    return 0;
}

static void least(const struct operation_problem *p, struct operation_least *least)
{
    least_of_pass(&p->operand[X], &p->operand[RESULT], least);
}

static int run_cublas(const struct device_operations *tools, const struct operation_problem *p, void *state,
                      struct error *err)
{
    (void)state;
    return tools->vector(tools->self, VECTOR_NRM2, &p->operand[X], NULL, &p->operand[RESULT], err);
}

static const struct operation_baseline baselines[] = {
    {"cublas", "cublasNrm2Ex", true, .run = run_cublas},
    {0},
};

const struct operation operation_nrm2 = {
    .name = "nrm2",
    .summary = "Euclidean norm of x",
    .bound = "u*(0.5*sqrt(n/1024)+8)*norm against fp64 (Higham and Mary 2019)",
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
