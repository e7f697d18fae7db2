// See header_launch.h. The part that all jobs share is text in tuner/header/launch; this file makes the table of
// binaries, how each section's kernels are found, and the function that users call. header_run.c makes each section's
// launches.
#include "tuner/header/header_launch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/embedded.h"
#include "tuner/base/text.h"
#include "tuner/header/header_arguments.h"
#include "tuner/header/header_places.h"
#include "tuner/header/header_run.h"
#include "tuner/header/header_section.h"
#include "tuner/store/binary.h"

bool header_embeds(const json_t *sections)
{
    for (size_t i = 0; i < json_array_size(sections); i++)
        if (json_object_get(json_array_get(sections, i), "binary")) return true;
    return false;
}

char *header_binary_name(const char *lower, const json_t *section)
{
    const json_t *binary = json_object_get(section, "binary");
    return binary ? text_format("%s_binary_%.16s", lower, json_get_string(binary, "hash", "")) : NULL;
}

static bool any_tensor_maps(const struct renderer *r)
{
    const json_t *section, *stage;
    size_t i, k;
    json_array_foreach(r->sections, i, section) json_array_foreach(
        json_object_get(section, "stages"), k, stage) if (json_object_get(stage, "tensor_maps")) return true;
    return false;
}

static size_t most_units(const struct renderer *r)
{
    size_t most = 1;
    for (size_t i = 0; i < json_array_size(r->sections); i++) {
        const json_t *binary = json_object_get(json_array_get(r->sections, i), "binary");
        size_t count = json_array_size(json_object_get(binary, "units"));
        if (count > most) most = count;
    }
    return most;
}

// A binary without units is one cubin from its first byte on.
static void put_units(FILE *f, const json_t *units, size_t most)
{
    for (size_t u = 0; u < most; u++) {
        const json_t *offset = json_array_get(units, u);
        fprintf(f, "%s%lld", u ? ", " : "", offset ? (long long)json_integer_value(offset) : u ? -1LL : 0LL);
    }
}

static void put_binaries(struct renderer *r)
{
    const json_t *section;
    size_t i;
    json_t *seen = json_object();
    FILE *f = r->file;
    fputs("#ifdef __cplusplus\nextern \"C\" {\n#endif\n", f);
    json_array_foreach(r->sections, i, section)
    {
        char *name = header_binary_name(r->lower, section);
        if (name && !json_object_get(seen, name))
            fprintf(f, "extern const unsigned char %s[%" PRId64 "];\n", name,
                    json_get_integer(json_object_get(section, "binary"), "bytes", 0));
        if (name) json_object_set_new(seen, name, json_true());
        free(name);
    }
    fprintf(f,
            "#ifdef __cplusplus\n}\n#endif\n\n/* By section. image: in the file beside this one. toolkit: the major "
            "version of the CUDA that made it. kernels: of the\n * device, from this section on. */\n"
            "struct %1$s_binary {\n    const char *device;\n    int compute, multiprocessors, toolkit, kernels;\n    "
            "const unsigned char *image;\n    long long unit[%2$s_MOST_UNITS]; /* where each cubin of the image "
            "begins; -1: none */\n};\n\n"
            "static inline const struct %1$s_binary *%1$s_binaries(int *count)\n{\n    static const struct "
            "%1$s_binary binaries[] = {\n",
            r->lower, r->upper);
    json_array_foreach(r->sections, i, section)
    {
        char *device = header_literal(json_get_string(section, "device", "")),
             *name = header_binary_name(r->lower, section);
        long toolkit = 0;
        const char *digits = strpbrk(json_get_string(section, "compiler", ""), "0123456789");
        if (digits) toolkit = strtol(digits, NULL, 10);
        fprintf(f, "        {%s, %d, %" PRId64 ", %ld, %" PRId64 ", %s, {", device, header_compute(section),
                json_get_integer(section, "sm_count", 0), toolkit,
                json_get_integer(section, "kernels", 1) - json_get_integer(section, "kernel", 0), name ? name : "0");
        put_units(f, json_object_get(json_object_get(section, "binary"), "units"), most_units(r));
        fputs("}},\n", f);
        free(device);
        free(name);
    }
    fputs("    };\n    *count = (int)(sizeof binaries / sizeof binaries[0]);\n    return binaries;\n}\n\n", f);
    json_decref(seen);
}

