// See ceilings.h. The fastest of several launches counts: a ceiling is what was reached once.
#include "tuner/gpu/ceilings.h"

#include <math.h>
#include <stdio.h>

#include "tuner/base/protocol.h"

enum { LAUNCHES = 12, WARM_UP_LAUNCHES = 200 };
enum { STEPS = 4096, LOOPS = 64, L2_LOOPS = 256, SHARED_LOOPS = 1024, WGMMA_LOOPS = 256 };

struct ceiling_context {
    struct workload *w;
    uint64_t memory; // `bytes` of it
    size_t bytes, l2_bytes;
    int compute; // 90 of sm_90a
};

// One launch; *amount: operations or bytes.
typedef int ceiling_launch(struct ceiling_context *, double *amount, struct error *err);

static int fp32(struct ceiling_context *g, double *amount, struct error *err)
{
    return ceiling_kernels_fp32(g->w->ceilings, STEPS, amount, err);
}
static int fp64(struct ceiling_context *g, double *amount, struct error *err)
{
    return ceiling_kernels_fp64(g->w->ceilings, STEPS, amount, err);
}
static int shared(struct ceiling_context *g, double *amount, struct error *err)
{
    return ceiling_kernels_shared(g->w->ceilings, SHARED_LOOPS, amount, err);
}

static int read(struct ceiling_context *g, double *amount, struct error *err)
{
    return ceiling_kernels_read(g->w->ceilings, g->memory, g->bytes, amount, err);
}

static int copy(struct ceiling_context *g, double *amount, struct error *err)
{
    return ceiling_kernels_copy(g->w->ceilings, g->memory, g->memory + g->bytes / 2, g->bytes / 2, amount, err);
}

// A quarter of the L2, which is made of two halves that keep copies of each other's lines.
static int l2(struct ceiling_context *g, double *amount, struct error *err)
{
    return ceiling_kernels_l2(g->w->ceilings, g->memory, g->l2_bytes / 4, L2_LOOPS, amount, err);
}

enum { ANY = 0, AMPERE = 80, ADA = 89, HOPPER = 90, ALL_LATER = 9999 };

static const struct {
    const char *key;
    ceiling_launch *launch; // NULL: of the tensor pipe
    int from, to;           // architectures that have it
    enum ceiling_tensor tensor;
    int loops;
} ceilings[] = {
    {"flops_per_second", fp32, ANY, ALL_LATER, 0, 0},
    {"bytes_per_second", read, ANY, ALL_LATER, 0, 0},
    {"fp64_flops_per_second", fp64, ANY, ALL_LATER, 0, 0},
    {"copy_bytes_per_second", copy, ANY, ALL_LATER, 0, 0},
    {"l2_bytes_per_second", l2, ANY, ALL_LATER, 0, 0},
    {"shared_bytes_per_second", shared, ANY, ALL_LATER, 0, 0},
    {"tensor_bf16_flops_per_second", NULL, AMPERE, ALL_LATER, CEILING_BF16, LOOPS},
    {"tensor_tf32_flops_per_second", NULL, AMPERE, ALL_LATER, CEILING_TF32, LOOPS},
    {"tensor_fp64_flops_per_second", NULL, AMPERE, ALL_LATER, CEILING_FP64_TENSOR, LOOPS},
    {"tensor_int8_flops_per_second", NULL, AMPERE, ALL_LATER, CEILING_INT8, LOOPS},
    {"tensor_fp8_flops_per_second", NULL, ADA, ALL_LATER, CEILING_FP8, LOOPS},
    {"wgmma_bf16_flops_per_second", NULL, HOPPER, HOPPER, CEILING_WGMMA_BF16, WGMMA_LOOPS},
    {"wgmma_tf32_flops_per_second", NULL, HOPPER, HOPPER, CEILING_WGMMA_TF32, WGMMA_LOOPS},
    {"wgmma_int8_flops_per_second", NULL, HOPPER, HOPPER, CEILING_WGMMA_INT8, WGMMA_LOOPS},
    {"wgmma_fp8_flops_per_second", NULL, HOPPER, HOPPER, CEILING_WGMMA_FP8, WGMMA_LOOPS},
};

static int launch(struct ceiling_context *g, size_t which, double *amount, struct error *err)
{
    if (ceilings[which].launch) return ceilings[which].launch(g, amount, err);
    return ceiling_kernels_tensor(g->w->ceilings, ceilings[which].tensor, g->compute, ceilings[which].loops, amount,
                                  err);
}

static int fastest(struct ceiling_context *g, size_t which, double *rate, struct error *err)
{
    struct cuda *cuda = g->w->cuda;
    struct cuda_event *from = NULL, *to = NULL;
    double seconds = INFINITY, amount = 0;
    int failed = cuda_event_create(cuda, &from, err);
    if (!failed) failed = cuda_event_create(cuda, &to, err);
    for (int i = 0; i < LAUNCHES && !failed; i++) {
        double one;
        failed = cuda_event_record(cuda, from, err);
        if (!failed) failed = launch(g, which, &amount, err);
        if (!failed) failed = cuda_event_record(cuda, to, err);
        if (!failed) failed = cuda_sync(cuda, err);
        if (!failed) failed = cuda_event_seconds(cuda, from, to, &one, err);
        if (!failed && i >= 2 && one < seconds) seconds = one; // the first ones warm up
    }
    if (from) cuda_event_destroy(cuda, from);
    if (to) cuda_event_destroy(cuda, to);
    *rate = amount / seconds;
    return failed;
}

int ceilings_measure(struct workload *w, json_t *answer, struct error *err)
{
    struct cuda_info info;
    cuda_info(w->cuda, &info);
    struct ceiling_context g = {
        .w = w, .bytes = (size_t)2 << 30, .l2_bytes = info.l2_bytes > 0 ? (size_t)info.l2_bytes : (size_t)4 << 20};
    int failed;
    sscanf(info.arch, "sm_%d", &g.compute);
    while ((failed = cuda_alloc(w->cuda, g.bytes, &g.memory, err)) == CUDA_MEMORY && g.bytes > (size_t)64 << 20)
        g.bytes /= 2;
    if (!failed) failed = cuda_zero(w->cuda, g.memory, g.bytes, err);
    for (size_t i = 0; i < sizeof ceilings / sizeof *ceilings && !failed; i++) {
        double rate;
        if (g.compute < ceilings[i].from || g.compute > ceilings[i].to) continue;
        failed = fastest(&g, i, &rate, err);
        if (!failed) json_object_set_new(answer, ceilings[i].key, json_real(rate));
    }
    if (failed != CUDA_CRASHED && g.memory) cuda_free(w->cuda, g.memory);
    if (!failed) json_object_set_new(answer, "status", json_string(status_name(STATUS_OK)));
    return failed;
}

int ceilings_warm_up(struct workload *w, struct error *err)
{
    double unused;
    int failed = 0;
    for (int i = 0; i < WARM_UP_LAUNCHES && !failed; i++) {
        failed = ceiling_kernels_fp32(w->ceilings, STEPS, &unused, err);
        if (!failed) failed = support_flush(w->support, err);
    }
    return failed ? failed : cuda_sync(w->cuda, err);
}
