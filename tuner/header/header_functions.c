// The header's inline functions: the launch geometry of every stage in every section, and the measured times as a table
// with its selectors.
//
// They include nothing, allocate nothing, and are written for the strictest warnings of C99, C++11 and CUDA: no
// structure has the name of a function (C++ warns of that), no argument goes unused, and nothing is converted without a
// cast.
#include "tuner/header/header_functions.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/embedded.h"
#include "tuner/base/text.h"
#include "tuner/header/header_arguments.h"
#include "tuner/header/header_launch.h"
#include "tuner/header/header_maps.h"
#include "tuner/header/header_section.h"
#include "tuner/header/header_select.h"

static void put_helpers(struct renderer *r)
{
    header_put_template(r, embedded_header_function());
    header_put_shared(r, embedded_fn_arithmetic());
    header_put_template(r, embedded_header_shape());
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
    const char *when = json_get_string(stage, "when", "1"), *overlap = json_get_string(stage, "overlap", "0");
    const json_t *library = json_object_get(stage, "library");
    if (library)
        fprintf(r->file, "        /* no launch: a library call, %s by %s */\n",
                json_get_string(library, "operation", "?"), json_get_string(library, "by", "?"));
    for (size_t k = 0; k < 3; k++)
        for (size_t d = 0; d < 3; d++) {
            const json_t *text = json_array_get(json_object_get(stage, arrays[k]), d);
            fprintf(r->file, "        g.%s[%zu] = ", arrays[k], d);
            put_unsigned(r->file, json_is_string(text) ? json_string_value(text) : "1");
        }
    fputs("        g.shared_bytes = ", r->file);
    put_unsigned(r->file, json_get_string(stage, "shared", "0"));
    fprintf(r->file, "        g.cooperative = %d;\n", json_get_bool(stage, "cooperative", false));
    fprintf(r->file, is_number(overlap) ? "        g.overlap = %s;\n" : "        g.overlap = (%s) != 0;\n", overlap);
    fprintf(r->file,
            is_number(when) ? "        g.used = %s%s;\n        break;\n"
                            : "        g.used = (%s) != 0%s;\n        break;\n",
            when, r->repeated ? " && there" : "");
}

// Whether there is a run of this number, and the loops' values in it. A stage without loops has one run.
static void put_runs(struct renderer *r, const char *name, const char *prefix)
{
    const json_t *section, *loop, *size;
    const char *key;
    json_t *value;
    size_t i, k;
    FILE *f = r->file;
    fputs("/* This stage runs again and again: the functions below are of one of its runs, from 0 on. It is the last "
          "where\n * geometry(sizes, run + 1).used is 0. */\n",
          f);
    fprintf(f, "%s_FUNCTION int %srun_on(", r->upper, prefix);
    header_put_arguments(r, "int section");
    json_object_foreach((json_t *)r->loops, key, value) fprintf(f, ", long long *at_%s", key);
    fputs(")\n{\n", f);
    json_object_foreach((json_t *)r->loops, key, value) fprintf(f, "    long long loop_%s = 0;\n", key);
    json_array_foreach(r->sizes, i, size) fprintf(f, "    (void)size_%s;\n", json_string_value(size));
    json_object_foreach((json_t *)r->loops, key, value) fprintf(f, "    *at_%1$s = loop_%1$s;\n", key);
    fputs("    switch (section) {\n", f);
    json_array_foreach(r->sections, i, section)
    {
        const json_t *stage = header_find_stage(section, name), *loops = json_object_get(stage, "repeat");
        if (!stage) continue;
        fprintf(f, "    case %zu:\n", i);
        if (!loops) fputs("        return run == 0;\n", f);
        if (!loops) continue;
        json_array_foreach(loops, k, loop)
        {
            const char *variable = json_get_string(loop, "name", "?");
            fprintf(f, "        for (loop_%1$s = %2$s; %3$s; loop_%1$s = %4$s)\n", variable,
                    json_get_string(loop, "from", "0"), json_get_string(loop, "while", "0"),
                    json_get_string(loop, "next", "0"));
        }
        fputs("        {\n            if (run-- > 0) continue;\n", f);
        json_array_foreach(loops, k, loop)
            fprintf(f, "            *at_%1$s = loop_%1$s;\n", json_get_string(loop, "name", "?"));
        fputs("            return 1;\n        }\n        return 0;\n", f);
    }
    fputs("    default: return 0;\n    }\n}\n", f);
}

