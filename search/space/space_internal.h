// Shared by the modules of the space: space.c (the parts and the texts), space_graph.c (the constraints as a graph),
// space_order.c (the order of the levels), space_build.c (constraints to diagram), space_index.c (the space's index) and
// space_walk.c (neighbours, repair, sampling).
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
    int order[SPACE_MAX_PARAMETERS]; // level -> parameter
    struct diagram diagram;
};

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
