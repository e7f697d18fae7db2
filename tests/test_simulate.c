// Searches in simulated time (tuner/simulate/simulate.c), on this project's recorded spaces.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/testing.h"

#include "tuner/simulate/simulate.h"

TEST(what_is_wrong_with_the_settings_is_said_by_name)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "--timeline: compilers is missing"},
        {"compilers=16,gpu=1", "--timeline: compile is missing"},
        {"compilers=16,compile=1", "--timeline: gpu is missing"},
        {"compilers=0,compile=1,gpu=1", "compilers must be a whole number from 1 to 1024, not '0'"},
        {"compilers=2x,compile=1,gpu=1", "compilers must be a whole number from 1 to 1024, not '2x'"},
        {"compilers=16,compile=1,gpu=1,gpus=5000", "gpus must be a whole number from 1 to 1024, not '5000'"},
        {"compilers=16,compile=often,gpu=1", "compile must be 'recorded' or a time, such as 0.3 or 15ms, not 'often'"},
        {"compilers=16,compile=0,gpu=1", "compile must be 'recorded' or a time"},
        {"compilers=16,compile=1,gpu", "gpu must be 'recorded' or a time, such as 0.3 or 15ms, not ''"},
        {"compilers=16,compile=1,gpu=1,gpu=2", "gpu is given twice"},
        {"compiler=16,compile=1,gpu=1", "did you mean 'compilers'?"},
    };
    struct simulate_settings s;
    struct error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(simulate_parse(cases[i].text, &s, &err), -1);
        if (!strstr(err.message, cases[i].message)) fail_msg("'%s': %s", cases[i].text, err.message);
    }
    assert_int_equal(simulate_parse("gpu=15ms,compile=recorded,compilers=16", &s, &err), 0);
    assert_int_equal(s.compilers, 16);
    assert_int_equal(s.gpus, 1);
    assert_true(isnan(s.compile) && fabs(s.gpu - 0.015) < 1e-12);
}

static const char softmax[] = "tests/spaces/softmax_h200.json.gz";

// 0, or -1 with the message in *err.
static int simulate(const char *path, const char *strategy, const char *settings, int64_t processes,
                    struct simulate_figures *figures, struct error *err)
{
    struct recorded *r = recorded_read(path, err);
    if (!r) fail_msg("%s", err->message);
    const struct strategy_class *class = strategy_choose(strategy, NULL);
    struct simulate_options o = {.bench = {.strategy_count = 1,
                                           .strategies = &class,
                                           .file_count = 1,
                                           .paths = &path,
                                           .files = (const struct recorded *const *)&r,
                                           .budget_count = 3,
                                           .budgets = {10, 20, 60},
                                           .seeds = 6,
                                           .first_seed = 1,
                                           .processes = processes},
                                 .time_count = 2,
                                 .times = {5, 10}};
    struct bench_rows b = {0};
    int status = simulate_parse(settings, &o.settings, err);
    if (!status) status = simulate_run(&b, &o, err);
    if (!status) {
        memcpy(figures, b.cells, sizeof *figures);
        assert_memory_equal(figures, b.overall, sizeof *figures);
        bench_release(&b);
    }
    recorded_free(r);
    return status;
}

TEST(a_simulation_is_repeatable_and_its_curves_rise)
{
    struct simulate_figures once, again;
    struct error err;
    assert_int_equal(simulate(softmax, "default", "compilers=8,compile=recorded,gpu=0.35", 1, &once, &err), 0);
    assert_int_equal(simulate(softmax, "default", "compilers=8,compile=recorded,gpu=0.35", 3, &again, &err), 0);
    assert_memory_equal(&once, &again, sizeof once);
    assert_true(once.at_budget[0] > 0.5 && once.at_budget[2] <= 1);
    assert_true(once.at_budget[0] <= once.at_budget[1] && once.at_budget[1] <= once.at_budget[2]);
    assert_true(once.at_time[0] <= once.at_time[1]);
    assert_true(once.reached_95 > 1 - 1e-9);
}

TEST(a_slow_kernel_is_measured_without_pause_and_little_is_compiled_in_vain)
{
    struct simulate_figures f;
    struct error err;
    assert_int_equal(simulate(softmax, "default", "compilers=16,compile=0.3,gpu=2", 0, &f, &err), 0);
    assert_true(f.idle < 0.03);
    assert_true(f.compiled_per_measured >= 1 && f.compiled_per_measured <= 1.3);
    // The time is spent on measuring, one candidate after the other.
    assert_true(fabs(f.seconds_to_95 - (0.3 + 2 * f.evaluations_to_95)) < 0.1 * f.seconds_to_95);
    struct simulate_figures two;
    assert_int_equal(simulate(softmax, "default", "compilers=16,compile=0.3,gpu=2,gpus=2", 0, &two, &err), 0);
    assert_true(two.seconds_to_99 < f.seconds_to_99);
}

// Of 64 configurations that are proposed before the first result, the most promising are measured first. If they were
// measured in the order of proposal, the means would be .9525 and .9739.
TEST(what_promises_most_of_many_waiting_proposals_is_measured_first)
{
    const char *path = "tests/spaces/sgemm_2048_h200.json.gz";
    const struct strategy_class *class = strategy_choose("default", NULL);
    struct error err;
    struct recorded *r = recorded_read(path, &err);
    struct bench_options o = {.strategy_count = 1,
                              .strategies = &class,
                              .file_count = 1,
                              .paths = &path,
                              .files = (const struct recorded *const *)&r,
                              .budget_count = 2,
                              .budgets = {20, 60},
                              .seeds = 20,
                              .first_seed = 1,
                              .ahead = 64};
    struct bench_rows b = {0};
    assert_int_equal(bench_run(&b, &o, false, &err), 0);
    const struct bench_cell *cell = b.overall;
    if (!(cell->mean[0] > 0.965 && cell->mean[1] > 0.985)) fail_msg("%.4f and %.4f", cell->mean[0], cell->mean[1]);
    bench_release(&b);
    recorded_free(r);
}

TEST(strategies_that_cannot_rank_are_simulated_too)
{
    struct simulate_figures f;
    struct error err;
    assert_int_equal(simulate(softmax, "random", "compilers=4,compile=0.3,gpu=0.01", 0, &f, &err), 0);
    assert_true(f.at_budget[2] > 0 && f.compiled_per_measured <= 1.3);
    assert_true(f.idle > 0.8); // four compilers are too few
    // A space with fewer configurations than the budget is exhausted, and its optimum is found.
    assert_int_equal(
        simulate("tests/spaces/windowed_sum_h200.json.gz", "random", "compilers=4,compile=1,gpu=1", 0, &f, &err), 0);
    assert_true(f.at_budget[2] > 1 - 1e-9 && f.at_time[1] <= f.at_budget[2]);
}

TEST(times_that_a_recording_lacks_are_refused_by_name)
{
    struct simulate_figures f;
    struct error err;
    assert_int_equal(simulate(softmax, "random", "compilers=4,compile=0.3,gpu=recorded", 0, &f, &err), -1);
    assert_string_equal(err.message, "tests/spaces/softmax_h200.json.gz: it has no GPU times: give gpu=SECONDS");
    assert_int_equal(
        simulate("tests/spaces/sgemm_each_matrix.json.gz", "random", "compilers=4,compile=recorded,gpu=1", 0, &f, &err),
        -1);
    assert_contains(err.message, "it has no compile times");
}

TEST_MAIN(NULL, NULL)
