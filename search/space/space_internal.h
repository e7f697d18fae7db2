// Shared by the modules of the space: space.c (the parts and the texts), space_graph.c (the constraints as a graph),
// space_order.c (the order of the levels), space_build.c (constraints to diagram), space_index.c (the space's index)
// and space_walk.c (neighbours, repair, sampling).
#ifndef SWEETSPOT_SPACE_INTERNAL_H
#define SWEETSPOT_SPACE_INTERNAL_H

#include "search/space/diagram.h"
#include "search/space/expr_node.h"
#include "search/space/space.h"
#include "tuner/base/hash_index.h"

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
    // The diagram's levels: parameters with more than one value, in the order that makes it small.
    int level_count;
    int order[SPACE_MAX_PARAMETERS]; // level -> parameter
    struct diagram diagram;
};

// The constraints of a space as one graph of shared operations, the form in which space_build.c evaluates them.
//
// Equal subexpressions of all constraints are one node, derived names are expanded, constants are folded, sums
// and products are flat lists of operands (so that they can be accumulated in any order in which parameters get their
// values), and everything that decides truth is 0 or 1. Bounds of each node's value tell which operations cannot fail.

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

void graph_release(struct graph *);

int graph_constant(struct graph *, int64_t value);
int graph_parameter(struct graph *, int parameter, double low, double high);
// A node for `op` on existing nodes: folded, simplified, shared. With `flat` a sum or product of sums
// or products becomes one list where no order of evaluation can overflow.
int graph_operation(struct graph *, enum expr_op op, const int *operands, int count, bool flat);
// Marks the nodes that the roots depend on: simplification leaves unused nodes.
void graph_mark_live(struct graph *, const int *roots, size_t count);

// A graph of some constraints with one root each, as it is built from a space.
struct constraint_graph {
    struct graph graph;
    int *roots; // constraint_count nodes that are 0 or 1
    size_t root_count;
};

// The graph of the constraints with these numbers (from constraint_count on: derived names, of which it is only asked
// that they can be evaluated).
void constraint_graph_init(struct constraint_graph *, const struct space *, const int *constraints, size_t count);
void constraint_graph_release(struct constraint_graph *);

// Chooses the order of the parameters with more than one value for these roots; returns how many.
int space_order(const struct space *, const struct constraint_graph *, int *order);

enum build_result { BUILD_FINE, BUILD_TOO_LARGE, BUILD_FAILED };

// Builds the diagram of the constraints with these numbers (see constraint_graph_init). BUILD_FAILED: a constraint
// cannot be evaluated on a configuration that no other constraint removes; *failed gets its number and `config` that
// configuration. `lenient`: it is then not valid.
enum build_result space_build_diagram(const struct space *, const int *constraints, size_t count, bool lenient,
                                      int *order, struct diagram *, int *failed, uint16_t *config);

#endif
