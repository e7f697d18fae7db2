// Compiled kernels in a file: a cubin, PTX, or a fat binary of these.
#pragma once

#include "tuner/base/text.h"

// Whether a file's content is one of these. A NUL byte must follow its `size` bytes.
bool gpu_binary_is(const char *image, size_t size);
// The names of the kernels in a cubin or PTX; none for others. The caller releases.
struct text_list gpu_binary_kernels(const char *image, size_t size);
