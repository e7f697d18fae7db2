// Interrupted runs and repeated runs: nothing is lost, and nothing is measured twice.
#include "tests/testing.h"
#include "tests/tuned_job.h"

// Runs `then` after a tuner has begun to measure; $first is the tuner's process.
#define WHILE_TUNING(folder, delay, then)                                         \
    e2e_run(folder,                                                               \
            "at=%s; export FAKE_LOG=$at/measured FAKE_DELAY=" delay "\n" SCRIPTED \
            "$BIN/sweetspot tune $at/job.cfg --store $at/job.db -q & first=$!\n"  \
            "until [ -s $FAKE_LOG ]; do sleep .05; done; " then,                  \
            folder)

TEST(a_second_tuner_is_refused_with_the_pid_of_the_first)
{
    char *folder = job_folder("second", "1, 2, 3, 4, 5, 6, 7, 8", "\"good\"");
    struct e2e_result r = WHILE_TUNING(folder, "500000",
                                       SCRIPTED "$BIN/sweetspot tune $at/job.cfg --store $at/job.db -q; status=$?\n"
                                                "kill -INT $first; wait $first; echo \"first $first second $status\"");
    int first = 0, second = 0;
    const char *line = strstr(r.out, "first ");
    assert_non_null(line);
    assert_int_equal(sscanf(line, "first %d second %d", &first, &second), 2);
    assert_int_equal(second, EXIT_ENVIRONMENT);
    assert_contains(r.err, test_text("%d", first));
}

TEST(ctrl_c_commits_the_trial_in_flight_and_says_how_to_resume)
{
    char *folder = job_folder("interrupt", "1, 2, 3, 4, 5, 6, 7, 8", "\"good\"");
    struct e2e_result r = WHILE_TUNING(folder, "300000", "kill -INT $first; wait $first; echo status $?");
    assert_contains(r.out, "status 130");
    assert_contains(r.err, test_text("To resume: sweetspot tune %s/job.cfg --store %s/job.db -q\n", folder, folder));
    int64_t stored = stored_count(folder, STATUS_OK);
    assert_true(stored >= 1 && stored < 8);
    assert_int_equal(lines_measured(folder), stored); // every trial that was begun was committed
}

TEST(a_second_ctrl_c_stops_at_once)
{
    char *folder = job_folder("interrupt2", "1, 2, 3", "\"good\"");
    set_timeout(folder, "600s");
    struct e2e_result r =
        WHILE_TUNING(folder, "200000000", "kill -INT $first; sleep 1; kill -INT $first; wait $first; echo status $?");
    assert_contains(r.out, "status 130");
    for (int status = 0; status < STATUS_COUNT; status++) // the tuner did not wait for the trial's end
        assert_int_equal(stored_count(folder, (enum trial_status)status), 0);
}

TEST(each_signal_that_interrupts_has_its_exit_status)
{
    static const struct {
        const char *name, *under;
        int status;
    } cases[] = {{"INT", "", 130}, {"TERM", "", 143}, {"HUP", "", 129}, {"HUP", "nohup ", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = job_folder("signals", "1, 2", "\"good\"");
        struct e2e_result r =
            e2e_run(folder,
                    "folder=$DIR; export FAKE_DELAY=700000\n" SCRIPTED
                    "%s$BIN/sweetspot tune $folder/job.cfg --store $folder/job.db -q & first=$!\n"
                    "until test -s $folder/job.log; do sleep 0.1; done; kill -%s $first; wait $first; exit $?",
                    cases[i].under, cases[i].name);
        if (r.status != cases[i].status)
            fail_msg("%s: status %d, expected %d: %s", cases[i].name, r.status, cases[i].status, r.err);
    }
}

TEST(a_second_run_measures_nothing_twice)
{
    char *folder = job_folder("twice", "1, 2, 3, 4, 5, 6, 7, 8", "\"good\", \"wrong\"");
    for (int i = 0; i < 3; i++) tune(folder, "", i ? "" : "-n 5");
    assert_int_equal(lines_measured(folder), 16);
}

TEST(a_changed_template_makes_new_trials_and_changing_it_back_finds_the_old_ones)
{
    char *folder = job_folder("changed", "1, 2, 3, 4", "\"good\"");
    const size_t expected[] = {4, 8, 8};
    static const char *const sources[] = {"// one\n", "// two\n", "// one\n"};
    for (int i = 0; i < 3; i++) {
        e2e_write(folder, "x.cu", sources[i]);
        tune(folder, "", "");
        assert_int_equal(lines_measured(folder), expected[i]);
    }
}

TEST(winners_under_an_older_source_are_measured_first_under_the_new_one)
{
    char *folder = job_folder("starts", "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12", "\"good\"");
    tune(folder, "", "--no-final");
    free(newly_measured(folder));
    e2e_write(folder, "x.cu", "// changed\n");
    tune(folder, "", "--no-final -n 3 -j 1"); // two compilers may finish in either order
    char *text = test_owned(newly_measured(folder));
    // The earlier best comes first, although the strategy would begin with X=1.
    if (strncmp(text, "X=7,MODE=good\n", 14) != 0 || strstr(text, "X=1,")) fail_msg("%s", text);
    // A job that has gained one parameter and lost another begins with the winner's values, and the first value of the
    // new parameter.
    e2e_pass(folder, "sed -i 's/{ name = \"MODE\"[^}]*},*/{ name = \"NEW\"; values = [5, 6]; }/' "
                     "$DIR/job.cfg; grep NEW $DIR/job.cfg");
    tune(folder, "", "--no-final -n 3 -j 1");
    text = test_owned(newly_measured(folder));
    if (strncmp(text, "X=7,NEW=5\n", 10)) fail_msg("%s", text);
}

TEST(winners_beyond_the_twenty_that_a_search_begins_with_are_mentioned)
{
    char *xs = numbers(25), *folder = job_folder("many_starts", xs, "\"good\"");
    tune(folder, "", "--no-final");
    e2e_write(folder, "x.cu", "// changed\n");
    tune(folder, "", "--no-final -n 3");
    char *log = test_owned(folder_file(folder, "job.log"));
    assert_contains(log, "the search begins with 20 winners of earlier jobs", "5 more winners were found and left out");
    free(xs);
}

TEST(all_trials_that_a_killed_run_left_uncounted_are_counted)
{
    enum { LEFT = 600 };
    char *xs = numbers(LEFT + 1), *folder = job_folder("uncounted", xs, "\"good\""),
         *path = test_text("%s/job.db", folder);
    struct store *store;
    struct environment e;
    struct error err;
    tune(folder, "", "--no-final -n 1");
    assert_int_equal(store_open(&store, path, true, &err), 0);
    assert_int_equal(store_last_environment(store, &e, &err), 0);
    assert_int_equal(store_use_environment(store, &e, &err), 0);
    for (int i = 1; i <= LEFT; i++) {
        char *config = test_text("X=%d,MODE=good", i);
        struct trial_problem problem = {.name = "N=1024", .tuned = true, .time = 1e-3 * i};
        struct trial t = {.config = config,
                          .status = STATUS_OK,
                          .reason = "",
                          .device_id = "",
                          .objective = 1e-3 * i,
                          .problem_count = 1,
                          .problems = &problem};
        assert_int_equal(store_add(store, &t, &err), 0);
    }
    store_close(store);
    tune(folder, "", "--no-final -n 1");
    store = opened_store("%s/job.db", folder);
    int64_t uncounted;
    free(store_uncounted(store, &uncounted, &err));
    assert_int_equal(uncounted, 0);
    store_close(store);
    free(xs);
}

TEST_MAIN(NULL, NULL)
