// See execution_unit.h.
#include "tuner/base/execution_unit.h"

enum { ANY = 0, AMPERE = 80, ADA = 89, HOPPER = 90, ALL_LATER = 9999 };
#define FMA(word) "16 independent chains of " word " multiply-adds per thread; the fastest of 10 launches"
#define MMA(shape) "mma.sync " shape " on registers of random data, 8 accumulators per warp"
#define WGMMA(shape) "wgmma " shape " on shared memory with random data, two warpgroups per multiprocessor"
#define CHAINS(word) "16 chains of " word " a thread; the fastest of 10 launches"
// `arithmetic`, `lasts`
#define MEMORY false, false
#define ARITHMETIC true, false
#define TENSOR true, true
// clang-format off
#define PIPE(id, name, unit, key, from, to, peak, kind, macro, how, gloss) \
    [UNIT_##id] = {name, unit, key, {0}, from, to, PEAK_##peak, kind, macro, how, gloss}
#define EITHER(id, name, unit, peak, mma, wgmma) \
    [UNIT_##id] = {"tensor " name, unit, NULL, {UNIT_##mma, UNIT_##wgmma}, AMPERE, ALL_LATER, PEAK_##peak, TENSOR, \
                   NULL, "by wgmma where available, otherwise by mma.sync", "products of " name " on tensor cores"}

const struct execution_unit execution_units[UNIT_COUNT] = {
    PIPE(FP32, "fp32 fma", "FLOP", "flops_per_second", ANY, ALL_LATER, FP32, ARITHMETIC, NULL,
         FMA("FP32"), "FP32 arithmetic without tensor cores"),
    PIPE(FP64, "fp64 fma", "FLOP", "fp64_flops_per_second", ANY, ALL_LATER, FP64, ARITHMETIC, NULL,
         FMA("FP64"), "FP64 arithmetic without tensor cores"),
    PIPE(MMA_BF16, "mma bf16", "FLOP", "tensor_bf16_flops_per_second", AMPERE, ALL_LATER, HALF, TENSOR, NULL,
         MMA("m16n8k16"), "products of BF16, summed in FP32, by mma.sync"),
    PIPE(MMA_F16, "mma f16", "FLOP", "tensor_f16_flops_per_second", AMPERE, ALL_LATER, HALF, TENSOR, "CEILING_F16",
         MMA("m16n8k16"), "products of FP16, summed in FP32, by mma.sync"),
    PIPE(MMA_TF32, "mma tf32", "FLOP", "tensor_tf32_flops_per_second", AMPERE, ALL_LATER, TF32, TENSOR, NULL,
         MMA("m16n8k8"), "products of TF32 by mma.sync"),
    PIPE(MMA_FP64, "mma fp64", "FLOP", "tensor_fp64_flops_per_second", AMPERE, ALL_LATER, FP64_TENSOR, TENSOR, NULL,
         MMA("m16n8k16 (m8n8k4 before sm_90)"), "products of FP64 by mma.sync"),
    PIPE(MMA_S8, "mma s8", "OP", "tensor_int8_flops_per_second", AMPERE, ALL_LATER, BYTE, TENSOR, NULL,
         MMA("m16n8k32"), "products of INT8, summed in INT32, by mma.sync"),
    PIPE(MMA_FP8, "mma fp8", "FLOP", "tensor_fp8_flops_per_second", ADA, ALL_LATER, BYTE, TENSOR, NULL,
         MMA("m16n8k32"), "products of E4M3, summed in FP32, by mma.sync"),
    PIPE(WGMMA_BF16, "wgmma bf16", "FLOP", "wgmma_bf16_flops_per_second", HOPPER, HOPPER, HALF, TENSOR, NULL,
         WGMMA("m64n256k16"), "products of BF16, summed in FP32, by wgmma"),
    PIPE(WGMMA_F16, "wgmma f16", "FLOP", "wgmma_f16_flops_per_second", HOPPER, HOPPER, HALF, TENSOR, "CEILING_F16",
         WGMMA("m64n256k16"), "products of FP16, summed in FP32, by wgmma"),
    PIPE(WGMMA_TF32, "wgmma tf32", "FLOP", "wgmma_tf32_flops_per_second", HOPPER, HOPPER, TF32, TENSOR, NULL,
         WGMMA("m64n256k8"), "products of TF32 by wgmma"),
    PIPE(WGMMA_S8, "wgmma s8", "OP", "wgmma_int8_flops_per_second", HOPPER, HOPPER, BYTE, TENSOR, NULL,
         WGMMA("m64n256k32"), "products of INT8, summed in INT32, by wgmma"),
    PIPE(WGMMA_FP8, "wgmma fp8", "FLOP", "wgmma_fp8_flops_per_second", HOPPER, HOPPER, BYTE, TENSOR, NULL,
         WGMMA("m64n256k32"), "products of E4M3, summed in FP32, by wgmma"),
    PIPE(INT_MAD, "int mad", "OP", "int_mad_operations_per_second", ANY, ALL_LATER, NONE, ARITHMETIC, "CEILING_INTEGER",
         FMA("32-bit integer"), "32-bit integer multiply-adds, two operations each"),
    PIPE(INT_ADD, "int add", "OP", "int_add_operations_per_second", ANY, ALL_LATER, NONE, ARITHMETIC, "CEILING_INTEGER",
         CHAINS("three-input additions (IADD3)"), "32-bit integer additions; an IADD3 is two operations"),
    PIPE(DPX, "dpx s32", "OP", "dpx_operations_per_second", HOPPER, ALL_LATER, NONE, ARITHMETIC, "CEILING_DPX",
         CHAINS("__viaddmax_s32"), "DPX on 32 bits: max(a + b, c) is two operations"),
    PIPE(DPX_PAIRS, "dpx s16x2", "OP", "dpx_pairs_operations_per_second", HOPPER, ALL_LATER, NONE, ARITHMETIC,
         "CEILING_DPX", CHAINS("__viaddmax_s16x2"),
         "DPX on pairs of 16 bits: max(a + b, c) is four operations"),
    PIPE(READ, "memory", "B", "bytes_per_second", ANY, ALL_LATER, MEMORY, MEMORY, NULL,
         "up to 2 GiB read once; the fastest of 10 launches", "reading device memory"),
    PIPE(COPY, "memory copy", "B", "copy_bytes_per_second", ANY, ALL_LATER, MEMORY, MEMORY, NULL,
         "up to 1 GiB copied, bytes read and written counted; the fastest of 10 launches", "copying device memory"),
    PIPE(L2, "l2", "B", "l2_bytes_per_second", ANY, ALL_LATER, CHIP, MEMORY, NULL,
         "a quarter of the L2, read repeatedly, bypassing the L1", "reading the L2"),
    PIPE(SHARED, "shared memory", "B", "shared_bytes_per_second", ANY, ALL_LATER, NONE, MEMORY, NULL,
         "16 bytes per thread and access, without bank conflicts", "reading shared memory"),
    EITHER(TENSOR_BF16, "bf16", "FLOP", HALF, MMA_BF16, WGMMA_BF16),
    EITHER(TENSOR_F16, "f16", "FLOP", HALF, MMA_F16, WGMMA_F16),
    EITHER(TENSOR_TF32, "tf32", "FLOP", TF32, MMA_TF32, WGMMA_TF32),
    EITHER(TENSOR_S8, "s8", "OP", BYTE, MMA_S8, WGMMA_S8),
};
// clang-format on

// Operations per clock and multiprocessor for each peak; the last column gives bytes between the L2 and the
// multiprocessors. The values are from NVIDIA's white papers and tuning guides. Consumer cards sum FP16 products in
// FP16 twice as fast as in FP32; the table gives the higher figure.
static const struct {
    int compute; // from this architecture on
    double per_clock[PEAK_CHIP + 1];
} chips[] = {
    //       FP64 FP32 FP64t  TF32  half   byte   four  -  chip
    {75, {4, 128, 0, 0, 1024, 2048, 4096, 0, 64}},
    {80, {64, 128, 128, 1024, 2048, 4096, 8192, 0, 64}},
    {86, {4, 256, 4, 512, 1024, 2048, 4096, 0, 64}},
    {87, {4, 256, 4, 512, 2048, 4096, 8192, 0, 64}},
    {89, {4, 256, 4, 512, 1024, 2048, 4096, 0, 64}},
    {90, {128, 256, 256, 2048, 4096, 8192, 8192, 0, 64}},
    {100, {128, 256, 256, 4096, 8192, 16384, 49152, 0, 128}},
    {120, {4, 256, 4, 1024, 2048, 4096, 8192, 0, 128}},
};
enum { CHIPS = sizeof chips / sizeof *chips, NEWEST = 121 };

const struct execution_unit *pipe_find(const char *name, const char **nearest)
{
    for (int i = 0; i < UNIT_COUNT; i++)
        if (!strcmp(execution_units[i].name, name)) return &execution_units[i];
    if (nearest) {
        const char *names[UNIT_COUNT + 1] = {NULL};
        for (int i = 0; i < UNIT_COUNT; i++) names[i] = execution_units[i].name;
        *nearest = text_nearest(name, names);
    }
    return NULL;
}

bool pipe_exists(const struct execution_unit *p, int compute)
{
    return compute >= p->from && compute <= p->to;
}

const struct execution_unit *pipe_on(const struct execution_unit *p, int compute)
{
    if (p->key) return pipe_exists(p, compute) ? p : NULL;
    for (int i = 1; i >= 0; i--)
        if (pipe_exists(&execution_units[p->either[i]], compute)) return &execution_units[p->either[i]];
    return NULL;
}

// The row of an architecture. -1 if the architecture is unknown; any row may then apply.
static int chip_of(int compute)
{
    int row = -1;
    for (int i = 0; i < CHIPS && compute <= NEWEST; i++)
        if (compute >= chips[i].compute) row = i;
    return row;
}

double pipe_peak(enum peak peak, int compute)
{
    int row = chip_of(compute);
    double most = 0;
    for (int i = 0; i < CHIPS && peak <= PEAK_CHIP; i++)
        if ((row < 0 || i == row) && chips[i].per_clock[peak] > most) most = chips[i].per_clock[peak];
    return most;
}
