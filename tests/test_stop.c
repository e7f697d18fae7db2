// Stop rules.
#include "search/model/stop.h"
#include "tests/testing.h"

TEST(without_rules_a_search_never_stops)
{
    struct stop s;
    stop_init(&s, &(struct stop_rules){0});
    for (int i = 0; i < 10000; i++) {
        stop_tell(&s, i % 3 ? 1.0 : NAN);
        assert_int_equal(stop_check(&s), SEARCH_GOES_ON);
    }
    stop_release(&s);
}

TEST(failures_alone_never_stop_a_search)
{
    struct stop s;
    stop_init(&s, &(struct stop_rules){.target = 1, .until = 0.01});
    for (int i = 0; i < 1000; i++) stop_tell(&s, NAN);
    assert_int_equal(stop_check(&s), SEARCH_GOES_ON);
    stop_release(&s);
}

TEST(a_target_is_reached_by_equality_too)
{
    struct stop s;
    stop_init(&s, &(struct stop_rules){.target = 2.0});
    stop_tell(&s, 2.1);
    assert_int_equal(stop_check(&s), SEARCH_GOES_ON);
    stop_tell(&s, 2.0);
    assert_int_equal(stop_check(&s), SEARCH_TARGET);
    stop_release(&s);
}

TEST(until_ends_a_search_that_has_stopped_gaining)
{
    struct stop s;
    stop_init(&s, &(struct stop_rules){.until = 0.01});
    for (int i = 0; i < 400; i++) { // a gain of 2% with every doubling
        stop_tell(&s, pow(0.98, log2(i + 1.0)));
        assert_int_equal(stop_check(&s), SEARCH_GOES_ON);
    }
    for (int i = 0; i < 600; i++) stop_tell(&s, 1);
    assert_int_equal(stop_check(&s), SEARCH_UNTIL);
    assert_true(*search_end_text(SEARCH_UNTIL));
    stop_release(&s);
    stop_init(&s, &(struct stop_rules){.until = 0.01});
    for (int i = 0; i < STOP_LEAST - 1; i++) {
        stop_tell(&s, 1);
        assert_int_equal(stop_check(&s), SEARCH_GOES_ON); // too early to say
    }
    stop_release(&s);
}

TEST(the_outlook_rises_with_time_and_falls_with_the_gain_wanted)
{
    struct stop s;
    stop_init(&s, &(struct stop_rules){0});
    assert_true(isnan(stop_outlook(&s, 0.01, 10, 10).chance));
    stop_tell(&s, NAN);
    assert_true(isnan(stop_outlook(&s, 0.01, 10, 10).chance));
    for (int i = 0; i < 200; i++) stop_tell(&s, pow(0.97, i / 40));
    double before = 0;
    for (uint64_t more = 10; more <= 1000; more *= 10) {
        struct stop_outlook o = stop_outlook(&s, 0.01, more, 10000);
        assert_true(o.chance > before && o.chance < 1 && o.gain > 0 && o.gain < 1);
        before = o.chance;
    }
    assert_true(stop_outlook(&s, 0.1, 200, 1000).chance < stop_outlook(&s, 0.01, 200, 1000).chance);
    assert_true(stop_outlook(&s, 0.01, 200, 3).chance == stop_outlook(&s, 0.01, 3, 1000).chance);
    assert_true(stop_outlook(&s, 0.01, 200, 0).chance == 0); // nothing is left to measure
    stop_release(&s);
}

TEST(a_rule_is_a_share_or_a_share_of_the_ceiling)
{
    static const struct {
        const char *text;
        double until, ceiling, target; // all 0: the string is refused
    } cases[] = {{"1%", 0.01, 0, 0},
                 {"0.02", 0.02, 0, 0},
                 {"95% of ceiling", 0, 0.95, 0},
                 {"0.5 of ceiling", 0, 0.5, 0},
                 {"5", 0, 0, 0},
                 {"101% of ceiling", 0, 0, 0},
                 {"0% of ceiling", 0, 0, 0},
                 {"% of ceiling", 0, 0, 0},
                 {" of ceiling", 0, 0, 0},
                 {"95%of ceiling", 0, 0, 0},
                 {"95% of ceilings", 0, 0, 0},
                 {"", 0, 0, 0},
                 {"nan", 0, 0, 0},
                 {"330us", 0, 0, 330e-6},
                 {"1min30s", 0, 0, 90},
                 {"330 us", 0, 0, 0},
                 {"us", 0, 0, 0},
                 {"330usual", 0, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stop_rules rules = {0};
        bool good = stop_read_until(cases[i].text, &rules);
        if (good != (cases[i].until + cases[i].ceiling + cases[i].target > 0)) fail_msg("'%s'", cases[i].text);
        assert_true(rules.until == cases[i].until && rules.ceiling == cases[i].ceiling);
        assert_true(fabs(rules.target - cases[i].target) < 1e-12);
    }
}

TEST_MAIN(NULL, NULL)
