// The energy of executions, tested without a GPU: the window on a counter that changes in steps, the decision by
// energy, and the share of a command's time that measuring energy takes. Also whole runs, with a scripted worker and on
// a fake device, whose memory is host memory.
#include "tests/scripted.h"
#include "tests/testing.h"

#include <math.h>

#include "tuner/final/final_clock.h"
#include "tuner/final/final_decide.h"
#include "tuner/gpu/energy_window.h"

// Every `every` seconds, reads a counter that is updated every 98 ms. The power is `watts` W.
static const char *read_steps(struct energy_window *w, double watts, double every, double most)
{
    const char *reason = NULL;
    double from = 100.0123;
    energy_window_begin(w, 2, from);
    for (int i = 0; i * every < most && !reason && w->known <= ENERGY_PARTS; i++) {
        double t = from + i * every;
        reason = energy_window_read(w, 5000 + watts * 0.098 * floor(t / 0.098), t, t);
    }
    return reason;
}

TEST(a_counter_in_steps_gives_the_power)
{
    struct energy_window w;
    assert_null(read_steps(&w, 650, 0.4e-3, 10));
    struct interval watts = energy_window_watts(&w);
    assert_true(w.known == ENERGY_PARTS + 1 && w.at[ENERGY_PARTS][0] - w.at[0][0] >= 2);
    assert_true(fabs(watts.value / 650 - 1) < 3e-4 && watts.low <= watts.value && watts.high >= watts.value);
    assert_true(watts.low > 648 && watts.high < 652);
    assert_null(read_steps(&w, 650, 0.0173, 10)); // readings are slow
    watts = energy_window_watts(&w);
    assert_true(fabs(watts.value / 650 - 1) < 0.01 && watts.low < 647 && watts.low < 650 && watts.high > 650);
}

TEST(a_counter_that_cannot_be_used_has_a_reason)
{
    struct energy_window w;
    assert_string_equal(read_steps(&w, 650, 0.06, 10), "changes of the device's energy counter were seen too late");
    assert_string_equal(read_steps(&w, 0, 1e-3, 10), "changes of the device's energy counter were seen too late");
    assert_string_equal(read_steps(&w, NAN, 1e-3, 10), "the device's energy counter cannot be read");
    energy_window_begin(&w, 2, 0);
    assert_null(energy_window_read(&w, 4294967.2, 0.001, 0.001));
    assert_null(energy_window_read(&w, 4294967.3, 0.002, 0.002));
    assert_string_equal(energy_window_read(&w, 12, 0.003, 0.003), "the device's energy counter ran backwards");
}

TEST(a_process_that_sleeps_after_a_reading_does_not_move_a_change)
{
    struct energy_window w;
    energy_window_begin(&w, 2, 0);
    assert_null(energy_window_read(&w, 1, 0, 0.3)); // the counter may have changed since the reading
    assert_null(energy_window_read(&w, 2, 0.301, 0.302));
    assert_int_equal(w.known, 0);
    assert_null(energy_window_read(&w, 3, 0.34, 0.341));
    assert_int_equal(w.known, 1);
    assert_true(fabs(w.at[0][0] - 0.321) < 1e-9 && fabs(w.gap - 0.04) < 1e-9);
}

TEST(the_share_of_flush_and_restore_is_taken_off)
{
    double share;
    struct interval whole = {600, 594, 606}, bare = {300, 297, 303};
    struct interval joules = energy_of_execution(whole, 2e-3, bare, 0.5e-3, 10, &share); // 1.2 J, of which 0.15 J
    assert_true(fabs(joules.value - 0.105) < 1e-9 && fabs(share - 0.125) < 1e-9);
    assert_true(fabs(joules.low - 0.10365) < 1e-9 && fabs(joules.high - 0.10635) < 1e-9);
    joules = energy_of_execution(bare, 0.5e-3, whole, 2e-3, 1, &share);
    assert_true(isnan(joules.value) && share > 1);
}

static const double one[] = {1, 1, 1, 1, 1, 1}, faster[] = {0.8, 0.8, 0.8, 0.8, 0.8, 0.8};

