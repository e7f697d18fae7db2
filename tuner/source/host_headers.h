// Small stand-ins for headers of the host's C and C++ libraries, which NVRTC lacks. They have the parts that device
// code uses. Headers that the toolkit has and NVRTC can read are not among them.
#pragma once

#include <stddef.h>

struct host_header {
    const char *name; // as in an #include: "stdint.h"
    const char *text;
};

extern const struct host_header host_headers[]; // ends with a NULL name

// The stand-in for this name, or NULL.
const struct host_header *host_header_find(const char *name);

// Names, each with its stand-in, that programs for nvcc can use without an #include because nvcc includes headers
// before the program.
struct host_word {
    const char *word, *header;
};

extern const struct host_word host_words[]; // ends with a NULL word

// Headers of the toolkit that NVRTC could read if they did not include headers of the host, and the stand-ins that they
// get. A header may be listed several times.
extern const struct host_word host_includes[]; // ends with a NULL word
