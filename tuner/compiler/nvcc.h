// Calls nvcc in the same way as users of a header: compiles a source, with its macros before it and the instantiations
// after it, to a cubin, in a process with a deadline.
#pragma once

#include "tuner/compiler/compilation.h"

struct nvcc {
    char *program;
    char version[64]; // "nvcc 13.0.88"
};

// Finds $SWEETSPOT_NVCC, otherwise nvcc on the PATH, otherwise the one in `home`. Returns -1 with a message if there is
// none, or it does not report its version. Release in either case.
int nvcc_find(struct nvcc *, const char *home, struct error *);
void nvcc_release(struct nvcc *);
// Writes a source file for nvcc. Returns -1 with a message on failure.
int nvcc_write(const char *path, const char *text, struct error *);

// Name expressions may use macros and default arguments, so only nvcc itself can determine a kernel's name in the
// cubin. For each entry the unit has a marker: an empty kernel template that is instantiated with the entry's address,
// so that its own name contains the entry's mangled name. Returns the marker's source code for entry number `index`;
// malloc'ed.
char *nvcc_symbol_marker(const char *entry, size_t index);

// Compiles `unit`, the text of a source file. Options are nvcc's (architecture included). `symbols` are the names of
// the entries in the cubin; NULL: the unit has their markers. The deadline, and the distinction between results and
// errors, are as for nvrtc_compile. Returns -1 with a message on errors.
int nvcc_compile(const struct nvcc *, const char *unit, const struct text_list *options, size_t entry_count,
                 const char *const *entries, const char *const *symbols, double deadline, struct compilation *,
                 struct error *);
