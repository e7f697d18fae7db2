// The constraints of a space as one graph of shared operations, the form in which space_build.c evaluates them.
//
// Equal subexpressions of all constraints are one node, derived names are expanded, constants are folded, sums
// and products are flat lists of operands (so that they can be accumulated in any order in which parameters get their
// values), and everything that decides truth is 0 or 1. Bounds of each node's value tell which operations cannot fail.
#ifndef SWEETSPOT_SPACE_GRAPH_H
#define SWEETSPOT_SPACE_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "search/space/expr_node.h"
#include "tuner/base/hash_index.h"

// Marks among values; see EXPR_VALUE_MIN.
#define MARK_UNKNOWN INT64_MIN      // not determined by the parameters that have a value so far
#define MARK_FAILED (INT64_MIN + 1) // evaluation failed: division by zero, overflow

struct graph_node {
    enum expr_op op; // OP_CONSTANT, OP_NAME (a parameter) or an operation; never OP_TEXT
    bool may_fail;
    bool live;        // a root depends on it; set by graph_mark_live
    int first, count; // operands: graph.operands[first .. first+count-1]; more than two for sums and products
    int parameter;    // OP_NAME: its number
    int64_t value;    // OP_CONSTANT; MARK_FAILED where evaluation always fails
    uint64_t mask;    // the parameters it depends on
    double low, high; // bounds of its value
};

struct graph {
    struct graph_node *nodes; // operands before their users
    int count;
    size_t room;
    int *operands;
    int operand_count;
    size_t operand_room;
    struct hash_index index; // of nodes
};

void graph_init(struct graph *);
void graph_release(struct graph *);

int graph_constant(struct graph *, int64_t value);
int graph_parameter(struct graph *, int parameter, double low, double high);
// A node for `op` on existing nodes: folded, simplified, shared. With `flat` a sum or product of sums
// or products becomes one list where no order of evaluation can overflow.
int graph_operation(struct graph *, enum expr_op op, const int *operands, int count, bool flat);
// 0 or 1: whether the node is non-zero.
int graph_truth(struct graph *, int node);

// Adds an expression; `leaf(user, slot)` gives the node of a name. Returns its node.
int graph_add(struct graph *, const struct expr *, int (*leaf)(void *user, int slot), void *user);

// Marks the nodes that the roots depend on: simplification leaves unused nodes.
void graph_mark_live(struct graph *, const int *roots, size_t count);

static inline bool graph_is_lazy(enum expr_op op)
{
    return op >= OP_AND;
}

#endif
