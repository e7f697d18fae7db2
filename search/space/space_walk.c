// Walking the index of a space: numbers, samples, neighbours, repair (space.h).
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "search/space/space_internal.h"

// The number of states that repair visits for each number of changes, before it falls back to taking the nearest edge
// on every level.
enum { REPAIR_EFFORT = 2000 };

void space_get(const struct space *s, uint64_t index, uint16_t *config)
{
    const struct diagram *d = &s->diagram;
    assert(s->built && index < d->size);
    memset(config, 0, (size_t)s->count * sizeof *config);
    uint32_t state = d->root;
    for (int l = 0; l < s->level_count; l++) {
        // Finds the last edge with at most `index` paths before it.
        uint32_t low = d->begin[state], high = d->begin[state + 1];
        while (high - low > 1) {
            uint32_t middle = low + (high - low) / 2;
            if (d->before[middle] <= index)
                low = middle;
            else
                high = middle;
        }
        index -= d->before[low];
        config[s->order[l]] = d->value[low];
        state = d->child[low];
    }
}

int64_t space_index(const struct space *s, const uint16_t *config)
{
    const struct diagram *d = &s->diagram;
    assert(s->built);
    for (int i = 0; i < s->count; i++)
        if (config[i] >= s->parameters[i].count) return -1;
    uint64_t index = 0;
    uint32_t state = d->root;
    for (int l = 0; l < s->level_count; l++) {
        int64_t e = diagram_edge(d, state, config[s->order[l]]);
        if (e < 0) return -1;
        index += d->before[e]; // may saturate: nothing uses the numbers in such a large space
        state = d->child[e];
    }
    return (int64_t)(index & INT64_MAX);
}

bool space_is_valid(const struct space *s, const uint16_t *config)
{
    return space_index(s, config) >= 0;
}

void space_sample(const struct space *s, struct random *rng, uint16_t *config)
{
    const struct diagram *d = &s->diagram;
    if (!d->weight) {
        space_get(s, random_below(rng, d->size), config);
        return;
    }
    memset(config, 0, (size_t)s->count * sizeof *config);
    uint32_t state = d->root;
    for (int l = 0; l < s->level_count; l++) {
        uint32_t e = d->begin[state], last = d->begin[state + 1] - 1;
        double target = random_unit(rng) * d->weight[state];
        while (e < last && target >= d->weight[d->child[e]]) target -= d->weight[d->child[e++]];
        config[s->order[l]] = d->value[e];
        state = d->child[e];
    }
}

// Whether the rest of the configuration, from level l on, leads to the end.
static bool completes(const struct space *s, const uint16_t *config, int l, uint32_t state)
{
    for (; l < s->level_count; l++) {
        int64_t e = diagram_edge(&s->diagram, state, config[s->order[l]]);
        if (e < 0) return false;
        state = s->diagram.child[e];
    }
    return true;
}

size_t space_neighbours(const struct space *s, const uint16_t *config, uint16_t *out, size_t max)
{
    const struct diagram *d = &s->diagram;
    size_t width = (size_t)s->count, count = 0;
    uint32_t state = d->root;
    for (int l = 0; l < s->level_count && count < max; l++) {
        int64_t own = diagram_edge(d, state, config[s->order[l]]);
        if (own < 0) break; // not a valid configuration: it has no further neighbours
        for (uint32_t e = d->begin[state]; e < d->begin[state + 1] && count < max; e++) {
            if (e == (uint32_t)own || !completes(s, config, l + 1, d->child[e])) continue;
            uint16_t *neighbour = out + count++ * width;
            memcpy(neighbour, config, width * sizeof *neighbour);
            neighbour[s->order[l]] = d->value[e];
        }
        state = d->child[own];
    }
    return count;
}

size_t space_neighbour_room(const struct space *s)
{
    size_t room = 0;
    for (int i = 0; i < s->count; i++) room += s->parameters[i].count - 1;
    return room;
}

struct repair {
    const struct space *space;
    struct random *rng;
    const uint16_t *wanted;
    uint16_t *path; // by parameter
    int effort;
};

