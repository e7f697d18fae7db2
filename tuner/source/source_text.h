// A source as a compiler gets it: the program and its headers from memory, each header under its path. Where a text
// includes one by name, the name is replaced by the path, because a compiler goes by the name alone and the same one
// may mean different files. An #include whose file is unknown becomes an #error.
#ifndef SWEETSPOT_SOURCE_TEXT_H
#define SWEETSPOT_SOURCE_TEXT_H

#include "tuner/source/source.h"

struct source_texts {
    char *program;
    size_t header_count;
    char **name, **text; // of each header
};

// -1 with a message where a path cannot be written into an #include. Release in any case.
int source_texts_make(struct source_texts *, const struct source *, struct error *);
void source_texts_release(struct source_texts *);

#endif
