// One finished job for all tests of a program. Pass setup and teardown to TEST_MAIN or TEST_WITH.
#pragma once

#include "tests/finished_job.h"

static struct finished job;

static void setup(void)
{
    finished_make(&job);
}

static void teardown(void)
{
    finished_remove(&job);
}
