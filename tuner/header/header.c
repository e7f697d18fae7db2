// See header.h: reads sections from an existing header, merges them, and writes a whole header. The text is made only
// from the sections, so that a section from an older header is written unchanged. The inline functions are in
// header_functions.c.
//
// The text begins with a comment on how to use it. The choice of the device, the parameters and the data for a build
// follow, then inline functions for launch geometry and launching, then the evidence. The include guard does not cover
// the end: the parameters under the template's own names and, in a comment, the machine-readable sections. There, a
// parameter called `N` or `grid` cannot break any code, because no code follows. Function arguments are called size_M
// for the same reason.
#include "tuner/header/header.h"

#include <errno.h>

#include "tuner/base/input_file.h"
#include "tuner/base/output_file.h"
#include "tuner/header/header_parts.h"

static const char mark[] = "/* sweetspot-section ";

json_t *header_read(const char *path, struct error *err)
{
    autofree char *text = input_file_read(path, 0, NULL, err);
    if (!text) return errno == ENOENT || errno == ENOTDIR ? json_array() : NULL;
    autojson json_t *sections = json_array();
    int line = 0;
    for (char *at = text, *next; at; at = next) {
        next = strchr(at, '\n');
        if (next) *next++ = 0;
        line++;
        if (strncmp(at, mark, strlen(mark)) != 0) continue;
        char *end = strstr(at, " */");
        if (end) *end = 0;
        autojson json_t *section = json_parse(at + strlen(mark), err);
        int64_t version = json_get_integer(section, "version", 0);
        if (section && version == HEADER_SECTION_VERSION) {
            json_array_append(sections, section);
            continue;
        }
        if (section)
            error_set(err, "a section of version %lld, but this sweetspot writes version %d", (long long)version,
                      HEADER_SECTION_VERSION);
        error_prefix(err, "%s:%d", path, line);
        return NULL;
    }
    if (json_array_size(sections)) return json_incref(sections);
    error_set(err, "'%s' was not written by sweetspot", path);
    return NULL;
}

// Whether the objects of two lists, compared pair by pair, have equal values for these members.
static bool same_members(const json_t *a, const json_t *b, const char *const members[3])
{
    if (json_array_size(a) != json_array_size(b)) return false;
    for (size_t i = 0; i < json_array_size(a); i++)
        for (size_t k = 0; k < 3; k++)
            if (strcmp(json_get_string(json_array_get(a, i), members[k], ""),
                       json_get_string(json_array_get(b, i), members[k], "")) != 0)
                return false;
    return true;
}

// Whether one header can launch both sections: they must have the same stages, which must use the same buffers.
static bool same_interface(const json_t *a, const json_t *b)
{
    static const char *const stage[3] = {"name", "entry", "name"}, *const buffer[3] = {"name", "type", "direction"},
                             *const object[3] = {"name", "kind", "type"};
    return same_members(json_object_get(a, "stages"), json_object_get(b, "stages"), stage) &&
           same_members(json_object_get(a, "buffers"), json_object_get(b, "buffers"), buffer) &&
           same_members(json_object_get(a, "constants"), json_object_get(b, "constants"), buffer) &&
           same_members(json_object_get(a, "objects"), json_object_get(b, "objects"), object);
}

int header_merge(json_t *sections, const json_t *fresh, struct error *err)
{
    const json_t *section = json_array_get(fresh, 0);
    const char *device = json_get_string(section, "device", "");
    for (size_t i = json_array_size(sections); i-- > 0;) {
        const json_t *old = json_array_get(sections, i);
        if (json_get_bool(old, "python", false) != json_get_bool(section, "python", false))
            return error_set(err, "a C header and a Python file cannot be merged");
        if (strcmp(json_get_string(old, "job", ""), json_get_string(section, "job", "")) != 0)
            return error_set(err, "the header belongs to another job, '%s'", json_get_string(old, "job", ""));
        // An old fallback is removed too, because it was verified with an older version of the source.
        if (!strcmp(json_get_string(old, "device", ""), device) || header_is_fallback(old)) {
            json_array_remove(sections, i);
            continue;
        }
        if (!json_equal(json_object_get(old, "sizes"), json_object_get(section, "sizes")))
            return error_set(err, "the header's section for %s has other problem sizes than the job",
                             json_get_string(old, "device", ""));
        if (!same_interface(old, section))
            return error_set(err, "the header's section for %s has other entries or buffers than the job",
                             json_get_string(old, "device", ""));
    }
    for (size_t i = json_array_size(fresh); i-- > 0;) {
        json_t *one = json_array_get(fresh, i);
        if (header_is_fallback(one))
            json_array_append(sections, one);
        else
            json_array_insert(sections, 0, one);
    }
    return 0;
}

