// See header_parts.h. The parts that are the same for all jobs are in files such as launch.in. This file writes the
// tables of binaries and stages, the function that evaluates a stage's launch and arguments, and the functions that
// users call.
#include "kernels/element.h"
#include "tuner/base/embedded.h"
#include "tuner/header/header_parts.h"
#include "tuner/store/binary.h"

char *header_binary_name(const char *lower, const json_t *section)
{
    const json_t *binary = json_object_get(section, "binary");
    return binary ? text_format("%s_binary_%.16s", lower, json_get_string(binary, "hash", "")) : NULL;
}

// Whether any section calls a library. If so, functions take a callback.
static bool calls_library(const struct renderer *r)
{
    bool any = false;
    json_array_each(r->sections, i, section)
        json_array_each(json_object_get(section, "stages"), k, stage)
            any |= header_is_part(stage) && json_object_get(stage, "library");
    return any;
}

const char *header_c_type(int element)
{
    static const char *const types[ELEMENT_COUNT] = {
        [ELEMENT_F32] = "float",           [ELEMENT_F64] = "double",         [ELEMENT_F16] = "unsigned short",
        [ELEMENT_BF16] = "unsigned short", [ELEMENT_I8] = "signed char",     [ELEMENT_I32] = "int",
        [ELEMENT_U32] = "unsigned int",    [ELEMENT_I64] = "long long",      [ELEMENT_U8] = "unsigned char",
        [ELEMENT_I16] = "short",           [ELEMENT_U16] = "unsigned short", [ELEMENT_U64] = "unsigned long long",
        [ELEMENT_E4M3] = "unsigned char",  [ELEMENT_E5M2] = "unsigned char",
    };
    return types[element];
}

bool header_only_bits(int element)
{
    return element_is_float((enum element)element) && element_size((enum element)element) < 4;
}

int header_element_of(const json_t *described)
{
    int element = element_find(json_get_string(described, "type", ""));
    return element < 0 ? ELEMENT_I32 : element;
}

size_t header_argument_room(const json_t *stage)
{
    size_t bytes = 0;
    json_array_each(json_object_get(stage, "arguments"), i, a) {
        bool map = !strcmp(json_get_string(a, "kind", ""), "map");
        bytes += map ? 256 : 15 + (size_t)json_get_integer(a, "bytes", 8);
    }
    return bytes;
}

static size_t most_units(const struct renderer *r)
{
    size_t most = 1;
    json_array_each(r->sections, i, section)
        most = larger_of(most, json_array_size(json_object_get(json_object_get(section, "binary"), "units")));
    return most;
}

// A binary without units is a single cubin that begins at the binary's first byte.
static void put_units(struct renderer *r, const json_t *units, size_t most)
{
    for (size_t u = 0; u < most; u++) {
        const json_t *offset = json_array_get(units, u);
        header_put(r, "%s%lld", u ? ", " : "", offset ? (long long)json_integer_value(offset) : u ? -1LL : 0LL);
    }
}

