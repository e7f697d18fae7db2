// See peaks.h.
#include "tuner/gpu/peaks.h"

static const double slack = 1.05, event_error = 1e-6, cold_survivors = 0.25;

// Bits of a factor on each pipe; one of an integer's bits is its sign. FP8 and FP4 factors have fewer bits.
static const struct {
    int bits, sign;
} factors[PEAK_PRODUCTS] = {
    [PEAK_FP64] = {53, 0}, [PEAK_FP32] = {24, 0}, [PEAK_FP64_TENSOR] = {53, 0}, [PEAK_TF32] = {11, 0},
    [PEAK_HALF] = {11, 0}, [PEAK_BYTE] = {8, 1},  [PEAK_FOUR] = {4, 1},
};

void peaks_of_device(struct peaks *p, const struct peak_attributes *a)
{
    double cycles = (double)a->sm_count * a->clock_mhz * 1e6;
    *p = (struct peaks){.memory_bytes = 2e6 * a->memory_clock_mhz * a->memory_bus_bits / 8, .l2_bytes = a->l2_bytes};
    p->chip_bytes = pipe_peak(PEAK_CHIP, a->compute) * cycles;
    for (int k = 0; k < PEAK_PRODUCTS; k++) p->flops[k] = pipe_peak((enum peak)k, a->compute) * cycles;
}

static void raise(double *peak, const json_t *ceilings, const char *key)
{
    double measured = slack * json_get_number(ceilings, key, 0);
    if (isfinite(measured) && measured > *peak) *peak = measured;
}

void peaks_raise(struct peaks *p, const json_t *ceilings)
{
    for (int i = 0; i < UNIT_COUNT; i++) {
        const struct execution_unit *pipe = &execution_units[i];
        if (!pipe->key || pipe->peak == PEAK_NONE) continue;
        raise(pipe->peak == PEAK_MEMORY ? &p->memory_bytes
              : pipe->peak == PEAK_CHIP ? &p->chip_bytes
                                        : &p->flops[pipe->peak],
              ceilings, pipe->key);
    }
}

// The rate of products whose factors have this many bits, in operations per second.
static double product_rate(const struct peaks *p, int bits)
{
    double tensor = 0, others = 0;
    for (int k = 0; k < PEAK_PRODUCTS; k++) {
        int pieces = (bits + factors[k].sign + factors[k].bits - 1) / factors[k].bits;
        double rate = p->flops[k] / (2 * pieces - 1);
        if (k == PEAK_FP32 && bits <= 11) rate *= bits <= 7 ? 4 : 2; // INT8 and FP16 in its lanes: IDP4A, HFMA2
        if (k == PEAK_FP64 || k == PEAK_FP32)
            others += rate;
        else
            tensor = fmax(tensor, rate);
    }
    return tensor + others;
}

// The number of significant bits that results need. It is lower if the job allows larger errors than the operation's
// own bound.
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
    error_set(reason, "%s is less than the %s that %s: look for work that the kernel skips",
              text_show_duration(time, shown, sizeof shown), text_show_duration(least, needed, sizeof needed), why);
    return true;
}
