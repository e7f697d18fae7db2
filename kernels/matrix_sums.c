// Sums of a matrix's rows, or of its columns.
//
// What the check proves. Every sum may be added in any order, even by a single thread. In a chain of n terms, rounding
// errors add up to at most n*u*sum|x| (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 4.2),
// and to about sqrt(n)*u*sum|x| if they behave like independent random variables (Higham and Mary 2019). We allow
// u*(sqrt(n) + 4)*sum|x|. With data uniform in [-1, 1) and n = 16384, an element missing from a sum is detected with
// 94% probability, and a bug in a kernel affects many sums.
#include <math.h>
#include <stdlib.h>

#include "kernels/least.h"
#include "kernels/parallel.h"
#include "kernels/vectors.h"
#include "tuner/base/memory.h"

enum { ROWS, COLS, A, SUMS };

static const struct operation_role roles[] = {
    [ROWS] = {"rows", ROLE_SIZE, 0, "rows of A"},
    [COLS] = {"cols", ROLE_SIZE, 0, "columns of A"},
    [A] = {"A", ROLE_INPUT, 0, "rows by cols"},
    [SUMS] = {"sums", ROLE_OUTPUT, 0, "one element per row, or per column"},
    {0},
};

static int check(const struct operation_problem *p, int64_t sums, struct error *err)
{
    const struct operand *a = &p->operand[A], *s = &p->operand[SUMS];
    if (operand_count(s) != sums)
        return error_set(err, "there must be %lld sums of a matrix of %lldx%lld, not %lld", (long long)sums,
                         (long long)a->rows, (long long)a->cols, (long long)operand_count(s));
    if (!element_is_float(a->type) || !element_is_float(s->type))
        return error_set(err, "sums of %s into %s are not supported", element_name(a->type), element_name(s->type));
    if ((p->value[ROWS] > 0 && p->value[ROWS] != (double)a->rows) ||
        (p->value[COLS] > 0 && p->value[COLS] != (double)a->cols))
        return error_set(err, "rows and cols are %g and %g, but A is %lldx%lld", p->value[ROWS], p->value[COLS],
                         (long long)a->rows, (long long)a->cols);
    return 0;
}

static int check_rows(const struct operation_problem *p, struct error *err)
{
    return check(p, p->operand[A].rows, err);
}

static int check_columns(const struct operation_problem *p, struct error *err)
{
    return check(p, p->operand[A].cols, err);
}

struct adding {
    const struct operand *a;
    double *sum, *sum_abs;
};

static void add_rows(void *user, int64_t begin, int64_t end)
{
    struct adding *s = user;
    for (int64_t i = begin; i < end; i++)
        for (int64_t j = 0; j < s->a->cols; j++) {
            double value = operand_at(s->a, i * s->a->cols + j);
            s->sum[i] += value;
            s->sum_abs[i] += fabs(value);
        }
}

// Adds up columns [begin, end), row by row, as the data lies in memory.
static void add_columns(void *user, int64_t begin, int64_t end)
{
    struct adding *s = user;
    for (int64_t i = 0; i < s->a->rows; i++)
        for (int64_t j = begin; j < end; j++) {
            double value = operand_at(s->a, i * s->a->cols + j);
            s->sum[j] += value;
            s->sum_abs[j] += fabs(value);
        }
}

static int add(const struct operation_problem *p, struct operation_expected *expected, int64_t sums, int64_t length,
               int64_t grain, parallel_body *body, struct error *err)
{
    double *memory = memory_try((size_t)sums * 2, sizeof *memory, err);
    double u = element_roundoff(p->operand[SUMS].type);
    if (!memory) return -1;
    struct adding s = {&p->operand[A], memory, memory + sums};
    parallel_for(sums, grain, body, &s);
    expected->per_scale = u * (sqrt((double)length) + 4);
    expected->per_value = 0;
    expected->floor = 0;
    for (int64_t i = 0; i < sums; i++) {
        if (expected->host_expected) expected->host_expected[i] = s.sum[i];
        if (expected->host_scale) expected->host_scale[i] = (float)(s.sum_abs[i] * (1 + 0x1p-22));
    }
    free(memory);
    return 0;
}

static int cpu_rows(const struct operation_problem *p, struct operation_expected *expected, struct error *err)
{
    return add(p, &expected[SUMS], p->operand[A].rows, p->operand[A].cols, 16, add_rows, err);
}

static int cpu_columns(const struct operation_problem *p, struct operation_expected *expected, struct error *err)
{
    return add(p, &expected[SUMS], p->operand[A].cols, p->operand[A].rows, 64, add_columns, err);
}

static void least(const struct operation_problem *p, struct operation_least *least)
{
    least_of_pass(&p->operand[A], &p->operand[SUMS], least);
}

const struct operation operation_row_sums = {
    .name = "row_sums",
    .summary = "the sum of every row of A",
    .bound = "u*(sqrt(cols)+4)*sum|x| against fp64 (Higham 2002, section 4.2; Higham and Mary 2019)",
    .roles = roles,
    .check = check_rows,
    .deterministic = true,
    .domain = VALUES_SCALED | VALUES_ZERO,
    .least = least,
    .pipe = operation_pipe_of_sums,
    .cpu = cpu_rows,
};

const struct operation operation_column_sums = {
    .name = "column_sums",
    .summary = "the sum of every column of A",
    .bound = "u*(sqrt(rows)+4)*sum|x| against fp64 (Higham 2002, section 4.2; Higham and Mary 2019)",
    .roles = roles,
    .check = check_columns,
    .deterministic = true,
    .domain = VALUES_SCALED | VALUES_ZERO,
    .least = least,
    .pipe = operation_pipe_of_sums,
    .cpu = cpu_columns,
};
