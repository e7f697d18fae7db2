// See support.h. Kernels are looked up by name when first needed and kept: loading all eight types' would cost a start
// of the worker some milliseconds for nothing.
#include "tuner/gpu/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"

enum { BLOCK = 256, PARTIALS = 1024 };

enum kernel_name { FILL, COMPARE, JUDGE, WIDEN, SUMS, TYPED_COUNT };
static const char *const typed_names[TYPED_COUNT] = {"fill", "compare", "judge", "widen", "sums"};

enum {
    PATTERN,
    CHECKSUMS,
    MASK,
    RESTORE,
    POISON,
    GUARDS,
    NARROW_UP,
    TO_INTEGER,
    MAX_ABS,
    SUMS_JOIN,
    PRODUCT,
    FLUSH,
    YIELD,
    CEILING_FMA,
    CEILING_READ,
    CEILING_FP64,
    CEILING_COPY,
    CEILING_L2,
    CEILING_SHARED,
    CEILING_TENSOR,
    PLAIN_COUNT = CEILING_TENSOR + CEILING_TENSORS
};
static const char *const plain_names[PLAIN_COUNT] = {
    "pattern",
    "checksums",
    "mask",
    "restore",
    "poison",
    "guards",
    "narrow_up",
    "to_integer",
    "max_abs",
    "sums_join",
    "product",
    "flush",
    "yield",
    "ceiling_fma",
    "ceiling_read",
    "ceiling_fp64",
    "ceiling_copy",
    "ceiling_l2",
    "ceiling_shared",
    "ceiling_tensor_bf16",
    "ceiling_tensor_tf32",
    "ceiling_tensor_fp64",
    "ceiling_tensor_int8",
    "ceiling_tensor_fp8",
    "ceiling_wgmma_bf16",
    "ceiling_wgmma_tf32",
    "ceiling_wgmma_int8",
    "ceiling_wgmma_fp8",
};

struct sums {
    double sum, sum_abs, sum_squares, fractional;
    uint64_t exact;
};

struct support {
    struct cuda *cuda;
    struct cuda_module *module;
    struct cuda_kernel *typed[TYPED_COUNT][ELEMENT_COUNT], *plain[PLAIN_COUNT];
    unsigned wide;         // blocks of a grid that fills the device
    uint64_t flush, small; // memory read by a flush; partial sums and single results
    size_t flush_bytes;
};

int support_open(struct support **out, struct cuda *cuda, const void *image, struct error *err)
{
    struct support *s = memory_try(1, sizeof *s, err);
    struct cuda_info info;
    int result = -1;
    *out = NULL;
    if (!s) return -1;
    cuda_info(cuda, &info);
    s->cuda = cuda;
    s->wide = (unsigned)info.sm_count * 8;
    // Once the L2's size was enough on an H200.
    s->flush_bytes = (size_t)(info.l2_bytes > 0 ? info.l2_bytes : 64 << 20) / 4 * 5;
    if ((result = cuda_module_load(cuda, image, &s->module, err)) ||
        (result = cuda_alloc(cuda, s->flush_bytes, &s->flush, err)) ||
        (result = cuda_alloc(cuda, (PARTIALS + 1) * sizeof(struct sums), &s->small, err)) ||
        (result = cuda_zero(cuda, s->flush, s->flush_bytes, err))) {
        error_prefix(err, "support kernels");
        support_close(s);
        return result;
    }
    *out = s;
    return 0;
}

void support_close(struct support *s)
{
    if (!s) return;
    cuda_free(s->cuda, s->flush);
    cuda_free(s->cuda, s->small);
    cuda_module_unload(s->cuda, s->module);
    free(s);
}

static int find(struct support *s, struct cuda_kernel **kernel, const char *name, const char *type, struct error *err)
{
    char symbol[64];
    if (*kernel) return 0;
    snprintf(symbol, sizeof symbol, "support_%s%s%s", name, type ? "_" : "", type ? type : "");
    return cuda_module_kernel(s->cuda, s->module, symbol, kernel, err);
}

