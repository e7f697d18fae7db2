// JSON through jansson, included here and nowhere else. jansson's own types are used as they are: a wrapper around
// every accessor would add names and no safety. What is here are readers that fall back to a default, and one-line I/O.
#ifndef SWEETSPOT_JSON_H
#define SWEETSPOT_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tuner/base/error.h"

// Members of an object; `fallback` when `object` is not an object, the member is missing or of another type, or a
// real is more than an integer holds.
double json_get_number(const json_t *object, const char *key, double fallback);
int64_t json_get_integer(const json_t *object, const char *key, int64_t fallback);
bool json_get_bool(const json_t *object, const char *key, bool fallback);
const char *json_get_string(const json_t *object, const char *key, const char *fallback); // borrowed

// A real, or null for NaN and infinities (which JSON lacks). New reference.
json_t *json_real_or_null(double value);

// Whether a text is UTF-8, as JSON's strings are: of any other the library makes NULL.
bool json_takes(const char *text);
// A string of bytes that may not be UTF-8 (a compiler's log quotes any source): those that are not become '?'. New
// reference.
json_t *json_text(const char *bytes, size_t length);

// Parses one line. NULL with a message that quotes the beginning of the text.
json_t *json_parse(const char *text, struct error *err);

// Prints a document for people and programs, indented, numbers with all the digits that they have.
void json_print(const json_t *, FILE *);
// The same of a document of docs/formats.md: "format" and "version", and behind them the members of an object.
void json_print_document(const char *format, int version, const json_t *members, FILE *);

// Writes the value as one line with newline to a file descriptor, retrying short writes. Takes no reference.
int json_write_line(int fd, const json_t *value, struct error *err);

#endif
