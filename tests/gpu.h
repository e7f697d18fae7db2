// Tests that need a GPU. They are skipped, and counted as skipped, where there is none; with
// SWEETSPOT_GPU_REQUIRED set (make test-gpu) its absence is a failure.
#pragma once

#include <stdbool.h>

#include "tests/e2e.h"

static inline bool have_gpu(void)
{
    static int known = -1;
    if (known < 0) known = system(test_text("'%s/sweetspot' doctor >/dev/null 2>&1", e2e_bin())) == 0;
    if (!known && getenv("SWEETSPOT_GPU_REQUIRED")) fail_msg("no GPU can be used here: see sweetspot doctor");
    return known;
}

// A test that is skipped without a GPU.
#define GPU_TEST(name)           \
    static void name##_on(void); \
    TEST(name)                   \
    {                            \
        if (!have_gpu()) skip(); \
        name##_on();             \
    }                            \
    static void name##_on(void)
