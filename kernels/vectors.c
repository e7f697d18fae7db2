// See vectors.h.
#include "kernels/vectors.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/parallel.h"
#include "tuner/base/memory.h"

enum { PIECE = 1 << 20 };

void sums_join(struct device_sums *s, const struct device_sums *more)
{
    s->sum += more->sum;
    s->sum_abs += more->sum_abs;
    s->sum_squares += more->sum_squares;
    s->fractional += more->fractional;
}

struct summing {
    const struct operand *x, *y;
    vector_term *term;
    struct device_sums *pieces;
};

static void sum_piece(void *user, int64_t begin, int64_t end)
{
    struct summing *s = user;
    struct device_sums sums = {0};
    for (int64_t i = begin; i < end; i++) sums_add(&sums, s->term(s->x, s->y, i));
    s->pieces[begin / PIECE] = sums;
}

int vector_sums(const struct operand *x, const struct operand *y, int64_t n, vector_term *term,
                struct device_sums *sums, struct error *err)
{
    int64_t pieces = (n + PIECE - 1) / PIECE;
    struct device_sums all = {0}, *each = memory_try((size_t)pieces, sizeof *each, err);
    struct summing s = {x, y, term, each};
    if (!each) return -1;
    parallel_for(n, PIECE, sum_piece, &s);
    for (int64_t i = 0; i < pieces; i++) sums_join(&all, &each[i]);
    free(each);
    *sums = all;
    return all.sum_abs >= 0 ? 0 : error_set(err, "x holds NaN");
}

float vector_bound(double u, int64_t n, const struct device_sums *sums, struct operation_expected *expected)
{
    double blocks = sqrt((double)n / 1024);
    bool exact = sums->fractional == 0 && sums->sum_abs * u <= 1;
    expected->per_scale = exact ? 0 : u * (1.2 * blocks + 8);
    expected->per_value = exact ? 0 : u * (blocks + 4);
    expected->floor = 0;
    return (float)sqrt(sums->sum_squares);
}

static int check_count(const struct operand *x, double n, struct error *err)
{
    if (n > 0 && n != (double)operand_count(x))
        return error_set(err, "n is %g, but x has %lld elements", n, (long long)operand_count(x));
    return 0;
}

int vector_check_pair(const struct operand *x, const struct operand *y, double n, struct error *err)
{
    if (operand_count(x) != operand_count(y))
        return error_set(err, "x has %lld elements, y has %lld", (long long)operand_count(x),
                         (long long)operand_count(y));
    return check_count(x, n, err);
}

int vector_check(const struct operand *x, const struct operand *result, double n, struct error *err)
{
    if (operand_count(result) != 1)
        return error_set(err, "the result must be one element, not %lldx%lld", (long long)result->rows,
                         (long long)result->cols);
    if (check_count(x, n, err)) return -1;
    if (!element_is_float(x->type))
        return error_set(err, "x must be of a floating-point type, not %s", element_name(x->type));
    return 0;
}