// The largest numbers of kernels and stages.
static void put_room(struct renderer *r)
{
    int64_t kernels = 1;
    size_t stages = 1;
    for (size_t i = 0; i < json_array_size(r->sections); i++) {
        const json_t *section = json_array_get(r->sections, i);
        if (json_get_integer(section, "kernels", 1) > kernels) kernels = json_get_integer(section, "kernels", 1);
        if (header_stage_count(section) > stages) stages = header_stage_count(section);
    }
    fprintf(r->file,
            "enum { %1$s_MOST_KERNELS = %2$" PRId64 ", %1$s_MOST_STAGES = %3$zu, %1$s_MOST_UNITS = %4$zu };\n\n",
            r->upper, kernels, stages, most_units(r));
}

static int64_t product(const json_t *stage, const char *key)
{
    int64_t blocks = 1;
    for (size_t d = 0; d < 3; d++) {
        const json_t *size = json_array_get(json_object_get(stage, key), d);
        const char *text = json_is_string(size) ? json_string_value(size) : "1";
        if (!header_is_number(text)) return INT64_MAX;
        blocks *= strtoll(text, NULL, 10);
    }
    return blocks;
}

static void put_prepare(struct renderer *r)
{
    const json_t *section, *stage;
    size_t i, k;
    FILE *f = r->file;
    fprintf(
        f,
        "static inline int %1$s_prepare(int section, const %1$s_library *library, %1$s_kernel *kernel, int device)\n{\n"
        "    int status = %2$s_OK;\n    switch (section) {\n",
        r->lower, r->upper);
    json_array_foreach(r->sections, i, section)
    {
        const json_t *symbols = json_object_get(json_object_get(section, "binary"), "symbols");
        if (!symbols) continue;
        fprintf(f, "    case %zu:\n", i);
        json_array_foreach(json_object_get(section, "stages"), k, stage)
        {
            const char *entry = json_get_string(stage, "entry", ""), *shared = json_get_string(stage, "shared", "0");
            int64_t fixed = json_get_integer(stage, "shared_static", 0);
            if (!header_is_part(stage) || json_object_get(stage, "library")) continue;
            int64_t unit = json_get_integer(stage, "unit", 0);
            char *known = binary_symbol_name((size_t)unit, entry);
            if (!json_is_string(json_object_get(symbols, known))) {
                if (!r->collided) error_set(r->err, "the stored binary has no symbol for the entry '%s'", entry);
                r->collided = true;
            }
            char *symbol = header_literal(json_get_string(symbols, known, ""));
            fprintf(f,
                    "        if (!status) status = %1$s_api_kernel(&kernel[%2$zu], library[%7$" PRId64 "], %3$s);\n"
                    "        if (!status) status = %1$s_api_allow(kernel[%2$zu], %4$s, %5$" PRId64 ", %6$d, device);\n",
                    r->lower, k, symbol, header_is_number(shared) ? shared : "-1", fixed > 0 ? fixed : 0,
                    product(stage, "cluster") > 8, unit);
            free(symbol);
            free(known);
        }
        fputs("        break;\n", f);
    }
    fprintf(f, "    default: status = %s_NO_BINARY; break;\n    }\n    return status;\n}\n\n", r->upper);
}

static void pass_object(struct renderer *r, const char *identifier)
{
    fprintf(r->file, ", %s", identifier);
}

static void put_call(struct renderer *r, size_t i)
{
    const json_t *buffer;
    size_t k;
    fprintf(r->file, "    case %zu: return %s_run_%zu(kernels->kernel[number], stream", i, r->lower, i);
    header_put_sizes(r, ", ");
    json_array_foreach(header_buffers(r), k, buffer)
    {
        char *name = header_identifier(json_get_string(buffer, "name", "?"));
        fprintf(r->file, ", %s_ADDRESS(buffer_%s)", r->upper, name);
        free(name);
    }
    header_each_object(r, pass_object);
    fputs(header_calls_library(r) ? ", call, user);\n" : ");\n", r->file);
}

