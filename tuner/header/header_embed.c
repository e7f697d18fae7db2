// See header_embed.h.
#include "tuner/header/header_embed.h"

#include <errno.h>

#include "tuner/base/input_file.h"
#include "tuner/base/output_file.h"
#include "tuner/base/units.h"
#include "tuner/header/header_contract.h"
#include "tuner/header/header_parts.h"
#include "tuner/header/header_runtime.h"
#include "tuner/store/binary.h"

static const char mark[] = "/* sweetspot-binary ";

void binary_list_release(struct binary_list *l)
{
    for (size_t i = 0; i < l->count; i++) free(l->list[i].bytes);
    free(l->list);
}

static const struct embedded_binary *find(const struct binary_list *l, const char *hash)
{
    for (size_t i = 0; i < l->count; i++)
        if (!strcmp(l->list[i].hash, hash)) return &l->list[i];
    return NULL;
}

// Takes ownership of `bytes`.
static void add(struct binary_list *l, unsigned char *bytes, size_t size)
{
    struct embedded_binary binary = {.bytes = bytes, .size = size};
    hash_content(bytes, size, binary.hash);
    if (find(l, binary.hash))
        free(bytes);
    else
        memory_add(l->list, l->count) = binary;
}

static int get(struct store *store, int64_t trial, char hash[HASH_TEXT_SIZE], const void **bytes, size_t *size,
               struct error *err)
{
    int missing = store_trial_blob(store, trial, BINARY_BLOB, hash, err);
    if (!missing) missing = store_get_blob(store, hash, bytes, size, err);
    if (missing > 0)
        error_set(err,
                  "the store has no binary of trial %" PRId64 ": a final on a GPU stores it, a replayed one does not",
                  trial);
    return missing > 0 ? BINARY_MISSING : missing;
}

// The offset of each unit, or -1 for an unused unit. The list is empty if the binary is a single cubin. NULL with a
// message.
static json_t *units_json(const void *bytes, size_t size, struct error *err)
{
    autojson json_t *list = json_array();
    int count = units_count(bytes, size, err);
    size_t unit_size, first = count > 0 ? units_offset(bytes, size, 0, &unit_size) : 0;
    for (size_t u = 0; count > 0 && (count > 1 || first) && u < (size_t)count; u++) {
        size_t offset = units_offset(bytes, size, u, &unit_size);
        json_array_append_new(list, json_integer(unit_size ? (json_int_t)offset : -1));
    }
    return count > 0 ? json_incref(list) : NULL;
}

int binary_list_take(struct binary_list *l, json_t *section, struct store *store, int64_t trial, const json_t *device,
                     struct error *err)
{
    char hash[HASH_TEXT_SIZE];
    const void *bytes;
    size_t size;
    int failed = get(store, trial, hash, &bytes, &size, err);
    if (failed) return failed;
    unsigned char *copy = memory_new(size, 1);
    if (size) memcpy(copy, bytes, size);
    failed = contract_symbols(section, copy, size, err);
    add(l, copy, size);
    if (failed) return failed;
    json_t *document = store_get_document(store, trial, BINARY_DOCUMENT, NULL, err);
    if (!document && *err->message) return -1;
    if (!document) return error_set(err, "the store has a binary of trial %" PRId64 ", but not its symbols", trial);
    json_object_set_new(section, "binary", document);
    if (strcmp(json_get_string(document, "hash", ""), hash) != 0)
        return error_set(err, "the store's binary of trial %" PRId64 " does not match its document", trial);
    autojson json_t *units = units_json(bytes, size, err);
    if (!units) return error_prefix(err, "the store's binary of trial %" PRId64, trial);
    if (json_array_size(units)) json_object_set(document, "units", units);
    json_object_set_new(section, "sm_count",
                        json_integer(json_get_integer(json_object_get(device, "device"), "sm_count", 0)));
    return 0;
}

// Reads the bytes of an array, up to its end.
static unsigned char *parse(const char *text, size_t size)
{
    unsigned char *bytes = memory_new(size, 1);
    const char *at = strchr(text, '{');
    for (size_t i = 0; at && i < size; i++) {
        char *end;
        at++;
        unsigned long value = strtoul(at, &end, 10);
        if (end == at || value > 255) break;
        bytes[i] = (unsigned char)value;
        at = *end == ',' ? end : NULL;
    }
    return bytes; // the caller checks their hash
}

const struct embedded_binary *binary_list_of(const struct binary_list *l, const json_t *section)
{
    return find(l, json_get_string(json_object_get(section, "binary"), "hash", ""));
}

