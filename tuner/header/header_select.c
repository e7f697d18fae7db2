// The header's selector for jobs that end in several kernels: the time of every kernel on every problem, its relative
// time on any sizes, and the choice.
//
// As in header_functions.c: no includes, no allocation, the strictest warnings.
#include "tuner/header/header_select.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/embedded.h"
#include "tuner/base/text.h"

static void put_relative_time(struct renderer *r)
{
    const json_t *section;
    size_t i;
    FILE *f = r->file;
    fprintf(f, "/* The section's relative time on these sizes. */\nstatic inline double %s_relative_time(", r->lower);
    header_put_arguments(r, "int section");
    fprintf(f, ")\n{\n    double work = 1, blocks = 0, at_once = 1;\n    switch (section) {\n");
    json_array_foreach(r->sections, i, section)
    {
        const char *prefix = json_get_string(r->prefixes, json_get_string(section, "stage", ""), NULL);
        fprintf(f, "    case %zu: {\n        work = (double)(%s);\n", i, json_get_string(section, "work", "1"));
        if (prefix) {
            fprintf(f, "        const struct %s_launch_shape g = %sgeometry_on(section", r->lower, prefix);
            header_put_sizes(r, ", ");
            fprintf(f,
                    ");\n        if (g.used) blocks = (double)g.grid[0] * (double)g.grid[1] * (double)g.grid[2];\n     "
                    "   at_once "
                    "= %" PRId64 ";\n",
                    json_get_integer(section, "at_once", 1));
        }
        fputs("        break;\n    }\n", f);
    }
    fprintf(f, "    default: break;\n    }\n    return %s_fn_relative_time(work, blocks, at_once);\n}\n\n", r->lower);
}

// A number with the fewest digits that read back exactly: the driver compares the same times.
static const char *exact(double value, char out[32])
{
    for (int digits = 9; digits <= 17; digits++) {
        snprintf(out, 32, "%.*g", digits, value);
        if (strtod(out, NULL) == value) break;
    }
    return out;
}

static void put_times(struct renderer *r)
{
    const json_t *section, *one, *size;
    size_t i, k, d, sizes = json_array_size(r->sizes), rows = 0;
    fprintf(
        r->file,
        "/* Every kernel's median time on every problem that was not held back. */\nstruct %1$s_time { int section; "
        "long long size[%2$zu]; double seconds; };\n"
        "static inline const struct %1$s_time *%1$s_times(int *count)\n{\n    static const struct %1$s_time "
        "times[] = {\n",
        r->lower, sizes ? sizes : 1);
    json_array_foreach(r->sections, i, section)
    {
        json_array_foreach(json_object_get(section, "times"), k, one)
        {
            fprintf(r->file, "        {%zu, {", i);
            json_array_foreach(json_object_get(one, "sizes"), d, size)
                fprintf(r->file, "%s%" PRId64, d ? ", " : "", (int64_t)json_integer_value(size));
            char seconds[32];
            fprintf(r->file, "%s}, %s},\n", sizes ? "" : "0", exact(json_get_number(one, "time", 0), seconds));
            rows++;
        }
    }
    if (!rows) fputs("        {-1, {0}, 0},\n", r->file);
    fprintf(r->file, "    };\n    *count = (int)(sizeof times / sizeof times[0]);\n    return times;\n}\n\n");
}

void header_select(struct renderer *r)
{
    const char *stage;
    json_t *prefix;
    bool any = false;
    FILE *f = r->file;
    fputs("#ifndef __CUDACC_RTC__\n", f);
    header_put_shared(r, embedded_fn_selector());
    fprintf(f,
            "/* Whether a section's kernel supports a problem: it has a stage for it. */\nstatic inline int %s_can_on(",
            r->lower);
    header_put_arguments(r, "int section");
    fputs(")\n{\n    return ", f);
    json_object_foreach(r->prefixes, stage, prefix)
    {
        fprintf(f, "%s%sgeometry_on(section", any ? " || " : "", json_string_value(prefix));
        header_put_sizes(r, ", ");
        fputs(").used", f);
        any = true;
    }
    fputs(";\n}\n\n", f);
    put_relative_time(r);
    put_times(r);
    header_put_template(r, embedded_header_select());
    fprintf(f, "static inline int %s_select(", r->lower);
    header_put_arguments(r, "");
    fprintf(f, ") { return %1$s_select_on(%2$s_FIRST_SECTION, %2$s_KERNELS", r->lower, r->upper);
    header_put_sizes(r, ", ");
    fputs("); }\n#endif\n\n", f);
}
