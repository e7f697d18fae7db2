// The driver's decisions without a driver: workers and clock are simulated.
#include "tests/policy_sim.h"
#include "tuner/policy/time_slices.h"

// Log-uniform from 0.05 s to 5 s.
static double hundredfold(struct sim *s)
{
    return 0.05 * pow(100, random_unit(&s->random));
}

static double third_of_a_second(struct sim *s)
{
    (void)s;
    return 0.3;
}

static void proposals_run_ahead_as_far_as_the_times_ask_for(void **state)
{
    (void)state;
    static const struct {
        size_t compilers, gpus;
        double (*compile_time)(struct sim *);
        double gpu_time;
        size_t least, most; // outstanding, when the times are known
    } cases[] = {
        {16, 1, third_of_a_second, 0.35, 2, 4},    // the next is compiled while one is measured
        {16, 1, third_of_a_second, 5, 2, 2},       // a slow kernel's proposals are fresh
        {16, 1, third_of_a_second, 0.015, 17, 40}, // a fast kernel's keep the compilers busy
        {1, 1, third_of_a_second, 0.015, 2, 3},
        {16, 4, third_of_a_second, 0.35, 7, 14},
        {32, 2, at_once, 0.012, 4, 5}, // one waits behind each that is measured, and is not there for the other GPU
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
        free_sim(s);
    }
}

