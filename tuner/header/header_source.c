// See header_parts.h.
#include "tuner/base/nvcc_recipe.h"
#include "tuner/base/protocol.h"
#include "tuner/header/header_parts.h"

bool header_is_part(const json_t *stage)
{
    return strcmp(json_get_string(stage, "when", "1"), "0") != 0;
}

// Appends an option, separated by a blank.
static void add_option(struct text *t, const char *option)
{
    text_add(t, "%s%s", t->text ? " " : "", option);
}

static void define_options(struct renderer *r, const json_t *section)
{
    const char *arch = json_get_string(section, "arch", "");
    const json_t *options = json_object_get(section, "options");
    autorelease(text_release) struct text nvrtc = {0}, nvcc = {0};
    size_t count = json_array_size(options);
    autofree const char **given = memory_new(count, sizeof *given);
    if (*arch) text_add(&nvrtc, "--gpu-architecture=%s ", arch);
    text_add(&nvrtc, "-std=%s", PROTOCOL_CXX_STANDARD);
    for (size_t i = 0; i < count; i++) {
        const char *option = json_string_value(json_array_get(options, i));
        add_option(&nvrtc, given[i] = option ? option : "");
    }
    autorelease(text_list_release) struct text_list for_nvcc = nvcc_options(arch, given, count);
    for (size_t i = 0; i < for_nvcc.count; i++) add_option(&nvcc, for_nvcc.list[i]);
    header_define_text(r, "std", PROTOCOL_CXX_STANDARD);
    header_define_text(r, "options_nvrtc", nvrtc.text);
    header_define_text(r, "options_nvcc", nvcc.text ? nvcc.text : "");
}

// X(direction, type, name) for each buffer, in the order of name_launch's arguments.
static void define_buffers(struct renderer *r, const json_t *buffers)
{
    autorelease(text_release) struct text text = {0};
    text_add(&text, "%s", "");
    json_array_each(buffers, i, item) {
        autofree char *identifier = header_identifier(json_get_string(item, "name", "?"));
        text_add(&text, "%sX(%s, %s, %s)", i ? " " : "", json_get_string(item, "direction", "in"),
                 json_get_string(item, "type", "?"), identifier);
    }
    header_define_function(r, "buffers", "(X)", text.text);
}

static void define_stage(struct renderer *r, const json_t *section, const json_t *stage)
{
    const char *entry = json_get_string(stage, "entry", "");
    autofree char *prefix = header_stage_count(section) == 1 ? text_copy("")
                                                             : text_format("%s_", json_get_string(stage, "name", "?")),
                  *instantiation = nvcc_instantiation(entry), *name = text_format("%sentry", prefix),
                  *instance = text_format("%sinstantiate", prefix);
    header_define_text(r, name, entry);
    if (instantiation) header_define(r, instance, "%s", instantiation);
}

void header_source_macros(struct renderer *r, const json_t *section)
{
    const json_t *binary = json_object_get(section, "binary");
    header_define_text(r, "template", json_get_string(section, "template", ""));
    define_options(r, section);
    header_define(r, "alignment", "%" PRId64, json_get_integer(section, "alignment", 16));
    json_array_each(json_object_get(section, "stages"), i, stage)
        if (!json_object_get(stage, "library")) define_stage(r, section, stage);
    define_buffers(r, json_object_get(section, "buffers"));
    if (!binary) return;
    header_define_text(r, "binary_hash", json_get_string(binary, "hash", ""));
    header_define(r, "binary_bytes", "%" PRId64, json_get_integer(binary, "bytes", 0));
}

static void comment_argument(struct renderer *r, const char *prefix, size_t place, const json_t *argument)
{
    const char *kind = json_get_string(argument, "kind", ""), *name = json_get_string(argument, "name", "?");
    autofree char *text = NULL;
    if (!strcmp(kind, "scalar"))
        text = json_object_get(argument, "real")
                   ? text_format(" = %g", json_get_number(argument, "real", 0))
                   : text_format(" = %s: %sargument_%zu(sizes)", json_get_string(argument, "from", "?"), prefix, place);
    else if (!strcmp(kind, "struct"))
        text = text_format(", by value, %" PRId64 " bytes: %sargument_%zu_...(sizes)",
                           json_get_integer(argument, "bytes", 0), prefix, place);
    else
        text = text_format("%s, %s",
                           !strcmp(kind, "map")       ? ": tensor map"
                           : !strcmp(kind, "texture") ? ": texture object"
                           : !strcmp(kind, "surface") ? ": surface object"
                                                      : "",
                           json_get_string(argument, "direction", "in"));
    header_comment(r, "     %2zu  %-4s %s%s", place, json_get_string(argument, "type", "?"), name, text);
}

