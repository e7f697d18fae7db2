// The header's inline functions: the launch geometry of every stage in every section, and the measured times as a table
// with its selectors.
//
// They include nothing, allocate nothing, and are written for the strictest warnings of C99, C++11 and CUDA: no
// structure has the name of a function (C++ warns of that), no argument goes unused, and nothing is converted without a
// cast.
#include "tuner/base/base.h"
#include "tuner/base/embedded.h"
#include "tuner/header/header_parts.h"

static void put_unsigned(struct renderer *r, const char *member, const char *text)
{
    header_put(r, header_is_number(text) ? "        g.%s = %s;\n" : "        g.%s = (unsigned)(%s);\n", member, text);
}

static void put_case(struct renderer *r, const json_t *stage)
{
    const char *when = json_get_string(stage, "when", "1"), *overlap = json_get_string(stage, "overlap", "0");
    const json_t *library = json_object_get(stage, "library");
    if (library)
        header_put(r, "        /* no launch: a library call, %s by %s */\n", json_get_string(library, "operation", "?"),
                   json_get_string(library, "by", "?"));
    for (size_t k = 0; k < 9; k++) {
        const char *array = k < 3 ? "grid" : k < 6 ? "block" : "cluster";
        const json_t *text = json_array_get(json_object_get(stage, array), k % 3);
        char *member = text_format("%s[%zu]", array, k % 3);
        put_unsigned(r, member, json_is_string(text) ? json_string_value(text) : "1");
        free(member);
    }
    put_unsigned(r, "shared_bytes", json_get_string(stage, "shared", "0"));
    header_put(r, "        g.cooperative = %d;\n", json_get_bool(stage, "cooperative", false));
    header_put(r, header_is_number(overlap) ? "        g.overlap = %s;\n" : "        g.overlap = (%s) != 0;\n",
               overlap);
    header_put(r, header_is_number(when) ? "        g.used = %s%s;\n" : "        g.used = (%s) != 0%s;\n", when,
               r->repeated ? " && there" : "");
    header_put(r, "        break;\n");
}

// Whether there is a run of this number, and the loops' values in it. A stage without loops has one run.
static void put_runs(struct renderer *r, const char *name, const char *prefix)
{
    const json_t *section, *loop;
    const char *key;
    json_t *value;
    size_t i, k;
    header_put(r,
               "/* This stage runs again and again: the functions below are of one of its runs, from 0 on. It is the "
               "last where\n * geometry(sizes, run + 1).used is 0. */\n"
               "NAME_FUNCTION int %srun_on(int section name_declared_sizes",
               prefix);
    json_object_foreach((json_t *)r->loops, key, value) header_put(r, ", long long *at_%s", key);
    header_put(r, ")\n{\n");
    json_object_foreach((json_t *)r->loops, key, value) header_put(r, "    long long loop_%s = 0;\n", key);
    header_put(r, "name_unused_sizes");
    json_object_foreach((json_t *)r->loops, key, value) header_put(r, "    *at_%s = loop_%s;\n", key, key);
    header_put(r, "    switch (section) {\n");
    json_array_foreach(r->sections, i, section)
    {
        const json_t *stage = header_find_stage(section, name), *loops = json_object_get(stage, "repeat");
        if (!stage) continue;
        header_put(r, loops ? "    case %zu:\n" : "    case %zu:\n        return run == 0;\n", i);
        if (!loops) continue;
        json_array_foreach(loops, k, loop)
        {
            const char *variable = json_get_string(loop, "name", "?");
            header_put(r, "        for (loop_%s = %s; %s; loop_%s = %s)\n", variable,
                       json_get_string(loop, "from", "0"), json_get_string(loop, "while", "0"), variable,
                       json_get_string(loop, "next", "0"));
        }
        header_put(r, "        {\n            if (run-- > 0) continue;\n");
        json_array_foreach(loops, k, loop)
        {
            const char *variable = json_get_string(loop, "name", "?");
            header_put(r, "            *at_%s = loop_%s;\n", variable, variable);
        }
        header_put(r, "            return 1;\n        }\n        return 0;\n");
    }
    header_put(r, "    default: return 0;\n    }\n}\n");
}

