// Expressions written as source in C or Python (expr_to_c and expr_to_python in expr.h).
//
// Every compound subexpression is written in parentheses, so that precedence never matters. Constants are folded first,
// so that a header shows `M / 128` and not `M / (2 * 64)`. If the divisor may be 0, C code calls a function instead.
#include "search/space/expr.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "search/space/expr_node.h"
#include "tuner/base/text.h"

struct writer {
    const struct expr *expr;
    const char *prefix; // of the functions' names in C; NULL: Python
    const char *(*name)(void *user, int slot);
    bool (*constant)(void *user, int slot, int64_t *value);
    void *user;
    struct error *err;
    struct text out;
};

// The value of a subexpression if all names that its evaluation reads are constant; otherwise EXPR_UNKNOWN. Any other
// failure sets the error message.
static enum expr_failure fold(struct writer *w, int index, int64_t *value)
{
    int column = 0;
    enum expr_failure failure =
        expr_evaluate(w->expr, index, &(struct expr_scope){NULL, w->constant, w->user}, value, &column);
    autofree char *shown = expr_excerpt(w->expr->text, (size_t)column);
    if (failure && failure != EXPR_UNKNOWN)
        error_set(w->err, "%s at column %d: '%s'", expr_failure_text(failure), column, shown);
    return failure;
}

static int write_node(struct writer *w, int index, bool outermost);

// Writes the operands, with `between` after the first and `last` after the second. With `apart`, the operands need no
// parentheses.
static int write_operands(struct writer *w, const struct expr_node *n, bool apart, const char *between,
                          const char *last)
{
    const int operands[] = {n->a, n->b, n->c};
    for (int i = 0; i < 3 && operands[i] >= 0; i++) {
        if (i) text_add(&w->out, "%s", i == 1 ? between : last);
        if (write_node(w, operands[i], apart) < 0) return -1;
    }
    return 0;
}

static int write_compound(struct writer *w, const struct expr_node *n, bool outermost)
{
    const char *function = expr_function_name(n->op), *sign = expr_operator_sign(n->op);
    int64_t divisor = 1;
    bool divides = n->op == OP_DIVIDE || n->op == OP_REMAINDER;
    if (divides && (fold(w, n->b, &divisor) || divisor < 1)) // the operator would end the program
        function = n->op == OP_DIVIDE ? "div" : "rem";
    bool apart = function || !outermost;
    char between[8] = ", ";
    if (!function) snprintf(between, sizeof between, " %s ", sign ? sign : "?");
    text_add(&w->out, "%s%s%s%s", function ? w->prefix : "", function ? function : "", apart ? "(" : "",
             n->b < 0 && sign ? sign : "");
    if (write_operands(w, n, function != NULL, between, " : ") < 0) return -1;
    text_add(&w->out, "%s", apart ? ")" : "");
    return 0;
}

// Unlike in C, division in Python rounds towards minus infinity, and `and` and `or` return one of their operands.
static int write_python(struct writer *w, const struct expr_node *n, bool outermost)
{
    const bool lazy = n->op == OP_AND || n->op == OP_OR;
    const char *function = n->op == OP_DIVIDE      ? "div"
                           : n->op == OP_REMAINDER ? "rem"
                           : lazy                  ? "bool"
                                                   : expr_function_name(n->op),
               *sign = expr_operator_sign(n->op);
    const struct expr_node choice = {.a = n->b, .b = n->a, .c = n->c};
    bool apart = function || !outermost;
    char between[8] = ", ";
    if (lazy)
        snprintf(between, sizeof between, n->op == OP_AND ? " and " : " or ");
    else if (n->op == OP_CHOOSE)
        snprintf(between, sizeof between, " if ");
    else if (!function && sign)
        snprintf(between, sizeof between, " %s ", sign);
    text_add(&w->out, "%s%s%s", function ? function : "", apart ? "(" : "",
             n->b >= 0 || !sign ? ""
             : n->op == OP_NOT  ? "not "
                                : sign);
    if (write_operands(w, n->op == OP_CHOOSE ? &choice : n, function && !lazy, between, " else ") < 0) return -1;
    text_add(&w->out, "%s", apart ? ")" : "");
    return 0;
}

static int write_node(struct writer *w, int index, bool outermost)
{
    const struct expr_node *n = &w->expr->nodes[index];
    int64_t value;
    enum expr_failure failure = fold(w, index, &value);
    if (failure && failure != EXPR_UNKNOWN) return -1;
    if (!failure) {
        bool string = n->op == OP_TEXT || (n->op == OP_NAME && symbols_type(w->expr->symbols, n->slot) == EXPR_STRING);
        if (string) return error_set(w->err, "a string cannot be written as C: '%s'", w->expr->text);
        char digits[32];
        // A literal beyond 2^31 needs the suffix only in C90, but any compiler may read a header.
        snprintf(digits, sizeof digits, value < 0 && !outermost ? "(%" PRId64 "%s)" : "%" PRId64 "%s", value,
                 w->prefix && (value > INT32_MAX || value < -INT32_MAX) ? "LL" : "");
        text_add(&w->out, "%s", digits);
        return 0;
    }
    if (n->op == OP_NAME) {
        if (symbols_type(w->expr->symbols, n->slot) == EXPR_STRING)
            return error_set(w->err, "the string '%s' is not constant, so it cannot be written as C: '%s'",
                             symbols_name(w->expr->symbols, n->slot), w->expr->text);
        text_add(&w->out, "%s", w->name(w->user, n->slot));
        return 0;
    }
    // If the first operand of a lazy operation is known, only one of the other operands is written.
    int64_t known;
    if (n->op == OP_CHOOSE && !fold(w, n->a, &known)) return write_node(w, known ? n->b : n->c, outermost);
    return w->prefix ? write_compound(w, n, outermost) : write_python(w, n, outermost);
}

static char *write_all(struct writer w)
{
    text_add(&w.out, "%s", "");
    if (write_node(&w, w.expr->count - 1, true) < 0) {
        free(w.out.text);
        return NULL;
    }
    return w.out.text;
}

char *expr_to_c(const struct expr *e, const char *prefix, const char *(*name)(void *user, int slot),
                bool (*constant)(void *user, int slot, int64_t *value), void *user, struct error *err)
{
    return write_all(
        (struct writer){.expr = e, .prefix = prefix, .name = name, .constant = constant, .user = user, .err = err});
}

char *expr_to_python(const struct expr *e, const char *(*name)(void *user, int slot),
                     bool (*constant)(void *user, int slot, int64_t *value), void *user, struct error *err)
{
    return write_all((struct writer){.expr = e, .name = name, .constant = constant, .user = user, .err = err});
}
