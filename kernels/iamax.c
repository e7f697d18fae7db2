// The largest absolute value of a vector and its index, counted from 0; the lowest index if there are several.
//
// What the check proves. Nothing is rounded, so value and index must match exactly. f32 data uniform in [-1, 1) has
// 2^23 distinct absolute values. Above some 10^8 elements, the largest therefore occurs several times, and checking the
// returned index is a test of its own.
#include <math.h>
#include <stdlib.h>

#include "kernels/least.h"
#include "kernels/parallel.h"
#include "kernels/vectors.h"
#include "tuner/base/memory.h"

enum { N, X, VALUE, INDEX };
enum { PIECE = 1 << 20 };

static const struct operation_role roles[] = {
    [N] = {"n", ROLE_SIZE, 0, "number of elements"},
    [X] = {"x", ROLE_INPUT, 0, "the elements"},
    [VALUE] = {"value", ROLE_OUTPUT, 0, "the largest |x|, one element of x's type"},
    [INDEX] = {"index", ROLE_OUTPUT, 0, "its place, one i64"},
    {0},
};

static int check(const struct operation_problem *p, struct error *err)
{
    if (p->operand[INDEX].type != ELEMENT_I64 || operand_count(&p->operand[INDEX]) != 1)
        return error_set(err, "the index must be one i64");
    if (p->operand[VALUE].type != p->operand[X].type) return error_set(err, "the value must be of x's type");
    return vector_check(&p->operand[X], &p->operand[VALUE], p->value[N], err);
}

struct best {
    double value;
    int64_t at;
};

struct searching {
    const struct operand *x;
    struct best *pieces;
};

static void search(void *user, int64_t begin, int64_t end)
{
    struct searching *s = user;
    struct best best = {-1, begin};
    for (int64_t i = begin; i < end; i++) {
        double value = fabs(operand_at(s->x, i));
        if (value > best.value) best = (struct best){value, i};
    }
    s->pieces[begin / PIECE] = best;
}

static int cpu(const struct operation_problem *p, struct operation_expected *expected, struct error *err)
{
    const struct operand *x = &p->operand[X];
    int64_t n = operand_count(x), pieces = (n + PIECE - 1) / PIECE;
    struct best best = {-1, 0}, *each = memory_try((size_t)pieces, sizeof *each, err);
    struct searching s = {x, each};
    if (!each) return -1;
    parallel_for(n, PIECE, search, &s);
    for (int64_t i = 0; i < pieces; i++)
        if (each[i].value > best.value) best = each[i];
    free(each);
    expected[VALUE].per_scale = expected[VALUE].per_value = expected[VALUE].floor = 0;
    if (expected[VALUE].host_scale) *expected[VALUE].host_scale = (float)best.value;
    if (expected[VALUE].host_expected) *expected[VALUE].host_expected = best.value;
    if (expected[INDEX].host_exact) *expected[INDEX].host_exact = best.at;
    return 0;
}

static void least(const struct operation_problem *p, struct operation_least *least)
{
    least_of_pass(&p->operand[X], &p->operand[VALUE], least);
    least->written += operand_bytes(&p->operand[INDEX]);
}

static int run_cublas(const struct device_operations *tools, const struct operation_problem *p, void *state,
                      struct error *err)
{
    (void)state;
    return tools->vector(tools->self, VECTOR_IAMAX, &p->operand[X], NULL, &p->operand[INDEX], err);
}

static const struct operation_baseline baselines[] = {
    {"cublas", "cublasIsamax or cublasIdamax: the place alone, counted from 1", false, .run = run_cublas},
    {0},
};

const struct operation operation_iamax = {
    .name = "iamax",
    .summary = "the largest |x| and its place",
    .bound = "exact",
    .roles = roles,
    .check = check,
    .deterministic = true,
    .domain = VALUES_SCALED | VALUES_ZERO | VALUES_NEGATIVE | VALUES_SHIFTED,
    .least = least,
    .pipe = operation_pipe_of_sums,
    .cpu = cpu,
    .baselines = baselines,
};
