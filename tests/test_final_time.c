// The time limit of a whole command. Tests the time reserved for the end of a run (tuner/final/final_clock.c), and
// whole runs on a scripted worker.
#include "tests/sanitized.h"
#include "tests/scripted.h"
#include "tests/testing.h"

#include <math.h>

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
    assert_true(final_clock_reserve(&c, &usual, 1.5 * least) == least);  // there is always a final
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
    assert_true(fabs(final_clock_for_rounds(&c, &usual, 99) - 1) < 1e-9); // only for rounds
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
#define RANDOM "strategy = \"random\";"
#define FAKE_SANITIZER "SWEETSPOT_SANITIZER=$OLDPWD/tests/fake_sanitizer.sh FAKE_TOOLS=tools "
#define VERIFIED                                                                                                       \
    "sed -i 's/verification = { enabled = false; };/reference = { kernel = \"x\"; launch = { grid = [\"N\"]; block = " \
    "[32]; }; };/' job.cfg"

static const double allowed = SANITIZED ? 8 : 2; // s by which a run may exceed --time

// The runs are started in parallel, the longest first. A trial takes 20 ms. FAKE_FINAL gives the seconds that a proof
// and a round take.
static const struct timed_run {
    const char *name;
    double seconds;          // --time
    const char *before;      // shell variables
    const char *says;        // strings separated by "|"
    int winners, status;     // how many winners there are, and the exit status
    double most;             // s that the run may take; 0: `seconds` plus `allowed`
    struct scripted_job job; // NULL parameters: a large job
    const char *prepare;     // a command that changes the job; NULL: none
    const char *arguments;   // NULL: "job.cfg --store job.db -q"
    const char *after;       // a command that prints more; NULL: none
} runs[] = {
    // The final may use the time reserved for nvcc's build. The build is given up at the time limit.
    {"a_compiler_that_takes_too_long_is_given_up", 13, "SWEETSPOT_NVCC= FAKE_NVCC=1 FAKE_NVCC_DELAY=60",
     "nvcc's build of the winner is not timed: no time is left for it", .winners = 1},
    // All of its tools hang. They end together.
    {"a_sanitizer_that_hangs_is_given_up", 8, FAKE_SANITIZER "FAKE_SANITIZER_DELAY=60 FAKE_FINAL='0 0.01'",
     "four tools ran", .winners = 1, .prepare = VERIFIED, .after = "[ $(wc -l <tools) -ne 4 ] || echo four tools ran"},
    {"several_jobs_share_the_time_of_the_command", 6, "FAKE_FINAL='0.1 0.02'", "", .winners = 2,
     .prepare = "sed 's/\"fake\"/\"other\"/' job.cfg >other.cfg", .arguments = "job.cfg other.cfg -q"},
    // An exhausted space ends a run long before its time.
    {"a_small_space_does_not_wait", 60, "FAKE_FINAL='0.1 0.01'", "", .winners = 1, .most = 10,
     .job = {.parameters = "{ name = \"X\"; values = [1, 7]; }", .more = RANDOM}},
    // The winner is rejected after the time limit. The next kernel wins by the same rounds, without being checked
    // itself.
    {"a_winner_that_is_refused_late_is_replaced_at_once", 4,
     FAKE_SANITIZER "FAKE_SANITIZER_DELAY=2.5 FAKE_LOG=log FAKE_LOG_FINALS=1 FAKE_FINAL='0 0.02'",
     "is out of the final: out_of_bounds: compute-sanitizer's memcheck|is not run under compute-sanitizer: no time is "
     "left\n|X=8,MODE=good|\n1 final began\n",
     .winners = 1,
     .job = {.parameters = "{ name = \"X\"; values = [7, 8]; }, { name = \"MODE\"; values = [\"good\", "
                           "\"sanitize_memcheck\"]; }",
             .more =
                 "constraints = ( \"(X == 7) == (MODE == \\\"sanitize_memcheck\\\")\" ); work = { flops = \"N\"; };\n"
                 "measure = { final = { rounds = 60; processes = 1; }; };",
             .source = "extern \"C\" __global__ void x(float *y) {} // X MODE\n"},
     .prepare = VERIFIED, .after = "echo; echo $(grep -c '^final 0.0: ' log) final began"},
    {"a_final_that_was_cut_says_so", 3, "FAKE_FINAL='0.1 0.2'", "the final had time for | of 40 rounds\n",
     .winners = 1},
    // Both checks would take longer than the time left, so neither begins. The last line says how to run them later.
    {"checks_without_time_are_left_to_another_run", 3,
     FAKE_SANITIZER "FAKE_NVCC=1 SWEETSPOT_NVCC= FAKE_SANITIZER_DELAY=5 FAKE_NVCC_DELAY=5 FAKE_FINAL='0.1 0.05'",
     "nvcc's build of the winner is not timed: no time is left for it|is not run under compute-sanitizer: no time is "
     "left\n|checks for which there was no time are left out; to decide with them: sweetspot tune job.cfg --store "
     "job.db --finish\n|no tool ran",
     .winners = 1, .prepare = VERIFIED, .after = "test -e tools || echo no tool ran"},
    {"a_search_with_long_proofs", 3, "FAKE_FINAL='0.1 0.02'", "", .winners = 1},
    {"progress_shows_the_phase_and_the_time_that_is_left", 2, "FAKE_FINAL='0.2 0.02'",
     "fake: no valid result yet|s left", .winners = 1, .arguments = "job.cfg --store job.db"},
    {"every_candidate_is_wrong", 2, "", "no valid result: ", .status = 1,
     .job = {.parameters = "{ name = \"X\"; range = [1, 1000]; }, { name = \"MODE\"; values = [\"wrong\"]; }",
             .more = RANDOM}},
    {"a_search_with_short_rounds", 2, "FAKE_FINAL='0 0.001'", "", .winners = 1},
    {"a_search_of_a_second_with_long_rounds", 1, "FAKE_FINAL='0.3 0.1'", "", .winners = 1},
    {"a_search_without_time", 0.01, "FAKE_FINAL='0.1 0.05'", "", .winners = 1},
};