static void comment_attributes(struct renderer *r, const json_t *stage)
{
    const char *shared = json_get_string(stage, "shared", "0");
    bool number = header_is_number(shared);
    double fixed = json_get_number(stage, "shared_static", 0), blocks = 1; // doubles, so that sums cannot overflow
    for (size_t d = 0; d < 3; d++) {
        const json_t *size = json_array_get(json_object_get(stage, "cluster"), d);
        blocks *= json_is_string(size) ? strtod(json_string_value(size), NULL) : 1;
    }
    if (!number || strtod(shared, NULL) + fmax(fixed, 0) > 49152)
        header_comment(r,
                       "     before its first launch: cudaFuncSetAttribute(kernel, "
                       "cudaFuncAttributeMaxDynamicSharedMemorySize, %s)",
                       number ? shared : "shared_bytes(sizes)");
    if (blocks > 8)
        header_comment(r, "     before its first launch: cudaFuncSetAttribute(kernel, "
                          "cudaFuncAttributeNonPortableClusterSizeAllowed, 1)");
}

static void comment_macros(struct renderer *r, const json_t *stage)
{
    if (!json_object_get(stage, "defines")) return;
    autofree char *name = header_upper(json_get_string(stage, "name", "?"));
    header_comment(r,
                   "     its own macros: #define NAME_STAGE_%s and NAME_DEFINE_PARAMETERS, and compile the template "
                   "once for it",
                   name);
}

static void comment_repeat(struct renderer *r, const json_t *stage, const char *prefix)
{
    if (!json_object_get(stage, "repeat")) return;
    header_comment(r, "     it runs repeatedly: for (run = 0; %sgeometry(sizes, run).used; run++)", prefix);
    json_array_each(json_object_get(stage, "swap"), i, pair)
        header_comment(r,
                       "     after every run exchange %s and %s; and before the first stage once for every run, so "
                       "that the result ends up in the right buffer",
                       json_string_value(json_array_get(pair, 0)), json_string_value(json_array_get(pair, 1)));
}

void header_comment_arguments(struct renderer *r, const json_t *section)
{
    json_array_each(json_object_get(section, "stages"), i, stage) {
        const char *name = json_get_string(stage, "name", "?"), *prefix = json_get_string(r->prefixes, name, "");
        const json_t *library = json_object_get(stage, "library");
        if (!header_is_part(stage)) continue;
        if (library)
            header_comment(r, "   %s: a library call, %s by %s", name, json_get_string(library, "operation", "?"),
                           json_get_string(library, "by", "?"));
        else
            header_comment(r, "   %s: entry %s%s; its arguments", name, json_get_string(stage, "entry", "?"),
                           json_get_bool(stage, "cooperative", false) ? ", a cooperative launch" : "");
        if (json_get_bool(stage, "untimed", false))
            header_comment(r, "     not part of the times: run it before the others, when what it reads has changed");
        comment_macros(r, stage);
        comment_repeat(r, stage, prefix);
        json_array_each(json_object_get(stage, "arguments"), k, argument) comment_argument(r, prefix, k, argument);
        if (!library) comment_attributes(r, stage);
    }
}