static struct contender contender(const double *times, double joules, double width)
{
    return (struct contender){.candidate = true,
                              .rounds = 6,
                              .objectives = times,
                              .energy = {joules, joules * (1 - width), joules * (1 + width)}};
}

TEST(the_least_energy_wins_though_it_is_slower)
{
    struct contender entries[] = {contender(faster, 1.1, 0.001), contender(one, 0.95, 0.001), contender(one, 0, 0),
                                  contender(one, 0.5, 0.001)};
    struct final_verdict v;
    entries[3].candidate = false;
    final_decide(entries, 4, 1, &v);
    assert_int_equal(v.winner, 0);
    assert_true(final_decide_energy(entries, 4, false, &v));
    assert_true(v.winner == 1 && v.certainty == FINAL_FASTEST && v.within == 0);
    assert_true(final_decide_energy(entries, 4, true, &v)); // 0.88 and 0.95
    assert_int_equal(v.winner, 0);
    entries[0].energy = (struct interval){0.953, 0.948, 0.958};
    assert_true(final_decide_energy(entries, 4, false, &v));
    assert_true(v.winner == 1 && v.certainty == FINAL_TIED && v.rival == 0 && entries[0].tied);
    entries[0].energy.low = 0.9;
    assert_true(final_decide_energy(entries, 4, false, &v));
    assert_true(v.winner == 1 && v.certainty == FINAL_UNDECIDED && v.within > 0.05 && !entries[0].tied);
    entries[0].energy = entries[1].energy = (struct interval){NAN, NAN, NAN};
    final_decide(entries, 4, 1, &v);
    assert_false(final_decide_energy(entries, 4, false, &v));
    assert_int_equal(v.winner, 0);
}

TEST(energy_has_the_time_that_is_left)
{
    const struct final_size size = {.candidates = 12, .baselines = 2, .rounds = 40, .processes = 1};
    struct final_clock c = {.deadline = 200, .kernel = 1e-3, .worker = 0.5, .sanitizer = 3, .nvcc = 4, .energy = 4};
    double without = final_clock_planned(&c, &size);
    assert_true(final_clock_reserve(&c, &size, 1000) == without + 7 + 12);
    assert_true(final_clock_reserve(&c, &size, 2 * (without + 7 + 11)) == without + 7);
    assert_true(final_clock_for_energy(&c, 150) == 43 && final_clock_energy(&c, &size) == 0);
    c.energy_decides = true;
    assert_true(fabs(final_clock_planned(&c, &size) - without - 56) < 1e-9 && final_clock_for_energy(&c, 150) == 50);
    assert_int_equal(final_clock_fit(&c, &size, without + 40).candidates, 8);
}

static struct e2e_result tune(const char *folder, const char *minimize, const char *before, const char *options)
{
    SCRIPTED_JOB(folder, .parameters = "{ name = \"X\"; values = [1, 7, 8]; }",
                 .more = test_text("strategy = \"exhaustive\"; measure = { final = { rounds = 10; %s }; "
                                   "};",
                                   minimize));
    return e2e_run(folder,
                   "cd '%s' && export SWEETSPOT_NVCC=none FAKE_LOG=log FAKE_LOG_FINALS=1 " SCRIPTED
                   "%s; $BIN/sweetspot tune job.cfg --store job.db -q %s 2>&1; s=$?; cat log; exit $s",
                   folder, before, options);
}

static char *shown(const char *folder, const char *command)
{
    return e2e_passed(e2e_run(folder, "cd '%s' && $BIN/sweetspot %s --store job.db 2>&1", folder, command)).out;
}

