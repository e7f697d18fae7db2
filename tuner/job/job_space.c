// The search space of a job, built once the device is known: constraints may read the device's limits, and
// configurations that the job names must meet them.
#include "tuner/job/job_parts.h"
#include "tuner/job/job_sizes.h"

int job_build_space(struct job *job, const struct device_limits *limits, struct error *err)
{
    int bad = -1;
    if (job_set_limits(job, limits, err)) return error_prefix(err, "%s", job->path);
    if (space_build(job->space, &bad, err)) {
        if (bad < 0) return error_prefix(err, "%s", job->path);
        for (size_t i = 0; i < job->compiled_count; i++) bad += (int)job->compiled[i].number <= bad;
        char setting[32];
        snprintf(setting, sizeof setting, "constraints[%d]", bad);
        return job_locate_error(job, setting, err);
    }
    if (job_check_supported(job, err)) return -1;
    if (job->fallback.kind && (job_check_configuration(job, &job->fallback, err) || job_check_fallback(job, err)))
        return -1;
    return job_current(job) ? job_check_configuration(job, job_current(job), err) : 0;
}