// The geometry of one stage in all sections, and shorter functions for the chosen section.
static void put_stage(struct renderer *r, const char *name, const char *prefix)
{
    static const struct {
        const char *name, *member;
    } parts[] = {{"grid_x", "grid[0]"},           {"grid_y", "grid[1]"},       {"grid_z", "grid[2]"},
                 {"block_x", "block[0]"},         {"block_y", "block[1]"},     {"block_z", "block[2]"},
                 {"cluster_x", "cluster[0]"},     {"cluster_y", "cluster[1]"}, {"cluster_z", "cluster[2]"},
                 {"shared_bytes", "shared_bytes"}};
    const json_t *section, *size;
    size_t i;
    FILE *f = r->file;
    json_t *loops = header_loops(r->sections, name);
    if (loops) {
        r->repeated = prefix;
        r->loops = loops;
        put_runs(r, name, prefix);
    }
    fprintf(f, "%s_FUNCTION struct %s_launch_shape %sgeometry_on(", r->upper, r->lower, prefix);
    header_put_arguments(r, "int section");
    fprintf(f, ")\n{\n    struct %s_launch_shape g;\n", r->lower);
    header_put_loops(r);
    json_array_foreach(r->sizes, i, size) fprintf(f, "    (void)size_%s;\n", json_string_value(size));
    fputs("    switch (section) {\n", f);
    json_array_foreach(r->sections, i, section)
    {
        const json_t *stage = header_find_stage(section, name);
        if (!stage) continue;
        fprintf(f, "    case %zu: /* ", i);
        header_put_comment(f, json_get_string(section, "device", "?"));
        fputs(" */\n", f);
        put_case(r, stage);
    }
    fputs("    default:\n", f);
    for (int k = 0; k < 9; k++)
        fprintf(f, "        g.%s[%d] = 0;\n", k < 3 ? "grid" : k < 6 ? "block" : "cluster", k % 3);
    fputs("        g.shared_bytes = 0;\n        g.cooperative = 0;\n        g.overlap = 0;\n        g.used = 0;\n      "
          "  break;\n    }\n    return g;\n}\n",
          f);
    fprintf(f, "%s_FUNCTION struct %s_launch_shape %sgeometry(", r->upper, r->lower, prefix);
    header_put_arguments(r, "");
    fprintf(f, ") { return %sgeometry_on(%s_SECTION", prefix, r->upper);
    header_put_sizes(r, ", ");
    fputs("); }\n", f);
    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
        fprintf(f, "%s_FUNCTION unsigned %s%s(", r->upper, prefix, parts[i].name);
        header_put_arguments(r, "");
        fprintf(f, ") { return %sgeometry(", prefix);
        header_put_sizes(r, "");
        fprintf(f, ").%s; }\n", parts[i].member);
    }
    header_scalars(r, name, prefix);
    header_tensor_maps(r, name, prefix);
    r->repeated = NULL;
    r->loops = NULL;
    json_decref(loops);
    fputc('\n', f);
}

// Every stage that any section has, once.
static void put_geometry(struct renderer *r)
{
    const json_t *section, *stage;
    size_t i, k;
    bool several = false;
    json_array_foreach(r->sections, i, section) several |= header_stage_count(section) > 1;
    json_array_foreach(r->sections, i, section)
    {
        json_array_foreach(json_object_get(section, "stages"), k, stage)
        {
            const char *name = json_get_string(stage, "name", "?");
            if (json_object_get(r->prefixes, name)) continue;
            char *identifier = header_identifier(name);
            bool plain =
                !several && !json_object_size(r->prefixes); // another section's only stage may have another name
            char *prefix = plain ? text_format("%s_", r->lower) : text_format("%s_%s_", r->lower, identifier);
            json_object_set_new(r->prefixes, name, json_string(prefix));
            put_stage(r, name, prefix);
            free(prefix);
            free(identifier);
        }
    }
}

static double known(double value)
{
    return isfinite(value) ? value : 0;
}

static void put_result_rows(struct renderer *r)
{
    const json_t *section, *problem, *size;
    size_t i, k, d;
    json_array_foreach(r->sections, i, section)
    {
        if (header_is_fallback(section)) continue;
        char *device = header_literal(json_get_string(section, "device", ""));
        json_array_foreach(json_object_get(section, "problems"), k, problem)
        {
            char *name = header_literal(json_get_string(problem, "name", ""));
            struct interval time = json_get_interval(problem, "time");
            fprintf(r->file, "        {%s, %d, %zu, %s, {", device, header_compute(section), i, name);
            json_array_foreach(json_object_get(problem, "sizes"), d, size)
                fprintf(r->file, "%s%" PRId64, d ? ", " : "", (int64_t)json_integer_value(size));
            if (!json_array_size(r->sizes)) fputc('0', r->file);
            fprintf(r->file, "}, %.9g, %.9g, %.9g},\n", known(time.value), known(time.low), known(time.high));
            free(name);
        }
        free(device);
    }
}

static void put_results(struct renderer *r)
{
    size_t sizes = json_array_size(r->sizes);
    fprintf(r->file,
            "#ifndef __CUDACC_RTC__ /* on the host only */\n"
            "/* The measured times: one row per device and problem. size: in the order of the functions' arguments; "
            "seconds: median and its 95%%\n"
            " * interval, 0 where unknown. */\n"
            "struct %1$s_result { const char *device; int compute, section; const char *problem; long long "
            "size[%2$zu]; double seconds, low, high; };\n\n"
            "static inline const struct %1$s_result *%1$s_results(int *count)\n{\n    static const struct %1$s_result "
            "results[] = {\n",
            r->lower, sizes ? sizes : 1);
    put_result_rows(r);
    fputs("    };\n    *count = (int)(sizeof results / sizeof results[0]);\n    return results;\n}\n\n", r->file);
    header_put_template(r, embedded_header_results());
    fputs("#endif\n\n", r->file);
}

void header_functions(struct renderer *r)
{
    put_helpers(r);
    header_tensor_map_type(r);
    put_geometry(r);
    header_limits(r);
    header_launch(r);
}

void header_results(struct renderer *r)
{
    put_results(r);
    if (header_several_kernels(r->sections)) header_select(r);
}
