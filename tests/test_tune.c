// The driver against a scripted worker (fake_worker.c) that crashes, hangs, answers late, answers nonsense: the run
// completes, every candidate has its right status and reason, and none of the bad ones can win.
#include "tests/e2e.h"
#include "tests/opened_store.h"
#include "tests/scripted.h"

#include <signal.h>
#include <time.h>

#include "tuner/base/json.h"
#include "tuner/base/protocol.h"
#include "tuner/store/store.h"

static void write_job(const char *folder, const char *xs, const char *modes, const char *block)
{
    char *parameters = text_format("{ name = \"X\"; values = [%s]; }, { name = \"MODE\"; values = [%s]; }", xs, modes);
    SCRIPTED_JOB(folder, .parameters = parameters, .block = block,
                 .more = "measure = { timeout = \"2s\"; final = { candidates = 3; rounds = 10; }; };\n"
                         "compile = { timeout = \"1s\"; }; search = { strategy = \"exhaustive\"; };");
    free(parameters);
}

#define SWEETSPOT SCRIPTED "$BIN/sweetspot "

static struct outcome_of_command run_tune(const char *folder, const char *before, const char *options)
{
    return e2e_run(folder, "export FAKE_LOG='%s/measured'; %s " SWEETSPOT "tune %s/job.cfg --store %s/job.db -q %s",
                   folder, before, folder, folder, options);
}

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

static void every_misbehaviour_has_its_status_and_reason_and_cannot_win(void **state)
{
    (void)state;
    char *folder = e2e_folder("modes"), list[1024] = "";
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        sprintf(list + strlen(list), "%s\"%s\"", i ? ", " : "", modes[i].mode);
    // X=7 would be the fastest, and all but "good" have it; "good" must win, whatever its X.
    write_job(folder, "7", list, "512");
    struct outcome_of_command r = run_tune(folder, "", "");
    if (r.status) fail_msg("status %d: %s", r.status, r.err);
    e2e_expect(r.out, "MODE=good");
    struct store *store = opened_store("%s/job.db", folder);
    struct error err;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        char *config = text_format("X=7,MODE=%s", modes[i].mode);
        struct trial t;
        if (store_find(store, config, &t, &err)) fail_msg("%s is not in the store", config);
        if (t.status != modes[i].status || !strstr(t.reason, modes[i].reason))
            fail_msg("%s is %s (%s), expected %s (%s)", config, status_name(t.status), t.reason,
                     status_name(modes[i].status), modes[i].reason);
        free(config);
    }
    store_close(store);
    e2e_done(&r);
    e2e_remove(folder);
}

static void a_hanging_compiler_is_killed_and_replaced(void **state)
{
    (void)state;
    char *folder = e2e_folder("compile_hang");
    write_job(folder, "1, 2", "\"compile_hang\", \"good\"", "32");
    time_t start = time(NULL);
    struct outcome_of_command r = run_tune(folder, "", "");
    assert_int_equal(r.status, 0);
    assert_true(time(NULL) - start < 40);
    struct store *store = opened_store("%s/job.db", folder);
    struct error err;
    struct trial t;
    assert_int_equal(store_find(store, "X=1,MODE=compile_hang", &t, &err), 0);
    assert_int_equal(t.status, STATUS_COMPILE_TIMEOUT);
    assert_int_equal(store_find(store, "X=2,MODE=good", &t, &err), 0);
    assert_int_equal(t.status, STATUS_OK);
    store_close(store);
    e2e_done(&r);
    e2e_remove(folder);
}

static void counters_are_kept_for_all_but_the_candidate_that_kills_the_worker(void **state)
{
    (void)state;
    char *folder = e2e_folder("counts");
    write_job(folder, "1, 2, 3", "\"good\", \"count_crash\"", "32");
    struct outcome_of_command r = run_tune(folder, "", "--no-final");
    if (r.status) fail_msg("status %d: %s", r.status, r.err);
    struct store *store = opened_store("%s/job.db", folder);
    struct error err;
    for (int x = 1; x <= 3; x++) {
        char *config = text_format("X=%d,MODE=good", x);
        struct trial t;
        assert_int_equal(store_find(store, config, &t, &err), 0);
        assert_true(t.counted);
        assert_int_equal(t.counter_count, 2);
        assert_true(t.counters[0].value == 100 + x);
        free(config);
        config = text_format("X=%d,MODE=count_crash", x);
        assert_int_equal(store_find(store, config, &t, &err), 0);
        assert_true(t.counted);
        assert_int_equal(t.counter_count, 0);
        free(config);
    }
    store_close(store);
    e2e_done(&r);
    e2e_remove(folder);
}

