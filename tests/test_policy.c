// The driver's decisions with simulated workers and a simulated clock.
#include "tests/policy_sim.h"
#include "tests/testing.h"
#include "tuner/policy/time_slices.h"

TEST(a_gpu_whose_worker_keeps_dying_loses_what_killed_it_and_nothing_else)
{
    struct sim *s = new_sim(&(struct policy_settings){.compilers = 8, .gpus = 2, .evaluations = 300}, MOST_TASKS);
    s->gpu_time = 0.05; // short, so that two requests wait at each worker
    for (int i = 0; i < 300; i += 7) s->tasks[i].kills_trial = true;
    run_to_the_end(s);
    bool seen[MOST_TASKS] = {false};
    for (int i = 0; i < s->reported_count; i++) {
        assert_false(seen[s->reported[i]]);
        seen[s->reported[i]] = true;
    }
    assert_int_equal(s->reported_count, 300);
    assert_int_equal(s->run.policy.queue.count, 0);
}

static double later_is_better(int number)
{
    return number;
}

static double odd_is_hopeless(int number)
{
    return number % 2 ? -1 : number;
}

TEST(what_waits_is_measured_by_promise_where_the_strategy_ranks)
{
    struct policy_settings settings = {.ranks = true, .compilers = 8, .gpus = 1, .evaluations = 8};
    struct sim *s = new_sim(&settings, MOST_TASKS);
    s->acquisition = later_is_better;
    run_to_the_end(s);
    // The first two tasks are both sent immediately, because the kernel's time is not known yet.
    assert_string_equal(s->trace, "p1 c1 p2 c2 p3 c3 p4 c4 p5 c5 p6 c6 p7 c7 p8 c8 m1 m2 m8 m7 m6 m5 m4 m3");
    assert_int_equal(s->forgotten, 0);
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

TEST(nothing_is_ranked_where_all_that_waits_finds_a_gpu)
{
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
    }
}

TEST(what_is_hopeless_is_forgotten_while_another_waits_and_never_too_often)
{
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
}

TEST(a_gpu_holds_two_requests_and_the_idlest_gets_the_next)
{
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
    for (int i = 4; i < 8; i++) assert_int_equal(s->tasks[i].queued.state, TASK_READY); // both GPUs' queues are full
    simulation_gpu_answers(&s->run, 1);
    decide(s);
    assert_int_equal(s->tasks[4].queued.state, TASK_ON_GPU);
    assert_int_equal(s->tasks[4].queued.worker, 1);
    assert_int_equal(s->tasks[5].queued.state, TASK_READY);
}

static const struct policy_settings lockstep = {.lockstep = true, .compilers = 1, .gpus = 1};

TEST(lockstep_compiles_eight_then_measures_one_and_asks_one)
{
    struct sim *s = new_sim(&lockstep, 10);
    run_to_the_end(s);
    assert_string_equal(s->trace, "p1 p2 p3 p4 p5 p6 p7 p8 c1 c2 c3 c4 c5 c6 c7 c8 m1 p9 c9 m2 p10 c10 m3 m4 m5 m6 m7 "
                                  "m8 m9 m10");
}

static enum task_known half_known(int number)
{
    return number % 2 ? TASK_KNOWN_FROM_GPU : TASK_UNKNOWN;
}

static enum task_known all_known(int number)
{
    return number % 5 ? TASK_KNOWN_FROM_GPU : TASK_KNOWN_TO_FAIL_BEFORE_GPU;
}

TEST(lockstep_tells_known_results_in_their_place)
{
    enum { COUNT = 40 };
    int undisturbed[COUNT];
    for (int run = 0; run < 3; run++) {
        struct sim *s = new_sim(&lockstep, COUNT);
        for (int i = 4; i < COUNT; i += 5) s->tasks[i].fails_to_compile = true; // 5, 10, ..
        s->known = run == 1 ? half_known : run == 2 ? all_known : NULL;
        // Task 5 would not compile, but half_known returns TASK_KNOWN_FROM_GPU for odd numbers.
        for (int i = 4; run == 1 && i < COUNT; i += 5) s->tasks[i].fails_to_compile = false;
        run_to_the_end(s);
        assert_int_equal(s->reported_count, COUNT);
        if (run == 2)
            for (int i = 0; i < COUNT; i++) assert_int_equal(s->reported[i], undisturbed[i]);
        if (run == 2) assert_null(strpbrk(s->trace, "cm")); // no worker had work
        if (run == 1)
            for (int i = 0; i < COUNT; i++) assert_int_equal(s->reported[i], i + 1);
        if (run == 0) memcpy(undisturbed, s->reported, sizeof undisturbed);
    }
    assert_int_equal(undisturbed[0], 5); // compile errors are reported before anything is measured
}

