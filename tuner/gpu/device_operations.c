// The table of functions through which operations (kernels/*.c) reach the GPU: thin wrappers around support kernels and
// cuBLAS on the workload of the moment.
#include <string.h>

#include "tuner/gpu/workload.h"

static int scratch(void *self, size_t bytes, uint64_t *pointer, struct error *err)
{
    struct workload *w = self;
    if (w->scratch_count == WORKLOAD_SCRATCH_MAX) return error_set(err, "too many temporaries in a reference");
    int failed = cuda_alloc(w->cuda, bytes, pointer, err);
    if (!failed) w->scratch[w->scratch_count++] = *pointer;
    return failed;
}

void device_operations_free_scratch(struct workload *w)
{
    while (w->scratch_count) cuda_free(w->cuda, w->scratch[--w->scratch_count]);
}

static int widen(void *self, const struct operand *from, bool absolute, uint64_t to, struct error *err)
{
    return support_widen(((struct workload *)self)->support, from, absolute, false, to, err);
}

static int narrow_up(void *self, uint64_t from, int64_t n, uint64_t to, struct error *err)
{
    return support_narrow_up(((struct workload *)self)->support, from, n, to, err);
}

static int to_integer(void *self, uint64_t from, int64_t n, uint64_t to, struct error *err)
{
    return support_to_integer(((struct workload *)self)->support, from, n, to, err);
}

static int sums(void *self, const struct operand *from, struct device_sums *out, struct error *err)
{
    return support_sums(((struct workload *)self)->support, from, out, err);
}

static int upload(void *self, const void *from, size_t bytes, uint64_t to, struct error *err)
{
    struct workload *w = self;
    int failed = cuda_upload(w->cuda, to, from, bytes, err);
    return failed ? failed : cuda_sync(w->cuda, err);
}

static int gemm(void *self, const struct device_gemm *g, struct error *err)
{
    struct workload *w = self;
    if (machine_blas(w->machine, err)) return -1;
    return blas_gemm(w->machine->blas, g, err);
}

// A batch's products one by one.
static int product(void *self, const struct device_gemm *g, struct error *err)
{
    struct device_gemm one = *g;
    int64_t a = g->a.rows / g->batch * g->a.ld, b = g->b.rows / g->batch * g->b.ld, c = g->m * g->n;
    int failed = 0;
    for (int64_t i = 0; i < g->batch && !failed; i++) {
        one.a.device = g->a.device + (uint64_t)(i * a) * sizeof(double);
        one.b.device = g->b.device + (uint64_t)(i * b) * sizeof(double);
        one.c.device = g->c.device + (uint64_t)(i * c) * sizeof(double);
        failed = support_product(((struct workload *)self)->support, &one, err);
    }
    return failed;
}

static int gemv(void *self, const struct device_gemm *g, struct error *err)
{
    struct workload *w = self;
    if (machine_blas(w->machine, err)) return -1;
    return blas_gemv(w->machine->blas, g, err);
}

static int plan_gemm(void *self, const struct device_gemm *g, int candidates, void **plan,
                     char detail[OPERATION_DETAIL_MAX], struct error *err)
{
    struct workload *w = self;
    struct blas_plan *made = NULL;
    if (machine_blas(w->machine, err)) return -1;
    int failed = blas_plan_gemm(w->machine->blas, g, candidates, &made, detail, err);
    *plan = made;
    return failed;
}

static int run_plan(void *self, const struct device_gemm *g, void *plan, struct error *err)
{
    return blas_run_plan(((struct workload *)self)->machine->blas, g, plan, err);
}

static void plan_free(void *self, void *plan)
{
    blas_plan_free(((struct workload *)self)->machine->blas, plan);
}

static int asum(void *self, const struct operand *x, const struct operand *result, struct error *err)
{
    struct workload *w = self;
    if (machine_blas(w->machine, err)) return -1;
    return blas_asum(w->machine->blas, x, result, err);
}

static int nrm2(void *self, const struct operand *x, const struct operand *result, struct error *err)
{
    struct workload *w = self;
    if (machine_blas(w->machine, err)) return -1;
    return blas_nrm2(w->machine->blas, x, result, err);
}

static int dot(void *self, const struct operand *x, const struct operand *y, const struct operand *result,
               struct error *err)
{
    struct workload *w = self;
    if (machine_blas(w->machine, err)) return -1;
    return blas_dot(w->machine->blas, x, y, result, err);
}

static int iamax(void *self, const struct operand *x, const struct operand *index, struct error *err)
{
    struct workload *w = self;
    if (machine_blas(w->machine, err)) return -1;
    return blas_iamax(w->machine->blas, x, index, err);
}

static int transpose(void *self, const struct operand *from, const struct operand *to, struct error *err)
{
    struct workload *w = self;
    if (machine_blas(w->machine, err)) return -1;
    return blas_transpose(w->machine->blas, from, to, err);
}

void device_operations_init(struct device_operations *t, struct workload *w)
{
    *t = (struct device_operations){
        .self = w,
        .scratch = scratch,
        .widen = widen,
        .narrow_up = narrow_up,
        .to_integer = to_integer,
        .sums = sums,
        .upload = upload,
        .gemm = gemm,
        .product = product,
        .gemv = gemv,
        .plan_gemm = plan_gemm,
        .run_plan = run_plan,
        .plan_free = plan_free,
        .asum = asum,
        .nrm2 = nrm2,
        .dot = dot,
        .iamax = iamax,
        .transpose = transpose,
    };
}
