// The time of a whole command: what is kept for the end of a run (tuner/final/final_clock.c), and what runs on a
// scripted worker make of it.
#include "tests/sanitized.h"
#include "tests/scripted.h"
#include "tests/testing.h"

#include <math.h>
#include <signal.h>

#include "tuner/base/clock.h"
#include "tuner/base/limits.h"
#include "tuner/final/final_clock.h"

static const struct final_size usual = {.candidates = 5, .baselines = 2, .rounds = 40, .processes = 3};

static struct final_clock clock_with(double deadline)
{
    return (struct final_clock){.deadline = deadline, .verifies = true, .worker = 0.5, .kernel = 1e-3};
}

TEST(a_trial_counts_in_the_mean)
{
    struct final_clock c = clock_with(INFINITY);
    final_clock_trial(&c, 2);
    assert_true(c.trial == 2);
    for (int i = 0; i < 400; i++) final_clock_trial(&c, 0.1);
    assert_true(fabs(c.trial - 0.1) < 1e-6);
}

TEST(half_of_the_time_stays_with_the_search)
{
    struct final_clock c = clock_with(INFINITY);
    final_clock_trial(&c, 0.1);
    double planned = final_clock_planned(&c, &usual), least = final_clock_least(&c, &usual);
    assert_true(least < planned && least > 0.5 && planned < 8);
    c.sanitizer = 3;
    c.nvcc = 6;
    assert_true(final_clock_reserve(&c, &usual, 1000) == planned + 9);
    assert_true(final_clock_reserve(&c, &usual, 2 * (planned + 3.1)) == planned + 3);
    assert_true(final_clock_reserve(&c, &usual, 2 * (planned + 0.1)) == planned);
    assert_true(final_clock_reserve(&c, &usual, 2 * planned - 1) == planned - 0.5);
    assert_true(final_clock_reserve(&c, &usual, 1.5 * least) == least);  // a final is held in any case
    assert_true(final_clock_reserve(&c, &usual, least) == 0.75 * least); // but there must be something to decide
}

TEST(checks_that_fit_keep_their_time_from_the_rounds)
{
    struct final_clock c = clock_with(100);
    final_clock_trial(&c, 0.1);
    double planned = final_clock_planned(&c, &usual), least = final_clock_least(&c, &usual);
    c.sanitizer = 3;
    c.nvcc = 6;
    assert_true(fabs(final_clock_for_rounds(&c, &usual, 0) - 91) < 1e-9);
    assert_true(fabs(final_clock_for_rounds(&c, &usual, 97 - planned - 1) - planned - 1) < 1e-9); // without nvcc
    assert_true(fabs(final_clock_for_rounds(&c, &usual, 97 - least) - least) < 1e-9);
    assert_true(fabs(final_clock_for_rounds(&c, &usual, 99) - 1) < 1e-9); // nothing but rounds
    assert_true(final_clock_for_rounds(&c, &usual, 101) < 0);
    c.deadline = INFINITY;
    assert_true(isinf(final_clock_for_rounds(&c, &usual, 0)));
}

TEST(a_final_with_little_time_has_fewer_processes_then_fewer_candidates)
{
    struct final_clock c = clock_with(INFINITY);
    final_clock_trial(&c, 0.1);
    struct final_size before = final_clock_fit(&c, &usual, 100);
    assert_true(before.processes == 3 && before.candidates == 5 && before.rounds == 40);
    for (int tenths = 100; tenths > -10; tenths--) {
        struct final_size fit = final_clock_fit(&c, &usual, 0.1 * tenths);
        assert_true(fit.processes >= 1 && fit.candidates >= 2 && fit.rounds == 40 && fit.baselines == 2);
        assert_true(fit.processes <= before.processes && fit.candidates <= before.candidates);
        assert_true(fit.candidates == 5 || fit.processes == 1);
        before = fit;
    }
    assert_true(before.processes == 1 && before.candidates == 2);
    const struct final_size single = {.candidates = 1, .rounds = 40, .processes = 3};
    assert_int_equal(final_clock_fit(&c, &single, 0).candidates, 1);
}

// Runs --------------------------------------------------------------------------------------------------------------

#define LARGE "{ name = \"X\"; range = [1, 12]; }, { name = \"Y\"; range = [1, 2000]; }"
#define RANDOM "search = { strategy = \"random\"; };"

static const double allowed = SANITIZED ? 8 : 2; // s over --time

// Tunes for so many seconds; a trial takes 20 ms. Fails where the command takes longer.
static char *tune_for(const char *folder, double seconds, const char *before, const char *options)
{
    double begin = clock_now();
    struct outcome_of_command r =
        e2e_passed(e2e_run(folder,
                           "export SWEETSPOT_NVCC=none; cd '%s' && export FAKE_DELAY=20000 " SCRIPTED
                           "%s; $BIN/sweetspot tune job.cfg --store job.db --time %gs %s 2>&1",
                           folder, before, seconds, options));
    double took = clock_now() - begin;
    if (took > seconds + allowed) fail_msg("%g s instead of %g: %s", took, seconds, r.out);
    return r.out;
}

