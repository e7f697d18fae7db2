// See profile.h. Every figure is a row of a table, which gives the figure's label, format and source. A row without a
// value is not printed.
#include "tuner/explain/profile.h"
#include "tuner/final/finals.h"

enum { LINES_SHOWN = 8, CULPRITS_SHOWN = 3 };

struct view {
    const json_t *profile, *stage;
};

// TENSOR: a rate that is shown only for kernels that use the tensor unit.
enum form { COUNT, PERCENT, BYTES, RATE, BYTE_RATE, TENSOR, NUMBER, WHOLE, SHAPE, LIMIT, PIPE };

struct figure {
    const char *section, *label; // a section begins at the row with its name
    enum form form;
    const char *key;                      // for number(); for a SHAPE, the member of "launch"
    double (*value)(const struct view *); // instead of a key
    const char *over, *per;               // keys of numbers by which the number is divided
    double scale;                         // factor of the quotient
};

static double known(double value)
{
    return value > 0 ? value : (double)NAN;
}

// A key without a dot is a figure of the stage (profile_number). A key with a dot is a member of the profile itself
// ("profile.time"), a member of an object in the stage or the profile ("facts.occupancy", "ceilings.bytes_per_second"),
// or the share of a warp state ("share.barrier").
static double number(const struct view *v, const char *key)
{
    const char *dot = strchr(key, '.');
    char place[16];
    if (!strcmp(key, "arithmetic_ceiling")) return profile_arithmetic_ceiling(v->profile, v->stage);
    if (!strcmp(key, "roof")) return known(profile_roof(v->profile, v->stage));
    if (!strcmp(key, "sectors")) return profile_global_sectors(v->stage);
    if (!dot) return profile_number(v->stage, key);
    snprintf(place, sizeof place, "%.*s", (int)(dot - key), key);
    if (!strcmp(place, "share")) return profile_share(v->stage, dot + 1);
    if (!strcmp(place, "profile")) return known(json_get_number(v->profile, dot + 1, NAN));
    const json_t *object = json_object_get(v->stage, place);
    return json_get_number(object ? object : json_object_get(v->profile, place), dot + 1, NAN);
}

// The share of the whole time in which multiprocessors are idle in the last wave, assuming that all blocks take equally
// long.
static double tail(const struct view *v)
{
    double waves = number(v, "waves");
    return waves > 1 ? 100 * (1 - waves / ceil(waves)) : (double)NAN;
}
static double unfilled(const struct view *v)
{
    return number(v, "waves") < 1 ? 100 * (1 - number(v, "waves")) : (double)NAN;
}
static double miss_rate(const struct view *v)
{
    return number(v, "icache_requests") > 0 ? 100 * number(v, "icache_misses") / number(v, "icache_requests")
                                            : 0 * number(v, "icache_requests");
}
static double per_issue(const struct view *v)
{
    return 1 / number(v, "share.selected");
}
static double imbalance(const struct view *v)
{
    return 100 * (number(v, "cycles_active_max") / number(v, "cycles_active") - 1);
}

