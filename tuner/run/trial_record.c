// See trial_record.h.
#include "tuner/run/trial_record.h"

#include "tuner/base/base.h"
#include "tuner/setup/launch_check.h"
#include "tuner/trial/trial_field.h"

static void read_problems(struct trial_record *record, const struct trial_facts *f)
{
    const struct job *job = f->job;
    struct trial_problem *problems = arena_new(&record->memory, job->problem_count * sizeof *problems);
    for (size_t p = 0; p < job->problem_count; p++) {
        const struct problem_answer *reported = trial_answer_problem(f->answer, (int)p);
        trial_clear(FIELD_PROBLEM, &problems[p]);
        if (reported) problems[p] = reported->figures;
        problems[p].name = job->problems[p].name;
        problems[p].tuned = job->problems[p].tune;
    }
    for (size_t p = 0; p < job->tuned_count; p++) record->times[p] = problems[p].time;
    record->trial.problems = problems;
    record->trial.problem_count = f->answer ? job->problem_count : 0;
}

// The stages of the first problem that the candidate has any for: they are the same kernels for the others.
static void describe_stages(struct trial_record *record, const struct trial_facts *f)
{
    struct trial_stage *stages = arena_new(&record->memory, f->task->launch_count * sizeof *stages);
    size_t count = 0;
    for (size_t i = 0; i < f->task->launch_count; i++) {
        const struct planned_launch *l = &f->task->launches[i];
        if (l->problem != f->task->launches[0].problem || l->run) continue;
        const struct stage *s = &f->job->stages[l->stage];
        const struct entry_answer *e = compiled_find(&f->task->compiled, s);
        struct trial_stage *out = &stages[count];
        trial_clear(FIELD_STAGE, out);
        if (e) {
            *out = e->figures;
            out->occupancy = theoretical_occupancy(f->limits, l->shape.block[0] * l->shape.block[1] * l->shape.block[2],
                                                   out->registers,
                                                   l->shape.shared + (out->shared_static > 0 ? out->shared_static : 0));
            for (size_t k = 0; f->answer && k < f->answer->stage_count; k++) { // as the GPU driver counts it
                const struct stage_answer *reported = &f->answer->stages[k];
                bool same = reported->problem == l->problem && reported->stage == (int)count;
                if (same && !isnan(reported->figures.occupancy)) out->occupancy = reported->figures.occupancy;
            }
        }
        out->name = s->name;
        out->shared_dynamic = l->shape.shared;
        out->warnings = f->task->compiled.warnings ? f->task->compiled.warnings : "";
        count++;
    }
    record->trial.stages = stages;
    record->trial.stage_count = count;
    record->trial.facts = static_facts_of(stages, count);
}

void trial_record_make(struct trial_record *record, const struct trial_facts *f, enum trial_status status,
                       const char *reason)
{
    struct trial *t = &record->trial;
    record->memory = (struct arena){NULL};
    trial_clear(FIELD_TRIAL, t);
    if (f->answer) {
        *t = f->answer->figures;
        record->memory = *f->memory;
        *f->memory = (struct arena){NULL};
    }
    if (!f->task->device_id) t->gpu_busy = t->gpu_seconds = 0;
    read_problems(record, f);
    describe_stages(record, f);
    if (status == STATUS_OK || status == STATUS_SLOW) t->objective = job_objective(f->job, record->times);
    if (status == STATUS_OK && !isfinite(t->objective)) {
        status = STATUS_CRASHED;
        reason = "the worker answered ok without a time";
        t->objective = NAN;
    }
    t->config = f->task->text;
    t->status = status;
    t->reason = arena_copy(&record->memory, reason);
    t->compile_seconds = f->task->compiled.seconds;
    t->compile_cached = f->task->compiled.cached;
    t->device_id = arena_copy(&record->memory, f->task->device_id);
    t->counted = status != STATUS_OK || !f->counts;
}

struct trial_counter *trial_record_counters(const struct counted_trial *answer, const char *const *keys,
                                            size_t key_count, size_t *count)
{
    struct trial_counter *counters = NULL;
    *count = 0;
    for (size_t i = 0; answer && i < answer->counter_count; i++) {
        const struct stage_counters *stage = &answer->counters[i];
        for (size_t k = 0; k < stage->value_count && k < key_count; k++) {
            if (isnan(stage->values[k])) continue;
            memory_add(counters, *count) =
                (struct trial_counter){stage->problem, stage->stage, keys[k], stage->values[k]};
        }
    }
    return counters;
}
