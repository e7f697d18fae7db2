// One finished job for all tests of a program: setup and teardown are for TEST_MAIN or TEST_WITH.
#ifndef SWEETSPOT_TESTS_SHARED_JOB_H
#define SWEETSPOT_TESTS_SHARED_JOB_H

#include "tests/finished_job.h"

static struct finished job;

static int setup(void **state)
{
    (void)state;
    finished_make(&job);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    finished_remove(&job);
    return 0;
}

#endif
