// The report's document, from stores made here: runs, steps, parameters, failures and finals. Some stores contain next
// to nothing.
#include <unistd.h>

#include <math.h>
#include <sqlite3.h>

#include "tests/stored_text.h"
#include "tests/testing.h"
#include "tuner/base/text.h"
#include "tuner/report/report.h"
#include "tuner/report/report_page.h"
#include "tuner/trial/trial_field.h"

static char path[64];
static struct store *store;
static struct error err;

static void use(const char *device)
{
    char key[HASH_TEXT_SIZE], *settings = test_text("version 1\ndevice %s\n", device);
    environment_key(settings, key);
    const struct environment e = {key, "job", "source", "nvrtc", device, "sm_90a", "1.0", settings};
    assert_int_equal(store_use_environment(store, &e, &err), 0);
}

static void open_empty(void)
{
    snprintf(path, sizeof path, "out/test/report.%ld.db", (long)getpid());
    assert_int_equal(system(test_text("mkdir -p out/test && rm -f %s*", path)), 0);
    assert_int_equal(store_open(&store, path, true, &err), 0);
}

// Opens a store without trials, for device A.
static void setup(void)
{
    open_empty();
    use("A");
}

static void teardown(void)
{
    store_close(store);
    store = NULL;
    assert_int_equal(system(test_text("rm -f %s*", path)), 0);
}

static int64_t add(const char *config, enum trial_status status, const char *reason, double objective, double finished)
{
    struct trial trial;
    struct trial_problem problem;
    trial_clear(FIELD_TRIAL, &trial);
    trial_clear(FIELD_PROBLEM, &problem);
    problem.name = "N=1";
    problem.tuned = true;
    problem.time = objective;
    trial.config = config;
    trial.status = status;
    trial.reason = reason;
    trial.objective = objective;
    trial.finished = finished;
    trial.problems = &problem;
    trial.problem_count = status == STATUS_OK || status == STATUS_SLOW;
    if (store_add(store, &trial, &err)) fail_msg("%s", err.message);
    return trial.id;
}

