// The text of the header (header.h), made only from its sections, so that a section read back from an older header
// is written unchanged. Its functions are in header_functions.c.
//
// Order: how to use it (a comment), the choice of the device, parameters and what a build needs, launch geometry and
// launching as inline functions; then the evidence. Last, outside the include guard, the parameters under the
// template's own names, and the sections for machines in a comment: no code of ours follows that a parameter
// called `N` or `grid` could break. Function arguments are called size_M for the same reason.
#include "tuner/header/header_render.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/text.h"
#include "tuner/header/header_bindings.h"
#include "tuner/header/header_functions.h"
#include "tuner/header/header_launch.h"
#include "tuner/header/header_provenance.h"
#include "tuner/header/header_section.h"
#include "tuner/header/header_source.h"

static char *device_macro(const json_t *section)
{
    return header_upper(json_get_string(section, "device", "unknown"));
}

// The section as JSON with exact numbers (the selector compares them). Nothing inside can end or open the comment: a
// star beside a slash is escaped.
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

static void comment_fallback(struct renderer *r, const json_t *section)
{
    FILE *f = r->file;
    fputs(" * any other device: ", f);
    header_put_comment(f, json_get_string(section, "configuration", ""));
    fputs("\n *   the job's fallback, not tuned; verified on ", f);
    header_put_comment(f, json_get_string(section, "verified_on", "?"));
    fprintf(f, ", at most %d bytes of shared memory (%s_DEVICE=FALLBACK)\n", JOB_FALLBACK_SHARED, r->upper);
}

static void comment_devices(struct renderer *r)
{
    const json_t *section;
    size_t i;
    FILE *f = r->file;
    json_array_foreach(r->sections, i, section)
    {
        int64_t kernels = json_get_integer(section, "kernels", 0);
        if (header_is_fallback(section)) {
            comment_fallback(r, section);
            continue;
        }
        fputs(" * ", f);
        header_put_comment(f, json_get_string(section, "device", "?"));
        fputs(" (", f);
        header_put_comment(f, json_get_string(section, "arch", "?"));
        if (kernels) fprintf(f, "), kernel %" PRId64 " of %" PRId64, json_get_integer(section, "kernel", 0), kernels);
        fputs(kernels ? ": " : "): ", f);
        header_put_comment(f, json_get_string(section, "configuration", ""));
        fputs("\n", f);
        if (!json_get_bool(section, "final", false))
            fputs(" *   NOT decided in a final: the best of the search so far, which may be there by luck\n", f);
        header_advise(r, section);
    }
    const char *none = json_get_string(json_array_get(r->sections, 0), "no_fallback", "");
    if (!*none) return;
    fputs(" * any other device: NONE, the job's fallback is left out: ", f);
    header_put_comment(f, none);
    fputs("\n", f);
}

// Enough for a program that launches the binary.
static void comment_launching(struct renderer *r)
{
    const json_t *buffer;
    size_t i;
    FILE *f = r->file;
    if (!header_embeds(r->sections)) {
        fputs(
            " * `sweetspot header JOB --embed` writes a header with the measured binary and functions that launch it. "
            "Without it, compile the template:\n *\n",
            f);
        return;
    }
    fprintf(f,
            " * To launch the binary that was measured, compile %1$s_best_binary.c with your program, and\n *\n"
            " *     #define %2$s_DRIVER_API                  or %2$s_RUNTIME_API\n"
            " *     #include \"%1$s_best.h\"\n *\n"
            " *     struct %1$s_kernels kernels;           for the current device\n"
            " *     status = %1$s_load(&kernels);\n"
            " *     status = %1$s_launch(&kernels, stream",
            r->lower, r->upper);
    json_array_foreach(r->sizes, i, buffer) fprintf(f, ", %s", json_string_value(buffer));
    json_array_foreach(json_object_get(json_array_get(r->sections, 0), "buffers"), i, buffer)
    {
        fputs(", ", f);
        header_put_comment(f, json_get_string(buffer, "name", "?"));
    }
    json_array_foreach(header_objects(r), i, buffer)
    {
        char *name = header_object_name(buffer);
        fprintf(f, ", %s", name);
        free(name);
    }
    fprintf(
        f,
        ");\n *     %1$s_unload(&kernels);\n *\n"
        " * Scalars have the values below, with which the kernel was verified. A status other than %2$s_OK says what "
        "is wrong (%1$s_status_text).\n *\n * Or compile the template:\n *\n",
        r->lower, r->upper);
}