static int launch(struct support *s, struct cuda_kernel *kernel, unsigned x, unsigned y, unsigned block, void **args,
                  struct error *err)
{
    struct cuda_geometry g = {.grid = {x, y, 1}, .block = {block, 1, 1}, .cluster = {1, 1, 1}};
    return cuda_launch(s->cuda, kernel, &g, args, err);
}

static int launch_typed(struct support *s, enum kernel_name name, enum element type, unsigned blocks, unsigned block,
                        void **args, struct error *err)
{
    struct cuda_kernel **kernel = &s->typed[name][type];
    int result = find(s, kernel, typed_names[name], element_name(type), err);
    return result ? result : launch(s, *kernel, blocks, 1, block, args, err);
}

static int launch_plain(struct support *s, int name, unsigned x, unsigned y, unsigned block, void **args,
                        struct error *err)
{
    int result = find(s, &s->plain[name], plain_names[name], NULL, err);
    return result ? result : launch(s, s->plain[name], x, y, block, args, err);
}

// Blocks for n elements, `each` of them a thread; no more than fill the device a few times.
static unsigned blocks_for(const struct support *s, int64_t n, int each)
{
    int64_t blocks = (n + (int64_t)BLOCK * each - 1) / ((int64_t)BLOCK * each);
    if (blocks < 1) blocks = 1;
    return blocks < (int64_t)s->wide ? (unsigned)blocks : s->wide;
}

int support_fill(struct support *s, const struct operand *to, enum fill_kind kind, double low, double high,
                 uint64_t seed, struct error *err)
{
    struct operand o = *to;
    int number = kind;
    void *args[] = {&o.device, &o.rows, &o.cols, &o.ld, &number, &low, &high, &seed};
    return launch_typed(s, FILL, o.type, blocks_for(s, o.rows * o.cols, 4), BLOCK, args, err);
}

int support_pattern(struct support *s, uint64_t address, int64_t rows, int64_t bytes, int64_t pitch, uint16_t pattern,
                    struct error *err)
{
    if (rows <= 0 || bytes <= 0) return 0;
    if (rows == 1 && bytes % 2 == 0 && address % 2 == 0)
        return cuda_fill16(s->cuda, address, pattern, (size_t)bytes / 2, err);
    uint32_t wide = pattern;
    void *args[] = {&address, &rows, &bytes, &pitch, &wide};
    unsigned x = blocks_for(s, bytes, 4), y = rows < 4096 ? (unsigned)rows : 4096;
    return launch_plain(s, PATTERN, x, y, BLOCK, args, err);
}

int support_checksums(struct support *s, const struct checked *list, size_t count, uint64_t old_key, uint64_t new_key,
                      uint64_t sums, struct error *err)
{
    struct checked pieces = *list;
    size_t largest = 0;
    int failed = cuda_zero(s->cuda, sums, 2 * count * sizeof(uint64_t), err);
    for (size_t i = 0; i < count; i++)
        if (pieces.bytes[i] > largest) largest = pieces.bytes[i];
    void *args[] = {&pieces, &old_key, &new_key, &sums};
    if (failed || !count) return failed;
    return launch_plain(s, CHECKSUMS, blocks_for(s, (int64_t)largest / 8, 4), (unsigned)count, BLOCK, args, err);
}

int support_mask(struct support *s, uint64_t address, size_t words, uint64_t key, struct error *err)
{
    int64_t n = (int64_t)words;
    void *args[] = {&address, &n, &key};
    return launch_plain(s, MASK, blocks_for(s, n, 4), 1, BLOCK, args, err);
}

