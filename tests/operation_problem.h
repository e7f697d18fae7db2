// Problems for tests of the operations (kernels/*.c): matrices in their own memory, and the results and error bounds of
// the CPU reference.
#pragma once

#include <math.h>

#include "kernels/operation.h"
#include "tests/testing.h"
#include "tuner/base/memory.h"

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

// Returns a matrix in its own memory, which is freed after the test. Padding holds NaN.
static inline struct operand matrix(enum element type, int64_t rows, int64_t cols, int64_t ld,
                                    double (*fill)(uint64_t *), uint64_t seed)
{
    struct operand m = {.type = type, .rows = rows, .cols = cols, .ld = ld};
    size_t size = element_size(type);
    m.host = test_owned(memory_new((size_t)(rows * ld), size));
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

// Sets the problem's buffer for a role.
static inline void give(struct result *r, const struct operation *op, const char *role, struct operand o)
{
    assert_true(operation_role(op, role) >= 0);
    r->problem.operand[operation_role(op, role)] = o;
}

// Allocates the expected values of every output, freed after the test, and runs the CPU reference.
static inline void compute(const struct operation *op, struct result *r)
{
    struct error err = {""};
    for (int i = 0; op->roles[i].name; i++) {
        if (op->roles[i].kind != ROLE_OUTPUT) continue;
        size_t n = (size_t)(r->problem.operand[i].rows * r->problem.operand[i].cols);
        bool floats = element_is_float(r->problem.operand[i].type);
        r->expected[i].host_expected = floats ? test_owned(memory_new(n, sizeof(double))) : NULL;
        r->expected[i].host_scale = floats ? test_owned(memory_new(n, sizeof(float))) : NULL;
        r->expected[i].host_exact = floats ? NULL : test_owned(memory_new(n, sizeof(int64_t)));
    }
    if (op->check(&r->problem, &err) || op->cpu(&r->problem, r->expected, &err))
        fail_msg("%s: %s", op->name, err.message);
}

static inline struct operation_expected *expected_of(struct result *r, const struct operation *op, const char *role)
{
    return &r->expected[operation_role(op, role)];
}

static inline double allowed(const struct operation_expected *e, size_t i)
{
    return e->per_scale * (double)e->host_scale[i] + e->per_value * fabs(e->host_expected[i]) + e->floor;
}
