// See hash_index.h.
#include "tuner/base/hash_index.h"

static void put(struct hash_index *x, struct hash_slot slot)
{
    size_t at = slot.hash & (x->size - 1);
    while (x->slots[at].number) at = (at + 1) & (x->size - 1);
    x->slots[at] = slot;
}

void hash_index_add(struct hash_index *x, uint32_t hash, size_t number)
{
    if (2 * ++x->used > x->size) {
        struct hash_index old = *x;
        x->size = old.size ? 4 * old.size : 64;
        x->slots = memory_new(x->size, sizeof *x->slots);
        for (size_t i = 0; i < old.size; i++)
            if (old.slots[i].number) put(x, old.slots[i]);
        free(old.slots);
    }
    put(x, (struct hash_slot){hash, (uint32_t)number + 1});
}

void hash_index_clear(struct hash_index *x)
{
    if (x->size) memset(x->slots, 0, x->size * sizeof *x->slots);
    x->used = 0;
}

void hash_index_release(struct hash_index *x)
{
    free(x->slots);
    *x = (struct hash_index){0};
}

struct wanted_text {
    const struct string_pool *pool;
    const char *text;
    size_t length;
};

static bool same_text(const void *wanted, size_t number)
{
    const struct wanted_text *w = wanted;
    const char *text = w->pool->texts[number];
    return !strncmp(text, w->text, w->length) && !text[w->length];
}

static int64_t find(const struct string_pool *p, const char *text, size_t length, uint32_t *hash)
{
    *hash = 0;
    for (size_t i = 0; i < length; i++) *hash = hash_mix(*hash, (unsigned char)text[i] + 1u);
    return hash_index_find(&p->index, *hash, same_text, &(struct wanted_text){p, text, length});
}

size_t string_pool_put(struct string_pool *p, const char *text, size_t length)
{
    uint32_t hash;
    int64_t known = find(p, text, length, &hash);
    if (known >= 0) return (size_t)known;
    p->texts = memory_room(p->texts, &p->room, p->count + 1, sizeof *p->texts);
    char *copy = arena_new(&p->memory, length + 1);
    memcpy(copy, text, length);
    p->texts[p->count] = copy;
    hash_index_add(&p->index, hash, p->count);
    return p->count++;
}

int64_t string_pool_find(const struct string_pool *p, const char *text)
{
    uint32_t hash;
    return find(p, text, strlen(text), &hash);
}

void string_pool_release(struct string_pool *p)
{
    free(p->texts);
    hash_index_release(&p->index);
    arena_release(&p->memory);
    *p = (struct string_pool){0};
}
