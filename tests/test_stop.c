// Stop rules.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "search/model/stop.h"

static void without_rules_a_search_never_stops(void **state)
{
    (void)state;
    struct stop s;
    stop_init(&s, &(struct stop_rules){0});
    for (int i = 0; i < 10000; i++) {
        stop_tell(&s, i % 3 ? 1.0 : NAN);
        assert_int_equal(stop_check(&s), SEARCH_GOES_ON);
    }
    stop_release(&s);
}

static void failures_alone_never_stop_a_search(void **state)
{
    (void)state;
    struct stop s;
    stop_init(&s, &(struct stop_rules){.target = 1, .until = 0.01});
    for (int i = 0; i < 1000; i++) stop_tell(&s, NAN);
    assert_int_equal(stop_check(&s), SEARCH_GOES_ON);
    stop_release(&s);
}

static void a_target_is_reached_by_equality_too(void **state)
{
    (void)state;
    struct stop s;
    stop_init(&s, &(struct stop_rules){.target = 2.0});
    stop_tell(&s, 2.1);
    assert_int_equal(stop_check(&s), SEARCH_GOES_ON);
    stop_tell(&s, 2.0);
    assert_int_equal(stop_check(&s), SEARCH_TARGET);
    stop_release(&s);
}

static void until_ends_a_search_that_has_stopped_gaining(void **state)
{
    (void)state;
    struct stop s;
    stop_init(&s, &(struct stop_rules){.until = 0.01});
    for (int i = 0; i < 400; i++) { // two percent gained at every doubling
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

static void the_outlook_rises_with_time_and_falls_with_the_gain_wanted(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_rules_a_search_never_stops),
        cmocka_unit_test(failures_alone_never_stop_a_search),
        cmocka_unit_test(a_target_is_reached_by_equality_too),
        cmocka_unit_test(until_ends_a_search_that_has_stopped_gaining),
        cmocka_unit_test(the_outlook_rises_with_time_and_falls_with_the_gain_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
