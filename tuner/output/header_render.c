// The text of the header (header.h), made from its sections alone, so that a section read back from an older header comes out as it went in.
//
// Order: what it is worth (a comment), the sections for machines, the choice of the device, its macros, launch geometry and results as inline
// functions, and last, outside the include guard, the parameters under the template's own names: nothing of ours comes after them that
// a parameter called `N` or `grid` could break. Function arguments are called size_M for the same reason.
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tuner/base/text.h"
#include "tuner/output/final.h"
#include "tuner/output/header.h"

struct renderer {
    FILE *file;
    const json_t *sections, *sizes;
    char *lower, *upper;  // sgemm, SGEMM
    json_t *macros;       // of the section at work: a set, so that none is defined twice
    bool failed;
    struct error *err;
};

static char *upper_identifier(const char *text)
{
    char *name = header_identifier(text);
    for (char *p = name; *p; p++) *p = (char)toupper((unsigned char)*p);
    return name;
}

// Text inside a comment: what would end or open one is taken apart.
static void put_comment(FILE *file, const char *text)
{
    for (; *text; text++) {
        fputc((unsigned char)*text < ' ' ? ' ' : *text, file);
        if ((text[0] == '*' && text[1] == '/') || (text[0] == '/' && text[1] == '*')) fputc(' ', file);
    }
}

// A C string literal, which malloc'ed text becomes part of a macro.
static char *literal(const char *text)
{
    char *out = memory_new(4 * strlen(text) + 3, 1), *p = out;
    *p++ = '"';
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\' || c == '?') p += sprintf(p, "\\%c", c); // "\?" keeps trigraphs away
        else if (c < ' ') p += sprintf(p, "\\%03o", c);
        else *p++ = (char)c;
    }
    *p++ = '"';
    return out;
}

// One macro of the section, prefixed. `name` may be lower case and have any characters.
__attribute__((format(printf, 3, 4))) static void define(struct renderer *r, const char *name, const char *format, ...)
{
    char *upper = upper_identifier(name), *value = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&value, format, args) < 0) value = NULL;
    va_end(args);
    if (json_object_get(r->macros, upper)) {
        if (!r->failed) error_set(r->err, "the macro %s_%s would be defined twice: rename the parameter '%s'", r->upper, upper, name);
        r->failed = true;
    }
    json_object_set_new(r->macros, upper, json_true());
    fprintf(r->file, "#define %s_%s%s%s\n", r->upper, upper, value && *value ? " " : "", value ? value : "");
    free(value);
    free(upper);
}

static void define_text(struct renderer *r, const char *name, const char *text)
{
    char *quoted = literal(text);
    define(r, name, "%s", quoted);
    free(quoted);
}

static struct interval interval_at(const json_t *object, const char *key)
{
    const json_t *list = json_object_get(object, key);
    double v[3];
    for (size_t i = 0; i < 3; i++) {
        const json_t *item = json_array_get(list, i);
        v[i] = json_is_number(item) ? json_number_value(item) : (double)NAN;
    }
    return (struct interval){v[0], v[1], v[2]};
}

// NAME, NAME_LOW, NAME_HIGH, as far as they are known.
static void define_interval(struct renderer *r, const char *name, struct interval value)
{
    char *low = text_format("%s_low", name), *high = text_format("%s_high", name);
    if (isfinite(value.value)) define(r, name, "%.9g", value.value);
    if (isfinite(value.low)) define(r, low, "%.9g", value.low);
    if (isfinite(value.high)) define(r, high, "%.9g", value.high);
    free(low);
    free(high);
}

static char *date_of(const json_t *section)
{
    time_t when = (time_t)json_get_integer(section, "when", 0);
    struct tm parts;
    char text[32] = "?";
    if (gmtime_r(&when, &parts)) strftime(text, sizeof text, "%Y-%m-%d", &parts);
    return text_copy(text);
}

static int compute_of(const json_t *section)
{
    int compute = 0;
    return sscanf(json_get_string(section, "arch", ""), "sm_%d", &compute) == 1 ? compute : 0;
}

