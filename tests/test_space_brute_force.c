// Random systems of constraints: the space contains exactly the configurations that brute force finds, in every way of
// enumerating it.
#include "tests/space_fixture.h"

enum { BRUTE_MAX = 5000 };

struct system {
    struct fixture f;
    struct expr *constraints[6]; // the derived name is expanded, because names are evaluated where they are used
    int constraint_count;
    int parameter_count;
};

// A random expression over the parameters A, B, ... and the derived name DERIVED. Divisors may be zero, which is a case
// to test too.
static void random_expression(struct random *r, int parameters, int depth, bool derived, char *out)
{
    if (depth == 0 || random_below(r, 6) == 0) {
        if (derived && random_below(r, 5) == 0)
            strcpy(out, "DERIVED");
        else if (random_below(r, 3))
            sprintf(out, "%c", (char)('A' + random_below(r, (uint64_t)parameters)));
        else
            sprintf(out, "%d", (int)random_below(r, 12) - 1);
        return;
    }
    static const char *const operators[] = {"+", "*",  "*",  "+",  "-",  "/",  "%",  "%", "<", "<=", "<=", ">=",
                                            ">", "==", "!=", "&&", "||", "&&", "||", "&", "|", "^",  "<<"};
    char a[6000], b[6000], c[6000];
    random_expression(r, parameters, depth - 1, derived, a);
    random_expression(r, parameters, depth - 1, derived, b);
    uint64_t kind = random_below(r, 30);
    if (kind < 2) {
        random_expression(r, parameters, depth - 1, derived, c);
        sprintf(out, "(%s ? %s : %s)", a, b, c);
    } else if (kind < 4) {
        static const char *const functions[] = {"min", "max", "ceil_div", "round_up"};
        sprintf(out, "%s(%s, %s)", functions[random_below(r, 4)], a, b);
    } else if (kind == 4) {
        sprintf(out, "!(%s)", a);
    } else if (kind == 5) {
        sprintf(out, "-(%s)", a);
    } else if (kind == 6) {
        sprintf(out, "is_pow2(%s)", a);
    } else {
        sprintf(out, "(%s %s %s)", a, operators[random_below(r, sizeof operators / sizeof *operators)], b);
    }
}

static char *replace(const char *text, const char *name, const char *with)
{
    size_t room = strlen(text) + 1, length = 0;
    for (const char *at = text; (at = strstr(at, name)); at++) room += strlen(with) + 2;
    char *out = malloc(room);
    assert_non_null(out);
    for (const char *at = text; *at;) {
        if (strncmp(at, name, strlen(name)) == 0) {
            length += (size_t)sprintf(out + length, "(%s)", with);
            at += strlen(name);
        } else {
            out[length++] = *at++;
        }
    }
    out[length] = 0;
    return out;
}

static void make_system(struct random *r, struct system *s)
{
    s->f = open_space();
    s->parameter_count = 1 + (int)random_below(r, 6);
    size_t raw = 1;
    for (int p = 0; p < s->parameter_count; p++) {
        char name[2] = {(char)('A' + p), 0};
        int64_t values[8];
        size_t count = 1 + random_below(r, 6);
        if (raw * count > BRUTE_MAX) count = 1;
        raw *= count;
        int64_t value = (int64_t)random_below(r, 4) - 1;
        for (size_t i = 0; i < count; i++) {
            values[i] = value;
            value += 1 + (int64_t)random_below(r, 5);
        }
        if (random_below(r, 2)) // not ascending
            for (size_t i = 0; i < count / 2; i++) {
                int64_t swap = values[i];
                values[i] = values[count - 1 - i];
                values[count - 1 - i] = swap;
            }
        add_values(&s->f, name, count, values);
    }
    char text[20000], derived_text[20000];
    bool derived = random_below(r, 3) == 0;
    if (derived) {
        random_expression(r, s->parameter_count, 2, false, derived_text);
        assert_int_equal(space_add_derived(s->f.space, "DERIVED", derived_text, NULL), 0);
    }
    s->constraint_count = (int)random_below(r, 6);
    for (int c = 0; c < s->constraint_count; c++) {
        random_expression(r, s->parameter_count, 1 + (int)random_below(r, 4), derived, text);
        add_constraint(&s->f, text);
        char *written_out = replace(text, "DERIVED", derived_text);
        s->constraints[c] = expr_parse(written_out, s->f.symbols, NULL);
        free(written_out);
    }
}

enum verdict { VALID, REMOVED, FAILING };

// As documented: a configuration is removed if some constraint is zero. Otherwise it fails if a constraint cannot be
// evaluated or a derived name has no value.
static enum verdict judge(const struct system *s, const uint16_t *config)
{
    int64_t values[16] = {0}, result;
    enum verdict verdict = space_values(s->f.space, config, values, NULL) < 0 ? FAILING : VALID;
    for (int c = 0; c < s->constraint_count; c++) {
        if (expr_eval(s->constraints[c], values, &result, NULL) < 0)
            verdict = FAILING;
        else if (result == 0)
            return REMOVED;
    }
    return verdict;
}

