// For tests: a valid job on an H200.
#pragma once

#include "tests/testing.h"
#include "tuner/job/job.h"

static inline void release_job(void *job)
{
    job_free(job);
}

// Freed after the test.
static inline struct job *test_job(struct job *job)
{
    testing_later(release_job, job);
    return job;
}

// Loads a job and builds its space. Freed after the test.
static inline struct job *loaded_job(const char *path)
{
    struct job *job;
    struct mistakes mistakes = {0};
    struct error err;
    if (job_load(path, &job, &mistakes)) fail_msg("%s: %s", path, mistakes.list[0].text);
    if (job_build_space(job, &device_limits_h200, &err)) fail_msg("%s: %s", path, err.message);
    mistakes_release(&mistakes);
    return test_job(job);
}
