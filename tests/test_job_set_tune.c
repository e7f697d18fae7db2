// `sweetspot tune FOLDER`: several jobs within one budget.
#include "tests/sanitized.h"
#include "tests/scripted.h"
#include "tests/testing.h"

#include "tuner/base/json.h"

static void write_job(const char *folder, const char *file, const char *name, const char *more)
{
    SCRIPTED_JOB(folder, .file = file, .name = name, .more = more,
                 .parameters = "{ name = \"X\"; range = [0, 63]; }, { name = \"Y\"; range = [0, 63]; }");
}

static void write_suite(const char *folder)
{
    json_t *trials = json_array(), *values = json_array();
    for (int x = 0; x < 64; x++) json_array_append_new(values, json_integer(x));
    for (int x = 0; x < 64; x++)
        for (int y = 0; y < 64; y++)
            json_array_append_new(trials,
                                  json_pack("[i,i,s,f]", x, y, "ok",
                                            1e-3 * (1 + 0.01 * (x - 41) * (x - 41) + 0.01 * (y - 13) * (y - 13))));
    json_t *all = json_pack("{s:s, s:i, s:[{s:s, s:O}, {s:s, s:o}], s:[s,s,s,s], s:o, s:[{s:s, s:[{s:f}]}]}", "format",
                            "sweetspot-space", "version", 1, "parameters", "name", "X", "values", values, "name", "Y",
                            "values", values, "columns", "X", "Y", "status", "time", "trials", trials, "baselines",
                            "name", "cublas", "problems", "time", 2e-3);
    e2e_write_json(folder, "space.json", all);
    write_job(folder, "a.cfg", "a", "budget = { evaluations = 20; };");
    write_job(folder, "b.cfg", "b", "budget = { evaluations = 4096; };");
}

// The evaluations of a job in the summary; -1 if it is not there.
static int evaluations_of(const char *summary, const char *job)
{
    size_t length = strlen(job);
    for (const char *line = summary; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        int evaluations;
        if (!strncmp(line, job, length) && sscanf(line + length, " %d", &evaluations) == 1) return evaluations;
    }
    return -1;
}

TEST(a_folder_is_tuned_within_one_budget)
{
    char *folder = e2e_folder("suite");
    write_suite(folder);
    struct e2e_result r = e2e_passed(e2e_in(
        folder,
        "timeout 60 $BIN/sweetspot tune . --device replay:space.json --time 12s && ls out/a.db out/b.db && "
        "$BIN/sweetspot compare a.cfg >a.txt && $BIN/sweetspot compare b.cfg >b.txt && $BIN/sweetspot status a.cfg"));
    assert_contains(r.out, "ratio (not paired)");
    // The limit of job `a` applies even if time is left. The job reaches it early in its first slice of 3 s.
    assert_int_equal(evaluations_of(r.out, "a"), 20);
    assert_true(evaluations_of(r.out, "b") > 20);
    assert_contains(r.out, "20 evaluations");
    assert_contains(r.err, "-- a: ", "-- b: continues for ");
    assert_null(strstr(r.err, "-- a: continues for "));
    // A second run resumes with the stores.
    r = e2e_passed(
        e2e_in(folder, "timeout 60 $BIN/sweetspot tune . --device replay:space.json --time 1s --no-final --quiet"));
    assert_int_equal(evaluations_of(r.out, "a"), 20);
}

TEST(mistakes_are_found_before_anything_is_tuned)
{
    char *folder = e2e_folder("suite-bad");
    write_suite(folder);
    write_job(folder, "c.cfg", "b", "");
    struct e2e_result r =
        e2e_in(folder, "$BIN/sweetspot tune . --device replay:space.json --time 2s; s=$?; ls out 2>/dev/null; exit $s");
    assert_int_equal(r.status, 2);
    assert_contains(r.err, "c.cfg: the job has the same name as ./b.cfg, 'b'");
    assert_string_equal(r.out, "");
    write_job(folder, "c.cfg", "c", "budgt = 1;");
    r = e2e_ended(
        2, e2e_in(folder,
                  "$BIN/sweetspot tune . --device replay:space.json --time 2s; s=$?; ls out 2>/dev/null; exit $s"));
    assert_contains(r.err, "c.cfg:5: ");
    assert_string_equal(r.out, "");
    r = e2e_ended(2, e2e_in(folder, "mkdir none && $BIN/sweetspot tune none"));
    assert_contains(r.err, "there are no job files");
    r = e2e_ended(2, e2e_in(folder, "rm c.cfg && $BIN/sweetspot tune . --store x.db"));
    assert_contains(r.err, "--store works with one job only");
    r = e2e_in(folder, "$BIN/sweetspot tune . --device replay:none.json --time 2s");
    assert_true(r.status != 0);
    assert_contains(r.err, "-- a: ");
    assert_null(strstr(r.err, "-- b: ")); // a problem with the machine is reported once
    assert_contains(r.err, "2 jobs need at least 2 s each: give --time 4s or more, not 2 s");
}

