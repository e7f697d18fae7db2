// See header_python.h. The part that is the same for all jobs is best.py. It does the checks and the launches.
#include "tuner/header/header_python.h"

#include "kernels/element.h"
#include "tuner/base/embedded.h"
#include "tuner/base/output_file.h"
#include "tuner/header/header.h"
#include "tuner/header/header_parts.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
enum { LINE = 114 }; // characters

static void put_base64(FILE *f, const unsigned char *bytes, size_t size)
{
    for (size_t i = 0, column = 0; i < size; i += 3, column += 4) {
        unsigned left = (unsigned)smaller_of(size - i, 3), word = 0;
        for (unsigned k = 0; k < 3; k++) word = word << 8 | (k < left ? bytes[i + k] : 0);
        if (i && column % (LINE / 4 * 4) == 0) fputc('\n', f);
        for (unsigned k = 0; k < 4; k++) fputc(k <= left ? letters[word >> (18 - 6 * k) & 63] : '=', f);
    }
    fputc('\n', f);
}

// Reads the bytes in the lines after the current one.
static unsigned char *parse_base64(const char *text, size_t size)
{
    unsigned char *bytes = memory_new(size, 1);
    const char *at = strchr(text, '\n');
    unsigned word = 0, bits = 0;
    for (size_t i = 0; at && *at && i < size; at++) {
        const char *letter = strchr(letters, *at);
        if (!letter && *at != '\n') break;
        if (!letter) continue;
        word = word << 6 | (unsigned)(letter - letters);
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        bytes[i++] = (unsigned char)(word >> bits);
    }
    return bytes; // the caller checks their hash
}

// Adds the bits of a scalar whose type Python does not have.
static int add_bits(json_t *argument, const char *stage, struct error *err)
{
    unsigned bits;
    json_array_each(json_object_get(argument, "members"), i, member)
        if (add_bits(member, stage, err)) return -1;
    if (!json_object_get(argument, "value") && !json_object_get(argument, "real")) return 0;
    if (!header_only_bits(header_element_of(argument))) return 0;
    if (!header_scalar_bits(argument, &bits))
        return error_set(err, "a Python file cannot pass the %s scalar '%s' of stage '%s', which depends on sizes",
                         json_get_string(argument, "type", "?"), json_get_string(argument, "name", "?"), stage);
    json_object_set_new(argument, "bits", json_integer(bits));
    return 0;
}

static int complete_stage(const json_t *section, json_t *stage, struct error *err)
{
    const char *name = json_get_string(stage, "name", "?");
    if (!header_is_part(stage)) return 0;
    if (json_object_get(stage, "library"))
        return error_set(err, "a Python file cannot call a library, which stage '%s' needs; use --embed", name);
    if (json_get_bool(stage, "untimed", false))
        return error_set(err, "a Python file cannot run stage '%s' apart from the launches; use --embed", name);
    const char *symbol = header_symbol(section, stage, err);
    if (!symbol) return -1;
    json_object_set_new(stage, "symbol", json_string(symbol));
    json_array_each(json_object_get(stage, "arguments"), i, argument)
        if (add_bits(argument, name, err)) return -1;
    return 0;
}

// Adds to a section the members that only Python needs. -1 with a message if a launch takes something that a Python
// file cannot provide.
static int complete(const json_t *section, struct error *err)
{
    json_array_each(json_object_get(section, "objects"), i, object)
        return error_set(err, "a Python file cannot make a %s, and '%s' is one; use --embed",
                         json_get_string(object, "kind", "?"), json_get_string(object, "name", "?"));
    json_array_each(json_object_get(section, "constants"), i, constant)
        if (json_object_get(constant, "symbol"))
            return error_set(err, "a Python file cannot set variables of the module, such as '%s'; use --embed",
                             json_get_string(constant, "name", "?"));
    json_array_each(json_object_get(section, "buffers"), i, buffer)
        if (json_object_get(buffer, "filled"))
            return error_set(err, "a Python file can fill scratch only with zeros, not '%s'; use --embed",
                             json_get_string(buffer, "name", "?"));
    json_array_each(json_object_get(section, "stages"), i, stage)
        if (complete_stage(section, stage, err)) return -1;
    return 0;
}

