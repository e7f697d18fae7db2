// What a cubin says of its kernels.
#pragma once

#include "tuner/base/base.h"

struct cubin_kernel {
    int64_t registers, stack, shared, code_bytes; // of a thread, of a thread, of a block without the system's own; -1:
                                                  // it does not say
};

// Never reads beyond `size`, whatever the bytes are.
struct cubin_kernel cubin_kernel(const void *cubin, size_t size, const char *symbol);