static char *device_macro(const json_t *section)
{
    return header_upper(json_get_string(section, "device", "unknown"));
}

// Writes the section as JSON with exact numbers, which the selector compares. A star next to a slash is escaped, so
// that the text neither ends nor opens a comment. An apostrophe is escaped for Python.
void header_put_section(FILE *file, const json_t *section)
{
    autofree char *text = json_dumps(section, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(17));
    fputs("/* sweetspot-section ", file);
    for (const char *p = text; *p; p++) {
        if (*p == '*' && (p[1] == '/' || (p > text && p[-1] == '/')))
            fputs("\\u002a", file);
        else if (*p == '\'')
            fputs("\\u0027", file);
        else
            fputc(*p, file);
    }
    fputs(" */\n", file);
}

static void comment_devices(struct renderer *r)
{
    json_array_each(r->sections, i, section) {
        int64_t kernels = json_get_integer(section, "kernels", 0);
        const char *configuration = json_get_string(section, "configuration", "");
        if (header_is_fallback(section)) {
            header_comment(r, " any other device: %s", configuration);
            header_comment(r,
                           "   the job's fallback, not tuned; verified on %s, at most %d bytes of shared memory "
                           "(NAME_DEVICE=FALLBACK)",
                           json_get_string(section, "verified_on", "?"), JOB_FALLBACK_SHARED);
            continue;
        }
        autofree char *kernel =
            kernels ? text_format(", kernel %" PRId64 " of %" PRId64, json_get_integer(section, "kernel", 0), kernels)
                    : text_copy("");
        header_comment(r, " %s (%s)%s: %s", json_get_string(section, "device", "?"),
                       json_get_string(section, "arch", "?"), kernel, configuration);
        if (!json_object_get(section, "supported") && !json_get_bool(section, "replayed", false))
            header_put(r, " *   NOT VERIFIED: nothing was compared with a reference, and no sizes are accepted.\n");
        if (!json_get_bool(section, "final", false))
            header_comment(r, "   NOT decided in a final: the best of the search so far, perhaps by luck");
        if (json_object_get(section, "shipped"))
            header_comment(
                r, "   comes with sweetspot: NOTHING was verified or measured on this machine; times and checks "
                   "are those of that GPU");
        header_advise(r, section);
    }
    const char *none = json_get_string(json_array_get(r->sections, 0), "no_fallback", "");
    if (*none) header_comment(r, " any other device: NONE, the job's fallback is left out: %s", none);
}

// Writes what a program needs to launch the binary.
static void comment_launching(struct renderer *r)
{
    autorelease(text_release) struct text arguments = {0};
    if (!header_embeds(r->sections)) {
        header_put(r, " * `sweetspot header JOB --embed` writes a header with the measured binary and functions that "
                      "launch it. Without it, compile the template:\n");
        return;
    }
    json_array_each(r->sizes, i, each) text_add(&arguments, ", %s", json_string_value(each));
    json_array_each(header_buffers(r), i, each) text_add(&arguments, ", %s", json_get_string(each, "name", "?"));
    json_array_each(header_objects(r), i, each) {
        autofree char *name = header_object_name(each);
        text_add(&arguments, ", %s", name);
    }
    header_put(r, " * To launch the binary that was measured, compile name_best_binary.c with your program, and\n *\n"
                  " *     #define NAME_DRIVER_API                  or NAME_RUNTIME_API\n"
                  " *     #include \"name_best.h\"\n *\n"
                  " *     struct name_kernels kernels;           for the current device\n"
                  " *     status = name_load(&kernels);\n");
    header_comment(r, "     status = name_launch(&kernels, stream%s);", arguments.text ? arguments.text : "");
    header_put(r,
               " *     name_unload(&kernels);\n *\n"
               " * Scalars have the values below, with which the kernel was verified. A status other than NAME_OK says "
               "what is wrong (name_status_text).\n *\n * Or compile the template:\n *\n");
}

