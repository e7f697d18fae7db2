// How far proposals run ahead (look_ahead.h): the module on its own, and in simulated time.
#include "tests/testing.h"

#include "tests/policy_sim.h"

TEST(proposals_run_ahead_as_far_as_the_times_ask_for)
{
    static const struct {
        size_t compilers, gpus;
        double (*compile_time)(struct sim *);
        double gpu_time;
        size_t least, most; // outstanding, once the times are known
    } cases[] = {
        {16, 1, third_of_a_second, 0.35, 2, 4},    // the next candidate is compiled while one is measured
        {16, 1, third_of_a_second, 5, 2, 2},       // a slow kernel needs few outstanding proposals
        {16, 1, third_of_a_second, 0.015, 17, 40}, // a fast kernel keeps the compilers busy
        {1, 1, third_of_a_second, 0.015, 2, 3},
        {16, 4, third_of_a_second, 0.35, 7, 14},
        {32, 2, at_once, 0.012, 4, 5}, // each GPU has a waiting candidate, which the other GPU cannot take
        {16, 1, hundredfold, 0.35, 5, 10},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sim *s =
            new_sim(&(struct policy_settings){.compilers = cases[i].compilers, .gpus = cases[i].gpus}, MOST_TASKS);
        s->compile_time = cases[i].compile_time;
        s->gpu_time = cases[i].gpu_time;
        for (int k = 0; k < 1000; k++) {
            assert_true(decide(s));
            size_t outstanding = task_queue_outstanding(&s->run.policy.queue);
            size_t busy = task_queue_count(&s->run.policy.queue, TASK_COMPILING);
            if (!s->reported_count && outstanding > LOOK_AHEAD_FIRST)
                fail_msg("case %zu: %zu at first", i, outstanding);
            if (s->reported_count > 100 && (outstanding < cases[i].least || outstanding > cases[i].most))
                fail_msg("case %zu: %zu outstanding", i, outstanding);
            assert_int_equal(busy < cases[i].compilers && task_queue_count(&s->run.policy.queue, TASK_QUEUED), 0);
            assert_true(step(s));
        }
        assert_true(s->reported_count > 100);
    }
}

TEST(the_throughput_is_that_of_the_slower_station_once_enough_is_outstanding)
{
    static const struct {
        size_t compilers, gpus;
        double compile, gpu;
        size_t outstanding;
        double throughput;
    } cases[] = {
        {16, 1, 0.3, 0.35, 1, 1 / 0.65}, // a single candidate is compiled, measured, replaced ..
        {16, 1, 0.3, 0.35, 2, 1 / 0.35}, // one is compiled while the other is measured
        {16, 1, 3.5, 0.35, 5, 5 / 3.85}, // too few proposals
        {16, 1, 3.5, 0.35, 11, 1 / 0.35}, {4, 1, 0.3, 0.01, 200, 4 / 0.3}, // the compilers limit it
        {100, 3, 0.3, 0.01, 200, 300},    {64, 256, 0.01, 0.3, 300, 256 / 0.3},
        {8, 256, 0.01, 0.3, 300, 800}, // the compilers limit it again
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct look_ahead a;
        look_ahead_init(&a, cases[i].compilers, cases[i].gpus);
        look_ahead_compiled(&a, cases[i].compile);
        look_ahead_measured(&a, cases[i].gpu);
        double throughput = look_ahead_throughput(&a, cases[i].outstanding);
        if (fabs(throughput / cases[i].throughput - 1) > 0.05) fail_msg("case %zu: %g a second", i, throughput);
    }
}

TEST(what_the_driver_takes_to_replace_a_result_asks_for_more_outstanding)
{
    struct look_ahead a;
    look_ahead_init(&a, 64, 256);
    for (int i = 0; i < LOOK_AHEAD_RECENT; i++) look_ahead_compiled(&a, 1e-3);
    for (int i = 0; i <= 4 * LOOK_AHEAD_RECENT; i++) look_ahead_measured(&a, 0.3);
    size_t without = a.number;
    for (int i = 0; i < 3000; i += 2) { // two results, replaced 20 and 40 ms later
        look_ahead_freed(&a, i);
        look_ahead_freed(&a, i);
        look_ahead_proposed(&a, i + 0.02);
        look_ahead_proposed(&a, i + 0.04);
    }
    look_ahead_proposed(&a, 5000); // nothing to replace
    look_ahead_freed(&a, 5000);
    look_ahead_full(&a);
    look_ahead_proposed(&a, 6000); // it was not wanted earlier
    assert_float_equal(a.replace.mean, 0.03, 2e-3);
    for (int i = 0; i < 4 * LOOK_AHEAD_RECENT; i++) look_ahead_measured(&a, 0.3);
    assert_in_range(a.number, without + 15, without + 60); // 853 per second, replaced after 0.03 s: 26
    assert_true(fabs(look_ahead_throughput(&a, 200) / (200 / 0.331) - 1) < 0.05);
    assert_true(fabs(look_ahead_throughput(&a, 300) / (256 / 0.3) - 1) < 0.05);
}

