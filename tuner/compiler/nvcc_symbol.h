// Under which name a kernel is in a cubin that nvcc made. Name expressions may use macros and default arguments, so
// nvcc itself has to say: for each entry the unit has an empty kernel, a template that is instantiated with the entry's
// address, and so with its mangled name.
#ifndef SWEETSPOT_NVCC_SYMBOL_H
#define SWEETSPOT_NVCC_SYMBOL_H

#include <stddef.h>

// The source text of that kernel, for the entry number `index`. malloc'ed.
char *nvcc_symbol_marker(const char *entry, size_t index);
// The entry's symbol, borrowed from the cubin; NULL: none of its kernels, or several, may be it.
const char *nvcc_symbol_find(const void *cubin, size_t size, size_t index);

#endif