// The geometry of one stage in all sections, and shorter functions for the chosen section.
static void put_stage(struct renderer *r, const char *stage, const char *prefix)
{
    static const char type[] = "struct name_launch_shape";
    const json_t *section;
    size_t i;
    json_t *loops = header_loops(r->sections, stage);
    char *name = text_format("%sgeometry", prefix);
    if (loops) {
        r->repeated = prefix;
        r->loops = loops;
        put_runs(r, stage, prefix);
    }
    header_begin(r, type, name, "    struct name_launch_shape g;\n", "");
    json_array_foreach(r->sections, i, section)
    {
        const json_t *own = header_find_stage(section, stage);
        if (!own) continue;
        header_put(r, "    case %zu: /* ", i);
        header_put_comment(r->file, json_get_string(section, "device", "?"));
        header_put(r, " */\n");
        put_case(r, own);
    }
    header_end(r, type, name,
               "\n"
               "        g.grid[0] = 0;\n        g.grid[1] = 0;\n        g.grid[2] = 0;\n"
               "        g.block[0] = 0;\n        g.block[1] = 0;\n        g.block[2] = 0;\n"
               "        g.cluster[0] = 0;\n        g.cluster[1] = 0;\n        g.cluster[2] = 0;\n"
               "        g.shared_bytes = 0;\n        g.cooperative = 0;\n        g.overlap = 0;\n"
               "        g.used = 0;\n        break;\n    }\n    return g;\n");
    for (i = 0; i < 10; i++) {
        const char *array = i < 3 ? "grid" : i < 6 ? "block" : i < 9 ? "cluster" : "shared";
        char *word = i < 9 ? text_format("%s_%c", array, "xyz"[i % 3]) : text_copy("shared_bytes"),
             *member = i < 9 ? text_format("%s[%zu]", array, i % 3) : text_copy("shared_bytes");
        header_put(r, "NAME_FUNCTION unsigned %s%s(name_parameters) { return %s(name_sizes).%s; }\n", prefix, word,
                   name, member);
        free(word);
        free(member);
    }
    header_scalars(r, stage, prefix);
    header_tensor_maps(r, stage, prefix);
    r->repeated = NULL;
    r->loops = NULL;
    json_decref(loops);
    free(name);
    header_put(r, "\n");
}

// Every stage that any section has, once.
static void put_geometry(struct renderer *r)
{
    const json_t *section, *stage;
    size_t i, k;
    bool several = false;
    json_array_foreach(r->sections, i, section) several |= header_stage_count(section) > 1;
    json_array_foreach(r->sections, i, section) json_array_foreach(json_object_get(section, "stages"), k, stage)
    {
        const char *name = json_get_string(stage, "name", "?");
        if (json_object_get(r->prefixes, name)) continue;
        char *identifier = header_identifier(name);
        bool plain = !several && !json_object_size(r->prefixes); // another section's only stage may have another name
        char *prefix = plain ? text_format("%s_", r->lower) : text_format("%s_%s_", r->lower, identifier);
        json_object_set_new(r->prefixes, name, json_string(prefix));
        put_stage(r, name, prefix);
        free(prefix);
        free(identifier);
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
            header_put(r, "        {%s, %d, %zu, %s, {", device, header_compute(section), i, name);
            json_array_foreach(json_object_get(problem, "sizes"), d, size)
                header_put(r, "%s%" PRId64, d ? ", " : "", (int64_t)json_integer_value(size));
            header_put(r, "%s}, %.9g, %.9g, %.9g},\n", json_array_size(r->sizes) ? "" : "0", known(time.value),
                       known(time.low), known(time.high));
            free(name);
        }
        free(device);
    }
}

void header_results(struct renderer *r)
{
    size_t sizes = json_array_size(r->sizes);
    header_put(r,
               "#ifndef __CUDACC_RTC__ /* on the host only */\n"
               "/* The measured times: one row per device and problem. size: in the order of the functions' arguments; "
               "seconds: median and its 95%%\n"
               " * interval, 0 where unknown. */\n"
               "struct name_result { const char *device; int compute, section; const char *problem; long long "
               "size[%zu]; double seconds, low, high; };\n\n"
               "static inline const struct name_result *name_results(int *count)\n{\n"
               "    static const struct name_result results[] = {\n",
               sizes ? sizes : 1);
    put_result_rows(r);
    header_put(r, "    };\n    *count = (int)(sizeof results / sizeof results[0]);\n    return results;\n}\n\n");
    header_put_template(r, embedded_header_results());
    header_put(r, "#endif\n\n");
    if (header_several_kernels(r->sections)) header_select(r);
}

void header_functions(struct renderer *r)
{
    header_put_template(r, embedded_header_function());
    header_put_template(r, embedded_fn_arithmetic());
    header_put_template(r, embedded_header_shape());
    header_tensor_map_type(r);
    put_geometry(r);
    header_limits(r);
    header_launch(r);
}
