// See support.h. Kernels are looked up by name when first needed and kept: looking up all of them would
// delay the worker's start by several milliseconds.
#include "tuner/gpu/support.h"

#include "tuner/base/entropy.h"

enum { BLOCK = 256, PARTIALS = 1024 };
enum { COMPARE_BITS = 4 }; // support.cu

// Kernels that exist once for each element type, and the other kernels: X(enumerator, name).
// clang-format off
#define TYPED_KERNELS(X) \
    X(FILL, fill) X(COMPARE, compare) X(DISTURB, disturb) X(JUDGE, judge) X(WIDEN, widen) X(SUMS, sums)
#define PLAIN_KERNELS(X) \
    X(CHECKSUMS, checksums) X(MASK, mask) X(RESTORE, restore) X(POISON, poison) X(GUARDS, guards) \
    X(NARROW_UP, narrow_up) X(TO_INTEGER, to_integer) X(ROW_SIZES, row_sizes) X(SUMS_JOIN, sums_join) \
    X(PRODUCT, product) X(FLUSH, flush) X(YIELD, yield) X(LOAD, load) X(HOLD, hold) X(DROP, drop)
#define ENUMERATOR(enumerator, name) enumerator,
#define NAME(enumerator, name) #name,
enum kernel_name { TYPED_KERNELS(ENUMERATOR) TYPED_COUNT };
enum { PLAIN_KERNELS(ENUMERATOR) PLAIN_COUNT };
// clang-format on
static const char *const typed_names[] = {TYPED_KERNELS(NAME)}, *const plain_names[] = {PLAIN_KERNELS(NAME)};

struct sums {
    double sum, sum_abs, sum_squares, fractional;
    uint64_t exact;
};

struct support {
    struct cuda *cuda;
    struct cuda_module *module;
    struct cuda_kernel *typed[TYPED_COUNT][ELEMENT_COUNT], *plain[PLAIN_COUNT];
    unsigned wide;         // number of blocks that fill the device
    uint64_t flush, small; // memory that a flush reads; memory for partial sums and single results
    size_t flush_bytes;
    struct cuda_beside *beside; // opened by the first load
};

uint64_t support_repeat(enum element type, uint64_t bits)
{
    for (size_t width = 8 * element_size(type); width < 64; width *= 2)
        bits = (bits & ~(~0ull << width)) | bits << width;
    return bits;
}

struct element_format support_format(enum element type)
{
    static const unsigned char fraction_bits[ELEMENT_COUNT] = {
        [ELEMENT_F32] = 23, [ELEMENT_F64] = 52, [ELEMENT_F16] = 10,
        [ELEMENT_BF16] = 7, [ELEMENT_E4M3] = 3, [ELEMENT_E5M2] = 2,
    };
    const bool natural = type == ELEMENT_U8 || type == ELEMENT_U16 || type == ELEMENT_U32 || type == ELEMENT_U64;
    const uint64_t sign = 1ull << (8 * element_size(type) - 1), rest = sign - 1;
    const uint64_t fraction = element_is_float(type) ? (1ull << fraction_bits[type]) - 1 : rest,
                   exponent = rest ^ fraction;
    return (struct element_format){
        .sign = natural ? 0 : support_repeat(type, sign),
        .exponent = support_repeat(type, exponent),
        .fraction = support_repeat(type, fraction),
        // The largest exponent of finite numbers. E4M3 also has finite numbers with the next exponent.
        .high = support_repeat(type, exponent ? exponent & ~(fraction + 1) : rest & ~(rest >> 2)),
    };
}

uint64_t support_near(enum element type, uint64_t bits)
{
    const struct element_format f = support_format(type);
    const uint64_t lane = element_size(type) < 8 ? ~(~0ull << 8 * element_size(type)) : ~0ull;
    bits &= lane;
    if (!f.exponent) return support_repeat(type, bits ^ (bits & 2 ? 1 : 3));
    const uint64_t fraction = f.fraction & lane, exponent = f.exponent & lane;
    // Zeros and numbers that are not finite become numbers between 1/2 and 2.
    if (!(bits & exponent) || (bits & exponent) == exponent) bits = exponent & exponent >> 1;
    return support_repeat(type, bits ^ (fraction + 1) >> 1);
}

