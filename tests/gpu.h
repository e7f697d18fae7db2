// Tests that need a GPU. Without one they are skipped, and counted as skipped; with SWEETSPOT_GPU_REQUIRED set (make
// test-gpu) they fail instead.
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

// The set-up of a program whose tests share a compile cache, $CACHE. Sharing pays because NVRTC takes longer for the
// GPU worker's own kernels than for most candidates.
static inline void share_cache(void)
{
    autofree char *here = getcwd(NULL, 0);
    assert_int_equal(setenv("CACHE", test_text("%s/%s", here, e2e_folder("cache")), 1), 0);
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
