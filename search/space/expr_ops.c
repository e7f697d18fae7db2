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
    static const char *const texts[] = {
        [EXPR_FINE] = "no failure",
        [EXPR_DIVISION_BY_ZERO] = "division by zero",
        [EXPR_OVERFLOW] = "overflow",
        [EXPR_BAD_SHIFT] = "shift by a negative number or past 63",
        [EXPR_BAD_LOG2] = "log2 of a number below 1",
        [EXPR_UNKNOWN] = "a name without a value",
    };
    return texts[failure];
}

// Why the operation has no value, apart from overflow.
static enum expr_failure undefined(enum expr_op op, int64_t a, int64_t b)
{
    if (op == OP_LOG2) return a < 1 ? EXPR_BAD_LOG2 : EXPR_FINE;
    if (op == OP_SHIFT_LEFT || op == OP_SHIFT_RIGHT) return b < 0 || b > 63 ? EXPR_BAD_SHIFT : EXPR_FINE;
    bool divides = op == OP_DIVIDE || op == OP_REMAINDER || op == OP_CEIL_DIV || op == OP_ROUND_UP;
    return divides && b == 0 ? EXPR_DIVISION_BY_ZERO : EXPR_FINE;
}

// The value in 128 bits, where nothing overflows. EXPR_VALUE_MIN keeps INT64_MIN out of the operands.
static __int128 exact(enum expr_op op, int64_t a, int64_t b)
{
    switch (op) {
    case OP_NEGATE:
        return -a;
    case OP_INVERT:
        return ~a;
    case OP_NOT:
        return !a;
    case OP_ABS:
        return fn_abs(a);
    case OP_IS_POW2:
        return fn_is_pow2(a);
    case OP_LOG2:
        return fn_log2(a);
    case OP_ADD:
        return (__int128)a + b;
    case OP_SUBTRACT:
        return (__int128)a - b;
    case OP_MULTIPLY:
        return (__int128)a * b;
    case OP_DIVIDE:
        return a / b;
    case OP_REMAINDER:
        return a % b;
    case OP_SHIFT_LEFT:
        return a * ((__int128)1 << b);
    case OP_SHIFT_RIGHT:
        return a >> b; // arithmetic, as gcc and clang define it
    case OP_BIT_AND:
        return a & b;
    case OP_BIT_OR:
        return a | b;
    case OP_BIT_XOR:
        return a ^ b;
    case OP_LESS:
        return a < b;
    case OP_LESS_EQUAL:
        return a <= b;
    case OP_GREATER:
        return a > b;
    case OP_GREATER_EQUAL:
        return a >= b;
    case OP_EQUAL:
        return a == b;
    case OP_UNEQUAL:
        return a != b;
    case OP_CEIL_DIV:
        return fn_ceil_div(a, b);
    case OP_ROUND_UP:
        return (__int128)fn_ceil_div(a, b) * b;
    case OP_MIN:
        return fn_min(a, b);
    case OP_MAX:
        return fn_max(a, b);
    default:
        assert(!"not a strict operation");
        return 0;
    }
}

enum expr_failure expr_apply(enum expr_op op, int64_t a, int64_t b, int64_t *result)
{
    enum expr_failure failure = undefined(op, a, b);
    if (failure) return failure;
    __int128 value = exact(op, a, b);
    *result = (int64_t)value;
    return value < EXPR_VALUE_MIN || value > EXPR_VALUE_MAX ? EXPR_OVERFLOW : EXPR_FINE;
}
