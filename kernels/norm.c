// Normalisation of the rows of a matrix, with a weight, and for layer_norm a bias, for each column:
//
//     layer_norm   y[i][j] = (x[i][j] - mean(x[i])) / sqrt(mean((x[i] - mean(x[i]))^2) + epsilon) * weight[j] + bias[j]
//     rms_norm     y[i][j] = x[i][j] / sqrt(mean(x[i]^2) + epsilon) * weight[j]
//
// (Ba, Kiros and Hinton 2016; Zhang and Sennrich 2019.)
//
// What the check proves. Sums are assumed to be in FP32 (for f64, in FP64). The error of a mean is about 0.3*sqrt(n)*u
// times the mean of |x|, even in a single chain, and the relative error of the sum of squares is the same. A few more
// roundings follow. We allow u*(16 + sqrt(n)/4) * (|weight| / deviation * (|x| + mean |x|) + |bias|), plus half a unit
// in the last place of y's type. A term missing from a sum changes the row by about 1/n. This is detected up to
// n = 10^5.
#include <math.h>

#include "kernels/least.h"
#include "kernels/parallel.h"

enum { ROWS, COLS, EPSILON, X, Y, WEIGHT, BIAS };

#define ROLES                                                                                \
    [ROWS] = {"rows", ROLE_SIZE, 0, "rows"}, [COLS] = {"cols", ROLE_SIZE, 0, "columns"},     \
    [EPSILON] = {"epsilon", ROLE_SCALAR, 1e-5, "added to the mean square"},                  \
    [X] = {"x", ROLE_INPUT, 0, "rows by cols"}, [Y] = {"y", ROLE_OUTPUT, 0, "rows by cols"}, \
    [WEIGHT] = {"weight", ROLE_INPUT, 0, "vector of cols"}

static const struct operation_role layer_roles[] = {ROLES, [BIAS] = {"bias", ROLE_INPUT, 0, "vector of cols"}, {0}},
                                   rms_roles[] = {ROLES, {0}};

static int check_shape(const struct operation_problem *p, bool bias, struct error *err)
{
    const struct operand *x = &p->operand[X], *y = &p->operand[Y];
    if (x->rows != y->rows || x->cols != y->cols)
        return error_set(err, "x is %lldx%lld and y is %lldx%lld", (long long)x->rows, (long long)x->cols,
                         (long long)y->rows, (long long)y->cols);
    for (int i = X; i <= (bias ? BIAS : WEIGHT); i++) {
        const struct operand *o = &p->operand[i];
        const int64_t elements = o->rows * o->cols;
        if (!element_is_float(o->type)) return error_set(err, "a norm needs floating-point numbers");
        if (i >= WEIGHT && elements != x->cols)
            return error_set(err, "x has %lld columns, but %s has %lld elements", (long long)x->cols,
                             layer_roles[i].name, (long long)elements);
    }
    if ((p->value[ROWS] > 0 && p->value[ROWS] != (double)x->rows) ||
        (p->value[COLS] > 0 && p->value[COLS] != (double)x->cols))
        return error_set(err, "rows and cols are %g and %g, but x is %lldx%lld", p->value[ROWS], p->value[COLS],
                         (long long)x->rows, (long long)x->cols);
    return 0;
}

static int check_layer(const struct operation_problem *p, struct error *err)
{
    return check_shape(p, true, err);
}

static int check_rms(const struct operation_problem *p, struct error *err)
{
    return check_shape(p, false, err);
}

struct normalised_rows {
    const struct operation_problem *p;
    struct operation_expected *expected;
    bool layer;
};

static double element_at(const struct operand *o, int64_t i)
{
    return element_load(o->type, (const char *)o->host + (size_t)i * element_size(o->type));
}

static void do_rows(void *user, int64_t begin, int64_t end)
{
    const struct normalised_rows *r = user;
    const struct operand *x = &r->p->operand[X];
    const int64_t n = x->cols;
    for (int64_t i = begin; i < end; i++) {
        double mean = 0, size = 0, square = 0, *y = &r->expected->host_expected[i * n];
        for (int64_t j = 0; j < n; j++) {
            y[j] = element_at(x, i * x->ld + j);
            mean += y[j];
            size += fabs(y[j]);
        }
        mean = r->layer ? mean / (double)n : 0;
        size = r->layer ? size / (double)n : 0;
        for (int64_t j = 0; j < n; j++) square += (y[j] - mean) * (y[j] - mean);
        const double factor = 1 / sqrt(square / (double)n + r->p->value[EPSILON]);
        for (int64_t j = 0; j < n; j++) {
            const double weight = element_at(&r->p->operand[WEIGHT], j) * factor,
                         bias = r->layer ? element_at(&r->p->operand[BIAS], j) : 0, all = fabs(y[j]) + size;
            y[j] = (y[j] - mean) * weight + bias;
            if (r->expected->host_scale)
                r->expected->host_scale[i * n + j] = (float)((fabs(weight) * all + fabs(bias)) * (1 + 0x1p-22));
        }
    }
}

static int compute(const struct operation_problem *p, bool layer, struct operation_expected *all)
{
    struct operation_expected *expected = &all[Y];
    struct normalised_rows r = {p, expected, layer};
    const enum element type = p->operand[Y].type;
    const double u = type == ELEMENT_F64 ? 0x1p-53 : 0x1p-24;
    parallel_for(p->operand[X].rows, 16, do_rows, &r);
    expected->per_scale = u * (16 + sqrt((double)p->operand[X].cols) / 4);
    expected->per_value = type == ELEMENT_F64 || type == ELEMENT_F32 ? 0 : element_roundoff(type) * (1 + 0x1p-4);
    expected->floor = type == ELEMENT_F64 ? 0x1p-1022 : type == ELEMENT_F16 ? 0x1p-24 : 0x1p-126;
    return 0;
}

static int cpu_layer(const struct operation_problem *p, struct operation_expected *all, struct error *err)
{
    (void)err;
    return compute(p, true, all);
}

static int cpu_rms(const struct operation_problem *p, struct operation_expected *all, struct error *err)
{
    (void)err;
    return compute(p, false, all);
}

static void least(const struct operation_problem *p, struct operation_least *least)
{
    least_of_pass(&p->operand[X], &p->operand[Y], least);
}

const struct operation operation_layer_norm = {
    .name = "layer_norm",
    .summary = "the rows of x with mean 0 and variance 1, times weight, plus bias",
    .bound = "u*(16+sqrt(cols)/4)*(|weight|/deviation*(|x|+mean|x|)+|bias|) against fp64, and y's rounding",
    .roles = layer_roles,
    .check = check_layer,
    .deterministic = true,
    .domain = VALUES_SCALED | VALUES_ZERO | VALUES_NEGATIVE | VALUES_SHIFTED,
    .least = least,
    .pipe = operation_pipe_of_sums,
    .cpu = cpu_layer,
};

const struct operation operation_rms_norm = {
    .name = "rms_norm",
    .summary = "the rows of x with a mean square of 1, times weight",
    .bound = "u*(16+sqrt(cols)/4)*|weight|/deviation*|x| against fp64, and y's rounding",
    .roles = rms_roles,
    .check = check_rms,
    .deterministic = true,
    .domain = VALUES_SCALED | VALUES_ZERO | VALUES_NEGATIVE | VALUES_SHIFTED,
    .least = least,
    .pipe = operation_pipe_of_sums,
    .cpu = cpu_rms,
};
