// See settings.h.
#include "tuner/base/settings.h"

#include <math.h>
#include <string.h>

#include "tuner/base/limits.h"

#define ROW(name, kind, location, member, fallback, low, high, meaning)                            \
    {                                                                                              \
        name, SETTING_##kind, SETTING_##location, AT(member), fallback, low, high, {NULL}, meaning \
    }

#define AT(member) offsetof(struct verify_settings, member)
const struct setting verify_table[] = {
    ROW("enabled", BOOL, SHARED, enabled, 1, 0, 1, "results are held against the reference"),
    ROW("tolerance", NUMBER, FIXED, tolerance, 1, 1e-6, 1e9, "multiplies the error bound"),
    ROW("absolute", NUMBER, SHARED, absolute, 0, 0, 1e300, "allowed error, added to the bound of an operation"),
    ROW("relative", NUMBER, SHARED, relative, 0, 0, 1e9,
        "allowed error as a share of the expected value, added to the bound of an operation"),
    ROW("exact", BOOL, SHARED, exact, 0, 0, 1, "no error at all is allowed"),
    ROW("deterministic", BOOL, SHARED, deterministic, 1, 0, 1, "two runs must agree bit by bit"),
    ROW("guard_bytes", INTEGER, FIXED, guard_bytes, 4096, 0, 1 << 30,
        "bytes of the guard bands before and after every buffer, which detect stray writes"),
    {0},
};
#undef AT

#define AT(member) offsetof(struct measure_settings, member)
const struct setting measure_table[] = {
    {"cache",
     SETTING_CHOICE,
     SETTING_SHARED,
     AT(cold),
     1,
     0,
     1,
     {"cold", "warm"},
     "the L2 before each launch: emptied, or as the last launch left it"},
    ROW("warmup", INTEGER, SHARED, warmup, 2, 0, 10000, "launches before the first sample"),
    ROW("min_samples", INTEGER, SHARED, min_samples, 7, 3, 100000,
        "samples of a candidate that may be near the best; others end after three"),
    ROW("max_samples", INTEGER, SHARED, max_samples, 100, 3, 100000, "most samples of a candidate"),
    ROW("precision", NUMBER, FIXED, precision, 0.01, 1e-5, 1,
        "enough when the 95% interval of the median is this narrow (half of its width, relative)"),
    ROW("max_time", DURATION, SHARED, max_time, 0.5, 0, INFINITY, "most time for the samples of one problem"),
    ROW("graph_below", DURATION, SHARED, graph_below, 20e-6, 0, INFINITY,
        "kernels shorter than this are timed inside a CUDA graph"),
    ROW("rest", DURATION, SHARED, rest, 0, 0, INFINITY,
        "time that the device idles before each launch that is timed alone"),
    ROW("slow_factor", NUMBER, SHARED, slow_factor, 3, 1, 1e9,
        "a candidate this many times slower than the best ends after one launch"),
    ROW("race", NUMBER, SHARED, early_stop, 1.1, 1, 1e9,
        "a candidate that is certainly this many times slower ends early"),
    ROW("timeout", DURATION, JOB, timeout, 30, 0, INFINITY, "a candidate that takes longer in all counts as hung"),
    {0},
};
const struct setting final_table[] = {
    ROW("candidates", INTEGER, JOB, final_candidates, 5, 1, FINAL_CANDIDATES_MAX, "candidates that take part"),
    ROW("rounds", INTEGER, JOB, final_rounds, 40, 5, FINAL_ROUNDS_MAX, "rounds in which each runs once"),
    ROW("processes", INTEGER, JOB, final_processes, 3, 1, FINAL_PROCESSES_MAX,
        "GPU workers, one after another, that share the rounds"),
    ROW("tie", NUMBER, JOB, tie, 0.01, 0, 0.5, "a relative difference below this is a tie"),
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
