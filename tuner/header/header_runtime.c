// See header_runtime.h. The code that is the same for all kernels is in runtime_api.in, status.in, launch.in,
// runtime_kernels.in (which defines the words of programs) and runtime.in.
#include "tuner/header/header_runtime.h"

#include <ctype.h>
#include <errno.h>

#include "kernels/element.h"
#include "tuner/base/embedded.h"
#include "tuner/base/input_file.h"
#include "tuner/base/output_file.h"
#include "tuner/base/units.h"
#include "tuner/header/header_parts.h"

// limits.h and units.h have the other limits.
enum { MOST_BYTES = 4096, MOST_SIZES = 16, MOST_BUFFERS = 32 };

// A kernel's text while it is being written.
struct kernel_text {
    const json_t *section;
    struct text text;
    char *prefix; // of functions: "sgemm_fn_"
    struct error *err;
    bool failed;
};

static void refuse(struct kernel_text *w, const char *what, const char *name)
{
    if (!w->failed) error_set(w->err, "%s '%s'", what, name);
    w->failed = true;
}

// C code as postfix. Expressions are in parentheses (expr_to_c), so precedence does not matter. ----------------------

static const char *put_sum(struct kernel_text *w, const char *at);

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " ");
}

static const char *put_call(struct kernel_text *w, const char *at)
{
    size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
           prefix = strlen(w->prefix);
    bool function = at[length] == '(' && length > prefix && !strncmp(at, w->prefix, prefix);
    if (!function) return refuse(w, "sweetspot_runtime.c cannot evaluate", at), "";
    const char *next = at + length;
    do next = skip_blanks(put_sum(w, next + 1));
    while (*next == ',');
    const char *sign = !strncmp(at + prefix, "div(", 4) ? "/" : !strncmp(at + prefix, "rem(", 4) ? "%" : NULL;
    text_add(&w->text, " %.*s", sign ? 1 : (int)(length - prefix), sign ? sign : at + prefix);
    return *next ? next + 1 : next;
}

static const char *put_operand(struct kernel_text *w, const char *at)
{
    static const char size[] = "size_", real[] = "(double)";
    char *end;
    at = skip_blanks(at);
    if (!strncmp(at, real, strlen(real))) at += strlen(real);
    if (*at == '(') {
        at = skip_blanks(put_sum(w, at + 1));
        return *at ? at + 1 : at;
    }
    if (isdigit((unsigned char)*at) || (*at == '-' && isdigit((unsigned char)at[1]))) {
        text_add(&w->text, " %lld", strtoll(at, &end, 10));
        return end + strspn(end, "L");
    }
    if (*at == '-' || *at == '~' || *at == '!') {
        if (*at == '-') text_add(&w->text, " 0");
        const char *next = put_operand(w, at + 1);
        text_add(&w->text, " %c", *at);
        return next;
    }
    if (strncmp(at, size, strlen(size)) != 0) return put_call(w, at);
    json_array_each(json_object_get(w->section, "sizes"), i, each) {
        const char *name = json_string_value(each), *rest = at + strlen(size);
        if (strncmp(rest, name, strlen(name)) != 0 || isalnum((unsigned char)rest[strlen(name)]) ||
            rest[strlen(name)] == '_')
            continue;
        text_add(&w->text, " #%zu", i);
        return rest + strlen(name);
    }
    return put_call(w, at);
}

// Translates operands and the operators between them, from left to right.
static const char *put_sum(struct kernel_text *w, const char *at)
{
    at = skip_blanks(put_operand(w, at));
    while (*at && !strchr("),:", *at) && !w->failed) {
        size_t length = strspn(at, "+-*/%<>=!&|^?");
        const char *next = put_operand(w, at + (length ? length : 1));
        if (*at == '?') next = put_operand(w, skip_blanks(next) + 1);
        text_add(&w->text, " %.*s", (int)length, at);
        at = skip_blanks(next);
    }
    return at;
}

static void put_value(struct kernel_text *w, const char *c_text)
{
    const char *rest = put_sum(w, c_text);
    if (*rest) refuse(w, "sweetspot_runtime.c cannot evaluate", c_text);
}

static void put_values(struct kernel_text *w, const json_t *list, size_t count, const char *absent)
{
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(list, i);
        put_value(w, value ? json_string_value(value) : absent);
    }
}

// The launches ------------------------------------------------------------------------------------------------------

static size_t buffer_number(const struct kernel_text *w, const char *name)
{
    return header_index(json_object_get(w->section, "buffers"), name);
}

