// The final's decision (tuner/final/final_decide.c): the fastest wins, and among equals the one that uses the fewest SM
// resources. First the function, then the driver with a scripted worker.
#include "tests/scripted.h"
#include "tests/testing.h"

#include <math.h>

#include "tuner/base/json.h"
#include "tuner/final/final_decide.h"

enum { ROUNDS = 9, MOST = 4 };

// The rounds share a drift of up to 17%, which pairing removes.
static const double drift[ROUNDS] = {1, 1.09, 0.96, 1.03, 1.06, 1, 0.93, 1.015, 0.97};

static const struct {
    const char *what;
    struct {
        double time, share, code; // code 0: a baseline
        size_t rounds;
    } entries[MOST];
    int winner;
    const char *tied; // one digit for each
    enum final_certainty certainty;
} cases[] = {
    {"the fastest wins, however heavy", {{1, 0.9, 9000, 9}, {1.1, 0.1, 100, 9}}, 0, "", FINAL_FASTEST},
    {"wherever it stands", {{1.1, 0.1, 100, 9}, {1, 0.9, 9000, 9}}, 1, "", FINAL_FASTEST},
    {"by 0.1% too", {{1, 0.9, 9000, 9}, {1.001, 0.1, 100, 9}}, 0, "", FINAL_FASTEST},
    {"of two equals the smaller share of an SM wins", {{1, 0.5, 100, 9}, {1, 0.25, 9000, 9}}, 1, "0", FINAL_TIED},
    {"and is kept when it stands first", {{1, 0.25, 9000, 9}, {1, 0.5, 100, 9}}, 0, "1", FINAL_TIED},
    {"of the same share the smaller code", {{1, 0.5, 9000, 9}, {1, 0.5, 8000, 9}}, 1, "0", FINAL_TIED},
    {"of the same share and code the faster", {{1.001, 0.5, 100, 9}, {1, 0.5, 100, 9}}, 1, "", FINAL_FASTEST},
    {"of three the lightest", {{1, 0.5, 1, 9}, {1, 0.3, 1, 9}, {1, 0.2, 9, 9}}, 2, "01", FINAL_TIED},
    {"of three by share, then code", {{1, 0.5, 1, 9}, {1, 0.2, 9, 9}, {1, 0.2, 8, 9}}, 2, "01", FINAL_TIED},
    {"a slower one is not an equal", {{1, 0.5, 1, 9}, {1, 0.4, 1, 9}, {1.018, 0.1, 1, 9}}, 1, "0", FINAL_TIED},
    {"a baseline cannot win", {{0.5, 0, 0, 9}, {1, 0.5, 1, 9}, {1.1, 0.1, 1, 9}}, 1, "", FINAL_FASTEST},
    {"nor be tied", {{1, 0, 0, 9}, {1, 0.5, 1, 9}, {1, 0.4, 1, 9}}, 2, "1", FINAL_TIED},
    {"without rounds no candidate wins", {{1, 0.1, 1, 0}, {2, 0.1, 1, 0}, {3, 0, 0, 9}}, -1, "", FINAL_FASTEST},
    {"who has no rounds is out", {{0.5, 0.1, 1, 0}, {2, 0.9, 1, 9}}, 1, "", FINAL_FASTEST},
    {"fewer rounds are compared as far as they go", {{1, 0.5, 1, 9}, {1, 0.25, 1, 4}}, 1, "0", FINAL_TIED},
};

static size_t entries_of(size_t c)
{
    size_t count = 0;
    while (count < MOST && cases[c].entries[count].time > 0) count++;
    return count;
}

