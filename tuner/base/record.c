// See record.h.
#include "tuner/base/record.h"

#include <float.h>
#include <limits.h>

#include "tuner/base/buffer_kind.h"

static void *at(const struct record_field *f, const void *record)
{
    return (char *)(uintptr_t)record + f->offset;
}

static size_t *count_at(const struct record_field *f, const void *record)
{
    return (size_t *)(void *)((char *)(uintptr_t)record + f->count);
}

static const struct record *inner(const struct record_field *f)
{
    return f->made ? f->made() : f->of;
}

static size_t element_size(const struct record_field *f)
{
    static const size_t sizes[] = {[RECORD_BOOL] = sizeof(bool),
                                   [RECORD_INT] = sizeof(int),
                                   [RECORD_INTEGER] = sizeof(int64_t),
                                   [RECORD_SIZE] = sizeof(size_t),
                                   [RECORD_REAL] = sizeof(double),
                                   [RECORD_TEXT] = sizeof(const char *),
                                   [RECORD_NUMBER] = sizeof(struct record_number),
                                   [RECORD_WORD] = sizeof(int),
                                   [RECORD_JSON] = sizeof(const json_t *)};
    size_t size = f->kind == RECORD_OBJECT || f->kind == RECORD_PART ? inner(f)->size : sizes[f->kind];
    return f->shape == RECORD_NAMED ? sizeof(const char *) + (size < sizeof(void *) ? sizeof(void *) : size) : size;
}

// Whether values of this kind are represented as integers.
static bool is_whole(const struct record_field *f)
{
    return f->kind <= RECORD_SIZE;
}

static int64_t whole_at(const struct record_field *f, const void *value)
{
    return f->kind == RECORD_BOOL      ? *(const bool *)value
           : f->kind == RECORD_INTEGER ? *(const int64_t *)value
           : f->kind == RECORD_SIZE    ? (int64_t) * (const size_t *)value
                                       : *(const int *)value;
}

static void set_whole(const struct record_field *f, void *value, int64_t to)
{
    if (f->kind == RECORD_BOOL)
        *(bool *)value = to != 0;
    else if (f->kind == RECORD_INTEGER)
        *(int64_t *)value = to;
    else if (f->kind == RECORD_SIZE)
        *(size_t *)value = (size_t)to;
    else
        *(int *)value = (int)to;
}

// Sets one value to unknown, where `value` points to it.
static void clear_value(const struct record_field *f, void *value)
{
    if (is_whole(f))
        set_whole(f, value, (int64_t)f->fallback);
    else if (f->kind == RECORD_REAL)
        *(double *)value = NAN;
    else if (f->kind == RECORD_NUMBER)
        *(struct record_number *)value = (struct record_number){.real = NAN};
    else if (f->kind == RECORD_PART)
        record_clear(inner(f), value);
    else
        *(const void **)value = f->kind == RECORD_TEXT ? "" : NULL;
}

void record_clear(const struct record *r, void *to)
{
    memset(to, 0, r->size);
    for (const struct record_field *f = r->fields; f->name; f++) {
        size_t values = f->shape == RECORD_ARRAY ? f->length : f->shape == RECORD_ONE;
        for (size_t i = 0; i < values; i++) clear_value(f, (char *)at(f, to) + i * element_size(f));
    }
}

static bool knows_value(const struct record_field *f, const void *value)
{
    const struct record_number *number = value;
    if (is_whole(f)) return whole_at(f, value) != (int64_t)f->fallback;
    if (f->kind == RECORD_REAL) return !isnan(*(const double *)value);
    if (f->kind == RECORD_NUMBER) return number->whole || !isnan(number->real);
    const char *text = *(const char *const *)value;
    return text && (f->kind != RECORD_TEXT || *text);
}

bool record_knows(const struct record_field *f, const void *from)
{
    const char *value = at(f, from);
    if (f->shape == RECORD_ONE) return knows_value(f, value);
    if (f->shape != RECORD_ARRAY) return *(const void *const *)(const void *)value != NULL;
    for (size_t i = 0; i < f->length; i++)
        if (knows_value(f, value + i * element_size(f))) return true;
    return false;
}

// `value` points to the value; for an object, to the struct.
static json_t *write_value(const struct record_field *f, const void *value)
{
    const struct record_number *number = value;
    switch (f->kind) {
    case RECORD_BOOL:
        return json_boolean(whole_at(f, value));
    case RECORD_WORD:
        return json_string(f->words[whole_at(f, value)]);
    case RECORD_REAL:
        return json_real(*(const double *)value);
    case RECORD_NUMBER:
        return number->whole ? json_integer(number->integer) : json_real(number->real);
    case RECORD_TEXT:
        return json_string(*(const char *const *)value ? *(const char *const *)value : "");
    case RECORD_JSON:
        return json_incref((json_t *)(uintptr_t) * (const json_t *const *)value);
    case RECORD_OBJECT:
    case RECORD_PART:
        return record_write(inner(f), value);
    default:
        return json_integer(whole_at(f, value));
    }
}