// Stores a document and sets its date to `when`.
static void put(const char *kind, double when, const char *json)
{
    sqlite3 *db;
    assert_int_equal(put_text(store, 0, kind, json, &err), 0);
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    char *change = test_text("UPDATE documents SET written = %f WHERE id = (SELECT max(id) FROM documents)", when);
    assert_int_equal(sqlite3_exec(db, change, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

#define REPORT_TEST(name) TEST_WITH(name, setup, teardown)

static json_t *report_of(size_t points)
{
    const struct report_source source = {.store_path = path, .store = store, .space = NAN, .points = points};
    json_t *job = report_job(&source);
    assert_non_null(job);
    return test_json(job);
}

static const json_t *at(const json_t *value, const char *keys)
{
    char *copy = test_owned(text_copy(keys)), *rest;
    for (char *key = strtok_r(copy, ".", &rest); key; key = strtok_r(NULL, ".", &rest)) {
        value = json_is_array(value) ? json_array_get(value, (size_t)atoi(key)) : json_object_get(value, key);
        if (!value) fail_msg("there is no %s (%s)", key, keys);
    }
    return value;
}

static double number(const json_t *value, const char *keys)
{
    const json_t *found = at(value, keys);
    return json_is_number(found) ? json_number_value(found) : (double)NAN;
}

static void expect_number(const json_t *value, const char *keys, double expected)
{
    double found = number(value, keys);
    if (!(fabs(found - expected) <= 1e-9 * fabs(expected) + 1e-12)) fail_msg("%s: %g, not %g", keys, found, expected);
}

static void expect_word(const json_t *value, const char *keys, const char *expected)
{
    const json_t *found = at(value, keys);
    assert_true(json_is_string(found));
    assert_string_equal(json_string_value(found), expected);
}

REPORT_TEST(seconds_of_search_leave_out_the_days_between_runs)
{
    put("device", 1000, "{}");
    add("X=1", STATUS_OK, "", 4, 1010);
    add("X=2", STATUS_OK, "", 3, 1100);
    put("run", 1200, "{\"started\":999,\"ended\":1200,\"search_seconds\":200,\"new\":2,\"strategy\":\"s\",\"seed\":7}");
    put("device", 90000, "{}"); // killed, so without a document about its end
    add("X=3", STATUS_OK, "", 2, 90010);
    add("X=4", STATUS_OK, "", 1.5, 95000);
    const json_t *r = at(report_of(100), "results.0");
    static const double steps[][4] = {
        {10, 1, 4, 1}, {100, 2, 3, 2}, {210, 3, 2, 3}, {5200, 4, 1.5, 4}, {5200, 4, 1.5, 4}};
    expect_number(r, "seconds", 5200);
    assert_int_equal(json_array_size(at(r, "progress.rows")), 5);
    for (size_t i = 0; i < 5; i++)
        for (size_t k = 0; k < 4; k++) {
            expect_number(r, test_text("progress.rows.%zu.%zu", i, k), steps[i][k]);
        }
    expect_word(r, "runs.0.strategy", "s");
    expect_number(r, "runs.0.seed", 7);
    assert_true(json_is_null(at(r, "runs.1.strategy")));
    expect_number(r, "runs.1.at", 200);
    expect_number(r, "runs.1.evaluations_before", 2);
    expect_number(r, "runs.1.ended", 95000);
}

REPORT_TEST(steps_of_the_best_are_never_thinned)
{
    enum { STEPS = 700, POINTS = 50 };
    for (int i = 0; i < STEPS; i++) add(test_text("X=%d", i), STATUS_OK, "", 1000.0 - i, 1e6 + i);
    json_t *job = report_of(POINTS), *again = report_of(POINTS);
    assert_int_equal(json_array_size(at(job, "results.0.progress.rows")), STEPS + 1);
    expect_number(job, "results.0.points.shown", POINTS);
    expect_number(job, "results.0.points.of", STEPS);
    assert_int_equal(json_array_size(at(job, "results.0.points.rows")), POINTS);
    expect_number(job, "results.0.points.rows.49.0", STEPS); // the fastest point is kept
    if (!json_equal(job, again)) fail_msg("the same store gives two reports");
}

static double draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 40) / (1 << 24);
}

// Without a correction, a parameter with fifty values would explain two fifths of the noise in 120 trials.
REPORT_TEST(many_values_alone_are_no_importance)
{
    uint64_t noise = 1;
    for (int i = 0; i < 120; i++)
        add(test_text("MANY=%d,OTHER=%d", i % 50, i), STATUS_OK, "", exp(draw(&noise)), 1e6 + i);
    double many = number(report_of(100), "results.0.parameters.0.importance");
    if (!(many < 0.25)) fail_msg("MANY: %g", many);
}

REPORT_TEST(importance_tells_what_matters)
{
    uint64_t noise = 1;
    for (int i = 0; i < 2000; i++) {
        char *config = test_text("STRONG=%d,WEAK=%d,NONE=%d", i % 4, i / 4 % 3, i / 12);
        add(config, STATUS_OK, "", exp(i % 4 + 0.5 * (i / 4 % 3) + draw(&noise)), 1e6 + i);
    }
    const json_t *r = at(report_of(100), "results.0");
    expect_word(r, "parameters.0.name", "STRONG");
    double strong = number(r, "parameters.0.importance"), weak = number(r, "parameters.1.importance"),
           none = number(r, "parameters.2.importance");
    if (!(strong > 0.75 && strong < 0.95)) fail_msg("STRONG: %g", strong);
    if (!(weak > 0.05 && weak < 0.25)) fail_msg("WEAK: %g", weak);
    if (!(none < 0.02)) fail_msg("NONE: %g", none);
}

REPORT_TEST(a_thousand_values_are_put_into_sixty_groups)
{
    for (int i = 0; i < 3000; i++)
        add(test_text("X=%d,Y=%d", (i * 7) % 1000 * 2, i / 1000), STATUS_OK, "", 1 + 0.001 * (i % 17), 1e6 + i);
    json_t *job = report_of(100);
    const json_t *x = at(job, "results.0.parameters.0");
    expect_number(x, "grouped", 1000);
    size_t groups = json_array_size(at(x, "values"));
    assert_true(groups <= 60 && groups >= 50);
    expect_word(x, "values.0", "0 to 32");
    double trials = 0;
    for (size_t i = 0; i < groups; i++)
        trials += json_number_value(json_object_get(json_array_get(at(x, "by_value"), i), "n"));
    assert_true(trials == 3000);
    assert_true(json_is_null(at(job, "results.0.parameters.1.grouped")));
    json_array_each(at(job, "results.0.points.values"), i, row)
        assert_true(json_integer_value(json_array_get(row, 0)) < (json_int_t)groups);
}

REPORT_TEST(values_are_in_the_order_of_their_numbers_and_words_come_last)
{
    static const char *const configs[] = {"X=128,M=b", "X=16,M=a", "X=-1,M=b,c", "X=auto,M=a", NULL};
    static const char *const expected[] = {"-1", "16", "128", "auto"};
    for (int i = 0; configs[i]; i++) add(configs[i], STATUS_OK, "", 1, 1e6 + i);
    json_t *job = report_of(100);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(json_string_value(json_array_get(at(job, "results.0.parameters.0.values"), i)),
                            expected[i]);
    assert_string_equal(json_string_value(json_array_get(at(job, "results.0.parameters.1.values"), 2)), "b,c");
}

REPORT_TEST(failures_are_counted_by_reason)
{
    char config[64], reason[64];
    for (int i = 0; i < 40; i++) {
        bool fails = i % 4 == 3;
        snprintf(config, sizeof config, "X=%d,Y=%d", i % 4, i / 4);
        snprintf(reason, sizeof reason, "y[%d] is %g, expected f32", i, i * 1.5);
        add(config, fails ? STATUS_WRONG : STATUS_OK, fails ? reason : "", fails ? (double)NAN : 1 + i, 1e6 + i);
    }
    add("X=0,Y=99", STATUS_CRASHED, "illegal address", NAN, 2e6);
    const json_t *f = at(report_of(100), "results.0.failures");
    assert_int_equal(json_array_size(f), 2);
    expect_word(f, "0.status", "wrong");
    expect_word(f, "0.reason", "y[#] is #, expected f32");
    expect_number(f, "0.count", 10);
    assert_int_equal(json_array_size(at(f, "0.trials")), 5);
    expect_word(f, "1.reason", "illegal address");
}

TEST_WITH(a_store_without_trials_has_no_result, open_empty, teardown)
{
    json_t *job = report_of(100);
    assert_int_equal(json_array_size(at(job, "results")), 0);
    assert_true(json_is_null(at(job, "error")));
    use("A");
    job = report_of(100);
    assert_int_equal(json_array_size(at(job, "results")), 0);
}

// Nothing was measured and nothing is known, but every member is present, and no number is invented.
REPORT_TEST(failures_alone_and_unknown_times_give_a_whole_result)
{
    static const char *const nulls[] = {"best", "winner", "ratio"};
    add("X=1", STATUS_WRONG, "", NAN, 1e6);
    add("X=2", STATUS_OK, "", NAN, NAN);
    add("X=3", STATUS_SLOW, "", INFINITY, 1e6);
    add("X=4", STATUS_OK, "", -1, 1e6);
    const json_t *r = at(report_of(100), "results.0");
    for (size_t i = 0; i < sizeof nulls / sizeof *nulls; i++)
        if (!json_is_null(at(r, nulls[i]))) fail_msg("%s is known", nulls[i]);
    expect_word(r, "verdict", "no final");
    expect_number(r, "evaluations", 4);
    expect_number(r, "points.of", 0);
    assert_true(json_is_null(at(r, "parameters.0.importance")));
    assert_int_equal(json_array_size(at(r, "progress.rows")), 0);
}

REPORT_TEST(one_configuration_is_enough)
{
    add("X=1", STATUS_OK, "", 2e-3, 1e6);
    const json_t *r = at(report_of(100), "results.0");
    expect_number(r, "best.time", 2e-3);
    expect_number(r, "parameters.0.by_value.0.median", 2e-3);
    expect_number(r, "trials.trial.0", 1);
    expect_number(r, "trials.values.0.0", 0);
}

REPORT_TEST(every_device_has_a_result_the_one_used_last_first)
{
    static const char *const devices[] = {"A", "B", "C"};
    for (int i = 0; i < 3; i++) {
        use(devices[i]);
        add("X=1", STATUS_OK, "", 1 + i, 1e6 + i);
    }
    use("B"); // again
    use("D"); // without a trial
    use("B");
    json_t *job = report_of(100);
    assert_int_equal(json_array_size(at(job, "results")), 3);
    expect_word(job, "results.0.device", "B");
    expect_word(job, "results.1.device", "C");
    assert_true(json_is_true(at(job, "results.0.current")));
    assert_true(json_is_false(at(job, "results.1.current")));
}

// A final of trial 1 (1 ms) against two libraries.
static void put_final(double slower, double faster, double spread)
{
    json_t *ours = json_array(), *one = json_array(), *other = json_array(), *third = json_array();
    for (int i = 0; i < 20; i++) {
        double wobble = 1 + spread * (i % 2 ? 1 : -1);
        json_array_append_new(ours, json_real(1e-3));
        json_array_append_new(third, json_real(1.5e-3));
        json_array_append_new(one, json_real(1e-3 * slower * wobble));
        json_array_append_new(other, json_real(1e-3 * faster * wobble));
    }
    json_t *final = test_json(json_pack(
        "{s:f, s:i, s:i, s:i, s:[], s:[{s:s,s:i,s:s,s:[{s:i,s:o}]}, {s:s,s:i,s:s,s:[{s:i,s:o}]}, "
        "{s:s,s:s,s:[{s:i,s:o}]}, {s:s,s:s,s:[{s:i,s:o}]}]}",
        "when", 5e6, "seed", 1, "rounds", 20, "winner", 1, "ties", "entries", "name", "candidate", "trial", 1, "status",
        "ok", "problems", "problem", 0, "times", ours, "name", "candidate", "trial", 2, "status", "ok", "problems",
        "problem", 0, "times", third, "name", "cublas", "status", "ok", "problems", "problem", 0, "times", one, "name",
        "cublasLt", "status", "ok", "problems", "problem", 0, "times", other));
    assert_non_null(final);
    put("final", 5e6, test_owned(json_dumps(final, 0)));
}

REPORT_TEST(the_verdict_is_about_the_faster_library)
{
    static const struct {
        double slower, faster, spread;
        const char *verdict;
    } cases[] = {
        {2, 1.5, 0.01, "faster"},      {1.5, 0.8, 0.01, "slower"}, {1.3, 1.005, 0.001, "tie"},
        {1.3, 1.01, 0.2, "undecided"}, {1.3, 1.0, 0.0001, "tie"},  {1.3, 1.012, 0.0001, "faster"},
    };
    add("X=1", STATUS_OK, "", 1e-3, 1e6);
    add("X=2", STATUS_OK, "", 1.5e-3, 1e6);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_final(cases[i].slower, cases[i].faster, cases[i].spread);
        json_t *job = report_of(100);
        const json_t *r = at(job, "results.0");
        const char *verdict = json_string_value(at(r, "verdict"));
        if (strcmp(verdict, cases[i].verdict)) fail_msg("case %zu: %s, not %s", i, verdict, cases[i].verdict);
        expect_word(r, "ratio.against", "cublasLt");
        expect_number(r, "winner.trial", 1);
        expect_number(r, "final.entries.1.ratio.value", 1.5); // candidates have ratios too
        expect_number(r, "final.entries.0.ratio.low", 1);
        assert_true(json_is_true(at(r, "final.entries.0.winner")));
        assert_true(json_is_false(at(r, "final.open")));
    }
    put("open_final", 6e6, "{\"when\":6e6,\"reason\":\"too wide\",\"entries\":[]}");
    json_t *job = report_of(100);
    assert_true(json_is_true(at(job, "results.0.final.open")));
}