static const struct figure figures[] = {
    {"Speed of light", "compute throughput", PERCENT, "sm_throughput", NULL, NULL, NULL, 1},
    {NULL, "memory throughput", PERCENT, "memory_throughput", NULL, NULL, NULL, 1},
    {NULL, "L1 and shared memory", PERCENT, "l1_throughput", NULL, NULL, NULL, 1},
    {NULL, "L2", PERCENT, "l2_throughput", NULL, NULL, NULL, 1},
    {NULL, "device memory", PERCENT, "dram_throughput", NULL, NULL, NULL, 1},
    {NULL, "schedulers issuing", PERCENT, "issue_active", NULL, NULL, NULL, 1},
    {NULL, "arithmetic, of the job's work", RATE, "profile.flops", NULL, "profile.time", NULL, 1},
    {NULL, "  its pipe", PIPE, NULL, NULL, NULL, NULL, 1},
    {NULL, "  of the measured ceiling", PERCENT, "profile.flops", NULL, "profile.time", "arithmetic_ceiling", 100},
    {NULL, "device memory, bytes moved", BYTE_RATE, "dram_bytes", NULL, "profile.time", NULL, 1},
    {NULL, "  of the measured ceiling", PERCENT, "dram_bytes", NULL, "profile.time", "ceilings.bytes_per_second", 100},
    {NULL, "operations per byte moved", NUMBER, "profile.flops", NULL, "dram_bytes", NULL, 1},
    {NULL, "roofline at that intensity", RATE, "roof", NULL, NULL, NULL, 1},
    {NULL, "  reached", PERCENT, "profile.flops", NULL, "profile.time", "roof", 100},
    // a wavefront is 128 bytes of the banks, a sector is 32 bytes
    {NULL, "shared memory, of the measured ceiling", PERCENT, "shared_wavefronts", NULL, "profile.time",
     "ceilings.shared_bytes_per_second", 12800},
    {NULL, "L2, of the measured ceiling", PERCENT, "l2_sectors", NULL, "profile.time", "ceilings.l2_bytes_per_second",
     3200},
    {"Pipes", "FMA", PERCENT, "pipe_fma", NULL, NULL, NULL, 1},
    {NULL, "ALU", PERCENT, "pipe_alu", NULL, NULL, NULL, 1},
    {NULL, "FP64", PERCENT, "pipe_fp64", NULL, NULL, NULL, 1},
    {NULL, "load and store", PERCENT, "pipe_lsu", NULL, NULL, NULL, 1},
    {NULL, "special functions", PERCENT, "pipe_xu", NULL, NULL, NULL, 1},
    {NULL, "tensor", PERCENT, "pipe_tensor", NULL, NULL, NULL, 1},
    {NULL, "  bf16 by mma.sync", TENSOR, "ceilings.tensor_bf16_flops_per_second", NULL, NULL, NULL, 1},
    {NULL, "  bf16 by wgmma", TENSOR, "ceilings.wgmma_bf16_flops_per_second", NULL, NULL, NULL, 1},
    {NULL, "  tf32 by mma.sync", TENSOR, "ceilings.tensor_tf32_flops_per_second", NULL, NULL, NULL, 1},
    {NULL, "  tf32 by wgmma", TENSOR, "ceilings.wgmma_tf32_flops_per_second", NULL, NULL, NULL, 1},
    {NULL, "  FP64 by mma.sync", TENSOR, "ceilings.tensor_fp64_flops_per_second", NULL, NULL, NULL, 1},
    {NULL, "uniform", PERCENT, "pipe_uniform", NULL, NULL, NULL, 1},
    {"Launch", "grid", SHAPE, "grid", NULL, NULL, NULL, 1},
    {NULL, "block", SHAPE, "block", NULL, NULL, NULL, 1},
    {NULL, "cluster", SHAPE, "cluster", NULL, NULL, NULL, 1},
    {NULL, "blocks", WHOLE, "blocks", NULL, NULL, NULL, 1},
    {NULL, "blocks per multiprocessor", NUMBER, "blocks", NULL, "device.sm_count", NULL, 1},
    {NULL, "waves", NUMBER, "waves", NULL, NULL, NULL, 1},
    {NULL, "idle in the last wave (tail)", PERCENT, NULL, tail, NULL, NULL, 1},
    {NULL, "room that the grid leaves empty", PERCENT, NULL, unfilled, NULL, NULL, 1},
    {"Occupancy", "theoretical", PERCENT, "facts.occupancy", NULL, NULL, NULL, 100},
    {NULL, "achieved", PERCENT, "counters.occupancy", NULL, NULL, NULL, 1},
    {NULL, "blocks that fit on a multiprocessor", WHOLE, "blocks_per_sm", NULL, NULL, NULL, 1},
    {NULL, "limited by", LIMIT, NULL, NULL, NULL, NULL, 1},
    {NULL, "  limit by registers", WHOLE, "limit_registers", NULL, NULL, NULL, 1},
    {NULL, "  limit by shared memory", WHOLE, "limit_shared", NULL, NULL, NULL, 1},
    {NULL, "  limit by warps", WHOLE, "limit_warps", NULL, NULL, NULL, 1},
    {NULL, "  limit of the device", WHOLE, "limit_blocks", NULL, NULL, NULL, 1},
    {NULL, "warps ready, per scheduler", NUMBER, "warps_eligible", NULL, NULL, NULL, 1},
    {"Instruction cache", "code", BYTES, "code_bytes", NULL, NULL, NULL, 1},
    {NULL, "requests", COUNT, "icache_requests", NULL, NULL, NULL, 1},
    {NULL, "misses", COUNT, "icache_misses", NULL, NULL, NULL, 1},
    {NULL, "  of requests", PERCENT, NULL, miss_rate, NULL, NULL, 1},
    {NULL, "next level: requests", COUNT, "icache_l15_requests", NULL, NULL, NULL, 1},
    {NULL, "next level: misses", COUNT, "icache_l15_misses", NULL, NULL, NULL, 1},
    {NULL, "time waiting for instructions", PERCENT, "share.no_instruction", NULL, NULL, NULL, 100},
    {"Shared memory", "wavefronts", COUNT, "shared_wavefronts", NULL, NULL, NULL, 1},
    {NULL, "ideal", COUNT, "shared_ideal", NULL, NULL, NULL, 1},
    {NULL, "wavefronts, of ideal", NUMBER, "shared_wavefronts", NULL, "shared_ideal", NULL, 1},
    {NULL, "conflicts of loads", COUNT, "bank_conflicts_load", NULL, NULL, NULL, 1},
    {NULL, "conflicts of stores", COUNT, "bank_conflicts_store", NULL, NULL, NULL, 1},
    {NULL, "conflicts of cp.async", COUNT, "bank_conflicts_async", NULL, NULL, NULL, 1},
    {"Global memory", "sectors", COUNT, "sectors", NULL, NULL, NULL, 1},
    {NULL, "sectors, of ideal", NUMBER, "global_sectors", NULL, "global_ideal", NULL, 1},
    {NULL, "sectors per load", NUMBER, "global_load_sectors", NULL, "global_load_requests", NULL, 1},
    {NULL, "sectors per store", NUMBER, "global_store_sectors", NULL, "global_store_requests", NULL, 1},
    {NULL, "L1 hits", PERCENT, "l1_hit_rate", NULL, NULL, NULL, 1},
    {NULL, "L2 hits", PERCENT, "l2_hit_rate", NULL, NULL, NULL, 1},
    {NULL, "bytes needed (the job's work)", BYTES, "profile.bytes", NULL, NULL, NULL, 1},
    {NULL, "bytes read from device memory", BYTES, "dram_read_bytes", NULL, NULL, NULL, 1},
    {NULL, "bytes written to device memory", BYTES, "dram_write_bytes", NULL, NULL, NULL, 1},
    {NULL, "moved, of needed", NUMBER, "dram_bytes", NULL, "profile.bytes", NULL, 1},
    {"Divergence", "active threads per instruction", NUMBER, "threads_per_instruction", NULL, NULL, NULL, 1},
    {NULL, "with their predicate true", NUMBER, "threads_predicated_on", NULL, NULL, NULL, 1},
    {"Registers and spills", "registers per thread", WHOLE, "registers", NULL, NULL, NULL, 1},
    {NULL, "spill loads", BYTES, "spill_loads", NULL, NULL, NULL, 1},
    {NULL, "spill stores", BYTES, "spill_stores", NULL, NULL, NULL, 1},
    {NULL, "stack", BYTES, "stack", NULL, NULL, NULL, 1},
    {NULL, "local-memory sectors read", COUNT, "local_load_sectors", NULL, NULL, NULL, 1},
    {NULL, "local-memory sectors written", COUNT, "local_store_sectors", NULL, NULL, NULL, 1},
    {NULL, "shared memory per block", BYTES, "shared_dynamic", NULL, NULL, NULL, 1},
    {"Balance of the multiprocessors", "active cycles, mean", COUNT, "cycles_active", NULL, NULL, NULL, 1},
    {NULL, "idlest", COUNT, "cycles_active_min", NULL, NULL, NULL, 1},
    {NULL, "busiest", COUNT, "cycles_active_max", NULL, NULL, NULL, 1},
    {NULL, "busiest above the mean", PERCENT, NULL, imbalance, NULL, NULL, 1},
    {"Stalls", "warps resident per issued instruction", NUMBER, NULL, per_issue, NULL, NULL, 1},
};