static void decide(size_t c, double rounds[MOST][ROUNDS], const size_t *order, int *winner, char *tied,
                   struct final_verdict *v)
{
    struct contender entries[MOST];
    size_t count = entries_of(c);
    for (size_t i = 0; i < count; i++) {
        size_t from = order[i];
        for (size_t k = 0; k < ROUNDS; k++)
            if (!isnan(rounds[from][k])) rounds[from][k] = cases[c].entries[from].time * drift[k];
        entries[i] = (struct contender){.candidate = cases[c].entries[from].code > 0,
                                        .rounds = cases[c].entries[from].rounds,
                                        .objectives = rounds[from],
                                        .share = cases[c].entries[from].share,
                                        .code = cases[c].entries[from].code};
    }
    final_decide(entries, count, 1, v);
    *winner = v->winner < 0 ? -1 : (int)order[v->winner];
    *tied = 0;
    for (size_t from = 0; from < count; from++)
        for (size_t i = 0; i < count; i++)
            if (order[i] == from && entries[i].tied) sprintf(tied + strlen(tied), "%zu", from);
}

TEST(the_table_of_decisions_holds_in_whatever_order_candidates_stand)
{
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        static const size_t orders[][MOST] = {{0, 1, 2, 3}, {2, 1, 0, 3}, {1, 2, 0, 3}, {1, 0, 2, 3}};
        for (size_t o = 0; o < 4; o++) {
            if (entries_of(c) < 3 && (o == 1 || o == 2)) continue;
            double rounds[MOST][ROUNDS] = {{0}};
            int winner;
            char tied[MOST + 1];
            struct final_verdict v;
            decide(c, rounds, orders[o], &winner, tied, &v);
            if (winner != cases[c].winner || strcmp(tied, cases[c].tied) != 0 || v.certainty != cases[c].certainty)
                fail_msg("%s: winner %d, tied '%s', %s; expected %d, '%s', %s", cases[c].what, winner, tied,
                         final_certainty_name(v.certainty), cases[c].winner, cases[c].tied,
                         final_certainty_name(cases[c].certainty));
        }
    }
}

static struct contender contender(const double *rounds, double share)
{
    return (struct contender){.candidate = true, .rounds = ROUNDS, .objectives = rounds, .share = share, .code = 1};
}

TEST(rounds_without_a_time_are_no_pairs)
{
    // The lighter kernel has no times from the slow rounds. Its median is lower, but in paired rounds it is 1.5%
    // slower.
    double rounds[2][ROUNDS] = {0};
    struct contender entries[2] = {contender(rounds[0], 0.5), contender(rounds[1], 0.25)};
    struct final_verdict v;
    for (size_t k = 0; k < ROUNDS; k++) {
        rounds[0][k] = drift[k];
        rounds[1][k] = drift[k] > 1 ? NAN : 1.015 * drift[k];
    }
    struct interval r;
    assert_int_equal(final_ratio(&entries[0], &entries[1], &r), 5);
    assert_true(fabs(r.value - 1 / 1.015) < 1e-12 && fabs(r.low - r.value) < 1e-12 && fabs(r.high - r.value) < 1e-12);
    final_decide(entries, 2, 1, &v);
    assert_true(fabs(entries[1].median - 0.97 * 1.015) < 1e-12 && fabs(entries[0].median - 1) < 1e-12);
    // Without common rounds there is neither a ratio nor a tie.
    for (size_t k = 0; k < ROUNDS; k++) rounds[k % 2][k] = NAN;
    rounds[1][0] = 1;
    assert_int_equal(final_ratio(&entries[0], &entries[1], &r), 0);
    assert_true(isnan(r.value));
    final_decide(entries, 2, 1, &v);
    assert_int_equal(v.winner, entries[0].median < entries[1].median ? 0 : 1);
    assert_false(entries[0].tied || entries[1].tied);
    // No rounds at all.
    for (size_t k = 0; k < ROUNDS; k++) rounds[0][k] = rounds[1][k] = NAN;
    final_decide(entries, 2, 1, &v);
    assert_int_equal(v.winner, -1);
    assert_true(isnan(entries[0].median));
}