int support_restore(struct support *s, const struct restored *buffers, size_t count, const struct copies *copies,
                    size_t copy_count, struct error *err)
{
    struct restored list[SUPPORT_RESTORED_MAX] = {{0}};
    struct copies to = *copies;
    int failed = 0;
    for (size_t first = 0; first < count && copy_count && !failed; first += SUPPORT_RESTORED_MAX) {
        int n = (int)(count - first < SUPPORT_RESTORED_MAX ? count - first : SUPPORT_RESTORED_MAX);
        int64_t largest = 0;
        for (int i = 0; i < n; i++) {
            list[i] = buffers[first + (size_t)i];
            int64_t bytes = (int64_t)(list[i].rows * list[i].bytes);
            if (bytes > largest) largest = bytes;
        }
        void *args[] = {list, &n, &to};
        failed = launch_plain(s, RESTORE, blocks_for(s, largest / 16, 2), (unsigned)copy_count, BLOCK, args, err);
    }
    return failed;
}

int support_poison(struct support *s, uint32_t value, struct error *err)
{
    struct cuda_info info;
    cuda_info(s->cuda, &info);
    struct cuda_geometry g = {.grid = {(unsigned)info.sm_count, 1, 1},
                              .block = {1024, 1, 1},
                              .cluster = {1, 1, 1},
                              .shared = (unsigned)info.max_shared};
    int words = info.max_shared / 4;
    void *args[] = {&value, &words};
    struct cuda_kernel **kernel = &s->plain[POISON];
    bool first = !*kernel;
    int failed = find(s, kernel, plain_names[POISON], NULL, err);
    if (!failed && first) failed = cuda_kernel_allow(s->cuda, *kernel, &g, err);
    return failed ? failed : cuda_launch(s->cuda, *kernel, &g, args, err);
}

int support_guards(struct support *s, const struct region *regions, size_t count, const struct copies *copies,
                   size_t copy_count, uint16_t pattern, uint64_t findings, struct error *err)
{
    struct region list[SUPPORT_REGIONS_MAX] = {{0}};
    struct copies in = *copies;
    uint32_t wide = pattern;
    void *args[] = {list, &in, &wide, &findings};
    int failed = 0;
    for (size_t first = 0; first < count && copy_count && !failed; first += SUPPORT_REGIONS_MAX) {
        size_t n = count - first < SUPPORT_REGIONS_MAX ? count - first : SUPPORT_REGIONS_MAX;
        memcpy(list, regions + first, n * sizeof *list);
        struct cuda_geometry g = {
            .grid = {16, (unsigned)n, (unsigned)copy_count}, .block = {BLOCK, 1, 1}, .cluster = {1, 1, 1}};
        failed = find(s, &s->plain[GUARDS], plain_names[GUARDS], NULL, err);
        if (!failed) failed = cuda_launch(s->cuda, s->plain[GUARDS], &g, args, err);
    }
    return failed;
}

int support_compare(struct support *s, const struct operand *out, const struct bound *bound, uint64_t previous,
                    enum previous_mode mode, uint16_t pattern, uint64_t key, uint64_t finding, struct error *err)
{
    struct operand o = *out;
    struct bound b = *bound;
    b.scale = bound_scale(bound);
    int number = previous ? (int)mode : PREVIOUS_NONE;
    uint64_t wide = pattern * 0x0001000100010001ull;
    if (o.ld == o.cols) { // one long row: full tiles, however narrow the matrix is
        o.cols *= o.rows;
        o.ld = o.cols;
        o.rows = 1;
    }
    void *args[] = {&o.device,    &o.rows,  &o.cols,   &o.ld,   &b.expected, &b.scale, &b.per_scale,
                    &b.per_value, &b.floor, &previous, &number, &wide,       &key,     &finding};
    int64_t tiles = o.rows * ((o.cols + 2047) / 2048);
    return launch_typed(s, COMPARE, o.type, tiles < (int64_t)s->wide ? (unsigned)tiles : s->wide, BLOCK, args, err);
}

int support_judge(struct support *s, const struct operand *out, const struct bound *bound, uint64_t key,
                  uint64_t finding, struct error *err)
{
    struct operand o = *out;
    struct bound b = *bound;
    b.scale = bound_scale(bound);
    void *args[] = {&o.device,    &o.cols,      &o.ld,    &b.expected, &b.scale,
                    &b.per_scale, &b.per_value, &b.floor, &key,        &finding};
    return launch_typed(s, JUDGE, o.type, 1, 1, args, err);
}

