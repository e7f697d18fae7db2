// The only module that includes NVRTC: compiles one source with its macros to a cubin, with a deadline, and collects
// ptxas's messages.
#pragma once

#include "tuner/compiler/compilation.h"

// Writes "nvrtc 13.0" into `out`. Returns -1 if the library does not answer.
int nvrtc_version(char *out, size_t size, struct error *);

// One program and its headers, which NVRTC finds by their names before it looks for files.
struct nvrtc_program {
    const char *text, *name; // `name`: as in messages
    size_t header_count, option_count, entry_count;
    const char *const *header, *const *header_name;
    const char *const *option; // complete (architecture included)
    const char *const *entry;
    double deadline; // seconds from now; 0: none
};

// If a source does not compile, this is a result, not an error. NVRTC_REFUSED: NVRTC gave no result, or an entry is
// missing. Release the result; after a failure there is nothing to release.
enum { NVRTC_REFUSED = -1, NVRTC_NO_MEMORY = -2 };
int nvrtc_compile(const struct nvrtc_program *, struct compilation *, struct error *);