TEST(counting_goes_in_batches_of_96_and_what_is_left_at_the_end)
{
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
    assert_non_null(strstr(first, " m250")); // the first batch during the search
    assert_null(strstr(last, " m"));         // the last batch when nothing else is left
}

TEST(what_kills_the_worker_while_it_counts_is_found_and_goes_without_counters)
{
    struct sim *s = new_sim(&(struct policy_settings){.compilers = 2, .gpus = 1}, 20);
    s->counts = true;
    s->gpu_time = 0.05; // so short that two requests wait at the worker
    s->tasks[6].kills_counting = true;
    run_to_the_end(s);
    assert_int_equal(s->batches[0], 20);
    assert_int_equal(s->batch_count, 22); // then one task each; the request behind the seventh is sent again
    for (int i = 1; i < 22; i++) assert_int_equal(s->batches[i], 1);
    assert_int_equal(s->counted, 19);
    assert_int_equal(s->without_counters, 1);
    assert_int_equal(s->reported_count, 20); // nothing is measured again
}

TEST(tasks_of_an_earlier_run_are_compiled_and_counted)
{
    struct sim *s = new_sim(&(struct policy_settings){.compilers = 2, .gpus = 1}, 0);
    for (int i = 0; i < 5; i++) {
        s->tasks[i].number = i + 1;
        policy_add(&s->run.policy, &s->tasks[i].queued, TASK_COUNT, TASK_UNKNOWN);
    }
    run_to_the_end(s);
    assert_string_equal(s->trace, "c1 c2 c3 c4 c5 n5");
    assert_int_equal(s->reported_count, 0);
}

static double flat(int number)
{
    (void)number;
    return 1;
}

TEST(a_search_ends_for_the_reason_that_holds)
{
    static const struct {
        struct policy_settings settings;
        int most;
        double (*objective)(int number);
        enum search_end end;
        int reported; // -1: any number
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
            assert_true(s->run.now >= 50.5 && s->run.now < 54); // two trials on the GPU were finished
        assert_int_equal(policy_exhausted(&s->run.policy), cases[i].end != SEARCH_TIME_UP);
        assert_int_equal(s->run.policy.queue.count, 0);
        assert_int_equal(s->reported_count + s->dropped, s->proposed);
    }
}

TEST(results_of_earlier_runs_count_towards_the_evaluations)
{
    for (int before = 0; before <= 40; before += 20) {
        struct sim *s = new_sim(&(struct policy_settings){.compilers = 3, .gpus = 1, .evaluations = 30}, MOST_TASKS);
        for (int i = 0; i < before; i++) policy_reported(&s->run.policy, 1);
        run_to_the_end(s);
        assert_int_equal(s->reported_count, before < 30 ? 30 - before : 0);
        assert_int_equal(s->proposed, s->reported_count);
    }
}

TEST(an_interrupt_drops_what_is_not_on_a_gpu_and_counts_nothing)
{
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
}

TEST(a_strategy_without_proposals_is_asked_again_when_it_is_told)
{
    struct sim *s = new_sim(&(struct policy_settings){.compilers = 2, .gpus = 1}, 3);
    assert_true(decide(s)); // it does not keep asking
    assert_int_equal(s->proposed, 3);
    s->most = 5;
    assert_true(decide(s));
    assert_int_equal(s->proposed, 3);
    step(s); // compiled, which is not reported to a strategy
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
    s = new_sim(&(struct policy_settings){.compilers = 1, .gpus = 1}, 0);
    assert_int_equal(policy_next(&s->run.policy, 0).kind, POLICY_PROPOSE);
    policy_no_proposal(&s->run.policy, false);
    assert_int_equal(policy_next(&s->run.policy, 0).kind, POLICY_DONE);
    assert_int_equal(s->run.policy.end, SEARCH_NO_PROPOSALS);
}