static size_t stage_count(const json_t *section)
{
    return json_array_size(json_object_get(section, "stages"));
}

static char *device_macro(const json_t *section)
{
    return upper_identifier(json_get_string(section, "device", "unknown"));
}

static void comment_section(struct renderer *r, const json_t *section)
{
    const json_t *item;
    size_t i;
    char text[128], *date = date_of(section);
    FILE *f = r->file;
    fputs(" *\n * ", f);
    put_comment(f, json_get_string(section, "device", "?"));
    fputs(" (", f);
    put_comment(f, json_get_string(section, "arch", "?"));
    fputs(", driver ", f);
    put_comment(f, json_get_string(section, "driver", "?"));
    fputs(", ", f);
    put_comment(f, json_get_string(section, "compiler", "?"));
    fprintf(f, "), %s\n *   ", date);
    put_comment(f, json_get_string(section, "configuration", ""));
    if (json_get_bool(section, "final", false))
        fprintf(f, "\n *   decided in a final of %" PRId64 " rounds%s\n", json_get_integer(section, "rounds", 0),
                json_get_bool(section, "replayed", false) ? ", replayed from a recording" : "");
    else fputs("\n *   NOT decided in a final: the best of the search so far, which luck may have chosen\n", f);
    json_array_foreach(json_object_get(section, "problems"), i, item) {
        struct interval time = interval_at(item, "time");
        fputs(" *   ", f);
        put_comment(f, json_get_string(item, "name", "?"));
        fprintf(f, "  %s\n", show_interval(&time, text, sizeof text));
    }
    json_array_foreach(json_object_get(section, "ratios"), i, item) {
        struct interval ratio = interval_at(item, "ratio");
        fprintf(f, " *   %s times the speed of ", show_ratio(&ratio, text, sizeof text));
        put_comment(f, json_get_string(item, "name", "?"));
        fputc('\n', f);
    }
    json_array_foreach(json_object_get(section, "ties"), i, item) {
        fputs(" *   tied with ", f);
        put_comment(f, json_is_string(item) ? json_string_value(item) : "?");
        fputc('\n', f);
    }
    const json_t *verified = json_object_get(section, "verified");
    if (json_array_size(verified)) fputs(" *   verified on", f);
    else fputs(" *   NOT verified", f);
    json_array_foreach(verified, i, item) {
        fputs(i ? "; " : " ", f);
        put_comment(f, json_is_string(item) ? json_string_value(item) : "?");
    }
    double error = json_get_number(section, "error", NAN);
    if (isfinite(error)) fprintf(f, "; largest error %.2g of what is allowed", error);
    fputs("\n", f);
    free(date);
}

// The section as JSON in a comment that nothing inside can end or open: a star beside a slash is written as its number.
static void put_section(FILE *file, const json_t *section)
{
    char *text = json_dumps(section, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9));
    fputs("/* sweetspot-section ", file);
    for (const char *p = text; *p; p++) {
        if (*p == '*' && (p[1] == '/' || (p > text && p[-1] == '/'))) fputs("\\u002a", file);
        else fputc(*p, file);
    }
    fputs(" */\n", file);
    free(text);
}

static void put_opening(struct renderer *r)
{
    const json_t *first = json_array_get(r->sections, 0);
    const json_t *section;
    size_t i;
    FILE *f = r->file;
    fputs("/* ", f);
    put_comment(f, json_get_string(first, "job", "?"));
    fprintf(f, ": the fastest configuration that sweetspot found%s. Written by sweetspot; do not edit.\n",
            json_array_size(r->sections) > 1 ? " for each of these devices" : "");
    json_array_foreach(r->sections, i, section) comment_section(r, section);
    fprintf(f,
            " *\n"
            " * Include it for the parameters (%1$s_<NAME>), the launch geometry (%2$s_...) and what they are worth.\n"
            " * Define %1$s_DEFINE_PARAMETERS before that, and they are also defined under the template's own names: include it so\n"
            " * before the template, and what is compiled is the tuned kernel.\n"
            " * Define %1$s_DEVICE_<NAME> for one of the devices below; the first is the default.\n"
            " * The build stops when the template has changed since, if it says what the template is now:\n"
            " *   -DSWEETSPOT_SOURCE_HASH=$(sweetspot header JOB --hash)\n"
            " */\n"
            "#ifndef SWEETSPOT_%1$s_BEST_H\n#define SWEETSPOT_%1$s_BEST_H\n\n",
            r->upper, r->lower);
    json_array_foreach(r->sections, i, section) {
        put_section(f, section);
    }
    fputc('\n', f);
}

