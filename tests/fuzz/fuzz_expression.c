// Expressions, and search spaces built from them. Each line of the input is an expression, and all lines together are
// the constraints of a small space.
//
// Promise: every input is either parsed or refused. A parsed expression has a value or an error, and C code or an
// error. The space contains exactly the configurations for which brute force finds that every constraint holds. Each
// configuration has its own number.
#include "tests/fuzz/fuzz.h"

#include "search/space/space.h"

enum { CONSTRAINTS = 6, LONGEST = 400, PARAMETERS = 4 };

static const int64_t values[PARAMETERS][5] = {
    {1, 2, 4, 8, 16}, {0, 1, 3, 7, 64}, {-2, 5, 100, INT32_MAX, INT64_MAX / 2}, {0, 1, 2, 3, 4}};
static const char *const names[PARAMETERS] = {"A", "BLOCK_M", "c.d", "KIND"};

static const char *name_in_c(void *user, int slot)
{
    return symbols_name(user, slot);
}

static bool constant_in_c(void *user, int slot, int64_t *value)
{
    *value = 12;
    return !strcmp(symbols_name(user, slot), "device.max_shared");
}

static struct space *open_space(struct symbols *symbols)
{
    struct error err;
    struct space *space = space_new(symbols);
    int64_t kinds[5] = {symbols_intern(symbols, "a"), symbols_intern(symbols, "bc"), symbols_intern(symbols, "")};
    for (size_t i = 0; i < PARAMETERS; i++) {
        enum parameter_kind kind = i == PARAMETERS - 1 ? PARAMETER_STRING : PARAMETER_INT;
        if (space_add_parameter(space, names[i], kind, kind == PARAMETER_INT ? values[i] : kinds,
                                kind == PARAMETER_INT ? 5 : 3, &err) < 0)
            abort();
    }
    if (space_set_constant(space, "device.max_shared", 12, &err)) abort();
    return space;
}

static void try_alone(const char *text, struct symbols *symbols, struct space *space)
{
    struct error err = {""};
    struct expr *e = expr_parse(text, symbols, &err);
    FUZZ_CHECK(e || *err.message, "refused without a message: %s", text);
    if (!e) return;
    FUZZ_CHECK(!strcmp(expr_text(e), text), "%s", text);
    int64_t at[16], result;
    size_t count, lines = symbols_count(symbols);
    const int *slots = expr_slots(e, &count);
    for (size_t i = 0; i < count; i++) FUZZ_CHECK(slots[i] >= 0 && (size_t)slots[i] < lines, "%s", text);
    for (int round = 0; round < 5; round++) {
        for (size_t i = 0; i < lines && i < 16; i++) at[i] = i < PARAMETERS ? values[i][round] : 12;
        at[PARAMETERS - 1] = space_parameter(space, PARAMETERS - 1)->values[round % 3];
        expr_eval(e, at, &result, &err);
    }
    free(expr_to_c(e, "x_", name_in_c, constant_in_c, symbols, &err));
    free(expr_to_python(e, name_in_c, constant_in_c, symbols, &err));
    expr_free(e);
}

// The next combination of values; false after the last.
static bool next(const struct space *space, uint16_t *config)
{
    for (size_t i = PARAMETERS; i-- > 0; config[i] = 0)
        if (++config[i] < space_parameter(space, i)->count) return true;
    return false;
}

// 1 if all constraints hold, 0 if one is 0, and otherwise -1 if one has no value.
static int holds(const struct space *space, struct expr *const *constraints, size_t count, const uint16_t *config)
{
    int64_t at[16] = {0}, result;
    int all = 1;
    for (size_t i = 0; i < PARAMETERS; i++) at[i] = space_parameter(space, i)->values[config[i]];
    at[PARAMETERS] = 12;
    for (size_t i = 0; i < count; i++) {
        if (expr_eval(constraints[i], at, &result, NULL))
            all = -1;
        else if (!result)
            return 0;
    }
    return all;
}

static void try_together(struct space *space, struct expr *const *constraints, size_t count)
{
    struct error err = {""};
    uint16_t config[SPACE_MAX_PARAMETERS] = {0}, found[SPACE_MAX_PARAMETERS];
    uint64_t valid = 0;
    bool sound = true, built = !space_build(space, NULL, &err);
    do {
        int holding = holds(space, constraints, count, config);
        sound &= holding >= 0;
        valid += holding == 1;
        if (!built || holding < 0) continue;
        int64_t index = space_index(space, config);
        FUZZ_CHECK((index >= 0) == (holding == 1), "configuration %d,%d,%d,%d", config[0], config[1], config[2],
                   config[3]);
        if (index < 0) continue;
        space_get(space, (uint64_t)index, found);
        FUZZ_CHECK(!memcmp(config, found, PARAMETERS * sizeof *found), "number %lld", (long long)index);
    } while (next(space, config));
    FUZZ_CHECK(built == (sound && valid), "%s (%llu configurations)", err.message, (unsigned long long)valid);
    if (!built) return;
    FUZZ_CHECK(space_size(space) == valid, "%llu configurations", (unsigned long long)valid);
    for (size_t i = 0; i < count; i++) {
        double removed = space_removed_by(space, i);
        FUZZ_CHECK(removed >= 0 && removed <= space_raw_size(space), "%g", removed);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct symbols *symbols = symbols_new();
    struct space *space = open_space(symbols);
    struct expr *constraints[CONSTRAINTS];
    size_t count = 0;
    char *text = fuzz_text(data, size), *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) && count < CONSTRAINTS;) {
        if (strlen(line) > LONGEST) continue;
        try_alone(line, symbols, space);
        if (space_add_constraint(space, line, NULL) >= 0) constraints[count++] = expr_parse(line, symbols, NULL);
    }
    try_together(space, constraints, count);
    for (size_t i = 0; i < count; i++) expr_free(constraints[i]);
    free(text);
    space_free(space);
    symbols_free(symbols);
    return 0;
}