TEST(one_candidate_that_hangs_does_not_change_how_far_ahead)
{
    struct look_ahead a;
    look_ahead_init(&a, 16, 1);
    for (int i = 0; i < 40; i++) {
        look_ahead_compiled(&a, 0.3);
        look_ahead_measured(&a, 0.35);
    }
    size_t before = a.number;
    look_ahead_compiled(&a, 600);
    look_ahead_measured(&a, 0.35);
    assert_true(a.number <= before + 1);
    look_ahead_measured(&a, 600);
    assert_true(a.number >= before - 1);
}

// With many compilers, some candidates fail before the first one can be measured.
TEST(a_few_that_fail_at_once_do_not_send_the_compilers_far_ahead)
{
    struct look_ahead a;
    look_ahead_init(&a, 512, 64);
    size_t first = a.number;
    for (size_t i = 0; i < first; i++) look_ahead_compiled(&a, 0.3);
    for (int i = 0; i < 40; i++) look_ahead_measured(&a, 0);
    assert_int_equal(a.number, first);
    for (size_t i = 40; i < first; i++) look_ahead_measured(&a, 0.35);
    assert_in_range(a.number, 64 * 0.65 / 0.35 - 8, 64 * 0.65 / 0.35 + 40);
}

TEST(all_compilers_work_when_everything_fails_to_compile)
{
    struct sim *s = new_sim(&(struct policy_settings){.compilers = 16, .gpus = 1, .evaluations = 500}, MOST_TASKS);
    for (int i = 0; i < 500; i++) s->tasks[i].fails_to_compile = true;
    run_to_the_end(s);
    assert_int_equal(s->reported_count, 500);
    assert_int_equal(s->run.policy.end, SEARCH_EVALUATIONS_USED);
    assert_true(s->run.now < 1.1 * 500 / 16);
}

TEST(compile_times_that_vary_hundredfold_keep_the_gpus_busy)
{
    static const struct {
        size_t compilers, gpus;
        double gpu_time;
        bool counts;
    } cases[] = {
        {16, 1, 0.35, false}, {16, 2, 0.35, false}, {8, 1, 0.35, false}, {32, 4, 0.3, false}, {16, 1, 0.35, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct policy_settings settings = {.compilers = cases[i].compilers, .gpus = cases[i].gpus, .evaluations = 2000};
        struct sim *s = new_sim(&settings, MOST_TASKS), *again = new_sim(&settings, MOST_TASKS);
        double busy = 0;
        s->gpu_time = again->gpu_time = cases[i].gpu_time;
        s->compile_time = again->compile_time = hundredfold;
        s->counts = again->counts = cases[i].counts;
        run_to_the_end(s);
        run_to_the_end(again);
        assert_int_equal(s->reported_count, 2000);
        bool seen[MOST_TASKS] = {false};
        for (int k = 0; k < s->reported_count; k++) {
            assert_false(seen[s->reported[k]]); // each once
            seen[s->reported[k]] = true;
            assert_int_equal(s->reported[k], again->reported[k]); // and again in the same order
        }
        for (size_t g = 0; g < cases[i].gpus; g++) busy += s->run.busy[g] / (double)cases[i].gpus;
        if (busy < 0.95 * s->run.now) fail_msg("case %zu: busy %.1f s of %.1f", i, busy, s->run.now);
    }
}

TEST(slow_compilers_are_kept_busy_instead)
{
    struct sim *s = new_sim(&(struct policy_settings){.compilers = 4, .gpus = 1, .evaluations = 500}, MOST_TASKS);
    double sum = 0;
    s->compile_time = hundredfold;
    s->gpu_time = 0.01;
    run_to_the_end(s);
    for (int i = 0; i < 500; i++) sum += s->tasks[i].compile;
    assert_true(sum > 0.95 * 4 * s->run.now);
}

TEST_MAIN(NULL, NULL)