int support_open(struct support **out, struct cuda *cuda, const void *image, struct error *err)
{
    struct support *s = *out = memory_try(1, sizeof *s, err);
    int failed;
    if (!s) return -1;
    const struct cuda_info *info = cuda_info(cuda);
    s->cuda = cuda;
    s->wide = (unsigned)info->sm_count * 8;
    // On an H200, reading as much as the L2's size would be enough.
    s->flush_bytes = (size_t)(info->l2_bytes > 0 ? info->l2_bytes : 64 << 20) / 4 * 5;
    if ((failed = cuda_module_load(image, &s->module, err)) || (failed = cuda_alloc(s->flush_bytes, &s->flush, err)) ||
        (failed = cuda_alloc((PARTIALS + 1) * sizeof(struct sums), &s->small, err)) ||
        (failed = cuda_zero(cuda, s->flush, s->flush_bytes, err)))
        error_prefix(err, "support kernels");
    return failed;
}

void support_close(struct support *s)
{
    if (!s) return;
    cuda_free(s->flush);
    cuda_free(s->small);
    cuda_beside_close(s->beside);
    cuda_module_unload(s->module);
    free(s);
}

static int find(struct support *s, struct cuda_kernel **kernel, const char *name, const char *type, struct error *err)
{
    char symbol[64];
    if (*kernel) return 0;
    snprintf(symbol, sizeof symbol, "support_%s%s%s", name, type ? "_" : "", type ? type : "");
    return cuda_module_kernel(s->module, symbol, kernel, err);
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
    if (result)
        error_prefix(err, "no support kernel for elements of type %s (the driver compiles those of the job's buffers)",
                     element_name(type));
    return result ? result : launch(s, *kernel, blocks, 1, block, args, err);
}

static int launch_plain(struct support *s, int name, unsigned x, unsigned y, unsigned block, void **args,
                        struct error *err)
{
    int result = find(s, &s->plain[name], plain_names[name], NULL, err);
    return result ? result : launch(s, s->plain[name], x, y, block, args, err);
}

// The number of blocks for n elements, `each` per thread, limited to `wide`, which fills the device.
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
                    const struct restored_kinds *kinds, size_t copy_count, struct error *err)
{
    struct restored list[SUPPORT_RESTORED_MAX] = {{0}};
    struct copies to = *copies;
    struct restored_kinds contents = *kinds;
    int n = (int)count;
    int64_t largest = 0;
    if (!count || !copy_count) return 0;
    for (int i = 0; i < n; i++) {
        list[i] = buffers[i];
        int64_t bytes = (int64_t)(list[i].rows * list[i].bytes);
        if (bytes > largest) largest = bytes;
    }
    void *args[] = {list, &n, &to, &contents};
    return launch_plain(s, RESTORE, blocks_for(s, largest / 16, 2), (unsigned)copy_count, BLOCK, args, err);
}

int support_poison(struct support *s, uint32_t value, struct error *err)
{
    const struct cuda_info *info = cuda_info(s->cuda);
    struct cuda_geometry g = {.grid = {(unsigned)info->sm_count, 1, 1},
                              .block = {1024, 1, 1},
                              .cluster = {1, 1, 1},
                              .shared = (unsigned)info->shared.most};
    int words = info->shared.most / 4;
    void *args[] = {&value, &words};
    struct cuda_kernel **kernel = &s->plain[POISON];
    bool first = !*kernel;
    int failed = find(s, kernel, plain_names[POISON], NULL, err);
    if (!failed && first) failed = cuda_kernel_allow(s->cuda, *kernel, &g, err);
    return failed ? failed : cuda_launch(s->cuda, *kernel, &g, args, err);
}