static const char *scaled(double value, const char *unit, double step, char *out, size_t size)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T"}, *const binary[] = {"", "Ki", "Mi", "Gi", "Ti"};
    size_t i = 0;
    while (fabs(value) >= step && i < 4) value /= step, i++;
    const char *prefix = step > 1000 ? binary[i] : prefixes[i];
    snprintf(out, size, "%.*f%s%s%s", i ? (fabs(value) < 10 ? 2 : 1) : 0, value, *prefix || *unit ? " " : "", prefix,
             unit);
    return out;
}

static const char *show(const struct figure *f, const struct view *v, double value, char *out, size_t size)
{
    *out = 0;
    if (f->form == SHAPE) {
        const json_t *triple = json_object_get(json_object_get(v->stage, "launch"), f->key);
        json_int_t a[3] = {1, 1, 1};
        if (!triple) return out;
        for (size_t i = 0; i < 3; i++) a[i] = json_integer_value(json_array_get(triple, i));
        if (strcmp(f->key, "cluster") || a[0] * a[1] * a[2] > 1)
            snprintf(out, size, a[2] > 1 ? "%lld x %lld x %lld" : a[1] > 1 ? "%lld x %lld" : "%lld", a[0], a[1], a[2]);
        return out;
    }
    if (f->form == LIMIT) return profile_occupancy_limit(v->stage, out, size);
    if (f->form == PIPE) {
        snprintf(out, size, "%s", json_get_string(v->profile, "pipe", ""));
        return out;
    }
    if (isnan(value)) return out;
    if (f->form == PERCENT) snprintf(out, size, "%.1f%%", value);
    if (f->form == NUMBER) snprintf(out, size, "%.2f", value);
    if (f->form == WHOLE) snprintf(out, size, "%.0f", value);
    if (f->form == COUNT) scaled(value, "", 1000, out, size);
    if (f->form == BYTES) scaled(value, "B", 1024, out, size);
    if (f->form == BYTE_RATE) scaled(value, "B/s", 1000, out, size);
    if (f->form == RATE || f->form == TENSOR) scaled(value, "FLOP/s", 1000, out, size);
    return out;
}