int support_widen(struct support *s, const struct operand *from, bool absolute, bool exact, uint64_t to,
                  struct error *err)
{
    struct operand o = *from;
    int magnitude = absolute, integers = exact;
    void *args[] = {&o.device, &o.rows, &o.cols, &o.ld, &magnitude, &integers, &to};
    return launch_typed(s, WIDEN, o.type, blocks_for(s, o.rows * o.cols, 4), BLOCK, args, err);
}

int support_narrow_up(struct support *s, uint64_t from, int64_t n, uint64_t to, struct error *err)
{
    void *args[] = {&from, &n, &to};
    return launch_plain(s, NARROW_UP, blocks_for(s, n, 4), 1, BLOCK, args, err);
}

int support_to_integer(struct support *s, uint64_t from, int64_t n, uint64_t to, struct error *err)
{
    void *args[] = {&from, &n, &to};
    return launch_plain(s, TO_INTEGER, blocks_for(s, n, 4), 1, BLOCK, args, err);
}

int support_product(struct support *s, const struct device_gemm *g, struct error *err)
{
    struct device_gemm p = *g;
    int64_t one = 1, tiles = (p.m + 15) / 16 * ((p.n + 15) / 16);
    if (tiles > INT32_MAX)
        return error_set(err, "a reference of %lld x %lld is too large for one grid", (long long)p.m, (long long)p.n);
    int64_t *a_row = p.transpose_a ? &one : &p.a.ld, *a_col = p.transpose_a ? &p.a.ld : &one;
    int64_t *b_row = p.transpose_b ? &one : &p.b.ld, *b_col = p.transpose_b ? &p.b.ld : &one;
    void *args[] = {&p.a.device, a_row, a_col, &p.b.device, b_row,    b_col,
                    &p.c.device, &p.m,  &p.n,  &p.k,        &p.alpha, &p.beta};
    return launch_plain(s, PRODUCT, (unsigned)tiles, 1, BLOCK, args, err);
}

int support_max_abs(struct support *s, uint64_t from, int64_t n, double *result, struct error *err)
{
    void *args[] = {&from, &n, &s->small};
    int failed;
    if ((failed = cuda_zero(s->cuda, s->small, sizeof *result, err)) ||
        (failed = launch_plain(s, MAX_ABS, blocks_for(s, n, 4), 1, BLOCK, args, err)) ||
        (failed = cuda_download(s->cuda, result, s->small, sizeof *result, err)) || (failed = cuda_sync(s->cuda, err)))
        return failed;
    return 0;
}

int support_sums(struct support *s, const struct operand *from, struct device_sums *sums, struct error *err)
{
    struct operand o = *from;
    uint64_t partials = s->small + sizeof(struct sums);
    int count = PARTIALS, failed;
    struct sums got;
    void *args[] = {&o.device, &o.rows, &o.cols, &o.ld, &partials}, *join[] = {&partials, &count, &s->small};
    if ((failed = launch_typed(s, SUMS, o.type, PARTIALS, BLOCK, args, err)) ||
        (failed = launch_plain(s, SUMS_JOIN, 1, 1, 1, join, err)) ||
        (failed = cuda_download(s->cuda, &got, s->small, sizeof got, err)) || (failed = cuda_sync(s->cuda, err)))
        return failed;
    *sums = (struct device_sums){got.sum, got.sum_abs, got.sum_squares, got.fractional, (int64_t)got.exact};
    return 0;
}

int support_flush(struct support *s, struct error *err)
{
    int64_t n = (int64_t)(s->flush_bytes / 16);
    void *args[] = {&s->flush, &n, &s->small};
    int failed = launch_plain(s, FLUSH, s->wide, 1, BLOCK, args, err);
    return failed ? failed : launch_plain(s, YIELD, s->wide, 1, BLOCK, args, err);
}

