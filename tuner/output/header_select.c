// The header's selector for jobs that end in several kernels: what every kernel took on every problem, its relative
// time on any sizes, and the choice.
//
// As header_functions.c: nothing included, nothing allocated, the strictest warnings.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/text.h"
#include "tuner/output/header_parts.h"

// The name of the geometry function of a section's heaviest launch, or NULL.
static const char *heaviest_prefix(struct renderer *r, const json_t *section)
{
    const char *wanted = json_get_string(section, "stage", "");
    char *identifier = header_identifier(wanted), *full = text_format("%s_%s_", r->lower, identifier),
         *plain = text_format("%s_", r->lower);
    const json_t *prefix;
    const char *found = NULL;
    size_t i;
    json_array_foreach(r->prefixes, i, prefix)
    {
        const char *text = json_string_value(prefix);
        if (*wanted && (!strcmp(text, full) || (!strcmp(text, plain) && json_array_size(r->prefixes) == 1)))
            found = text;
    }
    free(identifier);
    free(full);
    free(plain);
    return found;
}

static void put_wave_model(struct renderer *r)
{
    const json_t *section;
    size_t i;
    FILE *f = r->file;
    fprintf(f,
            "/* A kernel's times on two problems are expected to be in this proportion: the work of a block times the "
            "waves of blocks. */\nstatic inline double %s_relative_time(",
            r->lower);
    header_put_arguments(r, "int section");
    fprintf(f, ")\n{\n    double work = 1, blocks = 0, at_once = 1, waves;\n    switch (section) {\n");
    json_array_foreach(r->sections, i, section)
    {
        const char *prefix = heaviest_prefix(r, section);
        fprintf(f, "    case %zu: {\n        work = (double)(%s);\n", i, json_get_string(section, "work", "1"));
        if (prefix) {
            fprintf(f, "        const struct %s_launch g = %sgeometry_on(section", r->lower, prefix);
            header_put_sizes(r, ", ");
            fprintf(f,
                    ");\n        blocks = (double)g.grid[0] * (double)g.grid[1] * (double)g.grid[2];\n        at_once "
                    "= %" PRId64 ";\n",
                    json_get_integer(section, "at_once", 1));
        }
        fputs("        break;\n    }\n", f);
    }
    fputs("    default: break;\n    }\n    if (work < 1) work = 1;\n    if (blocks < 1) return work;\n    waves = "
          "blocks / at_once;\n"
          "    if (waves > (double)(long long)waves) waves = (double)(long long)waves + 1;\n    return work / blocks * "
          "waves;\n}\n\n",
          f);
}

static void put_times(struct renderer *r)
{
    const json_t *section, *one, *size;
    size_t i, k, d, sizes = json_array_size(r->sizes), rows = 0;
    fprintf(r->file,
            "/* Every kernel's median on every problem that was not held back. */\nstruct %1$s_time { int section; "
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
            fprintf(r->file, "%s}, %.9g},\n", sizes ? "" : "0", json_get_number(one, "time", 0));
            rows++;
        }
    }
    if (!rows) fputs("        {-1, {0}, 0},\n", r->file);
    fprintf(r->file, "    };\n    *count = (int)(sizeof times / sizeof times[0]);\n    return times;\n}\n\n");
}

// The kernel for any sizes: the one that is expected to be the fastest, as search/kernel_set.h expects it, by which
// problems held back were judged.
void header_select(struct renderer *r)
{
    size_t sizes = json_array_size(r->sizes), i;
    const json_t *size;
    FILE *f = r->file;
    fprintf(f,
            "#ifndef __CUDACC_RTC__\nstatic inline int %1$s_alignment(long long size) { return size %% 8 == 0 ? 3 : "
            "size %% 4 == 0 ? 2 : size %% 2 == 0; }\n\n"
            "/* Whether a section's kernel can do a problem: it has a stage for it. */\nstatic inline int %1$s_can_on(",
            r->lower);
    header_put_arguments(r, "int section");
    fputs(")\n{\n    return ", f);
    json_array_foreach(r->prefixes, i, size)
    {
        fprintf(f, "%s%sgeometry_on(section", i ? " || " : "", json_string_value(size));
        header_put_sizes(r, ", ");
        fputs(").used", f);
    }
    fputs(";\n}\n\n", f);
    put_wave_model(r);
    put_times(r);
    fprintf(f,
            "/* The kernel (0 to %s_KERNELS - 1) for a problem: of those that can do it, the one expected to be the "
            "fastest. Each is expected to take what it took on the three\n"
            " * problems nearest by the ratios of the sizes (twice as far for each size that is a multiple of another "
            "power of two, up to 8), in proportion to the relative time,\n"
            " * weighted by one over the distance; on a problem that was tuned, what it took there. -1: none can, or a "
            "size is below 1. */\nstatic inline int %s_select(",
            r->upper, r->lower);
    header_put_arguments(r, "");
    fprintf(f,
            ")\n{\n    int count, i, d, section, kernel = -1;\n    double least = 0;\n    const struct %1$s_time "
            "*times = %1$s_times(&count);\n    long long size[%2$zu];\n",
            r->lower, sizes ? sizes : 1);
    if (!sizes) fputs("    size[0] = 1;\n", f);
    json_array_foreach(r->sizes, i, size) fprintf(f, "    size[%zu] = size_%s;\n", i, json_string_value(size));
    fprintf(f,
            "    for (d = 0; d < %1$zu; d++)\n        if (size[d] < 1) return -1;\n"
            "    for (section = %2$s_FIRST_SECTION; section < %2$s_FIRST_SECTION + %2$s_KERNELS; section++) {\n"
            "        double distances[3] = {0, 0, 0}, seconds[3] = {0, 0, 0}, sum = 0, weights = 0;\n        int found "
            "= 0, k;\n        if (!%3$s_can_on(section",
            sizes ? sizes : 1, r->upper, r->lower);
    header_put_sizes(r, ", ");
    fprintf(
        f,
        ")) continue;\n        for (i = 0; i < count; i++) {\n            double distance = 1;\n            if "
        "(times[i].section != section) continue;\n"
        "            for (d = 0; d < %1$zu; d++) {\n"
        "                double here = (double)size[d], there = (double)times[i].size[d];\n"
        "                distance *= there > here ? there / here : here / there;\n"
        "                if (%2$s_alignment(size[d]) != %2$s_alignment(times[i].size[d])) distance *= 2;\n            "
        "}\n"
        "            if (found == 3 && distance >= distances[2]) continue;\n            k = found < 3 ? found++ : 2;\n"
        "            for (; k > 0 && distances[k - 1] > distance; k--) {\n                distances[k] = distances[k - "
        "1];\n                seconds[k] = seconds[k - 1];\n            }\n"
        "            distances[k] = distance;\n            seconds[k] = times[i].seconds * %2$s_relative_time(section",
        sizes ? sizes : 1, r->lower);
    header_put_sizes(r, ", ");
    fprintf(f, ") / %s_relative_time(section", r->lower);
    for (i = 0; i < sizes; i++) fprintf(f, ", times[i].size[%zu]", i);
    fprintf(f,
            ");\n        }\n        if (found && distances[0] <= 1) found = 1;\n        for (k = 0; k < found; k++) "
            "{\n            sum += seconds[k] / distances[k];\n            weights += 1 / distances[k];\n        }\n"
            "        if (found && (kernel < 0 || sum / weights < least)) {\n            kernel = section - "
            "%s_FIRST_SECTION;\n            least = sum / weights;\n        }\n    }\n"
            "    return kernel;\n}\n#endif\n\n",
            r->upper);
}
