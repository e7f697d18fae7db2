// A candidate whose stages are compiled with different macros is several cubins, its units, in one file: what is
// cached, hashed, kept and shipped stays one piece. A file of one cubin is that cubin.
//
// The file begins with a mark and the number of units; then offset and size of each, as 64-bit numbers of this machine;
// then the cubins, at multiples of 64 bytes. A unit that a configuration does not use has size 0.
#pragma once

#include "tuner/base/base.h"

enum { UNITS_MAX = 8, UNITS_ALIGNMENT = 64 };

// Joins cubins. malloc'ed; NULL when memory is exhausted.
void *units_join(const void *const *images, const size_t *sizes, size_t count, size_t *size, struct error *);
// How many units there are: 1 for anything that is no such file. -1 with a message for a damaged one.
int units_count(const void *image, size_t size, struct error *);
// Where unit number `unit` begins, and its size, 0 where it is not used. The file is one that units_count has accepted.
size_t units_offset(const void *image, size_t size, size_t unit, size_t *bytes);
