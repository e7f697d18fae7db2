// The text of the header (header.h), made from its sections alone, so that a section read back from an older header
// comes out as it went in. Its functions are in header_functions.c.
//
// Order: what it is worth (a comment), the sections for machines, the choice of the device, its macros, launch geometry
// and results as inline functions, and last, outside the include guard, the parameters under the template's own names:
// nothing of ours comes after them that a parameter called `N` or `grid` could break. Function arguments are called
// size_M for the same reason.
#include "tuner/output/header_render.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tuner/base/text.h"
#include "tuner/output/header_functions.h"
#include "tuner/output/header_section.h"

// The job's reader refuses such names (tuner/job/header_names.h), but not that of an older header to merge with.
static void collide(struct renderer *r, const char *name)
{
    char *upper = header_upper(name);
    if (!r->collided)
        error_set(r->err, "the macro %s_%s would be defined twice: rename the parameter '%s'", r->upper, upper, name);
    r->collided = true;
    free(upper);
}

// One macro of the section, prefixed. `name` may be lower case and have any characters.
__attribute__((format(printf, 3, 4))) static void define(struct renderer *r, const char *name, const char *format, ...)
{
    char *upper = header_upper(name), *value = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&value, format, args) < 0) value = NULL;
    va_end(args);
    if (json_object_get(r->macros, upper)) collide(r, name);
    json_object_set_new(r->macros, upper, json_true());
    fprintf(r->file, "#define %s_%s%s%s\n", r->upper, upper, value && *value ? " " : "", value ? value : "");
    free(value);
    free(upper);
}

