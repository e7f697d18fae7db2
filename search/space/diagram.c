// See diagram.h.
#include "search/space/diagram.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"

void draft_edge(struct draft_level *level, uint16_t value, uint32_t child)
{
    if (level->edge_count == level->edge_room) {
        level->edge_room = level->edge_room ? 2 * level->edge_room : 64;
        level->value = memory_grow(level->value, level->edge_room, sizeof *level->value);
        level->child = memory_grow(level->child, level->edge_room, sizeof *level->child);
    }
    level->value[level->edge_count] = value;
    level->child[level->edge_count++] = child;
}

void draft_state_done(struct draft_level *level)
{
    if (level->state_count + 2 > level->state_room) {
        level->state_room = level->state_room ? 2 * level->state_room : 16;
        level->begin = memory_grow(level->begin, level->state_room, sizeof *level->begin);
    }
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

// The diagram while it grows from the last level up, with a hash table of the finished states by their edges.
struct build {
    struct diagram *d;
    uint32_t edge_count, edge_room, state_room;
    uint32_t *table;
    uint32_t table_size;
};

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

static uint64_t hash_state(const struct diagram *d, uint32_t from, uint32_t to)
{
    uint64_t h = to - from;
    for (uint32_t e = from; e < to; e++) h = mix(h, (uint64_t)d->value[e] << 32 | d->child[e]);
    return h;
}

static bool same_edges(const struct diagram *d, uint32_t state, uint32_t from, uint32_t to)
{
    uint32_t first = d->begin[state], count = d->begin[state + 1] - first;
    return count == to - from && memcmp(d->value + first, d->value + from, count * sizeof *d->value) == 0 &&
           memcmp(d->child + first, d->child + from, count * sizeof *d->child) == 0;
}

static void clear_table(struct build *b, uint32_t states)
{
    uint32_t size = 16;
    while (size < 2 * (uint64_t)states) size *= 2;
    if (size > b->table_size) {
        b->table = memory_grow(b->table, size, sizeof *b->table);
        b->table_size = size;
    }
    memset(b->table, 0xff, b->table_size * sizeof *b->table);
}

static void add_edge(struct build *b, uint16_t value, uint32_t child)
{
    struct diagram *d = b->d;
    if (b->edge_count == b->edge_room) {
        b->edge_room = b->edge_room ? 2 * b->edge_room : 128;
        d->value = memory_grow(d->value, b->edge_room, sizeof *d->value);
        d->child = memory_grow(d->child, b->edge_room, sizeof *d->child);
    }
    d->value[b->edge_count] = value;
    d->child[b->edge_count++] = child;
}

// The edges past the last state become a state, or are dropped in favour of an equal one.
static uint32_t finish_state(struct build *b)
{
    struct diagram *d = b->d;
    uint32_t from = d->begin[d->state_count];
    uint32_t mask = b->table_size - 1;
    uint32_t at = (uint32_t)hash_state(d, from, b->edge_count) & mask;
    for (; b->table[at] != UINT32_MAX; at = (at + 1) & mask) {
        if (same_edges(d, b->table[at], from, b->edge_count)) {
            b->edge_count = from;
            return b->table[at];
        }
    }
    if (d->state_count + 2 > b->state_room) {
        b->state_room = 2 * b->state_room + 64;
        d->begin = memory_grow(d->begin, b->state_room, sizeof *d->begin);
    }
    b->table[at] = d->state_count;
    d->begin[d->state_count + 1] = b->edge_count;
    return d->state_count++;
}

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

// Children have smaller numbers than their users, so one pass in order counts everything.
static void count_paths(struct diagram *d)
{
    d->paths = memory_grow(NULL, d->state_count, sizeof *d->paths);
    d->before = memory_grow(NULL, d->begin[d->state_count], sizeof *d->before);
    d->paths[0] = 1;
    for (uint32_t s = 1; s < d->state_count; s++) {
        uint64_t sum = 0;
        for (uint32_t e = d->begin[s]; e < d->begin[s + 1]; e++) {
            d->before[e] = sum;
            sum = add_saturating(sum, d->paths[d->child[e]]);
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
    *d = (struct diagram){.levels = levels, .state_count = 1};
    struct build b = {.d = d, .state_room = 64};
    d->begin = memory_grow(NULL, b.state_room, sizeof *d->begin);
    d->begin[0] = d->begin[1] = 0;
    // final[s]: the finished state of the draft's state s in the level below, UINT32_MAX for a dead end.
    uint32_t *below = memory_grow(NULL, sizeof *below, 1), *here = NULL;
    below[0] = 0;
    for (int l = levels - 1; l >= 0; l--) {
        const struct draft_level *level = &draft[l];
        here = memory_grow(here, level->state_count, sizeof *here);
        clear_table(&b, level->state_count);
        for (uint32_t s = 0; s < level->state_count; s++) {
            for (uint32_t e = level->begin[s]; e < level->begin[s + 1]; e++) {
                uint32_t child = below[level->child[e]];
                if (child != UINT32_MAX) add_edge(&b, level->value[e], child);
            }
            here[s] = b.edge_count == d->begin[d->state_count] ? UINT32_MAX : finish_state(&b);
        }
        uint32_t *swap = below;
        below = here;
        here = swap;
    }
    bool empty = levels > 0 && (draft[0].state_count == 0 || below[0] == UINT32_MAX);
    if (!empty) {
        d->root = below[0];
        d->value = memory_grow(d->value, b.edge_count, sizeof *d->value);
        d->child = memory_grow(d->child, b.edge_count, sizeof *d->child);
        count_paths(d);
    }
    free(below);
    free(here);
    free(b.table);
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

int64_t diagram_edge(const struct diagram *d, uint32_t state, uint16_t value)
{
    uint32_t low = d->begin[state], high = d->begin[state + 1];
    // Mostly every value has an edge, and then the place is known.
    if ((uint64_t)low + value < high && d->value[low + value] == value) return (int64_t)low + value;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (d->value[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < d->begin[state + 1] && d->value[low] == value ? (int64_t)low : -1;
}
