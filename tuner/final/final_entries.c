// The candidates of a final, and the entries of its answer and document: see final.h.
#include "tuner/base/clock.h"
#include "tuner/base/protocol.h"
#include "tuner/final/final.h"

bool final_passed(const struct final_entry_answer *e)
{
    return e->status == STATUS_OK;
}

static bool is_of(const struct final_entry_answer *e, const char *compiler)
{
    return !strcmp(*e->binary ? e->binary : PROTOCOL_NVRTC, *compiler ? compiler : PROTOCOL_NVRTC);
}

struct final_entry_answer *final_find_entry(const struct final_answer *a, int64_t trial, const char *compiler,
                                            const char *name)
{
    for (size_t i = 0; i < a->entry_count; i++) {
        struct final_entry_answer *e = &a->entries[i];
        if (e->trial == trial && (trial ? is_of(e, compiler) : !strcmp(e->name, name))) return e;
    }
    return NULL;
}

// Combines the problems' energies by the job's objective; NaN if one of them is unknown.
static struct interval energy_of(const struct job *job, const struct final_times *const *problems)
{
    double value[JOB_MAX_PROBLEMS], low[JOB_MAX_PROBLEMS], high[JOB_MAX_PROBLEMS];
    for (size_t p = 0; p < job->tuned_count; p++) {
        const struct energy_figures *energy = problems[p] ? problems[p]->energy : NULL;
        value[p] = energy ? energy->joules.value : NAN;
        low[p] = energy ? energy->joules.low : NAN;
        high[p] = energy ? energy->joules.high : NAN;
    }
    return (struct interval){job_objective(job, value), job_objective(job, low), job_objective(job, high)};
}

struct contender final_contender(const struct final_run *f, const struct final_entry_answer *e, bool candidate)
{
    const struct final_times *problems[JOB_MAX_PROBLEMS];
    const struct job *job = f->with.job;
    size_t rounds = job->tuned_count ? SIZE_MAX : 0;
    for (size_t p = 0; p < job->tuned_count; p++) {
        problems[p] = final_entry_times(e, p);
        size_t count = problems[p] ? problems[p]->time_count : 0;
        if (count < rounds) rounds = count;
    }
    if (f->processes.of && rounds > f->processes.rounds) rounds = f->processes.rounds;
    double *objectives = memory_new(rounds, sizeof *objectives);
    for (size_t i = 0; i < rounds; i++) {
        double times[JOB_MAX_PROBLEMS];
        for (size_t p = 0; p < job->tuned_count; p++) times[p] = problems[p]->times[i];
        objectives[i] = job_objective(job, times);
    }
    return (struct contender){.candidate = candidate,
                              .energy = energy_of(job, problems),
                              .rounds = rounds,
                              .objectives = objectives,
                              .process = f->processes.of,
                              .slower = e->left};
}

// Reads the largest share of an SM that a block takes in any stage, and the length of the code. A kernel that needs
// less of both runs better next to other kernels.
static void read_resources(struct final_run *f, int64_t trial_id, struct contender *e)
{
    struct trial trial;
    struct error err;
    if (store_get(f->with.store, trial_id, &trial, &err)) return;
    if (trial.facts.code_bytes > 0) e->code = trial.facts.code_bytes;
    for (size_t i = 0; i < trial.stage_count; i++) {
        const struct trial_stage *s = &trial.stages[i];
        int64_t threads = 1, shared = s->shared_dynamic + (s->shared_static > 0 ? s->shared_static : 0);
        for (size_t k = 0; k < f->with.policy->queue.count; k++) {
            const struct task *t = (const struct task *)f->with.policy->queue.tasks[k];
            if (t->trial != trial_id || i >= t->launch_count) continue;
            const int64_t *b = t->launches[i].shape.block;
            threads = b[0] * b[1] * b[2];
        }
        e->share =
            fmax(e->share, final_share(s->registers, threads, shared, f->with.pool->first.limits.registers_per_sm,
                                       f->with.pool->first.limits.shared_per_sm));
    }
}

struct contender final_entrant(struct final_run *f, const struct final_entry_answer *e)
{
    if (!final_passed(e)) return (struct contender){0};
    struct contender entrant = final_contender(f, e, e->trial != 0);
    if (e->trial) read_resources(f, e->trial, &entrant);
    return entrant;
}

void final_contenders_free(struct contender *contenders, size_t count)
{
    for (size_t i = 0; i < count; i++) free((void *)(uintptr_t)contenders[i].objectives);
    free(contenders);
}

uint64_t final_seed(const struct final_run *f)
{
    return f->with.seed + 1000003;
}