int support_ceiling_fma(struct support *s, int loops, double *flops, struct error *err)
{
    float a = 0.999f, b = 0.001f;
    void *args[] = {&a, &b, &loops, &s->small};
    *flops = 2.0 * 16 * 64 * loops * BLOCK * s->wide;
    return launch_plain(s, CEILING_FMA, s->wide, 1, BLOCK, args, err);
}

int support_ceiling_read(struct support *s, uint64_t from, size_t bytes, struct error *err)
{
    enum { EACH = 8 * 512 };
    int64_t n = (int64_t)(bytes / 16);
    void *args[] = {&from, &n, &s->small};
    return launch_plain(s, CEILING_READ, (unsigned)((n + EACH - 1) / EACH), 1, 512, args, err);
}

int support_ceiling_fp64(struct support *s, int loops, double *amount, struct error *err)
{
    double a = 0.999, b = 0.001;
    void *args[] = {&a, &b, &loops, &s->small};
    *amount = 2.0 * 16 * 64 * loops * BLOCK * s->wide;
    return launch_plain(s, CEILING_FP64, s->wide, 1, BLOCK, args, err);
}

int support_ceiling_copy(struct support *s, uint64_t from, uint64_t to, size_t bytes, double *amount, struct error *err)
{
    enum { EACH = 8 * 512 };
    int64_t n = (int64_t)(bytes / 16);
    void *args[] = {&from, &n, &to};
    *amount = 2.0 * 16 * (double)n;
    return launch_plain(s, CEILING_COPY, (unsigned)((n + EACH - 1) / EACH), 1, 512, args, err);
}

int support_ceiling_l2(struct support *s, uint64_t from, size_t bytes, int loops, double *amount, struct error *err)
{
    int64_t n = (int64_t)(bytes / 16);
    unsigned blocks = s->wide / 2; // 4 of 512 threads fill a multiprocessor
    void *args[] = {&from, &n, &loops, &s->small};
    *amount = 16.0 * 8 * loops * 512 * blocks;
    return launch_plain(s, CEILING_L2, blocks, 1, 512, args, err);
}

int support_ceiling_shared(struct support *s, int loops, double *amount, struct error *err)
{
    unsigned blocks = s->wide / 2;
    void *args[] = {&loops, &s->small};
    *amount = 16.0 * 8 * loops * 512 * blocks;
    return launch_plain(s, CEILING_SHARED, blocks, 1, 512, args, err);
}

int support_ceiling_tensor(struct support *s, enum ceiling_tensor kind, int compute, int loops, double *amount,
                           struct error *err)
{
    // Operations of an instruction of a warp, or of a warpgroup.
    const double mma = 2.0 * 16 * 8, wgmma = 2.0 * 64 * 256;
    const double each[CEILING_TENSORS] = {[CEILING_BF16] = mma * 16,
                                          [CEILING_TF32] = mma * 8,
                                          [CEILING_FP64_TENSOR] = compute >= 90 ? mma * 16 : 2.0 * 8 * 8 * 4,
                                          [CEILING_INT8] = mma * 32,
                                          [CEILING_FP8] = mma * 32,
                                          [CEILING_WGMMA_BF16] = wgmma * 16,
                                          [CEILING_WGMMA_TF32] = wgmma * 8,
                                          [CEILING_WGMMA_INT8] = wgmma * 32,
                                          [CEILING_WGMMA_FP8] = wgmma * 32};
    void *args[] = {&loops, &s->small};
    if (kind >= CEILING_WGMMA_BF16) { // two warpgroups a multiprocessor, since their sums take most registers
        unsigned groups = s->wide / 4;
        *amount = each[kind] * 4 * loops * groups;
        return launch_plain(s, CEILING_TENSOR + (int)kind, groups, 1, 128, args, err);
    }
    *amount = each[kind] * 8 * 16 * loops * (BLOCK / 32) * s->wide;
    return launch_plain(s, CEILING_TENSOR + (int)kind, s->wide, 1, BLOCK, args, err);
}
