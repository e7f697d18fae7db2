// Inclusive prefix sum (scan): y[i] = x[0] + ... + x[i].
//
// What the check proves. Each y[i] is a parallel sum of i+1 elements, so its bound is that of kernels/sum.c:
// u*(1.2*sqrt(i/1024) + 8) times the root of the elements' sum of squares, plus u*(sqrt(i/1024) + 4)*|y[i]|. The bound
// is zero where no rounding can occur. If an element is missing or counted twice, all later sums are wrong. This is
// detected with 99.9% probability if it happens within the first few thousand elements.
#include <math.h>
#include <stdlib.h>

#include "kernels/least.h"
#include "kernels/parallel.h"
#include "kernels/vectors.h"
#include "tuner/base/memory.h"

enum { N, X, Y };
enum { PIECE = 1 << 20 };

static const struct operation_role roles[] = {
    [N] = {"n", ROLE_SIZE, 0, "number of elements"},
    [X] = {"x", ROLE_INPUT, 0, "the elements"},
    [Y] = {"y", ROLE_OUTPUT, 0, "the sums, one for each element"},
    {0},
};

static int check(const struct operation_problem *p, struct error *err)
{
    const struct operand *x = &p->operand[X], *y = &p->operand[Y];
    if (vector_check_pair(x, y, p->value[N], err)) return -1;
    if (!element_is_float(x->type) || !element_is_float(y->type))
        return error_set(err, "prefix sums of %s into %s are not supported", element_name(x->type),
                         element_name(y->type));
    return 0;
}

struct scanning {
    const struct operand *x;
    struct operation_expected *expected;
    struct device_sums *before; // first the sums of each piece, then those of all elements before it
    double roundoff;
};

static void total(void *user, int64_t begin, int64_t end)
{
    struct scanning *s = user;
    struct device_sums sums = {0};
    for (int64_t i = begin; i < end; i++) sums_add(&sums, operand_at(s->x, i));
    s->before[begin / PIECE] = sums;
}

static void scan(void *user, int64_t begin, int64_t end)
{
    struct scanning *s = user;
    struct device_sums sums = s->before[begin / PIECE];
    double u = s->roundoff;
    for (int64_t i = begin; i < end; i++) {
        double blocks = sqrt((double)(i + 1) / 1024);
        sums_add(&sums, operand_at(s->x, i));
        bool exact = sums.fractional == 0 && sums.sum_abs * u <= 1;
        double allowed =
            exact ? 0 : u * (1.2 * blocks + 8) * sqrt(sums.sum_squares) + u * (blocks + 4) * fabs(sums.sum);
        if (s->expected->host_expected) s->expected->host_expected[i] = sums.sum;
        if (s->expected->host_scale) s->expected->host_scale[i] = (float)(allowed / u);
    }
}

static int cpu(const struct operation_problem *p, struct operation_expected *all, struct error *err)
{
    const struct operand *x = &p->operand[X];
    int64_t n = operand_count(x), pieces = (n + PIECE - 1) / PIECE;
    struct device_sums sums = {0}, *before = memory_try((size_t)pieces, sizeof *before, err);
    struct scanning s = {x, &all[Y], before, element_roundoff(p->operand[Y].type)};
    if (!before) return -1;
    parallel_for(n, PIECE, total, &s);
    for (int64_t i = 0; i < pieces; i++) {
        struct device_sums mine = before[i];
        before[i] = sums;
        sums_join(&sums, &mine);
    }
    parallel_for(n, PIECE, scan, &s);
    free(before);
    all[Y].per_scale = s.roundoff;
    all[Y].per_value = all[Y].floor = 0;
    return 0;
}

static void least(const struct operation_problem *p, struct operation_least *least)
{
    least_of_pass(&p->operand[X], &p->operand[Y], least);
}

const struct operation operation_prefix_sum = {
    .name = "prefix_sum",
    .summary = "inclusive prefix sum of x",
    .bound = "u*(1.2*sqrt(i/1024)+8)*||x[0..i]||_2 + u*(sqrt(i/1024)+4)*|y| against fp64; exact where no rounding can "
             "occur (Higham and Mary 2019)",
    .roles = roles,
    .check = check,
    .deterministic = false,
    .domain = VALUES_SCALED | VALUES_ZERO,
    .least = least,
    .pipe = operation_pipe_of_sums,
    .cpu = cpu,
};
