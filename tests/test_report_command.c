// `sweetspot report`: the results that it finds, its output, and its refusals.
#include "tests/e2e.h"
#include "tests/testing.h"

#include <sqlite3.h>

#include "tuner/base/gzip.h"

static char *folder;

// A job with results in its folder, and a stand-in for the charting library whose script contains "</script>".
static void setup(void)
{
    folder = e2e_folder("report");

    e2e_pass(folder, "cp tests/golden/job.cfg tests/golden/kernel.cu tests/golden/space.json $DIR && cd $DIR && "
                     "mkdir charts && echo 'var a = \"</script>\";' >charts/libraries.js && echo 'Apache <License>, "
                     "a notice' >charts/LICENSES && $BIN/sweetspot tune job.cfg --device replay:space.json --quiet");
}

static void teardown(void)
{
}

// Runs a command line in the test's folder; $S is the program.
#define RUN(format, ...)                                                                                     \
    e2e_run(folder, "cd '%s' && S=$BIN/sweetspot && export SWEETSPOT_CHARTS=$PWD/charts && " format, folder, \
            ##__VA_ARGS__)

static void expect(struct e2e_result *r, int status, const char *out, const char *err)
{
    if (r->status != status) fail_msg("status %d, not %d: %s%s", r->status, status, r->out, r->err);
    if (out) assert_contains(r->out, out);
    if (err) assert_contains(r->err, err);
}

static void change_store(const char *name, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open_v2(test_text("%s/%s", folder, name), &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

TEST_WITH(the_page_holds_the_document_and_all_that_it_needs, setup, teardown)
{
    struct e2e_result r = e2e_passed(RUN("$S report job.cfg -o page.html && cat page.html"));
    assert_contains(r.err, "wrote page.html");
    assert_null(strstr(r.out, "@DATA@"));
    assert_null(strstr(r.out, "@CHARTS"));
    assert_null(strstr(r.out, "@STYLE@"));
    assert_null(strstr(r.out, "@SCRIPT@"));
    assert_contains(r.out, "var a = \"<\\/script>\";", "Apache &lt;License&gt;");
    const char *data = strstr(r.out, "id=\"data\">\n");
    assert_non_null(data);
    data = strchr(data, '\n') + 1;
    char *end = strstr(data, "</script>");
    assert_non_null(end);
    *end = 0;
    struct error err;
    json_t *report = test_json(json_parse(data, &err));
    if (!report) fail_msg("%s", err.message);
    assert_string_equal(json_get_string(report, "format", ""), "sweetspot-report");
    r = RUN("{ $S report job.cfg -o -; echo $? >status; } | true; cat status"); // as for other commands
    expect(&r, 0, "141\n", NULL);
    assert_null(strstr(r.err, "cannot write"));
    r = RUN("$S report job.cfg && ls report.html && $S report job.cfg -o - | head -1"); // report.html by default
    expect(&r, 0, "report.html\n<!DOCTYPE html>\n", "wrote report.html");
}

TEST_WITH(stores_folders_and_nothing_at_all_are_taken, setup, teardown)
{
    static const char *const arguments[] = {"",        "out", "out/golden.db",
                                            "job.cfg", ".",   "job.cfg --store out/golden.db"};
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
        struct e2e_result r = RUN("$S report %s --format json", arguments[i]);
        assert_contains(r.out, "\"name\":\"golden\"");
        expect(&r, 0, "\"ratio\":{\"value\":1.148", NULL);
    }
    // A store knows its job file. Without the file, only the facts from the job are missing.
    struct e2e_result r = RUN("$S report out/golden.db --format json");
    assert_contains(r.out, "/job.cfg\"");
    expect(&r, 0, "\"space\":7", NULL);
    r = RUN(
        "cp out/golden.db alone.db && mv job.cfg moved.cfg && $S report alone.db --format json; mv moved.cfg job.cfg");
    assert_contains(r.out, "\"job_file\":null", "\"space\":null",
                    "{\"name\":\"X\",\"values\":[\"1\",\"2\",\"4\",\"8\"]");
    expect(&r, 0, "\"reproduce\":null", NULL);
    r = RUN("cp job.cfg other.cfg && sed -i 's/golden/other/' other.cfg && $S report . -f json");
    expect(&r, 0, "golden", "left out 1 job without results");
    r = RUN("$S report other.cfg -f json");
    expect(&r, 1, "there is no store", "none of these jobs has results yet");
    r = RUN("$S report other.cfg --store out/golden.db -f json");
    expect(&r, 1, "belongs to the job 'golden', not to 'other'", NULL);
    r = RUN("$S report out job.cfg --store x.db -f json");
    expect(&r, 2, NULL, "--store works with one job only");
    r = RUN("mkdir empty && $S report empty");
    expect(&r, 1, NULL, "there are no job files (*.cfg) and no stores (*.db) in 'empty'");
    r = RUN("cd empty && $S report");
    expect(&r, 1, NULL, "no folder 'out'");
}

TEST_WITH(what_cannot_be_read_is_said_and_the_others_go_on, setup, teardown)
{
    struct e2e_result r = RUN("head -c 20000 out/golden.db >cut.db; echo not a store >text.db; "
                              "echo 'name = 3;' >wrong.cfg; $S report cut.db job.cfg text.db wrong.cfg -f json");
    assert_contains(r.out, "\"ratio\":{\"value\":1.148", "the store 'cut.db' is damaged",
                    "'text.db' is not a sweetspot store", "wrong.cfg: ");
    assert_contains(r.err, "the store 'cut.db' is damaged");
    expect(&r, 1, NULL, NULL);
    r = RUN("$S report cut.db -f json; ln -s loop.db loop.db; $S report job.cfg -s loop.db -f json");
    assert_contains(r.err, "Too many levels of symbolic links");
    assert_null(strstr(r.err, "begin with: sweetspot tune")); // `tune` cannot use such stores
    // Pages in the middle of the file are overwritten.
    r = RUN("cp out/golden.db middle.db && for page in 3 4 5 6 7 8 9 10; do dd if=/dev/zero of=middle.db bs=4096 "
            "seek=$page count=1 conv=notrunc status=none; done; $S report middle.db job.cfg -f json");
    assert_contains(r.out, "\"verdict\":\"faster\"");
    expect(&r, 1, "the store 'middle.db' is damaged", "the store 'middle.db' is damaged");
}

TEST_WITH(nothing_is_written_where_it_may_not_be, setup, teardown)
{
    struct e2e_result r = RUN("$S report job.cfg -o missing/page.html");
    expect(&r, 3, NULL, "cannot write 'missing/page.html'");
    r = RUN("echo '<!DOCTYPE html>older text' >page.html && $S report job.cfg -o page.html -f json && ls | grep -c "
            "new-; cat page.html");
    assert_null(strstr(r.out, "older text"));
    expect(&r, 0, "golden", NULL);
    r = RUN("echo '<!DOCTYPE html>before' >kept.html; (ulimit -f 1; trap '' XFSZ; $S report job.cfg -o kept.html); "
            "echo status $?; "
            "cat kept.html; ls");
    assert_null(strstr(r.out, "new-"));
    assert_contains(r.out, "status 3\n<!DOCTYPE html>before\n");
}

TEST_WITH(without_the_charting_library_all_but_the_page_works, setup, teardown)
{
    struct e2e_result r = RUN("rm charts/LICENSES; $S report job.cfg; status=$?; ls report.html; exit $status");
    assert_null(strstr(r.out, "report.html"));
    assert_contains(r.err, "charts/LICENSES");
    expect(&r, 3, NULL, "`make` in the source tree fetches them with npm");
    r = RUN("$S report job.cfg -f json | grep -c golden");
    expect(&r, 0, NULL, NULL);
    r = RUN("$S report job.cfg -f csv"); // a format of earlier versions
    expect(&r, 2, NULL, "--format cannot be 'csv'; use one of page, json");
}

TEST_WITH(names_with_markup_stay_text, setup, teardown)
{
    change_store("out/golden.db", "UPDATE environments SET job = '</script><script>alert(1)</script>', "
                                  "device = '<!-- <b>'");
    struct e2e_result r = e2e_passed(RUN("$S report out/golden.db -o -"));
    assert_null(strstr(r.out, "</script><script>"));
    assert_null(strstr(r.out, "<!-- <b>"));
    assert_contains(r.out, "\\u003c/script>\\u003cscript>alert(1)\\u003c/script>");
}

// Earlier versions had this status. It is read as slow, without a time.
TEST_WITH(a_store_with_screened_trials_is_shown_exported_and_tuned_on, setup, teardown)
{
    change_store("out/golden.db", "UPDATE trials SET status = 'screened', objective = NULL WHERE id = 2; DELETE FROM "
                                  "trial_problems WHERE trial = 2;");
    struct e2e_result r = RUN("$S status job.cfg && $S compare job.cfg && $S report job.cfg -f json >/dev/null && $S "
                              "export job.cfg -o space2.json && $S tune job.cfg --device replay:space.json -q && $S "
                              "tune job.cfg --store again.db --device replay:space2.json -q");
    assert_contains(r.out, " 2 slow,");
    assert_contains(r.err, "0 new trials");
    expect(&r, 0, "winner: trial 4", "7 new trials");
}

TEST_WITH(three_devices_are_three_results, setup, teardown)
{
    change_store("out/golden.db",
                 "INSERT INTO environments SELECT id + 10, key || '1', job, source_hash, compiler, 'Second', arch, "
                 "driver, settings, used + 10 FROM environments; INSERT INTO environments SELECT id + 20, key || '2', "
                 "job, source_hash, compiler, 'Third', arch, driver, settings, used + 20 FROM environments WHERE id < "
                 "10; INSERT INTO trials (environment, config, status, reason, objective) SELECT e.id, "
                 "'X=1,MODE=plain', 'ok', '', 0.001 FROM environments e WHERE e.id > 10;");
    struct e2e_result r = RUN("$S report job.cfg -f json");
    assert_contains(r.out, "\"device\":\"Golden GPU\"", "\"device\":\"Second\"");
    expect(&r, 0, "\"device\":\"Third\"", NULL);
}

// Twenty configurations would take ten seconds, but the tuner is killed as soon as a page shows that it is running.
TEST_WITH(a_page_says_whether_a_tuner_is_at_work, setup, teardown)
{
    struct e2e_result r =
        RUN("sed 's/\\[1, 2, 4, 8\\]/[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]/; "
            "s/, { N = 1000; }//' job.cfg >long.cfg && sed -i 's/\"golden\"/\"long\"/' long.cfg && "
            "export SWEETSPOT_SANITIZER=none SWEETSPOT_GPU_WORKER=$BIN/fake_worker "
            "SWEETSPOT_COMPILE_WORKER=$BIN/fake_worker; FAKE_DELAY=500000 $S tune long.cfg -q --workers 1 & tuner=$!; "
            "for i in $(seq 400); do $S report long.cfg -o page.html 2>/dev/null; "
            "grep -qs '\"running\":true' page.html && echo followed && break; sleep 0.02; done; kill -9 $tuner; "
            "wait $tuner; $S report long.cfg -o page.html; grep -o '\"running\":[a-z]*' page.html");
    assert_contains(r.out, "followed\n");
    expect(&r, 0, "\"running\":false", NULL);
}

// The report also contains the remarks that `tune` makes about the space's values.
TEST_WITH(values_that_do_not_help_are_in_the_report, setup, teardown)
{
    static const char sentence[] = "no candidate within 5% of the best has ";
    struct e2e_result r = e2e_pass(folder, "$BIN/sweetspot tune configs/sgemm_2048.cfg --device "
                                           "replay:tests/spaces/sgemm_2048_h200.json.gz -n 80 --seed 3 --store "
                                           "$DIR/s.db 2>&1 && $BIN/sweetspot report configs/sgemm_2048.cfg --store "
                                           "$DIR/s.db --format json");
    const char *said = strstr(r.out, sentence);
    if (!said) fail_msg("%s", r.out);
    char *line = test_text("%.*s", (int)strcspn(said, "\n"), said);
    assert_contains(line, "UNROLL_K=4");
    assert_contains(strstr(said, "winner: "), test_text("\"idle\":\"%s\"", line), "\"edges\":null");
}

TEST_MAIN(NULL, NULL)