int binary_list_read(struct binary_list *l, const char *path, binary_parser *parser, struct error *err)
{
    autofree char *text = input_file_read(path, 0, NULL, err);
    const char *at = text ? strstr(text, mark) : NULL;
    if (!text && errno != ENOENT && errno != ENOTDIR) return -1;
    int result = text && !at ? error_set(err, "'%s' was not written by sweetspot", path) : 0;
    for (; at; at = strstr(at + 1, mark)) {
        char hash[HASH_TEXT_SIZE];
        size_t size;
        // NOLINTNEXTLINE(cert-err34-c): a number that is too large becomes the largest number and is refused
        if (sscanf(at + strlen(mark), "%32s %zu", hash, &size) == 2 && size <= strlen(at))
            add(l, parser(at, size), size);
    }
    return result;
}

void header_put_binary_mark(FILE *f, const struct embedded_binary *b)
{
    fprintf(f, "%s%s %zu */\n", mark, b->hash, b->size);
}

static void put_array(FILE *f, const char *name, const struct embedded_binary *b)
{
    size_t size = b->size;
    int column = 0;
    header_put_binary_mark(f, b);
    fprintf(f, "extern const unsigned char %s[%zu];\nALIGNED const unsigned char %s[%zu] = {\n", name, size, name,
            size);
    for (size_t i = 0; i < size; i++) {
        column += fprintf(f, "%d,", b->bytes[i]);
        if (column >= 110 || i + 1 == size) column = fputc('\n', f) & 0;
    }
    fputs("};\n\n", f);
}

struct arrays {
    const json_t *sections;
    const struct binary_list *binaries;
};

static int put_all(FILE *f, void *arrays, struct error *err)
{
    const json_t *sections = ((struct arrays *)arrays)->sections;
    const struct binary_list *l = ((struct arrays *)arrays)->binaries;
    autojson json_t *seen = json_object();
    autofree char *lower = header_identifier(json_get_string(json_array_get(sections, 0), "job", "kernel"));
    int result = 0;
    fprintf(
        f,
        "/* Binaries that sweetspot measured, for %s_launch. Compiled as C, C++ or CUDA. Written by sweetspot; do not "
        "edit. */\n#if defined(__GNUC__)\n#define ALIGNED __attribute__((aligned(64)))\n#else\n#define ALIGNED\n"
        "#endif\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
        lower);
    json_array_each(sections, i, section) {
        autofree char *name = header_binary_name(lower, section);
        const struct embedded_binary *found = binary_list_of(l, section);
        if (name && !found)
            result = error_set(
                err,
                "the file next to the header lacks the binary for %s: write that device's header again with --embed",
                json_get_string(section, "device", "?"));
        else if (name && !json_object_get(seen, name))
            put_array(f, name, found);
        if (name) json_object_set_new(seen, name, json_true());
    }
    header_runtime_embed(f, sections);
    fputs("#ifdef __cplusplus\n}\n#endif\n", f);
    return result;
}

static char *path_of(const char *header)
{
    size_t name = text_before(header, ".h");
    return text_format("%.*s_binary.c", (int)(name ? name : strlen(header)), header);
}

int header_embed_write(const char *header, const json_t *sections, struct binary_list *binaries, struct error *err)
{
    if (!header_embeds(sections)) return 0;
    autofree char *path = path_of(header);
    int result = output_make_folders(path, err);
    if (!result) result = binary_list_read(binaries, path, parse, err);
    if (!result) result = header_runtime_write(path, err);
    return result ? result : output_file_write(path, put_all, &(struct arrays){sections, binaries}, err);
}

static int put_kernels(FILE *f, void *arrays, struct error *err)
{
    const struct arrays *a = arrays;
    json_array_each(a->sections, i, section) {
        const struct embedded_binary *found = binary_list_of(a->binaries, section);
        if (found && header_runtime_put(f, section, found, err)) return -1;
    }
    return 0;
}

int header_kernels_write(const char *path, const json_t *sections, const struct binary_list *binaries,
                         struct error *err)
{
    if (!output_is_stream(path) && output_make_folders(path, err)) return -1;
    return output_file_write(path, put_kernels, &(struct arrays){sections, binaries}, err);
}

struct bytes {
    const void *bytes;
    size_t size;
};

static int put_bytes(FILE *f, void *user, struct error *err)
{
    const struct bytes *b = user;
    (void)err; // `f` records write errors
    (void)!fwrite(b->bytes, 1, b->size, f);
    return 0;
}

int header_cubin_write(const char *path, struct store *store, int64_t trial, struct error *err)
{
    char hash[HASH_TEXT_SIZE];
    struct bytes cubin;
    int failed = get(store, trial, hash, &cubin.bytes, &cubin.size, err);
    if (failed) return failed;
    int units = units_count(cubin.bytes, cubin.size, err);
    size_t bytes;
    if (units < 0) return -1;
    if (units > 1 || units_offset(cubin.bytes, cubin.size, 0, &bytes))
        return error_set(err, "the stages have macros of their own, so that there is no single cubin; use --embed");
    if (!output_is_stream(path) && output_make_folders(path, err)) return -1;
    return output_file_write(path, put_bytes, &cubin, err);
}