// Writes a scalar, or a member of a struct at an offset (-1: not a member).
static void put_scalar(struct kernel_text *w, const json_t *a, int64_t offset)
{
    enum element element = (enum element)header_element_of(a);
    size_t bytes = element_size(element);
    bool sign = element == ELEMENT_I8 || element == ELEMENT_I16 || element == ELEMENT_I32 || element == ELEMENT_I64;
    const char *buffer = json_get_string(a, "buffer", NULL);
    unsigned bits = 0;
    if (buffer) {
        put_value(w, json_get_string(a, "value", "0"));
        text_add(&w->text, " %" PRId64 " %zu pointer", offset, buffer_number(w, buffer));
    } else if (header_only_bits((int)element)) {
        if (!header_scalar_bits(a, &bits)) refuse(w, "sizes decide the scalar", json_get_string(a, "name", "?"));
        text_add(&w->text, " %u %zu 0 %" PRId64 " integer", bits, bytes, offset);
    } else if (json_object_get(a, "real")) {
        uint64_t stored = 0;
        element_store(element, json_get_number(a, "real", 0), &stored);
        text_add(&w->text, " %" PRId64 " %zu %d %" PRId64 " integer", (int64_t)stored, bytes, bytes == 8, offset);
    } else {
        put_value(w, json_get_string(a, "value", "0"));
        if (element_is_float(element))
            text_add(&w->text, " %zu %" PRId64 " real", bytes, offset);
        else
            text_add(&w->text, " %zu %d %" PRId64 " integer", bytes, sign, offset);
    }
}

static void put_map(struct kernel_text *w, const json_t *map)
{
    put_values(w, json_object_get(map, "sizes"), 5, "1");
    put_values(w, json_object_get(map, "strides"), 4, "16");
    put_values(w, json_object_get(map, "box"), 5, "1");
    text_add(&w->text, " %d %zu", header_map_type(json_get_string(map, "type", "")),
             json_array_size(json_object_get(map, "box")));
    put_value(w, json_get_string(map, "swizzle", "0"));
    put_value(w, json_get_string(map, "promotion", "0"));
    text_add(&w->text, " %d %zu map", json_get_bool(map, "nan", false),
             buffer_number(w, json_get_string(map, "buffer", "")));
}

static void put_argument(struct kernel_text *w, const json_t *stage, size_t place, const json_t *a)
{
    const char *kind = json_get_string(a, "kind", ""), *name = json_get_string(a, "name", "?");
    if (!strcmp(kind, "buffer")) {
        text_add(&w->text, " 0 -1 %zu pointer", buffer_number(w, name));
    } else if (!strcmp(kind, "scalar")) {
        put_scalar(w, a, -1);
    } else if (!strcmp(kind, "struct")) {
        text_add(&w->text, " %" PRId64 " struct", json_get_integer(a, "bytes", 1));
        json_array_each(json_object_get(a, "members"), i, member)
            put_scalar(w, member, json_get_integer(member, "offset", 0));
    } else if (!strcmp(kind, "map")) {
        json_array_each(json_object_get(stage, "tensor_maps"), i, map)
            if ((size_t)json_get_integer(map, "argument", -1) == place) put_map(w, map);
    } else {
        refuse(w, "sweetspot_runtime.c cannot pass a texture or surface, such as", name);
    }
}

static void put_stage(struct kernel_text *w, const json_t *stage)
{
    const char *name = json_get_string(stage, "name", "?"), *shared = json_get_string(stage, "shared", "0");
    int64_t fixed = json_get_integer(stage, "shared_static", 0);
    if (!header_is_part(stage)) return;
    if (header_argument_room(stage) + 256 > MOST_BYTES)
        refuse(w, "too large arguments for sweetspot_runtime.c in stage", name);
    if (json_object_get(stage, "library") || json_get_bool(stage, "untimed", false) || json_object_get(stage, "repeat"))
        refuse(w, "sweetspot_runtime.c cannot run a stage that is a library call, not timed or repeated, such as",
               name);
    const char *symbol = w->failed ? NULL : header_symbol(w->section, stage, w->err);
    if (!symbol) {
        w->failed = true;
        return;
    }
    text_add(&w->text, "stage %" PRId64 " %s %" PRId64 " %d %s\nlaunch", json_get_integer(stage, "unit", 0),
             header_is_number(shared) ? shared : "-1", fixed > 0 ? fixed : 0, header_product(stage, "cluster") > 8,
             symbol);
    put_value(w, json_get_string(stage, "when", "1"));
    text_add(&w->text, " %d", json_get_bool(stage, "cooperative", false));
    put_value(w, json_get_string(stage, "overlap", "0"));
    put_values(w, json_object_get(stage, "grid"), 3, "1");
    put_values(w, json_object_get(stage, "block"), 3, "1");
    put_values(w, json_object_get(stage, "cluster"), 3, "1");
    put_value(w, shared);
    text_add(&w->text, " shape");
    json_array_each(json_object_get(stage, "arguments"), i, a) put_argument(w, stage, i, a);
    text_add(&w->text, "\n");
}

