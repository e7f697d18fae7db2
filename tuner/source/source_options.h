// What options of NVRTC say of files: folders of headers, files that are included before all, macros.
#ifndef SWEETSPOT_SOURCE_OPTIONS_H
#define SWEETSPOT_SOURCE_OPTIONS_H

#include "tuner/base/json.h"
#include "tuner/source/source.h"

// A file that an option includes, and where that option is among the rest.
struct source_before {
    char *name;
    size_t option;
};

struct source_options {
    size_t folder_count, before_count, macro_count, rest_count;
    char **folder; // of the user's, absolute, in the order of the search: the options', then the request's
    struct source_before *before;
    char **macro; // "NAME=value", or "NAME": the options' and the request's
    char **rest;  // the options without the user's folders, each in one word. Handed over, not released
};

// -1 with a message for an option by which the compiler would read what is not hashed. Release in any case.
int source_options_read(struct source_options *, const struct source_request *, struct error *);
// The file of `before[which]` is this.
void source_options_found(struct source_options *, size_t which, const char *path);
// One more among the rest; takes it.
void source_options_add(struct source_options *, char *option);
void source_options_release(struct source_options *);

// The options of a request for another place, where the user's files lie below `root` under the paths that they have
// here: changed in place.
void source_options_move(json_t *options, const char *root);
// Whether a folder is a toolkit's, whose headers belong to the compiler.
bool source_options_toolkit(const char *folder);

#endif