// The bootstrap's distribution of the median of 19 different ratios is known. The probability that a drawn median is at
// most the 5th ratio is 1.3%, and for the 6th ratio it is 4.6%. The upper end is symmetric.
TEST(the_interval_of_a_ratio_holds_with_95_percent)
{
    enum { N = 19 };
    double own[N], other[N];
    struct interval r;
    for (int i = 0; i < N; i++) {
        other[i] = 0.5 + i % 3;
        own[i] = (1 + i * 7 % N) * other[i];
    }
    struct contender a = {.candidate = true, .rounds = N, .objectives = own},
                     b = {.candidate = true, .rounds = N, .objectives = other};
    assert_int_equal(final_ratio(&a, &b, &r), N);
    assert_true(fabs(r.value - 10) < 1e-9 && fabs(r.low - 6) < 1e-9 && fabs(r.high - 14) < 1e-9);
}

// A light kernel takes 1.03 times the fastest kernel's time. According to its interval, it may be slower, as fast, or
// faster.
TEST(within_a_wide_interval_the_fastest_wins_undecided)
{
    double rounds[2][ROUNDS] = {{0}, {0.98, 1.07, 0.97, 1.06, 1, 1.05, 0.99, 1.04, 1.03}};
    struct interval r;
    struct final_verdict v;
    for (size_t k = 0; k < ROUNDS; k++) rounds[0][k] = 1;
    struct contender entries[2] = {contender(rounds[0], 0.5), contender(rounds[1], 0.25)};
    assert_int_equal(final_ratio(&entries[1], &entries[0], &r), ROUNDS);
    assert_true(r.value == 1.03 && r.low < 1 && r.high > 1.02);
    final_decide(entries, 2, 1, &v);
    assert_true(v.winner == 0 && v.rival == 1 && v.certainty == FINAL_UNDECIDED);
    assert_true(v.within >= 1 / r.low - 1 - 1e-12 && v.within < 0.04);
    assert_false(entries[0].tied || entries[1].tied);
    for (size_t k = 0; k < ROUNDS; k++) rounds[1][k] += 0.2; // as wide, but slower throughout
    final_decide(entries, 2, 1, &v);
    assert_true(v.winner == 0 && v.certainty == FINAL_FASTEST && v.within == 0);
}

// The interval includes 1 and is 0.8% wide. The two are tied but do not count as equal, so resources do not decide.
TEST(resources_decide_between_equals_only)
{
    double rounds[2][ROUNDS] = {{0}, {0.998, 1.006, 0.999, 1.005, 1.002, 0.998, 1.004, 1.006, 0.999}};
    struct final_verdict v;
    for (size_t k = 0; k < ROUNDS; k++) rounds[0][k] = 1;
    struct contender entries[2] = {contender(rounds[0], 0.5), contender(rounds[1], 0.25)};
    final_decide(entries, 2, 1, &v);
    assert_true(v.winner == 0 && v.certainty == FINAL_TIED && entries[1].tied);
    assert_true(v.within > 0.001 && v.within < 0.003);
    for (size_t k = 0; k < ROUNDS; k++) rounds[1][k] = 1 + (rounds[1][k] - 1) / 10;
    final_decide(entries, 2, 1, &v);
    assert_true(v.winner == 1 && v.certainty == FINAL_TIED && entries[0].tied);
}

TEST(a_share_is_that_of_what_runs_out_first)
{
    assert_true(final_share(64, 256, 1024, 65536, 233472) == 0.25);
    assert_true(final_share(32, 32, 116736, 65536, 233472) == 0.5);
    assert_true(final_share(0, 32, 0, 65536, 233472) == 0);
}