static void put_selection(struct renderer *r)
{
    const json_t *section;
    size_t i;
    json_array_foreach(r->sections, i, section) {
        char *device = device_macro(section);
        fprintf(r->file, "#%s defined(%s_DEVICE_%s)\n#define %s_SECTION %zu\n", i ? "elif" : "if", r->upper, device, r->upper, i);
        free(device);
    }
    char *device = device_macro(json_array_get(r->sections, 0));
    fprintf(r->file, "#else\n#define %s_DEVICE_%s\n#define %s_SECTION 0\n#endif\n\n", r->upper, device, r->upper);
    free(device);
}

static void put_parameters(struct renderer *r, const json_t *section)
{
    const json_t *parameter;
    size_t i;
    json_array_foreach(json_object_get(section, "parameters"), i, parameter) {
        const char *name = json_get_string(parameter, "name", "?");
        const json_t *value = json_object_get(parameter, "value");
        if (json_is_string(value)) define_text(r, name, json_string_value(value));
        else define(r, name, "%" PRId64, (int64_t)json_integer_value(value));
    }
}

static void put_stage_figures(struct renderer *r, const json_t *section)
{
    static const struct {
        const char *key, *macro;
    } figures[] = {{"registers", "registers"}, {"spills", "spill_bytes"}, {"shared_static", "shared_static_bytes"}, {"code_bytes", "code_bytes"}};
    const json_t *stage;
    size_t i;
    json_array_foreach(json_object_get(section, "stages"), i, stage) {
        bool only = stage_count(section) == 1;
        const char *name = only ? "" : json_get_string(stage, "name", "?"), *joint = only ? "" : "_";
        for (size_t k = 0; k < sizeof figures / sizeof *figures; k++) {
            int64_t value = json_get_integer(stage, figures[k].key, -1);
            char *macro = text_format("%s%s%s", name, joint, figures[k].macro);
            if (value >= 0) define(r, macro, "%" PRId64, value);
            free(macro);
        }
        double occupancy = json_get_number(stage, "occupancy", NAN);
        char *macro = text_format("%s%soccupancy", name, joint);
        if (isfinite(occupancy)) define(r, macro, "%.4g", occupancy);
        free(macro);
    }
}

static void put_counters(struct renderer *r, const json_t *section)
{
    const json_t *counter;
    size_t i;
    bool problems = json_array_size(json_object_get(section, "problems")) > 1, stages = stage_count(section) > 1;
    json_array_foreach(json_object_get(section, "counters"), i, counter) {
        char problem[24] = "", stage[24] = "";
        if (problems) snprintf(problem, sizeof problem, "_problem_%" PRId64, json_get_integer(counter, "problem", 0));
        if (stages) snprintf(stage, sizeof stage, "_stage_%" PRId64, json_get_integer(counter, "stage", 0));
        char *macro = text_format("counter_%s%s%s", json_get_string(counter, "key", "?"), problem, stage);
        define(r, macro, "%.9g", json_get_number(counter, "value", 0));
        free(macro);
    }
}

