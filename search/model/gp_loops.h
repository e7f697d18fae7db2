// The inner loops of the Gaussian process (gp.c), which take nearly all of its time. They process many points at once,
// coordinate by coordinate. They are compiled for several instruction sets, and the best one for the processor is
// chosen when the program starts. All versions compute every element with the same operations in the same order, so
// results do not depend on the processor.
#pragma once

#include <stddef.h>

enum { GP_CHUNK = 64 }; // points that are stored together and computed at once in single precision

// The kernel's parameters at unit signal. The first `ordinal` of the dimensions are ordinal.
struct gp_metric {
    size_t dimensions, ordinal;
    double *inverse; // 1 / length scale^2
};

// Points are stored dimension by dimension: coordinate m of point j is points[m * stride + j].
//
// Computes the kernel between `point` and each of `count` points. `fall` (may be NULL) gets exp(-r) of the product
// part, where r is sqrt(3) times the distance.
void gp_relate(const struct gp_metric *, const float *point, const float *points, size_t stride, size_t count,
               double *kernel, double *fall);
// Like gp_relate, in single precision, for GP_CHUNK points with a stride of GP_CHUNK.
void gp_relate_chunk(const struct gp_metric *, const float *point, const float *points, float *kernel);
// For GP_CHUNK points, adds weight * kernel to the mean, and keeps the largest kernel value in `most`.
void gp_gather_chunk(const float *kernel, double weight, double *mean, double *most);
// Adds weights[j] times the derivative of the kernel between `point` and point j, with respect to the logarithm of
// length scale m, to slopes[m * stride + j]. `fall` is what gp_relate stored there.
void gp_add_slopes(const struct gp_metric *, const float *point, const float *points, size_t stride, size_t count,
                   const double *weights, const double *fall, double *slopes);

// row -= the sum over k of factors[k] times row k of `others`, in the order of k.
void gp_eliminate(double *row, size_t width, const double *others, size_t stride, const double *factors, size_t count);
// Like gp_eliminate, for `row_count` rows of GP_CHUNK elements; the factors of row j begin at factors[j * stride].
void gp_eliminate_chunk(float *rows, size_t row_count, const float *others, const float *factors, size_t stride,
                        size_t count);
// x = U'^-1 x for the first n rows of the upper triangle U.
void gp_solve_forward(double *x, const double *factor, size_t stride, size_t n);
