// A JSON document as CSV: a line for each string, number, boolean and null in it, at any depth, with its path:
// "best.problems.0.time,0.0013". Numbers have enough digits to be read back exactly.
#ifndef SWEETSPOT_FLAT_CSV_H
#define SWEETSPOT_FLAT_CSV_H

#include "tuner/base/base.h"
#include "tuner/base/json.h"

// Without the line of titles. `before` (may be NULL): what every line begins with, NULL-terminated fields. Empty
// objects and lists have no line.
void flat_csv_print(const json_t *document, const char *const *before, FILE *);
// A document of docs/formats.md for programs: as such CSV, under its titles "key,value", or as JSON
// (json_print_document).
void flat_csv_or_json(const char *format, int version, const json_t *document, bool csv, FILE *);

#endif
