// Shared by the modules of the space: space.c (the parts and the texts), space_build.c (constraints to diagram),
// space_order.c (the order of the levels), space_walk.c (neighbours, repair, sampling).
#ifndef SWEETSPOT_SPACE_INTERNAL_H
#define SWEETSPOT_SPACE_INTERNAL_H

#include "search/space/diagram.h"
#include "search/space/space.h"
#include "search/space/space_graph.h"

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
    int order[SPACE_MAX_PARAMETERS];    // level -> parameter
    int level_of[SPACE_MAX_PARAMETERS]; // parameter -> level, -1 where it has one value
    struct diagram diagram;
};

// A graph of some constraints with one root each, as it is built from a space.
struct constraint_graph {
    struct graph graph;
    int *roots; // constraint_count nodes that are 0 or 1
    size_t root_count;
};

// Of a comparison with a constant: what it says about one node below it. It is 0 (1 for !=) when the node's value lies
// outside low .. high, and 1 when it lies within sure_low .. sure_high.
struct limits {
    int node;
    double low, high, sure_low, sure_high;
};

// Limits help where they are known, and are needed nowhere: of a comparison, so many nodes are looked at.
enum { LIMITS_VISITS = 10000 };

// For the node that is compared; .node is -1 when nothing is known.
void limits_of(const struct graph *, int comparison, struct limits *);
// From a node to its j-th operand, through what is monotone: sums, products of positive numbers. False when nothing is
// known.
bool limits_below(const struct graph *, const struct limits *, int j, struct limits *result);

// Chooses the order of the parameters in `mask` (a subset, no single-valued ones) for these roots; returns how many.
int space_order(const struct space *, const struct constraint_graph *, uint64_t mask, int *order);

enum build_result { BUILD_FINE, BUILD_TOO_LARGE, BUILD_FAILED };

// Builds the diagram of the constraints with the given numbers over the parameters in `mask`. Numbers from
// constraint_count on stand for derived names, of which it is only asked that they can be evaluated. BUILD_FAILED: a
// constraint cannot be evaluated on a configuration that no other constraint removes; *failed gets its number and
// `config` that configuration.
enum build_result space_build_diagram(const struct space *, const int *constraints, size_t count, uint64_t mask,
                                      int *order, struct diagram *, int *failed, uint16_t *config);
// The same as a count only, where failing counts as not valid; negative when the diagram would be too large.
double space_count_with(const struct space *, const int *constraints, size_t count, uint64_t mask);
// The parameters (with more than one value) that the constraint depends on.
uint64_t space_constraint_mask(const struct space *, size_t constraint);

#endif
