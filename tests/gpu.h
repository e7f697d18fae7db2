// What the tests that need a GPU begin with. They are skipped, and counted as skipped, where there is none; with
// SWEETSPOT_GPU_REQUIRED set (make test-gpu) its absence is a failure.
#pragma once

#include <stdbool.h>

#include "tests/e2e.h"

static inline bool have_gpu(void)
{
    static int known = -1;
    if (known < 0) {
        char *command = test_text("'%s/sweetspot' doctor >/dev/null 2>&1", e2e_bin());
        known = system(command) == 0;
    }
    if (!known && getenv("SWEETSPOT_GPU_REQUIRED")) fail_msg("no GPU can be used here: see sweetspot doctor");
    return known;
}

#define NEEDS_GPU()              \
    do {                         \
        if (!have_gpu()) skip(); \
    } while (0)
