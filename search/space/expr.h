// Integer expressions of a job file: constraints, launch geometry, buffer shapes, work.
//
// C's integer syntax on signed 64-bit values: + - * / % << >> & | ^ ~ ! < <= > >= == != && || ?: ( ),
// decimal and 0x literals, true/false (1/0), the functions ceil_div(a,b), round_up(a,b), min(a,...), max(a,...),
// abs(a), is_pow2(a), log2(a) (floor), and string literals "..." that may only be compared by == and != with a
// string-valued name. Dotted names such as `device.max_shared` are ordinary names. && || ?: evaluate lazily.
//
// An expression is parsed once against a symbol table and then evaluated on an array of values; evaluation
// allocates nothing. Division by zero and overflow are evaluation errors, reported with their place in the text. The
// three lowest values of int64_t count as overflow.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/base/error.h"

// Expressions compute with integers: an expression that uses a name whose values have decimals (EXPR_REAL) is rejected.
enum expr_type { EXPR_INT, EXPR_STRING, EXPR_REAL };

// The names that expressions may use. Slot i of the value array belongs to name i. The value of a name of type
// EXPR_STRING is the id that symbols_intern() gave to the string. symbols_add adds a name.
struct symbols;

struct symbols *symbols_new(void);
void symbols_free(struct symbols *);
// Returns the slot (>= 0), or -1 with a message if the name already exists or is not a C identifier (dots allowed).
int symbols_add(struct symbols *, const char *name, enum expr_type type, struct error *);
int symbols_find(const struct symbols *, const char *name); // slot, or -1
// symbols_used: whether an expression that was parsed reads the name, or symbols_use was called for it.
void symbols_use(struct symbols *, int slot);
bool symbols_used(const struct symbols *, int slot);
// Hides a name that only some expressions may use. The name is unknown to expressions that are parsed while it is
// hidden. symbols_show makes it known again and returns its slot, or -1 if no such name is hidden. Expressions that are
// already parsed keep their slots.
void symbols_hide(struct symbols *, int slot);
int symbols_show(struct symbols *, const char *name);
size_t symbols_count(const struct symbols *);
const char *symbols_name(const struct symbols *, int slot); // lives as long as the table
enum expr_type symbols_type(const struct symbols *, int slot);
// The known name with the smallest edit distance to `name`; NULL if this distance exceeds a third of the length of
// `name`.
const char *symbols_nearest(const struct symbols *, const char *name);
int64_t symbols_intern(struct symbols *, const char *text);   // id of a string value
const char *symbols_text(const struct symbols *, int64_t id); // its text, or NULL

// The functions and operators of expressions, for parsing and for documents. Both tables end with NULL.
struct expr_function {
    const char *name;
    int op; // an enum expr_op
    int least, most;
    const char *shown, *meaning; // "ceil_div(a, b)"
};
struct expr_operator { // with two operands
    const char *sign;
    int level; // binds more tightly than operators of lower levels
    int op;    // an enum expr_op
};
extern const struct expr_function expr_functions[];
extern const struct expr_operator expr_operators[];

struct expr;

// Parses. On failure returns NULL with a message: "expected ')' at column 12: 'A * (B + 1'", or "unknown name 'BLOK_M';
// did you mean 'BLOCK_M'?". The table must outlive the expression. Free with expr_free.
struct expr *expr_parse(const char *text, struct symbols *, struct error *);
void expr_free(struct expr *);
const char *expr_text(const struct expr *); // the text as given

// Writes the value to *result. Returns 0, or -1 with a message ("division by zero at column 5: 'M / X'").
int expr_eval(const struct expr *, const int64_t *values, int64_t *result, struct error *);

// The slots that the expression reads, ascending, without duplicates; the array belongs to the expression.
const int *expr_slots(const struct expr *, size_t *count);

// Writes the expression as C source. `name(user, slot)` gives the C code for a name (borrowed); functions are written
// as `prefix##ceil_div(...)` etc. (fn_arithmetic.h). A string comparison is written as 0 or 1 if `constant(user, slot,
// &value)` knows both sides. Any subexpression whose names are all constant is folded. Returns a malloc'ed string, or
// NULL with a message.
char *expr_to_c(const struct expr *, const char *prefix, const char *(*name)(void *user, int slot),
                bool (*constant)(void *user, int slot, int64_t *value), void *user, struct error *);
// Like expr_to_c, but writes Python. The code calls two functions: div returns the quotient rounded towards 0, and rem
// returns the remainder of this division.
char *expr_to_python(const struct expr *, const char *(*name)(void *user, int slot),
                     bool (*constant)(void *user, int slot, int64_t *value), void *user, struct error *);