static void put_opening(struct renderer *r)
{
    const json_t *first = json_array_get(r->sections, 0);
    bool stages = header_stage_count(first) > 1;
    FILE *f = r->file;
    fputs("/* ", f);
    header_put_comment(f, json_get_string(first, "job", "?"));
    fprintf(f, ": the fastest configuration that sweetspot found%s. Written by sweetspot; do not edit.\n *\n",
            header_devices(r->sections) > 1 ? " for each of these devices" : "");
    comment_devices(r);
    fputs(" *\n", f);
    comment_launching(r);
    fprintf(f,
            " *     #define %1$s_DEFINE_PARAMETERS           the parameters under the template's own names too\n"
            " *     #include \"%2$s_best.h\"\n *     #include \"",
            r->upper, r->lower);
    header_put_comment(f, json_get_string(first, "template", "?"));
    fprintf(f,
            "\"\n *     #define %1$s_UNDEFINE_PARAMETERS         undefines them, so that another job can follow\n"
            " *     #include \"%2$s_best.h\"\n *\n"
            " * with the options %1$s_OPTIONS_NVCC or %1$s_OPTIONS_NVRTC%3$s, and launch %1$s_%4$sENTRY with "
            "%2$s_%5$sgeometry(sizes).\n"
            " * A compiled template may differ from the measured kernel in registers and code.\n *\n",
            r->upper, r->lower, json_get_integer(first, "includes", 0) ? ", the job's include folders" : "",
            stages ? "<STAGE>_" : "", stages ? "<stage>_" : "");
    header_comment_arguments(r, first);
    header_comment_bindings(r, first);
    fprintf(f,
            " *\n * %2$s_supported(sizes) says whether a problem is within the verified sizes; addresses must be "
            "multiples of "
            "%1$s_ALIGNMENT.\n"
            " * Define %1$s_DEVICE as one of the devices (-D%1$s_DEVICE=",
            r->upper, r->lower);
    char *device = device_macro(first);
    fprintf(f, "%s); the default is the first.\n", device);
    free(device);
    if (header_several_kernels(r->sections))
        fprintf(
            f,
            " * There are several kernels, each for some problems. Define %1$s_KERNEL as 0, 1 ... %1$s_KERNELS - 1 "
            "and include the template once for\n"
            " * each, in a separate file, with its entry renamed; %2$s_select(sizes) says which of them to launch (-1: "
            "none), and\n * ..._geometry_on(%1$s_FIRST_SECTION + kernel, sizes) how.\n",
            r->upper, r->lower);
    fprintf(f,
            " * The build stops when the template has changed since, if the build passes the template's hash:\n"
            " *   -DSWEETSPOT_SOURCE_HASH=$(sweetspot header JOB --hash)\n"
            " */\n#ifndef SWEETSPOT_%1$s_BEST_H\n#define SWEETSPOT_%1$s_BEST_H\n\n",
            r->upper);
}