static void a_finalist_that_is_wrong_on_fresh_data_does_not_win(void **state)
{
    (void)state;
    char *folder = e2e_folder("final_wrong");
    write_job(folder, "5, 7", "\"final_wrong\", \"good\"", "32"); // 6 would be within the tie of 7
    struct outcome_of_command r = run_tune(folder, "", "");
    assert_int_equal(r.status, 0);
    e2e_expect(r.out, "X=7,MODE=good");
    e2e_expect(r.out, "times cublas");
    e2e_done(&r);
    e2e_remove(folder);
}

static void a_finalist_that_is_implausibly_fast_is_out_and_the_next_takes_its_place(void **state)
{
    (void)state;
    char *folder = e2e_folder("final_implausible");
    write_job(folder, "5, 7", "\"final_implausible\", \"good\"", "32");
    struct outcome_of_command r = run_tune(folder, "", "");
    assert_int_equal(r.status, 0);
    e2e_expect(r.out, "X=7,MODE=good");
    e2e_expect(r.err, "is out of the final: implausible: scripted");
    e2e_done(&r);
    struct store *store = opened_store("%s/job.db", folder);
    struct trial t;
    struct error err;
    assert_int_equal(store_find(store, "X=7,MODE=final_implausible", &t, &err), 0);
    assert_int_equal(t.status, STATUS_IMPLAUSIBLE); // a verdict, over its ok
    store_close(store);
    e2e_remove(folder);
}

// The scripted device does 6e13 operations a second, and every trial takes about a millisecond.
static void work_that_no_device_could_do_is_doubted_once_a_run_with_the_line(void **state)
{
    (void)state;
    static const struct {
        const char *work, *part; // part: of the warning; NULL: there is none
    } cases[] = {
        {"work = { flops = \"N*1000000000\"; };\n", "job.cfg:7: 'work' says 1.024e+12 operations of problem N=1024"},
        {"work = { bytes = \"N*1000000000\"; };\n", "job.cfg:7: 'work' says 1.024e+12 bytes of problem N=1024"},
        {"work = { flops = \"N*30000000\"; bytes = \"N*3900000\"; };\n", NULL}, // 3e13 and 4e12 a second
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = e2e_folder("work");
        write_job(folder, "5, 6, 7", "\"good\"", "32");
        char *path = text_format("%s/job.cfg", folder), *job = text_read_file(path, NULL),
             *text = text_format("%s%s", job, cases[i].work);
        e2e_write(folder, "job.cfg", text);
        struct outcome_of_command r = run_tune(folder, "", "--no-final");
        if (r.status) fail_msg("status %d: %s", r.status, r.err);
        const char *warning = strstr(r.err, "'work' says");
        if (cases[i].part) e2e_expect(r.err, cases[i].part);
        if (warning && (!cases[i].part || strstr(warning + 1, "'work' says"))) fail_msg("case %zu: %s", i, r.err);
        e2e_done(&r);
        free(path);
        free(job);
        free(text);
        e2e_remove(folder);
    }
}

// Trials of 1.2 s each, two at the worker while it is not known that they are slow: together they take longer than the
// two seconds that one may take.
static void a_deadline_runs_from_when_the_request_is_at_the_head(void **state)
{
    (void)state;
    char *folder = e2e_folder("head");
    write_job(folder, "1, 2, 3", "\"good\"", "32");
    struct outcome_of_command r = run_tune(folder, "export FAKE_DELAY=1200000;", "--no-final");
    if (r.status) fail_msg("status %d: %s", r.status, r.err);
    e2e_done(&r);
    struct store *store = opened_store("%s/job.db", folder);
    int64_t counts[STATUS_COUNT];
    struct error err;
    assert_int_equal(store_counts(store, counts, &err), 0);
    assert_int_equal(counts[STATUS_OK], 3);
    assert_int_equal(counts[STATUS_TIMEOUT], 0);
    store_close(store);
    e2e_remove(folder);
}

static void the_final_is_on_other_data_than_the_search(void **state)
{
    (void)state;
    char *folder = e2e_folder("seeds"), *path = text_format("%s/measured", folder);
    write_job(folder, "6, 7", "\"good\"", "32");
    struct outcome_of_command r = run_tune(folder, "export FAKE_LOG_SEEDS=1;", "--seed 42");
    if (r.status) fail_msg("status %d: %s", r.status, r.err);
    e2e_done(&r);
    char *text = text_read_file(path, NULL);
    assert_non_null(text);
    const char *job = strstr(text, "job seed "), *final = strstr(text, "final seed ");
    assert_true(job && final);
    assert_int_not_equal(strtoll(job + strlen("job seed "), NULL, 10),
                         strtoll(final + strlen("final seed "), NULL, 10));
    free(text);
    free(path);
    e2e_remove(folder);
}

