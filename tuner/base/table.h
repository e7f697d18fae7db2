// A table of strings, printed aligned for people or as CSV for programs.
//
//     struct table *t = table_new((const char *[]){"problem", ">time", NULL});
//     table_cell(t, "M=%d", 4096);
//     table_cell(t, "%s", "2.81 ms");      // row by row; the last cell of a row begins the next
//     table_print(t, stdout);
//     table_free(t);
//
// A column whose title begins with '>' is aligned to the right (for numbers); the '>' is not printed. The aligned form
// shows an empty cell as a dash, leaves out columns without content, and replaces control characters; CSV has all of
// it. On a terminal that is too narrow, the widest columns of text are truncated and end in an ellipsis. Output to a
// file or a pipe is never truncated.
#pragma once

#include "tuner/base/json.h"

struct table;

struct table *table_new(const char *const *titles); // NULL-terminated; copied
void table_free(struct table *);
void table_cell(struct table *, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Adds a cell, which is empty if the number is not finite. `format` has one conversion for a double.
void table_number(struct table *, const char *format, double value);
// Adds several cells, each a string: table_texts(t, "M", name, "").
#define table_texts(table, ...) table_add_texts(table, (const char *const[]){__VA_ARGS__, NULL})
void table_add_texts(struct table *, const char *const *texts);
void table_print(const struct table *, FILE *);
void table_print_csv(const struct table *, FILE *); // RFC 4180: quotes a cell with a comma, quote or newline

// A list of JSON objects as a table, for commands that print the same data as JSON, as CSV and for people.
//
//     static const struct row_column columns[] = {COLUMN("name"), COLUMN_NUMBER(">time", "figures.time", "%.3f"), {0}};
//     rows_print(list, columns, false, stdout);
struct row_column {
    const char *title;  // as in table_new; NULL ends the columns
    const char *member; // of the object, or a path "a.b.0"; NULL: the title without its '>'
    // For a number: a printf format for a double, which is multiplied by `scale` unless that is 0. NULL: all its
    // digits.
    const char *format;
    double scale;
    char *(*text)(const json_t *row); // instead of the member; malloc'ed, or NULL for an empty cell
};

// clang-format off
#define COLUMN(shown) {.title = (shown)}
#define COLUMN_OF(shown, path) {.title = (shown), .member = (path)}
#define COLUMN_NUMBER(shown, path, how) {.title = (shown), .member = (path), .format = (how)}
#define COLUMN_SHARE(shown, path, how) {.title = (shown), .member = (path), .format = (how), .scale = 100}
#define COLUMN_TEXT(shown, make) {.title = (shown), .text = (make)}
// clang-format on

// A string is printed as it is, a boolean as "yes" or nothing, and a list as its strings (or the first members of its
// objects), separated by commas. Null and missing values are empty.
void rows_print(const json_t *rows, const struct row_column *columns, bool csv, FILE *);
