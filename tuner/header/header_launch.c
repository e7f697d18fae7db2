// See header_launch.h. What does not differ between jobs is one text, launch.in; this file makes the tables of
// binaries and stages and the function that users call. header_fill.c evaluates each stage's launch and arguments.
#include "tuner/header/header_launch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/embedded.h"
#include "tuner/base/text.h"
#include "tuner/header/header_arguments.h"
#include "tuner/header/header_bindings.h"
#include "tuner/header/header_fill.h"
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
            "#ifdef __cplusplus\n}\n#endif\n\n"
            "static inline const struct %1$s_binary *%1$s_binaries(int *count)\n{\n    static const struct "
            "%1$s_binary binaries[] = {\n",
            r->lower);
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

static void grow(size_t *most, size_t size)
{
    if (size > *most) *most = size;
}

// The sizes of the text's arrays, which have at least one element each.
static void put_room(struct renderer *r)
{
    const json_t *section, *stage;
    size_t kernels = 1, stages = 1, arguments = 1, bytes = 1, swaps = 1, sizes = 1, buffers = 1, objects = 1, i, k;
    grow(&sizes, json_array_size(r->sizes));
    grow(&buffers, json_array_size(header_buffers(r)));
    grow(&objects, json_array_size(header_objects(r)));
    json_array_foreach(r->sections, i, section)
    {
        grow(&kernels, (size_t)json_get_integer(section, "kernels", 1));
        grow(&stages, header_stage_count(section));
        json_array_foreach(json_object_get(section, "stages"), k, stage)
        {
            grow(&arguments, json_array_size(json_object_get(stage, "arguments")));
            grow(&bytes, header_argument_room(stage));
            grow(&swaps, json_array_size(json_object_get(stage, "swap")));
        }
    }
    fprintf(r->file,
            "enum {\n    %1$s_MOST_KERNELS = %2$zu,\n    %1$s_MOST_STAGES = %3$zu,\n    %1$s_MOST_UNITS = %4$zu,\n"
            "    %1$s_MOST_SIZES = %5$zu,\n    %1$s_MOST_BUFFERS = %6$zu,\n    %1$s_MOST_OBJECTS = %7$zu,\n"
            "    %1$s_MOST_ARGUMENTS = %8$zu,\n    %1$s_MOST_BYTES = %9$zu,\n    %1$s_MOST_SWAPS = %10$zu\n};\n\n",
            r->upper, kernels, stages, most_units(r), sizes, buffers, objects, arguments, bytes, swaps);
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

static size_t buffer_number(struct renderer *r, const char *name)
{
    size_t i = 0;
    while (i < json_array_size(header_buffers(r)) &&
           strcmp(json_get_string(json_array_get(header_buffers(r), i), "name", ""), name) != 0)
        i++;
    return i;
}

// What launches the stage: the entry's symbol in the binary, as a literal; "0": no launch.
static char *stage_symbol(struct renderer *r, const json_t *section, const json_t *stage)
{
    const json_t *symbols = json_object_get(json_object_get(section, "binary"), "symbols");
    const char *entry = json_get_string(stage, "entry", "");
    if (!symbols || !header_is_part(stage) || json_object_get(stage, "library")) return text_copy("0");
    char *known = binary_symbol_name((size_t)json_get_integer(stage, "unit", 0), entry);
    if (!json_is_string(json_object_get(symbols, known))) {
        if (!r->collided) error_set(r->err, "the stored binary has no symbol for the entry '%s'", entry);
        r->collided = true;
    }
    char *symbol = header_literal(json_get_string(symbols, known, ""));
    free(known);
    return symbol;
}

static void put_stage(struct renderer *r, const json_t *section, const json_t *stage)
{
    const char *name = json_get_string(stage, "name", ""), *shared = json_get_string(stage, "shared", "0");
    const json_t *swaps = json_object_get(stage, "swap"), *pair;
    bool part = header_is_part(stage), library = part && json_object_get(stage, "library");
    char *symbol = stage_symbol(r, section, stage), *call = library ? header_literal(name) : text_copy("0");
    int64_t fixed = json_get_integer(stage, "shared_static", 0);
    json_t *loops = header_loops(r->sections, name);
    size_t i;
    fprintf(r->file, "        {%s, %s, %" PRId64 ", %s, %" PRId64 ", %d, %d, %zu, {", symbol, call,
            json_get_integer(stage, "unit", 0), header_is_number(shared) ? shared : "-1", fixed > 0 ? fixed : 0,
            product(stage, "cluster") > 8, loops != NULL, part ? json_array_size(swaps) : 0);
    json_array_foreach(swaps, i, pair)
        fprintf(r->file, "%s{%zu, %zu}", i ? ", " : "", buffer_number(r, json_string_value(json_array_get(pair, 0))),
                buffer_number(r, json_string_value(json_array_get(pair, 1))));
    fputs(json_array_size(swaps) ? "}},\n" : "{0, 0}}},\n", r->file);
    json_decref(loops);
    free(symbol);
    free(call);
}

static void put_stages(struct renderer *r)
{
    const json_t *section, *stage;
    size_t i, k;
    fprintf(r->file,
            "static inline const struct %1$s_stage *%1$s_stages(int section)\n{\n"
            "    static const struct %1$s_stage stages[][%2$s_MOST_STAGES] = {\n",
            r->lower, r->upper);
    json_array_foreach(r->sections, i, section)
    {
        fputs("        {\n", r->file);
        json_array_foreach(json_object_get(section, "stages"), k, stage) put_stage(r, section, stage);
        fputs("        },\n", r->file);
    }
    fputs("    };\n    return stages[section];\n}\n\n", r->file);
}

static void put_variables(struct renderer *r)
{
    const json_t *section, *constant;
    size_t i, k;
    fprintf(r->file,
            "static inline const struct %1$s_variable *%1$s_variables(int *count)\n{\n"
            "    static const struct %1$s_variable variables[] = {\n        {-1, \"\", \"\"},\n",
            r->lower);
    json_array_foreach(r->sections, i, section) json_array_foreach(json_object_get(section, "constants"), k, constant)
    {
        if (!json_object_get(constant, "symbol")) continue;
        char *name = header_literal(json_get_string(constant, "name", "")),
             *symbol = header_literal(json_get_string(constant, "symbol", ""));
        fprintf(r->file, "        {%zu, %s, %s},\n", i, name, symbol);
        free(name);
        free(symbol);
    }
    fputs("    };\n    *count = (int)(sizeof variables / sizeof variables[0]);\n    return variables;\n}\n\n", r->file);
}

static void put_parameters(struct renderer *r)
{
    const json_t *buffer, *size, *object;
    size_t i;
    json_array_foreach(r->sizes, i, size) fprintf(r->file, ", long long size_%s", json_string_value(size));
    json_array_foreach(header_buffers(r), i, buffer)
    {
        char *name = header_identifier(json_get_string(buffer, "name", "?"));
        bool in = !strcmp(json_get_string(buffer, "direction", ""), "in");
        fprintf(r->file, ", %s_%s(%s) buffer_%s", r->upper, in ? "IN" : "OUT", header_pointed_type(buffer), name);
        free(name);
    }
    json_array_foreach(header_objects(r), i, object)
    {
        char *name = header_object_name(object);
        fprintf(r->file, ", unsigned long long %s", name);
        free(name);
    }
    if (header_calls_library(r)) fprintf(r->file, ", %s_library_call *call, void *user", r->lower);
}

static void put_call(struct renderer *r)
{
    const json_t *each;
    size_t i;
    FILE *f = r->file;
    fputs("    memset(&c, 0, sizeof c);\n    c.stream = stream;\n", f);
    json_array_foreach(r->sizes, i, each) fprintf(f, "    c.size[%zu] = size_%s;\n", i, json_string_value(each));
    json_array_foreach(header_buffers(r), i, each)
    {
        char *name = header_identifier(json_get_string(each, "name", "?"));
        fprintf(f, "    c.buffer[%zu] = %s_ADDRESS(buffer_%s);\n", i, r->upper, name);
        free(name);
    }
    json_array_foreach(header_objects(r), i, each)
    {
        char *name = header_object_name(each);
        fprintf(f, "    c.object[%zu] = %s;\n", i, name);
        free(name);
    }
    if (header_calls_library(r)) fputs("    c.library = call;\n    c.user = user;\n", f);
}

static void put_launch(struct renderer *r)
{
    FILE *f = r->file;
    fprintf(f,
            "/* Launches on a stream: the sizes, then the buffers%4$s%1$s. With %3$s_ALLOW_UNVERIFIED defined, any "
            "sizes are "
            "accepted. */\nstatic inline int %2$s_launch(const struct %2$s_kernels *kernels, %2$s_stream stream",
            header_calls_library(r) ? ", then the callback for a library's stage" : "", r->lower, r->upper,
            header_objects(r) ? ", then texture and surface objects" : "");
    put_parameters(r);
    fprintf(f,
            ")\n{\n    struct %1$s_call c;\n    int section = kernels->section, number = 0, status = "
            "%1$s_check(kernels);\n    if (status) return status;\n",
            r->lower);
    if (header_several_kernels(r->sections)) {
        fprintf(f, "    number = %1$s_select_on(section, %1$s_binaries(&number)[section].kernels", r->lower);
        header_put_sizes(r, ", ");
        fprintf(f, ");\n    if (number < 0) return %s_SIZES;\n    section += number;\n", r->upper);
    }
    fprintf(f, "#ifndef %s_ALLOW_UNVERIFIED\n    if (!%s_supported_on(section", r->upper, r->lower);
    header_put_sizes(r, ", ");
    fprintf(f, ")) return %s_SIZES;\n#endif\n", r->upper);
    put_call(r);
    fprintf(f, "    return %s_run(kernels->kernel[number], section, &c);\n}\n\n", r->lower);
}

void header_launch(struct renderer *r)
{
    FILE *f = r->file;
    if (!header_embeds(r->sections)) return;
    fprintf(f,
            "/* Launching the embedded binary. */\n#if !defined(__CUDACC_RTC__) && (defined(%1$s_DRIVER_API) || "
            "defined(%1$s_RUNTIME_API))\n#if defined(%1$s_DRIVER_API) && defined(%1$s_RUNTIME_API)\n#error \"define "
            "%1$s_DRIVER_API or %1$s_RUNTIME_API, not both\"\n#endif\n",
            r->upper);
    put_room(r);
    header_put_template(r, embedded_header_launch());
    if (header_several_kernels(r->sections)) {
        fprintf(f, "static inline int %s_select_on(", r->lower);
        header_put_arguments(r, "int first, int kernels");
        fputs(");\n\n", f);
    }
    put_binaries(r);
    put_stages(r);
    put_variables(r);
    header_fill(r);
    put_launch(r);
    fprintf(f, "#undef %1$s_IN\n#undef %1$s_OUT\n#undef %1$s_ADDRESS\n#endif\n\n", r->upper);
}
