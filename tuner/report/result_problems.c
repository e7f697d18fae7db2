// The problems of an environment: as its trials name them, with the job's weights and work where the job still has
// them.
#include "tuner/base/base.h"
#include "tuner/report/report_parts.h"

json_t *result_document(const struct result *r, const char *kind, double *when)
{
    const char *text;
    struct error err;
    return store_get_document(r->store, kind, &text, when, &err) ? NULL : json_parse(text, &err);
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
    memory_add(r->problems, r->problem_count) = (struct report_problem){text_copy(name), tuned, NAN, NAN, NAN};
    r->tuned_count += tuned;
}

static double evaluate(const struct expr *expression, const int64_t *values)
{
    int64_t result;
    return expression && !expr_eval(expression, values, &result, NULL) && result > 0 ? (double)result : (double)NAN;
}

// Weights and work come from the job if it still has these tuned problems.
static void add_work(struct result *r, const struct job *job)
{
    struct error err;
    r->job_fits = r->tuned_count == job->tuned_count;
    for (size_t p = 0; p < r->tuned_count && r->job_fits; p++)
        r->job_fits = !strcmp(r->problems[p].name, job->problems[p].name);
    int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    for (size_t p = 0; p < r->problem_count && p < job->problem_count && r->job_fits; p++) {
        r->problems[p].weight = job->problems[p].weight;
        if (isnan(r->source->space) || job_problem_values(job, NULL, p, values, &err)) continue;
        r->problems[p].flops = evaluate(job->flops, values);
        r->problems[p].bytes = evaluate(job->bytes, values);
    }
    free(values);
}

// A measured trial names its problems; without one, the job does.
int result_read_problems(struct result *r, struct error *err)
{
    const struct trial_table *t = &r->table;
    const struct job *job = r->source->job;
    if (t->timed) {
        struct trial trial;
        if (store_get(r->store, t->ids[t->order[0]], &trial, err)) return -1;
        for (size_t p = 0; p < trial.problem_count && p < JOB_MAX_PROBLEMS; p++)
            add_problem(r, trial.problems[p].name, trial.problems[p].tuned);
    } else {
        for (size_t p = 0; job && p < job->problem_count; p++)
            add_problem(r, job->problems[p].name, job->problems[p].tune);
    }
    if (job) add_work(r, job);
    return 0;
}

json_t *result_problems(const struct result *r)
{
    json_t *list = json_array();
    for (size_t p = 0; p < r->problem_count; p++) {
        const struct report_problem *problem = &r->problems[p];
        json_array_append_new(list,
                              json_pack("{s:s, s:b, s:f, s:f, s:f}", "name", problem->name, "tuned", problem->tuned,
                                        "weight", problem->weight, "flops", problem->flops, "bytes", problem->bytes));
    }
    return list;
}
