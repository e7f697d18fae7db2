// The driver against a scripted worker (fake_worker.c) that crashes, hangs, answers late or sends invalid messages. The
// run completes, every candidate gets the right status and reason, and no bad candidate can win.
#include "tests/testing.h"

#include "tests/tuned_job.h"

static const struct {
    const char *mode;
    enum trial_status status;
    const char *reason; // part of it
} modes[] = {
    {"good", STATUS_OK, ""},
    {"abort", STATUS_CRASHED, "signal 6"},
    {"exit", STATUS_CRASHED, "ended with status 0"},
    {"hang", STATUS_TIMEOUT, "no answer within 2 s"},
    {"late", STATUS_TIMEOUT, "no answer within 2 s"},
    {"nonsense", STATUS_CRASHED, "not JSON"},
    {"other_word", STATUS_CRASHED, "excellent"},
    {"no_time", STATUS_CRASHED, "without a time"},
    {"says_crashed", STATUS_CRASHED, "ILLEGAL_ADDRESS"},
    {"wrong", STATUS_WRONG, "scripted"},
    {"out_of_bounds", STATUS_OUT_OF_BOUNDS, "scripted"},
    {"nondeterministic", STATUS_NONDETERMINISTIC, "scripted"},
    {"launch_error", STATUS_LAUNCH_ERROR, "scripted"},
    {"implausible", STATUS_IMPLAUSIBLE, "scripted"},
    {"slow", STATUS_SLOW, "scripted"},
    {"compile_error", STATUS_COMPILE_ERROR, "x.cu(3): error"},
    {"compile_timeout", STATUS_COMPILE_TIMEOUT, "deadline"},
    {"compile_crash", STATUS_COMPILE_ERROR, "signal 11"},
    {"compile_nonsense", STATUS_COMPILE_ERROR, "not a JSON object"},
    {"registers", STATUS_PRUNED, "255 registers"},
    {"registers_impossible", STATUS_COMPILE_ERROR, "'registers' of a stage is 9.22337e+18"},
    {"time_tiny", STATUS_CRASHED, "'time' of a problem is 4.94066e-324, outside 1e-07 to 1e+19"},
    {"time_zero", STATUS_CRASHED, "sends invalid messages: its answer to 'trial': 'time' of a problem is 0"},
    {"time_negative", STATUS_CRASHED, "'time' of a problem is -0.001, outside 1e-07 to 1e+19"},
    {"time_huge", STATUS_CRASHED, "'time' of a problem is 1e+308"},
    {"time_text", STATUS_CRASHED, "'time' of a problem is not a number"},
    {"error_negative", STATUS_CRASHED, "'error' of a problem is -1"},
    {"sample_zero", STATUS_CRASHED, "'samples' of a problem is 0"},
    {"count_real", STATUS_CRASHED, "'count' of a problem is not an integer"},
    {"problem_far", STATUS_CRASHED, "'problem' of a problem is 1e+06, outside 0 to 63"},
    {"problem_none", STATUS_CRASHED, "'problem' of a problem is missing"},
    {"energy_text", STATUS_CRASHED, "'energy' of a problem is not a number"},
};

TEST(every_misbehaviour_has_its_status_and_reason_and_cannot_win)
{
    char list[1024] = "";
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        sprintf(list + strlen(list), "%s\"%s\"", i ? ", " : "", modes[i].mode);
    // All modes have X=7 and would be equally fast, but only "good" may win.
    char *folder = job_folder("modes", "7", list);
    set_timeout(folder, "2s");
    assert_contains(tune_to(0, folder, "", "").out, "MODE=good");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        expect_stored(folder, test_text("X=7,MODE=%s", modes[i].mode), modes[i].status, modes[i].reason);
}

