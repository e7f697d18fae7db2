// A candidate whose stages are compiled with different macros has several cubins, called its units. They are joined in
// one file, so that the candidate can be cached, hashed, stored and shipped as a whole. A candidate with a single cubin
// has this cubin as its file.
//
// The file begins with a mark and the number of units. Then come the offset and size of each unit, as 64-bit numbers in
// this machine's byte order, and the cubins, at multiples of 64 bytes. A unit that a configuration does not use has
// size 0.
#pragma once

#include "tuner/base/base.h"

enum { UNITS_MAX = 8, UNITS_ALIGNMENT = 64 };

// Joins cubins. malloc'ed; NULL when memory is exhausted.
void *units_join(const void *const *images, const size_t *sizes, size_t count, size_t *size, struct error *);
// How many units a file has: 1 if it is not a file of units, -1 with a message if it is a damaged file of units.
int units_count(const void *image, size_t size, struct error *);
// The offset of unit number `unit`, and its size (0 if it is not used). units_count must have accepted the file.
size_t units_offset(const void *image, size_t size, size_t unit, size_t *bytes);
