// How space_build.c evaluates the constraints level by level: which operations can be done when a parameter gets its
// value, and which values must be kept after each level.
#ifndef SWEETSPOT_SPACE_PLAN_H
#define SWEETSPOT_SPACE_PLAN_H

#include "search/space/space_internal.h"

// What happens on one level.
struct level_plan {
    uint64_t bit; // the parameter's, in masks
    int leaf;     // the parameter's node, -1 where no constraint reads it
    int *touched; // nodes that may change their value, operands first
    bool *loaded; // touched[i] is in the layout of the level before and may have a value already
    int touched_count;
    int *layout; // the nodes whose values are the state behind this level
    int layout_count;
    bool walk; // some of these may turn out to be unused
    int *open; // nodes not determined behind this level for certain, users first
    int open_count;
    int *roots; // roots among the touched nodes
    int root_count;
};

// A comparison with a constant is often decided before all its parameters are: once a partial product is past the
// limit, or so small that nothing can bring it there. If the value of `node` is below `low` or above `high`, the
// comparison is 0 (1 for !=); if it is between `sure_low` and `sure_high`, it is 1.
struct watch {
    int node;
    int64_t low, high, sure_low, sure_high;
};

struct plan {
    struct graph graph; // lowered: at most three operands
    int *roots;
    size_t root_count;
    bool *is_root;
    // Of each node: the level where its value may be known, where it is known for certain, where it is last read; -1 is
    // before the first level (constants) or never.
    int *first_level, *last_level, *last_use;
    int level_count;
    struct level_plan *levels;
    struct watch *watches;
    int watch_count;
    int *watch_begin; // node n has the watches watch_begin[n] .. watch_begin[n+1]-1
    int *pool;        // memory of the lists
    size_t pool_used, pool_size;
};

// The graph of the constraints with these numbers (from constraint_count on: derived names, see space_internal.h).
void constraint_graph_init(struct constraint_graph *, const struct space *, const int *constraints, size_t count);
void constraint_graph_release(struct constraint_graph *);

// Keeps no pointer to its arguments.
void plan_init(struct plan *, const struct constraint_graph *, const int *order, int level_count);
void plan_release(struct plan *);

#endif