void final_put(struct final_run *f, const char *kind, struct final_document *document)
{
    bool known = f->processes.of != NULL;
    autojson json_t *gpu = f->with.policy->final_gpu == POLICY_NO_WORKER || f->with.pool->lockstep
                               ? NULL
                               : pool_gpu_identity(f->with.pool, f->with.policy->final_gpu);
    autofree int *process = memory_new(known ? f->processes.rounds : 0, sizeof *process);
    for (size_t i = 0; known && i < f->processes.rounds; i++) process[i] = f->processes.of[i];
    document->when = clock_wall();
    document->seed = (int64_t)final_seed(f);
    document->process = known ? process : NULL;
    document->process_rounds = f->processes.rounds;
    document->gpu = gpu;
    document->replayed = f->with.pool->replay;
    document->recording = f->with.pool->replay ? f->with.recording : NULL;
    autojson json_t *json = record_write(&final_document_record, document);
    struct error err;
    if (store_put_document(f->with.store, 0, kind, json, &err))
        fatal_error_set(f->with.failure, EXIT_ENVIRONMENT, &err);
}

void final_phase(struct final_run *f, const char *what)
{
    double left = final_clock_left(&f->clock, clock_now());
    autofree char *line = isfinite(left)
                              ? text_format("%s  %s left", what, text_show_duration(fmax(left, 0), TEXT_ROOM))
                              : text_copy(what);
    display_log(f->with.display, "%s", line);
    if (!f->with.display->quiet) display_progress(f->with.display, line, f->with.job->name);
}

// Finalists -----------------------------------------------------------------------------------------------------------

struct task *final_add(struct final_run *f, const uint16_t *config, int64_t trial)
{
    struct task *t = task_add(f->with.policy, f->with.job->space, config, TASK_FINALIST, TASK_UNKNOWN);
    t->trial = trial;
    return t;
}

struct task *final_find(const struct final_run *f, int64_t trial)
{
    const struct task_queue *queue = &f->with.policy->queue;
    for (size_t i = 0; i < queue->count; i++) {
        struct task *t = (struct task *)queue->tasks[i];
        if (t->queued.purpose == TASK_FINALIST && t->trial == trial) return t;
    }
    return NULL;
}

void final_drop(struct final_run *f)
{
    const struct task_queue *queue = &f->with.policy->queue;
    for (size_t i = queue->count; i-- > 0;) {
        struct task *t = (struct task *)queue->tasks[i];
        if (t->queued.purpose == TASK_FINALIST) task_drop(f->with.policy, t);
    }
}

void final_condemn(struct final_run *f, int64_t trial, enum trial_status status, const char *reason)
{
    struct error err;
    display_message(f->with.display, "trial %" PRId64 " is out of the final: %s: %s", trial, status_name(status),
                    reason);
    if (store_add_verdict(f->with.store, trial, status, reason, &err))
        fatal_error_set(f->with.failure, EXIT_ENVIRONMENT, &err);
}

// The current kernel --------------------------------------------------------------------------------------------------

// The current kernel is a baseline, and baselines cannot win. But if the search has found it too, it races once, as a
// candidate, and has two entries: the candidate's, and one with the same rounds under its own name.
static bool is_current(const struct final_run *f, const struct final_candidate *c)
{
    uint16_t config[SPACE_MAX_PARAMETERS];
    return !strcmp(c->binary, PROTOCOL_NVRTC) && !space_parse(f->with.job->space, c->candidate.config, config, NULL) &&
           !memcmp(config, job_current(f->with.job)->config,
                   space_parameter_count(f->with.job->space) * sizeof *config);
}

bool final_has_current(struct final_run *f, const struct final_request *request)
{
    size_t sure = request->candidate_count;
    const struct implementation *current = job_current(f->with.job);
    if (!current || current->kind != IMPLEMENTATION_CONFIGURATION) return false;
    if (f->before || f->with.pool->replay) return f->current != 0; // as in the first process
    if (request->places >= 0 && (size_t)request->places < sure) sure = (size_t)request->places;
    for (size_t i = 0; i < sure; i++)
        if (is_current(f, &request->candidates[i])) f->current = request->candidates[i].trial;
    return f->current != 0;
}

void final_add_current(struct final_run *f, struct final_entries *entries)
{
    for (size_t i = 0; i < entries->count && f->current; i++) {
        const struct final_entry_answer *e = &entries->list[i].answer;
        if (e->trial != f->current || !is_of(e, PROTOCOL_NVRTC)) continue;
        struct final_entry_document *entry = &entries->list[entries->count++];
        *entry = (struct final_entry_document){.answer = *e, .same_as = f->current};
        entry->answer.name = CURRENT_KERNEL;
        entry->answer.trial = 0;
        entry->answer.binary = entry->answer.cubin_hash = "";
        return;
    }
}
