// Only for clang-tidy, which includes it before each test program. cmocka.h does not declare that a failed assertion
// does not return, so clang-tidy would otherwise assume that p may be NULL after assert_non_null(p).
#ifndef TESTS_LINT_ASSERTS_H
#define TESTS_LINT_ASSERTS_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#undef assert_true
#undef assert_false
#undef assert_null
#undef assert_non_null
#undef assert_int_equal
#undef fail
#undef fail_msg
#undef skip
#define assert_true(c) ((c) ? (void)0 : abort())
#define assert_false(c) ((c) ? abort() : (void)0)
#define assert_null(c) ((c) ? abort() : (void)0)
#define assert_non_null(c) ((c) ? (void)0 : abort())
#define assert_int_equal(a, b) ((a) == (b) ? (void)0 : abort())
#define fail() abort()
#define fail_msg(...) (print_error(__VA_ARGS__), abort())
#define skip() abort()
#endif
