// See ceiling_kernels.h.
#include "tuner/gpu/ceiling_kernels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/text.h"

enum { BLOCK = 256, WIDE_BLOCK = 512, GROUP = 128, CHAINS = 16, EACH = 8 * WIDE_BLOCK, SINK_BYTES = 16 };

static const char *const symbols[UNIT_COUNT] = {
    [UNIT_FP32] = "ceiling_fma",
    [UNIT_READ] = "ceiling_read",
    [UNIT_FP64] = "ceiling_fp64",
    [UNIT_COPY] = "ceiling_copy",
    [UNIT_L2] = "ceiling_l2",
    [UNIT_SHARED] = "ceiling_shared",
    [UNIT_MMA_BF16] = "ceiling_tensor_bf16",
    [UNIT_MMA_F16] = "ceiling_tensor_f16",
    [UNIT_MMA_TF32] = "ceiling_tensor_tf32",
    [UNIT_MMA_FP64] = "ceiling_tensor_fp64",
    [UNIT_MMA_S8] = "ceiling_tensor_int8",
    [UNIT_MMA_FP8] = "ceiling_tensor_fp8",
    [UNIT_WGMMA_BF16] = "ceiling_wgmma_bf16",
    [UNIT_WGMMA_F16] = "ceiling_wgmma_f16",
    [UNIT_WGMMA_TF32] = "ceiling_wgmma_tf32",
    [UNIT_WGMMA_S8] = "ceiling_wgmma_int8",
    [UNIT_WGMMA_FP8] = "ceiling_wgmma_fp8",
    [UNIT_INT_MAD] = "ceiling_int_mad",
    [UNIT_INT_ADD] = "ceiling_int_add",
    [UNIT_DPX] = "ceiling_dpx",
    [UNIT_DPX_PAIRS] = "ceiling_dpx_pairs",
};

struct ceiling_kernels {
    struct cuda *cuda;
    const char *path;
    struct cuda_module *module; // NULL: not loaded yet
    struct cuda_kernel *kernel[UNIT_COUNT];
    unsigned wide; // blocks of BLOCK threads that fill the device
    uint64_t sink; // what kernels pretend to write to
};

int ceiling_kernels_open(struct ceiling_kernels **out, struct cuda *cuda, const char *path, struct error *err)
{
    struct ceiling_kernels *k = memory_try(1, sizeof *k, err);
    struct cuda_info info;
    *out = k;
    if (!k) return -1;
    cuda_info(cuda, &info);
    k->cuda = cuda;
    k->path = path;
    k->wide = (unsigned)info.sm_count * 8;
    return 0;
}

void ceiling_kernels_close(struct ceiling_kernels *k)
{
    if (!k) return;
    cuda_free(k->cuda, k->sink);
    cuda_module_unload(k->cuda, k->module);
    free(k);
}

static int load(struct ceiling_kernels *k, struct error *err)
{
    char *image = text_read_file(k->path, NULL);
    if (!image) return error_set(err, "cannot read the ceilings' kernels '%s': %s", k->path, strerror(errno));
    int failed = k->sink ? 0 : cuda_alloc(k->cuda, SINK_BYTES, &k->sink, err);
    if (!failed) failed = cuda_module_load(k->cuda, image, &k->module, err);
    if (failed) error_prefix(err, "the ceilings' kernels");
    free(image);
    return failed;
}

// `args` points to k->sink, which exists once the module is loaded.
static int launch(struct ceiling_kernels *k, enum execution_unit_id which, unsigned blocks, unsigned block, void **args,
                  struct error *err)
{
    struct cuda_geometry g = {.grid = {blocks, 1, 1}, .block = {block, 1, 1}, .cluster = {1, 1, 1}};
    struct cuda_kernel **kernel = &k->kernel[which];
    int failed = k->module ? 0 : load(k, err);
    if (!failed && !*kernel) failed = cuda_module_kernel(k->cuda, k->module, symbols[which], kernel, err);
    return failed ? failed : cuda_launch(k->cuda, *kernel, &g, args, err);
}

int ceiling_kernels_fp32(struct ceiling_kernels *k, int steps, double *amount, struct error *err)
{
    float a = 0.999f, b = 0.001f;
    void *args[] = {&a, &b, &steps, &k->sink};
    *amount = 2.0 * CHAINS * steps * BLOCK * k->wide;
    return launch(k, UNIT_FP32, k->wide, BLOCK, args, err);
}