static double value_of(const struct figure *f, const struct view *v)
{
    if (!v->stage || (f->form == TENSOR && !profile_uses_tensor(v->stage))) return NAN;
    if (f->value || !f->key || f->form == SHAPE) return f->value ? f->value(v) : (double)NAN;
    double value = f->scale * number(v, f->key);
    if (f->over) value = known(value / known(number(v, f->over)));
    return f->per ? value / number(v, f->per) : value;
}

static void print_figures(FILE *out, const struct view *a, const struct view *b)
{
    const char *section = NULL;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        const struct figure *f = &figures[i];
        char left[64], right[64] = "";
        double x = value_of(f, a), y = b->stage ? value_of(f, b) : (double)NAN;
        if (f->section) section = f->section;
        show(f, a, x, left, sizeof left);
        if (b->stage) show(f, b, y, right, sizeof right);
        if (!*left && !*right) continue;
        if (section) fprintf(out, "\n%s\n", section);
        section = NULL;
        fprintf(out, "  %-42s %18s", f->label, *left ? left : "-");
        if (b->stage) fprintf(out, " %18s", *right ? right : "-");
        if (x > 0 && y > 0 && fabs(x / y - 1) > 0.005) fprintf(out, "  x %.3g", x / y);
        fputc('\n', out);
    }
}

