// Functions that the references of vector and matrix operations share: access to elements, sums in fp64 on all cores,
// and the bound for a parallel sum.
#pragma once

#include <math.h>

#include "kernels/operation.h"

// Element i in row-major order, from the host's copy.
static inline double operand_at(const struct operand *o, int64_t i)
{
    int64_t at = o->rows == 1 ? i : i / o->cols * o->ld + i % o->cols;
    return element_load(o->type, (const char *)o->host + (size_t)at * element_size(o->type));
}
static inline int64_t operand_count(const struct operand *o)
{
    return o->rows * o->cols;
}

// One term of a sum.
typedef double vector_term(const struct operand *x, const struct operand *y, int64_t i);
// Sums over n terms: the sums of the terms, of their absolute values and of their squares, and the number of terms that
// are not integers. Computed on all cores, with the same result on any machine. -1 if memory is exhausted or a term is
// NaN.
int vector_sums(const struct operand *x, const struct operand *y, int64_t n, vector_term *term,
                struct device_sums *sums, struct error *err);

// Fills in the error bound for a parallel sum of n terms whose sums are known (kernels/sum.c derives it), and returns
// the scale:
//     u*(1.2*sqrt(n/1024) + 8)*||terms||_2 + u*(sqrt(n/1024) + 4)*|sum|
// It is zero where no rounding can occur.
float vector_bound(double roundoff, int64_t n, const struct device_sums *sums, struct operation_expected *expected);

// sums_add adds one term to sums; sums_join adds other sums.
static inline void sums_add(struct device_sums *s, double term)
{
    s->sum += term;
    s->sum_abs += fabs(term);
    s->sum_squares += term * term;
    s->fractional += term != floor(term);
}
void sums_join(struct device_sums *, const struct device_sums *more);

// Checks that x and y have the same number of elements, and that this number is n (0: not given).
int vector_check_pair(const struct operand *x, const struct operand *y, double n, struct error *err);
// Checks that `result` is one element, and that x has n elements (0: not given).
int vector_check(const struct operand *x, const struct operand *result, double n, struct error *err);