// NAME_SECTION: of the device that NAME_DEVICE names, or where a device has several kernels, that of NAME_KERNEL. The
// preprocessor compares only numbers, so each device's name has one. Any other name gives 0 without being an
// undefined macro in an #if, of which compilers warn.
static void put_selection(struct renderer *r)
{
    const json_t *section;
    size_t i, number = 0;
    bool several = header_several_kernels(r->sections);
    const char *macro = several ? "FIRST_SECTION" : "SECTION";
    FILE *f = r->file;
    char *names = text_copy(""), *device = device_macro(json_array_get(r->sections, 0));
    fprintf(f,
            "#ifndef %1$s_DEVICE\n#define %1$s_DEVICE %2$s\n#endif\n"
            "#define %1$s_CHOICE_3(name, number, ...) number\n#define %1$s_CHOICE_2(name) %1$s_CHOICE_3(name, 0, 0)\n"
            "#define %1$s_CHOICE_1(device) %1$s_CHOICE_2(%1$s_DEVICE_##device)\n"
            "#define %1$s_CHOICE(device) %1$s_CHOICE_1(device)\n",
            r->upper, device);
    free(device);
    json_array_foreach(r->sections, i, section)
    {
        if (header_first_of_device(r->sections, i) != i) continue;
        device = device_macro(section);
        char *longer = text_format("%s%s%s", names, number ? ", " : "", device);
        fprintf(f, "#define %s_DEVICE_%s 0, %zu\n", r->upper, device, ++number);
        free(names);
        free(device);
        names = longer;
    }
    number = 0;
    json_array_foreach(r->sections, i, section)
    {
        if (header_first_of_device(r->sections, i) != i || header_is_fallback(section)) continue;
        fprintf(f, "#%1$s %2$s_CHOICE(%2$s_DEVICE) == %3$zu\n#define %2$s_%4$s %5$zu\n", number ? "elif" : "if",
                r->upper, number + 1, macro, i);
        number++;
        if (several) fprintf(f, "#define %s_KERNELS %" PRId64 "\n", r->upper, json_get_integer(section, "kernels", 1));
    }
    if (header_fallback_of(r->sections) < 0)
        fprintf(f, "#else\n#error \"%s_DEVICE must be one of: %s\"\n#endif\n", r->upper, names);
    else
        fprintf(f, "#else /* a device without tuning results */\n#define %1$s_%2$s %3$d\n%4$s%5$s%6$s#endif\n",
                r->upper, macro, header_fallback_of(r->sections), several ? "#define " : "", several ? r->upper : "",
                several ? "_KERNELS 1\n" : "");
    free(names);
    if (several)
        fprintf(
            f,
            "#ifndef %1$s_KERNEL\n#define %1$s_KERNEL 0\n#endif\n#if %1$s_KERNEL < 0 || %1$s_KERNEL >= %1$s_KERNELS\n"
            "#error \"%1$s_KERNEL must be from 0 to %1$s_KERNELS - 1\"\n#endif\n#define %1$s_SECTION "
            "(%1$s_FIRST_SECTION + %1$s_KERNEL)\n",
            r->upper);
    fputc('\n', f);
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
        // The job's reader refuses such names, but not that of an older header to merge with.
        if (header_macro_taken(macro)) json_object_set_new(r->macros, macro, json_true());
        free(macro);
        if (json_is_string(value))
            header_define_text(r, name, json_string_value(value));
        else
            header_define(r, name, "%" PRId64, (int64_t)json_integer_value(value));
    }
}

static void forget_macros(struct renderer *r)
{
    r->macros = json_object();
    json_array_append_new(r->all_macros, r->macros);
}

static void put_macros(struct renderer *r)
{
    const json_t *section;
    size_t i;
    char number[32];
    fputs("/* A text parameter is a string here, and bare words under its own name. */\n", r->file);
    json_array_foreach(r->sections, i, section)
    {
        const char *hash = json_get_string(section, "source_hash", "");
        forget_macros(r);
        fprintf(r->file, "#%s %s_SECTION == %zu\n", i ? "elif" : "if", r->upper, i);
        put_parameters(r, section);
        header_define_text(r, "device_name", json_get_string(section, "device", ""));
        header_define_text(r, "arch", json_get_string(section, "arch", ""));
        header_define(r, "compute", "%d", header_compute(section));
        header_define(r, "fallback", "%d", header_is_fallback(section));
        header_define_text(r, "configuration", json_get_string(section, "configuration", ""));
        header_source_macros(r, section);
        header_define_text(r, "source_hash_text", hash);
        header_define(r, "source_hash", "%sULL", header_hash_number(hash, number));
    }
    fprintf(r->file,
            "#endif\n\n"
            "#ifdef SWEETSPOT_SOURCE_HASH\n#if (SWEETSPOT_SOURCE_HASH) != %1$s_SOURCE_HASH\n"
            "#error \"the template has changed since %2$s was tuned: tune it again, or check with `sweetspot header "
            "JOB --check FILE`\"\n"
            "#endif\n#endif\n\n",
            r->upper, r->lower);
}

