// The search space: published spaces, a space of 10^12 combinations, and mistakes.
#include "tests/space_fixture.h"

#include <time.h>

#include "tuner/base/json.h"
#include "tuner/base/memory.h"

static struct error err; // from the last call that failed

TEST(published_spaces_have_the_published_sizes)
{
    json_error_t json_error;
    json_t *all = test_json(json_load_file("tests/spaces/constrained.json", 0, &json_error));
    if (!all) fail_msg("%s", json_error.text);
    assert_int_equal(json_array_size(all), 7);
    json_array_each(all, i, one) {
        struct fixture f = open_space();
        json_object_each(json_object_get(one, "parameters"), name, list) {
            int64_t values[64];
            json_array_each(list, j, item) values[j] = json_integer_value(item);
            add_values(&f, name, json_array_size(list), values);
        }
        json_array_each(json_object_get(one, "constraints"), j, item) add_constraint(&f, json_string_value(item));
        build(&f);
        assert_true(space_raw_size(f.space) == json_number_value(json_object_get(one, "raw")));
        assert_int_equal(space_size(f.space), json_integer_value(json_object_get(one, "valid")));
    }
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
    assert_int_equal(
        space_add_derived(f.space, "shared_bytes", "4 * STAGES * BLOCK_K * (BLOCK_M + BLOCK_N + 2 * PAD)", NULL), 0);
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

TEST(a_space_of_a_trillion_combinations_is_counted_and_sampled)
{
    struct fixture f = gemm_space();
    build(&f);
    assert_true(space_raw_size(f.space) >= 1e12);
    // Nested loops count the combinations of the parameters that depend on each other; the free parameters are factors.
    uint64_t expected = 0;
    static const int m[] = {16, 32, 64, 96, 128, 192, 256}, w[] = {8, 16, 32, 64, 96, 128}, t[] = {1, 2, 4, 8, 16};
    static const int k[] = {4, 8, 16, 32, 64}, threads[] = {32, 64, 96, 128, 192, 256, 384, 512, 768, 1024};
    static const int unroll[] = {0, 1, 2, 4, 8, 16}, vector[] = {1, 2, 4}, pad[] = {0, 1, 4, 8};
#define EACH(i, a) for (size_t i = 0; i < sizeof(a) / sizeof *(a); i++)
    EACH(a, m) EACH(b, m) EACH(c, w) EACH(d, w) EACH(p, t) EACH(q, t)
    {
        if (m[a] % w[c] || m[b] % w[d] || w[c] * w[d] != 32 * t[p] * t[q] || w[d] % t[q] || w[c] % t[p]) continue;
        bool known = false;
        int block = 32 * (m[a] / w[c]) * (m[b] / w[d]);
        EACH(x, threads) known |= threads[x] == block;
        if (!known) continue;
        uint64_t columns = 0, rows = 0;
        for (int v = 1; v <= 8; v *= 2) columns += t[q] % v == 0, rows += t[p] % v == 0;
        uint64_t buffers = 1 + (t[p] * t[q] + 2 * (t[p] + t[q]) <= 200);
        EACH(e, k) EACH(v, vector)
        {
            if (m[a] * k[e] % (block * vector[v]) || m[b] * k[e] % (block * vector[v])) continue;
            uint64_t unrolls = 0, stages = 0;
            EACH(u, unroll) unrolls += unroll[u] <= 1 || k[e] % unroll[u] == 0;
            EACH(g, pad)
            for (int s = 1; s <= 6; s++)
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
}

TEST(samples_are_uniform)
{
    struct fixture f = open_space();
    ADD(&f, "A", 1, 2, 3, 4, 5, 6);
    ADD(&f, "B", 1, 2, 3, 4, 5, 6);
    ADD(&f, "C", 0, 1, 2);
    add_constraint(&f, "A * B <= 8 && (C == 0 || A > B)");
    build(&f);
    uint64_t size = space_size(f.space);
    int hits[128] = {0};
    struct random r;
    random_seed(&r, 5);
    for (uint64_t i = 0; i < 1000 * size; i++) {
        uint16_t config[3];
        space_sample(f.space, &r, config);
        hits[space_index(f.space, config)]++;
    }
    for (uint64_t i = 0; i < size; i++) assert_in_range(hits[i], 850, 1150);
}

TEST(independent_groups_and_free_parameters_are_not_multiplied_out)
{
    // 20 independent pairs and 20 free parameters: 10^80 combinations, which saturate the count.
    struct fixture f = open_space();
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
}

// Small cases and mistakes ---------------------------------------------------------------------------

TEST(contradicting_constraints_are_named)
{
    static const struct {
        const char *constraints[4];
        int culprit;
        const char *message;
    } cases[] = {
        {{"A > 0", "B > 9"}, 1, "no configuration is valid: the constraint 'B > 9' removes all of them by itself"},
        {{"A > 2", "C < 5", "A < 2"},
         2,
         "no configuration is valid: the constraints 'A > 2' and 'A < 2' contradict each other; relax one of them"},
        {{"A < B", "B < C", "A + B > 0", "C < A"},
         3,
         "no configuration is valid: the constraints 'A < B', 'B < C' and 'C < A' contradict each other; "
         "relax one of them"},
        {{"1 == 2"}, 0, "no configuration is valid: the constraint '1 == 2' removes all of them by itself"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f = open_space();
        ADD(&f, "A", 1, 2, 3);
        ADD(&f, "B", 1, 2, 3);
        ADD(&f, "C", 1, 2, 3);
        for (int c = 0; c < 4 && cases[i].constraints[c]; c++) add_constraint(&f, cases[i].constraints[c]);
        int culprit = -1;
        assert_int_equal(space_build(f.space, &culprit, &err), -1);
        assert_string_equal(err.message, cases[i].message);
        assert_int_equal(culprit, cases[i].culprit);
    }
}

TEST(a_constraint_that_cannot_be_evaluated_is_named_with_the_configuration)
{
    struct fixture f = open_space();
    ADD(&f, "A", 8, 9);
    ADD(&f, "B", 0, 2);
    add_constraint(&f, "A % B == 0");
    int culprit = -1;
    assert_int_equal(space_build(f.space, &culprit, &err), -1);
    assert_int_equal(culprit, 0);
    assert_string_equal(err.message,
                        "cannot evaluate the constraints for A=8,B=0: division by zero at column 3: 'A % B == 0'");
    // There is no error if another constraint, before or after this one, removes those configurations.
    add_constraint(&f, "B != 0");
    build(&f);
    assert_int_equal(space_size(f.space), 1);
}

// Bounds are doubles, which cannot tell INT64_MAX from values that overflow.
TEST(results_near_the_limits_of_64_bits_can_overflow)
{
    static const char *const constraints[] = {"(B > -A) <= 1", "(B > A / -B) <= 1", "(B > ceil_div(A, -B)) <= 1"};
    for (size_t i = 0; i < sizeof constraints / sizeof *constraints; i++) {
        struct fixture f = open_space();
        ADD(&f, "A", 1, INT64_MAX);
        ADD(&f, "B", 1, 2);
        add_constraint(&f, constraints[i]);
        int built = space_build(f.space, NULL, &err);
        if (!built) fail_msg("%s: %d configurations", constraints[i], (int)space_size(f.space));
        assert_contains(err.message, "overflow", "A=9223372036854775807,B=1");
    }
}

TEST(bad_parameters_and_names_are_refused)
{
    struct fixture f = open_space();
    int64_t twice[] = {1, 2, 1};
    int64_t texts[] = {symbols_intern(f.symbols, "shuffle"), symbols_intern(f.symbols, "shuffle")};
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
    assert_string_equal(err.message, "the name 'elsewhere' has no value yet: 'A < elsewhere'");
}

// "P=1,Q=1,Q=2" would be two configurations. A comma without such a continuation is allowed.
TEST(values_that_read_like_another_parameter_are_refused)
{
    static const struct {
        const char *value;
        bool refused;
    } table[] = {{"1,Q=1", true}, {"1,Q=", true},  {"a,b=c", true}, {"a, Q=1", false}, {"1,2", false},
                 {"Q=1", false},  {"a,=b", false}, {",", false},    {"=", false},      {"", false}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct fixture f = open_space();
        int64_t values[] = {symbols_intern(f.symbols, "1"), symbols_intern(f.symbols, table[i].value)};
        int failed = space_add_parameter(f.space, "P", PARAMETER_STRING, values, 2, &err);
        if (!failed == table[i].refused) fail_msg("'%s': %d", table[i].value, failed);
        if (table[i].refused) assert_non_null(strstr(err.message, "would look like another parameter"));
        if (!failed) {
            ADD(&f, "Q", 1, 2);
            build(&f);
            for (uint64_t k = 0; k < space_size(f.space); k++) {
                uint16_t config[2], back[2];
                space_get(f.space, k, config);
                assert_int_equal(space_parse(f.space, test_owned(space_text(f.space, config)), back, &err), 0);
                assert_memory_equal(config, back, sizeof config);
            }
        }
    }
}

// Two values that differ after their 3,000th character.
TEST(long_values_keep_their_ends)
{
    struct fixture f = open_space();
    char text[2][3002];
    int64_t values[2];
    for (int i = 0; i < 2; i++) {
        memset(text[i], 'x', 3000);
        text[i][3000] = (char)('1' + i);
        text[i][3001] = 0;
        values[i] = symbols_intern(f.symbols, text[i]);
    }
    assert_int_equal(space_add_parameter(f.space, "P", PARAMETER_STRING, values, 2, &err), 0);
    build(&f);
    for (uint16_t i = 0; i < 2; i++) {
        uint16_t config[1] = {i}, back[1];
        char *whole = test_owned(space_text(f.space, config));
        assert_string_equal(whole + 2, text[i]);
        assert_int_equal(space_parse(f.space, whole, back, &err), 0);
        assert_int_equal(back[0], i);
    }
}

// A sum in which `term` occurs `count` times.
static char *sum_of(const char *term, size_t count)
{
    size_t length = strlen(term) + 3;
    char *text = memory_new(count * length + 16, 1), *at = text;
    for (size_t i = 0; i < count; i++) at += sprintf(at, "%s%s", i ? " + " : "", term);
    return text;
}

// The time would explode if each sum were copied for each of its terms, or if each derived name were evaluated wherever
// it is used.
TEST(long_sums_and_names_of_names_take_no_time)
{
    struct fixture f = open_space();
    char name[2][8] = {"D0"}, text[32];
    ADD(&f, "A", 1, 2, 3);
    ADD(&f, "B", 1, 2);
    autofree char *sum = sum_of("A", 8000), *whole = memory_new(strlen(sum) + 32, 1);
    sprintf(whole, "%s + 8000 * B <= 32000", sum); // A + B <= 4
    add_constraint(&f, whole);
    assert_int_equal(space_add_derived(f.space, "D0", "A", NULL), 0);
    for (int i = 1; i <= 40; i++) {
        sprintf(name[i % 2], "D%d", i);
        sprintf(text, "%s + %s", name[(i + 1) % 2], name[(i + 1) % 2]);
        assert_int_equal(space_add_derived(f.space, name[i % 2], text, NULL), 0);
    }
    add_constraint(&f, "D40 >= 2 * 1099511627776"); // A >= 2
    clock_t before = clock();
    build(&f);
    assert_true((double)(clock() - before) / CLOCKS_PER_SEC < 3);
    assert_int_equal(space_size(f.space), 3);
}

TEST(a_space_of_one_is_a_space)
{
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
    assert_int_equal(space_neighbours(f.space, config, out, 4), 0);
    config[1] = 0;
    struct random r;
    random_seed(&r, 1);
    assert_int_equal(space_repair(f.space, &r, config), 1);
    assert_int_equal(config[1], 1);

    f = open_space();
    ADD(&f, "A", 7);
    build(&f);
    assert_int_equal(space_size(f.space), 1);
}

TEST(configurations_have_a_text_that_reads_back)
{
    struct fixture f = open_space();
    int64_t texts[] = {symbols_intern(f.symbols, "shuffle"), symbols_intern(f.symbols, "a,b"),
                       symbols_intern(f.symbols, "a")};
    ADD(&f, "BLOCK", 64, 128, -3);
    assert_int_equal(space_add_parameter(f.space, "MODE", PARAMETER_STRING, texts, 3, &err), 0);
    build(&f);
    for (uint64_t i = 0; i < space_size(f.space); i++) {
        uint16_t config[2], back[2];
        space_get(f.space, i, config);
        char *text = test_owned(space_text(f.space, config));
        assert_int_equal(space_parse(f.space, text, back, &err), 0);
        assert_memory_equal(config, back, sizeof config);
    }
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"BLOCK=64", "parameter 'MODE' is missing"},
        {"BLOCK=65,MODE=a", "parameter 'BLOCK' has no value '65'"},
        {"BLOCK=64,BLOCK=64", "parameter 'BLOCK' is given twice"},
        {"BLOK=64", "unknown parameter 'BLOK'"},
        {"BLOCK=64,", "parameter 'BLOCK' has no value '64,'"},
        {"BLOCK=64,=a", "parameter 'BLOCK' has no value '64,=a'"},
        {"BLOCK", "expected NAME=VALUE at 'BLOCK'"},
        {"BLOCK=640", "parameter 'BLOCK' has no value '640'"},
    };
    uint16_t config[2];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(space_parse(f.space, bad[i].text, config, &err), -1);
        assert_string_equal(err.message, bad[i].message);
    }
    assert_int_equal(space_parse(f.space, "MODE=shuffle,BLOCK=-3", config, &err), 0);
    assert_int_equal(config[0], 2);
}

TEST(values_include_constants_and_derived_names)
{
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
    // A constant may change; the space is then built again.
    assert_int_equal(space_set_constant(f.space, "M", 200, NULL), 0);
    build(&f);
    assert_int_equal(space_size(f.space), 2);
}

TEST(a_list_of_configurations_is_a_space)
{
    struct random r;
    random_seed(&r, 3);
    for (int round = 0; round < 200; round++) {
        struct fixture f = open_space();
        ADD(&f, "A", 1, 2, 3, 4);
        ADD(&f, "B", 1);
        ADD(&f, "C", 1, 2, 3);
        ADD(&f, "D", 1, 2, 3, 4, 5);
        uint16_t list[60 * 4], config[4] = {0};
        bool listed[60] = {false};
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
        assert_int_equal(space_build_from_list(f.space, list, count, &err), 0);
        assert_int_equal(space_size(f.space), count);
        n = 0;
        memset(config, 0, sizeof config);
        do assert_int_equal(space_is_valid(f.space, config), listed[n++]);
        while (next_config(f.space, config));
        if (count > 1) {
            memcpy(list, list + 4 * (count - 1), sizeof config);
            assert_int_equal(space_build_from_list(f.space, list, count, &err), -1);
            assert_contains(err.message, "is listed twice");
        }
        assert_int_equal(space_build_from_list(f.space, list, 0, &err), -1);
    }
}

TEST(a_space_that_cannot_be_indexed_is_refused)
{
    // A random-looking function of 20 parameters: no two prefixes are equivalent.
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
    assert_int_equal(space_build(f.space, NULL, &err), -1);
    assert_contains(err.message, "cannot be indexed");
}

// The sums of two squares fit into an index, but trying each with every value would take an hour.
TEST(a_space_that_takes_too_long_to_index_is_refused_at_once)
{
    struct fixture f = open_space();
    static int64_t values[60000];
    for (size_t i = 0; i < 60000; i++) values[i] = (int64_t)i + 1;
    add_values(&f, "A", 1500, values);
    add_values(&f, "B", 1500, values);
    add_values(&f, "C", 60000, values);
    add_constraint(&f, "A * A + 7 * B * B == C * C");
    assert_int_equal(space_build(f.space, NULL, &err), -1);
    assert_contains(err.message, "cannot be indexed");
}

TEST_MAIN(NULL, NULL)
