// Edits a file's text in memory, so that a kernel's source becomes tunable without being changed on disk.
#pragma once

#include "tuner/base/record.h"

struct text_edit {
    const char *file;           // absolute path
    const char *find, *replace; // `replace` has as many lines as `find`
    int64_t count;              // occurrences of `find`, all of which are replaced
};
extern const struct record text_edit_record;

// Replaces a malloc'ed text with the edited one. -1 with a message if `find` does not occur in it `count` times; the
// text is then unchanged.
int text_edit_apply(const struct text_edit *, char **text, struct error *);