TEST(constraints_on_the_compilers_result_are_checked_before_the_gpu_gets_a_candidate)
{
    char *folder = job_folder("compiled", "5, 6, 7", "\"good\"");
    e2e_run(folder, "echo 'constraints = ( \"X > 4\", \"compiled.registers == 32\", \"compiled.code < 1007 || X == 9\" "
                    ");' >>$DIR/job.cfg");
    tune(folder, "", "");
    expect_stored(folder, "X=6,MODE=good", STATUS_OK, "");
    expect_stored(folder, "X=7,MODE=good", STATUS_PRUNED,
                  "violates the constraint \"compiled.code < 1007 || X == 9\": compiled.code = 1007");
    assert_int_equal(lines_measured(folder), 2);
    // Configurations that another constraint pruned count as untried once that constraint is gone.
    e2e_run(folder, "sed -i '/^constraints/d' $DIR/job.cfg");
    tune(folder, "", "");
    expect_stored(folder, "X=7,MODE=good", STATUS_OK, "");
}

TEST(a_constraint_that_fails_is_named_by_its_line_after_constraints_on_the_compilers_result)
{
    char *folder = job_folder("compiled_line", "0, 1", "\"good\"");
    struct e2e_result r = e2e_run(
        folder,
        "printf 'constraints = (\n\"compiled.spills == 0\",\n\"4 / X > 1\" );\n' >>$DIR/job.cfg; wc -l <$DIR/job.cfg");
    int line = atoi(r.out);
    assert_contains(tune_to(2, folder, "", "").err, test_text("job.cfg:%d: ", line), "division by zero");
    e2e_run(folder, "sed -i 's/\"512\"/\"compiled.spills\"/' $DIR/job.cfg");
    assert_contains(tune_to(2, folder, "", "").err, "unknown name 'compiled.spills'");
}

TEST(a_hanging_compiler_is_killed_and_replaced)
{
    char *folder = job_folder("compile_hang", "1, 2", "\"compile_hang\", \"good\"");
    tune(folder, "", "");
    expect_stored(folder, "X=1,MODE=compile_hang", STATUS_COMPILE_TIMEOUT, "");
    expect_stored(folder, "X=2,MODE=good", STATUS_OK, "");
}

TEST(counters_are_kept_for_all_but_the_candidate_that_kills_the_worker)
{
    char *folder = job_folder("counts", "1, 2, 3", "\"good\", \"count_crash\"");
    tune_to(0, folder, "", "--no-final");
    struct store *store = opened_store("%s/job.db", folder);
    struct error err;
    for (int x = 1; x <= 3; x++) {
        char *config = test_text("X=%d,MODE=good", x);
        struct trial t;
        assert_int_equal(store_find(store, config, &t, &err), 0);
        assert_true(t.counted);
        assert_int_equal(t.counter_count, 2);
        assert_true(t.counters[0].value == 100 + x);
        config = test_text("X=%d,MODE=count_crash", x);
        assert_int_equal(store_find(store, config, &t, &err), 0);
        assert_true(t.counted);
        assert_int_equal(t.counter_count, 0);
    }
    store_close(store);
}

TEST(a_finalist_that_is_wrong_on_fresh_data_does_not_win)
{
    char *folder = job_folder("final_wrong", "5, 7", "\"final_wrong\", \"good\""); // 6 would tie with 7
    assert_contains(tune_to(0, folder, "", "").out, "X=7,MODE=good", "x as fast as cublas");
}

TEST(a_finalist_that_is_implausibly_fast_is_out_and_the_next_takes_its_place)
{
    char *folder = job_folder("final_implausible", "5, 7", "\"final_implausible\", \"good\"");
    struct e2e_result r = tune_to(0, folder, "", "");
    assert_contains(r.out, "X=7,MODE=good");
    assert_contains(r.err, "is out of the final: implausible: scripted");
    expect_stored(folder, "X=7,MODE=final_implausible", STATUS_IMPLAUSIBLE, ""); // a verdict, which replaces its ok
}