static void put_binaries(struct renderer *r)
{
    autojson json_t *seen = json_object();
    header_put(r, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
    json_array_each(r->sections, i, section) {
        autofree char *name = header_binary_name(r->lower, section);
        if (name && !json_object_get(seen, name))
            header_put(r, "extern const unsigned char %s[%" PRId64 "];\n", name,
                       json_get_integer(json_object_get(section, "binary"), "bytes", 0));
        if (name) json_object_set_new(seen, name, json_true());
    }
    header_put(r, "#ifdef __cplusplus\n}\n#endif\n\n"
                  "static inline const struct name_binary *name_binaries(int *count)\n{\n"
                  "    static const struct name_binary binaries[] = {\n");
    json_array_each(r->sections, i, section) {
        autofree char *device = header_literal(json_get_string(section, "device", "")),
                      *name = header_binary_name(r->lower, section);
        const char *digits = strpbrk(json_get_string(section, "compiler", ""), "0123456789");
        header_put(r, "        {%s, %d, %" PRId64 ", %ld, %" PRId64 ", %s, {", device, header_compute(section),
                   json_get_integer(section, "sm_count", 0), digits ? strtol(digits, NULL, 10) : 0,
                   json_get_integer(section, "kernels", 1) - json_get_integer(section, "kernel", 0), name ? name : "0");
        put_units(r, json_object_get(json_object_get(section, "binary"), "units"), most_units(r));
        header_put(r, "}},\n");
    }
    header_put(r, "    };\n    *count = (int)(sizeof binaries / sizeof binaries[0]);\n    return binaries;\n}\n\n");
}

// Writes the sizes of the arrays in launch.in. Each array has at least one element.
static void put_room(struct renderer *r)
{
    size_t kernels = 1, stages = 1, arguments = 1, bytes = 1, swaps = 1, sizes = 1, buffers = 1, objects = 1;
    sizes = larger_of(sizes, json_array_size(r->sizes));
    buffers = larger_of(buffers, json_array_size(header_buffers(r)));
    objects = larger_of(objects, json_array_size(header_objects(r)));
    json_array_each(r->sections, i, section) {
        kernels = larger_of(kernels, (size_t)json_get_integer(section, "kernels", 1));
        stages = larger_of(stages, header_stage_count(section));
        json_array_each(json_object_get(section, "stages"), k, stage) {
            arguments = larger_of(arguments, json_array_size(json_object_get(stage, "arguments")));
            bytes = larger_of(bytes, header_argument_room(stage));
            swaps = larger_of(swaps, json_array_size(json_object_get(stage, "swap")));
        }
    }
    header_put(r,
               "enum {\n    NAME_MOST_KERNELS = %zu,\n    NAME_MOST_STAGES = %zu,\n    NAME_MOST_UNITS = %zu,\n"
               "    NAME_MOST_SIZES = %zu,\n    NAME_MOST_BUFFERS = %zu,\n    NAME_MOST_OBJECTS = %zu,\n"
               "    NAME_MOST_ARGUMENTS = %zu,\n    NAME_MOST_BYTES = %zu,\n    NAME_MOST_SWAPS = %zu\n};\n\n",
               kernels, stages, most_units(r), sizes, buffers, objects, arguments, bytes, swaps);
}

int64_t header_product(const json_t *stage, const char *key)
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

const char *header_symbol(const json_t *section, const json_t *stage, struct error *err)
{
    const json_t *symbols = json_object_get(json_object_get(section, "binary"), "symbols");
    const char *entry = json_get_string(stage, "entry", "");
    autofree char *known = binary_symbol_name((size_t)json_get_integer(stage, "unit", 0), entry);
    const char *symbol = json_string_value(json_object_get(symbols, known));
    if (!symbol) error_set(err, "the stored binary has no symbol for the entry '%s'", entry);
    return symbol;
}

// The symbol as a literal, or "0" if the stage launches nothing.
static char *stage_symbol(struct renderer *r, const json_t *section, const json_t *stage)
{
    struct error err;
    if (!json_object_get(section, "binary") || !header_is_part(stage) || json_object_get(stage, "library"))
        return text_copy("0");
    const char *symbol = header_symbol(section, stage, &err);
    if (!symbol) header_refuse(r, "%s", err.message);
    return header_literal(symbol ? symbol : "");
}

static void put_stage(struct renderer *r, const json_t *section, const json_t *stage)
{
    const char *name = json_get_string(stage, "name", ""), *shared = json_get_string(stage, "shared", "0");
    const json_t *swaps = json_object_get(stage, "swap");
    bool part = header_is_part(stage), library = part && json_object_get(stage, "library");
    autofree char *symbol = stage_symbol(r, section, stage), *call = library ? header_literal(name) : text_copy("0");
    int64_t fixed = json_get_integer(stage, "shared_static", 0);
    autojson json_t *loops = header_loops(r->sections, name);
    header_put(r, "        {%s, %s, %" PRId64 ", %s, %" PRId64 ", %d, %d, %d, %zu, {", symbol, call,
               json_get_integer(stage, "unit", 0), header_is_number(shared) ? shared : "-1", fixed > 0 ? fixed : 0,
               header_product(stage, "cluster") > 8, loops != NULL, json_get_bool(stage, "untimed", false),
               part ? json_array_size(swaps) : 0);
    json_array_each(swaps, i, pair)
        header_put(r, "%s{%zu, %zu}", i ? ", " : "",
                   header_index(header_buffers(r), json_string_value(json_array_get(pair, 0))),
                   header_index(header_buffers(r), json_string_value(json_array_get(pair, 1))));
    header_put(r, json_array_size(swaps) ? "}},\n" : "{0, 0}}},\n");
}

static void put_stages(struct renderer *r)
{
    header_put(r, "static inline const struct name_stage *name_stages(int section)\n{\n"
                  "    static const struct name_stage stages[][NAME_MOST_STAGES] = {\n");
    json_array_each(r->sections, i, section) {
        header_put(r, "        {\n");
        json_array_each(json_object_get(section, "stages"), k, stage) put_stage(r, section, stage);
        header_put(r, "        },\n");
    }
    header_put(r, "    };\n    return stages[section];\n}\n\n");
}

static void put_variables(struct renderer *r)
{
    header_put(r, "static inline const struct name_variable *name_variables(int *count)\n{\n"
                  "    static const struct name_variable variables[] = {\n        {-1, \"\", \"\"},\n");
    json_array_each(r->sections, i, section)
        json_array_each(json_object_get(section, "constants"), k, constant) {
            if (!json_object_get(constant, "symbol")) continue;
            autofree char *name = header_literal(json_get_string(constant, "name", "")),
                          *symbol = header_literal(json_get_string(constant, "symbol", ""));
            header_put(r, "        {%zu, %s, %s},\n", i, name, symbol);
        }
    header_put(r, "    };\n    *count = (int)(sizeof variables / sizeof variables[0]);\n    return variables;\n}\n\n");
}

// The index of an argument's object.
static size_t object_of(const struct renderer *r, const json_t *argument)
{
    json_array_each(header_objects(r), i, each)
        if (!strcmp(json_get_string(each, "name", ""), json_get_string(argument, "name", "")) &&
            json_equal(json_object_get(each, "kind"), json_object_get(argument, "kind")))
            return i;
    return json_array_size(header_objects(r));
}

bool header_scalar_bits(const json_t *a, unsigned *bits)
{
    const char *value = json_get_string(a, "value", "0");
    uint16_t stored = 0; // on little-endian machines, the first byte is an e4m3 value
    if (!json_object_get(a, "real") && !header_is_number(value)) return false;
    element_store((enum element)header_element_of(a), json_get_number(a, "real", strtod(value, NULL)), &stored);
    *bits = stored;
    return true;
}

// Writes code that stores a scalar at the address that the expression `at` gives. FP16, BF16 and FP8 are stored as
// bits, because C99 has no such types.
static void put_scalar(struct renderer *r, const json_t *a, size_t section, const char *function, const char *at)
{
    enum element element = (enum element)header_element_of(a);
    size_t bytes = element_size(element);
    bool sign = element == ELEMENT_I8 || element == ELEMENT_I16 || element == ELEMENT_I32 || element == ELEMENT_I64;
    if (header_only_bits((int)element)) {
        unsigned bits = 0;
        if (!header_scalar_bits(a, &bits))
            header_refuse(r, "a launch cannot be embedded: the %s scalar '%s' depends on sizes", element_name(element),
                          json_get_string(a, "name", "?"));
        header_put(r, "        name_integer(s, %s, %u, %zu, 0);\n", at, bits, bytes);
    } else if (element_is_float(element)) {
        header_put(r, "        name_real(%s, (double)%s_on(%zu name_given_sizes), %zu);\n", at, function, section,
                   bytes);
    } else {
        header_put(r, "        name_integer(s, %s, %s_on(%zu name_given_sizes), %zu, %d);\n", at, function, section,
                   bytes, sign);
    }
}

static void put_values(struct renderer *r, const json_t *a, size_t section, const char *prefix, size_t place,
                       int64_t alignment)
{
    const json_t *members = json_object_get(a, "members");
    if (!members) {
        autofree char *function = header_scalar_name(prefix, place, NULL),
                      *at = text_format("%s_value(s, %zu, 8)", r->lower,
                                        element_size((enum element)header_element_of(a)));
        put_scalar(r, a, section, function, at);
        return;
    }
    header_put(r, "        {\n        unsigned char *at = name_value(s, %" PRId64 ", 16);\n",
               json_get_integer(a, "bytes", 1));
    json_array_each(members, i, member) {
        autofree char *function = header_scalar_name(prefix, place, member),
                      *at = text_format("at + %" PRId64, json_get_integer(member, "offset", 0));
        const char *buffer = json_get_string(member, "buffer", NULL);
        if (buffer)
            header_put(r, "        name_address(s, %s, c->buffer[%zu], %s_on(%zu name_given_sizes), %" PRId64 ");\n",
                       at, header_index(header_buffers(r), buffer), function, section, alignment);
        else
            put_scalar(r, member, section, function, at);
    }
    header_put(r, "        }\n");
}

static void put_argument(struct renderer *r, const json_t *section, size_t i, const json_t *a, const char *prefix,
                         size_t place)
{
    const char *kind = json_get_string(a, "kind", "");
    int64_t alignment = json_get_integer(section, "alignment", 16);
    size_t buffer = header_index(header_buffers(r), json_get_string(a, "name", ""));
    if (!strcmp(kind, "scalar") || !strcmp(kind, "struct"))
        put_values(r, a, i, prefix, place, alignment);
    else if (!strcmp(kind, "map"))
        header_put(r, "        name_map(s, c->buffer[%zu], %" PRId64 ", %stensor_map_%zu_on(%zu name_given_sizes));\n",
                   buffer, alignment, prefix, place, i);
    else if (!strcmp(kind, "buffer"))
        header_put(r, "        name_buffer(s, c->buffer[%zu], %" PRId64 ");\n", buffer, alignment);
    else
        header_put(r, "        name_object(s, c->object[%zu]);\n", object_of(r, a));
}

static void put_fill_case(struct renderer *r, const json_t *section, size_t i, const json_t *stage, size_t k)
{
    const json_t *library = json_object_get(stage, "library");
    const char *name = json_get_string(stage, "name", "?"), *prefix = json_get_string(r->prefixes, name, "");
    autojson json_t *loops = header_loops(r->sections, name);
    if (loops && library)
        header_refuse(r, "a launch cannot be embedded: stage '%s' is a library call and runs repeatedly", name);
    r->repeated = loops ? prefix : NULL;
    header_put(r,
               "    case %zu * NAME_MOST_STAGES + %zu:\n"
               "        name_begin(s, %sgeometry_on(%zu name_given_sizes));\n"
               "        if (!s->shape.used || !arguments) break;\n",
               i, k, prefix, i);
    if (!library)
        json_array_each(json_object_get(stage, "arguments"), n, a) put_argument(r, section, i, a, prefix, n);
    header_put(r, "        break;\n");
    r->repeated = NULL;
}

// Writes the function `..._fill`, which evaluates a stage's launch and its arguments. launch.in declares and calls it.
// Functions in launch.in record errors in arguments, and check all launches of a section before they make the first
// one.
static void put_fill(struct renderer *r)
{
    header_put(r, "static inline void name_fill(int section, int stage, const struct name_call *c, long long run, int "
                  "arguments,\n    struct name_step *s)\n{\n");
    json_array_each(r->sizes, k, size)
        header_put(r, "    const long long size_%s = c->size[%zu];\n", json_string_value(size), k);
    header_put(r, "    (void)c;\n    (void)run;\n    (void)arguments;\nname_unused_sizes"
                  "    switch (section * NAME_MOST_STAGES + stage) {\n");
    json_array_each(r->sections, i, section) {
        if (!json_object_get(section, "binary")) continue;
        json_array_each(json_object_get(section, "stages"), k, stage)
            if (header_is_part(stage)) put_fill_case(r, section, i, stage, k);
    }
    header_put(r, "    default: s->shape.used = 0; break;\n    }\n}\n\n");
}

// Whether any section has stages that are run by name_launch_untimed() and not by name_launch().
static bool has_untimed(const struct renderer *r)
{
    bool any = false;
    json_array_each(r->sections, i, section)
        json_array_each(json_object_get(section, "stages"), k, stage) any |= json_get_bool(stage, "untimed", false);
    return any;
}

static void put_launch(struct renderer *r, bool untimed)
{
    bool library = calls_library(r), several = header_several_kernels(r->sections);
    autorelease(text_release) struct text call = {0};
    if (untimed)
        header_put(r,
                   "/* The stages that are not part of name_launch() and its times, with the same arguments. Call it "
                   "before the first\n * launch, and again when the sizes or the buffers that these stages read have "
                   "changed; leave those that they\n * write as they are. */\n");
    else
        header_put(r,
                   "/* Launches on a stream: the sizes, then the buffers%s%s. With NAME_ALLOW_UNVERIFIED defined, any "
                   "sizes are accepted. */\n",
                   header_objects(r) ? ", then texture and surface objects" : "",
                   library ? ", then the callback for a library's stage" : "");
    header_put(r,
               "static inline int name_%s(const struct name_kernels *kernels, name_stream stream name_declared_sizes",
               untimed ? "launch_untimed" : "launch");
    json_array_each(r->sizes, i, each) text_add(&call, "    c.size[%zu] = size_%s;\n", i, json_string_value(each));
    json_array_each(header_buffers(r), i, each) {
        autofree char *name = header_identifier(json_get_string(each, "name", "?"));
        int element = header_element_of(each);
        bool in = !strcmp(json_get_string(each, "direction", ""), "in");
        header_put(r, in ? ", NAME_IN(%s) buffer_%s" : ", NAME_OUT(%s) buffer_%s",
                   header_only_bits(element) ? "void" : header_c_type(element), name);
        text_add(&call, "    c.buffer[%zu] = %s_ADDRESS(buffer_%s);\n", i, r->upper, name);
    }
    json_array_each(header_objects(r), i, each) {
        autofree char *name = header_object_name(each);
        header_put(r, ", unsigned long long %s", name);
        text_add(&call, "    c.object[%zu] = %s;\n", i, name);
    }
    if (library) header_put(r, ", name_library_call *call, void *user");
    header_put(r, ")\n{\n    struct name_call c;\n"
                  "    int section = kernels->section, number = 0, status = name_check(kernels);\n"
                  "    if (status) return status;\n");
    if (several)
        header_put(r, "    number = name_select_on(section, name_binaries(&number)[section].kernels "
                      "name_given_sizes);\n    if (number < 0) return NAME_SIZES;\n    section += number;\n");
    header_put(r, "#ifndef NAME_ALLOW_UNVERIFIED\n"
                  "    if (!name_supported_on(section name_given_sizes)) return NAME_SIZES;\n#endif\n"
                  "    memset(&c, 0, sizeof c);\n    c.stream = stream;\n");
    header_put(r, "%s%s    return name_run(kernels->kernel[number], section, &c, %d);\n}\n\n",
               call.text ? call.text : "", library ? "    c.library = call;\n    c.user = user;\n" : "", untimed);
}

void header_launch(struct renderer *r)
{
    if (!header_embeds(r->sections)) return;
    header_put(r, "/* Launching the embedded binary. */\n"
                  "#if !defined(__CUDACC_RTC__) && (defined(NAME_DRIVER_API) || defined(NAME_RUNTIME_API))\n"
                  "#if defined(NAME_DRIVER_API) && defined(NAME_RUNTIME_API)\n"
                  "#error \"define NAME_DRIVER_API or NAME_RUNTIME_API, not both\"\n#endif\n");
    put_room(r);
    header_put_template(r, embedded_header_status());
    header_put_template(r, embedded_header_launch());
    header_put_template(r, embedded_header_binaries());
    if (header_several_kernels(r->sections))
        header_put(r, "static inline int name_select_on(int first, int kernels name_declared_sizes);\n\n");
    put_binaries(r);
    put_stages(r);
    put_variables(r);
    put_fill(r);
    if (has_untimed(r)) put_launch(r, true);
    put_launch(r, false);
    header_put(r, "#undef NAME_EITHER\n#undef NAME_IN\n#undef NAME_OUT\n#undef NAME_ADDRESS\n#endif\n\n");
}
