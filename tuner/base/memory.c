// See memory.h.
#include "tuner/base/memory.h"

#include "tuner/base/base.h"

static void *or_end(void *memory)
{
    if (!memory) error_abort("out of memory");
    return memory;
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

void *memory_room(void *old, size_t *room, size_t count, size_t size)
{
    if (count <= *room) return old;
    *room = 2 * count + 16;
    return memory_grow(old, *room, size);
}

static void *or_fail(void *memory, size_t count, size_t size, struct error *err)
{
    if (!memory) error_set(err, "out of host memory: %zu elements of %zu bytes", count, size);
    return memory;
}

void *memory_try(size_t count, size_t size, struct error *err)
{
    return or_fail(calloc(count ? count : 1, size ? size : 1), count, size, err);
}

void *memory_try_grow(void *old, size_t count, size_t size, struct error *err)
{
    bool fits = !size || count <= SIZE_MAX / size;
    return or_fail(fits ? realloc(old, count && size ? count * size : 1) : NULL, count, size, err);
}
