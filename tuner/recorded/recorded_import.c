// Reading a recorded space: recognises the file's format, and repairs files that are not valid JSON. See recorded.h.

#include "tuner/base/gzip.h"
#include "tuner/recorded/recorded_parts.h"

// Python writes NaN and Infinity, which are not JSON. Outside strings they are overwritten with {} and blanks: "null"
// does not fit into three characters, and an empty object is not a number, a text or a list either.
static void overwrite_python_numbers(char *text)
{
    bool in_string = false;
    for (char *p = text; *p; p++) {
        if (*p == '"')
            in_string = !in_string;
        else if (*p == '\\' && in_string && p[1])
            p++;
        if (in_string || (*p != 'N' && *p != 'I')) continue;
        size_t length = strncmp(p, "NaN", 3) == 0 ? 3 : strncmp(p, "Infinity", 8) == 0 ? 8 : 0;
        if (length == 0) continue;
        bool minus = p > text && p[-1] == '-';
        memset(p, ' ', length);
        if (minus) p[-1] = ' ';
        memcpy(p, "{}", 2);
        p += length - 1;
    }
}

// Whether the first `size` bytes end with a comma and a line's end.
static bool ends_row(const char *text, size_t size)
{
    bool windows = size > 2 && text[size - 2] == '\r';
    return size > 1 && text[size - 1] == '\n' && text[size - 2 - windows] == ',';
}

// Kernel Tuner writes each entry, with a comma, on a separate line, and closes the cache when it ends. This function
// closes the cache of an interrupted tuner after its last entry or, if this entry is incomplete, after the last
// complete line. Returns NULL if the result is still not a cache.
static json_t *close_cache(const char *text, size_t size, const char **note)
{
    json_error_t ignored;
    json_t *document = NULL;
    *note = "cache was not closed, because its tuner was interrupted";
    for (int i = 0; i < 2 && !document && strstr(text, "\"cache\""); i++) {
        while (size && strchr(" \t\r\n,", text[size - 1])) size--;
        autofree char *closed = memory_new(size + 3, 1);
        memcpy(closed, text, size);
        memcpy(closed + size, "}}", 3);
        document = json_loads(closed, JSON_REJECT_DUPLICATES, &ignored);
        if (document) break;
        *note = "row is left out, because it is incomplete: the tuner of the cache was interrupted";
        while (size && !ends_row(text, size)) size--;
    }
    return document;
}

// The document of a file. On failure, returns NULL with a message that begins with the path.
static json_t *read_document(const char *path, const char **note, struct error *err)
{
    size_t size;
    json_error_t where;
    autofree char *file = gzip_read_file(path, &size, err);
    if (!file) return NULL;
    size_t mark = (size_t)(text_after_mark(file) - file);
    char *text = file + mark;
    size -= mark;
    overwrite_python_numbers(text);
    json_t *document = json_loadb(text, size, JSON_REJECT_DUPLICATES, &where);
    bool cut = (size_t)where.position + 2 >= size || json_error_code(&where) == json_error_premature_end_of_input;
    if (!document && cut) document = close_cache(text, size, note);
    if (!document && json_error_code(&where) == json_error_out_of_memory)
        error_set(err, "%s: out of host memory", path);
    else if (!document)
        error_set(err, "%s:%d: %s%s", path, where.line, cut ? "the file is truncated: " : "", where.text);
    return document;
}

static bool is_t1(const json_t *document)
{
    return json_is_object(json_object_get(document, "ConfigurationSpace"));
}

static int from_document(struct recorded *r, const json_t *document, const json_t *t1, struct error *err)
{
    if (json_is_array(json_object_get(document, "results"))) return recorded_from_t4(r, document, t1, err);
    if (json_is_array(json_object_get(document, "Results"))) return recorded_from_ktt(r, document, t1, err);
    if (t1)
        return error_set(err, "it lists its values itself: a T1 document belongs to a T4 document or KTT's results");
    if (!strcmp(json_get_string(document, "format", ""), "sweetspot-space"))
        return recorded_from_sweetspot(r, document, err);
    if (json_is_object(json_object_get(document, "cache"))) return recorded_from_kernel_tuner(r, document, err);
    if (is_t1(document))
        return error_set(err, "a T1 document describes a space and has no results: 'sweetspot import RESULTS --space "
                              "FILE' reads them together");
    return error_set(err,
                     "not a recorded space: neither sweetspot-space nor a Kernel Tuner cache, KTT's results or T4");
}

struct recorded *recorded_read_with(const char *path, const char *t1_path, struct error *err)
{
    const char *note = NULL;
    autojson json_t *t1 = t1_path ? read_document(t1_path, &note, err) : NULL;
    if (t1_path && !t1) return NULL;
    if (t1 && !is_t1(t1)) return error_set(err, "%s: not a T1 document: it lacks 'ConfigurationSpace'", t1_path), NULL;
    autojson json_t *document = read_document(path, &note, err);
    if (!document) return NULL;
    struct recorded *r = recorded_new();
    r->symbols = symbols_new();
    r->space = space_new(r->symbols);
    if (note) recorded_note(r, note);
    if (from_document(r, document, t1, err) || recorded_index(r, err)) {
        error_prefix(err, "%s", path);
        recorded_free(r);
        return NULL;
    }
    return r;
}

struct recorded *recorded_read(const char *path, struct error *err)
{
    return recorded_read_with(path, NULL, err);
}
