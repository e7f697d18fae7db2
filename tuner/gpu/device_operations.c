// See device_operations.h.
#include "tuner/gpu/device_operations.h"

static int scratch(void *self, size_t bytes, uint64_t *pointer, struct error *err)
{
    struct device_operations_context *c = self;
    if (c->scratch_count == DEVICE_OPERATIONS_SCRATCH_MAX)
        return error_set(err, "the reference needs more than %d temporary buffers", DEVICE_OPERATIONS_SCRATCH_MAX);
    int failed = cuda_alloc(bytes, pointer, err);
    if (!failed) c->scratch[c->scratch_count++] = *pointer;
    return failed;
}

void device_operations_free_scratch(struct device_operations_context *c)
{
    while (c->scratch_count) cuda_free(c->scratch[--c->scratch_count]);
}

static struct support *support_of(void *self)
{
    return ((struct device_operations_context *)self)->support;
}

static int widen(void *self, const struct operand *from, enum widened how, uint64_t to, struct error *err)
{
    return support_widen(support_of(self), from, how, false, to, err);
}

static int narrow_up(void *self, double factor, uint64_t from, uint64_t squares, int64_t n, uint64_t to,
                     struct error *err)
{
    return support_narrow_up(support_of(self), factor, from, squares, n, to, err);
}

static int to_integer(void *self, uint64_t from, int64_t n, uint64_t to, struct error *err)
{
    return support_to_integer(support_of(self), from, n, to, err);
}

static int sums(void *self, const struct operand *from, struct device_sums *out, struct error *err)
{
    return support_sums(support_of(self), from, out, err);
}

static int upload(void *self, const void *from, size_t bytes, uint64_t to, struct error *err)
{
    return cuda_store(((struct device_operations_context *)self)->machine->cuda, to, from, bytes, err);
}

// Computes a batch's products one by one.
static int product(void *self, const struct device_gemm *g, struct error *err)
{
    struct device_gemm one = *g;
    int64_t a = g->a.rows / g->batch * g->a.ld, b = g->b.rows / g->batch * g->b.ld, c = g->m * g->n;
    int failed = 0;
    for (int64_t i = 0; i < g->batch && !failed; i++) {
        one.a.device = g->a.device + (uint64_t)(i * a) * sizeof(double);
        one.b.device = g->b.device + (uint64_t)(i * b) * sizeof(double);
        one.c.device = g->c.device + (uint64_t)(i * c) * sizeof(double);
        failed = support_product(support_of(self), &one, err);
    }
    return failed;
}

// cuBLAS, opened when it is first needed; NULL with a message.
static struct blas *blas_of(void *self, struct error *err)
{
    struct machine *m = ((struct device_operations_context *)self)->machine;
    return m->blas || !blas_open(&m->blas, m->cuda, err) ? m->blas : NULL;
}

static int gemm(void *self, const struct device_gemm *g, struct error *err)
{
    struct blas *blas = blas_of(self, err);
    return blas ? blas_gemm(blas, g, err) : -1;
}

static int gemv(void *self, const struct device_gemm *g, struct error *err)
{
    struct blas *blas = blas_of(self, err);
    return blas ? blas_gemv(blas, g, err) : -1;
}

static int list_gemm(void *self, const struct device_gemm *g, struct operation_way ways[OPERATION_WAYS_MAX],
                     size_t *count, struct error *err)
{
    struct blas *blas = blas_of(self, err);
    return blas ? blas_list_gemm(blas, g, ways, count, err) : -1;
}

static int plan_gemm(void *self, const struct device_gemm *g, const char *way, void **plan, struct error *err)
{
    struct blas *blas = blas_of(self, err);
    struct blas_plan *made = NULL;
    int failed = blas ? blas_plan_gemm(blas, g, way, &made, err) : -1;
    *plan = made;
    return failed;
}

static int run_plan(void *self, const struct device_gemm *g, void *plan, struct error *err)
{
    return blas_run_plan(blas_of(self, err), g, plan, err);
}

static void plan_free(void *self, void *plan)
{
    (void)self;
    blas_plan_free(plan);
}

static int vector(void *self, enum vector_routine which, const struct operand *x, const struct operand *y,
                  const struct operand *result, struct error *err)
{
    struct blas *blas = blas_of(self, err);
    return blas ? blas_vector(blas, which, x, y, result, err) : -1;
}

static int clear(void *self, const struct operand *x, struct error *err)
{
    const size_t bytes = (size_t)x->rows * (size_t)x->cols * element_size(x->type);
    return cuda_zero(((struct device_operations_context *)self)->machine->cuda, x->device, bytes, err);
}

static int transpose(void *self, const struct operand *from, const struct operand *to, struct error *err)
{
    struct blas *blas = blas_of(self, err);
    return blas ? blas_transpose(blas, from, to, err) : -1;
}

void device_operations_init(struct device_operations *t, struct device_operations_context *context)
{
    *t = (struct device_operations){
        .self = context,
        .scratch = scratch,
        .widen = widen,
        .narrow_up = narrow_up,
        .to_integer = to_integer,
        .sums = sums,
        .upload = upload,
        .gemm = gemm,
        .product = product,
        .gemv = gemv,
        .list_gemm = list_gemm,
        .plan_gemm = plan_gemm,
        .run_plan = run_plan,
        .plan_free = plan_free,
        .vector = vector,
        .clear = clear,
        .transpose = transpose,
    };
}
