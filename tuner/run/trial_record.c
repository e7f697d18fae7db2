// Builds a candidate's trial for the store, from the results of the compiler, the driver and the GPU worker. The table
// of fields (tuner/trial/trial_field.h) lists its figures.
#include "tuner/run/run.h"
#include "tuner/trial/trial_field.h"

static void read_problems(struct finished_trial *f, const struct job *job, const struct trial_answer *answer)
{
    struct trial_problem *problems = arena_new(&f->memory, job->problem_count * sizeof *problems);
    for (size_t p = 0; p < job->problem_count; p++) {
        const struct problem_answer *reported = trial_answer_problem(answer, (int)p);
        trial_clear(FIELD_PROBLEM, &problems[p]);
        if (reported) problems[p] = reported->figures;
        problems[p].name = job->problems[p].name;
        problems[p].tuned = job->problems[p].tune;
    }
    for (size_t p = 0; p < job->tuned_count; p++) f->times[p] = problems[p].time;
    f->trial.problems = problems;
    f->trial.problem_count = answer ? job->problem_count : 0;
}

static void describe_stages(const struct run *r, struct finished_trial *f, const struct trial_answer *answer)
{
    const struct task *t = f->task;
    struct trial_stage *stages = arena_new(&f->memory, t->launch_count * sizeof *stages);
    size_t count = job_setup_stages(r->job, &r->pool.first.limits, &t->compiled, t->launches, t->launch_count, stages);
    for (size_t i = 0; answer && i < answer->stage_count; i++) { // as the GPU driver reports it
        const struct stage_answer *reported = &answer->stages[i];
        bool known =
            reported->stage >= 0 && (size_t)reported->stage < count && reported->problem == t->launches[0].problem;
        if (known && !isnan(reported->figures.occupancy))
            stages[reported->stage].occupancy = reported->figures.occupancy;
    }
    f->trial.stages = stages;
    f->trial.stage_count = count;
    f->trial.facts = static_facts_of(stages, count);
}

void run_record_trial(const struct run *r, struct finished_trial *f, enum trial_status status, const char *reason,
                      const struct trial_answer *answer, struct arena *memory)
{
    struct trial *t = &f->trial;
    trial_clear(FIELD_TRIAL, t);
    if (answer) {
        *t = answer->figures;
        f->memory = *memory;
        *memory = (struct arena){NULL};
    }
    if (!f->task->device_id) t->gpu_busy = t->gpu_seconds = 0;
    read_problems(f, r->job, answer);
    describe_stages(r, f, answer);
    if (status == STATUS_OK || status == STATUS_SLOW) t->objective = job_objective(r->job, f->times);
    if (status == STATUS_OK && !isfinite(t->objective)) {
        status = STATUS_CRASHED;
        reason = "the worker answered ok without a time";
        t->objective = NAN;
    }
    t->config = f->task->text;
    t->status = status;
    t->reason = arena_copy(&f->memory, reason);
    t->compile_seconds = f->task->compiled.seconds;
    t->compile_cached = f->task->compiled.cached;
    t->device_id = arena_copy(&f->memory, f->task->device_id);
    t->counted = status != STATUS_OK || !r->job_answer.metric_count;
}

struct trial_counter *run_record_counters(const struct run *r, const struct counted_trial *answer, size_t *count)
{
    struct trial_counter *counters = NULL;
    *count = 0;
    for (size_t i = 0; answer && i < answer->counter_count; i++) {
        const struct stage_counters *stage = &answer->counters[i];
        for (size_t k = 0; k < stage->value_count && k < r->job_answer.metric_count; k++) {
            if (isnan(stage->values[k])) continue;
            memory_add(counters, *count) =
                (struct trial_counter){stage->problem, stage->stage, r->job_answer.metrics[k], stage->values[k]};
        }
    }
    return counters;
}
