// Memory for many small things that are released together.
#pragma once

#include <stddef.h>

struct arena {
    struct arena_block *first; // NULL: empty
};

void *arena_new(struct arena *, size_t size);             // zeroed; ends the process when memory is exhausted
const char *arena_copy(struct arena *, const char *text); // NULL becomes ""
const char *arena_format(struct arena *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void arena_release(struct arena *); // frees all; the arena is empty afterwards and can be used again