static void put_opening(struct renderer *r)
{
    const json_t *first = json_array_get(r->sections, 0);
    bool stages = header_stage_count(first) > 1;
    autofree char *device = device_macro(first),
                  *call =
                      header_is_plain(r) ? text_format(", or call %s_launch(stream, sizes, buffers)", r->lower) : NULL;
    header_put(r, "/* ");
    header_put_comment(r->file, json_get_string(first, "job", "?"));
    header_put(r, ": the fastest configuration that sweetspot found%s. Written by sweetspot; do not edit.\n *\n",
               header_devices(r->sections) > 1 ? " for each of these devices" : "");
    comment_devices(r);
    header_put(r, " *\n");
    comment_launching(r);
    header_put(r, " *     #define NAME_DEFINE_PARAMETERS           the parameters under the template's own names too\n"
                  " *     #include \"name_best.h\"\n");
    header_comment(r, "     #include \"%s\"", json_get_string(first, "template", "?"));
    header_put(r,
               " *     #define NAME_UNDEFINE_PARAMETERS         undefines them, so that another job can follow\n"
               " *     #include \"name_best.h\"\n"
               " * with the options NAME_OPTIONS_NVCC or NAME_OPTIONS_NVRTC%s, and launch %s_%sENTRY with "
               "%s_%sgeometry(sizes)%s.\n"
               " * A compiled template may differ from the measured kernel in registers and code.\n *\n",
               json_get_integer(first, "includes", 0) ? ", the job's include folders" : "", r->upper,
               stages ? "<STAGE>_" : "", r->lower, stages ? "<stage>_" : "", call ? call : "");
    const json_t *edits = json_object_get(first, "edits");
    if (edits) header_comment(r, " The source was edited before it was compiled (kernel.edits):");
    json_array_each(edits, i, edit) header_comment(r, "     %s", json_string_value(edit));
    if (edits) header_put(r, " *\n");
    header_comment_arguments(r, first);
    header_comment_bindings(r, first);
    header_comment_contract(r, first);
    header_put(r, " * Define NAME_DEVICE as one of the devices (-D%s_DEVICE=%s); the default is the first.\n", r->upper,
               device);
    const json_t *regret = json_object_get(first, "regret");
    int held = (int)json_get_integer(regret, "held", 0);
    if (regret)
        header_comment(r, " A problem's kernel takes at most %.1f%% longer than the fastest known one.",
                       100 * json_get_number(regret, "tuned", 0));
    if (held)
        header_comment(r, " On the problems that were held back from the choice of kernels (%d): at most %.1f%%.", held,
                       100 * json_get_number(regret, "held_back", 0));
    if (header_several_kernels(r->sections))
        header_put(
            r, " * There are several kernels, each for some problems. Define NAME_KERNEL as 0, 1 ... NAME_KERNELS - "
               "1 and include the template once for\n"
               " * each, in a separate file, with its entry renamed. name_select(sizes) returns the one to launch "
               "(-1: none), and\n"
               " * ..._geometry_on(NAME_FIRST_SECTION + kernel, sizes) returns its launch geometry.\n");
    header_put(r, " * The build stops when the template has changed since, if the build passes the template's hash:\n"
                  " *   -DSWEETSPOT_SOURCE_HASH=$(sweetspot header JOB --hash)\n"
                  " */\n");
    header_put(r, "#ifndef SWEETSPOT_%s_BEST_H\n#define SWEETSPOT_%s_BEST_H\n\n", r->upper, r->upper);
}

