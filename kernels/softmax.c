// Softmax over the rows of a matrix: y[i][j] = exp(x[i][j] - m[i]) / sum over k of exp(x[i][k] - m[i]), m[i] the row's
// largest.
//
// What the check proves. An exponential computed with the hardware's power of two has a relative error of 4u and a few
// roundings; the error from rounding its argument is multiplied by |x - m|. The sum of positive terms has a relative
// error of about 0.3*sqrt(n)*u even in a single chain, and all elements of a row share it. We allow u*(16 + sqrt(n)/4)
// * (1 + |x - m|) * y, where u is FP32's unit roundoff (for f64, FP64's), plus half a unit in the last place of y's
// type. A term missing from the sum changes the row by about 1/n. This is detected up to n = 10^5.
#include <math.h>
#include <stdlib.h>

#include "kernels/least.h"
#include "kernels/parallel.h"

enum { ROWS, COLS, X, Y };

static const struct operation_role roles[] = {
    [ROWS] = {"rows", ROLE_SIZE, 0, "rows"},
    [COLS] = {"cols", ROLE_SIZE, 0, "columns"},
    [X] = {"x", ROLE_INPUT, 0, "rows by cols"},
    [Y] = {"y", ROLE_OUTPUT, 0, "rows by cols"},
    {0},
};

static int check(const struct operation_problem *p, struct error *err)
{
    const struct operand *x = &p->operand[X], *y = &p->operand[Y];
    if (x->rows != y->rows || x->cols != y->cols)
        return error_set(err, "x is %lldx%lld and y is %lldx%lld", (long long)x->rows, (long long)x->cols,
                         (long long)y->rows, (long long)y->cols);
    if (!element_is_float(x->type) || !element_is_float(y->type))
        return error_set(err, "softmax needs floating-point numbers");
    if ((p->value[ROWS] > 0 && p->value[ROWS] != (double)x->rows) ||
        (p->value[COLS] > 0 && p->value[COLS] != (double)x->cols))
        return error_set(err, "rows and cols are %g and %g, but x is %lldx%lld", p->value[ROWS], p->value[COLS],
                         (long long)x->rows, (long long)x->cols);
    return 0;
}

struct rows {
    const struct operand *x;
    struct operation_expected *expected;
};

static void do_rows(void *user, int64_t begin, int64_t end)
{
    const struct rows *r = user;
    const int64_t n = r->x->cols;
    const size_t size = element_size(r->x->type);
    for (int64_t i = begin; i < end; i++) {
        const char *x = (const char *)r->x->host + (size_t)(i * r->x->ld) * size;
        double *y = &r->expected->host_expected[i * n], largest = -INFINITY, sum = 0;
        for (int64_t j = 0; j < n; j++) largest = fmax(largest, element_load(r->x->type, x + (size_t)j * size));
        for (int64_t j = 0; j < n; j++) sum += y[j] = exp(element_load(r->x->type, x + (size_t)j * size) - largest);
        for (int64_t j = 0; j < n; j++) {
            y[j] /= sum;
            double below = largest - element_load(r->x->type, x + (size_t)j * size);
            if (r->expected->host_scale)
                r->expected->host_scale[i * n + j] = (float)(y[j] * (1 + below) * (1 + 0x1p-22));
        }
    }
}

static int cpu(const struct operation_problem *p, struct operation_expected *all, struct error *err)
{
    struct operation_expected *expected = &all[Y];
    struct rows r = {&p->operand[X], expected};
    const enum element type = p->operand[Y].type;
    const double u = type == ELEMENT_F64 ? 0x1p-53 : 0x1p-24;
    (void)err;
    parallel_for(r.x->rows, 16, do_rows, &r);
    expected->per_scale = u * (16 + sqrt((double)r.x->cols) / 4);
    expected->per_value = type == ELEMENT_F64 || type == ELEMENT_F32 ? 0 : element_roundoff(type) * (1 + 0x1p-4);
    // Results below the smallest normal number may be 0, even if a subnormal number could represent them.
    expected->floor = type == ELEMENT_F64 ? 0x1p-1022 : type == ELEMENT_F16 ? 0x1p-24 : 0x1p-126;
    return 0;
}

static void least(const struct operation_problem *p, struct operation_least *least)
{
    least_of_pass(&p->operand[X], &p->operand[Y], least);
}

const struct operation operation_softmax = {
    .name = "softmax",
    .summary = "softmax over the rows of x",
    .bound = "u*(16+sqrt(cols)/4)*(1+|x-max|)*y against fp64, and y's rounding",
    .roles = roles,
    .check = check,
    .deterministic = true,
    .domain = VALUES_SCALED | VALUES_ZERO | VALUES_NEGATIVE | VALUES_SHIFTED,
    .least = least,
    .pipe = operation_pipe_of_sums,
    .cpu = cpu,
};
