// See ceiling_kernels.h.
#include "tuner/gpu/ceiling_kernels.h"

#include "tuner/base/base.h"
#include <errno.h>

enum { BLOCK = 256, WIDE_BLOCK = 512, GROUP = 128, CHAINS = 16, EACH = 8 * WIDE_BLOCK, SINK_BYTES = 16 };
enum { STEPS = 4096, LOOPS = 64, L2_LOOPS = 256, SHARED_LOOPS = 1024, WGMMA_LOOPS = 256 };

// What a kernel takes, and what it does with it.
enum kernel_form { FLOATS, DOUBLES, INTEGERS, READ, COPY, L2, SHARED, MMA, WGMMA };

#define MMA_OPERATIONS(depth) (2.0 * 16 * 8 * (depth))     // of an instruction of a warp
#define WGMMA_OPERATIONS(depth) (2.0 * 64 * 256 * (depth)) // of an instruction of a warpgroup
static const struct {
    const char *symbol;
    enum kernel_form form;
    int length;  // steps of a chain (a multiple of 32), or loops
    double each; // operations of a step or an instruction
} kernels[UNIT_COUNT] = {
    [UNIT_FP32] = {"ceiling_fma", FLOATS, STEPS, 2},
    [UNIT_FP64] = {"ceiling_fp64", DOUBLES, STEPS, 2},
    [UNIT_INT_MAD] = {"ceiling_int_mad", INTEGERS, STEPS, 2},
    [UNIT_INT_ADD] = {"ceiling_int_add", INTEGERS, STEPS, 2},
    [UNIT_DPX] = {"ceiling_dpx", INTEGERS, STEPS, 2},
    [UNIT_DPX_PAIRS] = {"ceiling_dpx_pairs", INTEGERS, STEPS, 4},
    [UNIT_READ] = {"ceiling_read", READ, 0, 0},
    [UNIT_COPY] = {"ceiling_copy", COPY, 0, 0},
    [UNIT_L2] = {"ceiling_l2", L2, L2_LOOPS, 0},
    [UNIT_SHARED] = {"ceiling_shared", SHARED, SHARED_LOOPS, 0},
    [UNIT_MMA_BF16] = {"ceiling_tensor_bf16", MMA, LOOPS, MMA_OPERATIONS(16)},
    [UNIT_MMA_F16] = {"ceiling_tensor_f16", MMA, LOOPS, MMA_OPERATIONS(16)},
    [UNIT_MMA_TF32] = {"ceiling_tensor_tf32", MMA, LOOPS, MMA_OPERATIONS(8)},
    [UNIT_MMA_FP64] = {"ceiling_tensor_fp64", MMA, LOOPS, MMA_OPERATIONS(16)},
    [UNIT_MMA_S8] = {"ceiling_tensor_int8", MMA, LOOPS, MMA_OPERATIONS(32)},
    [UNIT_MMA_FP8] = {"ceiling_tensor_fp8", MMA, LOOPS, MMA_OPERATIONS(32)},
    [UNIT_WGMMA_BF16] = {"ceiling_wgmma_bf16", WGMMA, WGMMA_LOOPS, WGMMA_OPERATIONS(16)},
    [UNIT_WGMMA_F16] = {"ceiling_wgmma_f16", WGMMA, WGMMA_LOOPS, WGMMA_OPERATIONS(16)},
    [UNIT_WGMMA_TF32] = {"ceiling_wgmma_tf32", WGMMA, WGMMA_LOOPS, WGMMA_OPERATIONS(8)},
    [UNIT_WGMMA_S8] = {"ceiling_wgmma_int8", WGMMA, WGMMA_LOOPS, WGMMA_OPERATIONS(32)},
    [UNIT_WGMMA_FP8] = {"ceiling_wgmma_fp8", WGMMA, WGMMA_LOOPS, WGMMA_OPERATIONS(32)},
};

struct ceiling_kernels {
    struct cuda *cuda;
    const char *path;
    struct cuda_module *module; // NULL: not loaded yet
    struct cuda_kernel *kernel[UNIT_COUNT];
    int compute;   // 90 of sm_90a
    unsigned wide; // blocks of BLOCK threads that fill the device
    uint64_t sink; // what kernels pretend to write to
};

int ceiling_kernels_open(struct ceiling_kernels **out, struct cuda *cuda, const char *path, struct error *err)
{
    struct ceiling_kernels *k = memory_try(1, sizeof *k, err);
    *out = k;
    if (!k) return -1;
    const struct cuda_info *info = cuda_info(cuda);
    k->cuda = cuda;
    k->path = path;
    k->compute = text_architecture(info->arch);
    k->wide = (unsigned)info->sm_count * 8;
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

int ceiling_kernels_launch(struct ceiling_kernels *k, enum execution_unit_id which, const struct ceiling_memory *m,
                           double *amount, struct error *err)
{
    float f32[2] = {0.999f, 0.001f};
    double f64[2] = {0.999, 0.001}, each = kernels[which].each;
    uint32_t u32[2] = {0x9e3779b1u, 0x85ebca6bu};
    enum kernel_form form = kernels[which].form;
    bool chains = form <= INTEGERS;
    void *a = form == FLOATS    ? (void *)&f32[0]
              : form == DOUBLES ? (void *)&f64[0]
                                : (void *)&u32[0],
         *b = form == FLOATS    ? (void *)&f32[1]
              : form == DOUBLES ? (void *)&f64[1]
                                : (void *)&u32[1];
    // Of the L2 a quarter is read: it is made of two halves that keep copies of each other's lines.
    size_t bytes = form == COPY ? m->bytes / 2 : form == L2 ? m->l2_bytes / 4 : m->bytes;
    uint64_t from = m->address, to = from + bytes;
    int64_t n = (int64_t)(bytes / 16);
    int length = kernels[which].length, failed = k->module ? 0 : load(k, err);
    struct cuda_kernel **kernel = &k->kernel[which];
    void *args[4] = {&length, &k->sink};
    unsigned blocks = k->wide, block = BLOCK;
    if (form == READ || form == COPY) {
        memcpy(args, (void *[]){&from, &n, form == COPY ? &to : &k->sink}, 3 * sizeof *args);
        block = WIDE_BLOCK;
        blocks = (unsigned)((n + EACH - 1) / EACH);
        *amount = (form == COPY ? 2 : 1) * 16 * (double)n;
    } else if (form == L2 || form == SHARED) {
        if (form == L2) memcpy(args, (void *[]){&from, &n, &length, &k->sink}, sizeof args);
        block = WIDE_BLOCK;
        blocks = k->wide / 2; // 4 of 512 threads fill a multiprocessor
        *amount = 16.0 * 8 * length * block * blocks;
    } else if (chains) {
        memcpy(args, (void *[]){a, b, &length, &k->sink}, sizeof args);
        *amount = each * CHAINS * length * BLOCK * k->wide;
    } else if (form == MMA) {
        if (which == UNIT_MMA_FP64 && k->compute < 90) each = 2.0 * 8 * 8 * 4;
        *amount = each * 8 * 16 * length * BLOCK / 32 * k->wide;
    } else { // two warpgroups a multiprocessor, since their sums take most registers
        block = GROUP;
        blocks = k->wide / 4;
        *amount = each * 4 * length * blocks;
    }
    struct cuda_geometry g = {.grid = {blocks, 1, 1}, .block = {block, 1, 1}, .cluster = {1, 1, 1}};
    if (!failed && !*kernel) failed = cuda_module_kernel(k->cuda, k->module, kernels[which].symbol, kernel, err);
    return failed ? failed : cuda_launch(k->cuda, *kernel, &g, args, err);
}