static char *write_large(const char *name)
{
    char *folder = e2e_folder(name);
    SCRIPTED_JOB(folder, .parameters = LARGE, .more = RANDOM);
    return folder;
}

TEST(the_whole_command_takes_its_time)
{
    static const struct {
        double seconds;
        const char *final; // s for a proof and for a round
    } runs[] = {{2, "0 0.001"}, {3, "0.1 0.02"}, {1, "0.3 0.1"}, {0.01, "0.1 0.05"}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char *before = test_text("FAKE_FINAL='%s'", runs[i].final);
        char *out = tune_for(write_large("whole"), runs[i].seconds, before, "-q");
        assert_contains(out, "winner: trial ");
    }
}

TEST(a_final_that_was_cut_says_so)
{
    char *out = tune_for(write_large("cut"), 3, "FAKE_FINAL='0.1 0.2'", "-q");
    assert_contains(out, "the final had time for ", " of 40 rounds\n", "winner: trial ");
}

// Both checks take longer than the time: neither is begun, and the last line says how to make up for them.
TEST(checks_without_time_are_left_to_another_run)
{
    char *folder = write_large("left");
    e2e_run(folder,
            "sed -i 's/verification = { enabled = false; };/reference = { kernel = \"x\"; launch = { grid = [\"N\"]; "
            "block = [32]; }; };/' %s/job.cfg",
            folder);
    static const char before[] = "SWEETSPOT_SANITIZER=$OLDPWD/tests/fake_sanitizer.sh FAKE_TOOLS=tools FAKE_NVCC=1 "
                                 "SWEETSPOT_NVCC= FAKE_SANITIZER_DELAY=5 FAKE_NVCC_DELAY=5 FAKE_FINAL='0.1 0.05'";
    char *out = tune_for(folder, 3, before, "-q"), *tools = test_text("%s/tools", folder);
    assert_contains(out, "winner: trial ", "nvcc's build of the winner is not timed: no time is left for it",
                    "is not run under compute-sanitizer: no time is left\n",
                    "checks for which there was no time are left out; to decide with them: sweetspot tune job.cfg "
                    "--store job.db --finish\n");
    assert_null(text_read_file(tools, NULL));
}

// The final has the time that nvcc's build was to have: it is given up when the time is over.
TEST(a_compiler_that_takes_too_long_is_given_up)
{
    char *folder = write_large("slow_nvcc");
    char *out = tune_for(folder, 13, "SWEETSPOT_NVCC= FAKE_NVCC=1 FAKE_NVCC_DELAY=60", "-q");
    assert_contains(out, "winner: trial ", "nvcc's build of the winner is not timed: no time is left for it");
}

// An exhausted space ends a run long before its time.
TEST(a_small_space_does_not_wait)
{
    char *folder = e2e_folder("small");
    SCRIPTED_JOB(folder, .parameters = "{ name = \"X\"; values = [1, 7]; }", .more = RANDOM);
    double begin = clock_now();
    assert_contains(tune_for(folder, 60, "FAKE_FINAL='0.1 0.01'", "-q"), "winner: trial ");
    assert_true(clock_now() - begin < 10);
}

TEST(progress_shows_the_phase_and_the_time_that_is_left)
{
    char *out = tune_for(write_large("shown"), 2, "FAKE_FINAL='0.2 0.02'", "");
    assert_contains(out, "fake: no valid result yet", "s left");
}

TEST(several_jobs_share_the_time_of_the_command)
{
    char *folder = e2e_folder("share");
    for (const char *const *name = (const char *const[]){"a", "b", NULL}; *name; name++)
        SCRIPTED_JOB(folder, .file = test_text("%s.cfg", *name), .name = *name, .parameters = LARGE, .more = RANDOM);
    double begin = clock_now();
    struct outcome_of_command r =
        e2e_passed(e2e_run(folder,
                           "cd '%s' && export SWEETSPOT_NVCC=none FAKE_DELAY=20000 FAKE_FINAL='0.1 0.02' " SCRIPTED
                           "; $BIN/sweetspot tune a.cfg b.cfg --time 6s -q 2>&1",
                           folder));
    double took = clock_now() - begin;
    if (took > 6 + allowed) fail_msg("%g s: %s", took, r.out);
    const char *first = strstr(r.out, "winner: trial ");
    assert_true(first && strstr(first + 1, "winner: trial "));
}

