// See incumbent.h.
#include "tuner/policy/incumbent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/text.h"

void incumbent_init(struct incumbent *b)
{
    *b = (struct incumbent){.objective = INFINITY, .baseline = NAN};
    for (size_t p = 0; p < JOB_MAX_PROBLEMS; p++) b->times[p] = INFINITY;
}

void incumbent_forget(struct incumbent *b)
{
    free(b->config);
    b->config = NULL;
    b->trial = 0;
    b->objective = INFINITY;
    for (size_t p = 0; p < JOB_MAX_PROBLEMS; p++) b->times[p] = INFINITY;
}

void incumbent_release(struct incumbent *b)
{
    free(b->config);
    free(b->baseline_name);
    incumbent_init(b);
}

// With a kernel for each problem, the best is what the best kernels of all of them do together.
static bool take_each(struct incumbent *b, const struct job *job, const double *times, size_t *problem)
{
    *problem = job->tuned_count;
    for (size_t p = job->tuned_count; p-- > 0;) {
        if (!(times[p] < b->times[p])) continue;
        b->times[p] = times[p];
        *problem = p;
    }
    if (*problem == job->tuned_count) return false;
    b->objective = job_objective(job, b->times);
    return true;
}

static bool take_one(struct incumbent *b, const struct job *job, double objective, const double *times)
{
    if (!(objective < b->objective)) return false;
    b->objective = objective;
    memcpy(b->times, times, job->tuned_count * sizeof *times);
    return true;
}

bool incumbent_take(struct incumbent *b, const struct job *job, double objective, const double *times,
                    const char *config, int64_t trial, size_t *problem)
{
    if (!(job->objective == OBJECTIVE_EACH ? take_each(b, job, times, problem) : take_one(b, job, objective, times)))
        return false;
    free(b->config);
    b->config = text_copy(config);
    b->trial = trial;
    return true;
}

double incumbent_together(const struct incumbent *b, const struct job *job, double objective, const double *times)
{
    double best[JOB_MAX_PROBLEMS];
    if (job->objective != OBJECTIVE_EACH || !isfinite(b->objective)) return objective;
    for (size_t p = 0; p < job->tuned_count; p++) best[p] = fmin(times[p], b->times[p]);
    return job_objective(job, best);
}

void incumbent_set_baseline(struct incumbent *b, const char *name, double objective)
{
    free(b->baseline_name);
    b->baseline_name = text_copy(name);
    b->baseline = objective;
}
