// See settings.h.
#include "tuner/base/settings.h"

#include <math.h>
#include <string.h>

#include "tuner/base/limits.h"

#define AT(member) offsetof(struct verify_settings, member)
const struct setting verify_table[] = {
    {"enabled", SETTING_BOOL, SETTING_SHARED, AT(enabled), 1, 0, 1, {NULL}},
    {"tolerance", SETTING_NUMBER, SETTING_SHARED, AT(tolerance), 1, 1e-6, 1e9, {NULL}},
    {"absolute", SETTING_NUMBER, SETTING_SHARED, AT(absolute), 0, 0, 1e300, {NULL}},
    {"relative", SETTING_NUMBER, SETTING_SHARED, AT(relative), 0, 0, 1e9, {NULL}},
    {"exact", SETTING_BOOL, SETTING_SHARED, AT(exact), 0, 0, 1, {NULL}},
    {"deterministic", SETTING_BOOL, SETTING_SHARED, AT(deterministic), 1, 0, 1, {NULL}},
    {"guard_bytes", SETTING_INTEGER, SETTING_SHARED, AT(guard_bytes), 4096, 0, 1 << 30, {NULL}},
    {"sanitize", SETTING_BOOL, SETTING_JOB, AT(sanitize), 1, 0, 1, {NULL}},
    {"sanitize_timeout", SETTING_DURATION, SETTING_JOB, AT(sanitize_timeout), 60, 0, INFINITY, {NULL}},
    {0},
};
#undef AT

#define AT(member) offsetof(struct measure_settings, member)
const struct setting measure_table[] = {
    {"cache", SETTING_CHOICE, SETTING_SHARED, AT(cold), 1, 0, 1, {"cold", "warm"}},
    {"warmup", SETTING_INTEGER, SETTING_SHARED, AT(warmup), 2, 0, 10000, {NULL}},
    {"min_samples", SETTING_INTEGER, SETTING_SHARED, AT(min_samples), 7, 3, 100000, {NULL}},
    {"max_samples", SETTING_INTEGER, SETTING_SHARED, AT(max_samples), 100, 3, 100000, {NULL}},
    {"precision", SETTING_NUMBER, SETTING_SHARED, AT(precision), 0.01, 1e-5, 1, {NULL}},
    {"max_time", SETTING_DURATION, SETTING_SHARED, AT(max_time), 0.5, 0, INFINITY, {NULL}},
    {"graph_below", SETTING_DURATION, SETTING_SHARED, AT(graph_below), 20e-6, 0, INFINITY, {NULL}},
    {"rest", SETTING_DURATION, SETTING_SHARED, AT(rest), 0, 0, INFINITY, {NULL}},
    {"slow_factor", SETTING_NUMBER, SETTING_SHARED, AT(slow_factor), 3, 1, 1e9, {NULL}},
    {"race", SETTING_NUMBER, SETTING_SHARED, AT(race), 1.1, 1, 1e9, {NULL}},
    {"timeout", SETTING_DURATION, SETTING_JOB, AT(timeout), 30, 0, INFINITY, {NULL}},
    {0},
};
const struct setting final_table[] = {
    {"candidates", SETTING_INTEGER, SETTING_JOB, AT(final_candidates), 5, 1, FINAL_CANDIDATES_MAX, {NULL}},
    {"rounds", SETTING_INTEGER, SETTING_JOB, AT(final_rounds), 40, 5, FINAL_ROUNDS_MAX, {NULL}},
    {"processes", SETTING_INTEGER, SETTING_JOB, AT(final_processes), 3, 1, FINAL_PROCESSES_MAX, {NULL}},
    {"nvcc", SETTING_BOOL, SETTING_JOB, AT(final_nvcc), 1, 0, 1, {NULL}},
    {"tie", SETTING_NUMBER, SETTING_JOB, AT(tie), 0.01, 0, 0.5, {NULL}},
    {0},
};
#undef AT

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
        if (s->place != SETTING_JOB) json_object_set_new(object, s->name, write_one(s, from));
    return object;
}

// The number that stands for a value (of a choice, its word's place), or NaN: it is of another type.
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
        const json_t *value = s->place == SETTING_JOB ? NULL : json_object_get(object, s->name);
        double number = value ? read_one(s, value) : s->fallback;
        if (!(number >= s->low && number <= s->high))
            return error_set(err, "setting '%s' is of the wrong type, or outside %g to %g", s->name, s->low, s->high);
        setting_set(s, to, number);
    }
    return 0;
}
