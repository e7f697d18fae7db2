// NVRTC, included here and nowhere else: one source with its macros to a cubin, with a deadline, and what ptxas said
// about it.
#ifndef SWEETSPOT_NVRTC_H
#define SWEETSPOT_NVRTC_H

#include <stddef.h>

#include "tuner/compile/compilation.h"

// "nvrtc 13.0", or -1 when the library does not answer.
int nvrtc_version(char *out, size_t size, struct error *);

// Compiles `text` (shown as `name` in messages). Options are NVRTC's, complete (architecture included). `deadline` in
// seconds from now; 0: none. A source that does not compile is a result, not an error; NVRTC_REFUSED: NVRTC made no
// cubin, or it lacks an entry. Release what it filled; after a failure there is nothing to release.
enum { NVRTC_REFUSED = -1, NVRTC_NO_MEMORY = -2 };
int nvrtc_compile(const char *text, const char *name, size_t option_count, const char *const *options,
                  size_t entry_count, const char *const *entries, double deadline, struct compilation *,
                  struct error *);

#endif
