// Files with compiled kernels: cubins, PTX, and fat binaries that contain them.
#pragma once

#include "tuner/base/text.h"

// Whether a file is a cubin, PTX or a fat binary. A NUL byte must follow its `size` bytes.
bool gpu_binary_is(const char *image, size_t size);
// The names of the kernels in a cubin or PTX; an empty list for other files. The caller releases it.
struct text_list gpu_binary_kernels(const char *image, size_t size);
