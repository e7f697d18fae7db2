// The statistics of measured times (tuner/base/stats.c) and the decisions when to stop sampling (tuner/gpu/sampler.c),
// with simulated clocks.
#include "tests/testing.h"
#include "tuner/base/stats.h"
#include "tuner/gpu/sampler.h"

enum { MOST = 5000 };
static double samples[MOST], rival_samples[MOST];
static const struct measure_settings settings = {
    .cold = true,
    .warmup = 2,
    .min_samples = 7,
    .max_samples = 50,
    .precision = 0.01,
    .max_time = 0.2,
    .graph_below = 20e-6,
    .slow_factor = 3,
};

// A reproducible number in [0, 1).
static double noise(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

TEST(the_median_of_odd_and_even_counts)
{
    const double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2};
    assert_true(stats_median(odd, 3) == 2);
    assert_true(stats_median(even, 4) == 2.5);
    assert_true(odd[0] == 3); // unchanged
    assert_true(isnan(stats_median(odd, 0)));
}

TEST(the_interval_has_the_ranks_of_the_textbook)
{
    // Ranks k for 95%, from tables of the sign test.
    static const struct {
        size_t n, k;
    } table[] = {{6, 1}, {8, 1}, {9, 2}, {10, 2}, {20, 6}, {30, 10}, {50, 18}, {100, 40}};
    double x[100], low, high;
    for (size_t i = 0; i < 100; i++) x[i] = (double)(i + 1);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        stats_median_interval(x, table[i].n, &low, &high);
        assert_true(low == (double)table[i].k);
        assert_true(high == (double)(table[i].n - table[i].k + 1));
    }
}

TEST(the_interval_of_few_samples_is_all_of_them)
{
    const double x[] = {5, 1, 4, 2, 3};
    double low, high;
    stats_median_interval(x, 5, &low, &high);
    assert_true(low == 1 && high == 5);
    stats_median_interval(x, 1, &low, &high);
    assert_true(low == 5 && high == 5);
}

TEST(the_interval_covers_the_median_in_nearly_95_of_100_draws)
{
    uint64_t seed = 1;
    int covered = 0, trials = 4000;
    for (int t = 0; t < trials; t++) {
        double x[25], low, high;
        for (int i = 0; i < 25; i++) x[i] = pow(noise(&seed), 3); // skewed; median 1/8
        stats_median_interval(x, 25, &low, &high);
        covered += low <= 0.125 && 0.125 <= high;
    }
    assert_true(covered > trials * 0.94 && covered < trials * 0.975); // 95.7% for n = 25
}

TEST(a_paired_ratio_is_immune_to_drift_that_both_share)
{
    uint64_t seed = 2;
    double a[40], b[40];
    struct interval ratio, again;
    for (int i = 0; i < 40; i++) {
        double drift = 1 + i * 0.05;
        a[i] = 0.98 * drift * (1 + 0.002 * noise(&seed));
        b[i] = drift * (1 + 0.002 * noise(&seed));
    }
    assert_int_equal(stats_paired_ratio(a, b, NULL, 40, 0.95, 1, &ratio), 40);
    assert_true(fabs(ratio.value - 0.98) < 0.001);
    assert_true(ratio.low <= ratio.value && ratio.value <= ratio.high && ratio.high < 0.982 && ratio.low > 0.978);
    stats_paired_ratio(a, b, NULL, 40, 0.95, 1, &again);
    assert_true(again.low == ratio.low && again.high == ratio.high); // the same seed, the same interval
    stats_paired_ratio(a, b, NULL, 40, 0.995, 1, &again);
    assert_true(again.low < ratio.low && again.high > ratio.high);
}

// Three clusters with very different numbers. The median is the middle cluster's, and the interval reaches from the
// lowest cluster to the highest.
TEST(a_clustered_median_is_as_uncertain_as_its_clusters)
{
    double x[45];
    unsigned char cluster[45], one[45] = {0};
    uint64_t seed = 3;
    for (int i = 0; i < 45; i++) {
        cluster[i] = (unsigned char)(2 * (i % 3)); // cluster numbers may have gaps
        x[i] = (i % 3 == 0 ? 1 : i % 3 == 1 ? 1.1 : 1.05) + 1e-3 * noise(&seed);
    }
    struct interval m = stats_clustered_median(x, cluster, 45, 0.95, 1);
    assert_true(fabs(m.value - 1.05) < 1e-3);
    assert_true(m.low < 1.001 && m.high > 1.099 && m.low > 0.999 && m.high < 1.102);
    struct interval a = stats_clustered_median(x, one, 45, 0.95, 1), b = stats_clustered_median(x, NULL, 45, 0.95, 1);
    assert_true(a.value == b.value && a.low == b.low && a.high == b.high);
    assert_true(isnan(stats_clustered_median(x, cluster, 0, 0.95, 1).value));
}

