// Sets a buffer to zeros, as a stage. Many kernels add to an output, or count in a buffer, that the caller clears with
// cudaMemsetAsync. The time for this counts as part of the kernel's time.
#include "kernels/least.h"
#include "kernels/operation.h"

enum { CLEAR_X };

static const struct operation_role roles[] = {
    [CLEAR_X] = {"x", ROLE_OUTPUT, 0, "any shape, without padding"},
    {0},
};

static int check(const struct operation_problem *p, struct error *err)
{
    const struct operand *x = &p->operand[CLEAR_X];
    if (x->rows == 1 || x->ld == x->cols) return 0;
    return error_set(err, "x has rows of %lld elements, %lld apart: only dense rows can be cleared", (long long)x->cols,
                     (long long)x->ld);
}

static int cpu(const struct operation_problem *p, struct operation_expected *expected, struct error *err)
{
    const int64_t n = p->operand[CLEAR_X].rows * p->operand[CLEAR_X].cols;
    struct operation_expected *e = &expected[CLEAR_X];
    (void)err;
    for (int64_t i = 0; i < n; i++) {
        if (e->host_exact) e->host_exact[i] = 0;
        if (e->host_expected) e->host_expected[i] = 0;
        if (e->host_scale) e->host_scale[i] = 0;
    }
    return 0;
}

static void least(const struct operation_problem *p, struct operation_least *least)
{
    least->written = operand_bytes(&p->operand[CLEAR_X]);
    least->bits = 1;
}

static int run_memset(const struct device_operations *tools, const struct operation_problem *p, void *state,
                      struct error *err)
{
    (void)state;
    return tools->clear(tools->self, &p->operand[CLEAR_X], err);
}

static const struct operation_baseline baselines[] = {
    {"memset", "cuMemsetD8Async", true, .run = run_memset},
    {0},
};

const struct operation operation_clear = {
    .name = "clear",
    .summary = "x = 0 in every byte",
    .bound = "bit for bit",
    .roles = roles,
    .check = check,
    .deterministic = true,
    .domain = VALUES_END - 1,
    .least = least,
    .cpu = cpu,
    .baselines = baselines,
};
