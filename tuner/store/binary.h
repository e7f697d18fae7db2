// The names under which a finalist's trial has its cubin (a blob) and the document about the cubin. Both are written by
// tuner/final/final_binaries.c and read by the header.
#pragma once

#include "tuner/base/base.h"

#define BINARY_BLOB "cubin"
#define BINARY_DOCUMENT "binary"

// The name of a unit's entry (tuner/base/units.h) in the document's "symbols". malloc'ed.
static inline char *binary_symbol_name(size_t unit, const char *entry)
{
    return unit ? text_format("%zu %s", unit, entry) : text_copy(entry);
}
