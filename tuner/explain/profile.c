// See profile.h. Derives figures from a profile's numbers; profile_print.c prints them.
#include "tuner/explain/profile.h"

#include "tuner/setup/work_bounds.h"

double profile_number(const json_t *stage, const char *key)
{
    static const char *const places[] = {"counters", "facts", "totals"};
    for (size_t i = 0; i < 3; i++) {
        double value = json_get_number(json_object_get(stage, places[i]), key, NAN);
        if (!isnan(value)) return value;
    }
    return NAN;
}

struct interval profile_time(const json_t *profile)
{
    return (struct interval){json_get_number(profile, "time", NAN), json_get_number(profile, "low", NAN),
                             json_get_number(profile, "high", NAN)};
}

double profile_global_sectors(const json_t *stage)
{
    double counted = profile_number(stage, "global_load_sectors") + profile_number(stage, "global_store_sectors");
    return isnan(counted) ? profile_number(stage, "global_sectors") : counted;
}

const json_t *profile_main_stage(const json_t *profile)
{
    const json_t *stages = json_object_get(profile, "stages"), *longest = json_array_get(stages, 0);
    for (size_t i = 1; i < json_array_size(stages); i++) {
        const json_t *stage = json_array_get(stages, i);
        if (profile_number(stage, "duration") > profile_number(longest, "duration")) longest = stage;
    }
    return longest;
}

bool profile_uses_tensor(const json_t *stage)
{
    return profile_number(stage, "pipe_tensor") > 1;
}

double profile_arithmetic_ceiling(const json_t *profile, const json_t *stage)
{
    const struct execution_unit *pipe = pipe_find(json_get_string(profile, "pipe", ""), NULL);
    if (!pipe || !pipe->arithmetic || (profile_uses_tensor(stage) && !pipe->lasts)) return NAN;
    return work_ceiling(json_object_get(profile, "ceilings"), pipe) * json_get_number(profile, "flops", NAN) /
           json_get_number(profile, "operations", NAN);
}

static const struct {
    const char *reason, *words;
} reasons[] = {
    {"selected", "issuing instructions"},
    {"not_selected", "ready, while another warp issued"},
    {"long_scoreboard", "waiting for data from global or local memory"},
    {"short_scoreboard", "waiting for data from shared memory or special functions"},
    {"mio_throttle", "waiting for room in the shared-memory instruction queue"},
    {"lg_throttle", "waiting for room in the global-memory instruction queue"},
    {"tex_throttle", "waiting for room in the texture instruction queue"},
    {"barrier", "waiting at a barrier"},
    {"math_pipe_throttle", "waiting for an arithmetic pipe"},
    {"wait", "waiting for a fixed-latency result"},
    {"no_instruction", "waiting for instructions"},
    {"dispatch_stall", "held back by the dispatcher"},
    {"branch_resolving", "waiting for a branch target"},
    {"imc_miss", "waiting for an immediate constant"},
    {"membar", "waiting at a memory fence"},
    {"drain", "waiting for stores at the end"},
    {"sleeping", "asleep"},
    {"gmma", "waiting for wgmma"},
};
enum { REASONS = sizeof reasons / sizeof *reasons };

const char *profile_reason_text(const char *reason)
{
    for (size_t i = 0; i < REASONS; i++)
        if (!strcmp(reasons[i].reason, reason)) return reasons[i].words;
    return reason;
}

// The average number of warps in this state per issued instruction. It includes the warp that issues.
static double waiting(const json_t *stage, const char *reason)
{
    if (!strcmp(reason, "selected")) return 1;
    autofree char *key = text_format("stall_%s", reason);
    return profile_number(stage, key);
}

static double all_waiting(const json_t *stage)
{
    double sum = 0;
    // The basic set lacks some reasons. The sum over all reasons is then the number of warps that a scheduler holds,
    // divided by the instructions that it issues per cycle.
    if (isnan(waiting(stage, "wait")) || isnan(waiting(stage, "not_selected"))) {
        double issue = profile_number(stage, "instructions") / profile_number(stage, "cycles_active") /
                       profile_number(stage, "schedulers");
        return json_get_number(json_object_get(stage, "counters"), "occupancy", NAN) / 100 *
               profile_number(stage, "scheduler_warps") / issue;
    }
    for (size_t i = 0; i < REASONS; i++) {
        double one = waiting(stage, reasons[i].reason);
        if (!isnan(one)) sum += one;
    }
    return sum;
}

double profile_share(const json_t *stage, const char *reason)
{
    return waiting(stage, reason) / all_waiting(stage);
}

static int by_share(const void *a, const void *b)
{
    double x = ((const struct profile_share *)a)->share, y = ((const struct profile_share *)b)->share;
    return (x < y) - (x > y);
}

size_t profile_shares(const json_t *stage, struct profile_share *out, size_t max)
{
    struct profile_share all[REASONS];
    size_t count = 0;
    double sum = all_waiting(stage);
    bool every = !isnan(waiting(stage, "wait")) && !isnan(waiting(stage, "not_selected"));
    for (size_t i = 0; i < REASONS && every; i++) {
        double one = waiting(stage, reasons[i].reason);
        if (one > 0) all[count++] = (struct profile_share){reasons[i].reason, one / sum};
    }
    qsort(all, count, sizeof *all, by_share);
    if (count > max) count = max;
    memcpy(out, all, count * sizeof *all);
    return count;
}

