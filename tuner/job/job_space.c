// The search space of a job, built once the device is known: constraints may read the device's limits, and
// configurations that the job names must meet them.
#include "tuner/job/job_parts.h"
#include "tuner/job/job_sizes.h"

int job_build_space(struct job *job, const struct device_limits *limits, struct error *err)
{
    int bad = -1;
    if (job_set_limits(job, limits, err)) return error_prefix(err, "%s", job->path);
    if (space_build(job->space, &bad, err)) {
        if (bad >= 0)
            return error_prefix(err, "%s:%d", job->constraint_files[bad] ? job->constraint_files[bad] : job->path,
                                job->constraint_lines[bad]);
        return error_prefix(err, "%s", job->path);
    }
    if (job_check_supported(job, err)) return -1;
    if (job->fallback.kind && (job_check_configuration(job, &job->fallback, err) || job_check_fallback(job, err)))
        return -1;
    return job_current(job) ? job_check_configuration(job, job_current(job), err) : 0;
}
