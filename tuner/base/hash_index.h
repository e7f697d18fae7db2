// Finds records in an array by their contents. The caller owns the records, which are numbered from 0. For each record,
// the index stores 8 bytes: the hash and the number. It uses open addressing with linear probing and is at most half
// full. Records are never removed, but a record is not found if `same` returns false for it.
#pragma once

#include "tuner/base/base.h"

struct hash_slot {
    uint32_t hash, number; // number + 1; 0: free
};

// Zeroed: empty.
struct hash_index {
    struct hash_slot *slots;
    size_t size, used; // `size`: a power of two, or 0
};

// Adds a record that is not in the index.
void hash_index_add(struct hash_index *, uint32_t hash, size_t number);
void hash_index_clear(struct hash_index *); // empties it and keeps its memory
void hash_index_release(struct hash_index *);

// The number of the record with this hash that `wanted` describes, or -1. This function is inline so that `same` can be
// inlined too.
static inline int64_t hash_index_find(const struct hash_index *x, uint32_t hash,
                                      bool (*same)(const void *wanted, size_t number), const void *wanted)
{
    const struct hash_slot *slots = x->slots;
    size_t mask = x->size - 1;
    for (size_t at = hash & mask; x->size && slots[at].number; at = (at + 1) & mask)
        if (slots[at].hash == hash && same(wanted, slots[at].number - 1)) return slots[at].number - 1;
    return -1;
}

// Combines a hash with x.
static inline uint32_t hash_mix(uint32_t hash, uint64_t x)
{
    uint64_t mixed = (hash ^ x) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(mixed ^ mixed >> 32);
}

// Assigns numbers to strings: a new string gets the next number, and a known string keeps its number. Zeroed: empty.
struct string_pool {
    size_t count;
    const char **texts; // by number; they live as long as the pool
    size_t room;
    struct hash_index index;
    struct arena memory;
};

// The number for the first `length` bytes of a string.
size_t string_pool_put(struct string_pool *, const char *text, size_t length);
int64_t string_pool_find(const struct string_pool *, const char *text); // or -1
void string_pool_release(struct string_pool *);
