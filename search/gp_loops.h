// The inner loops of the Gaussian process (gp.c), which nearly all of its time goes to. They run along many points at
// once, coordinate by coordinate, and are compiled for several instruction sets, of which the processor's best is
// chosen when the program starts. Every element is computed by the same operations in the same order in each of them,
// so that results do not depend on the processor.
#ifndef SWEETSPOT_GP_LOOPS_H
#define SWEETSPOT_GP_LOOPS_H

#include <stddef.h>

enum {
    GP_TABLE = 4096, // cells of the table of the kernel's product part
    GP_CHUNK = 64,   // points that gp_relate_chunk takes at once, at most
};

// What relates two points, at unit signal. The first `ordinal` of the dimensions are ordinal.
struct gp_metric {
    size_t dimensions, ordinal;
    double *inverse; // 1 / length scale^2
    // The product part over the distance: sqrt and exp for every pair would be most of the cost of a prediction.
    float table[GP_TABLE + 2];
};

void gp_metric_init(struct gp_metric *, size_t dimensions, size_t ordinal);
void gp_metric_release(struct gp_metric *);

// Points lie dimension by dimension: coordinate m of point j is points[m * stride + j].
//
// The kernel between `point` and `count` points. `fall` (may be NULL) gets exp(-r) of the product part.
void gp_relate(const struct gp_metric *, const float *point, const float *points, size_t stride, size_t count,
               double *kernel, double *fall);
// The same in single precision and from the table; at most GP_CHUNK points, whose stride is their number.
void gp_relate_chunk(const struct gp_metric *, const float *point, const float *points, size_t count, float *kernel);
// Adds to slopes[m * stride + j] weights[j] times the kernel's slope between `point` and point j by the logarithm of
// length scale m. `fall` is what gp_relate gave.
void gp_add_slopes(const struct gp_metric *, const float *point, const float *points, size_t stride, size_t count,
                   const double *weights, const double *fall, double *slopes);

// row -= the sum over k of factors[k] times row k of `others`, in the order of k.
void gp_eliminate(double *row, size_t width, const double *others, size_t stride, const double *factors, size_t count);
void gp_eliminate_chunk(float *row, size_t width, const float *others, const float *factors, size_t count);

#endif
