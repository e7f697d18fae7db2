// See header_source.h.
#include "tuner/header/header_source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/nvcc_recipe.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/header/header_section.h"

// "first option option ..". malloc'ed.
static char *joined(const char *first, const json_t *options)
{
    char *text = text_copy(first);
    const json_t *option;
    size_t i;
    json_array_foreach(options, i, option)
    {
        char *longer =
            text_format("%s%s%s", text, *text ? " " : "", json_is_string(option) ? json_string_value(option) : "");
        free(text);
        text = longer;
    }
    return text;
}

static void define_options(struct renderer *r, const json_t *section)
{
    const char *arch = json_get_string(section, "arch", "");
    const json_t *options = json_object_get(section, "options");
    json_t *for_nvcc = nvcc_options(arch, options);
    char *first = text_format("%s%s%s-std=%s", *arch ? "--gpu-architecture=" : "", arch, *arch ? " " : "",
                              PROTOCOL_CXX_STANDARD),
         *nvrtc = joined(first, options), *nvcc = joined("", for_nvcc);
    header_define_text(r, "std", PROTOCOL_CXX_STANDARD);
    header_define_text(r, "options_nvrtc", nvrtc);
    header_define_text(r, "options_nvcc", nvcc);
    free(first);
    free(nvrtc);
    free(nvcc);
    json_decref(for_nvcc);
}

static const json_t *buffer_of(const json_t *section, const char *name)
{
    const json_t *buffer;
    size_t i;
    json_array_foreach(json_object_get(section, "buffers"), i,
                       buffer) if (!strcmp(json_get_string(buffer, "name", ""), name)) return buffer;
    return NULL;
}

// NAME_ARGUMENTS(X): X(place, kind, type, direction, name) for each argument.
static void define_arguments(struct renderer *r, const char *stage, const char *joint, const json_t *arguments)
{
    const json_t *argument;
    size_t i;
    char *text = text_copy(""), *name = text_format("%s%sarguments", stage, joint);
    json_array_foreach(arguments, i, argument)
    {
        char *identifier = header_identifier(json_get_string(argument, "name", "?"));
        char *longer = text_format("%s%sX(%zu, %s, %s, %s, %s)", text, i ? " " : "", i,
                                   json_get_string(argument, "kind", "?"), json_get_string(argument, "type", "?"),
                                   json_get_string(argument, "direction", "in"), identifier);
        free(text);
        free(identifier);
        text = longer;
    }
    header_define_function(r, name, "(X)", text);
    free(text);
    free(name);
}

// NAME_BUFFERS(X): X(direction, type, name) for each buffer, in the order of name_launch's arguments.
static void define_buffers(struct renderer *r, const json_t *section)
{
    const json_t *buffer;
    size_t i;
    char *text = text_copy("");
    json_array_foreach(json_object_get(section, "buffers"), i, buffer)
    {
        char *identifier = header_identifier(json_get_string(buffer, "name", "?"));
        char *longer = text_format("%s%sX(%s, %s, %s)", text, i ? " " : "", json_get_string(buffer, "direction", "in"),
                                   json_get_string(buffer, "type", "?"), identifier);
        free(text);
        free(identifier);
        text = longer;
    }
    header_define_function(r, "buffers", "(X)", text);
    free(text);
}