static void define_text(struct renderer *r, const char *name, const char *text)
{
    char *quoted = header_literal(text);
    define(r, name, "%s", quoted);
    free(quoted);
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

static char *device_macro(const json_t *section)
{
    return header_upper(json_get_string(section, "device", "unknown"));
}

// Of a section whose times are those of a recording.
static void comment_recording(struct renderer *r, const json_t *section)
{
    int64_t rounds = json_get_integer(section, "recorded_rounds", 0);
    fputs(" *   replayed from a recording: nothing was measured here; the recording has ", r->file);
    if (rounds)
        fprintf(r->file, "a final of its own, of %" PRId64 " round%s\n", rounds, rounds == 1 ? "" : "s");
    else
        fputs("no final of its own\n", r->file);
    const char *hash = json_get_string(section, "source_hash", "");
    if (!*hash)
        fputs(" *   source not recorded: which version of the template was measured is not known\n", r->file);
    else
        fprintf(r->file, " *   what was measured is the template with the hash %s\n", hash);
}

static void comment_section(struct renderer *r, const json_t *section)
{
    const json_t *item;
    size_t i;
    char text[128], *date = date_of(section);
    FILE *f = r->file;
    fputs(" *\n * ", f);
    header_put_comment(f, json_get_string(section, "device", "?"));
    fputs(" (", f);
    header_put_comment(f, json_get_string(section, "arch", "?"));
    const char *driver = json_get_string(section, "driver", "");
    fputs(*driver ? ", driver " : "", f);
    header_put_comment(f, driver);
    fputs(", ", f);
    header_put_comment(f, json_get_string(section, "compiler", "?"));
    int64_t kernels = json_get_integer(section, "kernels", 0);
    fprintf(f, "), %s\n *   ", date);
    if (kernels) fprintf(f, "kernel %" PRId64 " of %" PRId64 ": ", json_get_integer(section, "kernel", 0), kernels);
    header_put_comment(f, json_get_string(section, "configuration", ""));
    int64_t rounds = json_get_integer(section, "rounds", 0);
    bool replayed = json_get_bool(section, "replayed", false);
    if (json_get_bool(section, "final", false) && replayed)
        fprintf(f, "\n *   decided by %" PRId64 " recorded time%s of each candidate\n", rounds, rounds == 1 ? "" : "s");
    else if (json_get_bool(section, "final", false))
        fprintf(f, "\n *   decided in a final of %" PRId64 " round%s\n", rounds, rounds == 1 ? "" : "s");
    else
        fputs("\n *   NOT decided in a final: the best of the search so far, which luck may have chosen\n", f);
    if (replayed) comment_recording(r, section);
    json_array_foreach(json_object_get(section, "problems"), i, item)
    {
        struct interval time = header_interval(item, "time");
        fputs(" *   ", f);
        header_put_comment(f, json_get_string(item, "name", "?"));
        fprintf(f, "  %s\n", show_interval(&time, text, sizeof text));
    }
    json_array_foreach(json_object_get(section, "ratios"), i, item)
    {
        struct interval ratio = header_interval(item, "ratio");
        fprintf(f, " *   %s times the speed of ", show_ratio(&ratio, text, sizeof text));
        header_put_comment(f, json_get_string(item, "name", "?"));
        fputc('\n', f);
    }
    json_array_foreach(json_object_get(section, "ties"), i, item)
    {
        fputs(" *   tied with ", f);
        header_put_comment(f, json_is_string(item) ? json_string_value(item) : "?");
        fputc('\n', f);
    }
    const json_t *verified = json_object_get(section, "verified");
    if (json_array_size(verified))
        fputs(" *   verified on", f);
    else
        fputs(replayed ? " *   not verified here: replayed from a recording" : " *   NOT verified", f);
    json_array_foreach(verified, i, item)
    {
        fputs(i ? "; " : " ", f);
        header_put_comment(f, json_is_string(item) ? json_string_value(item) : "?");
    }
    double error = json_get_number(section, "error", NAN);
    if (isfinite(error)) fprintf(f, "; largest error %.2g of what is allowed", error);
    fputs("\n", f);
    const char *sanitizers = json_get_string(section, "sanitizers", "");
    if (*sanitizers) {
        fputs(" *   ", f);
        header_put_comment(f, sanitizers);
        fputs("\n", f);
    }
    free(date);
}

// The section as JSON, numbers exact (the selector compares them), in a comment that nothing inside can end or open: a
// star beside a slash is written as its number.
static void put_section(FILE *file, const json_t *section)
{
    char *text = json_dumps(section, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(17));
    fputs("/* sweetspot-section ", file);
    for (const char *p = text; *p; p++) {
        if (*p == '*' && (p[1] == '/' || (p > text && p[-1] == '/')))
            fputs("\\u002a", file);
        else
            fputc(*p, file);
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
    header_put_comment(f, json_get_string(first, "job", "?"));
    fprintf(f, ": the fastest configuration that sweetspot found%s. Written by sweetspot; do not edit.\n",
            header_devices(r->sections) > 1 ? " for each of these devices" : "");
    json_array_foreach(r->sections, i, section) comment_section(r, section);
    char *kernels = header_several_kernels(r->sections)
                        ? text_format(" * There are several kernels, each for some problems. Define %1$s_KERNEL as 0, "
                                      "1 ... %1$s_KERNELS - 1 and include the template once for\n"
                                      " * each, in a file of its own, its entry renamed; %2$s_select(sizes) says which "
                                      "of them to launch (-1: none), and\n"
                                      " * ..._geometry_on(%1$s_FIRST_SECTION + kernel, sizes) how.\n",
                                      r->upper, r->lower)
                        : text_copy("");
    fprintf(f,
            " *\n"
            " * Include it for the parameters (%1$s_<NAME>), the launch geometry (%2$s_...) and what they are worth.\n"
            " * Define %1$s_DEFINE_PARAMETERS before that, and they are also defined under the template's own names: "
            "include it so\n"
            " * before the template, and what is compiled is the tuned kernel.\n"
            " * Define %1$s_DEVICE_<NAME> for one of the devices below; the first is the default.\n"
            "%3$s"
            " * The build stops when the template has changed since, if it says what the template is now:\n"
            " *   -DSWEETSPOT_SOURCE_HASH=$(sweetspot header JOB --hash)\n"
            " */\n"
            "#ifndef SWEETSPOT_%1$s_BEST_H\n#define SWEETSPOT_%1$s_BEST_H\n\n",
            r->upper, r->lower, kernels);
    free(kernels);
    json_array_foreach(r->sections, i, section)
    {
        put_section(f, section);
    }
    fputc('\n', f);
}

// NAME_SECTION: the device's, or where a device has several kernels, that of NAME_KERNEL.
static void put_selection(struct renderer *r)
{
    const json_t *section;
    size_t i;
    bool several = header_several_kernels(r->sections);
    const char *macro = several ? "FIRST_SECTION" : "SECTION";
    json_array_foreach(r->sections, i, section)
    {
        if (header_first_of_device(r->sections, i) != i) continue;
        char *device = device_macro(section);
        fprintf(r->file, "#%s defined(%s_DEVICE_%s)\n#define %s_%s %zu\n", i ? "elif" : "if", r->upper, device,
                r->upper, macro, i);
        if (several)
            fprintf(r->file, "#define %s_KERNELS %" PRId64 "\n", r->upper, json_get_integer(section, "kernels", 1));
        free(device);
    }
    section = json_array_get(r->sections, 0);
    char *device = device_macro(section);
    fprintf(r->file, "#else\n#define %s_DEVICE_%s\n#define %s_%s 0\n", r->upper, device, r->upper, macro);
    if (several)
        fprintf(r->file, "#define %s_KERNELS %" PRId64 "\n", r->upper, json_get_integer(section, "kernels", 1));
    fputs("#endif\n", r->file);
    if (several)
        fprintf(
            r->file,
            "#ifndef %1$s_KERNEL\n#define %1$s_KERNEL 0\n#endif\n#if %1$s_KERNEL < 0 || %1$s_KERNEL >= %1$s_KERNELS\n"
            "#error \"%1$s_KERNEL must be from 0 to %1$s_KERNELS - 1\"\n#endif\n#define %1$s_SECTION "
            "(%1$s_FIRST_SECTION + %1$s_KERNEL)\n",
            r->upper);
    fputc('\n', r->file);
    free(device);
}

static void put_parameters(struct renderer *r, const json_t *section)
{
    const json_t *parameter;
    size_t i;
    json_array_foreach(json_object_get(section, "parameters"), i, parameter)
    {
        const char *name = json_get_string(parameter, "name", "?");
        const json_t *value = json_object_get(parameter, "value");
        char *macro = header_upper(name);
        if (header_macro_taken(macro)) collide(r, name);
        free(macro);
        if (json_is_string(value))
            define_text(r, name, json_string_value(value));
        else
            define(r, name, "%" PRId64, (int64_t)json_integer_value(value));
    }
}

static void put_stage_figures(struct renderer *r, const json_t *section)
{
    static const struct {
        const char *key, *macro;
    } figures[] = {{"registers", "registers"},
                   {"spills", "spill_bytes"},
                   {"shared_static", "shared_static_bytes"},
                   {"code_bytes", "code_bytes"}};
    const json_t *stage;
    size_t i;
    json_array_foreach(json_object_get(section, "stages"), i, stage)
    {
        bool only = header_stage_count(section) == 1;
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
    bool problems = json_array_size(json_object_get(section, "problems")) > 1, stages = header_stage_count(section) > 1;
    json_array_foreach(json_object_get(section, "counters"), i, counter)
    {
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
    define(r, "compute", "%d", header_compute(section));
    define_text(r, "date", date);
    define_text(r, "source_hash_text", json_get_string(section, "source_hash", ""));
    define(r, "source_hash", "%sULL", header_hash_number(json_get_string(section, "source_hash", ""), number));
    define(r, "decided_in_final", "%d", json_get_bool(section, "final", false));
    define(r, "final_rounds", "%" PRId64, json_get_integer(section, "rounds", 0));
    define(r, "verified_problems", "%zu", json_array_size(json_object_get(section, "verified")));
    if (json_is_number(json_object_get(section, "error")))
        define(r, "error", "%.3g", json_get_number(section, "error", 0));
    struct interval time = {json_get_number(section, "seconds", NAN), NAN, NAN};
    if (json_array_size(problems) == 1) time = header_interval(json_array_get(problems, 0), "time");
    define_interval(r, "seconds", time);
    json_array_foreach(json_object_get(section, "ratios"), i, ratio)
    {
        char *macro = text_format("ratio_%s", json_get_string(ratio, "name", "?"));
        define_interval(r, macro, header_interval(ratio, "ratio"));
        free(macro);
    }
    put_stage_figures(r, section);
    put_counters(r, section);
    free(date);
}

static void put_macros(struct renderer *r)
{
    const json_t *section;
    size_t i;
    fprintf(
        r->file,
        "/* SECONDS: median; over several problems the job's objective. RATIO_x: x's time over ours. LOW, HIGH: 95%% "
        "intervals. ERROR: the largest\n"
        " * error over what is allowed. A text parameter is a string here and its bare words under its own name. */\n");
    json_array_foreach(r->sections, i, section)
    {
        r->macros = json_object();
        fprintf(r->file, "#%s %s_SECTION == %zu\n", i ? "elif" : "if", r->upper, i);
        put_parameters(r, section);
        put_worth(r, section);
        json_decref(r->macros);
    }
    fprintf(r->file,
            "#endif\n\n"
            "#ifdef SWEETSPOT_SOURCE_HASH\n#if (SWEETSPOT_SOURCE_HASH) != %1$s_SOURCE_HASH\n"
            "#error \"the template has changed since %2$s was tuned: tune it again, or check with `sweetspot header "
            "JOB --check FILE`\"\n"
            "#endif\n#endif\n\n",
            r->upper, r->lower);
}

// The parameters under the template's own names. An unroll factor is the pragma itself, a text its bare words.
static void put_own_names(struct renderer *r)
{
    const json_t *section, *item;
    size_t i, k;
    FILE *f = r->file;
    fprintf(
        f,
        "#if defined(%1$s_DEFINE_PARAMETERS) && !defined(%1$s_PARAMETERS_DEFINED)\n#define %1$s_PARAMETERS_DEFINED\n",
        r->upper);
    json_array_foreach(r->sections, i, section)
    {
        fprintf(f, "#%s %s_SECTION == %zu\n", i ? "elif" : "if", r->upper, i);
        json_array_foreach(json_object_get(section, "parameters"), k, item)
        {
            const json_t *value = json_object_get(item, "value");
            int64_t number = json_integer_value(value);
            char pragma[JOB_UNROLL_PRAGMA_SIZE];
            fprintf(f, "#define %s", json_get_string(item, "name", "?"));
            if (json_is_string(value))
                fprintf(f, " %s\n", json_string_value(value));
            else if (!strcmp(json_get_string(item, "kind", ""), "unroll"))
                fprintf(f, "%s%s\n", number ? " " : "", job_unroll_pragma(number, pragma));
            else
                fprintf(f, " %" PRId64 "\n", number);
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
    struct renderer r = {.file = file,
                         .sections = sections,
                         .sizes = json_object_get(first, "sizes"),
                         .lower = header_identifier(job),
                         .upper = header_upper(job),
                         .prefixes = json_array(),
                         .err = err};
    put_opening(&r);
    put_selection(&r);
    put_macros(&r);
    header_functions(&r);
    fprintf(file, "#endif /* SWEETSPOT_%s_BEST_H */\n\n", r.upper);
    put_own_names(&r);
    json_decref(r.prefixes);
    free(r.lower);
    free(r.upper);
    return r.collided ? -1 : 0;
}
