// Host memory. The driver and `search/` end the process when memory is exhausted; no result is lost, since every
// finished trial is committed. Workers use memory_try and answer with an error instead.
#pragma once

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/error.h"

// memory_new: zeroed memory for `count` elements (at least one byte). memory_grow: the array, enlarged to `count`
// elements (new ones are not zeroed). Both end the process when memory is exhausted. The caller frees the memory.
void *memory_new(size_t count, size_t size);
void *memory_grow(void *old, size_t count, size_t size);

// Adds an element to an array; use it as memory_add(list, count) = element. The expression `element` must not read
// `count`, which may have been increased already.
#define memory_add(list, count) (*((list) = memory_grow((list), (count) + 1, sizeof *(list)), &(list)[(count)++]))

// Gives a growing array room for at least `count` elements. Returns `old` if *room, the number of elements that fit so
// far, is enough. Otherwise the room doubles, so that adding elements one by one is cheap.
void *memory_room(void *old, size_t *room, size_t count, size_t size);

// Like memory_new and memory_grow, but they return NULL with a message when memory is exhausted; `old` is then
// unchanged.
void *memory_try(size_t count, size_t size, struct error *err);
void *memory_try_grow(void *old, size_t count, size_t size, struct error *err);

// Goes before the declaration of local pointers, each of which must be initialised. Their memory is freed when they go
// out of scope, including by a return. json.h defines the same for JSON.
#define autofree __attribute__((cleanup(memory_free_local)))
static inline void memory_free_local(void *local)
{
    void *memory;
    memcpy(&memory, local, sizeof memory);
    free(memory);
}

// Goes before the declaration of a local struct, and calls release() on its address at the end of its scope. It must be
// possible to release the struct right after its initialisation.
#define autorelease(release) __attribute__((cleanup(release)))

// Exchanges two variables or elements of the same type.
#define memory_swap(a, b)          \
    do {                           \
        __typeof__(a) kept_ = (a); \
        (a) = (b);                 \
        (b) = kept_;               \
    } while (0)

// The smallest multiple of `unit` that is at least n.
static inline size_t round_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

static inline size_t smaller_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t larger_of(size_t a, size_t b)
{
    return a > b ? a : b;
}

// Memory for many small things that are released together.
struct arena {
    struct arena_block *first; // NULL: empty
};

void *arena_new(struct arena *, size_t size);             // zeroed; ends the process when memory is exhausted
const char *arena_copy(struct arena *, const char *text); // NULL becomes ""
const char *arena_format(struct arena *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void arena_release(struct arena *); // frees all; the arena is empty afterwards and can be used again