void header_source_macros(struct renderer *r, const json_t *section)
{
    const json_t *stage, *binary = json_object_get(section, "binary");
    size_t i;
    header_define_text(r, "template", json_get_string(section, "template", ""));
    define_options(r, section);
    header_define(r, "alignment", "%" PRId64, json_get_integer(section, "alignment", 16));
    json_array_foreach(json_object_get(section, "stages"), i, stage)
    {
        bool only = header_stage_count(section) == 1;
        const char *name = only ? "" : json_get_string(stage, "name", "?"), *joint = only ? "" : "_";
        const char *entry = json_get_string(stage, "entry", "");
        if (json_object_get(stage, "library")) continue;
        char *macro = text_format("%s%sentry", name, joint);
        header_define_text(r, macro, entry);
        free(macro);
        char *instantiation = nvcc_instantiation(entry);
        if (instantiation) {
            macro = text_format("%s%sinstantiate", name, joint);
            header_define(r, macro, "%s", instantiation);
            free(macro);
        }
        free(instantiation);
        define_arguments(r, name, joint, json_object_get(stage, "arguments"));
    }
    define_buffers(r, section);
    if (!binary) return;
    header_define_text(r, "binary_hash", json_get_string(binary, "hash", ""));
    header_define(r, "binary_bytes", "%" PRId64, json_get_integer(binary, "bytes", 0));
}

static void comment_argument(struct renderer *r, const json_t *section, const char *prefix, size_t place,
                             const json_t *argument)
{
    FILE *f = r->file;
    const char *kind = json_get_string(argument, "kind", ""), *name = json_get_string(argument, "name", "?");
    const json_t *buffer = buffer_of(section, name);
    fprintf(f, " *     %2zu  %-4s ", place, json_get_string(argument, "type", "?"));
    header_put_comment(f, name);
    if (!strcmp(kind, "scalar")) {
        if (json_object_get(argument, "real")) {
            fprintf(f, " = %g", json_get_number(argument, "real", 0));
        } else {
            fputs(" = ", f);
            header_put_comment(f, json_get_string(argument, "from", "?"));
            fprintf(f, ": %sargument_%zu(sizes)", prefix, place);
        }
    } else if (!strcmp(kind, "struct")) {
        fprintf(f, ", by value, %" PRId64 " bytes: %sargument_%zu_...(sizes)", json_get_integer(argument, "bytes", 0),
                prefix, place);
    } else {
        const char *what = !strcmp(kind, "map")       ? ": tensor map"
                           : !strcmp(kind, "texture") ? ": texture object"
                           : !strcmp(kind, "surface") ? ": surface object"
                                                      : "";
        fprintf(f, "%s, %s", what, json_get_string(argument, "direction", "in"));
        if (buffer && json_get_bool(buffer, "zero", false)) fputs(", zero before every launch", f);
    }
    fputc('\n', f);
}

static void comment_attributes(struct renderer *r, const json_t *stage)
{
    const char *shared = json_get_string(stage, "shared", "0");
    bool number = !shared[strspn(shared, "0123456789")];
    int64_t fixed = json_get_integer(stage, "shared_static", 0), blocks = 1;
    for (size_t d = 0; d < 3; d++) {
        const json_t *size = json_array_get(json_object_get(stage, "cluster"), d);
        blocks *= json_is_string(size) ? strtoll(json_string_value(size), NULL, 10) : 1;
    }
    if (!number || strtoll(shared, NULL, 10) + (fixed > 0 ? fixed : 0) > 49152)
        fprintf(r->file,
                " *     before its first launch: cudaFuncSetAttribute(kernel, "
                "cudaFuncAttributeMaxDynamicSharedMemorySize, %s)\n",
                number ? shared : "shared_bytes(sizes)");
    if (blocks > 8)
        fputs(" *     before its first launch: cudaFuncSetAttribute(kernel, "
              "cudaFuncAttributeNonPortableClusterSizeAllowed, 1)\n",
              r->file);
}

static void comment_macros(struct renderer *r, const json_t *stage)
{
    if (!json_object_get(stage, "defines")) return;
    char *name = header_upper(json_get_string(stage, "name", "?"));
    fprintf(r->file,
            " *     its own macros: #define %1$s_STAGE_%2$s beside %1$s_DEFINE_PARAMETERS, and compile the template "
            "once for it\n",
            r->upper, name);
    free(name);
}

