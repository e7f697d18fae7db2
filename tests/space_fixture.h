// A symbol table and a space for tests of the space, and functions that build them.
#pragma once

#include "search/space/space.h"
#include "tests/testing.h"

struct fixture {
    struct symbols *symbols;
    struct space *space;
};

static inline void release_symbols(void *symbols)
{
    symbols_free(symbols);
}

static inline void release_space(void *space)
{
    space_free(space);
}

// The symbol table and the space are freed after the test.
static inline struct fixture open_space(void)
{
    struct fixture f;
    f.symbols = symbols_new();
    testing_later(release_symbols, f.symbols);
    f.space = space_new(f.symbols);
    testing_later(release_space, f.space);
    return f;
}

static inline void add_values(struct fixture *f, const char *name, size_t count, const int64_t *values)
{
    struct error err;
    if (space_add_parameter(f->space, name, PARAMETER_INT, values, count, &err) < 0) fail_msg("%s", err.message);
}

#define ADD(f, name, ...) \
    add_values(f, name, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

static inline void add_constraint(struct fixture *f, const char *text)
{
    struct error err;
    if (space_add_constraint(f->space, text, &err) < 0) fail_msg("%s", err.message);
}

static inline void build(struct fixture *f)
{
    struct error err;
    if (space_build(f->space, NULL, &err) < 0) fail_msg("%s", err.message);
}

// The next combination of values, valid or not; false after the last.
static inline bool next_config(const struct space *s, uint16_t *config)
{
    for (size_t i = space_parameter_count(s); i-- > 0;) {
        if (++config[i] < space_parameter(s, i)->count) return true;
        config[i] = 0;
    }
    return false;
}