static void put_worth(struct renderer *r, const json_t *section)
{
    static const char *const texts[] = {"device", "arch", "driver", "compiler", "template", "configuration"};
    const json_t *problems = json_object_get(section, "problems"), *ratio;
    size_t i;
    char number[32], *date = date_of(section);
    for (i = 0; i < sizeof texts / sizeof *texts; i++) define_text(r, texts[i], json_get_string(section, texts[i], ""));
    define(r, "compute", "%d", compute_of(section));
    define_text(r, "date", date);
    define_text(r, "source_hash_text", json_get_string(section, "source_hash", ""));
    define(r, "source_hash", "%sULL", header_hash_number(json_get_string(section, "source_hash", ""), number));
    define(r, "decided_in_final", "%d", json_get_bool(section, "final", false));
    define(r, "final_rounds", "%" PRId64, json_get_integer(section, "rounds", 0));
    define(r, "verified_problems", "%zu", json_array_size(json_object_get(section, "verified")));
    if (json_is_number(json_object_get(section, "error"))) define(r, "error", "%.3g", json_get_number(section, "error", 0));
    struct interval time = {json_get_number(section, "seconds", NAN), NAN, NAN};
    if (json_array_size(problems) == 1) time = interval_at(json_array_get(problems, 0), "time");
    define_interval(r, "seconds", time);
    json_array_foreach(json_object_get(section, "ratios"), i, ratio) {
        char *macro = text_format("ratio_%s", json_get_string(ratio, "name", "?"));
        define_interval(r, macro, interval_at(ratio, "ratio"));
        free(macro);
    }
    put_stage_figures(r, section);
    put_counters(r, section);
    free(date);
}

static void put_macros(struct renderer *r)
{
    static const char *const taken[] = {"SECTION", "FUNCTION", "DEFINE_PARAMETERS", "PARAMETERS_DEFINED"};
    const json_t *section;
    size_t i;
    fprintf(r->file,
            "/* SECONDS: median; over several problems the job's objective. RATIO_x: x's time over ours. LOW, HIGH: 95%% intervals. ERROR: the largest\n"
            " * error over what is allowed. A text parameter is a string here and its bare words under its own name. */\n");
    json_array_foreach(r->sections, i, section) {
        char *device = device_macro(section), *macro = text_format("DEVICE_%s", device);
        r->macros = json_object();
        for (size_t k = 0; k < sizeof taken / sizeof *taken; k++) json_object_set_new(r->macros, taken[k], json_true());
        json_object_set_new(r->macros, macro, json_true());
        fprintf(r->file, "#%s %s_SECTION == %zu\n", i ? "elif" : "if", r->upper, i);
        put_parameters(r, section);
        put_worth(r, section);
        json_decref(r->macros);
        free(macro);
        free(device);
    }
    fprintf(r->file,
            "#endif\n\n"
            "#ifdef SWEETSPOT_SOURCE_HASH\n#if (SWEETSPOT_SOURCE_HASH) != %1$s_SOURCE_HASH\n"
            "#error \"the template has changed since %2$s was tuned: tune it again, or check with `sweetspot header JOB --check FILE`\"\n"
            "#endif\n#endif\n\n",
            r->upper, r->lower);
}

// "long long size_M, long long size_N", after `first` ("int section"); "void" when there is nothing.
static void put_arguments(struct renderer *r, const char *first)
{
    const json_t *size;
    size_t i;
    fputs(first, r->file);
    json_array_foreach(r->sizes, i, size) fprintf(r->file, "%slong long size_%s", i || *first ? ", " : "", json_string_value(size));
    if (!*first && !json_array_size(r->sizes)) fputs("void", r->file);
}

// "size_M, size_N" after `first`; nothing where there are no sizes.
static void put_sizes(struct renderer *r, const char *first)
{
    const json_t *size;
    size_t i;
    json_array_foreach(r->sizes, i, size) fprintf(r->file, "%ssize_%s", i ? ", " : first, json_string_value(size));
}

