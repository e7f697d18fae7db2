// Numbers for texts: each new text gets the next number, a known text its old one.
#ifndef SWEETSPOT_STRING_POOL_H
#define SWEETSPOT_STRING_POOL_H

#include "tuner/base/arena.h"
#include "tuner/base/hash_index.h"

// Zeroed: empty.
struct string_pool {
    size_t count;
    const char **texts; // by number; they live as long as the pool
    size_t room;
    struct hash_index index;
    struct arena memory;
};

// The number of the text's first `length` bytes.
size_t string_pool_put(struct string_pool *, const char *text, size_t length);
int64_t string_pool_find(const struct string_pool *, const char *text); // or -1
void string_pool_release(struct string_pool *);

#endif
