// See header.h: reads a header back, merges, and writes it in one step. header_render.c makes its text.
#include "tuner/header/header.h"

#include <errno.h>

#include "tuner/base/base.h"
#include "tuner/base/input_file.h"
#include "tuner/base/output_file.h"
#include "tuner/header/header_parts.h"
#include "tuner/header/header_section.h"
#include "tuner/header/header_text.h"

static const char mark[] = "/* sweetspot-section ";

json_t *header_read(const char *path, struct error *err)
{
    char *text = input_file_read(path, 0, NULL, err);
    if (!text) return errno == ENOENT || errno == ENOTDIR ? json_array() : NULL;
    json_t *sections = json_array();
    int line = 0;
    for (char *at = text, *next; sections && at; at = next) {
        next = strchr(at, '\n');
        if (next) *next++ = 0;
        line++;
        if (strncmp(at, mark, strlen(mark)) != 0) continue;
        char *end = strstr(at, " */");
        if (end) *end = 0;
        json_t *section = json_parse(at + strlen(mark), err);
        int64_t version = json_get_integer(section, "version", 0);
        if (section && version == HEADER_SECTION_VERSION) {
            json_array_append_new(sections, section);
            continue;
        }
        if (section)
            error_set(err, "a section of version %lld, but this sweetspot writes version %d", (long long)version,
                      HEADER_SECTION_VERSION);
        error_prefix(err, "%s:%d", path, line);
        json_decref(section);
        json_decref(sections);
        sections = NULL;
    }
    free(text);
    if (sections && !json_array_size(sections)) {
        error_set(err, "'%s' was not written by sweetspot", path);
        json_decref(sections);
        return NULL;
    }
    return sections;
}

// Whether two lists of objects have equal values of these members, one by one.
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

// One header launches both: the same stages on the same buffers.
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
        // An old fallback was verified with an older source.
        if (!strcmp(json_get_string(old, "device", ""), device) || header_is_fallback(old)) {
            json_array_remove(sections, i);
            continue;
        }
        if (strcmp(json_get_string(old, "job", ""), json_get_string(section, "job", "")) != 0)
            return error_set(err, "the header belongs to another job, '%s'", json_get_string(old, "job", ""));
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

static int render_into(FILE *file, void *sections, struct error *err)
{
    return header_render(file, sections, err) ? HEADER_COLLISION : 0;
}

int header_write(const char *path, const json_t *sections, struct error *err)
{
    if (!output_is_stream(path) && output_make_folders(path, err)) return -1;
    return output_file_write(path, render_into, (json_t *)(uintptr_t)sections, err);
}