static void the_throughput_is_that_of_the_slower_station_once_enough_is_outstanding(void **state)
{
    (void)state;
    static const struct {
        size_t compilers, gpus;
        double compile, gpu;
        size_t outstanding;
        double throughput;
    } cases[] = {
        {16, 1, 0.3, 0.35, 1, 1 / 0.65}, // one goes round: compiled, measured, compiled ..
        {16, 1, 0.3, 0.35, 2, 1 / 0.35}, // one is compiled while the other is measured
        {16, 1, 3.5, 0.35, 5, 5 / 3.85}, // too few
        {16, 1, 3.5, 0.35, 11, 1 / 0.35}, {4, 1, 0.3, 0.01, 200, 4 / 0.3}, // the compilers limit it
        {100, 3, 0.3, 0.01, 200, 300},    {64, 256, 0.01, 0.3, 300, 256 / 0.3},
        {8, 256, 0.01, 0.3, 300, 800}, // the compilers again
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

static void what_the_driver_takes_to_replace_a_result_asks_for_more_outstanding(void **state)
{
    (void)state;
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
    look_ahead_proposed(&a, 5000); // in place of nothing
    look_ahead_freed(&a, 5000);
    look_ahead_full(&a);
    look_ahead_proposed(&a, 6000); // it was not wanted any sooner
    assert_float_equal(a.replace.mean, 0.03, 2e-3);
    for (int i = 0; i < 4 * LOOK_AHEAD_RECENT; i++) look_ahead_measured(&a, 0.3);
    assert_in_range(a.number, without + 15, without + 60); // 853 a second come back 0.03 s later: 26
    assert_true(fabs(look_ahead_throughput(&a, 200) / (200 / 0.331) - 1) < 0.05);
    assert_true(fabs(look_ahead_throughput(&a, 300) / (256 / 0.3) - 1) < 0.05);
}

static void one_candidate_that_hangs_does_not_change_how_far_ahead(void **state)
{
    (void)state;
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

// With many compilers, some candidates fail before the first one can have been measured.
static void a_few_that_fail_at_once_do_not_send_the_compilers_far_ahead(void **state)
{
    (void)state;
    struct look_ahead a;
    look_ahead_init(&a, 512, 64);
    size_t first = a.number;
    for (size_t i = 0; i < first; i++) look_ahead_compiled(&a, 0.3);
    for (int i = 0; i < 40; i++) look_ahead_unmeasured(&a);
    assert_int_equal(a.number, first);
    for (size_t i = 40; i < first; i++) look_ahead_measured(&a, 0.35);
    assert_in_range(a.number, 64 * 0.65 / 0.35 - 8, 64 * 0.65 / 0.35 + 40);
}

static void all_compilers_work_when_everything_fails_to_compile(void **state)
{
    (void)state;
    struct sim *s = new_sim(&(struct policy_settings){.compilers = 16, .gpus = 1, .evaluations = 500}, MOST_TASKS);
    for (int i = 0; i < 500; i++) s->tasks[i].fails_to_compile = true;
    run_to_the_end(s);
    assert_int_equal(s->reported_count, 500);
    assert_int_equal(s->run.policy.end, SEARCH_EVALUATIONS_USED);
    assert_true(s->run.now < 1.1 * 500 / 16);
    free_sim(s);
}

static void a_gpu_whose_worker_keeps_dying_loses_what_killed_it_and_nothing_else(void **state)
{
    (void)state;
    struct sim *s = new_sim(&(struct policy_settings){.compilers = 8, .gpus = 2, .evaluations = 300}, MOST_TASKS);
    s->gpu_time = 0.05; // two wait at each worker
    for (int i = 0; i < 300; i += 7) s->tasks[i].kills_trial = true;
    run_to_the_end(s);
    bool seen[MOST_TASKS] = {false};
    for (int i = 0; i < s->reported_count; i++) {
        assert_false(seen[s->reported[i]]);
        seen[s->reported[i]] = true;
    }
    assert_int_equal(s->reported_count, 300);
    assert_int_equal(s->run.policy.queue.count, 0);
    free_sim(s);
}

static double later_is_better(int number)
{
    return number;
}

static double odd_is_hopeless(int number)
{
    return number % 2 ? -1 : number;
}

static void what_waits_is_measured_by_promise_where_the_strategy_ranks(void **state)
{
    (void)state;
    struct policy_settings settings = {.ranks = true, .compilers = 8, .gpus = 1, .evaluations = 8};
    struct sim *s = new_sim(&settings, MOST_TASKS);
    s->acquisition = later_is_better;
    run_to_the_end(s);
    // The first two are both given out at once, since nothing is known of the kernel's time.
    assert_string_equal(s->trace, "p1 c1 p2 c2 p3 c3 p4 c4 p5 c5 p6 c6 p7 c7 p8 c8 m1 m2 m8 m7 m6 m5 m4 m3");
    assert_int_equal(s->forgotten, 0);
    free_sim(s);
}

static int ranked;

static double count_ranked(int number)
{
    ranked++;
    return odd_is_hopeless(number);
}

static double ten_seconds(struct sim *s)
{
    (void)s;
    return 10;
}

static void nothing_is_ranked_where_all_that_waits_finds_a_gpu(void **state)
{
    (void)state;
    static const struct {
        size_t compilers;
        double (*compile_time)(struct sim *);
        bool ranked;
    } cases[] = {{2, ten_seconds, false}, {8, third_of_a_second, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct policy_settings settings = {
            .ranks = true, .compilers = cases[i].compilers, .gpus = 4, .evaluations = 100};
        struct sim *s = new_sim(&settings, MOST_TASKS);
        s->compile_time = cases[i].compile_time;
        s->acquisition = count_ranked;
        ranked = 0;
        run_to_the_end(s);
        assert_int_equal(s->reported_count, 100);
        assert_int_equal(ranked > 0, cases[i].ranked);
        assert_int_equal(s->forgotten > 0, cases[i].ranked);
        free_sim(s);
    }
}

static void what_is_hopeless_is_forgotten_while_another_waits_and_never_too_often(void **state)
{
    (void)state;
    struct sim *s =
        new_sim(&(struct policy_settings){.ranks = true, .compilers = 16, .gpus = 1, .evaluations = 400}, MOST_TASKS);
    s->compile_time = hundredfold;
    s->gpu_time = 0.35;
    s->acquisition = odd_is_hopeless;
    run_to_the_end(s);
    assert_int_equal(s->reported_count, 400);
    assert_true(s->forgotten > 40);
    assert_true(s->proposed <= 1.3 * s->reported_count);
    assert_int_equal(s->reported_count + s->forgotten + s->dropped, s->proposed);
    for (int i = 0; i < s->reported_count; i++)
        for (int k = 0; k < i; k++) assert_int_not_equal(s->reported[i], s->reported[k]);
    free_sim(s);
}

static void a_gpu_holds_two_requests_and_the_idlest_gets_the_next(void **state)
{
    (void)state;
    struct sim *s = new_sim(&(struct policy_settings){.compilers = 8, .gpus = 2}, MOST_TASKS);
    assert_true(decide(s));
    for (int i = 0; i < 4; i++) simulation_compiler_answers(&s->run, (size_t)i);
    decide(s);
    assert_int_equal(s->tasks[0].queued.worker, 0);
    assert_int_equal(s->tasks[1].queued.worker, 1);
    assert_int_equal(s->tasks[2].queued.worker, 0);
    assert_int_equal(s->tasks[3].queued.worker, 1);
    for (int i = 4; i < 8; i++) simulation_compiler_answers(&s->run, (size_t)i);
    decide(s);
    for (int i = 4; i < 8; i++) assert_int_equal(s->tasks[i].queued.state, TASK_READY); // both are full
    simulation_gpu_answers(&s->run, 1);
    decide(s);
    assert_int_equal(s->tasks[4].queued.state, TASK_ON_GPU);
    assert_int_equal(s->tasks[4].queued.worker, 1);
    assert_int_equal(s->tasks[5].queued.state, TASK_READY);
    free_sim(s);
}

static const struct policy_settings lockstep = {.lockstep = true, .compilers = 1, .gpus = 1};

static void lockstep_compiles_eight_then_measures_one_and_asks_one(void **state)
{
    (void)state;
    struct sim *s = new_sim(&lockstep, 10);
    run_to_the_end(s);
    assert_string_equal(s->trace, "p1 p2 p3 p4 p5 p6 p7 p8 c1 c2 c3 c4 c5 c6 c7 c8 m1 p9 c9 m2 p10 c10 m3 m4 m5 m6 m7 "
                                  "m8 m9 m10");
    free_sim(s);
}

static enum task_known half_known(int number)
{
    return number % 2 ? TASK_KNOWN_FROM_GPU : TASK_UNKNOWN;
}

static enum task_known all_known(int number)
{
    return number % 5 ? TASK_KNOWN_FROM_GPU : TASK_KNOWN_TO_FAIL_BEFORE_GPU;
}

static void lockstep_tells_known_results_in_their_place(void **state)
{
    (void)state;
    enum { COUNT = 40 };
    int undisturbed[COUNT];
    for (int run = 0; run < 3; run++) {
        struct sim *s = new_sim(&lockstep, COUNT);
        for (int i = 4; i < COUNT; i += 5) s->tasks[i].fails_to_compile = true; // 5, 10, ..
        s->known = run == 1 ? half_known : run == 2 ? all_known : NULL;
        // 5 is odd and does not compile: half_known would call it known from the GPU, which it is not.
        for (int i = 4; run == 1 && i < COUNT; i += 5) s->tasks[i].fails_to_compile = false;
        run_to_the_end(s);
        assert_int_equal(s->reported_count, COUNT);
        if (run == 2)
            for (int i = 0; i < COUNT; i++) assert_int_equal(s->reported[i], undisturbed[i]);
        if (run == 2) assert_null(strpbrk(s->trace, "cm")); // no worker had work
        if (run == 1)
            for (int i = 0; i < COUNT; i++) assert_int_equal(s->reported[i], i + 1);
        if (run == 0) memcpy(undisturbed, s->reported, sizeof undisturbed);
        free_sim(s);
    }
    assert_int_equal(undisturbed[0], 5); // a failure of the compiler is told before anything is measured
}

static void counting_goes_in_batches_of_96_and_what_is_left_at_the_end(void **state)
{
    (void)state;
    struct sim *s = new_sim(&(struct policy_settings){.compilers = 4, .gpus = 1}, 250);
    s->counts = true;
    run_to_the_end(s);
    assert_int_equal(s->batch_count, 3);
    assert_int_equal(s->batches[0], POLICY_COUNT_BATCH);
    assert_int_equal(s->left_countable[0], 0); // sent as soon as it was full
    assert_int_equal(s->batches[1], POLICY_COUNT_BATCH);
    assert_int_equal(s->batches[2], 250 - 2 * POLICY_COUNT_BATCH);
    assert_int_equal(s->counted, 250);
    assert_int_equal(s->run.policy.queue.count, 0);
    const char *first = strstr(s->trace, "n96"), *last = strstr(s->trace, "n58");
    assert_non_null(first);
    assert_non_null(last);
    assert_non_null(strstr(first, " m250")); // the first while the search goes on
    assert_null(strstr(last, " m"));         // the last when there is nothing else
    free_sim(s);
}

static void what_kills_the_worker_while_it_counts_is_found_and_goes_without_counters(void **state)
{
    (void)state;
    struct sim *s = new_sim(&(struct policy_settings){.compilers = 2, .gpus = 1}, 20);
    s->counts = true;
    s->gpu_time = 0.05; // so quick that two requests wait at the worker
    s->tasks[6].kills_counting = true;
    run_to_the_end(s);
    assert_int_equal(s->batches[0], 20);
    assert_int_equal(s->batch_count, 22); // then each alone; the one that waited behind the seventh is sent again
    for (int i = 1; i < 22; i++) assert_int_equal(s->batches[i], 1);
    assert_int_equal(s->counted, 19);
    assert_int_equal(s->without_counters, 1);
    assert_int_equal(s->reported_count, 20); // nothing is measured again
    free_sim(s);
}

static void tasks_of_an_earlier_run_are_compiled_and_counted(void **state)
{
    (void)state;
    struct sim *s = new_sim(&(struct policy_settings){.compilers = 2, .gpus = 1}, 0);
    for (int i = 0; i < 5; i++) {
        s->tasks[i].number = i + 1;
        policy_add(&s->run.policy, &s->tasks[i].queued, TASK_COUNT, TASK_UNKNOWN);
    }
    run_to_the_end(s);
    assert_string_equal(s->trace, "c1 c2 c3 c4 c5 n5");
    assert_int_equal(s->reported_count, 0);
    free_sim(s);
}

static double flat(int number)
{
    (void)number;
    return 1;
}

static void a_search_ends_for_the_reason_that_holds(void **state)
{
    (void)state;
    static const struct {
        struct policy_settings settings;
        int most;
        double (*objective)(int number);
        enum search_end end;
        int reported; // -1: whatever comes
    } cases[] = {
        {{.time = 50.5}, MOST_TASKS, falling, SEARCH_TIME_UP, -1},
        {{.evaluations = 30}, MOST_TASKS, falling, SEARCH_EVALUATIONS_USED, 30},
        {{.time = 0}, 30, falling, SEARCH_EXHAUSTED, 30},
        {{.stop = {.target = 0.05}}, MOST_TASKS, falling, SEARCH_TARGET, -1},
        {{.stop = {.until = 0.01}}, MOST_TASKS, flat, SEARCH_UNTIL, -1},
        {{.time = 1e6, .evaluations = 20, .stop = {.target = 1e-9}}, 300, falling, SEARCH_EVALUATIONS_USED, 20},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct policy_settings settings = cases[i].settings;
        settings.compilers = 3;
        settings.gpus = 1;
        struct sim *s = new_sim(&settings, cases[i].most);
        s->objective = cases[i].objective;
        while (decide(s)) {
            double until = policy_next(&s->run.policy, s->run.now).until;
            if (cases[i].end == SEARCH_TIME_UP) assert_true(until == (s->run.policy.end ? INFINITY : 50.5));
            if (!step(s)) fail_msg("case %zu stands still", i);
        }
        if (s->run.policy.end != cases[i].end)
            fail_msg("case %zu: %s, not %s", i, search_end_text(s->run.policy.end), search_end_text(cases[i].end));
        assert_true(*search_end_text(s->run.policy.end));
        if (cases[i].reported >= 0) assert_int_equal(s->reported_count, cases[i].reported);
        if (cases[i].end == SEARCH_TARGET) assert_true(s->reported_count >= 20 && s->reported_count < 40);
        if (cases[i].end == SEARCH_TIME_UP)
            assert_true(s->run.now >= 50.5 && s->run.now < 54); // two on the GPU were finished
        assert_int_equal(policy_exhausted(&s->run.policy), cases[i].end != SEARCH_TIME_UP);
        assert_int_equal(s->run.policy.queue.count, 0);
        assert_int_equal(s->reported_count + s->dropped, s->proposed);
        free_sim(s);
    }
}

static void results_of_earlier_runs_count_towards_the_evaluations(void **state)
{
    (void)state;
    for (int before = 0; before <= 40; before += 20) {
        struct sim *s = new_sim(&(struct policy_settings){.compilers = 3, .gpus = 1, .evaluations = 30}, MOST_TASKS);
        for (int i = 0; i < before; i++) policy_reported(&s->run.policy, 1);
        run_to_the_end(s);
        assert_int_equal(s->reported_count, before < 30 ? 30 - before : 0);
        assert_int_equal(s->proposed, s->reported_count);
        free_sim(s);
    }
}

static void an_interrupt_drops_what_is_not_on_a_gpu_and_counts_nothing(void **state)
{
    (void)state;
    struct sim *s = new_sim(&(struct policy_settings){.compilers = 8, .gpus = 1}, MOST_TASKS);
    s->counts = true;
    s->compile_time = third_of_a_second;
    s->gpu_time = 0.09;                              // two requests wait at the worker
    while (s->reported_count < POLICY_COUNT_BATCH) { // a batch would be due now
        decide(s);
        step(s);
    }
    size_t on_gpu = task_queue_count(&s->run.policy.queue, TASK_ON_GPU),
           outstanding = task_queue_outstanding(&s->run.policy.queue);
    int reported = s->reported_count;
    assert_int_equal(on_gpu, 1);
    policy_interrupt(&s->run.policy);
    assert_true(decide(s));
    assert_int_equal(s->dropped, outstanding - on_gpu);
    while (decide(s)) assert_true(step(s));
    assert_int_equal(s->run.policy.end, SEARCH_INTERRUPTED);
    assert_int_equal(s->reported_count, reported + (int)on_gpu);
    assert_int_equal(s->batch_count, 0);
    assert_false(policy_exhausted(&s->run.policy));
    free_sim(s);
}

static void a_strategy_without_proposals_is_asked_again_when_it_is_told(void **state)
{
    (void)state;
    struct sim *s = new_sim(&(struct policy_settings){.compilers = 2, .gpus = 1}, 3);
    assert_true(decide(s)); // and so it does not ask for ever
    assert_int_equal(s->proposed, 3);
    s->most = 5;
    assert_true(decide(s));
    assert_int_equal(s->proposed, 3);
    step(s); // compiled: nothing that a strategy would hear of
    assert_true(decide(s));
    assert_int_equal(s->proposed, 3);
    while (!s->reported_count) {
        assert_int_equal(s->proposed, 3);
        assert_true(step(s));
        decide(s);
    }
    while (s->proposed < 5) {
        assert_true(step(s));
        decide(s);
    }
    free_sim(s);
    s = new_sim(&(struct policy_settings){.compilers = 1, .gpus = 1}, 0);
    assert_int_equal(policy_next(&s->run.policy, 0).kind, POLICY_PROPOSE);
    policy_no_proposal(&s->run.policy, false);
    assert_int_equal(policy_next(&s->run.policy, 0).kind, POLICY_DONE);
    assert_int_equal(s->run.policy.end, SEARCH_NO_PROPOSALS);
    free_sim(s);
}

static void a_lost_worker_fails_the_head_of_its_queue_and_gives_back_the_rest(void **state)
{
    (void)state;
    for (int announced = 0; announced < 2; announced++) {
        struct sim *s = new_sim(&(struct policy_settings){.compilers = 6, .gpus = 2}, MOST_TASKS);
        decide(s);
        for (int i = 0; i < 6; i++) {
            simulation_compiler_answers(&s->run, (size_t)i);
            decide(s);
        }
        const struct policy_gpu *g = &s->run.policy.gpus[0];
        assert_int_equal(g->queued, 2);
        struct sim_task *head = (struct sim_task *)g->queue[0].tasks[0],
                        *behind = (struct sim_task *)g->queue[1].tasks[0];
        if (announced) { // it answered "crashed" to the head, and then there is one more
            simulation_gpu_answers(&s->run, 0);
            assert_int_equal(s->reported_count, 1);
        }
        simulation_gpu_lost(&s->run, 0, announced);
        assert_int_equal(s->reported_count, 1);
        assert_int_equal(s->reported[0], head->number);
        assert_int_equal(behind->queued.state, TASK_READY);
        decide(s);
        assert_int_equal(s->run.policy.gpus[0].queued, 0); // not before it is ready again
        simulation_gpu_answers(&s->run, 1);
        decide(s);
        assert_int_equal(behind->queued.state, TASK_ON_GPU); // by the other one
        assert_int_equal(behind->queued.worker, 1);
        policy_gpu_ready(&s->run.policy, 0);
        decide(s);
        assert_true(s->run.policy.gpus[0].queued > 0);
        free_sim(s);
    }
}

static void compile_times_that_vary_hundredfold_keep_the_gpus_busy(void **state)
{
    (void)state;
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
            assert_int_equal(s->reported[k], again->reported[k]); // and the same way again
        }
        for (size_t g = 0; g < cases[i].gpus; g++) busy += s->run.busy[g] / (double)cases[i].gpus;
        if (busy < 0.95 * s->run.now) fail_msg("case %zu: busy %.1f s of %.1f", i, busy, s->run.now);
        free_sim(s);
        free_sim(again);
    }
}

static void slow_compilers_are_kept_busy_instead(void **state)
{
    (void)state;
    struct sim *s = new_sim(&(struct policy_settings){.compilers = 4, .gpus = 1, .evaluations = 500}, MOST_TASKS);
    double sum = 0;
    s->compile_time = hundredfold;
    s->gpu_time = 0.01;
    run_to_the_end(s);
    for (int i = 0; i < 500; i++) sum += s->tasks[i].compile;
    assert_true(sum > 0.95 * 4 * s->run.now);
    free_sim(s);
}

static struct sim *sim_in_final(int finalists)
{
    struct sim *s = new_sim(&(struct policy_settings){.compilers = 2, .gpus = 1, .evaluations = 4}, 4);
    run_to_the_end(s);
    s->run.done = false;
    s->trace_length = 0;
    s->trace[0] = 0;
    for (int i = 10; i < 10 + finalists; i++) {
        s->tasks[i].number = i;
        s->tasks[i].compile = 1;
        policy_add(&s->run.policy, &s->tasks[i].queued, TASK_FINALIST, TASK_UNKNOWN);
    }
    policy_begin_final(&s->run.policy);
    return s;
}

static void the_final_begins_when_all_finalists_are_compiled(void **state)
{
    (void)state;
    struct sim *s = sim_in_final(3);
    for (int i = 0; i < 3; i++) {
        assert_true(decide(s));
        assert_null(strchr(s->trace, 'f'));
        step(s);
    }
    assert_true(decide(s));
    assert_string_equal(s->trace, "c10 c11 c12 f");
    struct policy_request request = policy_gpu_answered(&s->run.policy, 0);
    assert_int_equal(request.kind, REQUEST_FINAL);
    assert_int_equal(request.task_count, 0);
    assert_false(decide(s));
    free_sim(s);
}

// Two GPUs are ready; the one that began goes on, once it is ready again.
static void a_final_goes_on_with_the_same_tasks_on_the_same_gpu(void **state)
{
    (void)state;
    struct sim *s = new_sim(&(struct policy_settings){.compilers = 2, .gpus = 2, .evaluations = 4}, 4);
    run_to_the_end(s);
    s->run.done = false;
    s->tasks[10].number = 10;
    policy_add(&s->run.policy, &s->tasks[10].queued, TASK_FINALIST, TASK_UNKNOWN);
    policy_begin_final(&s->run.policy);
    assert_int_equal(policy_next(&s->run.policy, 0).kind, POLICY_COMPILE);
    policy_compiled(&s->run.policy, &s->tasks[10].queued);
    s->run.policy.gpus[0].ready = false;
    struct policy_action a = policy_next(&s->run.policy, 0);
    assert_true(a.kind == POLICY_FINAL && a.worker == 1);
    policy_gpu_answered(&s->run.policy, 1);
    assert_int_equal(policy_next(&s->run.policy, 0).kind, POLICY_DONE);
    policy_gpu_lost(&s->run.policy, 1, true); // its worker is started anew
    policy_gpu_ready(&s->run.policy, 0);
    policy_continue_final(&s->run.policy);
    assert_int_equal(policy_next(&s->run.policy, 0).kind, POLICY_WAIT);
    policy_gpu_ready(&s->run.policy, 1);
    a = policy_next(&s->run.policy, 0);
    assert_true(a.kind == POLICY_FINAL && a.worker == 1);
    policy_gpu_answered(&s->run.policy, 1);
    free_sim(s);
}

static void a_final_without_finalists_or_worker_or_patience_is_over(void **state)
{
    (void)state;
    struct sim *s = sim_in_final(1); // one that does not compile
    decide(s);
    policy_remove(&s->run.policy, &s->tasks[10].queued);
    assert_false(decide(s));
    assert_false(s->run.policy.final_over);
    free_sim(s);
    s = sim_in_final(1); // the worker dies in it
    decide(s);
    step(s);
    decide(s);
    struct policy_request blamed = policy_gpu_lost(&s->run.policy, 0, false);
    assert_int_equal(blamed.kind, REQUEST_FINAL);
    assert_false(decide(s));
    assert_true(s->run.policy.final_over);
    free_sim(s);
    s = sim_in_final(2);
    decide(s);
    policy_interrupt(&s->run.policy);
    assert_false(decide(s));
    free_sim(s);
}

// A policy of one's own, without the simulation: workers come and go.
static void workers_that_join_get_work_and_those_that_are_gone_get_none(void **state)
{
    (void)state;
    struct policy p;
    struct queued_task tasks[3] = {0};
    policy_init(&p, &(struct policy_settings){.compilers = 1, .gpus = 1});
    policy_begin(&p, 0);
    for (size_t i = 0; i < 3; i++) policy_add(&p, &tasks[i], TASK_TRIAL, TASK_UNKNOWN);
    policy_no_proposal(&p, false);
    policy_compiler_there(&p, 0, false);
    assert_int_equal(policy_next(&p, 0).kind, POLICY_WAIT);
    policy_grow(&p, 2, 2);
    struct policy_action a = policy_next(&p, 0);
    assert_true(a.kind == POLICY_COMPILE && a.worker == 1 && a.task == &tasks[0]);
    policy_compiler_gone(&p, &tasks[0]); // as often as it takes, and without blame
    policy_compiler_there(&p, 0, true);
    policy_compiler_there(&p, 1, false);
    for (int i = 0; i < 3; i++) {
        a = policy_next(&p, 0);
        assert_true(a.kind == POLICY_COMPILE && a.worker == 0 && a.task == &tasks[0]);
        if (i < 2) policy_compiler_gone(&p, &tasks[0]);
    }
    policy_compiled(&p, &tasks[0]);
    policy_gpu_ready(&p, 1);
    // With the first nodes that are lost it is innocent; then it is doubted.
    for (int i = 0; i <= POLICY_NODES_LOST; i++) {
        while ((a = policy_next(&p, 0)).kind == POLICY_COMPILE) policy_compiled(&p, a.task);
        assert_true(a.kind == POLICY_MEASURE && a.worker == 1 && a.task == &tasks[0]);
        bool retryable = policy_lost_with_node(&p, 1);
        assert_int_equal(retryable, i < POLICY_NODES_LOST);
        struct policy_request blamed = policy_gpu_lost(&p, 1, retryable);
        assert_int_equal(blamed.kind, retryable ? REQUEST_NONE : REQUEST_TRIAL);
        free(blamed.tasks);
        policy_gpu_ready(&p, 1);
    }
    policy_release(&p);
}

static void a_final_whose_gpu_is_gone_moves_to_another(void **state)
{
    (void)state;
    struct policy p;
    struct queued_task task = {0};
    policy_init(&p, &(struct policy_settings){.compilers = 1, .gpus = 2});
    policy_add(&p, &task, TASK_FINALIST, TASK_UNKNOWN);
    policy_begin_final(&p);
    assert_int_equal(policy_next(&p, 0).kind, POLICY_COMPILE);
    policy_compiled(&p, &task);
    policy_gpu_ready(&p, 0);
    struct policy_action a = policy_next(&p, 0);
    assert_true(a.kind == POLICY_FINAL && a.worker == 0);
    assert_true(policy_lost_with_node(&p, 0));
    assert_int_equal(policy_gpu_lost(&p, 0, true).kind, REQUEST_NONE);
    assert_true(p.final_over);
    policy_move_final(&p);
    assert_int_equal(policy_next(&p, 0).kind, POLICY_WAIT);
    policy_gpu_ready(&p, 1);
    a = policy_next(&p, 0);
    assert_true(a.kind == POLICY_FINAL && a.worker == 1);
    policy_release(&p);
}

// A job gains what its rate says for every second that it has had, until it is exhausted. Every slice takes its time.
static void the_time_of_several_jobs_goes_to_the_one_that_gains_most(void **state)
{
    (void)state;
    enum { JOBS = 3 };
    static const struct {
        double time, rate[JOBS], limit[JOBS]; // limit: s until it is exhausted
        double expected[JOBS];                // s that each gets
    } cases[] = {
        {120, {0, 0.1, 0.01}, {1e9, 1e9, 1e9}, {20, 80, 20}}, {120, {0, 0.1, 0.01}, {1e9, 50, 1e9}, {20, 50, 50}},
        {120, {0, 0, 0}, {1e9, 1e9, 1e9}, {80, 20, 20}},      {120, {1, 1, 1}, {10, 10, 10}, {20, 20, 20}},
        {9, {0, 0, 1}, {1e9, 1e9, 1e9}, {2, 2, 4}}, // slices have two seconds, and the last may be cut to half
        {4, {0, 0, 1}, {1e9, 1e9, 1e9}, {2, 2, 2}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct time_slices slices = time_slices_make(cases[i].time, JOBS);
        double got[JOBS] = {0}, spent = 0, gains[JOBS];
        for (size_t job = 0, turn = 0; job < JOBS; turn++) {
            double seconds = turn < JOBS ? slices.first : slices.next;
            got[job] += seconds;
            spent += seconds;
            gains[job] = got[job] >= cases[i].limit[job] ? (double)NAN : cases[i].rate[job];
            job = turn + 1 < JOBS ? turn + 1 : time_slices_next(&slices, spent, gains, JOBS);
        }
        for (size_t job = 0; job < JOBS; job++)
            if (fabs(got[job] - cases[i].expected[job]) > 1e-9)
                fail_msg("case %zu: job %zu got %g s, not %g", i, job, got[job], cases[i].expected[job]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proposals_run_ahead_as_far_as_the_times_ask_for),
        cmocka_unit_test(the_throughput_is_that_of_the_slower_station_once_enough_is_outstanding),
        cmocka_unit_test(what_the_driver_takes_to_replace_a_result_asks_for_more_outstanding),
        cmocka_unit_test(one_candidate_that_hangs_does_not_change_how_far_ahead),
        cmocka_unit_test(a_few_that_fail_at_once_do_not_send_the_compilers_far_ahead),
        cmocka_unit_test(all_compilers_work_when_everything_fails_to_compile),
        cmocka_unit_test(a_gpu_whose_worker_keeps_dying_loses_what_killed_it_and_nothing_else),
        cmocka_unit_test(what_waits_is_measured_by_promise_where_the_strategy_ranks),
        cmocka_unit_test(nothing_is_ranked_where_all_that_waits_finds_a_gpu),
        cmocka_unit_test(what_is_hopeless_is_forgotten_while_another_waits_and_never_too_often),
        cmocka_unit_test(a_gpu_holds_two_requests_and_the_idlest_gets_the_next),
        cmocka_unit_test(lockstep_compiles_eight_then_measures_one_and_asks_one),
        cmocka_unit_test(lockstep_tells_known_results_in_their_place),
        cmocka_unit_test(counting_goes_in_batches_of_96_and_what_is_left_at_the_end),
        cmocka_unit_test(what_kills_the_worker_while_it_counts_is_found_and_goes_without_counters),
        cmocka_unit_test(tasks_of_an_earlier_run_are_compiled_and_counted),
        cmocka_unit_test(a_search_ends_for_the_reason_that_holds),
        cmocka_unit_test(results_of_earlier_runs_count_towards_the_evaluations),
        cmocka_unit_test(an_interrupt_drops_what_is_not_on_a_gpu_and_counts_nothing),
        cmocka_unit_test(a_strategy_without_proposals_is_asked_again_when_it_is_told),
        cmocka_unit_test(a_lost_worker_fails_the_head_of_its_queue_and_gives_back_the_rest),
        cmocka_unit_test(compile_times_that_vary_hundredfold_keep_the_gpus_busy),
        cmocka_unit_test(slow_compilers_are_kept_busy_instead),
        cmocka_unit_test(the_final_begins_when_all_finalists_are_compiled),
        cmocka_unit_test(a_final_goes_on_with_the_same_tasks_on_the_same_gpu),
        cmocka_unit_test(a_final_without_finalists_or_worker_or_patience_is_over),
        cmocka_unit_test(workers_that_join_get_work_and_those_that_are_gone_get_none),
        cmocka_unit_test(the_time_of_several_jobs_goes_to_the_one_that_gains_most),
        cmocka_unit_test(a_final_whose_gpu_is_gone_moves_to_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