// Adds the measured results.
static void add_results(struct text *t, const json_t *section)
{
    text_add(t, "\n%s (%s): %s\n", json_get_string(section, "device", "?"), json_get_string(section, "arch", "?"),
             json_get_string(section, "configuration", ""));
    json_array_each(json_object_get(section, "problems"), i, problem) {
        struct interval time = json_get_interval(problem, "time");
        text_add(t, "    %s  %s\n", json_get_string(problem, "name", "?"), show_interval(&time, TEXT_ROOM));
    }
    json_array_each(json_object_get(section, "ratios"), i, each) {
        struct interval ratio = json_get_interval(each, "ratio");
        text_add(t, "    %s times the speed of %s\n", show_ratio(&ratio, TEXT_ROOM),
                 json_get_string(each, "name", "?"));
    }
    if (!json_get_bool(section, "final", false))
        text_add(t, "    NOT decided in a final: the best of the search so far\n");
    if (!json_object_get(section, "supported")) text_add(t, "    NOT VERIFIED: no sizes are accepted\n");
}

// Writes the module's documentation.
static void put_document(FILE *f, const json_t *sections, const char *lower)
{
    autorelease(text_release) struct text t = {0};
    const json_t *first = json_array_get(sections, 0);
    text_add(&t, "%s: the fastest configuration that sweetspot found. Written by sweetspot; do not edit.\n",
             json_get_string(first, "job", "?"));
    json_array_each(sections, i, section) add_results(&t, section);
    text_add(&t,
             "\n"
             "    import %s_best as best\n"
             "    result = best.run(...)        the arrays ARRAYS, or only INPUTS\n"
             "    call = best.prepare(...)      checks them once; call() launches\n"
             "    best.op(...)                  torch.ops.sweetspot.%s_best, where torch is installed\n\n"
             "The arrays, row by row, and what they contain before every launch:\n",
             lower, lower);
    json_array_each(json_object_get(first, "buffers"), i, buffer) {
        text_add(&t, "    %s: %s, %s", json_get_string(buffer, "name", "?"), json_get_string(buffer, "type", "?"),
                 json_get_string(buffer, "direction", "?"));
        json_array_each(json_object_get(buffer, "shape"), k, size) {
            const char *text = json_string_value(size), *prefix = "size_";
            size_t skipped = strncmp(text, prefix, strlen(prefix)) ? 0 : strlen(prefix);
            text_add(&t, "%s%s", k ? " x " : ", ", text + skipped);
        }
        text_add(&t, ". %s\n",
                 json_object_get(buffer, "zero") ? "Filled with zeros before every launch"
                                                 : json_get_string(buffer, "before", ""));
    }
    text_add(&t,
             "Addresses are multiples of %" PRId64
             ". Launches that use the same arrays, or the same loaded binary, must run one after\n"
             "another: concurrent launches were not tested. supports(sizes) says which sizes are accepted.\n",
             json_get_integer(first, "alignment", 16));
    fputs("\"\"\"", f);
    for (const char *p = t.text; *p; p++) fprintf(f, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
    fputs("\"\"\"\n", f);
}

static void put_binaries(FILE *f, const json_t *sections, const struct binary_list *l)
{
    autojson json_t *seen = json_object();
    json_array_each(sections, i, section) {
        const struct embedded_binary *b = binary_list_of(l, section);
        if (!b || json_object_get(seen, b->hash)) continue;
        json_object_set_new(seen, b->hash, json_true());
        header_put_binary_mark(f, b);
        put_base64(f, b->bytes, b->size);
    }
}

struct python {
    json_t *sections;
    const struct binary_list *binaries;
};

static int put_file(FILE *f, void *user, struct error *err)
{
    static const char binaries[] = "@BINARIES@\n", sections[] = "@SECTIONS@\n";
    const struct python *p = user;
    const json_t *first = json_array_get(p->sections, 0);
    const char *job = json_get_string(first, "job", "kernel");
    autofree char *lower = header_identifier(job), *upper = header_upper(job),
                  *text = text_copy(embedded_header_python());
    struct renderer r = {.file = f, .sections = p->sections, .lower = lower, .upper = upper, .err = err};
    char *one = strstr(text, binaries), *other = strstr(text, sections);
    *one = *other = 0;
    put_document(f, p->sections, lower);
    header_put_template(&r, text);
    put_binaries(f, p->sections, p->binaries);
    fputs(one + strlen(binaries), f);
    json_array_each(p->sections, i, section) header_put_section(f, section);
    fputs(other + strlen(sections), f);
    return 0;
}

int header_python_write(const char *path, json_t *sections, struct binary_list *l, struct error *err)
{
    json_array_each(sections, i, section)
        if (complete(section, err)) return HEADER_COLLISION;
    if (!output_is_stream(path) && (output_make_folders(path, err) || binary_list_read(l, path, parse_base64, err)))
        return -1;
    json_array_each(sections, i, section)
        if (!binary_list_of(l, section))
            return error_set(err, "'%s' lacks the binary for %s: write that device's again", path,
                             json_get_string(section, "device", "?"));
    return output_file_write(path, put_file, &(struct python){sections, l}, err);
}
