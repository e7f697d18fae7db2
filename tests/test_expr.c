// Expressions: values, errors, and C source.
#include "search/space/expr.h"
#include "tests/testing.h"

static struct error err; // of the last call that failed

static struct symbols *s; // of the current test
static int64_t values[6];

static void tear_down(void)
{
    symbols_free(s);
}

static void set_up(void)
{
    s = symbols_new();
    static const char *const names[] = {"A", "B", "Z", "MODE", "device.max_shared", "BLOCK_M"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        symbols_add(s, names[i], i == 3 ? EXPR_STRING : EXPR_INT, NULL);
    const int64_t all[] = {12, -5, 0, symbols_intern(s, "shuffle"), 232448, 128};
    memcpy(values, all, sizeof values);
}

// A test with a new table of names and their values.
#define EXPR_TEST(name) TEST_WITH(name, set_up, tear_down)

EXPR_TEST(expressions_have_the_values_of_c)
{
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"10 - 3 - 2", 5},
        {"100 / 7 / 2", 7},
        {"-7 / 2", -3},
        {"-7 % 3", -1},
        {"7 % -3", 1},
        {"1 << 4 + 1", 32},
        {"256 >> 3", 32},
        {"-16 >> 2", -4},
        {"6 & 3 == 3", 6 & (3 == 3)},
        {"6 | 1 ^ 3 & 2", 6 | (1 ^ (3 & 2))},
        {"~0", -1},
        {"!0 + !5", 1},
        {"- - 3", 3},
        {"-(-3)", 3},
        {"+4", 4},
        {"1 < 2 == 1", 1},
        {"3 >= 3 && 2 != 2", 0},
        {"0 || 2", 1},
        {"A ? 5 : 6", 5},
        {"Z ? 5 : B ? 7 : 8", 7},
        {"0x10 + 0xfF", 271},
        {"true + true", 2},
        {"false", 0},
        {"A * B", -60},
        {"device.max_shared / 1024", 227},
        {"ceil_div(7, 2)", 4},
        {"ceil_div(-7, 2)", -3},
        {"ceil_div(8, 2)", 4},
        {"round_up(A, 8)", 16},
        {"round_up(16, 8)", 16},
        {"min(3, 1, 2)", 1},
        {"max(3, A, 2)", 12},
        {"min(9)", 9},
        {"abs(B)", 5},
        {"is_pow2(64)", 1},
        {"is_pow2(A)", 0},
        {"is_pow2(0)", 0},
        {"log2(1)", 0},
        {"log2(1023)", 9},
        {"log2(1024)", 10},
        {"MODE == \"shuffle\"", 1},
        {"MODE != \"shuffle\"", 0},
        {"\"shared\" == MODE", 0},
        {"MODE == \"shuffle\" ? A : B", 12},
        {"Z != 0 && A / Z > 1", 0},
        {"Z == 0 || A / Z > 1", 1},
        {"Z ? A / Z : 1", 1},
        {"9223372036854775807", INT64_MAX},
        {"(0-9223372036854775805)", INT64_MIN + 3},
        {"1<<62", (int64_t)1 << 62},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct expr *e = expr_parse(cases[i].text, s, &err);
        if (!e) fail_msg("%s: %s", cases[i].text, err.message);
        int64_t result;
        if (expr_eval(e, values, &result, &err) < 0) fail_msg("%s: %s", cases[i].text, err.message);
        if (result != cases[i].value)
            fail_msg("%s is %lld, wanted %lld", cases[i].text, (long long)result, (long long)cases[i].value);
        assert_string_equal(expr_text(e), cases[i].text);
        expr_free(e);
    }
}

