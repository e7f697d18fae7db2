// See pipe.h.
#include "tuner/base/pipe.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/text.h"

enum { ANY = 0, AMPERE = 80, ADA = 89, HOPPER = 90, ALL_LATER = 9999 };
#define FMA(word) "16 independent chains of " word " multiply-adds a thread; the fastest of 10 launches"
#define MMA(shape) "mma.sync " shape " on registers of random data, 8 accumulators a warp"
#define WGMMA(shape) "wgmma " shape " on shared memory with random data, two warpgroups a multiprocessor"
#define ARITHMETIC .arithmetic = true
#define TENSOR .arithmetic = true, .lasts = true

const struct pipe pipes[PIPE_COUNT] = {
    [PIPE_FP32] = {"fp32 fma",
                   "FLOP",
                   "flops_per_second",
                   {0},
                   ANY,
                   ALL_LATER,
                   PEAK_FP32,
                   ARITHMETIC,
                   .how = FMA("FP32"),
                   .gloss = "FP32 arithmetic without tensor cores"},
    [PIPE_FP64] = {"fp64 fma",
                   "FLOP",
                   "fp64_flops_per_second",
                   {0},
                   ANY,
                   ALL_LATER,
                   PEAK_FP64,
                   ARITHMETIC,
                   .how = FMA("FP64"),
                   .gloss = "FP64 arithmetic without tensor cores"},
    [PIPE_MMA_BF16] = {"mma bf16",
                       "FLOP",
                       "tensor_bf16_flops_per_second",
                       {0},
                       AMPERE,
                       ALL_LATER,
                       PEAK_HALF,
                       TENSOR,
                       .how = MMA("m16n8k16"),
                       .gloss = "products of BF16, summed in FP32, by mma.sync"},
    [PIPE_MMA_F16] = {"mma f16",
                      "FLOP",
                      "tensor_f16_flops_per_second",
                      {0},
                      AMPERE,
                      ALL_LATER,
                      PEAK_HALF,
                      TENSOR,
                      .macro = "CEILING_F16",
                      .how = MMA("m16n8k16"),
                      .gloss = "products of FP16, summed in FP32, by mma.sync"},
    [PIPE_MMA_TF32] = {"mma tf32",
                       "FLOP",
                       "tensor_tf32_flops_per_second",
                       {0},
                       AMPERE,
                       ALL_LATER,
                       PEAK_TF32,
                       TENSOR,
                       .how = MMA("m16n8k8"),
                       .gloss = "products of TF32 by mma.sync"},
    [PIPE_MMA_FP64] = {"mma fp64",
                       "FLOP",
                       "tensor_fp64_flops_per_second",
                       {0},
                       AMPERE,
                       ALL_LATER,
                       PEAK_FP64_TENSOR,
                       TENSOR,
                       .how = MMA("m16n8k16 (m8n8k4 before sm_90)"),
                       .gloss = "products of FP64 by mma.sync"},
    [PIPE_MMA_S8] = {"mma s8",
                     "OP",
                     "tensor_int8_flops_per_second",
                     {0},
                     AMPERE,
                     ALL_LATER,
                     PEAK_BYTE,
                     TENSOR,
                     .how = MMA("m16n8k32"),
                     .gloss = "products of INT8, summed in INT32, by mma.sync"},
    [PIPE_MMA_FP8] = {"mma fp8",
                      "FLOP",
                      "tensor_fp8_flops_per_second",
                      {0},
                      ADA,
                      ALL_LATER,
                      PEAK_BYTE,
                      TENSOR,
                      .how = MMA("m16n8k32"),
                      .gloss = "products of E4M3, summed in FP32, by mma.sync"},
    [PIPE_WGMMA_BF16] = {"wgmma bf16",
                         "FLOP",
                         "wgmma_bf16_flops_per_second",
                         {0},
                         HOPPER,
                         HOPPER,
                         PEAK_HALF,
                         TENSOR,
                         .how = WGMMA("m64n256k16"),
                         .gloss = "products of BF16, summed in FP32, by wgmma"},
    [PIPE_WGMMA_F16] = {"wgmma f16",
                        "FLOP",
                        "wgmma_f16_flops_per_second",
                        {0},
                        HOPPER,
                        HOPPER,
                        PEAK_HALF,
                        TENSOR,
                        .macro = "CEILING_F16",
                        .how = WGMMA("m64n256k16"),
                        .gloss = "products of FP16, summed in FP32, by wgmma"},
    [PIPE_WGMMA_TF32] = {"wgmma tf32",
                         "FLOP",
                         "wgmma_tf32_flops_per_second",
                         {0},
                         HOPPER,
                         HOPPER,
                         PEAK_TF32,
                         TENSOR,
                         .how = WGMMA("m64n256k8"),
                         .gloss = "products of TF32 by wgmma"},
    [PIPE_WGMMA_S8] = {"wgmma s8",
                       "OP",
                       "wgmma_int8_flops_per_second",
                       {0},
                       HOPPER,
                       HOPPER,
                       PEAK_BYTE,
                       TENSOR,
                       .how = WGMMA("m64n256k32"),
                       .gloss = "products of INT8, summed in INT32, by wgmma"},
    [PIPE_WGMMA_FP8] = {"wgmma fp8",
                        "FLOP",
                        "wgmma_fp8_flops_per_second",
                        {0},
                        HOPPER,
                        HOPPER,
                        PEAK_BYTE,
                        TENSOR,
                        .how = WGMMA("m64n256k32"),
                        .gloss = "products of E4M3, summed in FP32, by wgmma"},
    [PIPE_INT_MAD] = {"int mad",
                      "OP",
                      "int_mad_operations_per_second",
                      {0},
                      ANY,
                      ALL_LATER,
                      PEAK_NONE,
                      ARITHMETIC,
                      .macro = "CEILING_INTEGER",
                      .how = FMA("32-bit integer"),
                      .gloss = "32-bit integer multiply-adds, two operations each"},
    [PIPE_INT_ADD] = {"int add",
                      "OP",
                      "int_add_operations_per_second",
                      {0},
                      ANY,
                      ALL_LATER,
                      PEAK_NONE,
                      ARITHMETIC,
                      .macro = "CEILING_INTEGER",
                      .how = "16 chains of three-input additions (IADD3) a thread; the fastest of 10 launches",
                      .gloss = "32-bit integer additions; an IADD3 is two operations"},
    [PIPE_DPX] = {"dpx s32",
                  "OP",
                  "dpx_operations_per_second",
                  {0},
                  HOPPER,
                  ALL_LATER,
                  PEAK_NONE,
                  ARITHMETIC,
                  .macro = "CEILING_DPX",
                  .how = "16 chains of __viaddmax_s32 a thread; the fastest of 10 launches",
                  .gloss = "DPX on 32 bits: max(a + b, c) is two operations"},
    [PIPE_DPX_PAIRS] = {"dpx s16x2",
                        "OP",
                        "dpx_pairs_operations_per_second",
                        {0},
                        HOPPER,
                        ALL_LATER,
                        PEAK_NONE,
                        ARITHMETIC,
                        .macro = "CEILING_DPX",
                        .how = "16 chains of __viaddmax_s16x2 a thread; the fastest of 10 launches",
                        .gloss = "DPX on pairs of 16 bits: max(a + b, c) is four operations"},
    [PIPE_READ] = {"memory",
                   "B",
                   "bytes_per_second",
                   {0},
                   ANY,
                   ALL_LATER,
                   PEAK_MEMORY,
                   .how = "up to 2 GiB read once; the fastest of 10 launches",
                   .gloss = "reading device memory"},
    [PIPE_COPY] = {"memory copy",
                   "B",
                   "copy_bytes_per_second",
                   {0},
                   ANY,
                   ALL_LATER,
                   PEAK_MEMORY,
                   .how = "up to 1 GiB copied, bytes read and written counted; the fastest of 10 launches",
                   .gloss = "copying device memory"},
    [PIPE_L2] = {"l2",
                 "B",
                 "l2_bytes_per_second",
                 {0},
                 ANY,
                 ALL_LATER,
                 PEAK_CHIP,
                 .how = "a quarter of the L2 read again and again, past the L1",
                 .gloss = "reading the L2"},
    [PIPE_SHARED] = {"shared memory",
                     "B",
                     "shared_bytes_per_second",
                     {0},
                     ANY,
                     ALL_LATER,
                     PEAK_NONE,
                     .how = "16 bytes a thread and access, without bank conflicts",
                     .gloss = "reading shared memory"},
#define EITHER(type, unit, peak, mma, wgmma)                                       \
    {                                                                              \
        "tensor " type, unit, NULL, {mma, wgmma}, AMPERE, ALL_LATER, peak, TENSOR, \
            .how = "as wgmma where the device has it, else as mma.sync",           \
            .gloss = "products of " type " on tensor cores"                        \
    }
    [PIPE_TENSOR_BF16] = EITHER("bf16", "FLOP", PEAK_HALF, PIPE_MMA_BF16, PIPE_WGMMA_BF16),
    [PIPE_TENSOR_F16] = EITHER("f16", "FLOP", PEAK_HALF, PIPE_MMA_F16, PIPE_WGMMA_F16),
    [PIPE_TENSOR_TF32] = EITHER("tf32", "FLOP", PEAK_TF32, PIPE_MMA_TF32, PIPE_WGMMA_TF32),
    [PIPE_TENSOR_S8] = EITHER("s8", "OP", PEAK_BYTE, PIPE_MMA_S8, PIPE_WGMMA_S8),
};

