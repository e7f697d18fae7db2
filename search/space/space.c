// The parts of a search space, and how they are written as strings (space.h). The index is built by space_index.c and
// space_build.c and walked by space_walk.c.
#include "search/space/space.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "search/space/space_internal.h"
#include "tuner/base/memory.h"
#include "tuner/base/text.h"

struct space *space_new(struct symbols *symbols)
{
    struct space *s = memory_new(1, sizeof *s);
    s->symbols = symbols;
    return s;
}

static void forget_index(struct space *s)
{
    diagram_release(&s->diagram);
    s->built = false;
}

void space_free(struct space *s)
{
    if (!s) return;
    forget_index(s);
    for (int i = 0; i < s->count; i++) {
        free(s->parameters[i].name);
        free(s->parameters[i].values);
    }
    for (size_t i = 0; i < s->derived_count; i++) {
        free(s->derived[i].name);
        expr_free(s->derived[i].expr);
    }
    for (size_t i = 0; i < s->constraint_count; i++) expr_free(s->constraints[i]);
    free(s->constants);
    free(s->derived);
    free(s->constraints);
    free(s);
}

static bool is_text(enum parameter_kind kind)
{
    return kind == PARAMETER_STRING || kind == PARAMETER_REAL;
}

// A value as a string; `digits` is the buffer for an integer.
static const char *value_text(const struct space *s, const struct parameter *p, size_t index, char digits[32])
{
    if (is_text(p->kind)) {
        const char *text = symbols_text(s->symbols, p->values[index]);
        return text ? text : "?";
    }
    snprintf(digits, 32, "%" PRId64, p->values[index]);
    return digits;
}

const char *space_value_text(const struct space *s, size_t parameter, size_t value, char digits[32])
{
    return value_text(s, &s->parameters[parameter], value, digits);
}

static int compare_values(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int check_values(struct space *s, const char *name, enum parameter_kind kind, const int64_t *values,
                        size_t count, struct error *err)
{
    if (count == 0) return error_set(err, "parameter '%s' has no values", name);
    if (count > SPACE_MAX_VALUES)
        return error_set(err, "parameter '%s' has %zu values; at most %d are possible", name, count, SPACE_MAX_VALUES);
    autofree int64_t *sorted = memory_grow(NULL, count, sizeof *sorted);
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_values);
    if (sorted[0] < EXPR_VALUE_MIN) return error_set(err, "parameter '%s' has a value that is too small", name);
    for (size_t i = 1; i < count; i++) {
        if (sorted[i] != sorted[i - 1]) continue;
        struct parameter one = {.kind = kind, .count = 1, .values = &sorted[i]};
        char digits[32];
        return error_set(err, "parameter '%s' has the value %s twice", name, value_text(s, &one, 0, digits));
    }
    for (size_t i = 0; i < count && is_text(kind); i++) {
        const char *text = symbols_text(s->symbols, values[i]);
        if (text && text_next_item(text, NULL))
            return error_set(err,
                             "parameter '%s' has the value '%s', which would look like another parameter in "
                             "NAME=VALUE,NAME=VALUE, the text of a configuration",
                             name, text);
    }
    return 0;
}

int space_add_parameter(struct space *s, const char *name, enum parameter_kind kind, const int64_t *values,
                        size_t count, struct error *err)
{
    if (s->count == SPACE_MAX_PARAMETERS) return error_set(err, "more than %d parameters", SPACE_MAX_PARAMETERS);
    if (check_values(s, name, kind, values, count, err) < 0) return -1;
    int slot = symbols_add(s->symbols, name,
                           kind == PARAMETER_REAL ? EXPR_REAL
                           : is_text(kind)        ? EXPR_STRING
                                                  : EXPR_INT,
                           err);
    if (slot < 0) return -1;
    struct parameter *p = &s->parameters[s->count];
    p->name = text_copy(name);
    p->kind = kind;
    p->count = count;
    p->values = memcpy(memory_new(count, sizeof *values), values, count * sizeof *values);
    s->slots[s->count++] = slot;
    forget_index(s);
    return 0;
}

// Whether the space gives the name a value.
static bool has_value(const struct space *s, int slot)
{
    for (int i = 0; i < s->count; i++)
        if (s->slots[i] == slot) return true;
    for (size_t i = 0; i < s->constant_count; i++)
        if (s->constants[i].slot == slot) return true;
    for (size_t i = 0; i < s->derived_count; i++)
        if (s->derived[i].slot == slot) return true;
    return false;
}

int space_set_constant(struct space *s, const char *name, int64_t value, struct error *err)
{
    int slot = symbols_find(s->symbols, name);
    forget_index(s);
    for (size_t i = 0; i < s->constant_count; i++) {
        if (s->constants[i].slot != slot) continue;
        s->constants[i].value = value;
        return 0;
    }
    if (slot >= 0 && has_value(s, slot)) return error_set(err, "the name '%s' is already taken", name);
    if (slot < 0 && (slot = symbols_add(s->symbols, name, EXPR_INT, err)) < 0) return -1;
    memory_add(s->constants, s->constant_count) = (struct constant){slot, value};
    return 0;
}

