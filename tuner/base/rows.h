// A list of JSON objects as a table, for commands that print the same data as JSON, as CSV and for people.
//
//     static const struct row_column columns[] = {COLUMN("name"), COLUMN_NUMBER(">time", "figures.time", "%.3f"), {0}};
//     struct table *t = rows_table(list, columns);
#ifndef SWEETSPOT_ROWS_H
#define SWEETSPOT_ROWS_H

#include "tuner/base/json.h"
#include "tuner/base/table.h"

struct row_column {
    const char *title;  // as in table_new; NULL ends the columns
    const char *member; // of the object, or a path "a.b.0"; NULL: the title, without its sign
    // Of a number: for printf with a double, which is multiplied by `scale` unless that is 0. NULL: all its digits.
    const char *format;
    double scale;
    char *(*text)(const json_t *row); // in place of the member; malloc'ed, or NULL for an empty cell
};

// clang-format off
#define COLUMN(shown) {.title = (shown)}
#define COLUMN_OF(shown, path) {.title = (shown), .member = (path)}
#define COLUMN_NUMBER(shown, path, how) {.title = (shown), .member = (path), .format = (how)}
#define COLUMN_SHARE(shown, path, how) {.title = (shown), .member = (path), .format = (how), .scale = 100}
#define COLUMN_TEXT(shown, make) {.title = (shown), .text = (make)}
// clang-format on

// A cell is a text as it is, "yes" or nothing for a boolean, and for a list its texts (or its objects' first
// members) with commas between. Null and what is missing are empty.
struct table *rows_table(const json_t *rows, const struct row_column *columns);

#endif