void header_comment_bindings(struct renderer *r, const json_t *section)
{
    static const char no_guards[] = ", verified without guards around it";
    json_array_each(json_object_get(section, "constants"), i, one) {
        const char *direction = json_get_string(one, "direction", "in");
        if (!i) header_comment(r, "   variables of the module, to be set before a launch (cudaMemcpyToSymbol):");
        header_comment(r, "         %-4s %s, %s, %s bytes%s", json_get_string(one, "type", "?"),
                       json_get_string(one, "name", "?"), direction, json_get_string(one, "bytes", "?"),
                       strcmp(direction, "in") != 0 ? no_guards : "");
    }
    json_array_each(json_object_get(section, "objects"), i, one) {
        autorelease(text_release) struct text sizes = {0};
        const char *kind = json_get_string(one, "kind", "?");
        json_array_each(json_object_get(one, "size"), k, size)
            text_add(&sizes, "%s%s", k ? " x " : "", json_string_value(size));
        if (!i) header_comment(r, "   objects, which the caller makes:");
        header_comment(r, "         %s %s: %s, %s, %s%s", kind, json_get_string(one, "name", "?"),
                       json_get_string(one, "type", "?"), sizes.text ? sizes.text : "",
                       json_get_string(one, "about", ""), !strcmp(kind, "surface") ? no_guards : "");
    }
}

// Writes what was verified in addition to the job's problems.
static void put_drawn(struct renderer *r, const json_t *section, int64_t sizes)
{
    autorelease(text_release) struct text values = {0};
    json_array_each(json_object_get(section, "values"), i, word)
        text_add(&values, "%s%s", i ? ", " : " and with inputs that are also: ", json_string_value(word));
    header_put(r, "%" PRId64 " small\n * problems, with drawn sizes%s, were verified in the final as well.\n", sizes,
               values.text ? values.text : "");
}

void header_comment_contract(struct renderer *r, const json_t *section)
{
    bool verified = json_object_get(section, "supported") != NULL;
    int64_t sizes = json_get_integer(section, "sizes_verified", 0);
    header_put(r,
               " *\n * The contract: what a program must do, and all that a launch relies on. Buffers contain, before "
               "every launch:\n");
    json_array_each(json_object_get(section, "buffers"), i, buffer) {
        const char *before = json_get_string(buffer, "before", "");
        if (*before) header_comment(r, "     %-5s  %s", json_get_string(buffer, "name", "?"), before);
    }
    header_put(r, " * Variables of the module keep what the last launch left. Addresses are multiples of "
                  "NAME_ALIGNMENT; timed launches used\n"
                  " * multiples of 256, as allocators return them. Launches that use the same buffers, or the same "
                  "loaded module, must run one\n"
                  " * after another: concurrent launches were not tested. name_supported(sizes) says which sizes "
                  "are accepted: the verified range. ");
    if (!verified)
        header_put(r, "NOTHING\n * was verified here.\n");
    else if (sizes > 0)
        put_drawn(r, section, sizes);
    else
        header_put(r, "Only the\n * sizes of the job's problems were verified.\n");
}

char *header_object_name(const json_t *argument)
{
    autofree char *identifier = header_identifier(json_get_string(argument, "name", "?"));
    return text_format("%s_%s", json_get_string(argument, "kind", "texture"), identifier);
}

const json_t *header_objects(const struct renderer *r)
{
    return json_object_get(json_array_get(r->sections, 0), "objects");
}

const json_t *header_buffers(const struct renderer *r)
{
    return json_object_get(json_array_get(r->sections, 0), "buffers");
}

void header_architecture(struct renderer *r)
{
    autojson json_t *done = json_object();
    header_put(r, "#if defined(__CUDA_ARCH__) && defined(NAME_DEFINE_PARAMETERS) && !defined(NAME_ANY_ARCHITECTURE)\n");
    json_array_each(r->sections, i, section) {
        const char *arch = json_get_string(section, "arch", "");
        int compute = header_compute(section) * 10;
        if (!compute || json_object_get(done, arch)) continue;
        json_object_set_new(done, arch, json_true());
        header_put(r, "#if NAME_COMPUTE * 10 == %d && (__CUDA_ARCH__ != %d", compute, compute);
        if (arch[strlen(arch) - 1] == 'a') header_put(r, " || !defined(__CUDA_ARCH_FEAT_SM%d_ALL)", compute / 10);
        header_put(
            r, ")\n#warning \"%s: this section was tuned for %s and is compiled for another architecture\"\n#endif\n",
            r->lower, arch);
    }
    header_put(r, "#endif\n");
}