TEST(a_lost_worker_fails_the_head_of_its_queue_and_gives_back_the_rest)
{
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
        if (announced) { // it answered "crashed" for the head of the queue
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
        assert_int_equal(behind->queued.state, TASK_ON_GPU); // on the other GPU
        assert_int_equal(behind->queued.worker, 1);
        policy_gpu_ready(&s->run.policy, 0);
        decide(s);
        assert_true(s->run.policy.gpus[0].queued > 0);
    }
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

TEST(the_final_begins_when_all_finalists_are_compiled)
{
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
}

// Two GPUs are ready. The GPU that began the final continues it as soon as this GPU is ready again.
TEST(a_final_continues_with_the_same_tasks_on_the_same_gpu)
{
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
    policy_gpu_lost(&s->run.policy, 1, true); // its worker is restarted
    policy_gpu_ready(&s->run.policy, 0);
    policy_continue_final(&s->run.policy);
    assert_int_equal(policy_next(&s->run.policy, 0).kind, POLICY_WAIT);
    policy_gpu_ready(&s->run.policy, 1);
    a = policy_next(&s->run.policy, 0);
    assert_true(a.kind == POLICY_FINAL && a.worker == 1);
    policy_gpu_answered(&s->run.policy, 1);
}

TEST(a_final_without_finalists_or_worker_or_patience_is_over)
{
    struct sim *s = sim_in_final(1); // one finalist, which does not compile
    decide(s);
    policy_remove(&s->run.policy, &s->tasks[10].queued);
    assert_false(decide(s));
    assert_false(s->run.policy.final_over);
    s = sim_in_final(1); // the worker dies in the final
    decide(s);
    step(s);
    decide(s);
    struct policy_request blamed = policy_gpu_lost(&s->run.policy, 0, false);
    assert_int_equal(blamed.kind, REQUEST_FINAL);
    assert_false(decide(s));
    assert_true(s->run.policy.final_over);
    s = sim_in_final(2);
    decide(s);
    policy_interrupt(&s->run.policy);
    assert_false(decide(s));
}

// A policy without the simulation; workers come and go.
TEST(workers_that_join_get_work_and_those_that_are_gone_get_none)
{
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
    policy_compiler_gone(&p, &tasks[0]); // any number of times, without blame
    policy_compiler_there(&p, 0, true);
    policy_compiler_there(&p, 1, false);
    for (int i = 0; i < 3; i++) {
        a = policy_next(&p, 0);
        assert_true(a.kind == POLICY_COMPILE && a.worker == 0 && a.task == &tasks[0]);
        if (i < 2) policy_compiler_gone(&p, &tasks[0]);
    }
    policy_compiled(&p, &tasks[0]);
    policy_gpu_ready(&p, 1);
    // The candidate is retried after the first lost nodes, and then suspected.
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

TEST(a_final_whose_gpu_is_gone_moves_to_another)
{
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

// A job gains at its rate for every second that it gets, until it is exhausted. Every slice uses its whole time.
TEST(the_time_of_several_jobs_goes_to_the_one_that_gains_most)
{
    enum { JOBS = 3 };
    static const struct {
        double time, rate[JOBS], limit[JOBS]; // limit: s until it is exhausted
        double expected[JOBS];                // s that each gets
    } cases[] = {
        {120, {0, 0.1, 0.01}, {1e9, 1e9, 1e9}, {20, 80, 20}}, {120, {0, 0.1, 0.01}, {1e9, 50, 1e9}, {20, 50, 50}},
        {120, {0, 0, 0}, {1e9, 1e9, 1e9}, {80, 20, 20}},      {120, {1, 1, 1}, {10, 10, 10}, {20, 20, 20}},
        {9, {0, 0, 1}, {1e9, 1e9, 1e9}, {2, 2, 4}}, // slices take two seconds, and the last may be half as long
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

TEST_MAIN(NULL, NULL)
