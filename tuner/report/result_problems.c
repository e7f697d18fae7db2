// The problems of an environment, as named in its trials.
#include "tuner/report/report_parts.h"

json_t *result_document(const struct result *r, const char *kind, double *when)
{
    return store_get_document(r->store, 0, kind, when, NULL);
}

double result_objective(const struct result *r, const double *times)
{
    double weights[JOB_MAX_PROBLEMS];
    if (r->job_fits) return job_objective(r->source->job, times);
    for (size_t p = 0; p < r->tuned_count; p++) weights[p] = 1;
    return objective_value(OBJECTIVE_GEOMEAN, weights, times, r->tuned_count);
}

static void add_problem(struct result *r, const char *name, bool tuned)
{
    memory_add(r->problems, r->problem_count) = (struct report_problem){text_copy(name), tuned};
    r->tuned_count += tuned;
}

// Takes the names from a measured trial or, without one, from the job.
int result_read_problems(struct result *r, struct error *err)
{
    const struct trial_table *t = &r->table;
    const struct job *job = r->source->job;
    if (t->timed) {
        struct trial trial;
        if (store_get(r->store, t->rows[t->order[0]].id, &trial, err)) return -1;
        for (size_t p = 0; p < trial.problem_count && p < JOB_MAX_PROBLEMS; p++)
            add_problem(r, trial.problems[p].name, trial.problems[p].tuned);
    } else {
        for (size_t p = 0; job && p < job->problem_count; p++)
            add_problem(r, job->problems[p].name, job->problems[p].tune);
    }
    r->job_fits = job && r->tuned_count == job->tuned_count;
    for (size_t p = 0; p < r->tuned_count && r->job_fits; p++)
        r->job_fits = !strcmp(r->problems[p].name, job->problems[p].name);
    return 0;
}

json_t *result_problems(const struct result *r)
{
    json_t *list = json_array();
    for (size_t p = 0; p < r->problem_count; p++)
        json_array_append_new(list,
                              json_pack("{s:s, s:b}", "name", r->problems[p].name, "tuned", (int)r->problems[p].tuned));
    return list;
}