static void a_final_that_kills_the_worker_is_reported_and_leaves_no_decided_winner(void **state)
{
    (void)state;
    char *folder = e2e_folder("final_crash");
    write_job(folder, "6, 7", "\"final_crash\", \"good\"", "32");
    struct outcome_of_command r = run_tune(folder, "", "");
    assert_int_equal(r.status, EXIT_NOTHING);
    e2e_expect(r.err, "no winner is decided");
    e2e_done(&r);
    e2e_remove(folder);
}

// The worker says whose turn it is: who takes it down is out, and another final decides between the others.
static void a_candidate_that_ends_the_worker_in_the_final_is_out_and_the_others_race_again(void **state)
{
    (void)state;
    char *folder = e2e_folder("final_names");
    write_job(folder, "6, 7", "\"final_names_itself\", \"good\"", "32");
    struct outcome_of_command r =
        e2e_run(folder, SCRIPTED "$BIN/sweetspot tune %s/job.cfg --store %s/t.db -q 2>&1", folder, folder);
    assert_int_equal(r.status, 0);
    e2e_expect(r.out, "is out of the final: crashed");
    e2e_expect(r.out, "winner: trial");
    e2e_expect(r.out, ",MODE=good");
    e2e_done(&r);
    r = e2e_run(folder, "$BIN/sweetspot status %s/job.cfg --store %s/t.db", folder, folder);
    e2e_expect(r.out, "2 crashed"); // both have their verdict, which replaces ok
    e2e_done(&r);
    e2e_remove(folder);
}

static void nothing_valid_is_exit_status_1(void **state)
{
    (void)state;
    char *folder = e2e_folder("nothing");
    write_job(folder, "1, 2, 3", "\"wrong\", \"compile_error\"", "32");
    struct outcome_of_command r = run_tune(folder, "", "");
    assert_int_equal(r.status, EXIT_NOTHING);
    e2e_expect(r.err, "no valid result: compile_error 3  wrong 3");
    e2e_done(&r);
    e2e_remove(folder);
}

static void a_second_run_measures_nothing_twice(void **state)
{
    (void)state;
    char *folder = e2e_folder("twice"), *measured = text_format("%s/measured", folder);
    write_job(folder, "1, 2, 3, 4, 5, 6, 7, 8", "\"good\", \"wrong\"", "32");
    for (int i = 0; i < 3; i++) {
        struct outcome_of_command r = run_tune(folder, "", i ? "" : "-n 5");
        if (r.status) fail_msg("status %d: %s", r.status, r.err);
        e2e_done(&r);
    }
    size_t lines = 0;
    char *text = text_read_file(measured, NULL);
    for (const char *p = text; *p; p++) lines += *p == '\n';
    assert_int_equal(lines, 16);
    free(text);
    free(measured);
    e2e_remove(folder);
}

static void a_changed_template_makes_new_trials_and_changing_it_back_finds_the_old_ones(void **state)
{
    (void)state;
    char *folder = e2e_folder("changed"), *measured = text_format("%s/measured", folder);
    const size_t expected[] = {4, 8, 8};
    static const char *const sources[] = {"// one\n", "// two\n", "// one\n"};
    write_job(folder, "1, 2, 3, 4", "\"good\"", "32");
    for (int i = 0; i < 3; i++) {
        e2e_write(folder, "x.cu", sources[i]);
        struct outcome_of_command r = run_tune(folder, "", "");
        assert_int_equal(r.status, 0);
        e2e_done(&r);
        size_t lines = 0;
        char *text = text_read_file(measured, NULL);
        for (const char *p = text; *p; p++) lines += *p == '\n';
        assert_int_equal(lines, expected[i]);
        free(text);
    }
    free(measured);
    e2e_remove(folder);
}

