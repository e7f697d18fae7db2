// See settings.h.
#include "tuner/base/settings.h"

#include "tuner/base/buffer_kind.h"
#include "tuner/base/limits.h"
#include "tuner/base/record.h"

static const char *const cache_text[] = {"cold", "warm", NULL};

#define ROW(type, kind, place, member, name, fallback, low, high, meaning) \
    {name,                                                                 \
     SETTING_##kind,                                                       \
     SETTING_##place,                                                      \
     offsetof(struct type, member),                                        \
     fallback,                                                             \
     low,                                                                  \
     high,                                                                 \
     SETTING_##kind == SETTING_CHOICE ? cache_text : NULL,                 \
     meaning},
#define VERIFY_ROW(...) ROW(verify_settings, __VA_ARGS__)
#define MEASURE_ROW(...) ROW(measure_settings, __VA_ARGS__)

const struct setting verify_table[] = {VERIFY_SETTINGS(VERIFY_ROW){0}};
const struct setting measure_table[] = {MEASURE_SETTINGS(MEASURE_ROW){0}};
const struct setting final_table[] = {FINAL_SETTINGS(MEASURE_ROW){0}};

void setting_set(const struct setting *s, void *to, double value)
{
    void *member = (char *)to + s->offset;
    switch (s->kind) {
    case SETTING_BOOL:
    case SETTING_CHOICE:
        *(bool *)member = value != 0;
        break;
    case SETTING_INTEGER:
        *(int64_t *)member = (int64_t)value;
        break;
    case SETTING_NUMBER:
    case SETTING_DURATION:
        *(double *)member = value;
        break;
    }
}

// A setting as a field of a record (record.h). Choices cannot be represented as fields.
static struct record_field as_record(const struct setting *s)
{
    static const enum record_kind kinds[] = {[SETTING_BOOL] = RECORD_BOOL,
                                             [SETTING_INTEGER] = RECORD_INTEGER,
                                             [SETTING_NUMBER] = RECORD_REAL,
                                             [SETTING_DURATION] = RECORD_REAL};
    return (struct record_field){.name = s->name,
                                 .kind = kinds[s->kind],
                                 .offset = s->offset,
                                 .flags = RECORD_ALWAYS,
                                 .low = s->low,
                                 .high = s->high};
}

json_t *settings_write(const struct setting *table, const void *from)
{
    json_t *object = json_object();
    for (const struct setting *s = table; s->name; s++) {
        const bool *choice = (const void *)((const char *)from + s->offset);
        struct record_field f = as_record(s);
        if (s->location == SETTING_JOB) continue;
        json_object_set_new(object, s->name,
                            s->kind == SETTING_CHOICE ? json_string(s->words[!*choice]) : record_get(&f, from));
    }
    return object;
}

int settings_read(const struct setting *table, const json_t *object, void *to, struct error *err)
{
    for (const struct setting *s = table; s->name; s++) {
        const json_t *value = s->location == SETTING_JOB ? NULL : json_object_get(object, s->name);
        struct record_field f = as_record(s);
        setting_set(s, to, s->fallback);
        if (!value) continue;
        if (s->kind != SETTING_CHOICE && record_take(&f, "the settings", value, to, NULL, err)) return -1;
        int word = s->kind == SETTING_CHOICE ? word_find(s->words, json_string_value(value)) : 0;
        if (word < 0) return error_set(err, "setting '%s' is of the wrong type", s->name);
        if (s->kind == SETTING_CHOICE) setting_set(s, to, !word);
    }
    return 0;
}