static void comment_repeat(struct renderer *r, const json_t *stage, const char *prefix)
{
    const json_t *pair, *swaps = json_object_get(stage, "swap");
    size_t i;
    if (!json_object_get(stage, "repeat")) return;
    fprintf(r->file, " *     it runs again and again: for (run = 0; %sgeometry(sizes, run).used; run++)\n", prefix);
    json_array_foreach(swaps, i, pair)
    {
        fputs(" *     after every run exchange ", r->file);
        header_put_comment(r->file, json_string_value(json_array_get(pair, 0)));
        fputs(" and ", r->file);
        header_put_comment(r->file, json_string_value(json_array_get(pair, 1)));
        fputs("; and before the first stage once for every run, so that the result is where it belongs\n", r->file);
    }
}

void header_comment_arguments(struct renderer *r, const json_t *section)
{
    const json_t *stage, *argument;
    size_t i, k;
    FILE *f = r->file;
    json_array_foreach(json_object_get(section, "stages"), i, stage)
    {
        const char *name = json_get_string(stage, "name", "?"), *when = json_get_string(stage, "when", "1");
        const json_t *library = json_object_get(stage, "library");
        if (!strcmp(when, "0")) continue;
        bool only = header_stage_count(section) == 1;
        char *identifier = header_identifier(name),
             *prefix = only ? text_format("%s_", r->lower) : text_format("%s_%s_", r->lower, identifier);
        fputs(" *   ", f);
        header_put_comment(f, name);
        if (library) {
            fprintf(f, ": a library call, %s by ", json_get_string(library, "operation", "?"));
            header_put_comment(f, json_get_string(library, "by", "?"));
        } else {
            fputs(": entry ", f);
            header_put_comment(f, json_get_string(stage, "entry", "?"));
            fputs(json_get_bool(stage, "cooperative", false) ? ", a cooperative launch; its arguments"
                                                             : "; its arguments",
                  f);
        }
        fputs("\n", f);
        comment_macros(r, stage);
        comment_repeat(r, stage, prefix);
        json_array_foreach(json_object_get(stage, "arguments"), k, argument)
            comment_argument(r, section, prefix, k, argument);
        if (!library) comment_attributes(r, stage);
        free(prefix);
        free(identifier);
    }
}

// Compute capabilities that a compiler may target, so that the warning can name them.
static const int known[] = {700, 720, 750, 800, 860, 870, 880, 890, 900, 1000, 1010, 1030, 1100, 1200, 1210};

static void warn(struct renderer *r, const char *arch, const char *other)
{
    fprintf(r->file, "#warning \"%s: this section was tuned for %s and is compiled for %s\"\n", r->lower, arch, other);
}

void header_architecture(struct renderer *r)
{
    const json_t *section;
    size_t i;
    FILE *f = r->file;
    json_t *done = json_object();
    fprintf(f, "#if defined(__CUDA_ARCH__) && defined(%1$s_DEFINE_PARAMETERS) && !defined(%1$s_ANY_ARCHITECTURE)\n",
            r->upper);
    json_array_foreach(r->sections, i, section)
    {
        const char *arch = json_get_string(section, "arch", "");
        int compute = header_compute(section) * 10;
        if (!compute || json_object_get(done, arch)) continue;
        json_object_set_new(done, arch, json_true());
        fprintf(f, "#if %s_COMPUTE * 10 == %d\n", r->upper, compute);
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
            if (known[k] == compute) continue;
            char *other = text_format("sm_%d", known[k] / 10);
            fprintf(f, "#if __CUDA_ARCH__ == %d\n", known[k]);
            warn(r, arch, other);
            fputs("#endif\n", f);
            free(other);
        }
        if (arch[strlen(arch) - 1] == 'a') {
            char *plain = text_format("%.*s", (int)strlen(arch) - 1, arch);
            fprintf(f, "#if __CUDA_ARCH__ == %d && !defined(__CUDA_ARCH_FEAT_SM%d_ALL)\n", compute, compute / 10);
            warn(r, arch, plain);
            fputs("#endif\n", f);
            free(plain);
        }
        fputs("#endif\n", f);
    }
    fputs("#endif\n", f);
    json_decref(done);
}