// The scripted device does 6e13 operations a second, and every trial takes about a millisecond.
TEST(work_that_no_device_could_do_is_doubted_once_a_run_with_the_line)
{
    static const struct {
        const char *work, *part; // part: part of the warning; NULL: no warning
    } cases[] = {
        {"work = { flops = \"N*1000000000\"; };\n", "job.cfg:7: 'work' gives 1.024e+12 operations for problem N=1024"},
        {"work = { bytes = \"N*1000000000\"; };\n", "job.cfg:7: 'work' gives 1.024e+12 bytes for problem N=1024"},
        {"work = { flops = \"N*30000000\"; bytes = \"N*3900000\"; };\n", NULL}, // 3e13 and 4e12 a second
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = job_folder("work", "5, 6, 7", "\"good\""), *job = test_owned(folder_file(folder, "job.cfg")),
             *text = test_text("%s%s", job, cases[i].work);
        e2e_write(folder, "job.cfg", text);
        struct e2e_result r = tune_to(0, folder, "", "--no-final");
        const char *warning = strstr(r.err, "'work' gives");
        if (cases[i].part) assert_contains(r.err, cases[i].part);
        if (warning && (!cases[i].part || strstr(warning + 1, "'work' gives"))) fail_msg("case %zu: %s", i, r.err);
    }
}

// Trials take 2 s each, and the worker holds two requests until it is known that they are slow. Together they exceed
// the limit of three seconds for one trial.
TEST(a_deadline_runs_from_when_the_request_is_at_the_head)
{
    char *folder = job_folder("head", "1, 2, 3", "\"good\"");
    set_timeout(folder, "3s");
    tune(folder, "export FAKE_DELAY=2000000;", "--no-final");
    assert_int_equal(stored_count(folder, STATUS_OK), 3);
    assert_int_equal(stored_count(folder, STATUS_TIMEOUT), 0);
}

TEST(the_final_is_on_other_data_than_the_search)
{
    char *folder = job_folder("seeds", "6, 7", "\"good\"");
    tune(folder, "export FAKE_LOG_SEEDS=1;", "--seed 42");
    char *text = test_owned(newly_measured(folder));
    const char *job = strstr(text, "job seed "), *final = strstr(text, "final seed ");
    assert_true(job && final);
    assert_int_not_equal(strtoll(job + strlen("job seed "), NULL, 10),
                         strtoll(final + strlen("final seed "), NULL, 10));
}

TEST(a_final_that_kills_the_worker_is_reported_and_leaves_no_decided_winner)
{
    char *folder = job_folder("final_crash", "6, 7", "\"final_crash\", \"good\"");
    assert_contains(tune_to(EXIT_NOTHING, folder, "", "").err, "which starts again",
                    "ended 3 times during the final (see the log), so no winner is decided");
}

// The worker reports which candidate it runs next. A candidate that ends the worker is excluded, and another final
// decides between the other candidates.
TEST(a_candidate_that_ends_the_worker_in_the_final_is_out_and_the_others_race_again)
{
    char *folder =
        job_folder("final_names", "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12", "\"final_names_itself\", \"good\"");
    e2e_run(folder, "echo 'constraints = ( \"MODE == \\\"good\\\" ? X == 12 : X < 12\" );' >>$DIR/job.cfg");
    struct e2e_result r = e2e_pass(folder, SCRIPTED "$BIN/sweetspot tune $DIR/job.cfg --store $DIR/t.db -q 2>&1");
    assert_contains(r.out, "is out of the final: crashed", "winner: trial", ",MODE=good");
    r = e2e_run(folder, "$BIN/sweetspot status $DIR/job.cfg --store $DIR/t.db");
    assert_contains(r.out, "11 crashed"); // each has a verdict, which replaces its ok
}

TEST(nothing_valid_is_exit_status_1)
{
    char *folder = job_folder("nothing", "1, 2, 3", "\"wrong\", \"compile_error\"");
    assert_contains(tune_to(EXIT_NOTHING, folder, "", "").err, "no valid result: compile_error 3  wrong 3");
}

TEST(a_reference_that_takes_long_shows_how_far_it_is)
{
    char *folder = job_folder("reference", "1, 2, 3", "\"good\"");
    struct e2e_result r =
        e2e_pass(folder, SCRIPTED "FAKE_REFERENCE=1 $BIN/sweetspot tune $DIR/job.cfg --store $DIR/job.db");
    assert_contains(r.err, "the reference on the CPU, 25%", "the reference on the CPU, 75%");
    assert_contains(r.out, "X=3,MODE=good");
}