EXPR_TEST(mistakes_are_reported_with_their_place)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"A * (B + 1", "expected ')' at column 11: 'A * (B + 1'"},
        {"", "empty expression at column 1: ''"},
        {"A +", "unexpected end at column 4: 'A +'"},
        {"A B", "expected an operator at column 3: 'A B'"},
        {"BLOK_M * 2", "unknown name 'BLOK_M' at column 1: 'BLOK_M * 2'; did you mean 'BLOCK_M'?"},
        {"1 + qqqqqq", "unknown name 'qqqqqq' at column 5: '1 + qqqqqq'"},
        {"1 < A < 3", "comparisons do not chain at column 7: '1 < A < 3'; write 'a < b && b < c'"},
        {"MODE + 1", "the values of 'MODE' are strings, not numbers at column 6: 'MODE + 1'"},
        {"MODE == 1", "a string cannot be compared with a number at column 6: 'MODE == 1'"},
        {"A == \"x\"", "a string cannot be compared with a number at column 3: 'A == \"x\"'"},
        {"MODE", "the values of 'MODE' are strings, not numbers at column 1: 'MODE'"},
        {"min(MODE)", "the values of 'MODE' are strings, not numbers at column 1: 'min(MODE)'"},
        {"\"x\" + 1", "a string is not a number at column 5: '\"x\" + 1'"},
        {"A, 1", "expected an operator at column 2: 'A, 1'; several values are a list: [ \"a\", \"b\" ]"},
        {"MODE == \"x", "the string has no closing quote at column 9: 'MODE == \"x'"},
        {"ceil_div(1)", "too few arguments at column 1: 'ceil_div(1)'"},
        {"abs(1, 2)", "too many arguments at column 1: 'abs(1, 2)'"},
        {"sin(1)", "unknown function at column 1: 'sin(1)'"},
        {"A = 1", "unexpected character at column 3: 'A = 1'; for equality write '=='"},
        {"A @ 1", "unexpected character at column 3: 'A @ 1'"},
        {"12abc", "not an integer at column 1: '12abc'"},
        {"1.5", "not an integer at column 1: '1.5'"},
        {"99999999999999999999", "the number is too large at column 1: '99999999999999999999'"},
        {"A ? 1", "expected ':' at column 6: 'A ? 1'"},
        {"()", "expected a value at column 2: '()'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_null(expr_parse(cases[i].text, s, &err));
        assert_string_equal(err.message, cases[i].message);
    }
}

EXPR_TEST(deep_nesting_is_refused_instead_of_overflowing_the_stack)
{
    size_t n = 100000;
    char *text = malloc(n + 1);
    assert_non_null(text);
    static const char signs[] = "(-!";
    for (size_t k = 0; k < 3; k++) {
        memset(text, signs[k], n);
        text[n] = 0;
        assert_null(expr_parse(text, s, &err));
        assert_contains(err.message, "nested too deeply");
    }
    free(text);
}

// A chain is evaluated recursively, like nested expressions.
EXPR_TEST(a_chain_that_is_too_long_is_refused)
{
    size_t n = 100000;
    char *text = malloc(2 * n + 2);
    assert_non_null(text);
    for (size_t i = 0; i < n; i++) memcpy(text + 2 * i, "1+", 2);
    strcpy(text + 2 * n, "1");
    assert_null(expr_parse(text, s, &err));
    assert_contains(err.message, "the expression is too long at column ");
    strcpy(text + 2 * 17000, "1");
    struct expr *e = expr_parse(text, s, &err);
    assert_non_null(e);
    int64_t result;
    assert_int_equal(expr_eval(e, values, &result, &err), 0);
    assert_int_equal(result, 17001);
    expr_free(e);
    free(text);
}

EXPR_TEST(evaluation_errors_name_the_operation)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"A / Z", "division by zero at column 3: 'A / Z'"},
        {"A % (Z * 2)", "division by zero at column 3: 'A % (Z * 2)'"},
        {"ceil_div(A, Z)", "division by zero at column 1: 'ceil_div(A, Z)'"},
        {"9223372036854775807 + 1", "overflow at column 21: '9223372036854775807 + 1'"},
        {"(0-9223372036854775805) - 1", "overflow at column 25: '(0-9223372036854775805) - 1'"},
        {"(1 << 62) * 2", "overflow at column 11: '(1 << 62) * 2'"},
        {"1 << 64", "shift by a negative number or past 63 at column 3: '1 << 64'"},
        {"1 >> B", "shift by a negative number or past 63 at column 3: '1 >> B'"},
        {"log2(Z)", "log2 of a number below 1 at column 1: 'log2(Z)'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct expr *e = expr_parse(cases[i].text, s, &err);
        assert_non_null(e);
        int64_t result;
        assert_int_equal(expr_eval(e, values, &result, &err), -1);
        assert_string_equal(err.message, cases[i].message);
        expr_free(e);
    }
}

