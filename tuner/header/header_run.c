// See header_run.h.
//
// All launches of a section are checked before the first one: sizes, grids, addresses, ranges of scalars,
// tensor maps. An argument is copied into a variable of its type; a buffer's argument is its address.
#include "tuner/header/header_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/element.h"
#include "tuner/base/text.h"
#include "tuner/header/header_arguments.h"
#include "tuner/header/header_places.h"
#include "tuner/header/header_section.h"

bool header_is_number(const char *text)
{
    return *text && !text[strspn(text, "0123456789")];
}

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

// Of a stage that some section repeats, functions take the number of the run.
static void begin_repeated(struct renderer *r, const json_t *stage, const char *prefix)
{
    json_t *loops = header_loops(r->sections, json_get_string(stage, "name", "?"));
    r->repeated = loops ? prefix : NULL;
    json_decref(loops);
}

static void end_repeated(struct renderer *r)
{
    r->repeated = NULL;
}

static char *stage_prefix(struct renderer *r, const json_t *stage)
{
    char *identifier = header_identifier(json_get_string(stage, "name", "?")),
         *full = text_format("%s_%s_", r->lower, identifier), *plain = text_format("%s_", r->lower);
    bool only = json_array_size(r->prefixes) == 1 && !strcmp(json_string_value(json_array_get(r->prefixes, 0)), plain);
    free(identifier);
    free(only ? full : plain);
    return only ? plain : full;
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

// Fills the scalar's variable, and refuses values that do not fit.
static void fill_scalar(struct renderer *r, const json_t *a, size_t section, const char *function, const char *variable)
{
    static const struct {
        const char *low, *high;
    } range[ELEMENT_COUNT] = {
        [ELEMENT_U8] = {"0", "255"},          [ELEMENT_I16] = {"-32768", "32767"},
        [ELEMENT_U16] = {"0", "65535"},       [ELEMENT_U64] = {"0", NULL}, // sizes have a sign
        [ELEMENT_I8] = {"-128", "127"},       [ELEMENT_I32] = {"-2147483647LL - 1", "2147483647LL"},
        [ELEMENT_U32] = {"0", "4294967295LL"}};
    int element = element_of(a);
    const char *value = json_get_string(a, "value", "0");
    FILE *f = r->file;
    if (only_bits(element)) {
        uint16_t bits = 0; // of little-endian machines: an e4m3 is its first byte
        if (!json_object_get(a, "real") && !header_is_number(value) && !r->collided) {
            error_set(r->err, "a launch cannot be embedded: the %s scalar '%s' depends on sizes", element_name(element),
                      json_get_string(a, "name", "?"));
            r->collided = true;
        }
        element_store((enum element)element, json_get_number(a, "real", strtod(value, NULL)), &bits);
        fprintf(f, "        %s = %u;\n", variable, bits);
        return;
    }
    char *call = text_format("%s_on(%zu", function, section);
    if (range[element].low) {
        fprintf(f, "        wide = %s", call);
        header_put_sizes(r, ", ");
        fprintf(f, ");\n        if (wide < %s", range[element].low);
        if (range[element].high) fprintf(f, " || wide > %s", range[element].high);
        fprintf(f, ") return %s_SIZES;\n        %s = (%s)wide;\n", r->upper, variable, c_type(element));
    } else {
        fprintf(f, "        %s = (%s)%s", variable, c_type(element), call);
        header_put_sizes(r, ", ");
        fputs(");\n", f);
    }
    free(call);
}

// Fills the bytes of a struct, member by member.
static void fill_struct(struct renderer *r, const json_t *a, size_t section, const char *prefix, size_t stage,
                        size_t place)
{
    const json_t *member;
    size_t i;
    json_array_foreach(json_object_get(a, "members"), i, member)
    {
        char *function = header_scalar_name(prefix, place, member),
             *variable = text_format("s%zu_%zu_%zu", stage, place, i);
        fill_scalar(r, member, section, function, variable);
        fprintf(r->file, "        memcpy(s%zu_%zu + %" PRId64 ", &%s, sizeof %s);\n", stage, place,
                json_get_integer(member, "offset", 0), variable, variable);
        free(function);
        free(variable);
    }
    fprintf(r->file, "        a%zu[%zu] = s%zu_%zu;\n", stage, place, stage, place);
}

static void declare_stage(struct renderer *r, size_t k, const json_t *arguments, size_t *maps)
{
    const json_t *a;
    size_t n;
    FILE *f = r->file;
    if (json_array_size(arguments)) fprintf(f, "    void *a%zu[%zu];\n", k, json_array_size(arguments));
    json_array_foreach(arguments, n, a)
    {
        *maps += !strcmp(json_get_string(a, "kind", ""), "map");
        if (!strcmp(json_get_string(a, "kind", ""), "scalar"))
            fprintf(f, "    %s s%zu_%zu = 0;\n", c_type(element_of(a)), k, n);
        const json_t *members = json_object_get(a, "members"), *member;
        size_t i;
        if (members)
            fprintf(f, "    unsigned char s%zu_%zu[%" PRId64 "] = {0};\n", k, n, json_get_integer(a, "bytes", 1));
        json_array_foreach(members, i, member)
            fprintf(f, "    %s s%zu_%zu_%zu = 0;\n", c_type(element_of(member)), k, n, i);
    }
}

// Exchanges the names of a stage's pairs, as every run does.
static void put_swaps(struct renderer *r, const json_t *stage)
{
    const json_t *pair;
    size_t i;
    json_array_foreach(json_object_get(stage, "swap"), i, pair)
    {
        char *a = header_identifier(json_string_value(json_array_get(pair, 0))),
             *b = header_identifier(json_string_value(json_array_get(pair, 1)));
        fprintf(r->file,
                "        other = buffer_%1$s;\n        buffer_%1$s = buffer_%2$s;\n        buffer_%2$s = other;\n", a,
                b);
        free(a);
        free(b);
    }
}

// "for (run = 0; there is such a run; run++) {" or, of a stage that runs once, "if (it is used) {".
static void begin_runs(struct renderer *r, const char *prefix, size_t i, size_t k)
{
    fprintf(r->file,
            r->repeated ? "    for (run = 0;; run++) {\n        g%zu = %sgeometry_on(%zu"
                        : "    g%zu = %sgeometry_on(%zu",
            k, prefix, i);
    header_put_sizes(r, ", ");
    fprintf(r->file, r->repeated ? ");\n        if (!g%zu.used) break;\n" : ");\n    if (g%zu.used) {\n", k);
}

// What the names stand for before the first stage, so that each stands for its own buffer after the last one.
static void put_first_names(struct renderer *r, const json_t *section, size_t i)
{
    const json_t *stages = json_object_get(section, "stages");
    for (size_t k = json_array_size(stages); k-- > 0;) {
        const json_t *stage = json_array_get(stages, k);
        if (!header_is_part(stage) || !json_object_get(stage, "swap")) continue;
        char *prefix = stage_prefix(r, stage);
        begin_repeated(r, stage, prefix);
        begin_runs(r, prefix, i, k);
        put_swaps(r, stage);
        fputs("    }\n", r->file);
        end_repeated(r);
        free(prefix);
    }
}

static void put_stage_launch(struct renderer *r, size_t k, const json_t *stage)
{
    FILE *f = r->file;
    bool arguments = json_array_size(json_object_get(stage, "arguments")) > 0;
    fprintf(f,
            "        g%zu.overlap = g%zu.overlap && after_kernel;\n        status = %s_api_launch(kernel[%zu], stream, "
            "&g%zu, ",
            k, k, r->lower, k, k);
    fprintf(f, arguments ? "a%zu" : "0", k);
    fputs(");\n        if (status) return status;\n        after_kernel = 1;\n", f);
}

// The checks before the first launch, and the launch's arguments. A stage that runs again and again is launched with
// `launch`.
static void check_stage(struct renderer *r, const json_t *section, size_t i, size_t k, const json_t *stage,
                        size_t *maps, bool launch)
{
    const json_t *a;
    size_t n;
    FILE *f = r->file;
    char *prefix = stage_prefix(r, stage);
    int64_t alignment = json_get_integer(section, "alignment", 16);
    begin_repeated(r, stage, prefix);
    begin_runs(r, prefix, i, k);
    if (json_object_get(stage, "library")) {
        if (r->repeated && !r->collided)
            error_set(r->err, "a launch cannot be embedded: stage '%s' is a library's and runs again and again",
                      json_get_string(stage, "name", "?"));
        r->collided |= r->repeated != NULL;
        fprintf(f, "        if (!call) return %s_NO_CALLBACK;\n    }\n", r->upper);
        end_repeated(r);
        free(prefix);
        return;
    }
    fprintf(f, "        status = %s_check_grid(&g%zu);\n        if (status) return status;\n", r->lower, k);
    json_array_foreach(json_object_get(stage, "arguments"), n, a)
    {
        const char *kind = json_get_string(a, "kind", "");
        if (!strcmp(kind, "scalar")) {
            char *function = header_scalar_name(prefix, n, NULL), *variable = text_format("s%zu_%zu", k, n);
            fill_scalar(r, a, i, function, variable);
            fprintf(f, "        a%zu[%zu] = &%s;\n", k, n, variable);
            free(function);
            free(variable);
            continue;
        }
        if (!strcmp(kind, "struct")) {
            fill_struct(r, a, i, prefix, k, n);
            continue;
        }
        if (!strcmp(kind, "texture") || !strcmp(kind, "surface")) {
            char *object = header_object_name(a);
            fprintf(f, "        if (!%3$s) return %4$s_NO_POINTER;\n        a%1$zu[%2$zu] = &%3$s;\n", k, n, object,
                    r->upper);
            free(object);
            continue;
        }
        char *buffer = header_identifier(json_get_string(a, "name", "?"));
        fprintf(f, "        status = %s_check_address(buffer_%s, %" PRId64 ");\n        if (status) return status;\n",
                r->lower, buffer, alignment);
        if (!strcmp(kind, "map")) {
            fprintf(f, "        tensor = %stensor_map_%zu_on(%zu", prefix, n, i);
            header_put_sizes(r, ", ");
            fprintf(f,
                    ");\n        status = %s_encode(maps + %zu, buffer_%s, &tensor);\n        if (status) return "
                    "status;\n        a%zu[%zu] = maps + %zu;\n",
                    r->lower, 128 * *maps, buffer, k, n, 128 * *maps);
            ++*maps;
        } else {
            fprintf(f, "        a%zu[%zu] = &buffer_%s;\n", k, n, buffer);
        }
        free(buffer);
    }
    if (launch) put_stage_launch(r, k, stage);
    put_swaps(r, stage);
    fputs("    }\n", f);
    end_repeated(r);
    free(prefix);
}

static void launch_stage(struct renderer *r, const json_t *section, size_t i, size_t k, const json_t *stage,
                         size_t *maps)
{
    FILE *f = r->file;
    const json_t *argument;
    size_t n;
    json_t *loops = header_loops(r->sections, json_get_string(stage, "name", "?"));
    bool again = loops != NULL;
    json_decref(loops);
    if (again) {
        check_stage(r, section, i, k, stage, maps, true);
        return;
    }
    json_array_foreach(json_object_get(stage, "arguments"), n, argument) *maps +=
        !strcmp(json_get_string(argument, "kind", ""), "map");
    fprintf(f, "    if (g%zu.used) {\n", k);
    if (json_object_get(stage, "library")) {
        char *name = header_literal(json_get_string(stage, "name", ""));
        fprintf(f, "        if (call(user, %s, stream)) return %s_LIBRARY_FAILED;\n        after_kernel = 0;\n    }\n",
                name, r->upper);
        free(name);
        return;
    }
    put_stage_launch(r, k, stage);
    fputs("    }\n", f);
}

static bool repeats(const struct renderer *r, const json_t *section)
{
    const json_t *stage;
    bool any = false;
    size_t i;
    json_array_foreach(json_object_get(section, "stages"), i, stage)
    {
        json_t *loops = header_loops(r->sections, json_get_string(stage, "name", "?"));
        any |= loops != NULL;
        json_decref(loops);
    }
    return any;
}

void header_declare_object(struct renderer *r, const char *identifier)
{
    fprintf(r->file, ", unsigned long long %s", identifier);
}

static void use_object(struct renderer *r, const char *identifier)
{
    fprintf(r->file, "    (void)%s;\n", identifier);
}

void header_run(struct renderer *r, const json_t *section, size_t i)
{
    const json_t *stage, *buffer, *size;
    size_t k, maps = 0, used = 0;
    bool library = header_calls_library(r);
    FILE *f = r->file;
    fprintf(f, "static inline int %1$s_run_%2$zu(const %1$s_kernel *kernel, %1$s_stream stream", r->lower, i);
    json_array_foreach(r->sizes, k, size) fprintf(f, ", long long size_%s", json_string_value(size));
    json_array_foreach(header_buffers(r), k, buffer)
    {
        char *name = header_identifier(json_get_string(buffer, "name", "?"));
        fprintf(f, ", unsigned long long buffer_%s", name);
        free(name);
    }
    header_each_object(r, header_declare_object);
    if (library) fprintf(f, ", %s_library_call *call, void *user", r->lower);
    fprintf(f, ")\n{\n    int status = %s_OK, after_kernel = 0;\n    long long wide = 0;\n", r->upper);
    if (repeats(r, section))
        fputs("    long long run = 0;\n    unsigned long long other = 0;\n    (void)run;\n    (void)other;\n", f);
    json_array_foreach(json_object_get(section, "stages"), k, stage)
    {
        if (!header_is_part(stage)) continue;
        fprintf(f, "    struct %s_launch_shape g%zu;\n", r->lower, k);
        if (!json_object_get(stage, "library")) declare_stage(r, k, json_object_get(stage, "arguments"), &maps);
    }
    if (maps)
        fprintf(f, "    struct %1$s_tensor_map tensor;\n    unsigned char room[%2$zu], *maps = %1$s_aligned(room);\n",
                r->lower, 128 * (maps + 1));
    fputs("    (void)wide;\n    (void)kernel;\n    (void)stream;\n", f);
    if (library) fputs("    (void)call;\n    (void)user;\n", f);
    json_array_foreach(header_buffers(r), k, buffer)
    {
        char *name = header_identifier(json_get_string(buffer, "name", "?"));
        fprintf(f, "    (void)buffer_%s;\n", name);
        free(name);
    }
    header_each_object(r, use_object);
    put_first_names(r, section, i);
    json_array_foreach(json_object_get(section, "stages"), k, stage) if (header_is_part(stage))
        check_stage(r, section, i, k, stage, &used, false);
    put_first_names(r, section, i);
    used = 0;
    json_array_foreach(json_object_get(section, "stages"), k, stage) if (header_is_part(stage))
        launch_stage(r, section, i, k, stage, &used);
    fputs("    (void)after_kernel;\n    return status;\n}\n\n", f);
}
