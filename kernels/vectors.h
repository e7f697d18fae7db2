// What the references of vector and matrix operations share: elements by their place, sums in fp64 on all cores, and
// the bound of a parallel sum.
#pragma once

#include <math.h>

#include "kernels/operation.h"

// Element i in row-major order, of the host's copy.
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
// Sums of n terms: of the terms, of their absolute values, of their squares; and how many are not integers. On all
// cores, the same on any machine. -1 when memory is exhausted, or a term is NaN.
int vector_sums(const struct operand *x, const struct operand *y, int64_t n, vector_term *term,
                struct device_sums *sums, struct error *err);

// Fills in the error bound of a parallel sum of n terms whose sums are known (kernels/sum.c derives it),
// and returns the scale:
//     u*(1.2*sqrt(n/1024) + 8)*||terms||_2 + u*(sqrt(n/1024) + 4)*|sum|
// nothing where no rounding can occur.
float vector_bound(double roundoff, int64_t n, const struct device_sums *sums, struct operation_expected *expected);

// Adds one term to sums, and sums to sums.
static inline void sums_add(struct device_sums *s, double term)
{
    s->sum += term;
    s->sum_abs += fabs(term);
    s->sum_squares += term * term;
    s->fractional += term != floor(term);
}
void sums_join(struct device_sums *, const struct device_sums *more);

// Checks that x and y have as many elements as each other, and that n (0: not given) is how many.
int vector_check_pair(const struct operand *x, const struct operand *y, double n, struct error *err);
// Checks that `result` is one element, and that n (0: not given) is how many elements x has.
int vector_check(const struct operand *x, const struct operand *result, double n, struct error *err);
