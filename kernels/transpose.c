// Transposition of a matrix, out of place and in place. Every element must be in its place, bit for bit.
//
// What the check proves. A transposition does no arithmetic, so no difference is allowed. With random data (f32: 2^24
// different numbers), two elements that were exchanged by mistake are equal with a probability of 6e-8, and only then
// does the mistake go unnoticed.
#include <stdlib.h>

#include "kernels/least.h"
#include "kernels/parallel.h"
#include "kernels/vectors.h"

enum { TRANSPOSE_ROWS, TRANSPOSE_COLS, TRANSPOSE_A, TRANSPOSE_B };
enum { IN_PLACE_N, IN_PLACE_A };

static const struct operation_role roles[] = {
    [TRANSPOSE_ROWS] = {"rows", ROLE_SIZE, 0, "rows of A"},
    [TRANSPOSE_COLS] = {"cols", ROLE_SIZE, 0, "columns of A"},
    [TRANSPOSE_A] = {"A", ROLE_INPUT, 0, "rows by cols"},
    [TRANSPOSE_B] = {"B", ROLE_OUTPUT, 0, "cols by rows"},
    {0},
};

static const struct operation_role in_place_roles[] = {
    [IN_PLACE_N] = {"n", ROLE_SIZE, 0, "rows and columns"},
    [IN_PLACE_A] = {"A", ROLE_OUTPUT, 0, "n by n, inout"},
    {0},
};

static int check(const struct operation_problem *p, struct error *err)
{
    const struct operand *a = &p->operand[TRANSPOSE_A], *b = &p->operand[TRANSPOSE_B];
    if (a->rows != b->cols || a->cols != b->rows)
        return error_set(err, "shapes do not fit: A %lldx%lld, B %lldx%lld", (long long)a->rows, (long long)a->cols,
                         (long long)b->rows, (long long)b->cols);
    if (a->type != b->type)
        return error_set(err, "A is %s and B is %s: both must have one type", element_name(a->type),
                         element_name(b->type));
    const int64_t sizes[] = {[TRANSPOSE_ROWS] = a->rows, [TRANSPOSE_COLS] = a->cols};
    for (int i = TRANSPOSE_ROWS; i <= TRANSPOSE_COLS; i++)
        if (p->value[i] > 0 && p->value[i] != (double)sizes[i])
            return error_set(err, "%s is %g, but A's shape says %lld", roles[i].name, p->value[i], (long long)sizes[i]);
    return 0;
}

static int check_in_place(const struct operation_problem *p, struct error *err)
{
    const struct operand *a = &p->operand[IN_PLACE_A];
    if (a->rows != a->cols)
        return error_set(err, "only a square matrix can be transposed in place, not one of %lldx%lld",
                         (long long)a->rows, (long long)a->cols);
    if (p->value[IN_PLACE_N] > 0 && p->value[IN_PLACE_N] != (double)a->rows)
        return error_set(err, "n is %g, but A has %lld rows", p->value[IN_PLACE_N], (long long)a->rows);
    return 0;
}

struct turning {
    const struct operand *from;
    struct operation_expected *to;
};

// Computes rows [begin, end) of the result, in tiles that fit into a cache.
static void turn(void *user, int64_t begin, int64_t end)
{
    enum { TILE = 64 };
    struct turning *t = user;
    int64_t length = t->from->rows;
    for (int64_t start = 0; start < length; start += TILE)
        for (int64_t i = begin; i < end; i++)
            for (int64_t j = start; j < length && j < start + TILE; j++) {
                const char *at =
                    (const char *)t->from->host + (size_t)(j * t->from->ld + i) * element_size(t->from->type);
                if (t->to->host_exact) t->to->host_exact[i * length + j] = element_load_integer(t->from->type, at);
                if (t->to->host_expected) t->to->host_expected[i * length + j] = element_load(t->from->type, at);
                if (t->to->host_scale) t->to->host_scale[i * length + j] = 1;
            }
}

static int transpose(const struct operand *from, struct operation_expected *to)
{
    struct turning t = {from, to};
    to->per_scale = to->per_value = to->floor = 0;
    parallel_for(from->cols, 64, turn, &t);
    return 0;
}