// The scripted times are symmetric around X = 7. The shared memory that the job gives the kernels decides a tie. If it
// is equal, the number of threads decides, and then the code's size, which grows with X.
TEST(the_driver_gives_a_tie_to_the_lighter_kernel)
{
    static const struct {
        const char *shared, *block;
        const char *winner;
    } runs[] = {
        {"1024 * (20 - X)", "32", "X=8"}, // X=8 uses less shared memory
        {"1024 * X", "32", "X=6"},        // X=6 uses less
        {"0", "32 * (10 - X)", "X=8"},    // equal, but X=8 has fewer threads and so fewer registers
        {"0", "32 * X", "X=6"},           //
        {"0", "32", "X=6"},               // both equal: the smaller code
    };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char *folder = e2e_folder("tie");
        SCRIPTED_JOB(folder, .parameters = "{ name = \"X\"; values = [8, 6, 1]; }", .block = runs[i].block,
                     .shared = runs[i].shared,
                     .more = "strategy = \"exhaustive\"; measure = { final = { candidates = 3; rounds = "
                             "10; }; };");
        struct e2e_result r = e2e_passed(scripted_tune(folder, "", ""));
        char *line = strstr(r.out, "winner: trial ");
        assert_non_null(line);
        if (!strstr(line, runs[i].winner)) fail_msg("case %zu: expected %s:\n%s", i, runs[i].winner, r.out);
        assert_contains(r.out, ", tied with trial ");
    }
}

// X=8 comes first and is as fast as X=6. The first stage's code grows with X; the second stage's is short for both.
TEST(the_longest_of_several_stages_decides)
{
    char *folder = e2e_folder("stages");
    e2e_write(folder, "job.cfg",
              "name = \"stages\"; kernel = { template = \"x.cu\"; };\n"
              "parameters = ( { name = \"X\"; values = [8, 6, 1]; } ); problems = ( { N = 1024; } );\n"
              "stages = ( { entry = \"x\"; launch = { grid = [\"N\"]; block = [32]; };\n"
              "  arguments = ( { buffer = \"y\"; type = \"f32\"; shape = [\"N\"]; direction = \"out\"; } ); },\n"
              "  { entry = \"second\"; launch = { grid = [\"N\"]; block = [32]; }; arguments = ( { buffer = \"y\"; } "
              "); } );\n"
              "verification = { enabled = false; }; strategy = \"exhaustive\";\n"
              "measure = { final = { candidates = 3; rounds = 10; }; };\n");
    e2e_write(folder, "x.cu", "\n");
    struct e2e_result r = e2e_passed(scripted_tune(folder, "", ""));
    const char *line = strstr(r.out, "winner: trial ");
    assert_non_null(line);
    assert_contains(line, "X=6");
}

// Tunes a job with X and MODE on the scripted worker; two finalists, 20 rounds.
static struct e2e_result tune_modes(const char *folder, const char *xs, const char *modes)
{
    SCRIPTED_JOB(folder,
                 .parameters =
                     test_text("{ name = \"X\"; values = [%s]; }, { name = \"MODE\"; values = [%s]; }", xs, modes),
                 .more = "strategy = \"exhaustive\"; measure = { final = { candidates = 2; rounds = 20; }; };");
    return scripted_tune(folder, "FAKE_LOG=log FAKE_LOG_FINALS=1", "2>&1");
}

// Expects "final 0.0: 7 rounds, .." in the log. Returns the text after it.
static const char *expect_part(const char *log, int process, int part, int rounds, int candidates, int *pid)
{
    char *line = test_text("final %d.%d: %d rounds, %d candidates, pid ", process, part, rounds, candidates);
    const char *at = strstr(log, line);
    if (!at) fail_msg("no '%s' in:\n%s", line, log);
    *pid = atoi(at + strlen(line));
    return at + strlen(line);
}

