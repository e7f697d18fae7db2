// JSON, using jansson. Only this header includes jansson. Its types and readers are used as they are. Its constructors
// are replaced, under their own names, by functions that always return a value (json_make.c). There are also readers
// that return a default if a value is missing, and functions for reading and writing lines.
#pragma once

#include <jansson.h>

#include "tuner/base/base.h"
#include "tuner/base/stats.h"

// These functions read a member of an object. They return `fallback` if `object` is not an object, if the member is
// missing or has another type, or if a real does not fit in an integer.
double json_get_number(const json_t *object, const char *key, double fallback);
int64_t json_get_integer(const json_t *object, const char *key, int64_t fallback);
bool json_get_bool(const json_t *object, const char *key, bool fallback);
const char *json_get_string(const json_t *object, const char *key, const char *fallback); // borrowed
bool json_array_has(const json_t *array, const char *text); // whether an element is this string

// A number with seven digits, more than the precision of any measurement; null if it is not finite. New reference.
json_t *json_brief_or_null(double value);
// A value with its confidence interval as [value, low, high], null for unknown numbers. New reference.
json_t *json_interval(const struct interval *);
// Reads an interval from a member of an object. Elements that are missing or not numbers become NaN.
struct interval json_get_interval(const json_t *object, const char *key);

// Whether a C string is UTF-8, as JSON strings must be. Other text is refused if it must be passed on unchanged.
bool json_takes(const char *text);
// A string from bytes that may not be UTF-8 (a compiler's log quotes any source): invalid bytes become '?'. New
// reference.
json_t *json_text(const char *bytes, size_t length);

// The constructors. They never return NULL; the program ends when memory is exhausted. A NULL string becomes null, and
// so do NaN and infinities. Bytes of strings and keys that are not UTF-8 become '?'.
json_t *json_make_object(void);
json_t *json_make_array(void);
json_t *json_make_string(const char *text);
json_t *json_make_integer(int64_t value);
json_t *json_make_real(double value);
json_t *json_make_format(const char *format, ...) __attribute__((format(printf, 1, 2))); // like json_sprintf
// Like json_pack, with the formats {, [, s, o, O, n, b, i, I and f; ? and * may follow s, o and O. A NULL value becomes
// null.
json_t *json_make(const char *format, ...);
// These functions set a member and append an element. They take the reference. A NULL value sets no member of an
// object, but becomes null in an array. -1 if nothing was set or appended.
int json_put(json_t *object, const char *key, json_t *value);
int json_add(json_t *array, json_t *value);
// Like json_dumps, for any value.
char *json_make_text(const json_t *value, size_t flags);

#define json_object() json_make_object()
#define json_array() json_make_array()
#define json_string(text) json_make_string(text)
#define json_stringn(bytes, length) json_text(bytes, length)
#define json_real(value) json_make_real(value)
#define json_integer(value) json_make_integer(value)
#define json_sprintf(...) json_make_format(__VA_ARGS__)
#define json_pack(...) json_make(__VA_ARGS__)
#define json_object_set_new(object, key, value) json_put(object, key, value)
#define json_object_set(object, key, value) json_put(object, key, json_incref(value))
#define json_array_append_new(array, value) json_add(array, value)
#define json_array_append(array, value) json_add(array, json_incref(value))
#define json_dumps(value, flags) json_make_text(value, flags)

// Goes before the declaration of local json_t *, like autofree (memory.h): json_decref is called at the end of their
// scope.
#define autojson __attribute__((cleanup(json_decref_local)))
static inline void json_decref_local(json_t **local)
{
    json_decref(*local);
}

// Loops over the elements of an array and the members of an object. The macros declare their variables; `break` works.
// NOLINTBEGIN(bugprone-macro-parentheses): declarations
#define json_array_each(array, i, value)                                                  \
    for (size_t i = 0, value##_more = 1; value##_more && i < json_array_size(array); i++) \
        for (json_t *value = (value##_more = 0, json_array_get(array, i)); !value##_more; value##_more = 1)
#define json_object_each(object, key, value)                                                                    \
    for (const char *key = json_object_iter_key(json_object_iter(object)), *value##_more = ""; key;             \
         key = value##_more ? json_object_iter_key(json_object_iter_next(object, json_object_key_to_iter(key))) \
                            : NULL)                                                                             \
        for (__attribute__((unused))                                                                            \
             json_t *value = (value##_more = NULL, json_object_iter_value(json_object_key_to_iter(key)));       \
             !value##_more; value##_more = key)
// NOLINTEND(bugprone-macro-parentheses)

// Parses one line. NULL with a message that quotes the beginning of the line.
json_t *json_parse(const char *text, struct error *err);

// Prints a document for people and programs, with indentation and with all digits of numbers.
void json_print(const json_t *, FILE *);
// A document as in docs/json.md: "format" and "version", followed by the members of the object `members`, whose
// reference is taken. New reference. json_print_document prints it.
json_t *json_document(const char *format, int version, json_t *members);
void json_print_document(const char *format, int version, json_t *members, FILE *);

// Writes the value as one line with newline to a file descriptor, retrying short writes. Takes no reference.
int json_write_line(int fd, const json_t *value, struct error *err);