// Samples of one process share part of their error. stats.h states the coverage that is possible.
TEST(intervals_of_clustered_medians_cover_as_much_as_can_be_had)
{
    uint64_t seed = 4;
    static const struct {
        int clusters;
        double least;
    } cases[] = {{3, 0.72}, {6, 0.89}};
    for (size_t c = 0; c < 2; c++) {
        int covered = 0, trials = 300;
        for (int t = 0; t < trials; t++) {
            double x[42], offset[6];
            unsigned char cluster[42];
            for (int k = 0; k < 6; k++) offset[k] = noise(&seed) - 0.5;
            for (int i = 0; i < 42; i++) {
                cluster[i] = (unsigned char)(i % cases[c].clusters);
                x[i] = offset[cluster[i]] + 0.3 * (noise(&seed) - 0.5);
            }
            struct interval m = stats_clustered_median(x, cluster, 42, 0.95, (uint64_t)t);
            covered += m.low <= 0 && 0 <= m.high;
        }
        if (covered < cases[c].least * trials)
            fail_msg("%d clusters: the interval covers %d of %d", cases[c].clusters, covered, trials);
    }
}

// Feeds a sampler from a clock until it wants no more; returns the number of batches.
static int feed(struct sampler *s, double time, double spread, uint64_t seed)
{
    int batches = 0;
    double x[MOST];
    for (size_t n; (n = sampler_wanted(s)) > 0 && batches < 1000; batches++) {
        double spent = 0;
        for (size_t i = 0; i < n; i++) spent += x[i] = time * (1 + spread * noise(&seed));
        sampler_add(s, x, n, spent, false);
    }
    return batches;
}

TEST(a_steady_clock_needs_one_batch)
{
    struct sampler s;
    struct measurement m;
    sampler_begin(&s, &settings, 0, samples);
    assert_int_equal(feed(&s, 1e-3, 0.002, 1), 1);
    sampler_result(&s, &m);
    assert_int_equal(m.count, 7);
    assert_int_equal(m.shown_count, 7);
    assert_true(m.low <= m.time && m.time <= m.high && !m.slow && !m.throttled);
}

TEST(a_noisy_clock_gets_more_samples_but_no_more_than_allowed)
{
    struct sampler s;
    sampler_begin(&s, &settings, 0, samples);
    feed(&s, 1e-3, 0.05, 1);
    assert_true(s.count > 7);
    sampler_begin(&s, &settings, 0, samples);
    feed(&s, 1e-3, 2.0, 1);
    assert_int_equal(s.count, 50);
}

TEST(the_time_allowed_ends_sampling)
{
    struct sampler s;
    sampler_begin(&s, &settings, 0, samples);
    feed(&s, 0.05, 1.0, 1);
    assert_int_equal(s.count, 7); // min_samples are always taken
}

TEST(beyond_the_cutoff_one_time_is_enough)
{
    struct sampler s;
    struct measurement m;
    sampler_begin(&s, &settings, 1e-3, samples);
    sampler_screen(&s, 2.9e-3);
    assert_true(sampler_wanted(&s) > 0);
    sampler_screen(&s, 3.1e-3);
    assert_int_equal(sampler_wanted(&s), 0);
    sampler_result(&s, &m);
    assert_true(m.slow && m.count == 1 && m.time == 3.1e-3);
}

TEST(a_clear_loser_is_not_measured_to_the_end)
{
    struct sampler loser, rival;
    sampler_begin(&loser, &settings, 1e-3, samples);
    feed(&loser, 1.5e-3, 0.1, 3);
    sampler_begin(&rival, &settings, 1e-3, rival_samples);
    feed(&rival, 1.0e-3, 0.1, 3);
    assert_int_equal(loser.count, 3);
    assert_false(loser.slow);
    assert_true(rival.count > 7);
}

// A candidate that is 1% slower may still be one of the fastest. Three samples that scatter by 5% are not enough to
// reject one that is 5% slower.
TEST(a_candidate_that_may_be_among_the_first_is_measured_in_full)
{
    struct sampler s;
    sampler_begin(&s, &settings, 1e-3, samples);
    feed(&s, 1.01e-3, 0.002, 3);
    assert_int_equal(s.count, 7);
    const double scattered[] = {1.03e-3, 1.05e-3, 1.08e-3};
    sampler_begin(&s, &settings, 1e-3, samples);
    sampler_add(&s, scattered, 3, 3e-3, false);
    assert_int_equal(sampler_wanted(&s), 4);
    const double close[] = {1.05e-3, 1.0505e-3, 1.051e-3};
    sampler_begin(&s, &settings, 1e-3, samples);
    sampler_add(&s, close, 3, 3e-3, false);
    assert_int_equal(sampler_wanted(&s), 0);
}

TEST(first_launches_say_nothing_before_enough_candidates_are_known)
{
    struct early_stop r = {0};
    for (int i = 0; i < EARLY_STOP_LEAST; i++) {
        assert_true(early_stop_bound(&r, 1) == 0);
        early_stop_learn(&r, 1.1, 1.0);
    }
    assert_true(fabs(early_stop_bound(&r, 1.1) - 1) < 1e-12);
    early_stop_learn(&r, 0, 1); // a candidate that was not verified has no first launch
    early_stop_learn(&r, 1, NAN);
    assert_int_equal(r.count, EARLY_STOP_LEAST);
}