// NAME_SECTION is the section of the device that NAME_DEVICE names, or the section of NAME_KERNEL if a device has
// several kernels. The preprocessor compares only numbers, so each device's name has a number. Any other name becomes
// 0, because compilers warn about an undefined macro in an #if.
static void put_selection(struct renderer *r)
{
    size_t number = 0;
    bool several = header_several_kernels(r->sections);
    const char *chosen = several ? "FIRST_SECTION" : "SECTION";
    autofree char *first = device_macro(json_array_get(r->sections, 0));
    autorelease(text_release) struct text names = {0};
    header_put(r,
               "#ifndef NAME_DEVICE\n#define NAME_DEVICE %s\n#endif\n"
               "#define NAME_CHOICE_3(name, number, ...) number\n#define NAME_CHOICE_2(name) NAME_CHOICE_3(name, 0, "
               "0)\n#define NAME_CHOICE_1(device) NAME_CHOICE_2(NAME_DEVICE_##device)\n"
               "#define NAME_CHOICE(device) NAME_CHOICE_1(device)\n",
               first);
    json_array_each(r->sections, i, section) {
        if (header_first_of_device(r->sections, i) != i) continue;
        autofree char *device = device_macro(section), *macro = text_format("DEVICE_%s", device);
        if (header_take(r, macro)) header_refuse(r, "the macro %s_%s would be defined twice", r->upper, macro);
        text_add(&names, "%s%s", number ? ", " : "", device);
        header_put(r, "#define NAME_DEVICE_%s 0, %zu\n", device, ++number);
    }
    number = 0;
    json_array_each(r->sections, i, section) {
        if (header_first_of_device(r->sections, i) != i || header_is_fallback(section)) continue;
        header_put(r, "#%s NAME_CHOICE(NAME_DEVICE) == %zu\n#define %s_%s %zu\n", number ? "elif" : "if", number + 1,
                   r->upper, chosen, i);
        number++;
        if (several) header_put(r, "#define NAME_KERNELS %" PRId64 "\n", json_get_integer(section, "kernels", 1));
    }
    if (r->fallback < 0)
        header_put(r, "#else\n#error \"NAME_DEVICE must be one of: %s\"\n#endif\n", names.text);
    else
        header_put(r, "#else /* a device without tuning results */\n#define %s_%s name_fallback_section\n", r->upper,
                   chosen);
    if (r->fallback >= 0 && several) header_put(r, "#define NAME_KERNELS 1\n");
    if (r->fallback >= 0) header_put(r, "#endif\n");
    if (several)
        header_put(r, "#ifndef NAME_KERNEL\n#define NAME_KERNEL 0\n#endif\n"
                      "#if NAME_KERNEL < 0 || NAME_KERNEL >= NAME_KERNELS\n"
                      "#error \"NAME_KERNEL must be from 0 to NAME_KERNELS - 1\"\n#endif\n"
                      "#define NAME_SECTION (NAME_FIRST_SECTION + NAME_KERNEL)\n");
    header_put(r, "\n");
}

static void put_parameters(struct renderer *r, const json_t *section)
{
    json_array_each(json_object_get(section, "parameters"), i, parameter) {
        const char *name = json_get_string(parameter, "name", "?");
        const json_t *value = json_object_get(parameter, "value");
        autofree char *macro = header_upper(name);
        // The job's reader refuses such names, but an older header that is merged may contain them.
        if (header_macro_taken(macro)) header_take(r, macro);
        if (json_is_string(value))
            header_define_text(r, name, json_string_value(value));
        else
            header_define(r, name, "%" PRId64, (int64_t)json_integer_value(value));
    }
}