// X=8 takes 1.2% longer than X=7 but uses less energy.
TEST(a_run_can_minimise_energy)
{
    char *folder = e2e_folder("energy");
    struct e2e_result r = e2e_passed(tune(folder, "minimize = \"energy\";", "FAKE_ENERGY=1", ""));
    assert_contains(r.out, ", least energy\n  X=8", "33.67 mJ at 300 W and 1755 MHz, flush and restore (5%) subtracted",
                    ", at the power limit\n", "cublas: 500.0 mJ at 300 W", "energy 0.1: 1 rounds, 3 candidates");
    assert_contains(shown(folder, "compare job.cfg"), "decided by energy", "tuned, N=1024: 33.67 mJ at 300 W",
                    "cublas, N=1024: 500.0 mJ");
    assert_contains(shown(folder, "compare job.cfg -f json"), "\"minimize\": \"energy\"", "\"watts\": 300.0",
                    "\"clock_mhz\": 1755.0", "\"share\": 0.05", "\"power_limited\": true", "\"joules\": [");
    assert_contains(shown(folder, "report job.cfg -f json"), "\"joules\":0.0336", "\"power_limited\":true");
    shown(folder, "header job.cfg -o out.h");
    assert_contains(test_owned(text_read_file(test_text("%s/out.h", folder), NULL)),
                    "   N=1024  33.67 mJ at 300 W and 1755 MHz");
}

// X=1 takes 0.12 J and 1.36 ms, X=7 37.5 mJ and 1 ms, X=8 33.67 mJ and 1.01 ms.
TEST(the_winner_by_time_has_its_energy_too)
{
    struct e2e_result r = e2e_passed(tune(e2e_folder("by_time"), "", "FAKE_ENERGY=1", ""));
    assert_contains(r.out, ", fastest\n  X=7", "37.50 mJ at 300 W", "cublas: 500.0 mJ", ": 1 rounds, 1 candidates");
    r = e2e_passed(tune(e2e_folder("no_checks"), "", "FAKE_ENERGY=1", "--no-checks"));
    assert_null(strstr(r.out, "energy 0."));
    assert_contains(r.out, "compute-sanitizer, nvcc's build and energy are left out");
    r = e2e_passed(tune(e2e_folder("product"), "minimize = \"energy*time\";", "FAKE_ENERGY=1", "--no-checks"));
    assert_contains(r.out, ", least energy*time\n  X=8");
}

// X=6 and X=8 take the same time, so the shared memory decides. The energy shown is the winner's.
TEST(the_lighter_of_equals_has_its_energy)
{
    static const struct {
        const char *shared, *winner, *energy;
    } cases[] = {{"1024 * (20 - X)", "  X=8\n", "\n  33.67 mJ at"}, {"1024 * X", "  X=6\n", "\n  43.29 mJ at"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = e2e_folder("lighter");
        SCRIPTED_JOB(folder, .parameters = "{ name = \"X\"; values = [8, 6, 1]; }", .shared = cases[i].shared,
                     .more = "strategy = \"exhaustive\"; measure = { final = { rounds = 10; }; };");
        struct e2e_result r = e2e_passed(e2e_run(folder,
                                                 "cd '%s' && export SWEETSPOT_NVCC=none FAKE_ENERGY=1 " SCRIPTED
                                                 "; $BIN/sweetspot tune job.cfg --store job.db -q 2>&1",
                                                 folder));
        assert_contains(r.out, cases[i].winner, cases[i].energy);
    }
}

TEST(without_energies_the_fastest_wins)
{
    struct e2e_result r = e2e_passed(tune(e2e_folder("none"), "minimize = \"energy\";", "A=", ""));
    assert_contains(r.out, "no energy is known, since the device has no energy counter, so the fastest candidate wins",
                    ", fastest\n  X=7");
    r = e2e_passed(tune(e2e_folder("unread"), "minimize = \"energy\";", "FAKE_ENERGY=none", ""));
    assert_contains(r.out, "no energy is known, so the fastest", "X=7", "energy not measured: scripted");
    r = e2e_passed(tune(e2e_folder("late"), "", "FAKE_ENERGY=1", "--time 3s"));
    assert_contains(r.out, "the energy is not measured: no time is left", "X=7", "to decide with them: ", "--finish");
}

TEST(what_cannot_be_minimised_is_refused)
{
    char *folder = e2e_folder("refused");
    assert_contains(tune(folder, "minimize = \"joules\";", "A=", "").out,
                    "job.cfg:5: 'minimize' must be one of \"time\", \"energy\", \"energy*time\"");
    assert_contains(tune(folder, "minimize = \"energy\"; }; }; objective = \"each\"; budget = { x = {", "A=", "").out,
                    "job.cfg:5: 'minimize' must be \"time\" with objective = \"each\"");
}

TEST_MAIN(NULL, NULL)
