// See header_parts.h.
#include <ctype.h>

#include "kernels/element.h"
#include "tuner/base/embedded.h"
#include "tuner/header/header_parts.h"

// Whether a call can be written: every section must have a single kernel, which is launched once and takes only buffers
// and plain scalars.
bool header_is_plain(const struct renderer *r)
{
    if (header_several_kernels(r->sections)) return false;
    json_array_each(r->sections, i, section) {
        const json_t *stage = json_array_get(json_object_get(section, "stages"), 0);
        autojson json_t *loops = header_loops(r->sections, json_get_string(stage, "name", ""));
        if (header_stage_count(section) != 1 || loops || json_object_get(stage, "library")) return false;
        json_array_each(json_object_get(stage, "arguments"), k, a) {
            const char *kind = json_get_string(a, "kind", "");
            bool bits = header_only_bits(header_element_of(a));
            if (strcmp(kind, "buffer") != 0 && (strcmp(kind, "scalar") != 0 || bits)) return false;
        }
    }
    return true;
}

// Writes the entry with the header's macros for parameters, because the parameters' own names may be undefined at the
// call.
static void put_entry(struct renderer *r, const json_t *section, const char *entry)
{
    const json_t *parameters = json_object_get(section, "parameters");
    for (const char *at = entry; *at;) {
        size_t length = 0;
        while (isalnum((unsigned char)at[length]) || at[length] == '_') length++;
        autofree char *word = text_format("%.*s", (int)(length ? length : 1), at);
        const json_t *parameter = isdigit((unsigned char)*at) ? NULL : header_find(parameters, word);
        autofree char *upper = header_upper(word);
        if (parameter && json_is_integer(json_object_get(parameter, "value")))
            fprintf(r->file, "%s_%s", r->upper, upper);
        else
            fputs(word, r->file);
        at += length ? length : 1;
    }
}

void header_call(struct renderer *r)
{
    const json_t *section = json_array_get(r->sections, 0),
                 *stage = json_array_get(json_object_get(section, "stages"), 0);
    const char *prefix = json_get_string(r->prefixes, json_get_string(stage, "name", ""), "");
    autorelease(text_release) struct text list = {0};
    if (!header_is_plain(r)) return;
    header_put(r, "/* The template's launch, once both are included; cudaErrorInvalidValue: sizes that are not "
                  "supported. */\n#if defined(__CUDACC__) && defined(__cplusplus) && !defined(__CUDACC_RTC__) && "
                  "!defined(NAME_DRIVER_API) && !defined(NAME_RUNTIME_API)\n");
    header_put_template(r, embedded_header_call());
    header_put(r,
               "template <typename Kernel>\nstatic inline cudaError_t name_launch_kernel(Kernel *kernel, cudaStream_t "
               "stream name_declared_sizes");
    json_array_each(header_buffers(r), k, each) {
        autofree char *name = header_identifier(json_get_string(each, "name", "?"));
        int element = header_element_of(each);
        header_put(r, ", %s%s *buffer_%s", strcmp(json_get_string(each, "direction", ""), "in") ? "" : "const ",
                   header_only_bits(element) ? "void" : header_c_type(element), name);
    }
    header_put(r, ")\n{\n    const struct name_launch_shape g = name_geometry(name_sizes);\n");
    json_array_each(json_object_get(stage, "arguments"), k, a) {
        bool buffer = !strcmp(json_get_string(a, "kind", ""), "buffer");
        autofree char *identifier = header_identifier(json_get_string(a, "name", "?")),
                      *function = header_scalar_name(prefix, k, NULL);
        const char *type = header_c_type(header_element_of(a));
        if (!buffer) header_put(r, "    %s argument_%zu = (%s)%s(name_sizes);\n", type, k, type, function);
        text_add(&list, buffer ? "%s(void *)&buffer_%s" : "%s(void *)&argument_%s", k ? ", " : "",
                 buffer ? identifier : strrchr(function, '_') + 1);
    }
    header_put(r,
               "    void *arguments[] = {%s};\n    if (!name_supported(name_sizes)) return cudaErrorInvalidValue;\n"
               "    return name_enqueue((const void *)kernel, stream, &g, arguments);\n}\n"
               "#define name_launch(...) name_launch_kernel(",
               list.text);
    put_entry(r, section, json_get_string(stage, "entry", "?"));
    header_put(r, ", __VA_ARGS__)\n#endif\n\n");
}
