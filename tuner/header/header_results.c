// The header's measured times, and the selector for jobs that end with several kernels: the time of every kernel on
// every problem, the kernel's relative time for any sizes, and the choice.
//
// As in header_functions.c, this code includes nothing, allocates nothing, and compiles without warnings at the
// strictest level.
#include "tuner/base/embedded.h"
#include "tuner/header/header_parts.h"

static void put_relative_time(struct renderer *r)
{
    header_put(r, "/* The section's relative time on these sizes. */\n"
                  "static inline double name_relative_time(int section name_declared_sizes)\n{\n"
                  "    double work = 1, blocks = 0, at_once = 1;\n    switch (section) {\n");
    json_array_each(r->sections, i, section) {
        const char *prefix = json_get_string(r->prefixes, json_get_string(section, "stage", ""), NULL);
        header_put(r, "    case %zu: {\n        work = (double)(%s);\n", i, json_get_string(section, "work", "1"));
        if (prefix)
            header_put(r,
                       "        const struct name_launch_shape g = %sgeometry_on(section name_given_sizes);\n"
                       "        if (g.used) blocks = (double)g.grid[0] * (double)g.grid[1] * (double)g.grid[2];\n"
                       "        at_once = %" PRId64 ";\n",
                       prefix, json_get_integer(section, "at_once", 1));
        header_put(r, "        break;\n    }\n");
    }
    header_put(r, "    default: break;\n    }\n    return name_fn_relative_time(work, blocks, at_once);\n}\n\n");
}

// Writes the numbers of an array, which must have at least one element.
static void put_sizes(struct renderer *r, const json_t *sizes)
{
    json_array_each(sizes, i, size) header_put(r, "%s%" PRId64, i ? ", " : "", (int64_t)json_integer_value(size));
    if (!json_array_size(r->sizes)) header_put(r, "0");
}

static void put_times(struct renderer *r)
{
    size_t sizes = json_array_size(r->sizes), rows = 0;
    header_put(r,
               "/* Every kernel's median time on every problem that was not held back. */\n"
               "struct name_time { int section; long long size[%zu]; double seconds; };\n"
               "static inline const struct name_time *name_times(int *count)\n{\n"
               "    static const struct name_time times[] = {\n",
               sizes ? sizes : 1);
    json_array_each(r->sections, i, section)
        json_array_each(json_object_get(section, "times"), k, one) {
            header_put(r, "        {%zu, {", i);
            put_sizes(r, json_object_get(one, "sizes"));
            header_put(r, "}, %s},\n", text_show_number(json_get_number(one, "time", 0), TEXT_ROOM));
            rows++;
        }
    if (!rows) header_put(r, "        {-1, {0}, 0},\n");
    header_put(r, "    };\n    *count = (int)(sizeof times / sizeof times[0]);\n    return times;\n}\n\n");
}

static void put_selector(struct renderer *r)
{
    bool any = false;
    header_put(r, "#ifndef __CUDACC_RTC__\n");
    header_put_template(r, embedded_fn_selector());
    header_put(r, "/* Whether a section's kernel supports a problem: it has a stage for it. */\n"
                  "static inline int name_can_on(int section name_declared_sizes)\n{\n    return ");
    json_object_each(r->prefixes, stage, prefix) {
        header_put(r, "%s%sgeometry_on(section name_given_sizes).used", any ? " || " : "", json_string_value(prefix));
        any = true;
    }
    header_put(r, ";\n}\n\n");
    put_relative_time(r);
    put_times(r);
    header_put_template(r, embedded_header_select());
    header_put(r, "static inline int name_select(name_parameters) { return name_select_on(NAME_FIRST_SECTION, "
                  "NAME_KERNELS name_given_sizes); }\n#endif\n\n");
}

static double known(double value)
{
    return isfinite(value) ? value : 0;
}

static void put_result_rows(struct renderer *r)
{
    json_array_each(r->sections, i, section) {
        if (header_is_fallback(section)) continue;
        autofree char *device = header_literal(json_get_string(section, "device", ""));
        json_array_each(json_object_get(section, "problems"), k, problem) {
            autofree char *name = header_literal(json_get_string(problem, "name", ""));
            struct interval time = json_get_interval(problem, "time");
            header_put(r, "        {%s, %d, %zu, %s, {", device, header_compute(section), i, name);
            put_sizes(r, json_object_get(problem, "sizes"));
            header_put(r, "}, %.9g, %.9g, %.9g},\n", known(time.value), known(time.low), known(time.high));
        }
    }
}

void header_results(struct renderer *r)
{
    size_t sizes = json_array_size(r->sizes);
    header_put(r,
               "#ifndef __CUDACC_RTC__ /* on the host only */\n"
               "/* The measured times of each device and problem. size: in the order of the arguments; seconds, low, "
               "high: median and 95%% interval, or 0. */\n"
               "struct name_result { const char *device; int compute, section; const char *problem; long long "
               "size[%zu]; double seconds, low, high; };\n\n"
               "static inline const struct name_result *name_results(int *count)\n{\n"
               "    static const struct name_result results[] = {\n",
               sizes ? sizes : 1);
    put_result_rows(r);
    header_put(r, "    };\n    *count = (int)(sizeof results / sizeof results[0]);\n    return results;\n}\n\n");
    header_put_template(r, embedded_header_results());
    header_put(r, "#endif /* on the host only */\n");
    if (header_several_kernels(r->sections)) put_selector(r);
}