// Ctrl-C in the second part of a final: its first part is kept, and says who is ahead.
TEST(an_interrupted_final_keeps_its_rounds)
{
    char *folder = e2e_folder("interrupted");
    SCRIPTED_JOB(folder, .parameters = "{ name = \"X\"; values = [1, 7, 8]; }", .more = RANDOM);
    struct outcome_of_command r =
        e2e_run(folder,
                "cd '%s' && export SWEETSPOT_NVCC=none FAKE_LOG=log FAKE_LOG_FINALS=1 FAKE_FINAL='0 0.1' " SCRIPTED "\n"
                "$BIN/sweetspot tune job.cfg --store job.db -q >said 2>&1 & tuner=$!\n"
                "for i in $(seq 200); do grep -q 'final 1.0' log && break; sleep 0.05; done 2>/dev/null; kill -INT "
                "$tuner; wait $tuner; s=$?; cat said; "
                "$BIN/sweetspot compare job.cfg --store job.db 2>&1; exit $s",
                folder);
    assert_int_equal(r.status, 130);
    assert_contains(r.out, "the final was interrupted after 14 rounds; ahead is trial ", "To resume: ");
}

// The second part of the second process ends with its worker, which was not its fault: a third one continues.
TEST(a_worker_that_is_killed_between_parts_is_replaced)
{
    char *folder = e2e_folder("killed");
    SCRIPTED_JOB(folder,
                 .parameters = "{ name = \"X\"; values = [7, 9]; }, { name = \"MODE\"; values = [\"final_noisy\"]; }",
                 .more = "search = { strategy = \"exhaustive\"; }; measure = { final = { rounds = 20; }; };");
    struct outcome_of_command r =
        e2e_run(folder,
                "cd '%s' && export SWEETSPOT_NVCC=none FAKE_LOG=log FAKE_LOG_FINALS=1 FAKE_FINAL='0 0.1' " SCRIPTED "\n"
                "$BIN/sweetspot tune job.cfg --store job.db -q >said 2>&1 & tuner=$!\n"
                "for i in $(seq 200); do grep -q 'final 1.1' log && break; sleep 0.05; done 2>/dev/null; "
                "kill -KILL $(sed -n 's/^final 1.1.*pid \\([0-9]*\\).*/\\1/p' log); wait $tuner; s=$?; cat said log; exit $s",
                folder);
    assert_int_equal(r.status, 0);
    assert_contains(r.out, "X=7,MODE=final_noisy", "final 2.0: ");
}

// The winner is refused when the time is over: the next one wins by the same rounds, without a check of its own.
TEST(a_winner_that_is_refused_late_is_replaced_at_once)
{
    char *folder = e2e_folder("refused");
    e2e_write(folder, "x.cu", "extern \"C\" __global__ void x(float *y) {} // X MODE\n");
    e2e_write(
        folder, "job.cfg",
        "name = \"fake\"; kernel = { template = \"x.cu\"; entry = \"x\"; };\n"
        "parameters = ( { name = \"X\"; values = [7, 8]; }, { name = \"MODE\"; values = [\"good\", "
        "\"sanitize_memcheck\"]; } );\n"
        "constraints = ( \"(X == 7) == (MODE == \\\"sanitize_memcheck\\\")\" ); problems = ( { N = 1024; } );\n"
        "launch = { grid = [\"N\"]; block = [32]; };\n"
        "arguments = ( { buffer = \"y\"; type = \"f32\"; shape = [\"N\"]; direction = \"out\"; } );\n"
        "work = { flops = \"N\"; }; reference = { kernel = \"x\"; launch = { grid = [\"N\"]; block = [32]; }; };\n"
        "measure = { final = { rounds = 60; processes = 1; }; };\n");
    static const char before[] = "SWEETSPOT_SANITIZER=$OLDPWD/tests/fake_sanitizer.sh FAKE_TOOLS=tools "
                                 "FAKE_SANITIZER_DELAY=2.5 FAKE_LOG=log FAKE_LOG_FINALS=1 FAKE_FINAL='0 0.02'";
    char *out = tune_for(folder, 4, before, "-q"), *path = test_text("%s/log", folder);
    assert_contains(out, "is out of the final: out_of_bounds: compute-sanitizer's memcheck",
                    "is not run under compute-sanitizer: no time is left\n", "X=8,MODE=good");
    const char *log = test_owned(text_read_file(path, NULL)), *first = strstr(log, "final 0.0: ");
    assert_true(first && !strstr(first + 1, "final 0.0: "));
}

TEST(where_every_candidate_is_wrong_the_command_ends_in_its_time)
{
    char *folder = e2e_folder("all_wrong");
    SCRIPTED_JOB(folder,
                 .parameters = "{ name = \"X\"; range = [1, 1000]; }, { name = \"MODE\"; values = [\"wrong\"]; }",
                 .more = RANDOM);
    double begin = clock_now();
    struct outcome_of_command r = e2e_run(
        folder, "cd '%s' && export FAKE_DELAY=20000 " SCRIPTED "; $BIN/sweetspot tune job.cfg --time 2s -q 2>&1",
        folder);
    assert_int_equal(r.status, 1);
    assert_contains(r.out, "no valid result: ");
    assert_true(clock_now() - begin < 2 + allowed);
}

TEST_MAIN(NULL, NULL)