TEST(the_loser_leaves_and_two_processes_suffice_if_they_agree)
{
    char *folder = e2e_folder("processes"), *path = test_text("%s/log", folder);
    struct e2e_result r = e2e_passed(tune_modes(folder, "1, 7", "\"good\""));
    assert_contains(r.out, "X=7,MODE=good", ", 14 rounds)");
    const char *log = test_owned(text_read_file(path, NULL));
    int pids[2];
    log = expect_part(log, 0, 0, 7, 2, &pids[0]);
    log = expect_part(log, 1, 0, 7, 1, &pids[1]); // X=1 takes 1.6 times as long
    assert_null(strstr(log, "final "));
    assert_true(pids[0] != pids[1]);
    r = e2e_run(folder, "$BIN/sweetspot compare $DIR/job.cfg --store $DIR/job.db --format json");
    assert_contains(r.out, "\"rounds\": 14", "\"by_process\": []");
}

// X=9 takes 4% longer than X=7 in two thirds of the rounds. In the other third, X=7 takes 4% longer.
TEST(an_open_order_is_given_more_rounds_in_the_same_process)
{
    char *folder = e2e_folder("parts"), *path = test_text("%s/log", folder);
    struct e2e_result r = e2e_passed(tune_modes(folder, "7, 9", "\"final_noisy\""));
    const char *log = test_owned(text_read_file(path, NULL));
    int pids[4];
    log = expect_part(log, 0, 0, 7, 2, &pids[0]);
    log = expect_part(log, 1, 0, 7, 2, &pids[1]);
    log = expect_part(log, 1, 1, 6, 2, &pids[2]);
    expect_part(log, 1, 2, 20, 2, &pids[3]);
    assert_true(pids[0] != pids[1] && pids[1] == pids[2] && pids[1] == pids[3]);
    assert_contains(r.out, "X=7,MODE=final_noisy", ", fastest\n");
}

TEST(a_candidate_that_fails_in_a_later_process_is_out)
{
    char *folder = e2e_folder("falls_later");
    struct e2e_result r = e2e_passed(tune_modes(folder, "1, 7", "\"final_wrong_later\", \"good\""));
    assert_contains(r.out, "is out of the final: wrong: scripted", "X=7,MODE=good");
}

// X = 7 is faster, but has 4.5 times the library's error; the other candidate has twice the library's error.
TEST(a_candidate_that_is_less_exact_than_the_job_allows_does_not_win)
{
    static const struct {
        const char *allowed;
        int winner;
    } ratios[] = {{"0", 7}, {"4.6", 7}, {"3", 2}, {"1.9", 0}};
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++) {
        char *folder = e2e_folder("error_ratio");
        SCRIPTED_JOB(folder,
                     .parameters = "{ name = \"X\"; values = [2, 7]; }, { name = \"MODE\"; values = [\"good\", "
                                   "\"inexact\"]; }",
                     .more = "constraints = ( \"(X == 7) == (MODE == \\\"inexact\\\")\" );");
        e2e_pass(folder, "sed -i 's/enabled = false/&; error_ratio = %s/' $DIR/job.cfg", ratios[i].allowed);
        struct e2e_result r = scripted_tune(folder, "", "2>&1");
        assert_int_equal(r.status, ratios[i].winner ? 0 : 1);
        if (ratios[i].winner) assert_contains(r.out, test_text("  X=%d,", ratios[i].winner));
        if (ratios[i].winner != 7)
            assert_contains(r.out, test_text("is out of the final: wrong: problem N=1024: its root mean square error "
                                             "is 4.5 times that of cublas; verification.error_ratio allows %s\n",
                                             ratios[i].allowed));
        if (!ratios[i].winner) continue;
        r = e2e_pass(folder,
                     "cd $DIR && $BIN/sweetspot compare job.cfg --store job.db && $BIN/sweetspot header job.cfg "
                     "--store job.db --output x.h 2>&1 && cat x.h");
        assert_contains(r.out, ratios[i].winner == 7 ? "  4.50\n" : "  2.00\n",
                        ratios[i].winner == 7 ? "root mean square 4.50 times" : "root mean square 2.00 times");
    }
}

