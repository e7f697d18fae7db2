// Expressions written as C source (expr_to_c in expr.h).
//
// Every compound subexpression is written in parentheses, so that precedence never matters; constants are folded
// first, so that a header shows `M / 128` and not `M / (2 * 64)`.
#include "search/space/expr.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "search/space/expr_node.h"
#include "tuner/base/text.h"

struct writer {
    const struct expr *expr;
    const char *prefix;
    const char *(*name)(void *user, int slot);
    bool (*constant)(void *user, int slot, int64_t *value);
    void *user;
    struct error *err;
    struct text out;
};

enum folding { FOLD_VALUE, FOLD_NOT_CONSTANT, FOLD_ERROR };

// The value of a subexpression if all names that its evaluation reads are constant.
static enum folding fold(struct writer *w, int index, int64_t *value)
{
    const struct expr_node *n = &w->expr->nodes[index];
    int64_t a = 0, b = 0;
    enum folding left, right = FOLD_VALUE;
    switch (n->op) {
    case OP_CONSTANT:
    case OP_TEXT:
        *value = n->value;
        return FOLD_VALUE;
    case OP_NAME:
        return w->constant && w->constant(w->user, n->slot, value) ? FOLD_VALUE : FOLD_NOT_CONSTANT;
    case OP_AND:
    case OP_OR:
        if ((left = fold(w, n->a, &a)) != FOLD_VALUE) return left;
        if ((a != 0) == (n->op == OP_OR)) {
            *value = n->op == OP_OR;
            return FOLD_VALUE;
        }
        if ((right = fold(w, n->b, &b)) != FOLD_VALUE) return right;
        *value = b != 0;
        return FOLD_VALUE;
    case OP_CHOOSE:
        if ((left = fold(w, n->a, &a)) != FOLD_VALUE) return left;
        return fold(w, a ? n->b : n->c, value);
    default:
        break;
    }
    left = fold(w, n->a, &a);
    if (n->b >= 0) right = fold(w, n->b, &b);
    if (left == FOLD_ERROR || right == FOLD_ERROR) return FOLD_ERROR;
    if (left != FOLD_VALUE || right != FOLD_VALUE) return FOLD_NOT_CONSTANT;
    enum expr_failure failure = expr_apply(n->op, a, b, value);
    if (!failure) return FOLD_VALUE;
    error_set(w->err, "%s at column %d: '%s'", expr_failure_text(failure), n->column, w->expr->text);
    return FOLD_ERROR;
}

static const char *operator_text(enum expr_op op)
{
    switch (op) {
    case OP_NEGATE:
        return "-";
    case OP_INVERT:
        return "~";
    case OP_NOT:
        return "!";
    case OP_ADD:
        return " + ";
    case OP_SUBTRACT:
        return " - ";
    case OP_MULTIPLY:
        return " * ";
    case OP_DIVIDE:
        return " / ";
    case OP_REMAINDER:
        return " % ";
    case OP_SHIFT_LEFT:
        return " << ";
    case OP_SHIFT_RIGHT:
        return " >> ";
    case OP_BIT_AND:
        return " & ";
    case OP_BIT_OR:
        return " | ";
    case OP_BIT_XOR:
        return " ^ ";
    case OP_LESS:
        return " < ";
    case OP_LESS_EQUAL:
        return " <= ";
    case OP_GREATER:
        return " > ";
    case OP_GREATER_EQUAL:
        return " >= ";
    case OP_EQUAL:
        return " == ";
    case OP_UNEQUAL:
        return " != ";
    case OP_AND:
        return " && ";
    case OP_OR:
        return " || ";
    default:
        return NULL;
    }
}

static const char *function_text(enum expr_op op)
{
    switch (op) {
    case OP_ABS:
        return "abs";
    case OP_IS_POW2:
        return "is_pow2";
    case OP_LOG2:
        return "log2";
    case OP_CEIL_DIV:
        return "ceil_div";
    case OP_ROUND_UP:
        return "round_up";
    case OP_MIN:
        return "min";
    case OP_MAX:
        return "max";
    default:
        return NULL;
    }
}

static int write_node(struct writer *w, int index, bool outermost);

static int write_compound(struct writer *w, const struct expr_node *n, bool outermost)
{
    const char *function = function_text(n->op);
    if (function) {
        text_add(&w->out, "%s", w->prefix);
        text_add(&w->out, "%s", function);
        text_add(&w->out, "(");
        if (write_node(w, n->a, true) < 0) return -1;
        if (n->b >= 0) {
            text_add(&w->out, ", ");
            if (write_node(w, n->b, true) < 0) return -1;
        }
        text_add(&w->out, ")");
        return 0;
    }
    if (!outermost) text_add(&w->out, "(");
    if (n->b < 0) {
        text_add(&w->out, "%s", operator_text(n->op));
        if (write_node(w, n->a, false) < 0) return -1;
    } else if (n->op == OP_CHOOSE) {
        if (write_node(w, n->a, false) < 0) return -1;
        text_add(&w->out, " ? ");
        if (write_node(w, n->b, false) < 0) return -1;
        text_add(&w->out, " : ");
        if (write_node(w, n->c, false) < 0) return -1;
    } else {
        if (write_node(w, n->a, false) < 0) return -1;
        text_add(&w->out, "%s", operator_text(n->op));
        if (write_node(w, n->b, false) < 0) return -1;
    }
    if (!outermost) text_add(&w->out, ")");
    return 0;
}

static int write_node(struct writer *w, int index, bool outermost)
{
    const struct expr_node *n = &w->expr->nodes[index];
    int64_t value;
    switch (fold(w, index, &value)) {
    case FOLD_ERROR:
        return -1;
    case FOLD_VALUE: {
        bool string = n->op == OP_TEXT || (n->op == OP_NAME && symbols_type(w->expr->symbols, n->slot) == EXPR_STRING);
        if (string) return error_set(w->err, "a string cannot be written as C: '%s'", w->expr->text);
        char digits[32];
        // A literal past 2^31 needs the suffix in C90 only, but a header may be read by any compiler.
        snprintf(digits, sizeof digits, value < 0 && !outermost ? "(%" PRId64 "%s)" : "%" PRId64 "%s", value,
                 value > INT32_MAX || value < -INT32_MAX ? "LL" : "");
        text_add(&w->out, "%s", digits);
        return 0;
    }
    case FOLD_NOT_CONSTANT:
        break;
    }
    if (n->op == OP_NAME) {
        if (symbols_type(w->expr->symbols, n->slot) == EXPR_STRING)
            return error_set(w->err, "the string '%s' is not constant, so it cannot be written as C: '%s'",
                             symbols_name(w->expr->symbols, n->slot), w->expr->text);
        text_add(&w->out, "%s", w->name(w->user, n->slot));
        return 0;
    }
    // A lazy operation whose first operand is known is only its other operand.
    int64_t known;
    if (n->op == OP_CHOOSE && fold(w, n->a, &known) == FOLD_VALUE) return write_node(w, known ? n->b : n->c, outermost);
    return write_compound(w, n, outermost);
}

char *expr_to_c(const struct expr *e, const char *prefix, const char *(*name)(void *user, int slot),
                bool (*constant)(void *user, int slot, int64_t *value), void *user, struct error *err)
{
    struct writer w = {.expr = e, .prefix = prefix, .name = name, .constant = constant, .user = user, .err = err};
    text_add(&w.out, "%s", "");
    if (write_node(&w, e->count - 1, true) < 0) {
        free(w.out.text);
        return NULL;
    }
    return w.out.text;
}
