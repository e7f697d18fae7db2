// See wave_model.h.
#include "tuner/setup/wave_model.h"

#include "search/space/fn.h"
#include "tuner/setup/request.h"

static int work_of(const struct job *job, size_t problem, int64_t *values, double *work, struct error *err)
{
    const struct expr *expression = job->work.flops ? job->work.flops : job->work.bytes;
    int64_t number = 0;
    *work = 1;
    if (expression) {
        if (job_problem_values(job, NULL, problem, values, err) || expr_eval(expression, values, &number, err))
            return -1;
        *work = (double)number;
    }
    for (size_t i = 0; i < job->names.size_count && !expression; i++) *work *= (double)job->problems[problem].sizes[i];
    if (!(*work > 0)) *work = 1;
    return 0;
}

static const struct trial_stage *facts_of(const struct trial *trial, const char *name)
{
    for (size_t i = 0; i < trial->stage_count; i++)
        if (!strcmp(trial->stages[i].name, name) && trial->stages[i].registers > 0) return &trial->stages[i];
    return NULL;
}

int64_t blocks_at_once(const struct device_limits *device, const struct launch_shape *shape, int64_t registers,
                       int64_t shared_static)
{
    return device->sm_count * blocks_per_sm(device, shape->block[0] * shape->block[1] * shape->block[2], registers,
                                            shape->shared + (shared_static > 0 ? shared_static : 0));
}

int wave_model_find(const struct job *job, const struct device_limits *device, const struct trial *trial,
                    struct wave_model *out, struct error *err)
{
    uint16_t config[SPACE_MAX_PARAMETERS];
    size_t count = 0;
    *out = (struct wave_model){.stage = -1};
    if (space_parse(job->space, trial->config, config, err)) return -1;
    autofree struct planned_launch *launches = NULL;
    autofree int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    autojson json_t *problems = request_problems(job, config, NULL, true, &launches, &count, err);
    int failed = problems ? 0 : -1;
    bool done[JOB_MAX_PROBLEMS] = {false};
    for (size_t i = 0; i < count && !failed; i++) {
        const struct trial_stage *facts = facts_of(trial, job->stages[launches[i].stage].name);
        int64_t fit = facts ? blocks_at_once(device, &launches[i].shape, facts->registers, facts->shared_static) : 0;
        done[launches[i].problem] = true;
        if (fit > 0 && (out->stage < 0 || fit < out->at_once)) out->stage = launches[i].stage, out->at_once = fit;
    }
    for (size_t p = 0; p < job->tuned_count && !failed; p++) {
        failed = work_of(job, p, values, &out->of[p], err);
        if (!done[p]) out->of[p] = NAN;
    }
    for (size_t i = 0; i < count && !failed; i++) {
        const int64_t *grid = launches[i].shape.grid;
        double blocks = (double)grid[0] * (double)grid[1] * (double)grid[2];
        if (launches[i].stage == out->stage && !launches[i].run)
            out->of[launches[i].problem] = fn_relative_time(out->of[launches[i].problem], blocks, (double)out->at_once);
    }
    return failed;
}
