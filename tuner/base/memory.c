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

struct arena_block {
    struct arena_block *next;
    _Alignas(max_align_t) unsigned char bytes[];
};

void *arena_new(struct arena *arena, size_t size)
{
    struct arena_block *block = memory_new(1, sizeof *block + size);
    block->next = arena->first;
    arena->first = block;
    return block->bytes;
}

const char *arena_copy(struct arena *arena, const char *text)
{
    if (!text) return "";
    size_t size = strlen(text) + 1;
    return memcpy(arena_new(arena, size), text, size);
}

const char *arena_format(struct arena *arena, const char *format, ...)
{
    va_list args;
    char *text = NULL;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) or_end(NULL);
    va_end(args);
    const char *copy = arena_copy(arena, text);
    free(text);
    return copy;
}

void arena_release(struct arena *arena)
{
    while (arena->first) {
        struct arena_block *next = arena->first->next;
        free(arena->first);
        arena->first = next;
    }
}
