// The C header that a job produces: out/include/<job>_best.h, one section per device (header_section.h).
//
// It includes nothing and compiles without warnings as C99, C++11 and CUDA (nvcc, NVRTC). The section of each device is
// also written as a comment of one line, so that a header can be read back and merged with other devices' sections.
#pragma once

#include "tuner/base/error.h"
#include "tuner/base/json.h"

// The sections of an existing header, as an array (new reference). The array is empty if the file does not exist. NULL
// with a message if the file is not such a header or cannot be read.
json_t *header_read(const char *path, struct error *);

// Merges fresh sections into `sections`. `fresh` is an array with one device's sections, one per kernel, and the
// fallback's section if there is one. The device's sections come first and the fallback's section last; they replace
// older sections of the device and of the fallback. -1 with a message if one file cannot have all sections, because
// they belong to different jobs, have different problem sizes, or come partly from a header and partly from a Python
// file.
int header_merge(json_t *sections, const json_t *fresh, struct error *);

// The result of header_write if a parameter's macro would have the name of one of the header's own macros. The job must
// then be changed.
enum { HEADER_COLLISION = -2 };

// Writes the header with these sections (at least one; the first is for the default device) to `path` (as in
// tuner/base/output_file.h) and creates the file's folder. Returns HEADER_COLLISION or, if the file cannot be written,
// -1, both with a message.
int header_write(const char *path, const json_t *sections, struct error *);