// A parameter that is an option of the compiler, and no macro of the template.
static bool is_option(const json_t *parameter)
{
    return !strcmp(json_get_string(parameter, "kind", ""), "option");
}

static bool is_parameter(const json_t *section, const char *name)
{
    const json_t *item;
    bool found = false;
    size_t i;
    json_array_foreach(json_object_get(section, "parameters"), i, item) found |=
        !strcmp(json_get_string(item, "name", ""), name);
    return found;
}

// Those of the stage that the user builds for: NAME_STAGE_<STAGE>.
static void put_stage_macros(struct renderer *r, const json_t *section)
{
    const json_t *stage, *item;
    size_t i, k;
    json_array_foreach(json_object_get(section, "stages"), i, stage)
    {
        const json_t *defines = json_object_get(stage, "defines");
        char *name = header_upper(json_get_string(stage, "name", "?"));
        if (defines) fprintf(r->file, "#ifdef %s_STAGE_%s\n", r->upper, name);
        json_array_foreach(defines, k, item)
        {
            const char *macro = json_get_string(item, "name", "?");
            if (is_parameter(section, macro)) fprintf(r->file, "#undef %s\n", macro);
            fprintf(r->file, "#define %s %s\n", macro, json_get_string(item, "value", ""));
        }
        if (defines) fputs("#endif\n", r->file);
        free(name);
    }
}

// The parameters under the template's own names. An unroll factor is its pragma, a text its bare words.
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
            if (is_option(item)) continue;
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
        put_stage_macros(r, section);
    }
    fputs("#endif\n#endif\n", f);
}

static void put_undefine(struct renderer *r)
{
    const json_t *section, *item;
    size_t i, k;
    fprintf(
        r->file,
        "#if defined(%1$s_UNDEFINE_PARAMETERS) && defined(%1$s_PARAMETERS_DEFINED)\n#undef %1$s_UNDEFINE_PARAMETERS\n"
        "#undef %1$s_DEFINE_PARAMETERS\n#undef %1$s_PARAMETERS_DEFINED\n",
        r->upper);
    json_t *seen = json_object();
    json_array_foreach(r->sections, i, section)
    {
        const json_t *stage;
        size_t s;
        json_array_foreach(json_object_get(section, "stages"), s, stage)
            json_array_foreach(json_object_get(stage, "defines"), k, item)
        {
            const char *name = json_get_string(item, "name", "?");
            if (!json_object_get(seen, name)) fprintf(r->file, "#undef %s\n", name);
            json_object_set_new(seen, name, json_true());
        }
        static const char *const lists[] = {"parameters", "defines"};
        for (size_t n = 0; n < 2; n++) json_array_foreach(json_object_get(section, lists[n]), k, item)
            {
                const char *name = json_get_string(item, "name", "?");
                if (!is_option(item) && !json_object_get(seen, name)) fprintf(r->file, "#undef %s\n", name);
                json_object_set_new(seen, name, json_true());
            }
    }
    json_decref(seen);
    fputs("#endif\n", r->file);
}

int header_render(FILE *file, const json_t *sections, struct error *err)
{
    const json_t *first = json_array_get(sections, 0), *section;
    const char *job = json_get_string(first, "job", "kernel");
    size_t i;
    struct renderer r = {.file = file,
                         .sections = sections,
                         .sizes = json_object_get(first, "sizes"),
                         .lower = header_identifier(job),
                         .upper = header_upper(job),
                         .fallback = header_fallback_of(sections),
                         .prefixes = json_object(),
                         .all_macros = json_array(),
                         .err = err};
    put_opening(&r);
    put_selection(&r);
    put_macros(&r);
    header_functions(&r);
    header_provenance(&r);
    header_results(&r);
    fprintf(file, "#endif /* SWEETSPOT_%s_BEST_H */\n\n", r.upper);
    put_own_names(&r);
    put_undefine(&r);
    header_architecture(&r);
    fputc('\n', file);
    json_array_foreach(sections, i, section) put_section(file, section);
    json_decref(r.prefixes);
    json_decref(r.all_macros);
    free(r.lower);
    free(r.upper);
    return r.collided ? -1 : 0;
}
