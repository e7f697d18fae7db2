// See dictionary.h. Open addressing with linear probing, at most half full; FNV-1a (Fowler, Noll and Vo).
#include "tuner/report/dictionary.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"

static size_t slot_of(const struct dictionary *d, const char *text, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3;
    return (size_t)(hash ^ hash >> 32) & (d->slot_count - 1);
}

static bool is_word(const char *word, const char *text, size_t length)
{
    return !strncmp(word, text, length) && !word[length];
}

static void make_room(struct dictionary *d)
{
    d->slot_count = d->slot_count ? 2 * d->slot_count : 64;
    free(d->slots);
    d->slots = memory_new(d->slot_count, sizeof *d->slots);
    d->room = d->slot_count / 2;
    d->words = memory_grow(d->words, d->room, sizeof *d->words);
    for (size_t i = 0; i < d->count; i++) {
        size_t slot = slot_of(d, d->words[i], strlen(d->words[i]));
        while (d->slots[slot]) slot = (slot + 1) & (d->slot_count - 1);
        d->slots[slot] = (uint32_t)i + 1;
    }
}

size_t dictionary_put(struct dictionary *d, const char *text, size_t length)
{
    if (d->count == d->room) make_room(d);
    size_t slot = slot_of(d, text, length);
    for (; d->slots[slot]; slot = (slot + 1) & (d->slot_count - 1))
        if (is_word(d->words[d->slots[slot] - 1], text, length)) return d->slots[slot] - 1;
    char *word = arena_new(&d->memory, length + 1);
    memcpy(word, text, length);
    d->words[d->count] = word;
    d->slots[slot] = (uint32_t)++d->count;
    return d->count - 1;
}

void dictionary_release(struct dictionary *d)
{
    free(d->words);
    free(d->slots);
    arena_release(&d->memory);
    *d = (struct dictionary){0};
}
