// A JSON document as CSV: a line for each text, number, truth and null in it, however deep, with where it stands:
// "best.problems.0.time,0.0013". Numbers are written as in the JSON.
#ifndef SWEETSPOT_FLAT_CSV_H
#define SWEETSPOT_FLAT_CSV_H

#include <stdio.h>

#include "tuner/base/json.h"

// Without the line of titles. `before` (may be NULL): what every line begins with, NULL-terminated fields. Empty
// objects and lists have no line.
void flat_csv_print(const json_t *document, const char *const *before, FILE *);

#endif