static int cpu(const struct operation_problem *p, struct operation_expected *expected, struct error *err)
{
    (void)err;
    return transpose(&p->operand[TRANSPOSE_A], &expected[TRANSPOSE_B]);
}

static int cpu_in_place(const struct operation_problem *p, struct operation_expected *expected, struct error *err)
{
    (void)err;
    return transpose(&p->operand[IN_PLACE_A], &expected[IN_PLACE_A]);
}

// On the GPU: geam in fp64 on the widened matrix, which is exact except for 64-bit integers.
static int on_device(const struct device_operations *tools, const struct operand *from, struct operation_expected *to,
                     struct error *err)
{
    int64_t n = operand_count(from);
    struct operand wide = {.type = ELEMENT_F64, .rows = from->rows, .cols = from->cols, .ld = from->cols};
    struct operand turned = {
        .type = ELEMENT_F64, .rows = from->cols, .cols = from->rows, .ld = from->rows, .device = to->expected};
    bool floats = element_is_float(from->type);
    if (!floats && element_size(from->type) == 8)
        return error_set(err, "cuBLAS cannot transpose %s; set by = \"cpu\"", element_name(from->type));
    to->per_scale = to->per_value = to->floor = 0;
    if (tools->scratch(tools->self, (size_t)n * 8, &wide.device, err) ||
        (!floats && tools->scratch(tools->self, (size_t)n * 8, &turned.device, err)) ||
        tools->widen(tools->self, from, WIDENED_VALUE, wide.device, err) ||
        tools->transpose(tools->self, &wide, &turned, err))
        return -1;
    if (!floats) return tools->to_integer(tools->self, turned.device, n, to->expected, err);
    return to->scale ? tools->narrow_up(tools->self, 1, turned.device, 0, n, to->scale, err)
                     : 0; // only reported, as no error is allowed
}

static int reference(const struct device_operations *tools, const struct operation_problem *p,
                     struct operation_expected *expected, struct error *err)
{
    return on_device(tools, &p->operand[TRANSPOSE_A], &expected[TRANSPOSE_B], err);
}

static int reference_in_place(const struct device_operations *tools, const struct operation_problem *p,
                              struct operation_expected *expected, struct error *err)
{
    return on_device(tools, &p->operand[IN_PLACE_A], &expected[IN_PLACE_A], err);
}

static void least(const struct operation_problem *p, struct operation_least *least)
{
    least_of_pass(&p->operand[TRANSPOSE_A], &p->operand[TRANSPOSE_B], least);
}

// Elements on the diagonal do not move, and elements that are known to be equal need not be written.
static void least_in_place(const struct operation_problem *p, struct operation_least *least)
{
    const struct operand *a = &p->operand[IN_PLACE_A];
    double moved = operand_bytes(a) - (double)a->rows * (double)element_size(a->type);
    least->read = a->data.finite ? moved : 0;
    least->written = a->data.full ? moved : 0;
    least->bits = 1;
}

static int run_geam(const struct device_operations *tools, const struct operation_problem *p, void *state,
                    struct error *err)
{
    (void)state;
    return tools->transpose(tools->self, &p->operand[TRANSPOSE_A], &p->operand[TRANSPOSE_B], err);
}

static const struct operation_baseline baselines[] = {
    {"cublas", "cublasSgeam or cublasDgeam with the first operand transposed and a second factor of 0", true,
     .run = run_geam},
    {0},
};

const struct operation operation_transpose = {
    .name = "transpose",
    .summary = "B = A transposed",
    .bound = "bit for bit",
    .roles = roles,
    .check = check,
    .deterministic = true,
    .domain = VALUES_END - 1,
    .least = least,
    .reference = reference,
    .cpu = cpu,
    .baselines = baselines,
};

const struct operation operation_transpose_in_place = {
    .name = "transpose_in_place",
    .summary = "a square matrix transposed in place; no library does that",
    .bound = "bit for bit",
    .roles = in_place_roles,
    .check = check_in_place,
    .deterministic = true,
    .domain = VALUES_END - 1,
    .least = least_in_place,
    .reference = reference_in_place,
    .cpu = cpu_in_place,
};