// Goes through the edges of a state that do not have the wanted value. The nearest comes first; a random choice, made
// once, decides between two equally near edges. If the values are unordered, the walk starts at a random edge.
struct edge_cursor {
    uint32_t begin, end;
    int64_t left, right;
    bool ordered, right_first;
    uint32_t at, remaining;
};

static struct edge_cursor cursor_at(const struct repair *r, int l, uint32_t state, bool *has_own)
{
    const struct space *s = r->space;
    const struct diagram *d = &s->diagram;
    int p = s->order[l];
    uint32_t begin = d->begin[state], end = d->begin[state + 1], low = diagram_first(d, state, r->wanted[p]);
    *has_own = low < end && d->value[low] == r->wanted[p];
    struct edge_cursor c = {.begin = begin, .end = end, .left = (int64_t)low - 1, .right = low};
    c.right += *has_own;
    c.ordered = s->parameters[p].kind != PARAMETER_STRING;
    c.right_first = random_next(r->rng) & 1;
    c.remaining = end - begin;
    c.at = begin + (uint32_t)random_below(r->rng, end - begin);
    return c;
}

static int64_t next_edge(struct edge_cursor *c, const struct diagram *d, uint16_t wanted)
{
    if (!c->ordered) {
        while (c->remaining) {
            c->remaining--;
            uint32_t e = c->at;
            c->at = e + 1 == c->end ? c->begin : e + 1;
            if (d->value[e] != wanted) return e;
        }
        return -1;
    }
    bool left = c->left >= (int64_t)c->begin, right = c->right < (int64_t)c->end;
    if (!left && !right) return -1;
    int to_left = left ? wanted - d->value[c->left] : INT32_MAX;
    int to_right = right ? d->value[c->right] - wanted : INT32_MAX;
    if (to_right < to_left || (to_right == to_left && c->right_first)) return c->right++;
    return c->left--;
}

// Finds a path from here to the end with at most `changes` changed values.
static bool descend(struct repair *r, int l, uint32_t state, int changes)
{
    const struct space *s = r->space;
    const struct diagram *d = &s->diagram;
    if (l == s->level_count) return true;
    if (r->effort-- <= 0) return false;
    int p = s->order[l];
    int64_t own = diagram_edge(d, state, r->wanted[p]);
    if (own >= 0) {
        r->path[p] = r->wanted[p];
        if (descend(r, l + 1, d->child[own], changes)) return true;
    }
    if (changes == 0) return false;
    bool has_own;
    struct edge_cursor c = cursor_at(r, l, state, &has_own);
    for (int64_t e; (e = next_edge(&c, d, r->wanted[p])) >= 0 && r->effort > 0;) {
        r->path[p] = d->value[e];
        if (descend(r, l + 1, d->child[e], changes - 1)) return true;
    }
    return false;
}

size_t space_repair(const struct space *s, struct random *rng, uint16_t *config)
{
    const struct diagram *d = &s->diagram;
    uint16_t wanted[SPACE_MAX_PARAMETERS], path[SPACE_MAX_PARAMETERS] = {0};
    assert(s->built);
    for (int i = 0; i < s->count; i++) {
        size_t last = s->parameters[i].count - 1;
        wanted[i] = config[i] > last ? (uint16_t)last : config[i];
    }
    struct repair r = {s, rng, wanted, path, 0};
    bool found = false;
    int most = s->level_count < 6 ? s->level_count : 6;
    for (int changes = 0; changes <= most && !found; changes++) {
        r.effort = REPAIR_EFFORT;
        found = descend(&r, 0, d->root, changes);
    }
    uint32_t state = d->root;
    for (int l = 0; l < s->level_count && !found; l++) {
        bool has_own;
        struct edge_cursor c = cursor_at(&r, l, state, &has_own);
        int p = s->order[l];
        int64_t e = has_own ? diagram_edge(d, state, wanted[p]) : next_edge(&c, d, wanted[p]);
        path[p] = d->value[e];
        state = d->child[e];
    }
    size_t changed = 0;
    for (int i = 0; i < s->count; i++) changed += path[i] != config[i];
    memcpy(config, path, (size_t)s->count * sizeof *config);
    return changed;
}