TEST(the_worst_first_launch_of_late_counts)
{
    struct early_stop r = {0};
    early_stop_learn(&r, 2, 1);
    for (int i = 1; i < EARLY_STOP_KEPT; i++) early_stop_learn(&r, 0.9, 1);
    assert_true(early_stop_bound(&r, 3) == 1.5);
    early_stop_learn(&r, 1.2, 1); // the first pair is forgotten
    assert_true(fabs(early_stop_bound(&r, 3) - 2.5) < 1e-12);
}

// A bound that is too low would stop a good candidate. It is too low if a share exceeds all 32 earlier shares, which
// happens with a probability of 1/33.
TEST(a_first_launch_seldom_underrates_a_candidate)
{
    struct early_stop r = {0};
    uint64_t seed = 5;
    int beyond = 0, draws = 20000;
    for (int i = 0; i < draws; i++) {
        double share = 1 + 0.1 * noise(&seed) + (noise(&seed) < 0.02 ? 0.5 * noise(&seed) : 0);
        beyond += early_stop_bound(&r, share) > 1;
        early_stop_learn(&r, share, 1);
    }
    assert_true(beyond < draws / 25 && beyond > draws / 50);
}

TEST(throttled_batches_are_taken_again_but_not_forever)
{
    struct sampler s;
    struct measurement m;
    const double x[7] = {1, 1, 1, 1, 1, 1, 1};
    sampler_begin(&s, &settings, 0, samples);
    sampler_add(&s, x, 7, 1e-3, true);
    assert_int_equal(s.count, 0);
    assert_int_equal(sampler_wanted(&s), 7);
    sampler_add(&s, x, 7, 1e-3, false);
    sampler_result(&s, &m);
    assert_false(m.throttled);
    sampler_begin(&s, &settings, 0, samples);
    for (int i = 0; i <= SAMPLER_RETAKES; i++) sampler_add(&s, x, 7, 1e-3, true);
    sampler_result(&s, &m);
    assert_true(m.count == 7 && m.throttled);
    sampler_begin(&s, &settings, 0, samples);
    sampler_add(&s, x, 7, 3 * settings.max_time, true); // took too long to be repeated
    assert_int_equal(s.count, 7);
}

TEST(strange_settings_are_made_sensible)
{
    struct measure_settings strange = settings;
    struct sampler s;
    strange.min_samples = 0;
    strange.max_samples = MOST;
    sampler_begin(&s, &strange, 0, samples);
    assert_int_equal(sampler_wanted(&s), 1);
    feed(&s, 1e-9, 3.0, 5);
    assert_true(s.count <= MOST);
}

TEST(thousands_of_samples_are_taken_if_requested)
{
    struct measure_settings many = settings;
    struct sampler s;
    many.max_samples = MOST;
    sampler_begin(&s, &many, 0, samples);
    feed(&s, 1e-9, 3.0, 5);
    assert_int_equal(s.count, MOST);
}

TEST(settings_go_to_a_worker_and_come_back)
{
    struct measure_settings all, back;
    struct error err;
    assert_int_equal(settings_read(measure_table, NULL, &all, &err), 0); // the defaults
    assert_true(all.cold && all.warmup == 2 && all.max_samples == 100 && all.slow_factor == 3 && all.early_stop == 1.1);
    all = (struct measure_settings){.cold = false,
                                    .warmup = 0,
                                    .min_samples = 3,
                                    .max_samples = 4,
                                    .precision = 0.5,
                                    .max_time = 2,
                                    .graph_below = 3,
                                    .rest = 4,
                                    .slow_factor = 5,
                                    .early_stop = 6};
    autojson json_t *object = settings_write(measure_table, &all);
    assert_string_equal(json_get_string(object, "cache", ""), "warm");
    assert_null(json_object_get(object, "timeout")); // used only by the driver
    assert_int_equal(settings_read(measure_table, object, &back, &err), 0);
    assert_true(!back.cold && back.warmup == 0 && back.min_samples == 3 && back.max_samples == 4);
    assert_true(back.precision == 0.5 && back.max_time == 2 && back.graph_below == 3 && back.rest == 4);
    assert_true(back.slow_factor == 5 && back.early_stop == 6);
}

TEST(settings_of_the_wrong_type_or_out_of_range_are_refused_by_name)
{
    static const char *const wrong[][2] = {{"{\"cache\":\"tepid\"}", "'cache'"},
                                           {"{\"warmup\":20000}", "'warmup'"},
                                           {"{\"max_samples\":50.5}", "'max_samples'"},
                                           {"{\"rest\":-1}", "'rest'"},
                                           {"{\"race\":0.5}", "'race'"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct measure_settings unused;
        struct error err = {""};
        json_t *object = test_json(json_parse(wrong[i][0], &err));
        assert_int_equal(settings_read(measure_table, object, &unused, &err), -1);
        assert_contains(err.message, wrong[i][1]);
    }
}

TEST_MAIN(NULL, NULL)