static void check_valid_space(const struct system *s, const unsigned char *valid, uint64_t count, struct random *r)
{
    const struct space *space = s->f.space;
    size_t width = space_parameter_count(space);
    assert_int_equal(space_size(space), count);
    uint16_t config[16] = {0};
    size_t raw = 0;
    unsigned char *met = calloc(count, 1);
    do {
        int64_t index = space_index(space, config);
        assert_int_equal(index >= 0, valid[raw]);
        if (index >= 0) {
            uint16_t back[16];
            assert_true((uint64_t)index < count);
            assert_int_equal(met[index], 0);
            met[index] = 1;
            space_get(space, (uint64_t)index, back);
            assert_memory_equal(back, config, width * sizeof *config);
        }
        raw++;
    } while (next_config(space, config));
    free(met);

    // The neighbours are exactly the valid configurations that differ in one parameter.
    uint16_t neighbours[64 * 16];
    space_sample(space, r, config);
    assert_true(space_is_valid(space, config));
    size_t found = space_neighbours(space, config, neighbours, 64), expected = 0;
    for (size_t p = 0; p < width; p++) {
        uint16_t other[16];
        memcpy(other, config, sizeof other);
        for (other[p] = 0; other[p] < space_parameter(space, p)->count; other[p]++)
            expected += other[p] != config[p] && space_is_valid(space, other);
    }
    assert_int_equal(found, expected);
    // A repaired configuration is valid, and no valid one is nearer.
    uint16_t broken[16], repaired[16];
    for (size_t p = 0; p < width; p++) broken[p] = (uint16_t)random_below(r, space_parameter(space, p)->count);
    memcpy(repaired, broken, sizeof broken);
    size_t changed = space_repair(space, r, repaired), least = width;
    assert_true(space_is_valid(space, repaired));
    memset(config, 0, sizeof config);
    do {
        size_t distance = 0;
        for (size_t p = 0; p < width; p++) distance += config[p] != broken[p];
        if (distance < least && space_is_valid(space, config)) least = distance;
    } while (next_config(space, config));
    assert_int_equal(changed, least);
}

TEST(random_constraint_systems_equal_brute_force)
{
    struct random r;
    random_seed(&r, 20240607);
    int outcomes[3] = {0};
    for (int round = 0; round < 4000; round++) {
        struct system s;
        make_system(&r, &s);
        const struct space *space = s.f.space;
        unsigned char *valid = calloc((size_t)space_raw_size(space), 1);
        uint16_t config[16] = {0};
        size_t raw = 0, count = 0, failing = 0;
        do {
            enum verdict verdict = judge(&s, config);
            valid[raw++] = verdict == VALID;
            count += verdict == VALID;
            failing += verdict == FAILING;
        } while (next_config(space, config));

        // The number of configurations that each constraint removes by itself.
        for (int c = 0; c < s.constraint_count; c++) {
            double removed = 0;
            memset(config, 0, sizeof config);
            do {
                int64_t values[16] = {0}, result = 0;
                space_values(space, config, values, NULL);
                removed += expr_eval(s.constraints[c], values, &result, NULL) < 0 || result == 0;
            } while (next_config(space, config));
            double claimed = space_removed_by(space, (size_t)c);
            if (claimed != removed)
                fail_msg("round %d: %s removes %g, claimed %g", round, expr_text(s.constraints[c]), removed, claimed);
        }

        struct error err = {""};
        int culprit = -2;
        int built = space_build(s.f.space, &culprit, &err);
        if (failing) {
            outcomes[2]++;
            assert_int_equal(built, -1);
            assert_contains(err.message, "cannot evaluate the constraints for ");
        } else if (count == 0) {
            outcomes[1]++;
            assert_int_equal(built, -1);
            assert_true(culprit >= 0 && culprit < s.constraint_count);
            if (!strstr(err.message, space_constraint_text(space, (size_t)culprit)))
                fail_msg("%s does not name %s", err.message, space_constraint_text(space, (size_t)culprit));
        } else {
            outcomes[0]++;
            if (built < 0) fail_msg("round %d: %s", round, err.message);
            check_valid_space(&s, valid, count, &r);
        }
        free(valid);
        for (int c = 0; c < s.constraint_count; c++) expr_free(s.constraints[c]);
    }
    // The generator is useful only if all three outcomes occur.
    for (int i = 0; i < 3; i++) assert_true(outcomes[i] > 200);
}

// Published spaces -----------------------------------------------------------------------------------

TEST_MAIN(NULL, NULL)