static void put_launch(struct renderer *r)
{
    const json_t *section, *buffer, *size;
    size_t i;
    bool several = header_several_kernels(r->sections);
    FILE *f = r->file;
    fprintf(f,
            "/* Launches on a stream: the sizes, then the buffers%4$s%1$s. With %3$s_ALLOW_UNVERIFIED defined, any "
            "sizes are "
            "accepted. */\nstatic inline int %2$s_launch(const struct %2$s_kernels *kernels, %2$s_stream stream",
            header_calls_library(r) ? ", then the callback for a library's stage" : "", r->lower, r->upper,
            json_object_get(json_array_get(r->sections, 0), "objects") ? ", then texture and surface objects" : "");
    json_array_foreach(r->sizes, i, size) fprintf(f, ", long long size_%s", json_string_value(size));
    json_array_foreach(header_buffers(r), i, buffer)
    {
        char *name = header_identifier(json_get_string(buffer, "name", "?"));
        bool in = !strcmp(json_get_string(buffer, "direction", ""), "in");
        fprintf(f, ", %s_%s(%s) buffer_%s", r->upper, in ? "IN" : "OUT", header_pointed_type(buffer), name);
        free(name);
    }
    header_each_object(r, header_declare_object);
    if (header_calls_library(r)) fprintf(f, ", %s_library_call *call, void *user", r->lower);
    fprintf(f,
            ")\n{\n    int section = kernels->section, number = 0, status = %1$s_check(kernels);\n    if (status) "
            "return status;\n",
            r->lower);
    if (several) {
        fprintf(f, "    number = %1$s_select_on(section, %1$s_binaries(&number)[section].kernels", r->lower);
        header_put_sizes(r, ", ");
        fprintf(f, ");\n    if (number < 0) return %s_SIZES;\n    section += number;\n", r->upper);
    }
    fprintf(f, "#ifndef %s_ALLOW_UNVERIFIED\n    if (!%s_supported_on(section", r->upper, r->lower);
    header_put_sizes(r, ", ");
    fprintf(f, ")) return %s_SIZES;\n#endif\n    switch (section) {\n", r->upper);
    json_array_foreach(r->sections, i, section)
    {
        if (!json_object_get(section, "binary")) continue;
        put_call(r, i);
    }
    fprintf(f, "    default: return %s_NO_BINARY;\n    }\n}\n\n", r->upper);
}

void header_launch(struct renderer *r)
{
    const json_t *section;
    size_t i;
    FILE *f = r->file;
    bool maps = any_tensor_maps(r), constants = json_object_get(json_array_get(r->sections, 0), "constants") != NULL;
    if (!header_embeds(r->sections)) return;
    fprintf(f,
            "/* Launching the embedded binary. */\n#if !defined(__CUDACC_RTC__) && (defined(%1$s_DRIVER_API) || "
            "defined(%1$s_RUNTIME_API))\n#if defined(%1$s_DRIVER_API) && defined(%1$s_RUNTIME_API)\n#error \"define "
            "%1$s_DRIVER_API or %1$s_RUNTIME_API, not both\"\n#endif\n",
            r->upper);
    header_put_template(r, embedded_launch_types());
    fprintf(f, "#ifdef %s_DRIVER_API\n", r->upper);
    header_put_template(r, embedded_launch_driver());
    if (maps) header_put_template(r, embedded_launch_driver_maps());
    if (constants) header_put_template(r, embedded_launch_driver_constants());
    fputs("#else\n", f);
    header_put_template(r, embedded_launch_runtime());
    if (maps) header_put_template(r, embedded_launch_runtime_maps());
    if (constants) header_put_template(r, embedded_launch_runtime_constants());
    fputs("#endif\n\n", f);
    if (maps) header_put_template(r, embedded_launch_maps());
    if (header_calls_library(r))
        fprintf(
            f,
            "/* Called for a stage that a library computes, in its order among the launches: enqueue it on the stream. "
            "Return 0 on success. */\ntypedef int %1$s_library_call(void *user, const char *stage, %1$s_stream "
            "stream);\n\n",
            r->lower);
    if (header_several_kernels(r->sections)) {
        fprintf(f, "static inline int %s_select_on(", r->lower);
        header_put_arguments(r, "int first, int kernels");
        fputs(");\n\n", f);
    }
    put_room(r);
    put_binaries(r);
    put_prepare(r);
    header_put_template(r, embedded_launch_common());
    header_constants(r);
    json_array_foreach(r->sections, i, section) if (json_object_get(section, "binary")) header_run(r, section, i);
    put_launch(r);
    fprintf(f, "#undef %1$s_IN\n#undef %1$s_OUT\n#undef %1$s_ADDRESS\n#endif\n\n", r->upper);
}
