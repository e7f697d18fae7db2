// The C header that a job produces: out/include/<job>_best.h, one section per device (header_section.h).
//
// It includes nothing and compiles without warnings as C99, C++11 and CUDA (nvcc, NVRTC). The section of a device is
// kept in a comment of one line, so that a header can be read back and another device merged in.
#pragma once

#include "tuner/base/error.h"
#include "tuner/base/json.h"

// The sections of an existing header, as an array (new reference): empty when there is no such file. NULL with a
// message when the file is something else or cannot be read.
json_t *header_read(const char *path, struct error *);

// Puts the sections (an array: one device's, one a kernel) first, in place of older ones for the same device, and
// the fallback's, if they have one, last, in place of an older one. -1 with a message when the others are of
// another job or have other problem sizes, or are of a Python file, so that one header cannot serve both.
int header_merge(json_t *sections, const json_t *fresh, struct error *);

// What header_write returns when a parameter's macro would collide with one of the header's own: the job must change.
enum { HEADER_COLLISION = -2 };

// Writes the header of these sections (at least one; the first is the default device) to `path`, whose folder is
// created, as tuner/base/output_file.h says. HEADER_COLLISION, or -1 when the file cannot be written, with a message.
int header_write(const char *path, const json_t *sections, struct error *);