static void winners_under_an_older_source_are_measured_first_under_the_new_one(void **state)
{
    (void)state;
    char *folder = e2e_folder("starts"), *measured = text_format("%s/measured", folder);
    write_job(folder, "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12", "\"good\"", "32");
    struct outcome_of_command r = run_tune(folder, "", "--no-final");
    assert_int_equal(r.status, 0);
    e2e_done(&r);
    unlink(measured);
    e2e_write(folder, "x.cu", "// changed\n");
    r = run_tune(folder, "", "--no-final -n 3 -j 1"); // two compilers may be done in either order
    assert_int_equal(r.status, 0);
    e2e_done(&r);
    char *text = text_read_file(measured, NULL);
    assert_non_null(text);
    assert_int_equal(strncmp(text, "X=7,MODE=good\n", 14),
                     0); // the best of before, although the strategy would begin with X=1
    assert_null(strstr(text, "X=1,"));
    free(text);
    unlink(measured);
    // A job with one parameter more and one less: what it knows of the winner, and the first value of what is new.
    r = e2e_run(
        folder,
        "sed -i 's/{ name = \"MODE\"[^}]*},*/{ name = \"NEW\"; values = [5, 6]; }/' %s/job.cfg; grep NEW %s/job.cfg",
        folder, folder);
    assert_int_equal(r.status, 0);
    e2e_done(&r);
    r = run_tune(folder, "", "--no-final -n 3 -j 1");
    assert_int_equal(r.status, 0);
    e2e_done(&r);
    text = text_read_file(measured, NULL);
    assert_non_null(text);
    if (strncmp(text, "X=7,NEW=5\n", 10)) fail_msg("%s", text);
    free(text);
    free(measured);
    e2e_remove(folder);
}

static void a_reference_that_takes_long_shows_how_far_it_is(void **state)
{
    (void)state;
    char *folder = e2e_folder("reference");
    write_job(folder, "1, 2, 3", "\"good\"", "32");
    struct outcome_of_command r =
        e2e_run(folder, SCRIPTED "FAKE_REFERENCE=1 $BIN/sweetspot tune %s/job.cfg --store %s/job.db", folder, folder);
    assert_int_equal(r.status, 0);
    e2e_expect(r.err, "the reference on the CPU, 25%");
    e2e_expect(r.err, "the reference on the CPU, 75%");
    e2e_expect(r.out, "X=3,MODE=good");
    e2e_done(&r);
    e2e_remove(folder);
}

static void a_second_tuner_is_refused_with_the_pid_of_the_first(void **state)
{
    (void)state;
    char *folder = e2e_folder("second");
    write_job(folder, "1, 2, 3, 4, 5, 6, 7, 8", "\"good\"", "32");
    struct outcome_of_command r =
        e2e_run(folder,
                "export FAKE_DELAY=500000\n"
                "job=%s/job.cfg store=%s/job.db\n" SCRIPTED "$BIN/sweetspot tune $job --store $store -q & first=$!\n"
                "sleep 1.5\n" SCRIPTED "$BIN/sweetspot tune $job --store $store -q; status=$?\n"
                "kill -INT $first; wait $first; echo \"first $first second $status\"",
                folder, folder);
    int first = 0, second = 0;
    const char *line = strstr(r.out, "first ");
    assert_non_null(line);
    assert_int_equal(sscanf(line, "first %d second %d", &first, &second), 2);
    assert_int_equal(second, EXIT_ENVIRONMENT);
    char *pid = text_format("%d", first);
    e2e_expect(r.err, pid);
    free(pid);
    e2e_done(&r);
    e2e_remove(folder);
}

static void ctrl_c_commits_the_trial_in_flight_and_says_how_to_resume(void **state)
{
    (void)state;
    char *folder = e2e_folder("interrupt"), *measured = text_format("%s/measured", folder);
    write_job(folder, "1, 2, 3, 4, 5, 6, 7, 8", "\"good\"", "32");
    struct outcome_of_command r = e2e_run(folder,
                                          "export FAKE_DELAY=300000 FAKE_LOG=%s\n" SCRIPTED
                                          "$BIN/sweetspot tune %s/job.cfg --store %s/job.db -q & first=$!\n"
                                          "sleep 1; kill -INT $first; wait $first; echo status $?",
                                          measured, folder, folder);
    e2e_expect(r.out, "status 130");
    char *again = text_format("To resume: sweetspot tune %s/job.cfg --store %s/job.db -q\n", folder, folder);
    e2e_expect(r.err, again);
    free(again);
    e2e_done(&r);
    struct store *store = opened_store("%s/job.db", folder);
    int64_t counts[STATUS_COUNT];
    struct error err;
    assert_int_equal(store_counts(store, counts, &err), 0);
    store_close(store);
    size_t lines = 0;
    char *text = text_read_file(measured, NULL);
    for (const char *p = text; *p; p++) lines += *p == '\n';
    free(text);
    assert_true(counts[STATUS_OK] >= 1 && counts[STATUS_OK] < 8);
    assert_int_equal(lines, counts[STATUS_OK]); // whatever was begun was committed
    free(measured);
    e2e_remove(folder);
}

