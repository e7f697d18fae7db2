// The search space: against brute force, on published spaces, on one of 10^12 combinations, and on mistakes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "search/space.h"
#include "tuner/base/json.h"

enum { BRUTE_MAX = 5000 };

struct fixture {
    struct symbols *symbols;
    struct space *space;
};

static struct fixture open_space(void)
{
    struct fixture f;
    f.symbols = symbols_new();
    f.space = space_new(f.symbols);
    return f;
}

static void close_space(struct fixture *f)
{
    space_free(f->space);
    symbols_free(f->symbols);
}

static void add_values(struct fixture *f, const char *name, size_t count, const int64_t *values)
{
    struct error err;
    if (space_add_parameter(f->space, name, PARAMETER_INT, values, count, &err) < 0) fail_msg("%s", err.message);
}

#define ADD(f, name, ...)                                                                                              \
    add_values(f, name, sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t), (int64_t[]){ __VA_ARGS__ })

static void add_constraint(struct fixture *f, const char *text)
{
    struct error err;
    if (space_add_constraint(f->space, text, &err) < 0) fail_msg("%s", err.message);
}

static void build(struct fixture *f)
{
    struct error err;
    if (space_build(f->space, NULL, &err) < 0) fail_msg("%s", err.message);
}

// Random systems against brute force -----------------------------------------------------------------

struct system {
    struct fixture f;
    struct expr *constraints[6]; // with the derived name written out: a name is evaluated when it is used
    int constraint_count;
    int parameter_count;
};

