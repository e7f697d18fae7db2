// The functions that a shared library defines, read from its file (ELF), without loading it.
#ifndef SWEETSPOT_SHARED_LIBRARY_H
#define SWEETSPOT_SHARED_LIBRARY_H

#include "tuner/base/base.h"

struct shared_library {
    unsigned char *bytes;
    size_t size, function_count;
    const char **functions; // that it defines; ends with NULL, or NULL
};

// Whether a file's name is that of a source that can be built into a library: .cu, .c, .cc, .cpp or .cxx.
bool shared_library_is_source(const char *path);
// NULL: it is a shared library of this machine; else why not, static text ("is not a shared library"). Release it in
// any case.
const char *shared_library_read(struct shared_library *, const char *path);
void shared_library_release(struct shared_library *);
// Why it has no function of this name, with the nearest, malloc'ed; NULL: it has one. `path` is for the message.
char *shared_library_lacks(const struct shared_library *, const char *path, const char *function);

#endif
