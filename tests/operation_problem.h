// Problems for tests of the operations (kernels/*.c): matrices with their memory, the CPU reference's answer and its
// bound.
#ifndef SWEETSPOT_TESTS_OPERATION_PROBLEM_H
#define SWEETSPOT_TESTS_OPERATION_PROBLEM_H

#include <math.h>

#include "kernels/operation.h"
#include "tests/testing.h"

static inline double noise(uint64_t *state) // uniform in [-1, 1)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

static inline double positive(uint64_t *state)
{
    return fabs(noise(state));
}

static inline double integers(uint64_t *state)
{
    return floor(noise(state) * 8);
}

static inline double large_integers(uint64_t *state)
{
    return floor(noise(state) * 0x1p31);
}

// A matrix with its memory; padding holds NaN.
static inline struct operand matrix(enum element type, int64_t rows, int64_t cols, int64_t ld,
                                    double (*fill)(uint64_t *), uint64_t seed)
{
    struct operand m = {.type = type, .rows = rows, .cols = cols, .ld = ld};
    size_t size = element_size(type);
    m.host = malloc((size_t)(rows * ld) * size);
    assert_non_null(m.host);
    for (int64_t i = 0; i < rows * ld; i++)
        element_store(type,
                      i % ld < cols            ? fill(&seed)
                      : element_is_float(type) ? NAN
                                               : 77,
                      (char *)m.host + (size_t)i * size);
    return m;
}

static inline double at(const struct operand *m, int64_t i, int64_t j)
{
    return element_load(m->type, (const char *)m->host + (size_t)(i * m->ld + j) * element_size(m->type));
}

struct result {
    struct operation_problem problem;
    struct operation_expected expected[OPERATION_ROLES_MAX];
    int out; // role of the output
};

// Allocates the output's expected values and runs the CPU reference.
static inline void compute(const struct operation *op, struct result *r)
{
    struct error err = {""};
    const struct operand *o = &r->problem.operand[r->out];
    struct operation_expected *e = &r->expected[r->out];
    size_t n = (size_t)(o->rows * o->cols);
    if (element_is_float(o->type)) {
        e->host_expected = malloc(n * sizeof(double));
        e->host_scale = malloc(n * sizeof(float));
    } else {
        e->host_exact = malloc(n * sizeof(int64_t));
    }
    assert_int_equal(op->check(&r->problem, &err), 0);
    assert_int_equal(op->cpu(&r->problem, r->expected, &err), 0);
}

static inline void release(struct result *r)
{
    for (int i = 0; i < OPERATION_ROLES_MAX; i++) free(r->problem.operand[i].host);
    free(r->expected[r->out].host_expected);
    free(r->expected[r->out].host_scale);
    free(r->expected[r->out].host_exact);
}

static inline double allowed(const struct operation_expected *e, size_t i)
{
    return e->per_scale * (double)e->host_scale[i] + e->per_value * fabs(e->host_expected[i]) + e->floor;
}

#endif