TEST(several_files_are_tuned_and_begin_with_each_others_winners)
{
    char *folder = e2e_folder("suite-files");
    write_suite(folder);
    write_job(folder, "c.cfg", "c", "budget = { evaluations = 60; };");
    struct e2e_result r =
        e2e_passed(e2e_in(folder, "timeout 60 $BIN/sweetspot tune a.cfg c.cfg --device replay:space.json "
                                  "--time 4s --no-final && ls out && grep -h 'begins with' out/a.log out/c.log"));
    assert_contains(r.out, "a.db", "c.db");
    assert_null(strstr(r.out, "b.db"));
    assert_contains(r.out, "the search begins with 1 winner");
    assert_contains(r.err, "-- c: ");
    r = e2e_ended(
        2, e2e_in(folder, "timeout 60 $BIN/sweetspot tune a.cfg nothing.cfg --device replay:space.json --time 4s"));
    assert_contains(r.err, "nothing.cfg");
    r = e2e_ended(2, e2e_in(folder, "timeout 60 $BIN/sweetspot tune a.cfg . --device replay:space.json --time 4s"));
    assert_contains(r.err, "the job file is given twice");
}

// Each configuration of job `a` is faster than the one before; all configurations of job `b` are equally fast. Job `a`
// has so many configurations that, at 10 ms per trial, no machine can exhaust it. test_policy.c tests how the time is
// shared, in simulated time.
TEST(the_time_that_is_left_goes_to_the_job_that_gains_most)
{
    enum { SIDE = 6000 };
    char *folder = e2e_folder("suite-gain");
    json_t *trials = json_array(), *values = json_array();
    for (int i = 0; i < SIDE; i++) {
        json_array_append_new(values, json_integer(i));
        if (i) json_array_append_new(trials, json_pack("[i,i,s,f]", 0, i, "ok", 1e-3));
        json_array_append_new(trials, json_pack("[i,i,s,f]", i, 0, "ok", 1e-3 / (1 + 0.01 * i)));
    }
    json_t *all = json_pack("{s:s, s:i, s:[{s:s, s:O}, {s:s, s:o}], s:[s,s,s,s], s:o}", "format", "sweetspot-space",
                            "version", 1, "parameters", "name", "X", "values", values, "name", "Y", "values", values,
                            "columns", "X", "Y", "status", "time", "trials", trials);
    e2e_write_json(folder, "space.json", all);
    for (int i = 0; i < 2; i++)
        SCRIPTED_JOB(folder, .file = i ? "b.cfg" : "a.cfg", .name = i ? "b" : "a",
                     .parameters = test_text("{ name = \"X\"; range = [0, %d]; }, { name = \"Y\"; range = [0, %d]; }",
                                             i ? 0 : SIDE - 1, i ? SIDE - 1 : 0),
                     .more = "strategy = \"exhaustive\";");
    struct e2e_result r = e2e_passed(e2e_in(folder,
                                            "SWEETSPOT_REPLAY_DELAY=0.01 timeout 60 $BIN/sweetspot "
                                            "tune . --device replay:space.json --time %ds --no-final",
                                            SANITIZED ? 24 : 8));
    assert_contains(r.err, "-- a: continues for ");
    assert_null(strstr(r.err, "-- b: continues for "));
}

TEST(an_interrupted_folder_ends_with_130_and_its_summary)
{
    char *folder = e2e_folder("suite_interrupt");
    write_suite(folder);
    struct e2e_result r =
        e2e_run(folder, "cd $DIR; export SWEETSPOT_REPLAY_DELAY=0.05; $BIN/sweetspot tune . --device replay:space.json "
                        "--time 60s -q & first=$!\nuntil grep -q 'first result' out/a.log; do sleep 0.1; done "
                        "2>/dev/null; kill -INT $first; wait $first; exit $?");
    assert_int_equal(r.status, 130);
    assert_contains(r.err, "To resume: sweetspot tune . --device replay:space.json --time 60s -q\n");
    assert_true(evaluations_of(r.out, "a") >= 1);
}

TEST_MAIN(NULL, NULL)