static void put_helpers(struct renderer *r)
{
    fprintf(r->file,
            "#if defined(__CUDACC_RTC__)\n#define %1$s_FUNCTION static inline __host__ __device__ __attribute__((unused))\n"
            "#elif defined(__CUDACC__)\n#define %1$s_FUNCTION static inline __host__ __device__\n"
            "#else\n#define %1$s_FUNCTION static inline\n#endif\n\n"
            "%1$s_FUNCTION long long %2$s_fn_ceil_div(long long a, long long b) { return a / b + (a %% b != 0 && (a < 0) == (b < 0)); }\n"
            "%1$s_FUNCTION long long %2$s_fn_round_up(long long a, long long b) { return %2$s_fn_ceil_div(a, b) * b; }\n"
            "%1$s_FUNCTION long long %2$s_fn_min(long long a, long long b) { return a < b ? a : b; }\n"
            "%1$s_FUNCTION long long %2$s_fn_max(long long a, long long b) { return a > b ? a : b; }\n"
            "%1$s_FUNCTION long long %2$s_fn_abs(long long a) { return a < 0 ? -a : a; }\n"
            "%1$s_FUNCTION long long %2$s_fn_is_pow2(long long a) { return a > 0 && (a & (a - 1)) == 0; }\n"
            "%1$s_FUNCTION long long %2$s_fn_log2(long long a) { long long n = 0; while (a >>= 1) n++; return n; }\n\n"
            "/* One launch. used: 0 where this stage is not part of the configuration. The sections are numbered in the order of this file. */\n"
            "struct %2$s_launch { unsigned grid[3], block[3], cluster[3], shared_bytes; int cooperative, used; };\n\n",
            r->upper, r->lower);
}

static const json_t *find_stage(const json_t *section, const char *name)
{
    const json_t *stage;
    size_t i;
    json_array_foreach(json_object_get(section, "stages"), i, stage)
        if (!strcmp(json_get_string(stage, "name", ""), name)) return stage;
    return NULL;
}

static bool is_number(const char *text)
{
    return *text && !text[strspn(text, "0123456789")];
}

static void put_unsigned(FILE *file, const char *text)
{
    fprintf(file, is_number(text) ? "%s;\n" : "(unsigned)(%s);\n", text);
}

static void put_case(struct renderer *r, const json_t *stage)
{
    static const char *const arrays[] = {"grid", "block", "cluster"};
    const char *when = json_get_string(stage, "when", "1");
    for (size_t k = 0; k < 3; k++)
        for (size_t d = 0; d < 3; d++) {
            const json_t *text = json_array_get(json_object_get(stage, arrays[k]), d);
            fprintf(r->file, "        g.%s[%zu] = ", arrays[k], d);
            put_unsigned(r->file, json_is_string(text) ? json_string_value(text) : "1");
        }
    fputs("        g.shared_bytes = ", r->file);
    put_unsigned(r->file, json_get_string(stage, "shared", "0"));
    fprintf(r->file, "        g.cooperative = %d;\n", json_get_bool(stage, "cooperative", false));
    fprintf(r->file, is_number(when) ? "        g.used = %s;\n        break;\n" : "        g.used = (%s) != 0;\n        break;\n", when);
}

// The geometry of one stage in all sections, and the short functions for the chosen section.
static void put_stage(struct renderer *r, const char *name, const char *prefix)
{
    static const struct {
        const char *name, *member;
    } parts[] = {{"grid_x", "grid[0]"},       {"grid_y", "grid[1]"},       {"grid_z", "grid[2]"},       {"block_x", "block[0]"},
                 {"block_y", "block[1]"},     {"block_z", "block[2]"},     {"cluster_x", "cluster[0]"}, {"cluster_y", "cluster[1]"},
                 {"cluster_z", "cluster[2]"}, {"shared_bytes", "shared_bytes"}};
    const json_t *section, *size;
    size_t i;
    FILE *f = r->file;
    fprintf(f, "%s_FUNCTION struct %s_launch %sgeometry_on(", r->upper, r->lower, prefix);
    put_arguments(r, "int section");
    fprintf(f, ")\n{\n    struct %s_launch g;\n", r->lower);
    json_array_foreach(r->sizes, i, size) fprintf(f, "    (void)size_%s;\n", json_string_value(size));
    fputs("    switch (section) {\n", f);
    json_array_foreach(r->sections, i, section) {
        const json_t *stage = find_stage(section, name);
        if (!stage) continue;
        fprintf(f, "    case %zu: /* ", i);
        put_comment(f, json_get_string(section, "device", "?"));
        fputs(" */\n", f);
        put_case(r, stage);
    }
    fputs("    default:\n", f);
    for (int k = 0; k < 9; k++) fprintf(f, "        g.%s[%d] = 0;\n", k < 3 ? "grid" : k < 6 ? "block" : "cluster", k % 3);
    fputs("        g.shared_bytes = 0;\n        g.cooperative = 0;\n        g.used = 0;\n        break;\n    }\n    return g;\n}\n", f);
    fprintf(f, "%s_FUNCTION struct %s_launch %sgeometry(", r->upper, r->lower, prefix);
    put_arguments(r, "");
    fprintf(f, ") { return %sgeometry_on(%s_SECTION", prefix, r->upper);
    put_sizes(r, ", ");
    fputs("); }\n", f);
    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
        fprintf(f, "%s_FUNCTION unsigned %s%s(", r->upper, prefix, parts[i].name);
        put_arguments(r, "");
        fprintf(f, ") { return %sgeometry(", prefix);
        put_sizes(r, "");
        fprintf(f, ").%s; }\n", parts[i].member);
    }
    fputc('\n', f);
}

