// The path of a candidate's result: the workers' figures reach the store, and slow trials are reported to a strategy as
// slow, with their times.
#include "tests/scripted.h"

#include "tuner/base/json.h"
#include "tuner/recorded/recorded.h"

enum { SIDE = 40 };

static double time_of(int x, int y)
{
    return 1e-3 * (1 + 0.01 * (x - 31) * (x - 31) + 0.01 * (y - 6) * (y - 6));
}

// A space in which all configurations except (0, 0) have this status.
static void write_space(const char *folder, const char *status)
{
    json_t *trials = json_array(), *values = json_array();
    for (int i = 0; i < SIDE; i++) json_array_append_new(values, json_integer(i));
    for (int x = 0; x < SIDE; x++)
        for (int y = 0; y < SIDE; y++)
            json_array_append_new(trials, json_pack("[i,i,s,f]", x, y, x + y ? status : "ok", time_of(x, y)));
    json_t *all = json_pack("{s:s, s:i, s:[{s:s, s:O}, {s:s, s:o}], s:[s,s,s,s], s:o}", "format", "sweetspot-space",
                            "version", 1, "parameters", "name", "X", "values", values, "name", "Y", "values", values,
                            "columns", "X", "Y", "status", "time", "trials", trials);
    e2e_write_json(folder, "space.json", all);
}

static void write_job(const char *folder, const char *parameters, const char *strategy)
{
    char *more = test_text("strategy = \"%s\";", strategy);
    SCRIPTED_JOB(folder, .parameters = parameters, .block = "64", .shared = "16 * X", .more = more);
}

// Tunes, then exports the store. Release it with json_decref.
static json_t *tune(const char *folder, const char *options)
{
    struct e2e_result r = e2e_in(
        folder, "%s -q --no-final >tuned.txt; test $? -le 1 && $BIN/sweetspot export job.cfg --store job.db", options);
    struct error err;
    if (r.status) fail_msg("status %d: %s", r.status, r.err);
    json_t *root = json_parse(r.out, &err);
    if (!root) fail_msg("%s", err.message);
    return test_json(root);
}

static const json_t *cell(const json_t *root, const json_t *row, const char *name)
{
    const json_t *columns = json_object_get(root, "columns");
    for (size_t i = 0; i < json_array_size(columns); i++)
        if (!strcmp(json_string_value(json_array_get(columns, i)), name)) return json_array_get(row, i);
    fail_msg("no column %s", name);
    return NULL;
}

// Runs a local search of 100 evaluations. Returns how many of its configurations are among the fastest 5%.
static int good_ones(const char *status, int seed)
{
    char *folder = e2e_folder("told");
    write_space(folder, status);
    write_job(folder, "{ name = \"X\"; range = [0, 39]; }, { name = \"Y\"; range = [0, 39]; }", "local");
    autofree char *command =
        text_format("$BIN/sweetspot tune job.cfg --device replay:space.json --store job.db --seed %d -n 100", seed);
    json_t *root = tune(folder, command);
    size_t count = 0;
    int good = 0;
    json_array_each(json_object_get(root, "trials"), i, row) {
        int x = (int)json_integer_value(cell(root, row, "X")), y = (int)json_integer_value(cell(root, row, "Y"));
        good += (x - 31) * (x - 31) + (y - 6) * (y - 6) < 26; // 81 of 1,600
        count++;
        if (x + y) assert_string_equal(json_string_value(cell(root, row, "status")), status);
    }
    assert_int_equal(count, 100);
    return good;
}

TEST(a_search_follows_the_times_of_slow_trials_and_learns_no_place_from_failures)
{
    int slow = 0, wrong = 0;
    for (int seed = 1; seed <= 3; seed++) {
        slow += good_ones("slow", seed);
        wrong += good_ones("wrong", seed);
    }
    if (slow < 2 * wrong + 15) fail_msg("%d of 300 where trials are slow, %d where they are wrong", slow, wrong);
}

