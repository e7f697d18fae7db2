// Macros and functions for test programs. A test registers itself where it is defined:
//
//     TEST(two_and_two_are_four)
//     {
//         assert_int_equal(2 + 2, 4);
//     }
//
//     TEST_MAIN(NULL, NULL)
//
// TEST_WITH names functions that run before and after the test, and TEST_MAIN names functions that run before and after
// the whole program. Tests run in the order of the file. With TEST_FILTER="*four*" in the environment only tests with
// matching names run.
//
// Strings and folders from functions that use testing_later, such as test_text and e2e_folder, are released after the
// test, or after the last test if the program's set-up made them. Folders of a failed test are kept.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/base.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"

// It needs the headers above.
#include <cmocka.h>

enum { TESTING_MOST = 128 };

typedef void testing_function(void);

// A test, and the functions that run before and after it (NULL: none).
struct testing_row {
    testing_function *body, *before, *after;
};

struct testing_thing {
    struct testing_thing *next;
    void (*release)(void *what);
    void *what;
};

static struct testing {
    size_t count;
    int line[TESTING_MOST];
    struct CMUnitTest test[TESTING_MOST];
    testing_function *before, *after;
    bool begun, failed;                         // about the current test, including the functions before and after it
    struct testing_thing *of_test, *of_program; // the latest first
} testing;

// Releases `what` after the test, or after the last test if the program's set-up calls this.
static inline void testing_later(void (*release)(void *what), void *what)
{
    struct testing_thing **list = testing.begun ? &testing.of_test : &testing.of_program,
                         *thing = malloc(sizeof *thing);
    if (!thing) abort();
    *thing = (struct testing_thing){*list, release, what};
    *list = thing;
}

static inline void testing_release(struct testing_thing **list)
{
    while (*list) {
        struct testing_thing *thing = *list;
        *list = thing->next;
        thing->release(thing->what);
        free(thing);
    }
}

// Freed after the test.
static inline void *test_owned(void *memory)
{
    testing_later(free, memory);
    return memory;
}

// Like text_format; freed after the test.
static inline char *test_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline char *test_text(const char *format, ...)
{
    char *text;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) abort();
    va_end(args);
    return test_owned(text);
}

// Returns the content of the file at this path, which is freed after the test. The file must exist.
#define test_file(...) testing_file(test_text(__VA_ARGS__))
static inline char *testing_file(const char *path)
{
    char *text = text_read_file(path, NULL);
    if (!text) fail_msg("cannot read %s", path);
    return test_owned(text);
}

static inline void testing_release_json(void *value)
{
    json_decref(value);
}

// Takes ownership of the reference, which is released after the test.
static inline json_t *test_json(json_t *value)
{
    testing_later(testing_release_json, value);
    return value;
}

// Fails, and shows the whole text, unless every part is in the text.
#define assert_contains(text, ...) \
    testing_contains(text, (const char *const[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *))
static inline void testing_contains(const char *text, const char *const *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strstr(text, parts[i])) fail_msg("'%s' is not in:\n%s", parts[i], text);
}

// Keeps the tests in the order of their lines, because functions that run before main run in no defined order.
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

static inline int testing_begin_program(__attribute__((unused)) void **state)
{
    if (testing.before) testing.before();
    return 0;
}

static inline int testing_end_program(__attribute__((unused)) void **state)
{
    if (testing.after) testing.after();
    testing_release(&testing.of_program);
    return 0;
}

static inline int testing_run(testing_function *before, testing_function *after)
{
    testing.before = before;
    testing.after = after;
    cmocka_set_test_filter(getenv("TEST_FILTER"));
    return _cmocka_run_group_tests("tests", testing.test, testing.count, testing_begin_program, testing_end_program);
}

static inline int testing_begin(void **state)
{
    const struct testing_row *row = *state;
    testing.begun = testing.failed = true; // cleared when it reaches its end
    if (row->before) row->before();
    return 0;
}

static inline void testing_body(void **state)
{
    const struct testing_row *row = *state;
    row->body();
    testing.failed = false;
}

static inline int testing_end(void **state)
{
    const struct testing_row *row = *state;
    if (row->after) row->after();
    testing_release(&testing.of_test);
    testing.begun = testing.failed = false;
    return 0;
}

// A skipped test has not failed.
#undef skip
#define skip() (testing.failed = false, _skip(__FILE__, __LINE__))

#define TEST_WITH(name, before, after)                                                                     \
    static void name(void);                                                                                \
    __attribute__((constructor)) static void testing_add_##name(void)                                      \
    {                                                                                                      \
        static struct testing_row row = {name, before, after};                                             \
        testing_add(__LINE__, (struct CMUnitTest){#name, testing_body, testing_begin, testing_end, &row}); \
    }                                                                                                      \
    static void name(void)
#define TEST(name) TEST_WITH(name, NULL, NULL)
#define TEST_MAIN(before, after)           \
    int main(void)                         \
    {                                      \
        return testing_run(before, after); \
    }
