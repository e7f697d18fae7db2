// See peaks.h.
#include "tuner/gpu/peaks.h"

#include <math.h>
#include <stdio.h>

#include "tuner/base/text.h"

static const double slack = 1.05, event_error = 1e-6, cold_survivors = 0.25;

// Operations a clock and multiprocessor, dense, a multiply-add two; from NVIDIA's white papers and tuning guides.
// Consumer cards sum FP16 products in FP16 twice as fast as in FP32: the faster figure stands here.
static const struct {
    int compute; // from this one on
    double flops[PIPE_COUNT];
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

// Bits of a factor on a pipe; one of an integer's is its sign. FP8 and FP4 have fewer.
static const struct {
    int bits, sign;
} pipes[PIPE_COUNT] = {
    [PIPE_FP64] = {53, 0}, [PIPE_FP32] = {24, 0}, [PIPE_FP64_TENSOR] = {53, 0}, [PIPE_TF32] = {11, 0},
    [PIPE_HALF] = {11, 0}, [PIPE_BYTE] = {8, 1},  [PIPE_FOUR] = {4, 1},
};

void peaks_of_device(struct peaks *p, const struct peak_attributes *a)
{
    bool known = a->compute >= chips[0].compute && a->compute <= NEWEST;
    double cycles = (double)a->sm_count * a->clock_mhz * 1e6;
    *p = (struct peaks){.memory_bytes = 2e6 * a->memory_clock_mhz * a->memory_bus_bits / 8, .l2_bytes = a->l2_bytes};
    for (int i = 0; i < CHIPS; i++) {
        bool own = known && a->compute >= chips[i].compute && (i + 1 == CHIPS || a->compute < chips[i + 1].compute);
        if (known && !own) continue;
        p->chip_bytes = fmax(p->chip_bytes, chips[i].chip_bytes * cycles);
        for (int k = 0; k < PIPE_COUNT; k++) p->flops[k] = fmax(p->flops[k], chips[i].flops[k] * cycles);
    }
}

static void raise(double *peak, const json_t *ceilings, const char *key)
{
    double measured = slack * json_get_number(ceilings, key, 0);
    if (isfinite(measured) && measured > *peak) *peak = measured;
}

void peaks_raise(struct peaks *p, const json_t *ceilings)
{
    static const struct {
        const char *key;
        enum pipe pipe;
    } rates[] = {
        {"flops_per_second", PIPE_FP32},
        {"fp64_flops_per_second", PIPE_FP64},
        {"tensor_fp64_flops_per_second", PIPE_FP64_TENSOR},
        {"tensor_tf32_flops_per_second", PIPE_TF32},
        {"tensor_bf16_flops_per_second", PIPE_HALF},
        {"tensor_int8_flops_per_second", PIPE_BYTE},
        {"tensor_fp8_flops_per_second", PIPE_BYTE},
        {"wgmma_tf32_flops_per_second", PIPE_TF32},
        {"wgmma_bf16_flops_per_second", PIPE_HALF},
        {"wgmma_int8_flops_per_second", PIPE_BYTE},
        {"wgmma_fp8_flops_per_second", PIPE_BYTE},
    };
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) raise(&p->flops[rates[i].pipe], ceilings, rates[i].key);
    raise(&p->memory_bytes, ceilings, "bytes_per_second");
    raise(&p->memory_bytes, ceilings, "copy_bytes_per_second");
    raise(&p->chip_bytes, ceilings, "l2_bytes_per_second");
}

// Products of factors with so many bits, as operations a second.
static double product_rate(const struct peaks *p, int bits)
{
    double tensor = 0, beside = 0;
    for (int k = 0; k < PIPE_COUNT; k++) {
        int pieces = (bits + pipes[k].sign + pipes[k].bits - 1) / pipes[k].bits;
        double rate = p->flops[k] / (2 * pieces - 1);
        if (k == PIPE_FP32 && bits <= 11) rate *= bits <= 7 ? 4 : 2; // its lanes on INT8 and FP16: IDP4A, HFMA2
        if (k == PIPE_FP64 || k == PIPE_FP32)
            beside += rate;
        else
            tensor = fmax(tensor, rate);
    }
    return tensor + beside;
}

// What the job lets a kernel do with less than the operation's own bound.
static int bits_of(const struct operation_least *least, const struct verify_settings *verify)
{
    if (!verify->enabled || (!verify->exact && (verify->absolute > 0 || verify->relative > 0))) return 1;
    int bits = least->bits - (verify->tolerance > 1 ? (int)ceil(log2(verify->tolerance)) : 0);
    return bits < 1 ? 1 : bits;
}

static double over(double amount, double rate)
{
    return amount > 0 ? amount / rate : 0;
}

// "201 MB", "4.4 T" and the like, in powers of a thousand.
static const char *scaled(double x, char out[32])
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
    int i = 0;
    for (; x >= 1000 && i < 5; i++) x /= 1000;
    snprintf(out, 32, "%.3g %s", x, prefixes[i]);
    return out;
}

double peaks_least_time(const struct peaks *p, const struct operation_least *least, const struct measure_settings *set,
                        const struct verify_settings *verify, struct error *why)
{
    double kept = set->cold ? cold_survivors * p->l2_bytes : p->l2_bytes;
    double moved = fmax(0, least->read - kept) + fmax(0, least->written - p->l2_bytes);
    double passed = fmax(least->read, least->written), rate = product_rate(p, bits_of(least, verify));
    double memory = over(moved, p->memory_bytes), chip = over(passed, p->chip_bytes),
           arithmetic = over(least->flops, rate);
    char amount[32], speed[32];
    if (memory >= chip && memory >= arithmetic)
        error_set(why, "moving %sB takes at %sB/s", scaled(moved, amount), scaled(p->memory_bytes, speed));
    else if (chip >= arithmetic)
        error_set(why, "bringing %sB from the L2 to the multiprocessors, or back, takes at %sB/s",
                  scaled(passed, amount), scaled(p->chip_bytes, speed));
    else
        error_set(why, "%s operations take at %s/s", scaled(least->flops, amount), scaled(rate, speed));
    return fmax(memory, fmax(chip, arithmetic));
}

bool peaks_refuse(double time, double least, const char *why, struct error *reason)
{
    char shown[32], needed[32];
    if (!(time + event_error < least)) return false;
    error_set(reason, "%s is less than the %s that %s", text_show_duration(time, shown, sizeof shown),
              text_show_duration(least, needed, sizeof needed), why);
    return true;
}