// The kernel --------------------------------------------------------------------------------------------------------

// Writes a program that yields 1 if the sizes are supported and at least one stage is used for them.
static void put_supported(struct kernel_text *w)
{
    text_add(&w->text, "supported 1");
    json_array_each(json_object_get(w->section, "supported"), i, limit) {
        int64_t multiple = json_get_integer(limit, "multiple", 1);
        text_add(&w->text, " #%zu %" PRId64 " >= && #%zu %" PRId64 " <= && #%zu %" PRId64 " %% ! &&", i,
                 json_get_integer(limit, "least", 1), i, json_get_integer(limit, "most", 0), i,
                 multiple ? multiple : 1);
    }
    json_array_each(json_object_get(w->section, "conditions"), i, condition) {
        put_value(w, json_string_value(condition));
        text_add(&w->text, " &&");
    }
    text_add(&w->text, json_object_get(w->section, "supported") ? " 0" : " 0 && 0");
    json_array_each(json_object_get(w->section, "stages"), i, stage) {
        put_value(w, json_get_string(stage, "when", "1"));
        text_add(&w->text, " ||");
    }
    text_add(&w->text, " &&\n");
}

static void put_facts(struct kernel_text *w)
{
    const json_t *s = w->section, *problems = json_object_get(s, "times"),
                 *units = json_object_get(json_object_get(s, "binary"), "units");
    const char *compiler = json_get_string(s, "compiler", ""), *toolkit = strpbrk(compiler, "0123456789"),
               *driver = json_get_string(s, "driver", "");
    const json_t *stage = header_find_stage(s, json_get_string(s, "stage", ""));
    text_add(&w->text, "job %s\ndevice %s\ntoolkit %s\ndriver %s\nfinal %s%s\nsizes ", json_get_string(s, "job", "?"),
             json_get_string(s, "device", "?"), toolkit ? toolkit : "?", *driver ? driver : "?",
             json_get_bool(s, "final", false) ? "the final of " : "the trial of ",
             show_moment((double)json_get_integer(s, "when", 0), TEXT_ROOM));
    json_array_each(json_object_get(s, "sizes"), i, size)
        text_add(&w->text, "%s%s", i ? " " : "", json_string_value(size));
    text_add(&w->text, "\nbuffers ");
    json_array_each(json_object_get(s, "buffers"), i, b) {
        autofree char *name = header_identifier(json_get_string(b, "name", "?")); // without blanks
        text_add(&w->text, "%s%s:%s:%s", i ? " " : "", name, json_get_string(b, "type", "?"),
                 json_get_string(b, "direction", "?"));
    }
    text_add(&w->text, "\nneeds %d %" PRId64 " %" PRId64 " %" PRId64 "\nunits", header_compute(s),
             json_get_integer(s, "sm_count", 0), json_get_integer(s, "alignment", 16),
             json_get_integer(s, "at_once", 1));
    if (!json_array_size(units)) text_add(&w->text, " 0");
    json_array_each(units, i, unit) text_add(&w->text, " %lld", (long long)json_integer_value(unit));
    text_add(&w->text, "\nwork");
    put_value(w, json_get_string(s, "work", "1"));
    text_add(&w->text, "\nblocks");
    put_values(w, json_object_get(stage, "grid"), 3, stage ? "1" : "0");
    put_value(w, json_get_string(stage, "when", "1"));
    text_add(&w->text, " * * *\n");
    bool all = problems != NULL; // for one of several kernels, its times on all problems
    json_array_each(all ? problems : json_object_get(s, "problems"), i, problem) {
        double time = all ? json_get_number(problem, "time", NAN) : json_get_interval(problem, "time").value;
        text_add(&w->text, "problem %.9g", time);
        json_array_each(json_object_get(problem, "sizes"), k, size)
            text_add(&w->text, " %lld", (long long)json_integer_value(size));
        text_add(&w->text, "\n");
    }
}

// The kernel's text, malloc'ed. NULL with a message if it cannot be launched.
static char *make_text(const json_t *section, struct error *err)
{
    autofree char *identifier = header_identifier(json_get_string(section, "job", "kernel"));
    struct kernel_text w = {.section = section, .prefix = text_format("%s_fn_", identifier), .err = err};
    json_array_each(json_object_get(section, "objects"), i, object)
        refuse(&w, "sweetspot_runtime.c cannot pass a texture or surface, such as",
               json_get_string(object, "name", "?"));
    json_array_each(json_object_get(section, "constants"), i, constant)
        if (json_object_get(constant, "symbol"))
            refuse(&w, "sweetspot_runtime.c cannot set a variable, such as", json_get_string(constant, "name", "?"));
    put_facts(&w);
    put_supported(&w);
    json_array_each(json_object_get(section, "stages"), i, stage) put_stage(&w, stage);
    if (json_array_size(json_object_get(section, "sizes")) > MOST_SIZES ||
        json_array_size(json_object_get(section, "buffers")) > MOST_BUFFERS)
        refuse(&w, "too many sizes or buffers for sweetspot_runtime.c in", json_get_string(section, "job", "?"));
    free(w.prefix);
    if (!w.failed) return w.text.text;
    text_release(&w.text);
    return NULL;
}

