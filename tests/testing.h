// What a test program is made of. A test registers itself where it stands:
//
//     TEST(two_and_two_are_four)
//     {
//         assert_int_equal(2 + 2, 4);
//     }
//
//     TEST_MAIN(NULL, NULL)
//
// TEST_WITH names functions that run before and after this test, TEST_MAIN those of the whole program. Tests run in the
// order of the file. TEST_FILTER="*four*" in the environment runs only tests with matching names.
#ifndef SWEETSPOT_TESTS_TESTING_H
#define SWEETSPOT_TESTS_TESTING_H

#include <setjmp.h>
#include <stdarg.h>

#include "tuner/base/base.h"

// It wants the headers above before it.
#include <cmocka.h>

enum { TESTING_MOST = 128 };

static struct testing {
    size_t count;
    int line[TESTING_MOST];
    struct CMUnitTest test[TESTING_MOST];
} testing;

// Keeps the tests in the order of their lines: functions that run before main have no order of their own.
static inline void testing_add(int line, struct CMUnitTest test)
{
    size_t at = testing.count++;
    if (at == TESTING_MOST) abort();
    for (; at > 0 && testing.line[at - 1] > line; at--) {
        testing.line[at] = testing.line[at - 1];
        testing.test[at] = testing.test[at - 1];
    }
    testing.line[at] = line;
    testing.test[at] = test;
}

static inline int testing_run(CMFixtureFunction before, CMFixtureFunction after)
{
    cmocka_set_test_filter(getenv("TEST_FILTER"));
    return _cmocka_run_group_tests("tests", testing.test, testing.count, before, after);
}

#define TEST_WITH(name, before, after)                                                                  \
    static void name(void **state);                                                                     \
    __attribute__((constructor)) static void testing_add_##name(void)                                   \
    {                                                                                                   \
        testing_add(__LINE__, (struct CMUnitTest)cmocka_unit_test_setup_teardown(name, before, after)); \
    }                                                                                                   \
    static void name(__attribute__((unused)) void **state)
#define TEST(name) TEST_WITH(name, NULL, NULL)
#define TEST_MAIN(before, after)           \
    int main(void)                         \
    {                                      \
        return testing_run(before, after); \
    }

#endif