// Every stage that any section has, once.
static void put_geometry(struct renderer *r)
{
    const json_t *section, *stage;
    size_t i, k;
    json_t *seen = json_object();
    bool several = false;
    json_array_foreach(r->sections, i, section) several |= stage_count(section) > 1;
    json_array_foreach(r->sections, i, section) {
        json_array_foreach(json_object_get(section, "stages"), k, stage) {
            const char *name = json_get_string(stage, "name", "?");
            if (json_object_get(seen, name)) continue;
            json_object_set_new(seen, name, json_true());
            char *identifier = header_identifier(name);
            bool plain = !several && json_object_size(seen) == 1; // another section's only stage may have another name
            char *prefix = plain ? text_format("%s_", r->lower) : text_format("%s_%s_", r->lower, identifier);
            put_stage(r, name, prefix);
            free(prefix);
            free(identifier);
        }
    }
    json_decref(seen);
}

static double known(double value)
{
    return isfinite(value) ? value : 0;
}

static void put_result_rows(struct renderer *r)
{
    const json_t *section, *problem, *size;
    size_t i, k, d;
    json_array_foreach(r->sections, i, section) {
        char *device = literal(json_get_string(section, "device", ""));
        json_array_foreach(json_object_get(section, "problems"), k, problem) {
            char *name = literal(json_get_string(problem, "name", ""));
            struct interval time = interval_at(problem, "time");
            fprintf(r->file, "        {%s, %d, %zu, %s, {", device, compute_of(section), i, name);
            json_array_foreach(json_object_get(problem, "sizes"), d, size) fprintf(r->file, "%s%" PRId64, d ? ", " : "", (int64_t)json_integer_value(size));
            if (!json_array_size(r->sizes)) fputc('0', r->file);
            fprintf(r->file, "}, %.9g, %.9g, %.9g},\n", known(time.value), known(time.low), known(time.high));
            free(name);
        }
        free(device);
    }
}