static json_t *write_many(const struct record_field *f, const char *first, size_t count)
{
    json_t *all = f->shape == RECORD_NAMED ? json_object() : json_array();
    for (size_t i = 0; i < count; i++) {
        const char *one = first + i * element_size(f);
        if (f->shape == RECORD_NAMED)
            json_object_set_new(all, *(const char *const *)(const void *)one, write_value(f, one + sizeof(char *)));
        else
            json_array_append_new(all, write_value(f, one));
    }
    return all;
}

json_t *record_get(const struct record_field *f, const void *from)
{
    const void *value = at(f, from);
    if (f->shape == RECORD_ARRAY) return write_many(f, value, f->length);
    if (f->shape != RECORD_ONE && (record_knows(f, from) || f->flags & RECORD_ALWAYS))
        return write_many(f, *(const char *const *)value, record_knows(f, from) ? *count_at(f, from) : 0);
    bool has_value = f->flags & RECORD_ALWAYS && f->kind < RECORD_JSON;
    if (f->shape != RECORD_ONE || (!record_knows(f, from) && !has_value)) return json_null();
    return write_value(f, f->kind == RECORD_OBJECT ? *(const void *const *)value : value);
}

void record_write_into(const struct record *r, const void *from, json_t *object)
{
    for (const struct record_field *f = r->fields; f->name; f++) {
        if (f->flags & RECORD_SILENT) continue;
        if (f->kind == RECORD_PART)
            record_write_into(inner(f), at(f, from), object);
        else if (f->flags & (RECORD_ALWAYS | RECORD_NULL) || record_knows(f, from))
            json_object_set_new(object, f->name, record_get(f, from));
    }
}

json_t *record_write(const struct record *r, const void *from)
{
    json_t *object = json_object();
    record_write_into(r, from, object);
    return object;
}

static int refuse(const struct record_field *f, const char *what, const char *how, struct error *err)
{
    return error_set(err, "'%s' of %s is %s", f->name, what, how);
}

// The range of a number's C type, for fields without a range.
static const struct {
    double low, high;
} limits[] = {[RECORD_INT] = {INT_MIN, INT_MAX},
              [RECORD_INTEGER] = {(double)INT64_MIN, (double)INT64_MAX},
              [RECORD_SIZE] = {0, (double)INT64_MAX},
              [RECORD_REAL] = {-DBL_MAX, DBL_MAX},
              [RECORD_NUMBER] = {-DBL_MAX, DBL_MAX}};

static int take_number(const struct record_field *f, const char *what, const json_t *value, void *to, struct error *err)
{
    bool real = f->kind == RECORD_REAL || f->kind == RECORD_NUMBER;
    double number = json_number_value(value);
    if (real ? !json_is_number(value) : !json_is_integer(value))
        return refuse(f, what, real ? "not a number" : "not an integer", err);
    bool bounded = f->high > f->low;
    double low = bounded ? f->low : limits[f->kind].low, high = bounded ? f->high : limits[f->kind].high;
    int64_t whole = json_is_integer(value) ? (int64_t)json_integer_value(value) : 0;
    if (!(number >= low && number <= high))
        return error_set(err, "'%s' of %s is %g, outside %g to %g", f->name, what, number, low, high);
    if (f->kind == RECORD_REAL)
        *(double *)to = number;
    else if (f->kind == RECORD_NUMBER)
        *(struct record_number *)to = (struct record_number){number, json_is_integer(value), whole};
    else
        set_whole(f, to, whole);
    return 0;
}

static int take_word(const struct record_field *f, const char *what, const json_t *value, void *to, struct error *err)
{
    const char *word = json_string_value(value);
    int found = word_find(f->words, word);
    if (!word) return refuse(f, what, "not a text", err);
    if (found < 0) return error_set(err, "'%s' of %s is the unknown word '%.80s'", f->name, what, word);
    set_whole(f, to, found);
    return 0;
}