// The shell commands of a run. It begins 1.5 s after the previous one, so that only a few run at the same time.
static const char *run_command(const char *folder, const struct timed_run *t, size_t number)
{
    static const struct scripted_job large = {.parameters = LARGE, .more = RANDOM};
    e2e_run(folder, "mkdir $DIR/%s", t->name);
    scripted_write(test_text("%s/%s", folder, t->name), t->job.parameters ? &t->job : &large);
    return test_text("(\nsleep %g; cd $DIR/%s; export SWEETSPOT_NVCC=none FAKE_DELAY=20000; export " SCRIPTED
                     "%s; %s\nbegin=$(date +%%s%%N)\n$BIN/sweetspot tune %s --time %gs >said 2>&1; echo $? "
                     "$(($(date +%%s%%N) - begin)) >ended; %s\n) >$DIR/%s/more 2>&1 &\n",
                     1.5 * (double)number, t->name, t->before, t->prepare ? t->prepare : "",
                     t->arguments ? t->arguments : "job.cfg --store job.db -q", t->seconds, t->after ? t->after : "",
                     t->name);
}

TEST(the_whole_command_takes_its_time)
{
    char *folder = e2e_folder("final_time"), *all = "";
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        all = test_text("%s%s", all, run_command(folder, &runs[i], i));
    e2e_pass(folder, "%swait", all);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        const struct timed_run *t = &runs[i];
        const char *said =
            test_text("%s%s", test_file("%s/%s/said", folder, t->name), test_file("%s/%s/more", folder, t->name));
        int status = -1, winners = 0;
        double took = NAN, most = t->most > 0 ? t->most : t->seconds + allowed;
        sscanf(test_file("%s/%s/ended", folder, t->name), "%d %lf", &status, &took);
        for (const char *at = said; (at = strstr(at, "winner: trial ")); at++) winners++;
        if (status != t->status || winners != t->winners || !(1e-9 * took < most))
            fail_msg("%s: status %d, %d winners after %g s: %s", t->name, status, winners, 1e-9 * took, said);
        char *says = test_text("%s", t->says), *rest;
        for (char *part = strtok_r(says, "|", &rest); part; part = strtok_r(NULL, "|", &rest))
            if (!strstr(said, part)) fail_msg("%s: '%s' is not in:\n%s", t->name, part, said);
    }
}

// Tunes a job, runs `action` as soon as this line about a final is in the log, and then runs `after`. The exit status
// is the search's.
static struct e2e_result disturbed(const char *folder, const char *line, const char *action, const char *after)
{
    return e2e_in(folder,
                  "export SWEETSPOT_NVCC=none FAKE_LOG=log FAKE_LOG_FINALS=1 FAKE_FINAL='0 0.1' " SCRIPTED "\n"
                  "$BIN/sweetspot tune job.cfg --store job.db -q >said 2>&1 & tuner=$!\n"
                  "for i in $(seq 200); do grep -q '%s' log && break; sleep 0.05; done 2>/dev/null\n"
                  "%s; wait $tuner; s=$?; cat said; %s; exit $s",
                  line, action, after);
}

// Ctrl-C in the second part of a final: the first part is kept, and the output says which candidate is ahead.
TEST(an_interrupted_final_keeps_its_rounds)
{
    char *folder = e2e_folder("interrupted");
    SCRIPTED_JOB(folder, .parameters = "{ name = \"X\"; values = [1, 7, 8]; }", .more = RANDOM);
    struct e2e_result r = e2e_ended(
        130, disturbed(folder, "final 1.0", "kill -INT $tuner", "$BIN/sweetspot compare job.cfg --store job.db 2>&1"));
    assert_contains(r.out, "the final was interrupted after 14 rounds; ahead is trial ", "To resume: ");
}

// The worker is killed in the second part of the second process. No candidate is at fault, so a third process
// continues.
TEST(a_worker_that_is_killed_between_parts_is_replaced)
{
    char *folder = e2e_folder("killed");
    SCRIPTED_JOB(folder,
                 .parameters = "{ name = \"X\"; values = [7, 9]; }, { name = \"MODE\"; values = [\"final_noisy\"]; }",
                 .more = "strategy = \"exhaustive\"; measure = { final = { rounds = 20; }; };");
    struct e2e_result r = e2e_passed(
        disturbed(folder, "final 1.1", "kill -KILL $(sed -n 's/^final 1.1.*pid \\([0-9]*\\).*/\\1/p' log)", "cat log"));
    assert_contains(r.out, "X=7,MODE=final_noisy", "final 2.0: ");
}

TEST_MAIN(NULL, NULL)