static void print_stalls(FILE *out, const struct view *a, const struct view *b)
{
    struct profile_share shares[PROFILE_SHARES];
    size_t count = profile_shares(a->stage, shares, PROFILE_SHARES);
    for (size_t i = 0; i < count; i++) {
        double other = b->stage ? profile_share(b->stage, shares[i].reason) : (double)NAN;
        if (shares[i].share < 0.005 && !(other >= 0.005)) continue;
        fprintf(out, "  %-42.42s %17.1f%%", profile_reason_text(shares[i].reason), 100 * shares[i].share);
        if (b->stage && !isnan(other)) fprintf(out, " %17.1f%%", 100 * other);
        fputc('\n', out);
    }
}

static int by_size(const void *a, const void *b)
{
    double x = fabs(((const struct profile_share *)a)->share), y = fabs(((const struct profile_share *)b)->share);
    return (x < y) - (x > y);
}

// A warp's time is the sum of the times in its states. So the difference between two kernels' times is the sum of the
// differences in each state.
static void print_differences(FILE *out, const struct view *a, const struct view *b)
{
    struct profile_share list[PROFILE_SHARES]; // shares, and then their differences in seconds
    size_t count = profile_shares(a->stage, list, PROFILE_SHARES);
    double ours = number(a, "profile.time"), theirs = number(b, "profile.time"), all = ours - theirs;
    if (!count || !profile_shares(b->stage, (struct profile_share[1]){{0}}, 1) || isnan(all)) return;
    for (size_t i = 0; i < count; i++) {
        double other = profile_share(b->stage, list[i].reason);
        list[i].share = ours * list[i].share - theirs * (isnan(other) ? 0 : other);
    }
    qsort(list, count, sizeof *list, by_size);
    fprintf(out, "\nWhere the difference of %s comes from (a warp's time by state; the sum is the difference)\n",
            show_time(fabs(all), TEXT_ROOM));
    for (size_t i = 0; i < count && fabs(list[i].share) > 0.02 * fabs(all); i++)
        fprintf(out, "  %-55s %s%s\n", profile_reason_text(list[i].reason), list[i].share < 0 ? "-" : "+",
                show_time(fabs(list[i].share), TEXT_ROOM));
}

static int by_samples(const void *a, const void *b)
{
    const json_t *x = json_object_get(*(const json_t *const *)a, "self"),
                 *y = json_object_get(*(const json_t *const *)b, "self");
    double p = json_get_number(x, "samples", json_get_number(x, "instructions", 0)),
           q = json_get_number(y, "samples", json_get_number(y, "instructions", 0));
    return (p < q) - (p > q);
}

// The most frequent stall of the line's warps, not counting issuing and being ready.
static const char *main_stall(const json_t *line)
{
    const char *most = "";
    json_int_t largest = 0;
    json_object_each(json_object_get(line, "stalls"), key, value) {
        if (!strcmp(key, "selected") || !strcmp(key, "not_selected") || json_integer_value(value) <= largest) continue;
        largest = json_integer_value(value);
        most = key;
    }
    return most;
}