TEST(a_machine_that_cannot_is_exit_status_3_with_the_reason)
{
    char *folder = job_folder("environment", "1", "\"good\"");
    struct e2e_result r = tune_to(EXIT_ENVIRONMENT, folder, "FAKE_ENVIRONMENT='no CUDA driver: install it'", "");
    assert_contains(r.err, "no CUDA driver: install it");
}

TEST(without_counters_tuning_goes_on_with_one_warning)
{
    char *folder = job_folder("no_counters", "1, 2", "\"good\"");
    struct e2e_result r = tune_to(0, folder, "FAKE_NO_COUNTERS=1", "");
    const char *first = strstr(r.err, "warning: no hardware counters: ERR_NVGPUCTRPERM");
    assert_non_null(first);
    assert_null(strstr(first + strlen("warning: no hardware counters"), "no hardware counters"));
}

TEST(a_full_disk_or_an_unwritable_folder_is_a_clear_error)
{
    char *folder = job_folder("unwritable", "1, 2", "\"good\"");
    e2e_write(folder, "file", "not a folder\n");
    struct e2e_result r = e2e_run(folder, SWEETSPOT "tune $DIR/job.cfg --store $DIR/file/job.db -q");
    assert_int_equal(r.status, EXIT_ENVIRONMENT);
    assert_contains(r.err, "cannot");
    r = e2e_run(folder, SWEETSPOT "tune $DIR/job.cfg --store /proc/nothing/job.db -q");
    assert_int_equal(r.status, EXIT_ENVIRONMENT);
}

TEST(a_template_that_changes_ends_the_run_and_no_candidate_is_blamed)
{
    char *folder = job_folder("changes", "1, 2", "\"source_changed\"");
    struct e2e_result r = tune_to(EXIT_USAGE, folder, "", "");
    assert_contains(r.err, "x.cu' has changed during the run");
    for (int status = 0; status < STATUS_COUNT; status++)
        assert_int_equal(stored_count(folder, (enum trial_status)status), 0);
    r = e2e_run(folder, SWEETSPOT "profile $DIR/job.cfg --cache $DIR/cache --trial X=1,MODE=source_changed");
    assert_int_equal(r.status, EXIT_NOTHING);
    assert_contains(r.err, "x.cu' has changed during the run");
}

TEST(every_gpu_of_a_long_list_gets_its_worker)
{
    enum { GPUS = 40 };
    char *xs = numbers(200), *folder = job_folder("gpus", xs, "\"good\""), list[256] = "";
    for (int i = 0; i < GPUS; i++) sprintf(list + strlen(list), "%s%d", i ? "," : "", i);
    tune(folder, "FAKE_DELAY=50000 FAKE_LOG_DEVICES=1", test_text("--device %s --no-final", list));
    char *text = test_owned(newly_measured(folder));
    for (int i = 0; i < GPUS; i++) {
        char line[16];
        snprintf(line, sizeof line, "%d\n", i);
        if (count_lines(text, line) != 1) fail_msg("GPU %d has %zu workers", i, count_lines(text, line));
    }
    size_t measured = count_lines(text, "X="); // each GPU also measures the reference when it joins and at the end
    if (measured < 200 || measured > 200 + 2 * GPUS) fail_msg("%zu measured", measured);
    free(xs);
    static const char *const mistakes[] = {"0,", "0,x", "-1", "0 1", "99999999999999999999"};
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct e2e_result r =
            e2e_run(folder, SWEETSPOT "tune $DIR/job.cfg --store $DIR/job.db -q --device='%s'", mistakes[i]);
        assert_int_equal(r.status, EXIT_USAGE);
        assert_contains(r.err, "must be a number, a list such as 0,1");
    }
}

TEST(any_number_of_metrics_is_kept)
{
    enum { MORE = 500 };
    char *folder = job_folder("metrics", "1, 2", "\"good\"");
    tune(folder, "FAKE_METRICS=500", "--no-final");
    struct store *store = opened_store("%s/job.db", folder);
    struct error err;
    struct trial t;
    assert_int_equal(store_find(store, "X=1,MODE=good", &t, &err), 0);
    assert_int_equal(t.counter_count, 2 + MORE);
    size_t found = 0;
    for (size_t i = 0; i < t.counter_count; i++)
        found += !strcmp(t.counters[i].key, "metric_499") && t.counters[i].value == 499;
    assert_int_equal(found, 1);
    store_close(store);
}