// Reads one value into `to`; for an object, `to` points to the struct.
static int take_value(const struct record_field *f, const char *what, const json_t *value, void *to,
                      struct arena *memory, struct error *err)
{
    switch (f->kind) {
    case RECORD_BOOL:
        if (!json_is_boolean(value)) return refuse(f, what, "neither true nor false", err);
        *(bool *)to = json_is_true(value);
        return 0;
    case RECORD_TEXT:
        if (!json_is_string(value)) return refuse(f, what, "not a text", err);
        *(const char **)to = arena_copy(memory, json_string_value(value));
        return 0;
    case RECORD_WORD:
        return take_word(f, what, value, to, err);
    case RECORD_JSON:
        *(const json_t **)to = value;
        return 0;
    case RECORD_OBJECT:
        if (!json_is_object(value)) return refuse(f, what, "not an object", err);
        return record_read(inner(f), value, to, memory, err);
    case RECORD_PART:
        return record_read(inner(f), value, to, memory, err);
    default:
        return take_number(f, what, value, to, err);
    }
}

// A null in a list of numbers becomes NaN, or is skipped (returns 1).
static int take_element(const struct record_field *f, const char *what, const json_t *value, void *to,
                        struct arena *memory, struct error *err)
{
    if (f->kind == RECORD_OBJECT && f->flags & RECORD_HOLES && json_is_null(value)) {
        record_clear(inner(f), to);
        return 0;
    }
    if (f->kind != RECORD_REAL || !json_is_null(value)) return take_value(f, what, value, to, memory, err);
    *(double *)to = NAN;
    return f->flags & RECORD_HOLES ? 0 : 1;
}

static int take_many(const struct record_field *f, const char *what, const json_t *value, void *to,
                     struct arena *memory, struct error *err)
{
    bool named = f->shape == RECORD_NAMED;
    if (named ? !json_is_object(value) : !json_is_array(value))
        return refuse(f, what, named ? "not an object" : "not a list", err);
    size_t given = named ? json_object_size(value) : json_array_size(value), size = element_size(f), count = 0;
    char *elements = arena_new(memory, given * size + 1);
    void *iterator = named ? json_object_iter((json_t *)(uintptr_t)value) : NULL;
    for (size_t i = 0; i < given; i++) {
        char *one = elements + count * size;
        int failed;
        if (named) {
            *(const char **)(void *)one = arena_copy(memory, json_object_iter_key(iterator));
            failed = take_value(f, what, json_object_iter_value(iterator), one + sizeof(char *), memory, err);
            if (failed) return error_prefix(err, "'%.80s'", *(const char **)(void *)one);
            iterator = json_object_iter_next((json_t *)(uintptr_t)value, iterator);
        } else {
            failed = take_element(f, what, json_array_get(value, i), one, memory, err);
        }
        if (failed < 0) return f->kind == RECORD_OBJECT ? -1 : error_prefix(err, "entry %zu", i);
        if (!failed) count++;
    }
    *(const void **)at(f, to) = elements;
    *count_at(f, to) = count;
    return 0;
}

static int take_places(const struct record_field *f, const char *what, const json_t *value, void *to,
                       struct arena *memory, struct error *err)
{
    if (!json_is_array(value) || json_array_size(value) != f->length)
        return error_set(err, "'%s' of %s is not a list of %zu", f->name, what, f->length);
    for (size_t i = 0; i < f->length; i++) {
        char *place = (char *)at(f, to) + i * element_size(f);
        if (take_element(f, what, json_array_get(value, i), place, memory, err)) return -1;
    }
    return 0;
}

int record_take(const struct record_field *f, const char *what, const json_t *value, void *to, struct arena *memory,
                struct error *err)
{
    if (f->kind == RECORD_PART) return take_value(f, what, value, at(f, to), memory, err);
    if (!value || (json_is_null(value) && f->kind != RECORD_JSON)) {
        if (f->flags & RECORD_REQUIRED) return error_set(err, "'%s' of %s is missing", f->name, what);
        return 0;
    }
    if (f->shape == RECORD_ARRAY) return take_places(f, what, value, to, memory, err);
    if (f->shape != RECORD_ONE) return take_many(f, what, value, to, memory, err);
    if (f->kind != RECORD_OBJECT) return take_value(f, what, value, at(f, to), memory, err);
    void *object = arena_new(memory, inner(f)->size);
    if (take_value(f, what, value, object, memory, err)) return -1;
    *(const void **)at(f, to) = object;
    return 0;
}

int record_read(const struct record *r, const json_t *object, void *to, struct arena *memory, struct error *err)
{
    record_clear(r, to);
    if (!json_is_object(object)) return error_set(err, "%s is not an object", r->what);
    for (const struct record_field *f = r->fields; f->name; f++) {
        if (f->flags & RECORD_SILENT) continue;
        const json_t *value = f->kind == RECORD_PART ? object : json_object_get(object, f->name);
        if (record_take(f, r->what, value, to, memory, err)) return -1;
    }
    return r->check ? r->check(to, err) : 0;
}
