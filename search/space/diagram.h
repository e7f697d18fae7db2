// A decision diagram over configurations: the index of a search space.
//
//   level 0        root                    one or more states per level; a path from the root to the end is a valid
//                 / | \                    configuration, an edge the index of a parameter's value
//   level 1      o  o  o
//                 \ | / \                  states from which the same completions are possible are one
//   ...            end
//
// Every state has the number of paths that lead on from it, every edge the number of those with a smaller value. So
// paths are numbered in lexicographic order, found by number, and drawn uniformly, in time proportional to the depth.
#ifndef SWEETSPOT_DIAGRAM_H
#define SWEETSPOT_DIAGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diagram {
    int levels;
    uint32_t root; // state 0 is the end; there is none when `size` is 0
    uint32_t state_count;
    uint32_t *begin; // state s owns the edges begin[s] .. begin[s+1]-1, by ascending value
    uint16_t *value; // of an edge
    uint32_t *child;
    uint64_t *before; // paths from the edge's state that take an earlier edge
    uint64_t *paths;  // from a state; saturates at UINT64_MAX
    double *weight;   // the same without saturation, only where the root's count saturates, else NULL
    uint64_t size;    // paths[root], or 0
};

// One level while a diagram is being made: the edges of each state, ascending by value, into states of the next level.
// Edges of the last level lead to state 0.
struct draft_level {
    uint32_t state_count;
    uint32_t *begin; // state_count + 1 entries
    size_t edge_count, state_room, value_room, child_room;
    uint16_t *value;
    uint32_t *child;
};

void draft_edge(struct draft_level *, uint16_t value, uint32_t child); // of the state that is being written
void draft_state_done(struct draft_level *);                           // that state is complete
void draft_release(struct draft_level *);

// Builds from the draft (levels >= 0; state 0 of level 0 is the root): removes dead ends, merges equal states, counts.
void diagram_build(struct diagram *, const struct draft_level *, int levels);
void diagram_release(struct diagram *);

// The first edge of `state` with that value or a greater one; begin[state + 1] where there is none.
uint32_t diagram_first(const struct diagram *, uint32_t state, uint16_t value);
// The edge of `state` with that value, or -1.
int64_t diagram_edge(const struct diagram *, uint32_t state, uint16_t value);

#endif