static void put_macros(struct renderer *r)
{
    char number[32];
    header_put(r, "/* Text parameters are string literals here; macros with the template's own names expand to "
                  "unquoted text. */\n");
    json_array_each(r->sections, i, section) {
        const char *hash = json_get_string(section, "source_hash", "");
        header_put_condition(r, i);
        put_parameters(r, section);
        header_define_text(r, "device_name", json_get_string(section, "device", ""));
        header_define_text(r, "arch", json_get_string(section, "arch", ""));
        header_define(r, "compute", "%d", header_compute(section));
        header_define(r, "fallback", "%d", header_is_fallback(section));
        header_define_text(r, "configuration", json_get_string(section, "configuration", ""));
        header_source_macros(r, section);
        header_define_text(r, "source_hash_text", hash);
        header_define(r, "source_hash", "%sULL", header_hash_number(hash, number));
    }
    header_end_conditions(r);
    header_put(r,
               "\n#if defined(SWEETSPOT_SOURCE_HASH) && (SWEETSPOT_SOURCE_HASH + 0) != NAME_SOURCE_HASH\n"
               "#error \"the template has changed since %s was tuned: tune it again, or check with `sweetspot header "
               "JOB --check FILE`\"\n#endif\n\n",
               r->lower);
}

// Whether a parameter is a compiler option, not a macro of the template.
static bool is_option(const json_t *parameter)
{
    return !strcmp(json_get_string(parameter, "kind", ""), "option");
}

static void put_definition(struct renderer *r, const json_t *define)
{
    header_put(r, "#define %s %s\n", json_get_string(define, "name", "?"), json_get_string(define, "value", ""));
}

// The macros of the stage that the user builds. NAME_STAGE_<STAGE> selects this stage.
static void put_stage_macros(struct renderer *r, const json_t *section)
{
    const json_t *parameters = json_object_get(section, "parameters");
    json_array_each(json_object_get(section, "stages"), i, stage) {
        const json_t *defines = json_object_get(stage, "defines");
        autofree char *name = header_upper(json_get_string(stage, "name", "?"));
        if (defines) header_put(r, "#ifdef NAME_STAGE_%s\n", name);
        json_array_each(defines, k, item) {
            const char *macro = json_get_string(item, "name", "?");
            if (header_find(parameters, macro)) header_put(r, "#undef %s\n", macro);
            put_definition(r, item);
        }
        if (defines) header_put(r, "#endif\n");
    }
}

// Writes the parameters under the template's own names. An unroll factor is written as its pragma, and a string without
// quotation marks.
static void put_own_names(struct renderer *r)
{
    header_put(r, "#if defined(NAME_DEFINE_PARAMETERS) && !defined(NAME_PARAMETERS_DEFINED)\n"
                  "#define NAME_PARAMETERS_DEFINED\n");
    json_array_each(r->sections, i, section) {
        header_put_condition(r, i);
        json_array_each(json_object_get(section, "parameters"), k, item) {
            const char *name = json_get_string(item, "name", "?");
            const json_t *value = json_object_get(item, "value");
            int64_t number = json_integer_value(value);
            char pragma[JOB_UNROLL_PRAGMA_SIZE];
            if (is_option(item)) continue;
            if (json_is_string(value))
                put_definition(r, item);
            else if (!strcmp(json_get_string(item, "kind", ""), "unroll"))
                header_put(r, "#define %s%s%s\n", name, number ? " " : "", job_unroll_pragma(number, pragma));
            else
                header_put(r, "#define %s %" PRId64 "\n", name, number);
        }
        json_array_each(json_object_get(section, "defines"), k, item) put_definition(r, item);
        put_stage_macros(r, section);
    }
    header_end_conditions(r);
    header_put(r, "#endif\n");
}

static void undefine(struct renderer *r, const json_t *list, json_t *seen)
{
    json_array_each(list, k, item) {
        const char *name = json_get_string(item, "name", "?");
        if (!is_option(item) && !json_object_get(seen, name)) header_put(r, "#undef %s\n", name);
        json_object_set_new(seen, name, json_true());
    }
}