int ceiling_kernels_fp64(struct ceiling_kernels *k, int steps, double *amount, struct error *err)
{
    double a = 0.999, b = 0.001;
    void *args[] = {&a, &b, &steps, &k->sink};
    *amount = 2.0 * CHAINS * steps * BLOCK * k->wide;
    return launch(k, UNIT_FP64, k->wide, BLOCK, args, err);
}

int ceiling_kernels_read(struct ceiling_kernels *k, uint64_t from, size_t bytes, double *amount, struct error *err)
{
    int64_t n = (int64_t)(bytes / 16);
    void *args[] = {&from, &n, &k->sink};
    *amount = 16 * (double)n;
    return launch(k, UNIT_READ, (unsigned)((n + EACH - 1) / EACH), WIDE_BLOCK, args, err);
}

int ceiling_kernels_copy(struct ceiling_kernels *k, uint64_t from, uint64_t to, size_t bytes, double *amount,
                         struct error *err)
{
    int64_t n = (int64_t)(bytes / 16);
    void *args[] = {&from, &n, &to};
    *amount = 2.0 * 16 * (double)n;
    return launch(k, UNIT_COPY, (unsigned)((n + EACH - 1) / EACH), WIDE_BLOCK, args, err);
}

int ceiling_kernels_l2(struct ceiling_kernels *k, uint64_t from, size_t bytes, int loops, double *amount,
                       struct error *err)
{
    int64_t n = (int64_t)(bytes / 16);
    unsigned blocks = k->wide / 2; // 4 of 512 threads fill a multiprocessor
    void *args[] = {&from, &n, &loops, &k->sink};
    *amount = 16.0 * 8 * loops * WIDE_BLOCK * blocks;
    return launch(k, UNIT_L2, blocks, WIDE_BLOCK, args, err);
}

int ceiling_kernels_shared(struct ceiling_kernels *k, int loops, double *amount, struct error *err)
{
    unsigned blocks = k->wide / 2;
    void *args[] = {&loops, &k->sink};
    *amount = 16.0 * 8 * loops * WIDE_BLOCK * blocks;
    return launch(k, UNIT_SHARED, blocks, WIDE_BLOCK, args, err);
}

int ceiling_kernels_integer(struct ceiling_kernels *k, enum execution_unit_id which, int steps, double *amount,
                            struct error *err)
{
    uint32_t a = 0x9e3779b1u, b = 0x85ebca6bu;
    void *args[] = {&a, &b, &steps, &k->sink};
    *amount = (which == UNIT_DPX_PAIRS ? 4.0 : 2.0) * CHAINS * steps * BLOCK * k->wide;
    return launch(k, which, k->wide, BLOCK, args, err);
}

// Operations of an instruction of a warp, or of a warpgroup.
static double tensor_operations(enum execution_unit_id which, int compute)
{
    const double mma = 2.0 * 16 * 8, wgmma = 2.0 * 64 * 256;
    switch (which) {
    case UNIT_MMA_BF16:
    case UNIT_MMA_F16:
        return mma * 16;
    case UNIT_MMA_TF32:
        return mma * 8;
    case UNIT_MMA_FP64:
        return compute >= 90 ? mma * 16 : 2.0 * 8 * 8 * 4;
    case UNIT_MMA_S8:
    case UNIT_MMA_FP8:
        return mma * 32;
    case UNIT_WGMMA_BF16:
    case UNIT_WGMMA_F16:
        return wgmma * 16;
    case UNIT_WGMMA_TF32:
        return wgmma * 8;
    default:
        return wgmma * 32;
    }
}

int ceiling_kernels_tensor(struct ceiling_kernels *k, enum execution_unit_id which, int compute, int loops,
                           double *amount, struct error *err)
{
    double each = tensor_operations(which, compute);
    void *args[] = {&loops, &k->sink};
    if (which >= UNIT_WGMMA_BF16) { // two warpgroups a multiprocessor, since their sums take most registers
        unsigned groups = k->wide / 4;
        *amount = each * 4 * loops * groups;
        return launch(k, which, groups, GROUP, args, err);
    }
    const int warps = BLOCK / 32;
    *amount = each * 8 * 16 * loops * warps * k->wide;
    return launch(k, which, k->wide, BLOCK, args, err);
}
