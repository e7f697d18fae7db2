// What a test program includes. A test registers itself, so that none can be forgotten in a list; the tests run in
// their order in the file.
//
//     TEST(the_sum_of_nothing_is_zero)
//     {
//         assert_int_equal(sum(NULL, 0), 0);
//     }
//
//     RUN_TESTS(NULL, NULL)     // at the end: what is done before the first test and after the last
//
// TEST_FILTER in the environment runs the tests whose names it matches ("*sum*").
#ifndef SWEETSPOT_TESTS_TEST_H
#define SWEETSPOT_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>

#include "tuner/base/base.h"

// cmocka.h wants those headers before it.
#include <cmocka.h>

enum { TESTS_MAX = 128 };
static struct CMUnitTest test_list[TESTS_MAX] __attribute__((unused)); // cmocka skips the empty rows
static int test_lines[TESTS_MAX] __attribute__((unused));

static inline void test_add(int line, const struct CMUnitTest *test)
{
    size_t i = 0;
    while (i < TESTS_MAX && test_list[i].name) i++;
    if (i == TESTS_MAX) abort();
    for (; i && test_lines[i - 1] > line; i--) {
        test_list[i] = test_list[i - 1];
        test_lines[i] = test_lines[i - 1];
    }
    test_list[i] = *test;
    test_lines[i] = line;
}

// `before` and `after` are done for this test; NULL: nothing.
#define TEST_WITH(name, before, after)                                              \
    static void name(void **state);                                                 \
    __attribute__((constructor)) static void add_##name(void)                       \
    {                                                                               \
        test_add(__LINE__, &(struct CMUnitTest){#name, name, before, after, NULL}); \
    }                                                                               \
    static void name(__attribute__((unused)) void **state)
#define TEST(name) TEST_WITH(name, NULL, NULL)

#define RUN_TESTS(before, after)                                 \
    int main(void)                                               \
    {                                                            \
        cmocka_set_test_filter(getenv("TEST_FILTER"));           \
        return cmocka_run_group_tests(test_list, before, after); \
    }

#endif