REPORT_TEST(a_final_that_decided_nothing_is_undecided)
{
    add("X=1", STATUS_OK, "", 1e-3, 1e6);
    put("open_final", 6e6, "{\"when\":6e6,\"reason\":\"too wide\",\"entries\":[]}");
    json_t *job = report_of(100);
    expect_word(job, "results.0.verdict", "undecided");
    expect_word(job, "results.0.final.reason", "too wide");
}

REPORT_TEST(gates_are_those_of_the_environment_the_newest_first)
{
    add("X=1", STATUS_OK, "", 1e-3, 1e6);
    put("gate", 1000, "{\"base\":\"v1\",\"verdict\":\"slower\"}");
    put("gate", 2000, "{\"base\":\"v2\",\"verdict\":\"same\"}");
    use("B");
    add("X=1", STATUS_OK, "", 1e-3, 1e6);
    json_t *job = report_of(100);
    assert_int_equal(json_array_size(at(job, "results.0.gates")), 0);
    assert_int_equal(json_array_size(at(job, "results.1.gates")), 2);
    expect_word(job, "results.1.gates.0.base", "v2");
    expect_word(job, "results.1.gates.1.verdict", "slower");
}

REPORT_TEST(what_profile_stored_of_the_best_is_there)
{
    int64_t id = add("X=1", STATUS_OK, "", 1e-3, 1e6);
    assert_int_equal(put_text(store, id, "limits", "{\"limiter\":\"memory\"}", &err), 0);
    assert_int_equal(put_text(store, id, "findings", "[{\"rule\":\"x\"}]", &err), 0);
    json_t *job = report_of(100);
    expect_word(job, "results.0.limits.limiter", "memory");
    expect_word(job, "results.0.findings.0.rule", "x");
    expect_number(job, "results.0.profiled_trial", (double)id);
}