EXPR_TEST(slots_are_listed_once_and_ascending)
{
    struct expr *e = expr_parse("B + A * B - device.max_shared + (A == 3)", s, NULL);
    size_t count;
    const int *slots = expr_slots(e, &count);
    assert_int_equal(count, 3);
    assert_int_equal(slots[0], 0);
    assert_int_equal(slots[1], 1);
    assert_int_equal(slots[2], 4);
    expr_free(e);
}

EXPR_TEST(names_must_be_new_identifiers)
{
    static const char *const bad[] = {"", "1a", "a b", "a.", ".a", "a..b", "A"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_int_equal(symbols_add(s, bad[i], EXPR_INT, &err), -1);
    assert_int_equal(symbols_count(s), 6);
    assert_int_equal(symbols_intern(s, "x"), symbols_intern(s, "x"));
    assert_null(symbols_text(s, 99));
    assert_string_equal(symbols_nearest(s, "block_m"), "BLOCK_M");
    assert_null(symbols_nearest(s, "something"));
}

static const char *c_name(void *user, int slot)
{
    return symbols_name(user, slot);
}

// BLOCK_M and MODE are known, the other names are not.
static bool c_constant(void *user, int slot, int64_t *value)
{
    const char *name = symbols_name(user, slot);
    if (strcmp(name, "BLOCK_M") == 0)
        *value = 128;
    else if (strcmp(name, "MODE") == 0)
        *value = symbols_intern(user, "shuffle");
    else
        return false;
    return true;
}

EXPR_TEST(source_is_folded_and_parenthesised)
{
    static const struct {
        const char *text, *c, *python; // NULL: as in C
    } cases[] = {
        {"ceil_div(A, BLOCK_M)", "ss_ceil_div(A, 128)", "ceil_div(A, 128)"},
        {"A * 2 + B", "(A * 2) + B", NULL},
        {"A / (BLOCK_M / 4) % 3", "(A / 32) % 3", "rem(div(A, 32), 3)"},
        {"A / B - A % (B - 1)", "ss_div(A, B) - ss_rem(A, B - 1)", "div(A, B) - rem(A, B - 1)"},
        {"MODE == \"shuffle\" ? A : B", "A", NULL},
        {"MODE == \"shared\" ? A : B + 1", "B + 1", NULL},
        {"-A", "-A", NULL},
        {"!(A > 3)", "!(A > 3)", "not (A > 3)"},
        {"A - (0 - 3)", "A - (-3)", NULL},
        {"BLOCK_M * 2", "256", NULL},
        {"A ? B : 5000000000", "A ? B : 5000000000LL", "B if A else 5000000000"},
        {"min(A, B, 3)", "ss_min(ss_min(A, B), 3)", "min(min(A, B), 3)"},
        {"BLOCK_M > 3 && A", "1 && A", "bool(1 and A)"},
        {"BLOCK_M < 3 && A", "0", NULL},
        {"(A > B || A) - ~(A << 2)", "((A > B) || A) - (~(A << 2))", "bool((A > B) or A) - (~(A << 2))"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct expr *e = expr_parse(cases[i].text, s, &err);
        assert_non_null(e);
        char *c = expr_to_c(e, "ss_", c_name, c_constant, s, &err);
        if (!c) fail_msg("%s: %s", cases[i].text, err.message);
        assert_string_equal(c, cases[i].c);
        free(c);
        c = expr_to_python(e, c_name, c_constant, s, &err);
        assert_string_equal(c, cases[i].python ? cases[i].python : cases[i].c);
        free(c);
        expr_free(e);
    }
    struct expr *e = expr_parse("A / (BLOCK_M - 128)", s, &err);
    char *c = expr_to_c(e, "", c_name, c_constant, s, &err);
    assert_string_equal(c, "div(A, 0)"); // the divisor is constant, the division is not
    free(c);
    expr_free(e);
    e = expr_parse("A + BLOCK_M / (BLOCK_M - 128)", s, &err);
    assert_null(expr_to_c(e, "", c_name, c_constant, s, &err));
    assert_contains(err.message, "division by zero");
    expr_free(e);
    e = expr_parse("MODE == \"shuffle\"", s, &err);
    assert_null(expr_to_c(e, "", c_name, NULL, s, &err));
    expr_free(e);
}

TEST_MAIN(NULL, NULL)