// The excess in a line's columns; *amount: the whole amount, with the excess.
static double excess_of(const json_t *columns, enum profile_excess what, double *amount)
{
    static const struct {
        const char *amount, *ideal;
        double scale; // factor of the amount
    } of[EXCESS_COUNT] = {[EXCESS_SHARED] = {"shared_wavefronts", "shared_ideal", 1},
                          [EXCESS_GLOBAL] = {"global_sectors", "global_ideal", 1},
                          [EXCESS_DIVERGENCE] = {"instructions", "threads", 32}};
    *amount = of[what].scale * json_get_number(columns, of[what].amount, 0);
    return fmax(*amount - json_get_number(columns, of[what].ideal, *amount), 0);
}

// How well a line explains the excess. This is the harmonic mean (F1) of two shares: the share of the kernel's excess
// that is on this line, and the share of this line's amount that is excess. The line table attributes some instructions
// of one inlined call to another, so the line to name may lack some of the excess.
static double explains(const struct profile_culprit *b, double all)
{
    double recall = b->excess / all, precision = 1 - 1 / b->ratio;
    return 2 * recall * precision / (recall + precision);
}

static int by_score(const void *a, const void *b)
{
    const struct profile_culprit *x = a, *y = b;
    return (x->score < y->score) - (x->score > y->score);
}

size_t profile_culprit(const json_t *stage, enum profile_excess what, struct profile_culprit *out, size_t max)
{
    const json_t *lines = json_object_get(stage, "lines");
    size_t count = 0, kept = 0;
    double all, left;
    left = excess_of(json_object_get(stage, "totals"), what, &all);
    autofree struct profile_culprit *list = memory_new(json_array_size(lines) + 1, sizeof *list);
    json_array_each(lines, i, line) {
        double amount, excess = excess_of(json_object_get(line, "total"), what, &amount);
        if (!(excess > 0.01 * all)) continue;
        list[count] = (struct profile_culprit){line, excess, excess / all, amount / (amount - excess), 0};
        list[count].score = explains(&list[count], left);
        count++;
    }
    qsort(list, count, sizeof *list, by_score);
    // Each listed line explains its excess. A line around or within it would explain the same excess again.
    for (size_t i = 0; i < count && kept < max && left > 0.01 * all; i++) {
        if (list[i].excess > left * 1.001) continue;
        out[kept++] = list[i];
        left -= list[i].excess;
    }
    return kept;
}

static double intensity(const json_t *profile, const json_t *stage)
{
    return json_get_number(profile, "flops", NAN) / profile_number(stage, "dram_bytes");
}

double profile_roof(const json_t *profile, const json_t *stage)
{
    double slope = intensity(profile, stage) *
                   json_get_number(json_object_get(profile, "ceilings"), "bytes_per_second", NAN),
           flat = profile_arithmetic_ceiling(profile, stage);
    return isnan(slope) || isnan(flat) ? (double)NAN : fmin(slope, flat);
}

json_t *profile_roofline(const json_t *profile)
{
    const json_t *stage = profile_main_stage(profile);
    double rate = json_get_number(profile, "flops", NAN) / json_get_number(profile, "time", NAN),
           roof = profile_roof(profile, stage);
    return json_pack("{s:f, s:f, s:f, s:f}", "operations_per_byte", intensity(profile, stage), "flops_per_second", rate,
                     "roof", roof, "reached", rate / roof);
}

const char *profile_occupancy_limit(const json_t *stage, char *out, size_t size)
{
    static const char *const names[][2] = {{"limit_registers", "registers"},
                                           {"limit_shared", "shared memory"},
                                           {"limit_warps", "warps"},
                                           {"limit_blocks", "blocks"}};
    double fewest = INFINITY;
    size_t used = 0;
    for (size_t i = 0; i < 4; i++) fewest = fmin(fewest, profile_number(stage, names[i][0]));
    *out = 0;
    for (size_t i = 0; i < 4 && used < size; i++)
        if (profile_number(stage, names[i][0]) <= fewest)
            used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "", names[i][1]);
    return out;
}

static char *read_line(const char *path, int64_t number)
{
    autofree char *text = text_read_file(path, NULL);
    const char *line = text;
    while (line && --number > 0) line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL;
    if (!line || number) return NULL;
    line += strspn(line, " \t");
    size_t length = strcspn(line, "\r\n");
    while (length && (line[length - 1] == ' ' || line[length - 1] == '\t')) length--;
    return text_format("%.*s", (int)length, line);
}

char *profile_source(const char *source, const json_t *line)
{
    const char *file = json_get_string(line, "file", ""), *directory = json_get_string(line, "directory", "");
    int64_t number = json_get_integer(line, "line", 0);
    autofree char *folder = text_directory(source),
                  *path = *directory ? text_join_path(directory, file) : text_copy(file);
    char *result = NULL;
    // The line table names the template itself by its file name, and an included file by its path relative to the
    // template. NVRTC puts the folder of the including file in front of that path.
    if (*file && !strcmp(text_file_name(source), file)) result = read_line(source, number);
    for (const char *tail = path; *file && !result && tail; tail = strchr(tail, '/') ? strchr(tail, '/') + 1 : NULL) {
        autofree char *path_there = text_join_path(folder, tail);
        result = read_line(path_there, number);
    }
    return result ? result : text_copy("");
}