// A random expression over the parameters A, B, ... and the derived name DERIVED. Divisors may be zero: that is a case to get right too.
static void random_expression(struct random *r, int parameters, int depth, bool derived, char *out)
{
    if (depth == 0 || random_below(r, 6) == 0) {
        if (derived && random_below(r, 5) == 0) strcpy(out, "DERIVED");
        else if (random_below(r, 3)) sprintf(out, "%c", (char)('A' + random_below(r, (uint64_t)parameters)));
        else sprintf(out, "%d", (int)random_below(r, 12) - 1);
        return;
    }
    static const char *const operators[] = { "+", "*", "*", "+", "-", "/", "%", "%", "<", "<=", "<=", ">=", ">", "==", "!=", "&&",
                                             "||", "&&", "||", "&", "|", "^", "<<" };
    char a[6000], b[6000], c[6000];
    random_expression(r, parameters, depth - 1, derived, a);
    random_expression(r, parameters, depth - 1, derived, b);
    uint64_t kind = random_below(r, 30);
    if (kind < 2) {
        random_expression(r, parameters, depth - 1, derived, c);
        sprintf(out, "(%s ? %s : %s)", a, b, c);
    } else if (kind < 4) {
        static const char *const functions[] = { "min", "max", "ceil_div", "round_up" };
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
        char name[2] = { (char)('A' + p), 0 };
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

// What the documentation promises: removed when some constraint is zero, failing when none is and one cannot be evaluated or a
// derived name has no value.
static enum verdict judge(const struct system *s, const uint16_t *config)
{
    int64_t values[16] = { 0 }, result;
    enum verdict verdict = space_values(s->f.space, config, values, NULL) < 0 ? FAILING : VALID;
    for (int c = 0; c < s->constraint_count; c++) {
        if (expr_eval(s->constraints[c], values, &result, NULL) < 0) verdict = FAILING;
        else if (result == 0) return REMOVED;
    }
    return verdict;
}

static bool next_config(const struct space *s, uint16_t *config)
{
    for (size_t i = space_parameter_count(s); i-- > 0;) {
        if (++config[i] < space_parameter(s, i)->count) return true;
        config[i] = 0;
    }
    return false;
}

static void check_valid_space(const struct system *s, const unsigned char *valid, uint64_t count, struct random *r)
{
    const struct space *space = s->f.space;
    size_t width = space_parameter_count(space);
    assert_int_equal(space_size(space), count);
    uint16_t config[16] = { 0 };
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

    // Neighbours: exactly the valid configurations that differ in one parameter.
    uint16_t neighbours[64 * 16];
    space_sample(space, r, config);
    assert_true(space_is_valid(space, config));
    size_t found = space_neighbours(space, config, false, neighbours, 64), expected = 0;
    for (size_t p = 0; p < width; p++) {
        uint16_t other[16];
        memcpy(other, config, sizeof other);
        for (other[p] = 0; other[p] < space_parameter(space, p)->count; other[p]++)
            expected += other[p] != config[p] && space_is_valid(space, other);
    }
    assert_int_equal(found, expected);
    // Steps: at most two of each parameter, the nearest valid ones.
    size_t steps = space_neighbours(space, config, true, neighbours, 64), nearest = 0;
    for (size_t p = 0; p < width; p++) {
        for (int direction = -1; direction <= 1; direction += 2) {
            uint16_t other[16];
            memcpy(other, config, sizeof other);
            for (int v = config[p] + direction; v >= 0 && v < (int)space_parameter(space, p)->count; v += direction) {
                other[p] = (uint16_t)v;
                if (!space_is_valid(space, other)) continue;
                nearest++;
                break;
            }
        }
    }
    assert_int_equal(steps, nearest);
    // Repair: valid, and no nearer configuration exists.
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

static void random_constraint_systems_equal_brute_force(void **state)
{
    (void)state;
    struct random r;
    random_seed(&r, 20240607);
    int outcomes[3] = { 0 };
    for (int round = 0; round < 4000; round++) {
        struct system s;
        make_system(&r, &s);
        const struct space *space = s.f.space;
        unsigned char *valid = calloc((size_t)space_raw_size(space), 1);
        uint16_t config[16] = { 0 };
        size_t raw = 0, count = 0, failing = 0;
        do {
            enum verdict verdict = judge(&s, config);
            valid[raw++] = verdict == VALID;
            count += verdict == VALID;
            failing += verdict == FAILING;
        } while (next_config(space, config));

        // What each constraint removes alone.
        for (int c = 0; c < s.constraint_count; c++) {
            double removed = 0;
            bool exact;
            memset(config, 0, sizeof config);
            do {
                int64_t values[16] = { 0 }, result = 0;
                space_values(space, config, values, NULL);
                removed += expr_eval(s.constraints[c], values, &result, NULL) < 0 || result == 0;
            } while (next_config(space, config));
            double claimed = space_removed_by(space, (size_t)c, &exact);
            if (claimed != removed)
                fail_msg("round %d: %s removes %g, claimed %g", round, expr_text(s.constraints[c]), removed, claimed);
            assert_true(exact);
        }

        struct error err = { "" };
        int culprit = -2;
        int built = space_build(s.f.space, &culprit, &err);
        if (failing) {
            outcomes[2]++;
            assert_int_equal(built, -1);
            assert_non_null(strstr(err.message, "cannot evaluate the constraints for "));
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
        close_space(&s.f);
    }
    // The generator is worth its name only if it meets all three.
    for (int i = 0; i < 3; i++) assert_true(outcomes[i] > 200);
}

// Published spaces -----------------------------------------------------------------------------------

static void published_spaces_have_the_published_sizes(void **state)
{
    (void)state;
    json_error_t json_error;
    json_t *all = json_load_file("tests/spaces/constrained.json", 0, &json_error);
    if (!all) fail_msg("%s", json_error.text);
    assert_int_equal(json_array_size(all), 7);
    size_t i, j;
    json_t *one, *list, *item;
    const char *name;
    json_array_foreach(all, i, one) {
        struct fixture f = open_space();
        json_object_foreach(json_object_get(one, "parameters"), name, list) {
            int64_t values[64];
            json_array_foreach(list, j, item) values[j] = json_integer_value(item);
            add_values(&f, name, json_array_size(list), values);
        }
        json_array_foreach(json_object_get(one, "constraints"), j, item) add_constraint(&f, json_string_value(item));
        build(&f);
        assert_true(space_raw_size(f.space) == json_number_value(json_object_get(one, "raw")));
        assert_int_equal(space_size(f.space), json_integer_value(json_object_get(one, "valid")));
        close_space(&f);
    }
    json_decref(all);
}

// A GEMM kernel's space with 1.8 * 10^12 combinations whose parameters depend on each other.
static struct fixture gemm_space(void)
{
    struct fixture f = open_space();
    ADD(&f, "BLOCK_M", 16, 32, 64, 96, 128, 192, 256);
    ADD(&f, "BLOCK_N", 16, 32, 64, 96, 128, 192, 256);
    ADD(&f, "BLOCK_K", 4, 8, 16, 32, 64);
    ADD(&f, "WARP_M", 8, 16, 32, 64, 96, 128);
    ADD(&f, "WARP_N", 8, 16, 32, 64, 96, 128);
    ADD(&f, "THREAD_M", 1, 2, 4, 8, 16);
    ADD(&f, "THREAD_N", 1, 2, 4, 8, 16);
    ADD(&f, "COLUMNS", 1, 2, 4, 8);
    ADD(&f, "ROWS", 1, 2, 4, 8);
    ADD(&f, "STAGES", 1, 2, 3, 4, 5, 6);
    ADD(&f, "VECTOR", 1, 2, 4);
    ADD(&f, "PAD", 0, 1, 4, 8);
    ADD(&f, "THREADS", 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024);
    ADD(&f, "UNROLL", 0, 1, 2, 4, 8, 16);
    ADD(&f, "RASTER", 1, 2, 4, 8, 16);
    ADD(&f, "BUFFER", 0, 1);
    ADD(&f, "SWIZZLE", 0, 1, 2);
    ADD(&f, "CLUSTER", 1, 2, 4, 8);
    assert_int_equal(space_set_constant(f.space, "device.max_shared", 232448, NULL), 0);
    assert_int_equal(space_add_derived(f.space, "shared_bytes", "4 * STAGES * BLOCK_K * (BLOCK_M + BLOCK_N + 2 * PAD)", NULL), 0);
    add_constraint(&f, "BLOCK_M % WARP_M == 0");
    add_constraint(&f, "BLOCK_N % WARP_N == 0");
    add_constraint(&f, "WARP_M * WARP_N == 32 * THREAD_M * THREAD_N");
    add_constraint(&f, "THREADS == 32 * (BLOCK_M / WARP_M) * (BLOCK_N / WARP_N)");
    add_constraint(&f, "THREAD_N % COLUMNS == 0 && THREAD_M % ROWS == 0");
    add_constraint(&f, "WARP_N % THREAD_N == 0 && WARP_M % THREAD_M == 0");
    add_constraint(&f, "shared_bytes <= device.max_shared");
    add_constraint(&f, "BLOCK_M * BLOCK_K % (THREADS * VECTOR) == 0 && BLOCK_N * BLOCK_K % (THREADS * VECTOR) == 0");
    add_constraint(&f, "UNROLL <= 1 || BLOCK_K % UNROLL == 0");
    add_constraint(&f, "PAD == 0 || SWIZZLE == 0");
    add_constraint(&f, "BUFFER == 0 || THREAD_M * THREAD_N + 2 * (THREAD_M + THREAD_N) <= 200");
    return f;
}

static void a_space_of_a_trillion_combinations_is_counted_and_sampled(void **state)
{
    (void)state;
    struct fixture f = gemm_space();
    build(&f);
    assert_true(space_raw_size(f.space) >= 1e12);
    // Counted once by nested loops over the parameters that are tied together, times what is free.
    uint64_t expected = 0;
    static const int m[] = { 16, 32, 64, 96, 128, 192, 256 }, w[] = { 8, 16, 32, 64, 96, 128 }, t[] = { 1, 2, 4, 8, 16 };
    static const int k[] = { 4, 8, 16, 32, 64 }, threads[] = { 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024 };
    static const int unroll[] = { 0, 1, 2, 4, 8, 16 }, vector[] = { 1, 2, 4 }, pad[] = { 0, 1, 4, 8 };
#define EACH(i, a) for (size_t i = 0; i < sizeof a / sizeof *a; i++)
    EACH(a, m) EACH(b, m) EACH(c, w) EACH(d, w) EACH(p, t) EACH(q, t) {
        if (m[a] % w[c] || m[b] % w[d] || w[c] * w[d] != 32 * t[p] * t[q] || w[d] % t[q] || w[c] % t[p]) continue;
        bool known = false;
        int block = 32 * (m[a] / w[c]) * (m[b] / w[d]);
        EACH(x, threads) known |= threads[x] == block;
        if (!known) continue;
        uint64_t columns = 0, rows = 0;
        for (int v = 1; v <= 8; v *= 2) columns += t[q] % v == 0, rows += t[p] % v == 0;
        uint64_t buffers = 1 + (t[p] * t[q] + 2 * (t[p] + t[q]) <= 200);
        EACH(e, k) EACH(v, vector) {
            if (m[a] * k[e] % (block * vector[v]) || m[b] * k[e] % (block * vector[v])) continue;
            uint64_t unrolls = 0, stages = 0;
            EACH(u, unroll) unrolls += unroll[u] <= 1 || k[e] % unroll[u] == 0;
            EACH(g, pad) for (int s = 1; s <= 6; s++)
                stages += 4 * s * k[e] * (m[a] + m[b] + 2 * pad[g]) <= 232448 ? pad[g] == 0 ? 3 : 1 : 0;
            expected += columns * rows * buffers * unrolls * stages * 5 * 4;
        }
    }
    assert_int_equal(space_size(f.space), expected);
    struct random r;
    random_seed(&r, 1);
    uint64_t size = space_size(f.space), lower_half = 0;
    for (int i = 0; i < 20000; i++) {
        uint16_t config[SPACE_MAX_PARAMETERS], back[SPACE_MAX_PARAMETERS];
        space_sample(f.space, &r, config);
        int64_t index = space_index(f.space, config);
        assert_true(index >= 0);
        space_get(f.space, (uint64_t)index, back);
        assert_memory_equal(config, back, space_parameter_count(f.space) * sizeof *config);
        lower_half += (uint64_t)index < size / 2;
    }
    assert_in_range(lower_half, 9700, 10300); // 4.2 standard deviations
    close_space(&f);
}

static void samples_are_uniform(void **state)
{
    (void)state;
    struct fixture f = open_space();
    ADD(&f, "A", 1, 2, 3, 4, 5, 6);
    ADD(&f, "B", 1, 2, 3, 4, 5, 6);
    ADD(&f, "C", 0, 1, 2);
    add_constraint(&f, "A * B <= 8 && (C == 0 || A > B)");
    build(&f);
    uint64_t size = space_size(f.space);
    int hits[128] = { 0 };
    struct random r;
    random_seed(&r, 5);
    for (uint64_t i = 0; i < 1000 * size; i++) {
        uint16_t config[3];
        space_sample(f.space, &r, config);
        hits[space_index(f.space, config)]++;
    }
    for (uint64_t i = 0; i < size; i++) assert_in_range(hits[i], 850, 1150);
    close_space(&f);
}

static void independent_groups_and_free_parameters_are_not_multiplied_out(void **state)
{
    (void)state;
    // 20 independent pairs and 20 free parameters: 10^80 combinations, which saturate the count.
    struct fixture f = open_space();
    struct error err;
    int64_t values[100];
    for (int i = 0; i < 100; i++) values[i] = i;
    for (int i = 0; i < 60; i++) {
        char name[16];
        snprintf(name, sizeof name, "P%d", i);
        assert_int_equal(space_add_parameter(f.space, name, PARAMETER_INT, values, 100, &err), 0);
    }
    for (int i = 0; i < 20; i++) {
        char text[64];
        snprintf(text, sizeof text, "P%d < P%d", 2 * i, 2 * i + 1);
        add_constraint(&f, text);
    }
    build(&f);
    assert_true(space_raw_size(f.space) > 1e119);
    assert_true(space_size(f.space) == UINT64_MAX);
    struct random r;
    random_seed(&r, 2);
    double sum = 0;
    for (int i = 0; i < 5000; i++) {
        uint16_t config[60];
        space_sample(f.space, &r, config);
        assert_true(space_is_valid(f.space, config));
        sum += config[0];
    }
    assert_true(sum / 5000 > 31 && sum / 5000 < 35); // the smaller of two different values up to 99: 32.67
    close_space(&f);
}

// Small cases and mistakes ---------------------------------------------------------------------------

static void contradicting_constraints_are_named(void **state)
{
    (void)state;
    static const struct { const char *constraints[4]; int culprit; const char *message; } cases[] = {
        { { "A > 0", "B > 9" }, 1, "no configuration is valid: the constraint 'B > 9' alone removes every one" },
        { { "A > 2", "C < 5", "A < 2" }, 2,
          "no configuration is valid: the constraints 'A > 2' and 'A < 2' contradict each other" },
        { { "A < B", "B < C", "A + B > 0", "C < A" }, 3,
          "no configuration is valid: the constraints 'A < B', 'B < C' and 'C < A' contradict each other" },
        { { "1 == 2" }, 0, "no configuration is valid: the constraint '1 == 2' alone removes every one" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f = open_space();
        ADD(&f, "A", 1, 2, 3);
        ADD(&f, "B", 1, 2, 3);
        ADD(&f, "C", 1, 2, 3);
        for (int c = 0; c < 4 && cases[i].constraints[c]; c++) add_constraint(&f, cases[i].constraints[c]);
        struct error err;
        int culprit = -1;
        assert_int_equal(space_build(f.space, &culprit, &err), -1);
        assert_string_equal(err.message, cases[i].message);
        assert_int_equal(culprit, cases[i].culprit);
        close_space(&f);
    }
}

static void a_constraint_that_cannot_be_evaluated_is_named_with_the_configuration(void **state)
{
    (void)state;
    struct fixture f = open_space();
    ADD(&f, "A", 8, 9);
    ADD(&f, "B", 0, 2);
    add_constraint(&f, "A % B == 0");
    struct error err;
    int culprit = -1;
    assert_int_equal(space_build(f.space, &culprit, &err), -1);
    assert_int_equal(culprit, 0);
    assert_string_equal(err.message,
                        "cannot evaluate the constraints for A=8,B=0: division by zero at column 3: 'A % B == 0'");
    // Another constraint may remove those configurations, before or after.
    add_constraint(&f, "B != 0");
    build(&f);
    assert_int_equal(space_size(f.space), 1);
    close_space(&f);
}

static void bad_parameters_and_names_are_refused(void **state)
{
    (void)state;
    struct fixture f = open_space();
    struct error err;
    int64_t twice[] = { 1, 2, 1 };
    int64_t texts[] = { symbols_intern(f.symbols, "shuffle"), symbols_intern(f.symbols, "shuffle") };
    assert_int_equal(space_add_parameter(f.space, "A", PARAMETER_INT, twice, 0, &err), -1);
    assert_string_equal(err.message, "parameter 'A' has no values");
    assert_int_equal(space_add_parameter(f.space, "A", PARAMETER_INT, twice, 3, &err), -1);
    assert_string_equal(err.message, "parameter 'A' has the value 1 twice");
    assert_int_equal(space_add_parameter(f.space, "A", PARAMETER_STRING, texts, 2, &err), -1);
    assert_string_equal(err.message, "parameter 'A' has the value shuffle twice");
    assert_int_equal(space_add_parameter(f.space, "A", PARAMETER_INT, twice, 2, &err), 0);
    assert_int_equal(space_add_parameter(f.space, "A", PARAMETER_INT, twice, 2, &err), -1);
    assert_string_equal(err.message, "the name 'A' is already taken");
    assert_int_equal(space_set_constant(f.space, "A", 3, &err), -1);
    assert_int_equal(space_add_constraint(f.space, "A < X", &err), -1);
    assert_string_equal(err.message, "unknown name 'X' at column 5: 'A < X'");
    symbols_add(f.symbols, "elsewhere", EXPR_INT, NULL);
    assert_int_equal(space_add_constraint(f.space, "A < elsewhere", &err), -1);
    assert_string_equal(err.message, "the name 'elsewhere' has no value here: 'A < elsewhere'");
    close_space(&f);
}

static void a_space_of_one_is_a_space(void **state)
{
    (void)state;
    struct fixture f = open_space();
    ADD(&f, "A", 7);
    ADD(&f, "B", 1, 2);
    add_constraint(&f, "A == 7 && B > 1");
    build(&f);
    uint16_t config[2], out[8];
    assert_int_equal(space_size(f.space), 1);
    space_get(f.space, 0, config);
    assert_int_equal(config[0], 0);
    assert_int_equal(config[1], 1);
    assert_int_equal(space_neighbours(f.space, config, false, out, 4), 0);
    config[1] = 0;
    struct random r;
    random_seed(&r, 1);
    assert_int_equal(space_repair(f.space, &r, config), 1);
    assert_int_equal(config[1], 1);
    close_space(&f);

    f = open_space();
    ADD(&f, "A", 7);
    build(&f);
    assert_int_equal(space_size(f.space), 1);
    close_space(&f);
}

static void configurations_have_a_text_that_reads_back(void **state)
{
    (void)state;
    struct fixture f = open_space();
    struct error err;
    int64_t texts[] = { symbols_intern(f.symbols, "shuffle"), symbols_intern(f.symbols, "a,b=c"), symbols_intern(f.symbols, "a") };
    ADD(&f, "BLOCK", 64, 128, -3);
    assert_int_equal(space_add_parameter(f.space, "MODE", PARAMETER_STRING, texts, 3, &err), 0);
    build(&f);
    for (uint64_t i = 0; i < space_size(f.space); i++) {
        uint16_t config[2], back[2];
        char text[64], small[6];
        space_get(f.space, i, config);
        size_t length = space_format(f.space, config, text, sizeof text);
        assert_int_equal(length, strlen(text));
        assert_int_equal(space_format(f.space, config, small, sizeof small), length);
        assert_memory_equal(small, text, 5);
        assert_int_equal(space_parse(f.space, text, back, &err), 0);
        assert_memory_equal(config, back, sizeof config);
    }
    static const struct { const char *text, *message; } bad[] = {
        { "BLOCK=64", "parameter 'MODE' is missing" }, { "BLOCK=65,MODE=a", "parameter 'BLOCK' has no value '65'" },
        { "BLOCK=64,BLOCK=64", "parameter 'BLOCK' is given twice" }, { "BLOK=64", "unknown parameter 'BLOK'" },
        { "BLOCK=64,", "nothing behind the last comma" }, { "BLOCK", "expected NAME=VALUE at 'BLOCK'" },
        { "BLOCK=640", "parameter 'BLOCK' has no value '640'" },
    };
    uint16_t config[2];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(space_parse(f.space, bad[i].text, config, &err), -1);
        assert_string_equal(err.message, bad[i].message);
    }
    assert_int_equal(space_parse(f.space, "MODE=shuffle,BLOCK=-3", config, &err), 0);
    assert_int_equal(config[0], 2);
    close_space(&f);
}

static void values_include_constants_and_derived_names(void **state)
{
    (void)state;
    struct fixture f = open_space();
    ADD(&f, "A", 3, 5);
    assert_int_equal(space_set_constant(f.space, "M", 100, NULL), 0);
    assert_int_equal(space_add_derived(f.space, "x", "A * M", NULL), 0);
    assert_int_equal(space_add_derived(f.space, "y", "x + 1", NULL), 0);
    add_constraint(&f, "y > 400");
    build(&f);
    uint16_t config[1];
    int64_t values[4];
    space_get(f.space, 0, config);
    assert_int_equal(space_values(f.space, config, values, NULL), 0);
    assert_int_equal(values[symbols_find(f.symbols, "y")], 501);
    // A constant may change; then the space is built anew.
    assert_int_equal(space_set_constant(f.space, "M", 200, NULL), 0);
    build(&f);
    assert_int_equal(space_size(f.space), 2);
    close_space(&f);
}

static void a_list_of_configurations_is_a_space(void **state)
{
    (void)state;
    struct random r;
    random_seed(&r, 3);
    for (int round = 0; round < 200; round++) {
        struct fixture f = open_space();
        ADD(&f, "A", 1, 2, 3, 4);
        ADD(&f, "B", 1);
        ADD(&f, "C", 1, 2, 3);
        ADD(&f, "D", 1, 2, 3, 4, 5);
        uint16_t list[60 * 4], config[4] = { 0 };
        bool listed[60] = { false };
        size_t count = 0, n = 0;
        do {
            if (random_below(&r, 3) == 0) {
                memcpy(list + 4 * count++, config, sizeof config);
                listed[n] = true;
            }
            n++;
        } while (next_config(f.space, config));
        for (size_t i = count; i > 1; i--) { // any order
            size_t j = random_below(&r, i);
            uint16_t swap[4];
            memcpy(swap, list + 4 * j, sizeof swap);
            memcpy(list + 4 * j, list + 4 * (i - 1), sizeof swap);
            memcpy(list + 4 * (i - 1), swap, sizeof swap);
        }
        struct error err;
        assert_int_equal(space_build_from_list(f.space, list, count, &err), 0);
        assert_int_equal(space_size(f.space), count);
        n = 0;
        memset(config, 0, sizeof config);
        do assert_int_equal(space_is_valid(f.space, config), listed[n++]);
        while (next_config(f.space, config));
        if (count > 1) {
            memcpy(list, list + 4 * (count - 1), sizeof config);
            assert_int_equal(space_build_from_list(f.space, list, count, &err), -1);
            assert_non_null(strstr(err.message, "is listed twice"));
        }
        assert_int_equal(space_build_from_list(f.space, list, 0, &err), -1);
        close_space(&f);
    }
}

static void a_space_that_cannot_be_indexed_is_refused(void **state)
{
    (void)state;
    // A random-looking function of 20 parameters: no two prefixes are alike.
    struct fixture f = open_space();
    char text[4096] = "0";
    for (int i = 0; i < 20; i++) {
        char name[16], term[64];
        snprintf(name, sizeof name, "P%d", i);
        ADD(&f, name, 0, 1, 2, 3, 4, 5, 6, 7);
        snprintf(term, sizeof term, " ^ P%d * %lld", i, 7919LL * (i + 3) * (i + 3) * 104729LL);
        strcat(text, term);
    }
    strcat(text, " != 12345");
    add_constraint(&f, text);
    struct error err;
    assert_int_equal(space_build(f.space, NULL, &err), -1);
    assert_non_null(strstr(err.message, "cannot be indexed"));
    close_space(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_constraint_systems_equal_brute_force),
        cmocka_unit_test(published_spaces_have_the_published_sizes),
        cmocka_unit_test(a_space_of_a_trillion_combinations_is_counted_and_sampled),
        cmocka_unit_test(samples_are_uniform),
        cmocka_unit_test(independent_groups_and_free_parameters_are_not_multiplied_out),
        cmocka_unit_test(contradicting_constraints_are_named),
        cmocka_unit_test(a_constraint_that_cannot_be_evaluated_is_named_with_the_configuration),
        cmocka_unit_test(bad_parameters_and_names_are_refused),
        cmocka_unit_test(a_space_of_one_is_a_space),
        cmocka_unit_test(configurations_have_a_text_that_reads_back),
        cmocka_unit_test(values_include_constants_and_derived_names),
        cmocka_unit_test(a_list_of_configurations_is_a_space),
        cmocka_unit_test(a_space_that_cannot_be_indexed_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
