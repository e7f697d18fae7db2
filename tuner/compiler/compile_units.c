// See compile_units.h. Each unit has a place of its own in the cache; the joined file has the hash of its content for a
// key, so that the same units are the same file.
#include "tuner/compiler/compile_units.h"

#include <errno.h>

#include "tuner/base/clock.h"
#include "tuner/base/hash.h"
#include "tuner/base/protocol.h"
#include "tuner/base/units.h"
#include "tuner/source/cache.h"

struct joined {
    struct arena memory;
    struct entry_answer *entries; // of all units, with room for all
    size_t entry_count;
    struct text warnings;
    double seconds;
    bool cached;
    const char *compiler; // of the last answer; "" where none says it
    void *image[UNITS_MAX];
    size_t size[UNITS_MAX], count;
};

// Takes what an answer says of one unit. -1 with a message.
static int take(struct joined *all, size_t unit, const struct compile_answer *answer, struct error *err)
{
    for (size_t i = 0; i < answer->entry_count; i++) {
        all->entries[all->entry_count] = answer->entries[i];
        all->entries[all->entry_count++].unit = unit;
    }
    for (size_t i = 0; i < answer->warning_count; i++)
        text_add(&all->warnings, "%s%s", all->warnings.length ? "\n" : "", answer->warnings[i]);
    if (!isnan(answer->seconds)) all->seconds += answer->seconds;
    all->cached &= answer->cached;
    if (*answer->compiler) all->compiler = answer->compiler;
    if (unit >= all->count) all->count = unit + 1;
    if (*answer->cubin && !(all->image[unit] = text_read_file(answer->cubin, &all->size[unit])))
        return error_set(err, "cannot read '%s': %s", answer->cubin, strerror(errno));
    return 0;
}

static json_t *join(struct joined *all, const char *cache, struct error *err)
{
    const char *warnings[] = {all->warnings.text};
    struct compile_answer answer = {.head.status = status_name(STATUS_OK),
                                    .seconds = all->seconds,
                                    .warnings = warnings,
                                    .warning_count = all->warnings.length != 0,
                                    .entries = all->entries,
                                    .entry_count = all->entry_count,
                                    .compiler = all->compiler};
    if (*cache) {
        size_t size;
        char key[HASH_TEXT_SIZE];
        json_t *kept = record_write(&compile_answer_record, &answer);
        void *file = units_join((const void *const *)all->image, all->size, all->count, &size, err);
        if (file) hash_content(file, size, key);
        int failed = !file || cache_add(cache, key, ".cubin", file, size, kept, err);
        free(file);
        json_decref(kept);
        if (failed) return NULL;
        char *path = cache_path(cache, key, ".cubin");
        answer.cubin = arena_copy(&all->memory, path);
        free(path);
    }
    answer.cached = all->cached;
    return record_write(&compile_answer_record, &answer);
}

// The request of one unit: with its macros in addition, and its entries.
static struct compile_request request_of(const struct compile_request *request, const struct compile_unit *unit,
                                         struct arena *memory)
{
    struct compile_request one = *request;
    struct record_named_text *defines =
        arena_new(memory, (request->define_count + unit->define_count) * sizeof *defines);
    one.define_count = 0;
    for (size_t i = 0; i < request->define_count; i++) defines[one.define_count++] = request->defines[i];
    for (size_t i = 0; i < unit->define_count; i++) {
        size_t k = 0;
        while (k < one.define_count && strcmp(defines[k].name, unit->defines[i].name) != 0) k++;
        defines[k] = unit->defines[i];
        if (k == one.define_count) one.define_count++;
    }
    one.defines = defines;
    one.entries = unit->entries;
    one.entry_count = unit->entry_count;
    one.units = NULL;
    one.unit_count = 0;
    return one;
}

json_t *compile_units(const struct compile_request *request, const char *version,
                      json_t *(*compile)(const struct compile_request *request, const char *version))
{
    struct joined all = {.cached = true, .compiler = ""};
    double begin = clock_now();
    json_t *answer = NULL;
    struct error err = {"'units' is not a list of units"};
    size_t entries = 0;
    int failed = !request->unit_count ? -1 : 0;
    for (size_t i = 0; i < request->unit_count; i++) entries += request->units[i].entry_count;
    all.entries = arena_new(&all.memory, entries * sizeof *all.entries);
    for (size_t i = 0; i < request->unit_count && !failed && !answer; i++) {
        const struct compile_unit *unit = &request->units[i];
        if (all.image[unit->unit]) {
            failed = error_set(&err, "unit %zu has no number of its own", i);
            break;
        }
        struct compile_request one = request_of(request, unit, &all.memory);
        if (request->deadline > 0) one.deadline = fmax(request->deadline - (clock_now() - begin), 1e-3);
        json_t *made = compile(&one, version);
        struct compile_answer reported;
        failed = record_read(&compile_answer_record, made, &reported, &all.memory, &err);
        if (!failed && !answer_is_ok(&reported.head))
            answer = json_incref(made);
        else if (!failed)
            failed = reported.entry_count == unit->entry_count ? take(&all, (size_t)unit->unit, &reported, &err)
                                                               : error_set(&err, "unit %zu has %zu entries, not %zu", i,
                                                                           reported.entry_count, unit->entry_count);
        json_decref(made);
    }
    if (!failed && !answer) answer = join(&all, request->cache, &err);
    if (!answer) answer = answer_refuse(PROTOCOL_ERROR, err.message);
    for (size_t i = 0; i < UNITS_MAX; i++) free(all.image[i]);
    free(all.warnings.text);
    arena_release(&all.memory);
    return answer;
}
