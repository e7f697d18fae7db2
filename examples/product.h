/* Shared by the examples: matrices of -1, 0 and 1, whose product is exact in FP32, a check of that product, and a macro
 * that ends the program if a call fails. C99, C++ and CUDA. */
#ifndef SWEETSPOT_EXAMPLES_PRODUCT_H
#define SWEETSPOT_EXAMPLES_PRODUCT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For calls that return 0 on success, such as CUDA's and those of a tuned header. */
#define MUST(call) must((int)(call), #call, __FILE__, __LINE__)

static void must(int status, const char *call, const char *file, int line)
{
    if (!status) return;
    fprintf(stderr, "%s:%d: %s: status %d\n", file, line, call, status);
    exit(1);
}

static void fill(float *to, size_t count, unsigned seed)
{
    size_t i;
    for (i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        to[i] = (float)((int)((seed >> 24) % 3) - 1);
    }
}

/* Fills with NaN, so that an element that no kernel writes cannot be correct by chance. */
static void spoil(float *to, size_t count)
{
    memset(to, 255, count * sizeof *to);
}

/* y = A*x with integers, which are exact in FP64. A has m rows of n elements. */
static void times(const float *A, int m, int n, const double *x, double *y)
{
    int i, j;
    for (i = 0; i < m; i++) {
        const float *row = A + (size_t)i * (size_t)n;
        double sum = 0;
        for (j = 0; j < n; j++) sum += (double)row[j] * x[j];
        y[i] = sum;
    }
}

/* Whether C = A*B: tests whether C*x and A*(B*x) are the same for a vector x of random numbers from 1 to 1000. Every
 * element of C is used, and an incorrect element changes the result. This takes O(n^2) steps instead of O(n^3). */
static int is_product(const float *A, const float *B, const float *C, int m, int n, int k)
{
    double *x = (double *)malloc(sizeof *x * (size_t)n), *Bx = (double *)malloc(sizeof *x * (size_t)k),
           *ABx = (double *)malloc(sizeof *x * (size_t)m), *Cx = (double *)malloc(sizeof *x * (size_t)m);
    int i, right = x && Bx && ABx && Cx;
    unsigned state = 1;
    for (i = 0; right && i < n; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = 1 + (state >> 16) % 1000;
    }
    if (right) {
        times(B, k, n, x, Bx);
        times(A, m, k, Bx, ABx);
        times(C, m, n, x, Cx);
    }
    for (i = 0; right && i < m; i++) right = Cx[i] == ABx[i];
    free(x);
    free(Bx);
    free(ABx);
    free(Cx);
    return right;
}

#endif
