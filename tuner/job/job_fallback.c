// A job's `fallback`: the configuration that its header has for devices without tuning results. It names every
// parameter, meets the constraints, and uses no more shared memory than every device gives without opting in.
#include "tuner/base/base.h"
#include "tuner/job/job_parts.h"

int job_fallback_shared(const struct job *job, size_t stage, int64_t *bytes, size_t *problem, struct error *err)
{
    const struct stage *s = &job->stages[stage];
    int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    int failed = 0;
    *bytes = 0;
    *problem = 0;
    for (size_t p = 0; p < job->problem_count && !failed; p++) {
        int more = job_problem_values(job, job->fallback.config, p, values, err) ? -1 : job_first_run(s, values, err);
        for (; more > 0; more = job_next_run(s, values, err)) {
            int64_t here = 0;
            if (s->shared && expr_eval(s->shared, values, &here, err)) break;
            if (here <= *bytes) continue;
            *bytes = here;
            *problem = p;
        }
        failed = more != 0;
    }
    free(values);
    return failed ? error_prefix(err, "'fallback', stage '%s'", s->name) : 0;
}

static int check_shared(const struct job *job, size_t stage, struct error *err)
{
    int64_t bytes;
    size_t problem;
    if (job_fallback_shared(job, stage, &bytes, &problem, err)) return -1;
    if (bytes <= JOB_FALLBACK_SHARED) return 0;
    return error_set(err,
                     "'fallback' needs %" PRId64
                     " bytes of shared memory in stage '%s' on problem %s; to run on every device "
                     "it may use at most %d",
                     bytes, job->stages[stage].name, job->problems[problem].name, JOB_FALLBACK_SHARED);
}

int job_check_fallback(const struct job *job, struct error *err)
{
    int failed = 0;
    for (size_t s = 0; s < job->stage_count && !failed; s++) failed = check_shared(job, s, err);
    return failed ? job_locate_error(job, job->fallback.setting, err) : 0;
}

bool job_is_fallback(const struct job *job, const uint16_t *config)
{
    return job->fallback.kind &&
           !memcmp(job->fallback.config, config, space_parameter_count(job->space) * sizeof *config);
}