REPORT_TEST(counters_are_columns_with_units_and_gaps)
{
    add("X=1", STATUS_OK, "", 2e-3, 1e6);
    int64_t id = add("X=2", STATUS_OK, "", 1e-3, 1e6);
    const struct trial_counter counters[] = {{0, 0, "icache_misses", 17}, {0, 0, "of_the_job", NAN}};
    assert_int_equal(store_add_counters(store, id, counters, 2, &err), 0);
    const json_t *points = at(report_of(100), "results.0.points"), *columns = at(points, "columns");
    size_t found = SIZE_MAX;
    json_array_each(columns, i, name) {
        if (!strcmp(json_string_value(name), "icache_misses")) found = i;
        assert_string_not_equal(json_string_value(name), "of_the_job"); // no trial has a value
    }
    assert_true(found != SIZE_MAX);
    assert_int_equal(json_array_size(at(points, "units")), json_array_size(columns));
    assert_int_equal(json_array_size(at(points, "meanings")), json_array_size(columns));
    assert_int_equal(json_array_size(at(points, "rows.0")), json_array_size(columns));
    assert_true(json_is_null(json_array_get(at(points, "rows.0"), found)));
    assert_int_equal(json_integer_value(json_array_get(at(points, "rows.1"), found)), 17);
    assert_string_equal(json_string_value(json_array_get(at(points, "units"), found)), "requests");
}

