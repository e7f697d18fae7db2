// Compiled kernels in a file: a cubin, PTX, or a fat binary of these.
#pragma once

#include "tuner/base/text.h"

// What such a file is, by its content: "a cubin", "PTX", "a fat binary"; NULL: something else. `image` ends with a NUL
// byte after `size`.
const char *gpu_binary_kind(const char *image, size_t size);
// The names of the kernels of a cubin or of PTX; of others none. The caller releases.
struct text_list gpu_binary_kernels(const char *image, size_t size);
