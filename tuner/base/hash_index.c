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
