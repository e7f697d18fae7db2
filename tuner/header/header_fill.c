// See header_parts.h. What can be wrong with an argument is noted by functions of launch.in, which check all launches
// of a section before the first one.
#include "kernels/element.h"
#include "tuner/base/base.h"
#include "tuner/header/header_bindings.h"
#include "tuner/header/header_parts.h"

bool header_is_part(const json_t *stage)
{
    return strcmp(json_get_string(stage, "when", "1"), "0") != 0;
}

static bool calls_library(const json_t *section)
{
    const json_t *stage;
    size_t i;
    json_array_foreach(json_object_get(section, "stages"), i,
                       stage) if (header_is_part(stage) && json_object_get(stage, "library")) return true;
    return false;
}

bool header_calls_library(const struct renderer *r)
{
    for (size_t i = 0; i < json_array_size(r->sections); i++)
        if (calls_library(json_array_get(r->sections, i))) return true;
    return false;
}

const json_t *header_buffers(const struct renderer *r)
{
    return json_object_get(json_array_get(r->sections, 0), "buffers");
}

static const char *c_type(int element)
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

// C99 has no such type: scalars are known bits, pointers are void *.
static bool only_bits(int element)
{
    return element_is_float((enum element)element) && element_size((enum element)element) < 4;
}

static int element_of(const json_t *described)
{
    int element = element_find(json_get_string(described, "type", ""));
    return element < 0 ? ELEMENT_I32 : element;
}

const char *header_pointed_type(const json_t *buffer)
{
    int element = element_of(buffer);
    return only_bits(element) ? "void" : c_type(element);
}

size_t header_argument_room(const json_t *stage)
{
    const json_t *a;
    size_t i, bytes = 0;
    json_array_foreach(json_object_get(stage, "arguments"), i, a)
    {
        bool map = !strcmp(json_get_string(a, "kind", ""), "map");
        bytes += map ? 256 : 15 + (size_t)json_get_integer(a, "bytes", 8);
    }
    return bytes;
}

// The number of the object that an argument is.
static size_t object_of(const struct renderer *r, const json_t *argument)
{
    size_t i;
    const json_t *each;
    json_array_foreach(header_objects(r), i, each)
    {
        if (!strcmp(json_get_string(each, "name", ""), json_get_string(argument, "name", "")) &&
            json_equal(json_object_get(each, "kind"), json_object_get(argument, "kind")))
            break;
    }
    return i;
}

// Stores a scalar at `at`, an expression for an address. FP16, BF16 and FP8 are stored as their bits, since C99 has no
// such types.
static void put_scalar(struct renderer *r, const json_t *a, size_t section, const char *function, const char *at)
{
    enum element element = (enum element)element_of(a);
    const char *value = json_get_string(a, "value", "0");
    size_t bytes = element_size(element);
    bool sign = element == ELEMENT_I8 || element == ELEMENT_I16 || element == ELEMENT_I32 || element == ELEMENT_I64;
    if (only_bits((int)element)) {
        uint16_t bits = 0; // of little-endian machines: an e4m3 is its first byte
        if (!json_object_get(a, "real") && !header_is_number(value))
            header_refuse(r, "a launch cannot be embedded: the %s scalar '%s' depends on sizes", element_name(element),
                          json_get_string(a, "name", "?"));
        element_store(element, json_get_number(a, "real", strtod(value, NULL)), &bits);
        header_put(r, "        name_integer(s, %s, %u, %zu, 0);\n", at, bits, bytes);
    } else if (element_is_float(element)) {
        header_put(r, "        name_real(%s, (double)%s_on(%zu name_given_sizes), %zu);\n", at, function, section,
                   bytes);
    } else {
        header_put(r, "        name_integer(s, %s, %s_on(%zu name_given_sizes), %zu, %d);\n", at, function, section,
                   bytes, sign);
    }
}

static void put_values(struct renderer *r, const json_t *a, size_t section, const char *prefix, size_t place)
{
    const json_t *members = json_object_get(a, "members"), *member;
    size_t i;
    if (!members) {
        char *function = header_scalar_name(prefix, place, NULL),
             *at = text_format("%s_value(s, %zu, 8)", r->lower, element_size((enum element)element_of(a)));
        put_scalar(r, a, section, function, at);
        free(function);
        free(at);
        return;
    }
    header_put(r, "        {\n        unsigned char *at = name_value(s, %" PRId64 ", 16);\n",
               json_get_integer(a, "bytes", 1));
    json_array_foreach(members, i, member)
    {
        char *function = header_scalar_name(prefix, place, member),
             *at = text_format("at + %" PRId64, json_get_integer(member, "offset", 0));
        put_scalar(r, member, section, function, at);
        free(function);
        free(at);
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
        put_values(r, a, i, prefix, place);
    else if (!strcmp(kind, "map"))
        header_put(r, "        name_map(s, c->buffer[%zu], %" PRId64 ", %stensor_map_%zu_on(%zu name_given_sizes));\n",
                   buffer, alignment, prefix, place, i);
    else if (!strcmp(kind, "buffer"))
        header_put(r, "        name_buffer(s, c->buffer[%zu], %" PRId64 ");\n", buffer, alignment);
    else
        header_put(r, "        name_object(s, c->object[%zu]);\n", object_of(r, a));
}

static void put_case(struct renderer *r, const json_t *section, size_t i, const json_t *stage, size_t k)
{
    const json_t *a, *library = json_object_get(stage, "library");
    const char *name = json_get_string(stage, "name", "?"), *prefix = json_get_string(r->prefixes, name, "");
    json_t *loops = header_loops(r->sections, name);
    size_t n;
    if (loops && library)
        header_refuse(r, "a launch cannot be embedded: stage '%s' is a library's and runs again and again", name);
    r->repeated = loops ? prefix : NULL;
    header_put(r,
               "    case %zu * NAME_MOST_STAGES + %zu:\n"
               "        name_begin(s, %sgeometry_on(%zu name_given_sizes));\n"
               "        if (!s->shape.used || !arguments) break;\n",
               i, k, prefix, i);
    if (!library)
        json_array_foreach(json_object_get(stage, "arguments"), n, a) put_argument(r, section, i, a, prefix, n);
    header_put(r, "        break;\n");
    r->repeated = NULL;
    json_decref(loops);
}

void header_fill(struct renderer *r)
{
    const json_t *section, *stage, *size;
    size_t i, k;
    header_put(r, "static inline void name_fill(int section, int stage, const struct name_call *c, long long run, int "
                  "arguments,\n    struct name_step *s)\n{\n");
    json_array_foreach(r->sizes, k, size)
        header_put(r, "    const long long size_%s = c->size[%zu];\n", json_string_value(size), k);
    header_put(r, "    (void)c;\n    (void)run;\n    (void)arguments;\nname_unused_sizes"
                  "    switch (section * NAME_MOST_STAGES + stage) {\n");
    json_array_foreach(r->sections, i, section)
    {
        if (!json_object_get(section, "binary")) continue;
        json_array_foreach(json_object_get(section, "stages"), k, stage) if (header_is_part(stage))
            put_case(r, section, i, stage, k);
    }
    header_put(r, "    default: s->shape.used = 0; break;\n    }\n}\n\n");
}