TEST(a_recorded_result_is_told_as_what_it_was)
{
    static const struct {
        const char *status;
        enum outcome outcome;
        bool timed;
    } cases[] = {
        {"slow", OUTCOME_SLOW, true},        {"pruned", OUTCOME_PRUNED, false},
        {"wrong", OUTCOME_INVALID, false},   {"compile_error", OUTCOME_INVALID, false},
        {"crashed", OUTCOME_INVALID, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = e2e_folder("recorded"), *path = test_text("%s/space.json", folder);
        struct error err = {""};
        write_space(folder, cases[i].status);
        struct recorded *r = recorded_read(path, &err);
        if (!r) fail_msg("%s", err.message);
        for (int x = 0; x < 2; x++) { // the ok one and another one
            uint16_t config[2] = {(uint16_t)x, 0};
            struct observation o = recorded_observation(r, (size_t)recorded_find(r, config));
            assert_int_equal(o.outcome, x ? cases[i].outcome : OUTCOME_OK);
            if (!x || cases[i].timed)
                assert_true(fabs(o.objective / time_of(x, 0) - 1) < 1e-9);
            else
                assert_true(isnan(o.objective));
        }
        recorded_free(r);
    }
}

// The scripted compiler reports 32 registers and 1000 + X bytes of code; the scripted GPU reports times that depend on
// X.
TEST(the_workers_figures_reach_the_store)
{
    char *folder = e2e_folder("figures");
    write_job(folder, "{ name = \"X\"; values = [2, 7, 11]; }, { name = \"MODE\"; values = [\"good\", \"slow\"]; }",
              "exhaustive");
    json_t *root = tune(folder, "export " SCRIPTED "; $BIN/sweetspot tune job.cfg --store job.db");
    assert_int_equal(json_array_size(json_object_get(root, "trials")), 6);
    json_array_each(json_object_get(root, "trials"), i, row) {
        int x = (int)json_integer_value(cell(root, row, "X"));
        double time = 1e-3 * (1 + 0.01 * (x - 7) * (x - 7));
        const struct {
            const char *name;
            double expected;
        } figures[] = {
            {"code_bytes", 1000 + x},     {"registers", 32}, {"spill_bytes", 0},   {"shared_bytes", 16 * x},
            {"theoretical_occupancy", 1}, {"time", time},    {"low", 0.99 * time}, {"high", 1.01 * time},
            {"icache_misses", 100 + x},   {"occupancy", 50},
        };
        bool slow = !strcmp(json_string_value(cell(root, row, "MODE")), "slow");
        assert_string_equal(json_string_value(cell(root, row, "status")), slow ? "slow" : "ok");
        for (size_t k = 0; k < sizeof figures / sizeof *figures - (slow ? 2 : 0); k++) {
            const json_t *found = cell(root, row, figures[k].name);
            if (!json_is_number(found) ||
                fabs(json_number_value(found) - figures[k].expected) > 1e-6 * figures[k].expected)
                fail_msg("X=%d, %s: %g, expected %g", x, figures[k].name, json_number_value(found),
                         figures[k].expected);
        }
        assert_int_equal(json_array_size(cell(root, row, "samples")), 3);
    }
}

// An SM of an H200 has 228 KiB and room for 64 warps. It holds five blocks of two warps with 40 KiB static, 16 bytes
// dynamic and 1 KiB reserved shared memory each.
TEST(the_occupancy_counts_static_and_dynamic_shared_memory)
{
    char *folder = e2e_folder("static");
    write_job(folder, "{ name = \"X\"; values = [1]; }", "exhaustive");
    json_t *root = tune(folder, "sed -i 's/entry = \"x\"/entry = \"second\"/' job.cfg; export " SCRIPTED
                                "; $BIN/sweetspot tune job.cfg --store job.db");
    const json_t *row = json_array_get(json_object_get(root, "trials"), 0);
    assert_int_equal((int)json_number_value(cell(root, row, "shared_bytes")), 40960 + 16);
    assert_true(json_number_value(cell(root, row, "theoretical_occupancy")) == 10.0 / 64);
}

TEST_MAIN(NULL, NULL)
