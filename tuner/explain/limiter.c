// See limiter.h.
#include "tuner/explain/limiter.h"

#include "tuner/base/table.h"
#include "tuner/explain/profile.h"
#include "tuner/final/finals.h"

static const struct {
    const char *name, *meaning;
} limiters[] = {
    [LIMITER_UNKNOWN] = {"unknown", "a time is missing; see the messages above."},
    [LIMITER_MEMORY] = {"memory-bound", "the kernel takes as long as its memory traffic; fewer bytes or better "
                                        "coalescing helps, fewer instructions do not."},
    [LIMITER_MATH] = {"math-bound", "the kernel takes as long as its instructions; fewer or cheaper instructions help, "
                                    "fewer bytes do not."},
    [LIMITER_BALANCED] = {"balanced", "memory and arithmetic take equally long and overlap; reduce both."},
    [LIMITER_LATENCY] = {"latency-bound",
                         "memory and arithmetic hardly overlap; more warps or more loads in flight help."},
};

enum limiter limiter_decide(double whole, double memory, double math, double *overlap)
{
    // Variants may differ by a seventh for other reasons (loop overhead, register use).
    const double slack = 1.15;
    double longer = fmax(memory, math), shorter = fmin(memory, math);
    if (overlap) *overlap = fmin(fmax((memory + math - whole) / shorter, 0), 1);
    if (!(whole > 0 && shorter > 0)) return LIMITER_UNKNOWN;
    if (whole > slack * longer && whole > longer + 0.5 * shorter) return LIMITER_LATENCY;
    if (longer < slack * shorter) return LIMITER_BALANCED;
    return memory > math ? LIMITER_MEMORY : LIMITER_MATH;
}

static double time_of(const json_t *p)
{
    return json_get_number(p, "time", NAN);
}
static double number(const json_t *p, const char *key)
{
    return profile_number(profile_main_stage(p), key);
}
static double traffic(const json_t *p)
{
    return profile_global_sectors(profile_main_stage(p));
}

// Thread instructions per byte of DRAM traffic, and the ratio at which the device's instruction issue and its DRAM
// would both be fully busy.
static double per_byte(const json_t *p)
{
    return 32 * number(p, "executed") / number(p, "dram_bytes");
}
static double balanced(const json_t *p)
{
    return 32 * number(p, "schedulers") * 1e6 * json_get_number(p, "clock_mhz", NAN) /
           json_get_number(json_object_get(p, "ceilings"), "bytes_per_second", NAN);
}

// Checks that each variant really omits the work that it should omit.
static json_t *warnings(const json_t *whole, const json_t *memory, const json_t *math)
{
    json_t *list = json_array();
    if (fabs(traffic(memory) / traffic(whole) - 1) > 0.02)
        json_array_append_new(list, json_sprintf("the memory-only variant moves %.2f times the sectors of the kernel",
                                                 traffic(memory) / traffic(whole)));
    if (number(memory, "executed") > 0.8 * number(whole, "executed"))
        json_array_append_new(list, json_sprintf("the memory-only variant still executes %.0f%% of the instructions",
                                                 100 * number(memory, "executed") / number(whole, "executed")));
    if (traffic(math) > 0.02 * traffic(whole))
        json_array_append_new(list, json_sprintf("the math-only variant still moves %.0f%% of the sectors",
                                                 100 * traffic(math) / traffic(whole)));
    // The FMA units also compute addresses. The math-only variant lacks these instructions, since it has no loads, so a
    // loss of up to 25% is normal.
    if (number(math, "fma_instructions") < 0.75 * number(whole, "fma_instructions"))
        json_array_append_new(list,
                              json_sprintf("the math-only variant has %.0f%% of the instructions of the FMA pipes",
                                           100 * number(math, "fma_instructions") / number(whole, "fma_instructions")));
    const json_t *others[] = {memory, math};
    for (size_t i = 0; i < 2; i++)
        if (fabs(number(others[i], "blocks_per_sm") - number(whole, "blocks_per_sm")) > 0.5)
            json_array_append_new(list,
                                  json_sprintf("the %s variant fits %.0f blocks on a multiprocessor, the kernel %.0f",
                                               i ? "math-only" : "memory-only", number(others[i], "blocks_per_sm"),
                                               number(whole, "blocks_per_sm")));
    return list;
}

json_t *limiter_json(const json_t *whole, const json_t *memory, const json_t *math)
{
    double overlap;
    enum limiter limiter = limiter_decide(time_of(whole), time_of(memory), time_of(math), &overlap);
    return json_pack("{s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o}", "limiter", limiters[limiter].name,
                     "problem", json_get_string(whole, "problem", ""), "overlap", overlap, "whole_time", time_of(whole),
                     "memory_time", time_of(memory), "math_time", time_of(math), "instructions_per_byte",
                     per_byte(whole), "balanced_ratio", balanced(whole), "bytes_wanted",
                     json_get_number(whole, "bytes", NAN), "bytes_moved", number(whole, "dram_bytes"), "warnings",
                     warnings(whole, memory, math));
}

void limiter_print(FILE *out, const json_t *whole, const json_t *memory, const json_t *math)
{
    const json_t *all[] = {whole, memory, math};
    static const char *const names[] = {"kernel", "memory only", "math only"};
    double overlap;
    fprintf(out, "%s  %s\n%s on %s\n\n", json_get_string(whole, "name", ""), json_get_string(whole, "config", ""),
            json_get_string(whole, "problem", "?"), json_get_string(json_object_get(whole, "device"), "name", "?"));
    struct table *table = table_new((const char *[]){"variant", ">time", ">registers", ">blocks/SM", ">instructions",
                                                     ">FMA pipes", ">global sectors", ">DRAM bytes", NULL});
    for (size_t i = 0; i < 3; i++) {
        struct interval time = profile_time(all[i]);
        table_cell(table, "%s", names[i]);
        table_cell(table, "%s", show_interval(&time, TEXT_ROOM));
        table_number(table, "%.0f", number(all[i], "registers"));
        table_number(table, "%.0f", number(all[i], "blocks_per_sm"));
        table_number(table, "%.4g", number(all[i], "executed"));
        table_number(table, "%.4g", number(all[i], "fma_instructions"));
        table_number(table, "%.4g", traffic(all[i]));
        table_number(table, "%.4g", number(all[i], "dram_bytes"));
    }
    table_print(table, out);
    table_free(table);
    enum limiter limiter = limiter_decide(time_of(whole), time_of(memory), time_of(math), &overlap);
    fprintf(out, "\n%s: %s\n", limiters[limiter].name, limiters[limiter].meaning);
    if (!isnan(overlap))
        fprintf(out, "Overlap: %.0f%% of the shorter part is hidden behind the longer one.\n", 100 * overlap);
    if (!isnan(per_byte(whole) / balanced(whole)))
        fprintf(out, "Instructions per byte moved: %.1f; this device is busy with both at %.1f.\n", per_byte(whole),
                balanced(whole));
    double wanted = json_get_number(whole, "bytes", 0), moved = number(whole, "dram_bytes");
    if (wanted > 0 && moved > 0)
        fprintf(out, "Bytes that the job's work needs: %.4g; moved by device memory: %.4g (%.2f times).\n", wanted,
                moved, moved / wanted);
    autojson json_t *list = warnings(whole, memory, math);
    json_array_each(list, i, warning) fprintf(out, "warning: %s\n", json_string_value(warning));
}