static void a_second_ctrl_c_stops_at_once(void **state)
{
    (void)state;
    char *folder = e2e_folder("interrupt2");
    write_job(folder, "1, 2, 3", "\"good\"", "32");
    time_t start = time(NULL);
    struct outcome_of_command r = e2e_run(
        folder,
        "sed -i 's/timeout = \"2s\"; final/timeout = \"60s\"; final/' %s/job.cfg; export FAKE_DELAY=20000000\n" SCRIPTED
        "$BIN/sweetspot tune %s/job.cfg --store %s/job.db -q & first=$!\n"
        "sleep 1; kill -INT $first; sleep 0.5; kill -INT $first; wait $first; echo status $?",
        folder, folder, folder);
    assert_true(time(NULL) - start < 10);
    e2e_expect(r.out, "status 130");
    e2e_done(&r);
    e2e_remove(folder);
}

static void each_signal_that_interrupts_has_its_exit_status(void **state)
{
    (void)state;
    static const struct {
        const char *name, *under;
        int status;
    } cases[] = {{"INT", "", 130}, {"TERM", "", 143}, {"HUP", "", 129}, {"HUP", "nohup ", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = e2e_folder("signals");
        write_job(folder, "1, 2", "\"good\"", "32");
        struct outcome_of_command r =
            e2e_run(folder,
                    "folder=%s; export FAKE_DELAY=700000\n" SCRIPTED
                    "%s$BIN/sweetspot tune $folder/job.cfg --store $folder/job.db -q & first=$!\n"
                    "until test -s $folder/job.log; do sleep 0.1; done; kill -%s $first; wait $first; exit $?",
                    folder, cases[i].under, cases[i].name);
        if (r.status != cases[i].status)
            fail_msg("%s: status %d, expected %d: %s", cases[i].name, r.status, cases[i].status, r.err);
        e2e_done(&r);
        e2e_remove(folder);
    }
}

static void a_machine_that_cannot_is_exit_status_3_with_the_reason(void **state)
{
    (void)state;
    char *folder = e2e_folder("environment");
    write_job(folder, "1", "\"good\"", "32");
    struct outcome_of_command r = run_tune(folder, "FAKE_ENVIRONMENT='no CUDA driver: install it'", "");
    assert_int_equal(r.status, EXIT_ENVIRONMENT);
    e2e_expect(r.err, "no CUDA driver: install it");
    e2e_done(&r);
    e2e_remove(folder);
}

static void without_counters_tuning_goes_on_with_one_warning(void **state)
{
    (void)state;
    char *folder = e2e_folder("no_counters");
    write_job(folder, "1, 2", "\"good\"", "32");
    struct outcome_of_command r = run_tune(folder, "FAKE_NO_COUNTERS=1", "");
    assert_int_equal(r.status, 0);
    const char *first = strstr(r.err, "warning: no hardware counters: ERR_NVGPUCTRPERM");
    assert_non_null(first);
    assert_null(strstr(first + strlen("warning: no hardware counters"), "no hardware counters"));
    e2e_done(&r);
    e2e_remove(folder);
}

static void a_full_disk_or_an_unwritable_folder_is_a_clear_error(void **state)
{
    (void)state;
    char *folder = e2e_folder("unwritable");
    write_job(folder, "1, 2", "\"good\"", "32");
    e2e_write(folder, "file", "not a folder\n");
    struct outcome_of_command r =
        e2e_run(folder, SWEETSPOT "tune %s/job.cfg --store %s/file/job.db -q", folder, folder);
    assert_int_equal(r.status, EXIT_ENVIRONMENT);
    e2e_expect(r.err, "cannot");
    e2e_done(&r);
    r = e2e_run(folder, SWEETSPOT "tune %s/job.cfg --store /proc/nothing/job.db -q", folder);
    assert_int_equal(r.status, EXIT_ENVIRONMENT);
    e2e_done(&r);
    e2e_remove(folder);
}

static void a_template_that_changes_ends_the_run_and_no_candidate_is_blamed(void **state)
{
    (void)state;
    char *folder = e2e_folder("changes");
    write_job(folder, "1, 2", "\"source_changed\"", "32");
    struct outcome_of_command r = run_tune(folder, "", "");
    assert_int_equal(r.status, EXIT_USAGE);
    e2e_expect(r.err, "x.cu' has changed meanwhile");
    e2e_done(&r);
    struct store *store = opened_store("%s/job.db", folder);
    int64_t counts[STATUS_COUNT];
    struct error err;
    assert_int_equal(store_counts(store, counts, &err), 0);
    for (int status = 0; status < STATUS_COUNT; status++) assert_int_equal(counts[status], 0);
    store_close(store);
    r = e2e_run(folder, SWEETSPOT "profile %s/job.cfg --cache %s/cache -t X=1,MODE=source_changed", folder, folder);
    assert_int_equal(r.status, EXIT_NOTHING);
    e2e_expect(r.err, "x.cu' has changed meanwhile");
    e2e_done(&r);
    e2e_remove(folder);
}

static size_t count_lines(const char *text, const char *beginning)
{
    size_t n = 0, length = strlen(beginning);
    for (const char *p = text; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
        n += !strncmp(p, beginning, length);
    return n;
}

static void every_gpu_of_a_long_list_gets_its_worker(void **state)
{
    (void)state;
    enum { GPUS = 40 };
    char *folder = e2e_folder("gpus"), list[256] = "", *xs = text_copy("0");
    for (int i = 0; i < GPUS; i++) sprintf(list + strlen(list), "%s%d", i ? "," : "", i);
    for (int i = 1; i < 200; i++) {
        char *longer = text_format("%s, %d", xs, i);
        free(xs);
        xs = longer;
    }
    write_job(folder, xs, "\"good\"", "32");
    char *options = text_format("--device %s --no-final", list);
    struct outcome_of_command r = run_tune(folder, "FAKE_DELAY=50000 FAKE_LOG_DEVICES=1", options);
    if (r.status) fail_msg("status %d: %s", r.status, r.err);
    e2e_done(&r);
    char *path = text_format("%s/measured", folder), *text = text_read_file(path, NULL);
    assert_non_null(text);
    for (int i = 0; i < GPUS; i++) {
        char line[16];
        snprintf(line, sizeof line, "%d\n", i);
        if (count_lines(text, line) != 1) fail_msg("GPU %d has %zu workers", i, count_lines(text, line));
    }
    size_t measured = count_lines(text, "X="); // and the reference, on each of them: when it joins, and at the end
    if (measured < 200 || measured > 200 + 2 * GPUS) fail_msg("%zu measured", measured);
    free(text);
    free(path);
    free(options);
    free(xs);
    static const char *const mistakes[] = {"0,", "0,x", "-1", "0 1", "99999999999999999999", "all"};
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        r = e2e_run(folder, SWEETSPOT "tune %s/job.cfg --store %s/job.db -q --device='%s'", folder, folder,
                    mistakes[i]);
        assert_int_equal(r.status, EXIT_USAGE);
        e2e_expect(r.err, "must be a number, a list such as 0,1");
        e2e_done(&r);
    }
    e2e_remove(folder);
}

static void any_number_of_metrics_is_kept(void **state)
{
    (void)state;
    enum { MORE = 500 };
    char *folder = e2e_folder("metrics");
    write_job(folder, "1, 2", "\"good\"", "32");
    struct outcome_of_command r = run_tune(folder, "FAKE_METRICS=500", "--no-final");
    if (r.status) fail_msg("status %d: %s", r.status, r.err);
    e2e_done(&r);
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
    e2e_remove(folder);
}

// Thirty parameters with names of 120 characters before X: what is cut at the end would be X and MODE.
static void configurations_of_any_length_are_whole_everywhere(void **state)
{
    (void)state;
    char *folder = e2e_folder("long"), *measured = text_format("%s/measured", folder), word[121], *more = text_copy("");
    memset(word, 'a', 120);
    word[120] = 0;
    for (int i = 0; i < 30; i++) {
        char *longer = text_format("%s{ name = \"P%d\"; values = [\"%s\"]; }, ", more, i, word);
        free(more);
        more = longer;
    }
    write_job(folder, "1, 3, 5, 7, 9", "\"good\", \"wrong\"", "32"); // 6 and 8 would be within the tie of 7
    char *path = text_format("%s/job.cfg", folder), *job = text_read_file(path, NULL),
         *at = strstr(job, "{ name = \"X\""), *text = text_format("%.*s%s%s", (int)(at - job), job, more, at);
    e2e_write(folder, "job.cfg", text);
    struct outcome_of_command r = run_tune(folder, "", "");
    if (r.status) fail_msg("status %d: %s", r.status, r.err);
    e2e_expect(r.out, ",X=7,MODE=good\n");
    e2e_done(&r);
    struct store *store = opened_store("%s/job.db", folder);
    int64_t counts[STATUS_COUNT];
    struct error err;
    assert_int_equal(store_counts(store, counts, &err), 0);
    assert_int_equal(counts[STATUS_OK], 5);
    assert_int_equal(counts[STATUS_WRONG], 5);
    store_close(store);
    unlink(measured);
    e2e_write(folder, "x.cu", "// changed\n"); // the winner is measured first, so it was found again
    r = run_tune(folder, "", "--no-final -n 3 -j 1");
    assert_int_equal(r.status, 0);
    e2e_done(&r);
    char *first = text_read_file(measured, NULL);
    assert_non_null(first);
    assert_true(strlen(first) > 4000);
    *strchr(first, '\n') = 0;
    assert_string_equal(first + strlen(first) - strlen(",X=7,MODE=good"), ",X=7,MODE=good");
    free(first);
    free(text);
    free(job);
    free(path);
    free(more);
    free(measured);
    e2e_remove(folder);
}

static void winners_beyond_the_twenty_that_a_search_begins_with_are_mentioned(void **state)
{
    (void)state;
    char *folder = e2e_folder("many_starts");
    write_job(folder, "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25",
              "\"good\"", "32");
    struct outcome_of_command r = run_tune(folder, "", "--no-final");
    assert_int_equal(r.status, 0);
    e2e_done(&r);
    e2e_write(folder, "x.cu", "// changed\n");
    r = run_tune(folder, "", "--no-final -n 3");
    assert_int_equal(r.status, 0);
    e2e_done(&r);
    char *path = text_format("%s/job.log", folder), *log = text_read_file(path, NULL);
    assert_non_null(log);
    e2e_expect(log, "the search begins with 20 winners of earlier jobs");
    e2e_expect(log, "5 more winners were found and left out");
    free(log);
    free(path);
    e2e_remove(folder);
}

static void all_trials_that_a_killed_run_left_uncounted_are_counted(void **state)
{
    (void)state;
    enum { LEFT = 600 };
    char *folder = e2e_folder("uncounted"), *xs = text_copy("0"), *path = text_format("%s/job.db", folder);
    struct store *store;
    struct environment e;
    struct error err;
    for (int i = 1; i <= LEFT; i++) {
        char *longer = text_format("%s, %d", xs, i);
        free(xs);
        xs = longer;
    }
    write_job(folder, xs, "\"good\"", "32");
    struct outcome_of_command r = run_tune(folder, "", "--no-final -n 1");
    if (r.status) fail_msg("status %d: %s", r.status, r.err);
    e2e_done(&r);
    assert_int_equal(store_open(&store, path, true, &err), 0);
    assert_int_equal(store_last_environment(store, &e, &err), 0);
    assert_int_equal(store_use_environment(store, &e, &err), 0);
    for (int i = 1; i <= LEFT; i++) {
        char *config = text_format("X=%d,MODE=good", i);
        struct trial_problem problem = {.name = "N=1024", .tuned = true, .time = 1e-3 * i};
        struct trial t = {.config = config,
                          .status = STATUS_OK,
                          .reason = "",
                          .device_id = "",
                          .objective = 1e-3 * i,
                          .problem_count = 1,
                          .problems = &problem};
        assert_int_equal(store_add(store, &t, &err), 0);
        free(config);
    }
    store_close(store);
    r = run_tune(folder, "", "--no-final -n 1");
    if (r.status) fail_msg("status %d: %s", r.status, r.err);
    e2e_done(&r);
    int64_t id;
    store = opened_store("%s/job.db", folder);
    assert_int_equal(store_uncounted(store, &id, 1, &err), 0);
    store_close(store);
    free(xs);
    free(path);
    e2e_remove(folder);
}

// Of requests that are no trials: the worker is killed, and what it said counts for nothing.
static void impossible_answers_to_other_requests_end_the_worker(void **state)
{
    (void)state;
    static const struct {
        const char *spoil;
        int status;
        const char *says; // in the log, or on stderr where there is none yet
    } cases[] = {
        {"hello {\"protocol\":7}", 3, "fake_worker: the worker speaks version 7 of the protocol and this program"},
        {"hello {\"device\":{\"warp_size\":0}}", 3, "the GPU worker says of its device that 'warp_size' is 0"},
        {"job {\"baselines\":[{\"name\":\"cublas\",\"problems\":[{\"problem\":0,\"time\":-1}]}]}", 3,
         "its answer to 'job': 'time' of a problem is -1"},
        {"compile {\"seconds\":-1}", 3, "its answer to 'compile': 'seconds' of the answer is -1"},
        {"compile {\"entries\":[7]}", 3, "its answer to 'compile': 'entries' of the answer is not an object"},
        {"ceilings {\"bytes_per_second\":-1}", 0, "its answer to 'ceilings': 'bytes_per_second' is -1"},
        {"ceilings {\"lasting\":{\"x\":{\"first\":1e308}}}", 0, "its answer to 'ceilings': 'first' is 1e+308"},
        {"count {\"wall\":-1}", 0, "its answer to 'count': 'wall' of the answer is -1"},
        {"count {\"trials\":[{\"trial\":99}]}", 0, "its answer to 'count': it tells of the trial 99"},
        {"count {\"trials\":[{\"trial\":1,\"counters\":[{\"problem\":64,\"stage\":0,\"values\":[]}]}]}", 0,
         "its answer to 'count': 'problem' of a stage is 64, outside 0 to 63"},
        {"count {\"trials\":[{\"trial\":1,\"counters\":[{\"problem\":0,\"stage\":0,\"values\":[\"x\"]}]}]}", 0,
         "its answer to 'count': entry 0: 'values' of a stage is not a number"},
        {"final {\"entries\":7}", 1, "its answer to 'final': 'entries' of the answer is not a list"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = e2e_folder("spoilt"), *before = text_format("export FAKE_SPOIL='%s';", cases[i].spoil),
             *path = text_format("%s/job.log", folder);
        write_job(folder, "7", "\"good\"", "32");
        struct outcome_of_command r = run_tune(folder, before, "");
        char *log = text_read_file(path, NULL), *all = text_format("%s%s", r.err, log ? log : "");
        if (r.status != cases[i].status) fail_msg("%s: status %d:\n%s", cases[i].spoil, r.status, all);
        e2e_expect(all, cases[i].says);
        e2e_done(&r);
        free(before);
        free(path);
        free(log);
        free(all);
        e2e_remove(folder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_misbehaviour_has_its_status_and_reason_and_cannot_win),
        cmocka_unit_test(a_hanging_compiler_is_killed_and_replaced),
        cmocka_unit_test(counters_are_kept_for_all_but_the_candidate_that_kills_the_worker),
        cmocka_unit_test(a_candidate_that_ends_the_worker_in_the_final_is_out_and_the_others_race_again),
        cmocka_unit_test(a_finalist_that_is_wrong_on_fresh_data_does_not_win),
        cmocka_unit_test(a_finalist_that_is_implausibly_fast_is_out_and_the_next_takes_its_place),
        cmocka_unit_test(work_that_no_device_could_do_is_doubted_once_a_run_with_the_line),
        cmocka_unit_test(a_deadline_runs_from_when_the_request_is_at_the_head),
        cmocka_unit_test(the_final_is_on_other_data_than_the_search),
        cmocka_unit_test(a_final_that_kills_the_worker_is_reported_and_leaves_no_decided_winner),
        cmocka_unit_test(nothing_valid_is_exit_status_1),
        cmocka_unit_test(a_second_run_measures_nothing_twice),
        cmocka_unit_test(a_changed_template_makes_new_trials_and_changing_it_back_finds_the_old_ones),
        cmocka_unit_test(winners_under_an_older_source_are_measured_first_under_the_new_one),
        cmocka_unit_test(a_reference_that_takes_long_shows_how_far_it_is),
        cmocka_unit_test(a_second_tuner_is_refused_with_the_pid_of_the_first),
        cmocka_unit_test(ctrl_c_commits_the_trial_in_flight_and_says_how_to_resume),
        cmocka_unit_test(a_second_ctrl_c_stops_at_once),
        cmocka_unit_test(each_signal_that_interrupts_has_its_exit_status),
        cmocka_unit_test(a_machine_that_cannot_is_exit_status_3_with_the_reason),
        cmocka_unit_test(without_counters_tuning_goes_on_with_one_warning),
        cmocka_unit_test(a_full_disk_or_an_unwritable_folder_is_a_clear_error),
        cmocka_unit_test(a_template_that_changes_ends_the_run_and_no_candidate_is_blamed),
        cmocka_unit_test(every_gpu_of_a_long_list_gets_its_worker),
        cmocka_unit_test(any_number_of_metrics_is_kept),
        cmocka_unit_test(configurations_of_any_length_are_whole_everywhere),
        cmocka_unit_test(winners_beyond_the_twenty_that_a_search_begins_with_are_mentioned),
        cmocka_unit_test(all_trials_that_a_killed_run_left_uncounted_are_counted),
        cmocka_unit_test(impossible_answers_to_other_requests_end_the_worker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
