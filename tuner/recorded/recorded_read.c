// Reading a recorded space: reads the file and recognises its format. See recorded.h.

#include "tuner/base/base.h"
#include "tuner/base/gzip.h"
#include "tuner/recorded/recorded_parts.h"

// Python writes NaN and Infinity, which are not JSON. Outside strings they become 0 and blanks, in place.
static void blank_python_numbers(char *text)
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
        // "null" does not fit into three letters; 0 will do, because a time of 0 counts as missing.
        memset(p, ' ', length);
        if (minus) p[-1] = ' ';
        *p = '0';
        p += length - 1;
    }
}

void recorded_warn(const struct recorded *r, const char *path)
{
    if (r->impossible)
        fprintf(stderr,
                "sweetspot: %s: %zu configurations count as failed, because their times are impossible (none, below "
                "100 ns, not a number)\n",
                path, r->impossible);
}

struct recorded *recorded_read(const char *path, struct error *err)
{
    size_t size;
    char *text = gzip_read_file(path, &size, err);
    if (!text) return NULL;
    blank_python_numbers(text);
    json_error_t where;
    json_t *document = json_loadb(text, size, JSON_REJECT_DUPLICATES, &where);
    free(text);
    if (!document) {
        bool cut = (size_t)where.position + 2 >= size || json_error_code(&where) == json_error_premature_end_of_input;
        if (json_error_code(&where) == json_error_out_of_memory)
            error_set(err, "%s: out of host memory", path);
        else
            error_set(err, "%s:%d: %s%s", path, where.line, cut ? "the file is truncated: " : "", where.text);
        return NULL;
    }
    struct recorded *r = recorded_new();
    r->symbols = symbols_new();
    r->space = space_new(r->symbols);
    const char *format = json_get_string(document, "format", "");
    int result;
    if (strcmp(format, "sweetspot-space") == 0)
        result = recorded_from_sweetspot(r, document, err);
    else if (json_is_object(json_object_get(document, "cache")))
        result = recorded_from_kernel_tuner(r, document, err);
    else if (json_is_array(json_object_get(document, "results")))
        result = recorded_from_t4(r, document, err);
    else
        result = error_set(err, "not a recorded space: neither sweetspot-space nor a Kernel Tuner cache nor T4");
    json_decref(document);
    if (result == 0) result = recorded_index(r, err);
    if (result < 0) {
        error_prefix(err, "%s", path);
        recorded_free(r);
        return NULL;
    }
    return r;
}