void header_runtime_embed(FILE *f, const json_t *sections)
{
    autofree char *lower = header_identifier(json_get_string(json_array_get(sections, 0), "job", "kernel"));
    fprintf(f,
            "/* The same for sweetspot_runtime.c. */\n#ifndef SWEETSPOT_EMBEDDED\n#define SWEETSPOT_EMBEDDED\n"
            "struct sweetspot_embedded { const char *text; const unsigned char *image; };\n#endif\n"
            "extern const struct sweetspot_embedded %s_embedded[];\n"
            "const struct sweetspot_embedded %s_embedded[] = {\n",
            lower, lower);
    json_array_each(sections, i, section) {
        struct error err = {""};
        autofree char *name = header_binary_name(lower, section), *text = name ? make_text(section, &err) : NULL;
        if (name && !text) {
            fputs("    /* ", f);
            header_put_comment(f, err.message);
            fputs(" */\n", f);
        }
        for (char *line = text, *end; line && *line; line = end + 1) {
            end = strchr(line, '\n');
            *end = 0;
            autofree char *whole = text_format("%s\n", line), *literal = header_literal(whole);
            fprintf(f, "%s%s", line == text ? "    {" : "\n     ", literal);
        }
        if (text) fprintf(f, ", %s},\n", name);
    }
    fputs("    {0, 0}};\n\n", f);
}

int header_runtime_put(FILE *f, const json_t *section, const struct embedded_binary *b, struct error *err)
{
    char hash[HASH_TEXT_SIZE];
    autofree char *text = make_text(section, err);
    if (!text) return -1;
    struct hash *h = hash_new();
    hash_bytes(h, text, strlen(text));
    hash_bytes(h, b->bytes, b->size);
    hash_finish(h, hash);
    fprintf(f, "sweetspot-kernel 1 %s %zu %zu\n%s", hash, strlen(text), b->size, text);
    (void)!fwrite(b->bytes, 1, b->size, f); // `f` records write errors
    return 0;
}

static int put_runtime(FILE *f, void *user, struct error *err)
{
    struct renderer r = {.file = f, .lower = "sweetspot", .upper = "SWEETSPOT", .err = err};
    (void)user;
    header_put_template(&r, embedded_header_runtime_api());
    header_put_template(&r, embedded_header_status());
    fputs("#ifndef SWEETSPOT_DECLARATIONS\n#define SWEETSPOT_DRIVER_API\n#define SWEETSPOT_FUNCTION static inline\n\n",
          f);
    header_put_template(&r, embedded_fn_arithmetic());
    header_put_template(&r, embedded_fn_selector());
    header_put_template(&r, embedded_header_shape());
    header_put_template(&r, embedded_header_tensor_map());
    fprintf(f,
            "enum {\n    SWEETSPOT_MOST_UNITS = %d,\n    SWEETSPOT_MOST_STAGES = %d,\n    SWEETSPOT_MOST_ARGUMENTS = "
            "%d,\n    SWEETSPOT_MOST_BYTES = %d,\n    SWEETSPOT_MOST_SIZES = %d,\n    SWEETSPOT_MOST_BUFFERS = %d,\n"
            "    SWEETSPOT_MOST_OBJECTS = 1,\n    SWEETSPOT_MOST_SWAPS = 1\n};\n\n",
            UNITS_MAX, JOB_MAX_STAGES, JOB_MAX_ARGUMENTS, MOST_BYTES, MOST_SIZES, MOST_BUFFERS);
    header_put_template(&r, embedded_header_launch());
    header_put_template(&r, embedded_header_runtime_kernels());
    header_put_template(&r, embedded_header_runtime());
    return 0;
}

int header_runtime_write(const char *header, struct error *err)
{
    autofree char *folder = text_directory(header), *path = text_format("%s/sweetspot_runtime.c", folder),
                  *old = input_file_read(path, 0, NULL, err);
    if (!old && errno != ENOENT) return -1;
    if (old && !strstr(old, "\n#define SWEETSPOT_RUNTIME\n"))
        return error_set(err, "'%s' was not written by sweetspot", path);
    return output_file_write(path, put_runtime, NULL, err);
}
