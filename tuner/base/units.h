// A candidate whose stages are compiled with different macros has several cubins, its units. They are joined in one
// file, so that the candidate can be cached, hashed, stored and shipped in one piece. A file with one cubin is that
// cubin.
//
// The file begins with a mark and the number of units; then offset and size of each, as 64-bit numbers of this machine;
// then the cubins, at multiples of 64 bytes. A unit that a configuration does not use has size 0.
#pragma once

#include "tuner/base/base.h"

enum { UNITS_MAX = 8, UNITS_ALIGNMENT = 64 };

// Joins cubins. malloc'ed; NULL when memory is exhausted.
void *units_join(const void *const *images, const size_t *sizes, size_t count, size_t *size, struct error *);
// The number of units: 1 for anything that is not such a file. -1 with a message for a damaged one.
int units_count(const void *image, size_t size, struct error *);
// The offset of unit number `unit`, and its size (0 if it is not used). units_count must have accepted the file.
size_t units_offset(const void *image, size_t size, size_t unit, size_t *bytes);
