// See memory.h.
#include "tuner/base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void *or_end(void *memory)
{
    if (memory) return memory;
    fputs("sweetspot: out of memory\n", stderr);
    abort();
}

void *memory_new(size_t count, size_t size)
{
    return or_end(calloc(count ? count : 1, size ? size : 1));
}

void *memory_grow(void *old, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size) return or_end(NULL);
    return or_end(realloc(old, count && size ? count * size : 1));
}

void *memory_try(size_t count, size_t size, struct error *err)
{
    void *memory = calloc(count ? count : 1, size ? size : 1);
    if (!memory) error_set(err, "out of host memory: %zu elements of %zu bytes", count, size);
    return memory;
}
