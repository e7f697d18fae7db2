// See compile_units.h. Each unit has a place of its own in the cache; the joined file has the hash of its content for a
// key, so that the same units are the same file.
#include "tuner/compile/compile_units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/clock.h"
#include "tuner/base/hash.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/base/units.h"
#include "tuner/source/cache.h"

struct joined {
    json_t *entries;
    char *warnings;
    double seconds;
    bool cached;
    const char *compiler; // of the last answer; NULL
    void *image[UNITS_MAX];
    size_t size[UNITS_MAX], count;
};

static json_t *fail(const char *reason)
{
    return json_pack("{s:s, s:o}", "status", PROTOCOL_ERROR, "reason", json_text(reason, strlen(reason)));
}

// Takes what an answer says of one unit. -1 with a message.
static int take(struct joined *all, int64_t unit, const json_t *answer, struct error *err)
{
    const json_t *warnings = json_object_get(answer, "warnings");
    const char *path = json_get_string(answer, "cubin", NULL), *compiler = json_get_string(answer, "compiler", NULL);
    json_t *entry;
    size_t i;
    json_array_foreach(json_object_get(answer, "entries"), i, entry)
    {
        json_object_set_new(entry, "unit", json_integer(unit));
        json_array_append(all->entries, entry);
    }
    json_array_foreach(warnings, i, entry)
    {
        char *longer = text_format("%s%s%s", all->warnings, *all->warnings ? "\n" : "", json_string_value(entry));
        free(all->warnings);
        all->warnings = longer;
    }
    all->seconds += json_get_number(answer, "seconds", 0);
    all->cached &= json_get_bool(answer, "cached", false);
    if (compiler) all->compiler = compiler;
    if ((size_t)unit >= all->count) all->count = (size_t)unit + 1;
    if (path && !(all->image[unit] = text_read_file(path, &all->size[unit])))
        return error_set(err, "cannot read '%s': %s", path, strerror(errno));
    return 0;
}

static json_t *join(struct joined *all, const char *cache, struct error *err)
{
    json_t *warnings = json_array();
    if (*all->warnings) json_array_append_new(warnings, json_text(all->warnings, strlen(all->warnings)));
    json_t *answer = json_pack("{s:s, s:f, s:O, s:o}", "status", status_name(STATUS_OK), "seconds", all->seconds,
                               "entries", all->entries, "warnings", warnings);
    if (all->compiler) json_object_set_new(answer, "compiler", json_string(all->compiler));
    if (cache) {
        size_t size;
        char key[HASH_TEXT_SIZE];
        void *file = units_join((const void *const *)all->image, all->size, all->count, &size, err);
        if (file) hash_content(file, size, key);
        int failed = !file || cache_add(cache, key, ".cubin", file, size, answer, err);
        free(file);
        if (failed) {
            json_decref(answer);
            return NULL;
        }
        char *path = cache_path(cache, key, ".cubin");
        json_object_set_new(answer, "cubin", json_string(path));
        free(path);
    }
    json_object_set_new(answer, "cached", json_boolean(all->cached));
    return answer;
}

json_t *compile_units(const json_t *request, const char *version,
                      json_t *(*compile)(const json_t *request, const char *version))
{
    const json_t *units = json_object_get(request, "units"), *unit;
    struct joined all = {.entries = json_array(), .warnings = text_copy(""), .cached = true};
    double deadline = json_get_number(request, "deadline", 0), begin = clock_now();
    json_t *answers = json_array(), *answer = NULL;
    struct error err = {"'units' is not a list of units"};
    size_t i;
    int failed = !json_array_size(units) ? -1 : 0;
    json_array_foreach(units, i, unit)
    {
        int64_t number = json_get_integer(unit, "unit", -1);
        double left = deadline > 0 ? fmax(deadline - (clock_now() - begin), 1e-3) : 0;
        if (failed || answer) break;
        if (number < 0 || number >= UNITS_MAX || all.image[number] ||
            !json_is_array(json_object_get(unit, "entries"))) {
            failed = error_set(&err, "unit %zu has no number of its own from 0 to %d, or no entries", i, UNITS_MAX - 1);
            break;
        }
        json_t *one = units_request(request, unit);
        if (left > 0) json_object_set_new(one, "deadline", json_real(left));
        json_t *made = compile(one, version);
        json_decref(one);
        json_array_append_new(answers, made); // `all` borrows from it
        if (status_find(json_get_string(made, "status", "")) == STATUS_OK)
            failed = take(&all, number, made, &err);
        else
            answer = json_incref(made);
    }
    if (!failed && !answer) answer = join(&all, json_get_string(request, "cache", NULL), &err);
    if (!answer) answer = fail(err.message);
    for (i = 0; i < UNITS_MAX; i++) free(all.image[i]);
    free(all.warnings);
    json_decref(all.entries);
    json_decref(answers);
    return answer;
}
