// What `sweetspot list` can show: one function for each kind (here those with a file of their own), one line for each
// in the table of cmd_list.c.
//
// A function prints all entries (`name` NULL) or one entry with its details on stdout, as an enum format says, and
// returns an exit status; an unknown name is a usage error that suggests the nearest.
#pragma once

#include "tuner/base/table.h"

int list_operations(const char *name, int format);
int list_metrics(const char *name, int format);
int list_settings(const char *name, int format);
// The counters of a chip; NULL: of the GPU here. `pattern` is a part of a name or key, or has * and ?; NULL: all.
int list_counters(const char *pattern, const char *chip, int format);

// Shared by all kinds (list.c). Prints the document as JSON, or some of its objects as a table or CSV. Frees the
// document.
void list_print(json_t *document, const json_t *rows, const struct row_column *, int format);
// Prints all entries, or those of a name; an unknown one is refused as a `what`. Takes them. `note`: what follows a
// table.
int list_entries(const char *what, json_t *all, const struct row_column *, const char *wanted, int as,
                 const char *note);
// As command_refuse_unknown, where the names are too many to be listed: `how` says what lists them.
int list_unknown_of_many(const char *what, const char *name, const char *const *names, const char *how);
