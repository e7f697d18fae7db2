// See arena.h.
#include "tuner/base/arena.h"

#include <stdarg.h>

#include "tuner/base/base.h"

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
    va_start(args, format);
    char *text = text_format_list(format, args);
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