// Operations a clock and multiprocessor; from NVIDIA's white papers and tuning guides. Consumer cards sum FP16 products
// in FP16 twice as fast as in FP32: the table has the faster figure.
static const struct {
    int compute; // from this one on
    double operations[PEAK_PRODUCTS];
    double chip_bytes;
} chips[] = {
    //       FP64 FP32 FP64t  TF32  half   byte   four
    {75, {4, 128, 0, 0, 1024, 2048, 4096}, 64},
    {80, {64, 128, 128, 1024, 2048, 4096, 8192}, 64},
    {86, {4, 256, 4, 512, 1024, 2048, 4096}, 64},
    {87, {4, 256, 4, 512, 2048, 4096, 8192}, 64},
    {89, {4, 256, 4, 512, 1024, 2048, 4096}, 64},
    {90, {128, 256, 256, 2048, 4096, 8192, 8192}, 64},
    {100, {128, 256, 256, 4096, 8192, 16384, 49152}, 128},
    {120, {4, 256, 4, 1024, 2048, 4096, 8192}, 128},
};
enum { CHIPS = sizeof chips / sizeof *chips, NEWEST = 121 };

const char **pipe_names(void)
{
    const char **names = memory_new(PIPE_COUNT + 1, sizeof *names);
    for (int i = 0; i < PIPE_COUNT; i++) names[i] = pipes[i].name;
    return names;
}

