// Shared by the modules of the space: space.c (the parts and their strings), space_graph.c (the constraints as a
// graph), space_order.c (the order of the levels), space_build.c (constraints to diagram), space_index.c (the space's
// index) and space_walk.c (neighbours, repair, sampling).
#pragma once

#include "search/space/expr_node.h"
#include "search/space/space.h"
#include "tuner/base/hash_index.h"

// A decision diagram over configurations: the index of a search space.
//
//   level 0        root                    one or more states per level; a path from the root to the end is a valid
//                 / | \                    configuration, an edge the index of a parameter's value
//   level 1      o  o  o
//                 \ | / \ states with the same possible completions are merged
//   ...            end
//
// Every state stores the number of paths from it to the end. Every edge stores the number of paths from its state that
// take a smaller value. With these numbers, three operations take time proportional to the depth: finding the number of
// a path (in lexicographic order), finding the path with a number, and drawing a path uniformly.
struct diagram {
    int levels;
    uint32_t root; // state 0 is the end; there is no root if `size` is 0
    uint32_t state_count;
    uint32_t *begin; // state s owns the edges begin[s] .. begin[s+1]-1, by ascending value
    uint16_t *value; // by edge
    uint32_t *child;
    uint64_t *before; // by edge: paths from the edge's state that take an earlier edge
    uint64_t *paths;  // by state; saturates at UINT64_MAX
    double *weight;   // `paths` without saturation; NULL unless the root's count saturates
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

void draft_edge(struct draft_level *, uint16_t value, uint32_t child); // from the state that is being written
void draft_state_done(struct draft_level *);                           // that state is complete
void draft_release(struct draft_level *);

// Builds from the draft (levels >= 0; state 0 of level 0 is the root): removes dead ends, merges equal states and
// counts paths.
void diagram_build(struct diagram *, const struct draft_level *, int levels);
void diagram_release(struct diagram *);

// The first edge of `state` with that value or a greater one; begin[state + 1] if there is none.
uint32_t diagram_first(const struct diagram *, uint32_t state, uint16_t value);
// The edge of `state` with that value, or -1.
int64_t diagram_edge(const struct diagram *, uint32_t state, uint16_t value);

struct derived {
    char *name;
    int slot;
    struct expr *expr;
};

struct constant {
    int slot;
    int64_t value;
};

struct space {
    struct symbols *symbols;
    struct parameter parameters[SPACE_MAX_PARAMETERS];
    int slots[SPACE_MAX_PARAMETERS];
    int count;
    struct constant *constants;
    size_t constant_count;
    struct derived *derived;
    size_t derived_count;
    struct expr **constraints;
    size_t constraint_count;

    bool built;
    // The diagram's levels: the parameters with more than one value, in an order that keeps the diagram small.
    int level_count;
    int order[SPACE_MAX_PARAMETERS]; // level -> parameter
    struct diagram diagram;
};

// The constraints of a space as one graph of shared operations, the form in which space_build.c evaluates them.
//
// Equal subexpressions of all constraints are one node, derived names are expanded, and constants are folded. Sums and
// products are flat lists of operands, so that they can be accumulated in any order in which parameters get their
// values. Everything that is used as a truth value is 0 or 1. Each node has bounds on its value, from which it follows
// that certain operations cannot fail.

// Marks among values; see EXPR_VALUE_MIN.
#define MARK_UNKNOWN INT64_MIN      // not determined by the parameters that have a value so far
#define MARK_FAILED (INT64_MIN + 1) // evaluation failed: division by zero, overflow

struct graph_node {
    enum expr_op op; // OP_CONSTANT, OP_NAME (a parameter) or an operation; never OP_TEXT
    bool may_fail;
    bool live;        // a root depends on it; set by graph_mark_live
    int first, count; // operands: graph.operands[first .. first+count-1]; may be more than two for sums and products
    int parameter;    // OP_NAME: its number
    int64_t value;    // OP_CONSTANT; MARK_FAILED if evaluation always fails
    uint64_t mask;    // the parameters it depends on
    double low, high; // bounds of its value
};

struct graph {
    struct graph_node *nodes; // operands before the nodes that use them
    int count;
    size_t room;
    int *operands;
    int operand_count;
    size_t operand_room;
    struct hash_index index; // of nodes
};

void graph_release(struct graph *);

int graph_constant(struct graph *, int64_t value);
int graph_parameter(struct graph *, int parameter, double low, double high);
// Returns a node for `op` on existing nodes. It is folded and simplified, and equal nodes are shared. With `flat`, a
// sum of sums or a product of products becomes a single list, provided that no order of evaluation can overflow.
int graph_operation(struct graph *, enum expr_op op, const int *operands, int count, bool flat);
// Marks the nodes that the roots depend on, because simplification leaves unused nodes behind.
void graph_mark_live(struct graph *, const int *roots, size_t count);

// The graph of some constraints of a space, with one root each.
struct constraint_graph {
    struct graph graph;
    int *roots; // constraint_count nodes that are 0 or 1
    size_t root_count;
};

// The graph of the constraints with these numbers. Numbers from constraint_count on stand for derived names, which only
// have to be evaluable.
void constraint_graph_init(struct constraint_graph *, const struct space *, const int *constraints, size_t count);
void constraint_graph_release(struct constraint_graph *);

// Orders the parameters that have more than one value, so that the roots' diagram is small. Returns their number.
int space_order(const struct space *, const struct constraint_graph *, int *order);

enum build_result { BUILD_FINE, BUILD_TOO_LARGE, BUILD_FAILED };

// Builds the diagram of the constraints with these numbers (see constraint_graph_init). BUILD_FAILED: a constraint
// cannot be evaluated on a configuration that no other constraint removes; *failed gets the number of this constraint,
// and `config` gets the configuration. With `lenient`, such a configuration counts as invalid instead.
enum build_result space_build_diagram(const struct space *, const int *constraints, size_t count, bool lenient,
                                      int *order, struct diagram *, int *failed, uint16_t *config);
