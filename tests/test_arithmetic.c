// The arithmetic of expressions (search/space/expr_ops.c) against 128-bit integers, and distances between problems
// (search/model/kernel_set.c).
#include "search/space/expr_node.h"
#include "search/space/fn.h"
#include "tests/testing.h"

static const int64_t values[] = {
    EXPR_VALUE_MIN, EXPR_VALUE_MIN + 1, -(1ll << 32), -64, -7, -3, -2, -1, 0, 1, 2, 3, 5, 7, 8, 62, 63, 64,
    1ll << 32,      INT64_MAX - 1,      INT64_MAX};
enum { COUNT = sizeof values / sizeof *values };

static __int128 floor_of(__int128 a, __int128 b)
{
    __int128 q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

// Whether a strict operation is defined for these operands.
static bool is_defined(enum expr_op op, __int128 a, __int128 b)
{
    bool divides = op == OP_DIVIDE || op == OP_REMAINDER || op == OP_CEIL_DIV || op == OP_ROUND_UP;
    bool shifts = op == OP_SHIFT_LEFT || op == OP_SHIFT_RIGHT;
    return !(divides && b == 0) && !(shifts && (b < 0 || b > 63)) && !(op == OP_LOG2 && a < 1);
}

static __int128 bits(enum expr_op op, int64_t a, int64_t b)
{
    return op == OP_BIT_AND ? a & b : op == OP_BIT_OR ? a | b : a ^ b;
}

static bool compare(enum expr_op op, __int128 a, __int128 b)
{
    const bool results[] = {a<b, a <= b, a> b, a >= b, a == b, a != b}; // in the order of enum expr_op
    return results[op - OP_LESS];
}

// The value of a strict operation that is defined.
static __int128 expected(enum expr_op op, __int128 a, __int128 b)
{
    static const __int128 one = 1;
    __int128 r = 0;
    if (op >= OP_LESS && op <= OP_UNEQUAL) return compare(op, a, b);
    if (op >= OP_BIT_AND && op <= OP_BIT_XOR) return bits(op, (int64_t)a, (int64_t)b);
    switch (op) {
    case OP_NEGATE:
        return -a;
    case OP_INVERT:
        return -a - 1;
    case OP_NOT:
        return a == 0;
    case OP_ABS:
        return a < 0 ? -a : a;
    case OP_IS_POW2:
        for (int i = 0; i < 63; i++) r |= a == one << i;
        return r;
    case OP_LOG2:
        while (one << (r + 1) <= a) r++;
        return r;
    case OP_ADD:
        return a + b;
    case OP_SUBTRACT:
        return a - b;
    case OP_MULTIPLY:
        return a * b;
    case OP_DIVIDE:
        return a / b;
    case OP_REMAINDER:
        return a % b;
    case OP_SHIFT_LEFT:
        return a * (one << b);
    case OP_SHIFT_RIGHT:
        return floor_of(a, one << b);
    case OP_CEIL_DIV:
        return -floor_of(-a, b);
    case OP_ROUND_UP:
        return -floor_of(-a, b) * b;
    case OP_MIN:
        return a < b ? a : b;
    case OP_MAX:
        return a > b ? a : b;
    default:
        fail_msg("operation %d has no expectation", op);
        return 0;
    }
}

TEST(every_operation_is_exact_or_says_why_not)
{
    for (int op = OP_NEGATE; op <= OP_MAX; op++)
        for (int i = 0; i < COUNT; i++)
            for (int j = 0; j < (expr_arity((enum expr_op)op) == 1 ? 1 : COUNT); j++) {
                int64_t found = 0;
                bool fine = is_defined((enum expr_op)op, values[i], values[j]);
                __int128 wanted = fine ? expected((enum expr_op)op, values[i], values[j]) : 0;
                bool fits = wanted >= EXPR_VALUE_MIN && wanted <= EXPR_VALUE_MAX;
                enum expr_failure failure = expr_apply((enum expr_op)op, values[i], values[j], &found);
                if ((failure == EXPR_FINE) != (fine && fits) || (fine && !fits && failure != EXPR_OVERFLOW) ||
                    (failure == EXPR_FINE && found != wanted))
                    fail_msg("operation %d on %lld and %lld: %lld (%s)", op, (long long)values[i], (long long)values[j],
                             (long long)found, expr_failure_text(failure));
            }
}

TEST(distances_are_ratios_doubled_for_another_alignment)
{
    static const struct {
        int64_t a[2], b[2];
        double distance;
    } cases[] = {
        {{64, 64}, {64, 64}, 1},   {{64, 64}, {128, 64}, 2}, {{64, 64}, {128, 32}, 4},
        {{8, 8}, {12, 8}, 3}, /* multiples of eight and of four */
        {{4, 8}, {6, 8}, 3},       {{6, 8}, {9, 8}, 3},      {{9, 8}, {27, 8}, 3},
        {{16, 16}, {24, 48}, 4.5}, {{4, 4}, {12, 20}, 15},   {{1024, 1000}, {1024, 999}, 2 * 1000 / 999.0},
        {{0, 8}, {1, 8}, 2},       {{-5, 8}, {1, 8}, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double there = fn_distance(cases[i].a, cases[i].b, 2), back = fn_distance(cases[i].b, cases[i].a, 2);
        if (fabs(there / cases[i].distance - 1) > 1e-12) fail_msg("case %zu: %g", i, there);
        assert_true(there == back);
    }
    assert_true(fn_distance(NULL, NULL, 0) == 1);
}

TEST_MAIN(NULL, NULL)