int support_guards(struct support *s, const struct region *regions, size_t count, const struct copies *copies,
                   const struct guard_contents *contents, size_t copy_count, uint64_t findings, struct error *err)
{
    struct region list[SUPPORT_REGIONS_MAX] = {{0}};
    struct copies in = *copies;
    struct guard_contents held = *contents;
    void *args[] = {list, &in, &held, &findings};
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

// The given part or all elements, in the form that kernels take.
static struct part all_or(const struct part *part)
{
    return part ? *part : (struct part){.leading = INT64_MAX};
}

int support_drop(struct support *s, uint64_t words, int64_t n, const struct part *part, struct error *err)
{
    struct part p = all_or(part);
    void *args[] = {&words, &n, &p};
    return launch_plain(s, DROP, blocks_for(s, n, 4), 1, BLOCK, args, err);
}

int support_compare(struct support *s, const struct operand *out, const struct bound *bound, uint64_t previous,
                    enum previous_mode mode, const struct content *before, uint64_t key, uint64_t finding,
                    struct error *err)
{
    struct operand o = *out;
    struct bound b = *bound;
    b.scale = bound_scale(bound);
    int number = (previous ? (int)mode : PREVIOUS_NONE) | (bound->bits ? COMPARE_BITS : 0);
    struct content held = *before;
    if (o.ld == o.cols) { // one long row: full tiles, however narrow the matrix is
        o.cols *= o.rows;
        o.ld = o.cols;
        o.rows = 1;
    }
    struct part part = all_or(bound->part);
    void *args[] = {&o.device, &o.rows,   &o.cols, &o.ld, &b.expected, &b.scale, &b.per_scale, &b.per_value,
                    &b.floor,  &previous, &number, &held, &key,        &part,    &finding};
    int64_t tiles = o.rows * ((o.cols + 2047) / 2048);
    return launch_typed(s, COMPARE, o.type, tiles < (int64_t)s->wide ? (unsigned)tiles : s->wide, BLOCK, args, err);
}

int support_disturb(struct support *s, const struct operand *out, const struct bound *bound, uint64_t mask_key,
                    uint64_t key, struct error *err)
{
    struct operand o = *out;
    struct bound b = *bound;
    b.scale = bound_scale(bound);
    void *args[] = {&o.device,    &o.rows,      &o.cols,  &o.ld,     &b.expected, &b.scale,
                    &b.per_scale, &b.per_value, &b.floor, &mask_key, &key};
    return launch_typed(s, DISTURB, o.type, blocks_for(s, o.rows * o.cols, 4), BLOCK, args, err);
}

int support_verify(struct support *s, const struct operand *out, const struct bound *bound, uint64_t key,
                   uint64_t finding, struct error *err)
{
    struct operand o = *out;
    struct bound b = *bound;
    b.scale = bound_scale(bound);
    void *args[] = {&o.device,    &o.cols,      &o.ld,    &b.expected, &b.scale,
                    &b.per_scale, &b.per_value, &b.floor, &key,        &finding};
    return launch_typed(s, JUDGE, o.type, 1, 1, args, err);
}

int support_widen(struct support *s, const struct operand *from, enum widened how, bool exact, uint64_t to,
                  struct error *err)
{
    struct operand o = *from;
    int size = how, integers = exact;
    void *args[] = {&o.device, &o.rows, &o.cols, &o.ld, &size, &integers, &to};
    return launch_typed(s, WIDEN, o.type, blocks_for(s, o.rows * o.cols, 4), BLOCK, args, err);
}

int support_narrow_up(struct support *s, double factor, uint64_t from, uint64_t squares, int64_t n, uint64_t to,
                      struct error *err)
{
    void *args[] = {&factor, &from, &squares, &n, &to};
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

int support_row_sizes(struct support *s, uint64_t from, int64_t rows, int64_t cols, uint64_t sizes, double *result,
                      struct error *err)
{
    double sums[2] = {0, 0}; // the sum of the squares, and how many there are
    int64_t n = rows * cols;
    if (!sizes) { // without `sizes`, rows do not matter
        cols = n < 65536 ? n : 65536;
        rows = (n + cols - 1) / cols;
    }
    void *args[] = {&from, &n, &rows, &cols, &sizes, &s->small};
    unsigned blocks = rows < (int64_t)s->wide ? (unsigned)rows : s->wide;
    int failed;
    if ((failed = cuda_zero(s->cuda, s->small, sizeof sums, err)) ||
        (failed = launch_plain(s, ROW_SIZES, blocks, 1, BLOCK, args, err)) ||
        (failed = cuda_fetch(s->cuda, sums, s->small, sizeof sums, err)))
        return failed;
    *result = sums[1] > 0 ? sqrt(sums[0] / sums[1]) : 0;
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
        (failed = cuda_fetch(s->cuda, &got, s->small, sizeof got, err)))
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

// Draws a load: blocks of random size, which fill a random share of the device.
static struct cuda_geometry draw_load(const struct cuda_info *info)
{
    unsigned threads = 128u << entropy_below(4), most = (unsigned)(info->threads_per_sm * info->sm_count) / threads;
    return (struct cuda_geometry){.grid = {1 + (unsigned)entropy_below(most), 1, 1},
                                  .block = {threads, 1, 1},
                                  .cluster = {1, 1, 1},
                                  .shared = (unsigned)entropy_below((uint64_t)SUPPORT_LOAD_SHARED + 1)};
}

// Registers of a block. Each warp gets a multiple of 256 registers.
static int block_registers(unsigned threads, int registers)
{
    return (int)threads * ((registers + 7) / 8 * 8);
}

// Fills the device with blocks at least as large as the launch's. On one multiprocessor, `open` of them end
// immediately. This leaves room for one block of the launch, but not for two that could wait for each other.
static int draw_one_place(struct support *s, const struct support_launch *l, struct cuda_geometry *g, uint32_t *open,
                          struct error *err)
{
    const struct cuda_info *info = cuda_info(s->cuda);
    const unsigned warp = (unsigned)info->warp_size, least = 2 * warp; // 32 such blocks fill a multiprocessor
    struct cuda_kernel_info own;
    int blocks;
    *g = (struct cuda_geometry){.grid = {1, 1, 1}, .block = {1, 1, 1}, .cluster = {1, 1, 1}};
    g->block[0] = l->threads < least ? least : (l->threads + warp - 1) / warp * warp;
    int failed = cuda_kernel_info(s->plain[LOAD], &own, err);
    if (!failed) failed = cuda_kernel_occupancy(s->plain[LOAD], g, &blocks, err);
    if (failed) return failed;
    g->grid[0] = (unsigned)(blocks * info->sm_count);
    const int each = block_registers(g->block[0], own.registers),
              missing = blocks * each + block_registers(l->threads, l->registers) - info->registers_per_sm;
    *open = missing > each ? (uint32_t)((missing + each - 1) / each) : 1;
    return 0;
}

int support_load_begin(struct support *s, const struct support_launch *l, struct error *err)
{
    const struct cuda_info *info = cuda_info(s->cuda);
    struct cuda_geometry g = draw_load(info);
    enum { ONE_BY_ONE, TOGETHER, ONE_PLACE, KINDS } kind = (int)entropy_below(KINDS);
    int64_t n = (int64_t)(s->flush_bytes / 16);
    uint64_t key = entropy_draw();
    uint32_t longest = (uint32_t)SUPPORT_LOAD_TIME << entropy_below(SUPPORT_LOAD_DOUBLINGS), impossible = 1, open = 0,
             delay = SUPPORT_LOAD_LEAD + (uint32_t)entropy_below(SUPPORT_LOAD_DELAY),
             chosen = (uint32_t)entropy_below((uint64_t)info->sm_count);
    int failed = s->beside ? 0 : cuda_beside_open(&s->beside, s->cuda, err);
    if (!failed) failed = find(s, &s->plain[LOAD], plain_names[LOAD], NULL, err);
    if (!failed && kind == ONE_PLACE) {
        longest = l->longest >> entropy_below(3) * 3;
        failed = draw_one_place(s, l, &g, &open, err);
    }
    uint32_t least = kind == ONE_BY_ONE ? 0 : longest;
    void *args[] = {&s->flush, &n, &key, &least, &longest, &impossible, &chosen, &open, &s->small}, *hold[] = {&delay};
    if (!failed) failed = cuda_zero(s->cuda, s->small, sizeof(uint32_t), err);
    if (!failed) failed = cuda_beside_launch(s->beside, s->plain[LOAD], &g, args, err);
    return failed ? failed : launch_plain(s, HOLD, 1, 1, 1, hold, err);
}

int support_load_end(struct support *s, struct error *err)
{
    return cuda_beside_join(s->beside, err);
}