TEST(who_is_answered_without_times_cannot_win)
{
    char *folder = e2e_folder("no_times");
    assert_contains(e2e_passed(tune_modes(folder, "7", "\"final_no_times\", \"good\"")).out, "X=7,MODE=good");
}

// X=7 is the fastest by 1%, but in one process it takes 10% longer.
TEST(a_kernel_of_two_times_is_named_and_the_winner_may_be_undecided)
{
    char *folder = e2e_folder("two_times");
    e2e_passed(tune_modes(folder, "7, 8, 9", "\"good\"")); // no time depends on the process
    folder = e2e_folder("two_times");
    struct e2e_result r = e2e_passed(tune_modes(folder, "7", "\"final_two_times\"")); // the only candidate
    assert_contains(r.out, "runs at one of two speeds, depending on the process that runs it");
    r = e2e_run(folder, "$BIN/sweetspot compare $DIR/job.cfg --store $DIR/job.db");
    assert_contains(r.out,
                    "runs at one of two speeds, depending on the process that runs it: 1.001 ms, 1.101 ms, 1.002 ms");
    folder = e2e_folder("two_times");
    // The steady kernel, X=8, is 1% slower, but may be faster by 9%.
    SCRIPTED_JOB(folder,
                 .parameters = "{ name = \"X\"; values = [7, 8]; }, { name = \"MODE\"; values = [\"good\", "
                               "\"final_two_times\"]; }",
                 .more = "constraints = ( \"(X == 7) == (MODE == \\\"final_two_times\\\")\" ); strategy = "
                         "\"exhaustive\"; "
                         "measure = { final = { candidates = 2; rounds = 20; }; };");
    r = e2e_passed(scripted_tune(folder, "FAKE_LOG=log FAKE_LOG_FINALS=1", "2>&1"));
    assert_contains(r.out, "% of the fastest, undecided (trial ");
    char *path = test_text("%s/log", folder), *log = test_owned(text_read_file(path, NULL));
    int pid;
    expect_part(log, 2, 0, 6, 2, &pid); // the first two processes do not agree
    assert_null(strstr(log, ".1: "));   // more rounds in these processes would not help
    r = e2e_pass(folder, "$BIN/sweetspot compare $DIR/job.cfg --store $DIR/job.db");
    assert_contains(r.out, "undecided: another candidate may be faster by up to ");
}

// A worker that sends impossible results in the final is killed, and the final has no winner. The search's results are
// kept.
TEST(what_no_final_can_find_is_refused)
{
    static const struct {
        const char *mode, *reason;
    } invalid[] = {
        {"final_time_zero", "'times' of a problem is 0, outside 1e-07 to 1e+19"},
        {"final_time_tiny", "'times' of a problem is 4.94066e-324, outside 1e-07 to 1e+19"},
        {"final_time_negative", "'times' of a problem is -0.001, outside 1e-07 to 1e+19"},
        {"final_time_huge", "'times' of a problem is 1e+308"},
        {"final_time_text", "'times' of a problem is not a number"},
        {"final_problem_far", "'problem' of a problem is "},
        {"final_untimed", "a candidate passed the final without times"},
        {"final_unknown", "it reports on trial 9223372036854775807, which it was not given"},
        {"final_twice", "a candidate has two entries in the final"},
        {"final_blames_unknown", "it reports on trial 4711, which it was not given"},
    };
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
        char *folder = e2e_folder("impossible"), *mode = test_text("\"%s\"", invalid[i].mode);
        struct e2e_result r = tune_modes(folder, "7", mode);
        if (r.status != 1) fail_msg("%s: status %d: %s", invalid[i].mode, r.status, r.out);
        char *path = test_text("%s/job.log", folder), *log = test_owned(text_read_file(path, NULL));
        assert_contains(log ? log : r.out,
                        "the worker sends invalid messages: its answer to 'final': ", invalid[i].reason);
    }
}