static void put_undefine(struct renderer *r)
{
    autojson json_t *seen = json_object();
    header_put(r, "#if defined(NAME_UNDEFINE_PARAMETERS) && defined(NAME_PARAMETERS_DEFINED)\n"
                  "#undef NAME_UNDEFINE_PARAMETERS\n#undef NAME_DEFINE_PARAMETERS\n"
                  "#undef NAME_PARAMETERS_DEFINED\n");
    json_array_each(r->sections, i, section) {
        json_array_each(json_object_get(section, "stages"), s, stage)
            undefine(r, json_object_get(stage, "defines"), seen);
        undefine(r, json_object_get(section, "parameters"), seen);
        undefine(r, json_object_get(section, "defines"), seen);
    }
    header_put(r, "#endif\n");
}

// The prefixes of the stages' functions. All sections have the same stages (header_merge).
static json_t *make_prefixes(const json_t *section, const char *lower)
{
    json_t *prefixes = json_object();
    json_array_each(json_object_get(section, "stages"), i, stage) {
        const char *name = json_get_string(stage, "name", "?");
        autofree char *identifier = header_identifier(name);
        json_object_set_new(prefixes, name,
                            header_stage_count(section) > 1 ? json_sprintf("%s_%s_", lower, identifier)
                                                            : json_sprintf("%s_", lower));
    }
    return prefixes;
}

// Removes helper functions of fn_arithmetic.h that nothing calls. Each consists of comments ("// ..."), a line with the
// name, and the body up to the empty line after it.
static void drop_unused(char *text, const char *lower)
{
    autofree char *word = text_format(" %s_fn_", lower);
    for (char *at = text; (at = strstr(at, word));) {
        autofree char *call = text_format("%.*s", (int)strcspn(at + 1, " (\n") + 1, at + 1);
        char *begin = at, *body = strchr(at, '\n'), *end = strstr(at, "\n}\n\n");
        while (begin > text && begin[-1] != '\n') begin--;
        bool defined = begin[0] != '/' && strchr(call, '(') && body && end && !strncmp(body, "\n{\n", 3);
        for (char *above = begin; above > text && (above == begin || !strncmp(above, "//", 2));) {
            begin = above--;
            while (above > text && above[-1] != '\n') above--;
        }
        const char *first = strstr(text, call), *second = first ? strstr(first + 1, call) : NULL;
        at += strlen(word);
        if (!defined || second) continue;
        memmove(begin, end + 4, strlen(end + 4) + 1);
        at = text; // functions that only this function called are now unused
    }
}

static int render(FILE *file, const json_t *sections, struct error *err)
{
    const json_t *first = json_array_get(sections, 0);
    const char *job = json_get_string(first, "job", "kernel");
    struct renderer r = {.file = file,
                         .sections = sections,
                         .sizes = json_object_get(first, "sizes"),
                         .lower = header_identifier(job),
                         .upper = header_upper(job),
                         .fallback = header_fallback_of(sections),
                         .macros = json_object(),
                         .err = err};
    r.prefixes = make_prefixes(first, r.lower);
    put_opening(&r);
    put_selection(&r);
    put_macros(&r);
    header_functions(&r);
    header_launch(&r);
    header_call(&r);
    header_provenance(&r);
    header_results(&r);
    header_put(&r, "#endif /* SWEETSPOT_%s_BEST_H */\n\n", r.upper);
    put_own_names(&r);
    put_undefine(&r);
    header_architecture(&r);
    fputc('\n', file);
    json_array_each(sections, i, section) header_put_section(file, section);
    json_decref(r.prefixes);
    json_decref(r.macros);
    free(r.lower);
    free(r.upper);
    return r.collided ? HEADER_COLLISION : 0;
}

int header_render(FILE *file, void *sections, struct error *err)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int result = render(out, sections, err);
    fclose(out);
    autofree char *lower = header_identifier(json_get_string(json_array_get(sections, 0), "job", "kernel"));
    drop_unused(text, lower);
    bool failed = fputs(text, file) < 0 && errno != EPIPE; // a reader may have closed the pipe early
    if (failed && !result) result = error_set(err, "cannot write the header: %s", strerror(errno));
    free(text);
    return result;
}

int header_write(const char *path, const json_t *sections, struct error *err)
{
    if (!output_is_stream(path) && output_make_folders(path, err)) return -1;
    return output_file_write(path, header_render, (json_t *)(uintptr_t)sections, err);
}
