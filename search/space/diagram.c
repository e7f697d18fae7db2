// The decision diagram: see space_internal.h.
#include "search/space/space_internal.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"

void draft_edge(struct draft_level *level, uint16_t value, uint32_t child)
{
    level->value = memory_room(level->value, &level->value_room, level->edge_count + 1, sizeof *level->value);
    level->child = memory_room(level->child, &level->child_room, level->edge_count + 1, sizeof *level->child);
    level->value[level->edge_count] = value;
    level->child[level->edge_count++] = child;
}

void draft_state_done(struct draft_level *level)
{
    level->begin = memory_room(level->begin, &level->state_room, level->state_count + 2, sizeof *level->begin);
    if (level->state_count == 0) level->begin[0] = 0;
    level->begin[++level->state_count] = (uint32_t)level->edge_count;
}

void draft_release(struct draft_level *level)
{
    free(level->begin);
    free(level->value);
    free(level->child);
    *level = (struct draft_level){0};
}

// The diagram while it is built from the last level up, with a hash table of one level's finished states. The key of a
// state is its edges.
struct build {
    struct draft_level all; // the finished states of all levels, and the edges of the next state
    struct hash_index index;
};

// Whether a state's edges equal those written after the last state.
static bool same_edges(const void *build, size_t state)
{
    const struct draft_level *d = &((const struct build *)build)->all;
    uint32_t first = d->begin[state], count = d->begin[state + 1] - first, from = d->begin[d->state_count];
    return count == d->edge_count - from && memcmp(d->value + first, d->value + from, count * sizeof *d->value) == 0 &&
           memcmp(d->child + first, d->child + from, count * sizeof *d->child) == 0;
}

// Makes a state from the edges after the last state. If an equal state exists, drops the edges. Returns the new or the
// equal state, or UINT32_MAX if there are no edges.
static uint32_t finish_state(struct build *b)
{
    struct draft_level *d = &b->all;
    uint32_t from = d->begin[d->state_count], hash = (uint32_t)d->edge_count - from;
    if (d->edge_count == from) return UINT32_MAX;
    for (uint32_t e = from; e < d->edge_count; e++) hash = hash_mix(hash, (uint64_t)d->value[e] << 32 | d->child[e]);
    int64_t known = hash_index_find(&b->index, hash, same_edges, b);
    if (known >= 0) {
        d->edge_count = from;
        return (uint32_t)known;
    }
    hash_index_add(&b->index, hash, d->state_count);
    draft_state_done(d);
    return d->state_count - 1;
}

// Children have smaller numbers than their parents, so one pass in order counts everything.
static void count_paths(struct diagram *d)
{
    d->paths = memory_grow(NULL, d->state_count, sizeof *d->paths);
    d->before = memory_grow(NULL, d->begin[d->state_count], sizeof *d->before);
    d->paths[0] = 1;
    for (uint32_t s = 1; s < d->state_count; s++) {
        uint64_t sum = 0;
        for (uint32_t e = d->begin[s]; e < d->begin[s + 1]; e++) {
            d->before[e] = sum;
            if (__builtin_add_overflow(sum, d->paths[d->child[e]], &sum)) sum = UINT64_MAX;
        }
        d->paths[s] = sum;
    }
    d->size = d->paths[d->root];
    if (d->size < UINT64_MAX) return;
    d->weight = memory_grow(NULL, d->state_count, sizeof *d->weight);
    d->weight[0] = 1;
    for (uint32_t s = 1; s < d->state_count; s++) {
        d->weight[s] = 0;
        for (uint32_t e = d->begin[s]; e < d->begin[s + 1]; e++) d->weight[s] += d->weight[d->child[e]];
    }
}

void diagram_build(struct diagram *d, const struct draft_level *draft, int levels)
{
    struct build b = {0};
    draft_state_done(&b.all); // the end
    // below[s]: the finished state of the draft's state s in the level below, UINT32_MAX for a dead end.
    uint32_t *below = memory_grow(NULL, sizeof *below, 1), *here = NULL;
    below[0] = 0;
    for (int l = levels - 1; l >= 0; l--) {
        const struct draft_level *level = &draft[l];
        here = memory_grow(here, level->state_count, sizeof *here);
        hash_index_clear(&b.index);
        for (uint32_t s = 0; s < level->state_count; s++) {
            for (uint32_t e = level->begin[s]; e < level->begin[s + 1]; e++) {
                uint32_t child = below[level->child[e]];
                if (child != UINT32_MAX) draft_edge(&b.all, level->value[e], child);
            }
            here[s] = finish_state(&b);
        }
        memory_swap(below, here);
    }
    *d = (struct diagram){.levels = levels,
                          .state_count = b.all.state_count,
                          .begin = b.all.begin,
                          .value = memory_grow(b.all.value, b.all.edge_count, sizeof *d->value),
                          .child = memory_grow(b.all.child, b.all.edge_count, sizeof *d->child)};
    if (levels == 0 || (draft[0].state_count && below[0] != UINT32_MAX)) {
        d->root = below[0];
        count_paths(d);
    }
    free(below);
    free(here);
    hash_index_release(&b.index);
}

void diagram_release(struct diagram *d)
{
    free(d->begin);
    free(d->value);
    free(d->child);
    free(d->before);
    free(d->paths);
    free(d->weight);
    *d = (struct diagram){0};
}

uint32_t diagram_first(const struct diagram *d, uint32_t state, uint16_t value)
{
    uint32_t low = d->begin[state], high = d->begin[state + 1];
    // Usually every value has an edge, so the position is known.
    if ((uint64_t)low + value < high && d->value[low + value] == value) return low + value;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (d->value[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int64_t diagram_edge(const struct diagram *d, uint32_t state, uint16_t value)
{
    uint32_t first = diagram_first(d, state, value);
    return first < d->begin[state + 1] && d->value[first] == value ? (int64_t)first : -1;
}
