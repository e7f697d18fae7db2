// See settings.h.
#include "tuner/base/settings.h"

#include "tuner/base/limits.h"

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

static json_t *write_one(const struct setting *s, const void *from)
{
    const void *member = (const char *)from + s->offset;
    switch (s->kind) {
    case SETTING_BOOL:
        return json_boolean(*(const bool *)member);
    case SETTING_CHOICE:
        return json_string(s->words[!*(const bool *)member]);
    case SETTING_INTEGER:
        return json_integer((json_int_t) * (const int64_t *)member);
    case SETTING_NUMBER:
    case SETTING_DURATION:
        return json_real(*(const double *)member);
    }
    return NULL;
}

json_t *settings_write(const struct setting *table, const void *from)
{
    json_t *object = json_object();
    for (const struct setting *s = table; s->name; s++)
        if (s->location != SETTING_JOB) json_object_set_new(object, s->name, write_one(s, from));
    return object;
}

// The number that stands for a value (of a choice, its word's place), or NaN if it is of another type.
static double read_one(const struct setting *s, const json_t *value)
{
    switch (s->kind) {
    case SETTING_BOOL:
        return json_is_boolean(value) ? json_is_true(value) : NAN;
    case SETTING_CHOICE:
        for (int i = 0; i < 2 && json_is_string(value); i++)
            if (!strcmp(s->words[i], json_string_value(value))) return !i;
        return NAN;
    case SETTING_INTEGER:
        return json_is_integer(value) ? (double)json_integer_value(value) : NAN;
    case SETTING_NUMBER:
    case SETTING_DURATION:
        return json_is_number(value) ? json_number_value(value) : NAN;
    }
    return NAN;
}

int settings_read(const struct setting *table, const json_t *object, void *to, struct error *err)
{
    for (const struct setting *s = table; s->name; s++) {
        const json_t *value = s->location == SETTING_JOB ? NULL : json_object_get(object, s->name);
        double number = value ? read_one(s, value) : s->fallback;
        if (!(number >= s->low && number <= s->high))
            return error_set(err, "setting '%s' is of the wrong type, or outside %g to %g", s->name, s->low, s->high);
        setting_set(s, to, number);
    }
    return 0;
}
