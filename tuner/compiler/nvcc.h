// nvcc, as users of a header call it: a source, with its macros before it and the instantiations after it, to a cubin,
// in a process with a deadline.
#pragma once

#include "tuner/compiler/compilation.h"

struct nvcc {
    char *program;
    char version[64]; // "nvcc 13.0.88"
};

// $SWEETSPOT_NVCC, else that on the PATH, else that of `home`. -1 with a message when there is
// none, or it does not say its version. Release in either case.
int nvcc_find(struct nvcc *, const char *home, struct error *);
void nvcc_release(struct nvcc *);
// Writes a source file for it. -1 with a message.
int nvcc_write(const char *path, const char *text, struct error *);

// Name expressions may use macros and default arguments, so nvcc itself has to say under which name a kernel is in a
// cubin: for each entry the unit has a marker, an empty kernel, which is a template that is instantiated with the
// entry's address, and so with its mangled name. The marker's source text for entry number `index`; malloc'ed.
char *nvcc_symbol_marker(const char *entry, size_t index);

// Compiles `unit`, the text of a source file. Options are nvcc's (architecture included). `symbols` are the names of
// the entries in the cubin; NULL: the unit has their markers. `deadline` as for nvrtc_compile, and what
// is a result and what an error. -1 with a message.
int nvcc_compile(const struct nvcc *, const char *unit, const struct text_list *options, size_t entry_count,
                 const char *const *entries, const char *const *symbols, double deadline, struct compilation *,
                 struct error *);
