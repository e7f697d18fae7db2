// Entries of a final's answer and document: see final.h.
#include "tuner/base/base.h"
#include "tuner/base/clock.h"
#include "tuner/base/protocol.h"
#include "tuner/final/final.h"

bool final_passed(const struct final_entry_answer *e)
{
    return e->status == STATUS_OK;
}

bool final_is_of(const struct final_entry_answer *e, const char *compiler)
{
    return !strcmp(*e->binary ? e->binary : PROTOCOL_NVRTC, *compiler ? compiler : PROTOCOL_NVRTC);
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
    if (f->process_of && rounds > f->known_rounds) rounds = f->known_rounds;
    double *objectives = memory_new(rounds, sizeof *objectives);
    for (size_t i = 0; i < rounds; i++) {
        double times[JOB_MAX_PROBLEMS];
        for (size_t p = 0; p < job->tuned_count; p++) times[p] = problems[p]->times[i];
        objectives[i] = job_objective(job, times);
    }
    return (struct contender){
        .candidate = candidate, .rounds = rounds, .objectives = objectives, .process = f->process_of};
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
    bool known = f->process_of != NULL;
    json_t *gpu = f->with.policy->final_gpu == POLICY_NO_WORKER || f->with.pool->lockstep
                      ? NULL
                      : pool_gpu_identity(f->with.pool, f->with.policy->final_gpu);
    int *process = memory_new(known ? f->known_rounds : 0, sizeof *process);
    for (size_t i = 0; known && i < f->known_rounds; i++) process[i] = f->process_of[i];
    document->when = clock_wall();
    document->seed = (int64_t)final_seed(f);
    document->process = known ? process : NULL;
    document->process_rounds = f->known_rounds;
    document->gpu = gpu;
    document->replayed = f->with.pool->replay;
    document->recording = f->with.pool->replay ? f->with.recording : NULL;
    json_t *json = record_write(&final_document_record, document);
    char *text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17));
    struct error err;
    if (store_put_document(f->with.store, kind, text, &err)) fatal_error_set(f->with.failure, EXIT_ENVIRONMENT, &err);
    free(text);
    free(process);
    json_decref(json);
    json_decref(gpu);
}