static void print_lines(FILE *out, const json_t *stage, const char *source)
{
    const json_t *lines = json_object_get(stage, "lines"), *totals = json_object_get(stage, "totals");
    size_t count = json_array_size(lines);
    autofree const json_t **order = memory_new(count + 1, sizeof *order);
    for (size_t i = 0; i < count; i++) order[i] = json_array_get(lines, i);
    qsort(order, count, sizeof *order, by_samples);
    double samples = json_get_number(totals, "samples", NAN),
           instructions = json_get_number(totals, "instructions", NAN);
    if (count)
        fprintf(out, "\nSource lines by time spent at their own instructions\n  %5s %8s %8s  %-18s %s\n", "line",
                "samples", "instr.", "mostly waiting for", "text");
    for (size_t i = 0; i < count && i < LINES_SHOWN; i++) {
        const json_t *self = json_object_get(order[i], "self");
        autofree char *text = profile_source(source, order[i]);
        char sampled[16] = "-", executed[16] = "-";
        if (samples > 0)
            snprintf(sampled, sizeof sampled, "%.1f%%", 100 * json_get_number(self, "samples", 0) / samples);
        if (instructions > 0)
            snprintf(executed, sizeof executed, "%.1f%%",
                     100 * json_get_number(self, "instructions", 0) / instructions);
        fprintf(out, "  %5" PRId64 " %8s %8s  %-18s %.100s\n", json_get_integer(order[i], "line", 0), sampled, executed,
                main_stall(order[i]), text);
    }
}

static void print_culprits(FILE *out, const json_t *stage, const char *source)
{
    static const struct {
        const char *title, *ideal;
    } kinds[EXCESS_COUNT] = {
        [EXCESS_SHARED] = {"Bank conflicts by source line", "the ideal number of wavefronts"},
        [EXCESS_GLOBAL] = {"Uncoalesced accesses by source line", "the ideal number of sectors"},
        [EXCESS_DIVERGENCE] = {"Divergence by source line", "the thread instructions needed"},
    };
    for (int k = 0; k < EXCESS_COUNT; k++) {
        struct profile_culprit blamed[CULPRITS_SHOWN];
        size_t count = profile_culprit(stage, (enum profile_excess)k, blamed, CULPRITS_SHOWN);
        if (count) fprintf(out, "\n%s\n", kinds[k].title);
        for (size_t i = 0; i < count; i++) {
            autofree char *text = profile_source(source, blamed[i].line);
            fprintf(out,
                    "  %s:%" PRId64
                    "  %.2f times %s; what is above the ideal is %.1f%% of the kernel's total  %.110s\n",
                    json_get_string(blamed[i].line, "file", "?"), json_get_integer(blamed[i].line, "line", 0),
                    blamed[i].ratio, kinds[k].ideal, 100 * blamed[i].share, text);
        }
    }
}

static void print_head(FILE *out, const char *role, const json_t *p)
{
    struct interval time = profile_time(p);
    fprintf(out, "%s%s  %s  %s\n", role, json_get_string(p, "name", "?"), show_interval(&time, TEXT_ROOM),
            json_get_string(p, "config", ""));
}

void profile_print(FILE *out, const json_t *profile, const json_t *against, const char *source)
{
    const json_t *stages = json_object_get(profile, "stages");
    fprintf(out, "%s on %s\n", json_get_string(profile, "problem", "?"),
            json_get_string(json_object_get(profile, "device"), "name", "?"));
    print_head(out, "", profile);
    if (against) print_head(out, "against ", against);
    json_array_each(stages, s, stage) {
        const json_t *other = against ? json_array_get(json_object_get(against, "stages"), s) : NULL;
        if (against && !other) other = profile_main_stage(against);
        struct view a = {profile, stage}, b = {against, other};
        if (json_array_size(stages) > 1) fprintf(out, "\n== %s\n", json_get_string(stage, "name", "?"));
        print_figures(out, &a, &b);
        print_stalls(out, &a, &b);
        if (against && json_array_size(stages) == 1) print_differences(out, &a, &b);
        print_culprits(out, stage, source);
        print_lines(out, stage, source);
    }
    json_array_each(json_object_get(profile, "notes"), i, note) fprintf(out, "\nnote: %s\n", json_string_value(note));
}