// With the maximum for measure.final.candidates, twice as many candidates take part.
TEST(the_most_candidates_that_a_job_may_name_have_room)
{
    char *folder = e2e_folder("room");
    SCRIPTED_JOB(folder, .parameters = "{ name = \"X\"; values = [7]; }, { name = \"Y\"; range = [1, 210]; }",
                 .more = "strategy = \"exhaustive\"; measure = { final = { candidates = 100; rounds = "
                         "10; processes = 1; }; };");
    struct e2e_result r = e2e_passed(scripted_tune(folder, "FAKE_LOG=log FAKE_LOG_FINALS=1", "2>&1 && cat log"));
    assert_contains(r.out, "winner: trial ", "final 0.0: 10 rounds, 200 candidates, pid ", ", 100 places");
}

// The best three candidates and three spares take part, and so do all candidates that are as fast as the best, up to
// the job's limit. X=5 is 4% slower than X=7. A job whose times vary can raise `race`, and thereby admit more
// candidates to the final.
TEST(candidates_that_could_still_be_the_fastest_take_part)
{
    static const struct {
        const char *parameters, *race, *setting, *candidates, *places;
    } near[] = {
        {"{ name = \"X\"; range = [1, 12]; }", "", "", "final 0.0: 10 rounds, 6 candidates, pid ", ", 3 places\n"},
        {"{ name = \"X\"; range = [1, 12]; }", "race = 1000.0; slow_factor = 1000.0; ", "",
         "final 0.0: 10 rounds, 12 candidates, pid ", ", 12 places\n"},
        {"{ name = \"X\"; values = [5, 7]; }, { name = \"Y\"; range = [1, 8]; }", "", "",
         "final 0.0: 10 rounds, 16 candidates, pid ", ", 8 places\n"},
        {"{ name = \"X\"; values = [7]; }, { name = \"Y\"; range = [1, 30]; }", "", "",
         "final 0.0: 10 rounds, 24 candidates, pid ", ", 12 places\n"},
        {"{ name = \"X\"; values = [7]; }, { name = \"Y\"; range = [1, 30]; }", "", "candidates = 2; ",
         "final 0.0: 10 rounds, 4 candidates, pid ", ", 2 places\n"},
    };
    for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
        char *folder = e2e_folder("near");
        SCRIPTED_JOB(folder, .parameters = near[i].parameters,
                     .more = test_text("strategy = \"exhaustive\"; measure = { %sfinal = { %srounds = 10; "
                                       "processes = 1; }; };",
                                       near[i].race, near[i].setting));
        struct e2e_result r = e2e_passed(scripted_tune(folder, "FAKE_LOG=log FAKE_LOG_FINALS=1", "2>&1 && cat log"));
        assert_contains(r.out, near[i].candidates, near[i].places);
    }
}

// X=7 was the fastest, but the job no longer allows it. The remaining six configurations are equally fast, and all of
// them take part.
TEST(what_the_job_no_longer_allows_takes_no_place)
{
    static const char parameters[] = "{ name = \"X\"; values = [7, 9]; }, { name = \"Y\"; range = [1, 6]; }";
    static const char *const rules[] = {"X == 9 || Y <= 2", "X == 9"};
    char *folder = e2e_folder("outside"), *out = NULL;
    for (int i = 0; i < 2; i++) {
        SCRIPTED_JOB(folder, .parameters = parameters,
                     .more = test_text("constraints = ( \"%s\" ); strategy = \"exhaustive\";\n"
                                       "measure = { final = { rounds = 10; processes = 1; }; };",
                                       rules[i]));
        out = e2e_passed(scripted_tune(folder, "FAKE_LOG=log FAKE_LOG_FINALS=1",
                                       i ? "--finish 2>&1 && cat log" : "--no-final 2>&1"))
                  .out;
    }
    assert_contains(out, "final 0.0: 10 rounds, 6 candidates, pid ", ", 6 places\n");
}

TEST_MAIN(NULL, NULL)
