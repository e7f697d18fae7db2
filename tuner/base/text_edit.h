// An edit of a file's text, by which a kernel's source becomes tunable as it is.
#pragma once

#include "tuner/base/record.h"

struct text_edit {
    const char *file;           // absolute path
    const char *find, *replace; // with as many lines
    int64_t count;              // places of `find`, all of which are replaced
};
extern const struct record text_edit_record;

// Edits a malloc'ed text, in whose place there is another one then. -1 with a message where `find` does not stand in it
// `count` times; the text stays.
int text_edit_apply(const struct text_edit *, char **text, struct error *);
