// The syntax tree of an expression, for the modules of search/ that rewrite or evaluate it themselves (expr*.c and
// space_graph.c). All other modules use expr.h.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "search/space/expr.h"

enum expr_op {
    OP_CONSTANT, // value
    OP_NAME,     // slot
    OP_TEXT,     // value: the id of a string literal
    // one operand
    OP_NEGATE,
    OP_INVERT,
    OP_NOT,
    OP_ABS,
    OP_IS_POW2,
    OP_LOG2,
    // two operands, all evaluated
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_REMAINDER,
    OP_SHIFT_LEFT,
    OP_SHIFT_RIGHT,
    OP_BIT_AND,
    OP_BIT_OR,
    OP_BIT_XOR,
    OP_LESS,
    OP_LESS_EQUAL,
    OP_GREATER,
    OP_GREATER_EQUAL,
    OP_EQUAL,
    OP_UNEQUAL,
    OP_CEIL_DIV,
    OP_ROUND_UP,
    OP_MIN,
    OP_MAX,
    // lazy
    OP_AND,
    OP_OR,
    OP_CHOOSE,
};

// The largest magnitude of a value. Values below the minimum are reserved as marks for the space's evaluator.
#define EXPR_VALUE_MAX INT64_MAX
#define EXPR_VALUE_MIN (INT64_MIN + 3)

struct expr_node {
    enum expr_op op;
    int column;    // 1-based place in the text, for messages
    int a, b, c;   // operands: indices of earlier nodes, -1 if there is none
    int slot;      // OP_NAME
    int64_t value; // OP_CONSTANT, OP_TEXT
};

struct expr {
    char *text;
    struct symbols *symbols;
    struct expr_node *nodes; // operands before the nodes that use them; the last node is the root
    int count;
    int *slots;
    size_t slot_count;
};

enum expr_failure {
    EXPR_FINE,
    EXPR_DIVISION_BY_ZERO,
    EXPR_OVERFLOW,
    EXPR_BAD_SHIFT,
    EXPR_BAD_LOG2,
    EXPR_UNKNOWN, // a name has no value
};

int expr_arity(enum expr_op op);
int expr_compare_ints(const void *, const void *); // for qsort

// Applies a strict operation (neither a leaf nor a lazy one) to values; b is ignored if the operation has one operand.
enum expr_failure expr_apply(enum expr_op op, int64_t a, int64_t b, int64_t *result);
const char *expr_failure_text(enum expr_failure);
// An expression for a message: a long one is shortened to the part around the column. malloc'ed.
char *expr_excerpt(const char *text, size_t column);

// The values of the names in an evaluation. They come from `values`, indexed by slot. If `values` is NULL, they come
// from `constant`, which returns false for a name without a value. If both are NULL, no name has a value.
struct expr_scope {
    const int64_t *values;
    bool (*constant)(void *user, int slot, int64_t *value);
    void *user;
};
// The value of a node. On failure, *column is the place in the text. EXPR_UNKNOWN: the value depends on a name without
// a value, and no part that can be evaluated fails.
enum expr_failure expr_evaluate(const struct expr *, int node, const struct expr_scope *, int64_t *result, int *column);

// How an operation with one or two operands is written in an expression: as a function's name or an operator's symbol.
const char *expr_function_name(enum expr_op op); // NULL if it is not a function
const char *expr_operator_sign(enum expr_op op); // NULL if it is not an operator