const struct pipe *pipe_find(const char *name, const char **nearest)
{
    for (int i = 0; i < PIPE_COUNT; i++)
        if (!strcmp(pipes[i].name, name)) return &pipes[i];
    if (nearest) {
        const char **names = pipe_names();
        *nearest = text_nearest(name, names);
        free(names);
    }
    return NULL;
}

bool pipe_exists(const struct pipe *p, int compute)
{
    return compute >= p->from && compute <= p->to;
}

const struct pipe *pipe_on(const struct pipe *p, int compute)
{
    if (p->key) return pipe_exists(p, compute) ? p : NULL;
    for (int i = 1; i >= 0; i--)
        if (pipe_exists(&pipes[p->either[i]], compute)) return &pipes[p->either[i]];
    return NULL;
}

// The row of an architecture, or -1: it is unknown, so any row may apply.
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
    for (int i = 0; i < CHIPS && peak < PEAK_PRODUCTS; i++)
        if ((row < 0 || i == row) && chips[i].operations[peak] > most) most = chips[i].operations[peak];
    return most;
}

double pipe_chip_bytes(int compute)
{
    int row = chip_of(compute);
    double most = 0;
    for (int i = 0; i < CHIPS; i++)
        if ((row < 0 || i == row) && chips[i].chip_bytes > most) most = chips[i].chip_bytes;
    return most;
}
