// The operations of expressions (expr_node.h): exact integer arithmetic that detects every failure.
#include "search/space/expr_node.h"

#include <assert.h>

#include "search/space/fn.h"

int expr_arity(enum expr_op op)
{
    if (op <= OP_TEXT) return 0;
    if (op <= OP_LOG2) return 1;
    return op == OP_CHOOSE ? 3 : 2;
}

const char *expr_failure_text(enum expr_failure failure)
{
    switch (failure) {
    case EXPR_FINE:
        break;
    case EXPR_DIVISION_BY_ZERO:
        return "division by zero";
    case EXPR_OVERFLOW:
        return "overflow";
    case EXPR_BAD_SHIFT:
        return "shift by a negative number or past 63";
    case EXPR_BAD_LOG2:
        return "log2 of a number below 1";
    }
    return "no failure";
}

static enum expr_failure shift_left(int64_t a, int64_t b, int64_t *result)
{
    if (b < 0 || b > 63) return EXPR_BAD_SHIFT;
    if (b == 63) {
        *result = 0;
        return a ? EXPR_OVERFLOW : EXPR_FINE;
    }
    return __builtin_mul_overflow(a, (int64_t)1 << b, result) ? EXPR_OVERFLOW : EXPR_FINE;
}

static enum expr_failure apply_any(enum expr_op op, int64_t a, int64_t b, int64_t *result)
{
    bool overflow = false;
    switch (op) {
    case OP_NEGATE:
        *result = -a;
        break; // EXPR_VALUE_MIN keeps INT64_MIN out
    case OP_INVERT:
        *result = ~a;
        break;
    case OP_NOT:
        *result = !a;
        break;
    case OP_ABS:
        *result = fn_abs(a);
        break;
    case OP_IS_POW2:
        *result = fn_is_pow2(a);
        break;
    case OP_LOG2:
        if (a < 1) return EXPR_BAD_LOG2;
        *result = fn_log2(a);
        break;
    case OP_ADD:
        overflow = __builtin_add_overflow(a, b, result);
        break;
    case OP_SUBTRACT:
        overflow = __builtin_sub_overflow(a, b, result);
        break;
    case OP_MULTIPLY:
        overflow = __builtin_mul_overflow(a, b, result);
        break;
    case OP_DIVIDE:
        if (b == 0) return EXPR_DIVISION_BY_ZERO;
        *result = a / b;
        break;
    case OP_REMAINDER:
        if (b == 0) return EXPR_DIVISION_BY_ZERO;
        *result = b == -1 ? 0 : a % b;
        break;
    case OP_SHIFT_LEFT:
        return shift_left(a, b, result);
    case OP_SHIFT_RIGHT:
        if (b < 0 || b > 63) return EXPR_BAD_SHIFT;
        *result = a >> b; // arithmetic, as gcc and clang define it
        break;
    case OP_BIT_AND:
        *result = a & b;
        break;
    case OP_BIT_OR:
        *result = a | b;
        break;
    case OP_BIT_XOR:
        *result = a ^ b;
        break;
    case OP_LESS:
        *result = a < b;
        break;
    case OP_LESS_EQUAL:
        *result = a <= b;
        break;
    case OP_GREATER:
        *result = a > b;
        break;
    case OP_GREATER_EQUAL:
        *result = a >= b;
        break;
    case OP_EQUAL:
        *result = a == b;
        break;
    case OP_UNEQUAL:
        *result = a != b;
        break;
    case OP_CEIL_DIV:
        if (b == 0) return EXPR_DIVISION_BY_ZERO;
        *result = fn_ceil_div(a, b);
        break;
    case OP_ROUND_UP:
        if (b == 0) return EXPR_DIVISION_BY_ZERO;
        overflow = __builtin_mul_overflow(fn_ceil_div(a, b), b, result);
        break;
    case OP_MIN:
        *result = fn_min(a, b);
        break;
    case OP_MAX:
        *result = fn_max(a, b);
        break;
    case OP_CONSTANT:
    case OP_NAME:
    case OP_TEXT:
    case OP_AND:
    case OP_OR:
    case OP_CHOOSE:
        assert(!"not a strict operation");
        break;
    }
    return overflow ? EXPR_OVERFLOW : EXPR_FINE;
}

enum expr_failure expr_apply(enum expr_op op, int64_t a, int64_t b, int64_t *result)
{
    enum expr_failure failure = apply_any(op, a, b, result);
    if (!failure && *result < EXPR_VALUE_MIN) return EXPR_OVERFLOW;
    return failure;
}