// Thirty parameters with names of 120 characters precede X, so a truncated text would lose X and MODE.
TEST(configurations_of_any_length_are_whole_everywhere)
{
    char *folder = job_folder("long", "1, 3, 5, 7, 9", "\"good\", \"wrong\""); // 6 and 8 would tie with 7
    char word[121], *more = test_owned(text_copy(""));
    memset(word, 'a', 120);
    word[120] = 0;
    for (int i = 0; i < 30; i++) more = test_text("%s{ name = \"P%d\"; values = [\"%s\"]; }, ", more, i, word);
    char *job = test_owned(folder_file(folder, "job.cfg")), *at = strstr(job, "{ name = \"X\""),
         *text = test_text("%.*s%s%s", (int)(at - job), job, more, at);
    e2e_write(folder, "job.cfg", text);
    assert_contains(tune_to(0, folder, "", "").out, ",X=7,MODE=good\n");
    assert_int_equal(stored_count(folder, STATUS_OK), 5);
    assert_int_equal(stored_count(folder, STATUS_WRONG), 5);
    free(newly_measured(folder));
    e2e_write(folder, "x.cu", "// changed\n"); // the winner is measured first, so it was found again
    tune(folder, "", "--no-final -n 3 -j 1");
    char *first = test_owned(newly_measured(folder));
    assert_true(strlen(first) > 4000);
    *strchr(first, '\n') = 0;
    assert_string_equal(first + strlen(first) - strlen(",X=7,MODE=good"), ",X=7,MODE=good");
}

// A worker that answers other requests than trials with impossible results is killed, and its answer is discarded.
TEST(impossible_answers_to_other_requests_end_the_worker)
{
    static const struct {
        const char *spoil;
        int status;
        const char *says; // in the log, or on stderr if there is no log yet
    } cases[] = {
        {"hello {\"protocol\":7}", 3, "fake_worker: the worker uses version 7 of the protocol, this program"},
        {"hello {\"device\":{\"warp_size\":0}}", 3, "the GPU worker reports that its device's 'warp_size' is 0"},
        {"job {\"baselines\":[{\"name\":\"cublas\",\"problems\":[{\"problem\":0,\"time\":-1}]}]}", 3,
         "its answer to 'job': 'time' of a problem is -1"},
        {"compile {\"seconds\":-1}", 3, "its answer to 'compile': 'seconds' of the answer is -1"},
        {"compile {\"entries\":[7]}", 3, "its answer to 'compile': 'entries' of the answer is not an object"},
        {"ceilings {\"bytes_per_second\":-1}", 0, "its answer to 'ceilings': 'bytes_per_second' is -1"},
        {"ceilings {\"lasting\":{\"x\":{\"first\":1e308}}}", 0, "its answer to 'ceilings': 'first' is 1e+308"},
        {"count {\"wall\":-1}", 0, "its answer to 'count': 'wall' of the answer is -1"},
        {"count {\"trials\":[{\"trial\":99}]}", 0, "its answer to 'count': it reports on trial 99"},
        {"count {\"trials\":[{\"trial\":1,\"counters\":[{\"problem\":64,\"stage\":0,\"values\":[]}]}]}", 0,
         "its answer to 'count': 'problem' of a stage is 64, outside 0 to 63"},
        {"count {\"trials\":[{\"trial\":1,\"counters\":[{\"problem\":0,\"stage\":0,\"values\":[\"x\"]}]}]}", 0,
         "its answer to 'count': entry 0: 'values' of a stage is not a number"},
        {"final {\"entries\":7}", 1, "its answer to 'final': 'entries' of the answer is not a list"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = job_folder("invalid", "7", "\"good\""), *path = test_text("%s/job.log", folder),
             *before = test_text("export FAKE_SPOIL='%s';", cases[i].spoil);
        struct e2e_result r = tune_to(cases[i].status, folder, before, "");
        char *log = test_owned(text_read_file(path, NULL)), *all = test_text("%s%s", r.err, log ? log : "");
        assert_contains(all, cases[i].says);
    }
}

TEST_MAIN(NULL, NULL)