static void put_results(struct renderer *r)
{
    size_t sizes = json_array_size(r->sizes), i;
    const json_t *size;
    FILE *f = r->file;
    fprintf(f,
            "#ifndef __CUDACC_RTC__ /* on the host only */\n"
            "/* What was measured: one row a device and problem. size: in the order of the functions' arguments; seconds: median and its 95%%\n"
            " * interval, 0 where unknown. */\n"
            "struct %1$s_result { const char *device; int compute, section; const char *problem; long long size[%2$zu]; double seconds, low, high; };\n\n"
            "static inline const struct %1$s_result *%1$s_results(int *count)\n{\n    static const struct %1$s_result results[] = {\n",
            r->lower, sizes ? sizes : 1);
    put_result_rows(r);
    fprintf(f,
            "    };\n    *count = (int)(sizeof results / sizeof results[0]);\n    return results;\n}\n\n"
            "/* The section for a device by its name (cudaDeviceProp.name), else by its compute capability (10 * major + minor); -1: none. */\n"
            "static inline int %1$s_section_of(const char *device, int compute)\n{\n"
            "    int count, i, k, found = -1;\n"
            "    const struct %1$s_result *results = %1$s_results(&count);\n"
            "    for (i = 0; i < count; i++) {\n"
            "        for (k = 0; device[k] && device[k] == results[i].device[k]; k++) { }\n"
            "        if (device[k] == results[i].device[k]) return results[i].section;\n"
            "        if (found < 0 && compute > 0 && compute == results[i].compute) found = results[i].section;\n"
            "    }\n    return found;\n}\n\n"
            "/* The row of a section whose problem is nearest by the ratios of its sizes; a null pointer where there is none. */\n"
            "static inline const struct %1$s_result *%1$s_nearest(",
            r->lower);
    put_arguments(r, "int section");
    fprintf(f, ")\n{\n    int count, i%s;\n    double least = 0;\n", sizes ? ", d" : "");
    fprintf(f, "    const struct %1$s_result *results = %1$s_results(&count), *nearest = 0;\n", r->lower);
    if (sizes) {
        fprintf(f, "    double size[%zu];\n", sizes);
        json_array_foreach(r->sizes, i, size) fprintf(f, "    size[%zu] = (double)size_%s;\n", i, json_string_value(size));
    }
    fprintf(f, "    for (i = 0; i < count; i++) {\n        double distance = 1;\n        if (results[i].section != section) continue;\n");
    if (sizes)
        fprintf(f,
                "        for (d = 0; d < %zu; d++) {\n"
                "            double there = (double)results[i].size[d];\n"
                "            distance *= there > size[d] ? there / (size[d] > 1 ? size[d] : 1) : size[d] / (there > 1 ? there : 1);\n        }\n",
                sizes);
    fprintf(f, "        if (!nearest || distance < least) {\n            nearest = &results[i];\n            least = distance;\n        }\n    }\n"
               "    return nearest;\n}\n#endif\n\n");
}

// The parameters under the template's own names. An unroll factor is the pragma itself, a text its bare words.
static void put_own_names(struct renderer *r)
{
    const json_t *section, *item;
    size_t i, k;
    FILE *f = r->file;
    fprintf(f, "#if defined(%1$s_DEFINE_PARAMETERS) && !defined(%1$s_PARAMETERS_DEFINED)\n#define %1$s_PARAMETERS_DEFINED\n", r->upper);
    json_array_foreach(r->sections, i, section) {
        fprintf(f, "#%s %s_SECTION == %zu\n", i ? "elif" : "if", r->upper, i);
        json_array_foreach(json_object_get(section, "parameters"), k, item) {
            const json_t *value = json_object_get(item, "value");
            int64_t number = json_integer_value(value);
            fprintf(f, "#define %s", json_get_string(item, "name", "?"));
            if (json_is_string(value)) fprintf(f, " %s\n", json_string_value(value));
            else if (strcmp(json_get_string(item, "kind", ""), "unroll") != 0) fprintf(f, " %" PRId64 "\n", number);
            else if (number > 1) fprintf(f, " _Pragma(\"unroll %" PRId64 "\")\n", number);
            else fputs(number ? " _Pragma(\"unroll\")\n" : "\n", f);
        }
        json_array_foreach(json_object_get(section, "defines"), k, item)
            fprintf(f, "#define %s %s\n", json_get_string(item, "name", "?"), json_get_string(item, "value", ""));
    }
    fputs("#endif\n#endif\n", f);
}

int header_render(FILE *file, const json_t *sections, struct error *err)
{
    const json_t *first = json_array_get(sections, 0);
    const char *job = json_get_string(first, "job", "kernel");
    struct renderer r = {.file = file, .sections = sections, .sizes = json_object_get(first, "sizes"), .lower = header_identifier(job),
                         .upper = upper_identifier(job), .err = err};
    put_opening(&r);
    put_selection(&r);
    put_macros(&r);
    put_helpers(&r);
    put_geometry(&r);
    put_results(&r);
    fprintf(file, "#endif /* SWEETSPOT_%s_BEST_H */\n\n", r.upper);
    put_own_names(&r);
    free(r.lower);
    free(r.upper);
    return r.failed ? -1 : 0;
}
