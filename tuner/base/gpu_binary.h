// Compiled kernels in a file: a cubin, PTX, or a fat binary of these.
#pragma once

#include "tuner/base/text.h"

// Whether a file is one, by its content, which ends with a NUL byte after `size`.
bool gpu_binary_is(const char *image, size_t size);
// The names of the kernels of a cubin or of PTX; of others none. The caller releases.
struct text_list gpu_binary_kernels(const char *image, size_t size);
