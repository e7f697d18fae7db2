// Parsing and evaluation of expressions (expr.h). A recursive-descent parser writes the tree as an array in post-order;
// evaluation recurses over that array. expr_c.c writes expressions as source code in C or Python.
#include "search/space/expr.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "search/space/expr_node.h"
#include "tuner/base/memory.h"
#include "tuner/base/text.h"

// Limits on nesting and on long chains, because both are evaluated by recursion.
enum { MAX_DEPTH = 256, MAX_NODES = 36000 };

enum token_kind { TOKEN_END, TOKEN_NUMBER, TOKEN_NAME, TOKEN_TEXT, TOKEN_SIGN };

struct parser {
    const char *text;
    size_t at;    // after the current token
    size_t start; // of the current token
    enum token_kind kind;
    char sign[4]; // TOKEN_SIGN
    int64_t number;
    struct expr *expr;
    size_t room;
    int depth;
    struct error *err;
    bool failed;
};

// The type of a subexpression. It is needed while parsing, because strings may only be compared.
static enum expr_type type_of(const struct parser *p, int node)
{
    const struct expr_node *n = &p->expr->nodes[node];
    if (n->op == OP_TEXT) return EXPR_STRING;
    if (n->op == OP_NAME) return symbols_type(p->expr->symbols, n->slot);
    return EXPR_INT;
}

// Notations of other languages and tuners, and their counterparts here.
static const struct {
    const char *theirs, *ours;
} foreign[] = {
    {"and", "for 'and' write '&&'"},
    {"or", "for 'or' write '||'"},
    {"not", "for 'not' write '!'"},
    {"True", "write 'true'"},
    {"False", "write 'false'"},
    {"in", "for 'x in [a, b]' write 'x == a || x == b'"},
    {"if", "for 'a if c else b' write 'c ? a : b'"},
    {"ceil", "for 'ceil(a / b)' write 'ceil_div(a, b)'"},
    {"ceildiv", "write 'ceil_div(a, b)'"},
    {"div_up", "write 'ceil_div(a, b)'"},
    {"cdiv", "write 'ceil_div(a, b)'"},
    {"floor", "division already rounds toward zero"},
    {"int", "values are integers already"},
    {"align", "write 'round_up(a, b)'"},
    {"pow", "for 'pow(2, n)' write '1 << n'"},
    {"math", "there are no modules: the functions are ceil_div, round_up, min, max, abs, is_pow2 and log2"},
    {"**", "for '2 ** n' write '1 << n'"},
    {"//", "for '//' write '/', which rounds toward zero"},
    {"=", "for equality write '=='"},
};

// The advice for the word or the operator at this position of the text, or "" if there is none. The parser may already
// have read half of the operator.
static const char *foreign_at(const char *text, size_t where)
{
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        const char *theirs = foreign[i].theirs;
        size_t length = strlen(theirs),
               at = length == 2 && ispunct((unsigned char)*theirs) && where ? where - 1 : where;
        bool word = isalpha((unsigned char)*theirs);
        if (strncmp(text + at, theirs, length) != 0) continue;
        unsigned char next = (unsigned char)text[at + length];
        if (word ? !isalnum(next) && next != '_' : next != '=') return foreign[i].ours;
    }
    return "";
}

char *expr_excerpt(const char *text, size_t column)
{
    enum { MOST = 240, BEFORE = 80 };
    size_t length = strlen(text), from = length > MOST && column > BEFORE ? column - BEFORE : 0;
    return text_format("%s%.*s%s", from ? "..." : "", MOST, text + from, length > from + MOST ? "..." : "");
}

// `hint`: how to correct it, or "".
static int fail_with_hint(struct parser *p, size_t where, const char *what, const char *hint)
{
    autofree char *shown = expr_excerpt(p->text, where + 1);
    if (!p->failed) error_set(p->err, "%s at column %zu: '%s'%s%s", what, where + 1, shown, *hint ? "; " : "", hint);
    p->failed = true;
    return -1;
}

static int fail_at(struct parser *p, size_t where, const char *what)
{
    return fail_with_hint(p, where, what, foreign_at(p->text, where));
}