// Parses an expression. Every name in it must already have a value.
static struct expr *parse(const struct space *s, const char *text, struct error *err)
{
    struct expr *e = expr_parse(text, s->symbols, err);
    if (!e) return NULL;
    size_t count;
    const int *slots = expr_slots(e, &count);
    for (size_t i = 0; i < count; i++) {
        if (has_value(s, slots[i])) continue;
        error_set(err, "the name '%s' has no value yet: '%s'", symbols_name(s->symbols, slots[i]), text);
        expr_free(e);
        return NULL;
    }
    return e;
}

int space_add_derived(struct space *s, const char *name, const char *text, struct error *err)
{
    struct expr *e = parse(s, text, err);
    if (!e) return -1;
    int slot = symbols_add(s->symbols, name, EXPR_INT, err);
    if (slot < 0) {
        expr_free(e);
        return -1;
    }
    memory_add(s->derived, s->derived_count) = (struct derived){text_copy(name), slot, e};
    forget_index(s);
    return 0;
}

int space_add_constraint(struct space *s, const char *text, struct error *err)
{
    struct expr *e = parse(s, text, err);
    if (!e) return -1;
    memory_add(s->constraints, s->constraint_count) = e;
    forget_index(s);
    return (int)s->constraint_count - 1;
}

size_t space_parameter_count(const struct space *s)
{
    return (size_t)s->count;
}

const struct parameter *space_parameter(const struct space *s, size_t i)
{
    assert(i < (size_t)s->count);
    return &s->parameters[i];
}

size_t space_constraint_count(const struct space *s)
{
    return s->constraint_count;
}

const char *space_constraint_text(const struct space *s, size_t i)
{
    assert(i < s->constraint_count);
    return expr_text(s->constraints[i]);
}

double space_raw_size(const struct space *s)
{
    double size = 1;
    for (int i = 0; i < s->count; i++) size *= (double)s->parameters[i].count;
    return size;
}

uint64_t space_size(const struct space *s)
{
    assert(s->built);
    return s->diagram.size;
}

int space_values(const struct space *s, const uint16_t *config, int64_t *values, struct error *err)
{
    for (size_t i = 0; i < s->constant_count; i++) values[s->constants[i].slot] = s->constants[i].value;
    for (int i = 0; i < s->count; i++) {
        assert(config[i] < s->parameters[i].count);
        values[s->slots[i]] = s->parameters[i].values[config[i]];
    }
    for (size_t i = 0; i < s->derived_count; i++) {
        const struct derived *d = &s->derived[i];
        if (expr_eval(d->expr, values, &values[d->slot], err) < 0)
            return error_prefix(err, "derived name '%s'", d->name);
    }
    return 0;
}

char *space_text(const struct space *s, const uint16_t *config)
{
    struct text text = {0};
    for (int i = 0; i < s->count; i++) {
        const struct parameter *p = &s->parameters[i];
        char digits[32];
        text_add(&text, "%s%s=%s", i ? "," : "", p->name,
                 config[i] < p->count ? value_text(s, p, config[i], digits) : "?");
    }
    return text.text ? text.text : text_copy("");
}

// The index of the value that is written as `text`, or -1. Integers are compared as numbers first, because printing
// them takes longer.
static int find_value(const struct space *s, const struct parameter *p, const char *text, size_t length)
{
    long long number = strtoll(text, NULL, 10);
    char digits[32];
    for (size_t i = 0; i < p->count; i++) {
        if (!is_text(p->kind) && p->values[i] != number) continue;
        const char *value = value_text(s, p, i, digits);
        if (strlen(value) == length && memcmp(value, text, length) == 0) return (int)i;
    }
    return -1;
}

int space_find(const struct space *s, const char *name, size_t length)
{
    for (int i = 0; i < s->count; i++)
        if (strlen(s->parameters[i].name) == length && !memcmp(s->parameters[i].name, name, length)) return i;
    return -1;
}

int space_parse(const struct space *s, const char *text, uint16_t *config, struct error *err)
{
    bool given[SPACE_MAX_PARAMETERS] = {false};
    for (const char *at = *text ? text : NULL, *next; at; at = next) {
        size_t length, n = strcspn(at, "=");
        next = text_next_item(at, &length);
        if (n >= length) return error_set(err, "expected NAME=VALUE at '%s'", at);
        int i = space_find(s, at, n);
        if (i < 0) return error_set(err, "unknown parameter '%.*s'", (int)n, at);
        if (given[i]) return error_set(err, "parameter '%s' is given twice", s->parameters[i].name);
        const char *value = at + n + 1;
        int found = find_value(s, &s->parameters[i], value, length - n - 1);
        if (found < 0)
            return error_set(err, "parameter '%s' has no value '%.*s'", s->parameters[i].name, (int)(length - n - 1),
                             value);
        config[i] = (uint16_t)found;
        given[i] = true;
    }
    for (int i = 0; i < s->count; i++)
        if (!given[i]) return error_set(err, "parameter '%s' is missing", s->parameters[i].name);
    return 0;
}
