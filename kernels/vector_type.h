// CUDA's vector types (vector_types.h, cuda_fp16.h, cuda_bf16.h, cuda_fp8.h): several elements with a common alignment.
#pragma once

#include "kernels/element.h"

struct vector_type {
    const char *name;
    enum element element;
    int lanes; // 2 to 4
};

// All vector types; an entry without a name ends the list.
extern const struct vector_type vector_types[];
// Finds a type by its name, which may be NULL. NULL if there is none.
const struct vector_type *vector_type_find(const char *name);
size_t vector_type_size(const struct vector_type *);
// For three elements, the alignment of one; otherwise the size, at most 16 bytes.
size_t vector_type_alignment(const struct vector_type *);