static void next_token(struct parser *p)
{
    const char *text = p->text;
    while (isspace((unsigned char)text[p->at])) p->at++;
    p->start = p->at;
    unsigned char ch = (unsigned char)text[p->at];
    if (!ch) {
        p->kind = TOKEN_END;
    } else if (isdigit(ch)) {
        char *end;
        errno = 0;
        bool hex = ch == '0' && (text[p->at + 1] == 'x' || text[p->at + 1] == 'X');
        long long value = strtoll(text + p->at, &end, hex ? 16 : 10);
        p->at = (size_t)(end - text);
        p->kind = TOKEN_NUMBER;
        p->number = value;
        if (ch == '0' && isdigit((unsigned char)text[p->start + 1]))
            fail_at(p, p->start, "a number must not begin with 0");
        else if (errno == ERANGE)
            fail_at(p, p->start, "the number is too large");
        else if (isalnum((unsigned char)*end) || *end == '_' || *end == '.')
            fail_at(p, p->start, "not an integer");
    } else if (isalpha(ch) || ch == '_') {
        while (isalnum((unsigned char)text[p->at]) || text[p->at] == '_' ||
               (text[p->at] == '.' && (isalpha((unsigned char)text[p->at + 1]) || text[p->at + 1] == '_')))
            p->at++;
        p->kind = TOKEN_NAME;
    } else if (ch == '"') {
        const char *end = strchr(text + p->at + 1, '"');
        p->kind = TOKEN_TEXT;
        if (!end) {
            fail_at(p, p->start, "the string has no closing quote");
            return;
        }
        p->at = (size_t)(end - text) + 1;
    } else {
        static const char *const doubles[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||", NULL};
        size_t length = 1;
        for (int i = 0; doubles[i]; i++)
            if (strncmp(text + p->at, doubles[i], 2) == 0) length = 2;
        p->kind = TOKEN_SIGN;
        memcpy(p->sign, text + p->at, length);
        p->sign[length] = 0;
        p->at += length;
        if (length == 1 && !strchr("+-*/%&|^~!<>?:(),", ch))
            ch == '\'' ? fail_with_hint(p, p->start, "a string needs double quotes", "write \\\"a\\\" in a job file")
                       : fail_at(p, p->start, "unexpected character");
    }
}

static bool is_sign(const struct parser *p, const char *sign)
{
    return p->kind == TOKEN_SIGN && strcmp(p->sign, sign) == 0;
}

static int expect(struct parser *p, const char *sign, const char *what)
{
    if (p->failed) return -1;
    if (!is_sign(p, sign)) return fail_at(p, p->start, what);
    next_token(p);
    return 0;
}

static int add_node(struct parser *p, struct expr_node node)
{
    struct expr *e = p->expr;
    if (e->count == MAX_NODES) return fail_at(p, p->start, "the expression is too long");
    e->nodes = memory_room(e->nodes, &p->room, (size_t)e->count + 1, sizeof *e->nodes);
    e->nodes[e->count] = node;
    return e->count++;
}

static int parse_choice(struct parser *p);

// Reports that the node `at`, a string, is used as a number.
static int not_a_number(struct parser *p, size_t column, int at)
{
    const struct expr_node *n = &p->expr->nodes[at];
    if (n->op != OP_NAME) return fail_at(p, column, "a string is not a number");
    autofree char *what =
        text_format("the values of '%s' are strings, not numbers", symbols_name(p->expr->symbols, n->slot));
    return fail_at(p, column, what);
}

// Adds an operation's node after checking the types of its operands.
static int combine(struct parser *p, enum expr_op op, size_t column, int a, int b, int c)
{
    if (p->failed) return -1;
    bool comparison = op == OP_EQUAL || op == OP_UNEQUAL;
    const int operands[] = {a, b, c};
    int strings = 0, string = -1, count = expr_arity(op);
    assert(count <= 3);
    for (int i = count; i--;)
        if (type_of(p, operands[i]) == EXPR_STRING) string = operands[i], strings++;
    if (strings && comparison && strings < 2) return fail_at(p, column, "a string cannot be compared with a number");
    if (strings && !comparison) return not_a_number(p, column, string);
    return add_node(p, (struct expr_node){.op = op, .column = (int)column + 1, .a = a, .b = b, .c = c, .slot = -1});
}

const struct expr_function expr_functions[] = {
    {"ceil_div", OP_CEIL_DIV, 2, 2, "ceil_div(a, b)", "a / b, rounded up"},
    {"round_up", OP_ROUND_UP, 2, 2, "round_up(a, b)",
     "ceil_div(a, b) * b; if b is positive, the smallest multiple of b that is at least a"},
    {"min", OP_MIN, 1, 64, "min(a, ...)", "the smallest of up to 64 values"},
    {"max", OP_MAX, 1, 64, "max(a, ...)", "the largest of up to 64 values"},
    {"abs", OP_ABS, 1, 1, "abs(a)", "the absolute value of a"},
    {"is_pow2", OP_IS_POW2, 1, 1, "is_pow2(a)", "1 if a is a power of two, otherwise 0"},
    {"log2", OP_LOG2, 1, 1, "log2(a)", "the logarithm to base 2, rounded down"},
    {0},
};

static int unknown_function(struct parser *p, const char *name, size_t length, size_t column)
{
    const char *names[sizeof expr_functions / sizeof *expr_functions] = {NULL}, *ours = foreign_at(p->text, column);
    for (size_t i = 0; expr_functions[i].name; i++) names[i] = expr_functions[i].name;
    autofree char *word = text_format("%.*s", (int)length, name);
    const char *nearest = *ours ? NULL : text_nearest(word, names);
    autofree char *hint = nearest && *nearest == *name ? text_format("did you mean '%s'?", nearest) : text_copy(ours);
    return fail_with_hint(p, column, "unknown function", hint);
}

static int parse_call(struct parser *p, const char *name, size_t length, size_t column)
{
    const struct expr_function *f = expr_functions;
    while (f->name && !(strlen(f->name) == length && memcmp(f->name, name, length) == 0)) f++;
    if (!f->name) return unknown_function(p, name, length, column);
    enum expr_op op = (enum expr_op)f->op;
    next_token(p); // the parenthesis
    int first = parse_choice(p), arguments = 1;
    // min and max of many values become a chain of two-operand nodes.
    while (!p->failed && is_sign(p, ",")) {
        next_token(p);
        int other = parse_choice(p);
        if (++arguments > f->most) return fail_at(p, column, "too many arguments");
        first = combine(p, op, column, first, other, -1);
    }
    if (p->failed) return -1;
    if (arguments < f->least) return fail_at(p, column, "too few arguments");
    if (f->most == 1)
        first = combine(p, op, column, first, -1, -1);
    else if (arguments == 1 && type_of(p, first) == EXPR_STRING)
        return not_a_number(p, column, first);
    if (expect(p, ")", "expected ')'") < 0) return -1;
    return first;
}

static int unknown_name(struct parser *p, const char *name)
{
    const char *ours = foreign_at(p->text, p->start), *nearest = *ours ? NULL : symbols_nearest(p->expr->symbols, name);
    autofree char *what = text_format("unknown name '%s'", name),
                  *hint = nearest ? text_format("did you mean '%s'?", nearest) : text_copy(ours);
    return fail_with_hint(p, p->start, what, hint);
}

// Adds a node for the current token.
static int add_leaf(struct parser *p, enum expr_op op, int slot, int64_t value)
{
    int column = (int)p->start + 1;
    next_token(p);
    if (p->failed) return -1;
    return add_node(p, (struct expr_node){op, column, .a = -1, .b = -1, .c = -1, .slot = slot, .value = value});
}

static int parse_name(struct parser *p)
{
    const char *name = p->text + p->start;
    size_t length = p->at - p->start, column = p->start;
    const char *after = p->text + p->at;
    while (isspace((unsigned char)*after)) after++;
    if (*after == '(') {
        next_token(p);
        return parse_call(p, name, length, column);
    }
    char copy[256];
    if (length >= sizeof copy) return fail_at(p, column, "name too long");
    memcpy(copy, name, length);
    copy[length] = 0;
    int slot = symbols_find(p->expr->symbols, copy);
    if (slot >= 0 && symbols_type(p->expr->symbols, slot) == EXPR_REAL) {
        char what[400];
        snprintf(what, sizeof what, "'%s' has decimal values, but expressions work only on integers", copy);
        return fail_at(p, column, what);
    }
    if (slot >= 0) {
        symbols_use(p->expr->symbols, slot);
        return add_leaf(p, OP_NAME, slot, 0);
    }
    bool truth = strcmp(copy, "true") == 0;
    return truth || strcmp(copy, "false") == 0 ? add_leaf(p, OP_CONSTANT, -1, truth) : unknown_name(p, copy);
}

static int parse_primary(struct parser *p)
{
    if (p->failed) return -1;
    if (p->kind == TOKEN_NUMBER) return add_leaf(p, OP_CONSTANT, -1, p->number);
    if (p->kind == TOKEN_TEXT) {
        autofree char *copy = text_format("%.*s", (int)(p->at - p->start - 2), p->text + p->start + 1);
        int64_t id = symbols_intern(p->expr->symbols, copy);
        return add_leaf(p, OP_TEXT, -1, id);
    }
    if (p->kind == TOKEN_NAME) return parse_name(p);
    if (is_sign(p, "(")) {
        next_token(p);
        int inner = parse_choice(p);
        if (expect(p, ")", "expected ')'") < 0) return -1;
        return inner;
    }
    return fail_at(p, p->start, p->kind == TOKEN_END ? "unexpected end" : "expected a value");
}

// The operators with one operand; a plus has no effect.
static const struct expr_operator signs[] = {
    {"-", 0, OP_NEGATE}, {"~", 0, OP_INVERT}, {"!", 0, OP_NOT}, {"+", 0, OP_CONSTANT}, {0}};

// The row for the current token, or the last row if there is none.
static const struct expr_operator *find_operator(const struct parser *p, const struct expr_operator *o)
{
    while (o->sign && !is_sign(p, o->sign)) o++;
    return o;
}

static int parse_unary(struct parser *p)
{
    if (p->failed) return -1;
    size_t column = p->start;
    const struct expr_operator *sign = find_operator(p, signs);
    if (!sign->sign) return parse_primary(p);
    if (++p->depth > MAX_DEPTH) return fail_at(p, column, "nested too deeply");
    next_token(p);
    int operand = parse_unary(p);
    p->depth--;
    if (sign->op == OP_CONSTANT) return operand;
    return combine(p, (enum expr_op)sign->op, column, operand, -1, -1);
}

const struct expr_operator expr_operators[] = {
    {"||", 0, OP_OR},
    {"&&", 1, OP_AND},
    {"|", 2, OP_BIT_OR},
    {"^", 3, OP_BIT_XOR},
    {"&", 4, OP_BIT_AND},
    {"==", 5, OP_EQUAL},
    {"!=", 5, OP_UNEQUAL},
    {"<", 6, OP_LESS},
    {"<=", 6, OP_LESS_EQUAL},
    {">", 6, OP_GREATER},
    {">=", 6, OP_GREATER_EQUAL},
    {"<<", 7, OP_SHIFT_LEFT},
    {">>", 7, OP_SHIFT_RIGHT},
    {"+", 8, OP_ADD},
    {"-", 8, OP_SUBTRACT},
    {"*", 9, OP_MULTIPLY},
    {"/", 9, OP_DIVIDE},
    {"%", 9, OP_REMAINDER},
    {0},
};
enum { COMPARISON_LEVEL = 6 };

// Precedence climbing: operators of `level` and above.
static int parse_binary(struct parser *p, int level)
{
    int left = parse_unary(p);
    bool compared = false;
    for (;;) {
        if (p->failed) return -1;
        const struct expr_operator *o = find_operator(p, expr_operators);
        if (!o->sign || o->level < level) return left;
        int found = o->level;
        size_t column = p->start;
        // C would compare the first comparison's 0 or 1 with the third value, which is never meant.
        if (found == COMPARISON_LEVEL && compared)
            return fail_with_hint(p, column, "comparisons do not chain", "write 'a < b && b < c'");
        compared = found == COMPARISON_LEVEL;
        next_token(p);
        int right = parse_binary(p, found + 1);
        left = combine(p, (enum expr_op)o->op, column, left, right, -1);
    }
}

static int parse_choice(struct parser *p)
{
    if (p->failed) return -1;
    if (++p->depth > MAX_DEPTH) return fail_at(p, p->start, "nested too deeply");
    int first = parse_binary(p, 0);
    if (!p->failed && is_sign(p, "?")) {
        size_t column = p->start;
        next_token(p);
        int yes = parse_choice(p);
        if (expect(p, ":", "expected ':'") < 0) return -1;
        int no = parse_choice(p);
        first = combine(p, OP_CHOOSE, column, first, yes, no);
    }
    p->depth--;
    return p->failed ? -1 : first;
}

const char *expr_function_name(enum expr_op op)
{
    const struct expr_function *f = expr_functions;
    while (f->name && f->op != (int)op) f++;
    return f->name;
}

const char *expr_operator_sign(enum expr_op op)
{
    const struct expr_operator *o = expr_arity(op) == 1 ? signs : expr_operators;
    while (o->sign && o->op != (int)op) o++;
    return o->sign;
}

int expr_compare_ints(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static void collect_slots(struct expr *e)
{
    e->slots = memory_grow(NULL, (size_t)e->count, sizeof *e->slots);
    size_t n = 0;
    for (int i = 0; i < e->count; i++)
        if (e->nodes[i].op == OP_NAME) e->slots[n++] = e->nodes[i].slot;
    qsort(e->slots, n, sizeof *e->slots, expr_compare_ints);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || e->slots[i] != e->slots[i - 1]) e->slots[e->slot_count++] = e->slots[i];
}

struct expr *expr_parse(const char *text, struct symbols *symbols, struct error *err)
{
    struct expr *e = memory_new(1, sizeof *e);
    e->text = text_copy(text);
    e->symbols = symbols;
    struct parser p = {.text = e->text, .expr = e, .err = err};
    next_token(&p);
    if (!p.failed && p.kind == TOKEN_END) fail_at(&p, p.start, "empty expression");
    int root = parse_choice(&p);
    if (is_sign(&p, ","))
        fail_with_hint(&p, p.start, "expected an operator", "several values are a list: [ \"a\", \"b\" ]");
    if (!p.failed && p.kind != TOKEN_END) fail_at(&p, p.start, "expected an operator");
    if (!p.failed && type_of(&p, root) == EXPR_STRING) not_a_number(&p, 0, root);
    if (p.failed) {
        expr_free(e);
        return NULL;
    }
    assert(root == e->count - 1);
    collect_slots(e);
    return e;
}

void expr_free(struct expr *e)
{
    if (!e) return;
    free(e->text);
    free(e->nodes);
    free(e->slots);
    free(e);
}

const char *expr_text(const struct expr *e)
{
    return e->text;
}

const int *expr_slots(const struct expr *e, size_t *count)
{
    *count = e->slot_count;
    return e->slots;
}

enum expr_failure expr_evaluate(const struct expr *e, int node, const struct expr_scope *scope, int64_t *result,
                                int *column)
{
    const struct expr_node *n = &e->nodes[node];
    int64_t a = 0, b = 0;
    enum expr_failure failure, other = EXPR_FINE;
    if (n->op == OP_CONSTANT || n->op == OP_TEXT) {
        *result = n->value;
        return EXPR_FINE;
    }
    if (n->op == OP_NAME) {
        if (scope->values) *result = scope->values[n->slot];
        bool known = scope->values || (scope->constant && scope->constant(scope->user, n->slot, result));
        return known ? EXPR_FINE : EXPR_UNKNOWN;
    }
    failure = expr_evaluate(e, n->a, scope, &a, column);
    if (n->op == OP_AND || n->op == OP_OR || n->op == OP_CHOOSE) {
        if (failure) return failure;
        if (n->op == OP_CHOOSE) return expr_evaluate(e, a ? n->b : n->c, scope, result, column);
        *result = a != 0;
        if (*result == (n->op == OP_OR)) return EXPR_FINE;
        failure = expr_evaluate(e, n->b, scope, &b, column);
        *result = b != 0;
        return failure;
    }
    if (n->b >= 0 && (!failure || failure == EXPR_UNKNOWN)) other = expr_evaluate(e, n->b, scope, &b, column);
    if (failure || other) return other ? other : failure;
    failure = expr_apply(n->op, a, b, result);
    if (failure) *column = n->column;
    return failure;
}

int expr_eval(const struct expr *e, const int64_t *values, int64_t *result, struct error *err)
{
    int column = 0;
    enum expr_failure failure = expr_evaluate(e, e->count - 1, &(struct expr_scope){.values = values}, result, &column);
    if (!failure) return 0;
    autofree char *shown = expr_excerpt(e->text, (size_t)column);
    return error_set(err, "%s at column %d: '%s'", expr_failure_text(failure), column, shown);
}