REPORT_TEST(markup_in_names_does_not_end_the_script_of_the_page)
{
    json_t *report =
        test_json(json_pack("{s:[s, s, s]}", "jobs", "</script><script>alert(1)</script>", "<!--<script>", "a < b"));
    autofree char *plain = report_text(report, false), *safe = report_text(report, true);
    assert_contains(plain, "</script>");
    assert_null(strchr(safe, '<'));
    json_t *back = test_json(json_parse(safe, &err));
    assert_true(json_equal(back, report));
}

// All trials are listed, including failures. If there are more than fifty trials per point, only an evenly spread
// selection is listed. It includes the first trial and the last one.
REPORT_TEST(all_trials_are_in_columns)
{
    use("H200");
    for (int i = 0; i < 200; i++) {
        char *config = test_text("X=%d,Y=%d", i / 10, i % 10);
        add(config, i % 10 ? STATUS_OK : STATUS_WRONG, "", i % 10 ? 1e-3 * (i + 1) : NAN, 1e6 + i);
    }
    json_t *job = report_of(4);
    const json_t *trials = at(job, "results.0.trials");
    expect_number(trials, "of", 200);
    assert_int_equal(json_array_size(at(trials, "trial")), 200);
    expect_number(trials, "trial.7", 8);
    expect_number(trials, "time.7", 8e-3);
    expect_word(trials, "status.7", "ok");
    expect_number(trials, "values.0.17", 1);
    expect_number(trials, "values.1.17", 7);
    expect_word(trials, "status.10", "wrong");
    assert_true(json_is_null(at(trials, "time.10")));
    job = report_of(2);
    trials = at(job, "results.0.trials");
    assert_int_equal(json_array_size(at(trials, "trial")), 100);
    expect_number(trials, "of", 200);
    expect_number(trials, "trial.0", 1);
    expect_number(trials, "trial.99", 200);
}

TEST_MAIN(NULL, NULL)
