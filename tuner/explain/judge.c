// See judgement.h.
#include "tuner/explain/judgement.h"

#include "tuner/base/base.h"
#include "tuner/base/entropy.h"
#include "tuner/explain/explain.h"

enum { FINAL_GRACE = 60 }; // s beyond a trial's own deadline, between signs of life: as in a run's final

struct judging {
    struct single_run *single;
    const struct job *job;
    struct single_run_candidate candidate;
    struct judgement *judgement;
};

static void find(struct judgement *j, enum trial_status status, const char *reason)
{
    if (j->status != STATUS_OK) return; // the first thing that is wrong
    j->status = status;
    error_set(&j->reason, "%s", reason);
}

// The worker's verdict in an answer, or an entry of one.
static int take_verdict(struct judging *g, const char *word, const char *reason, struct error *err)
{
    int status = status_find(word);
    if (status < 0) return error_set(err, "the GPU worker answers '%s'", word);
    if (status != STATUS_OK) find(g->judgement, (enum trial_status)status, reason);
    return 0;
}

// Asks the worker. If the candidate kills it or hangs, that is a verdict, and *answer is NULL. -1: it failed otherwise.
static int ask(struct judging *g, json_t *request, double seconds, const struct record *record, void **answer,
               struct error *err)
{
    bool late;
    struct error why = {""};
    json_t *message = single_run_ask(g->single, request, seconds, &late, &why);
    bool dead = !message && g->single->pool.gpus[g->single->pool.first_gpu].worker.failure == WORKER_DIED;
    if (message) {
        *answer = arena_new(&g->judgement->memory, record->size);
        int failed = record_read(record, message, *answer, &g->judgement->memory, err);
        json_decref(message);
        return failed;
    }
    if (late)
        find(g->judgement, STATUS_TIMEOUT, why.message);
    else if (dead)
        find(g->judgement, STATUS_CRASHED, why.message);
    else
        *err = why;
    return late || dead ? 0 : -1;
}

static int try_candidate(struct judging *g, struct error *err)
{
    const struct trial_request request = {.candidate = single_run_described(&g->candidate), .verify = true};
    void *answer = NULL;
    int failed = ask(g, request_write("trial", &trial_request_record, &request), g->job->measure.timeout,
                     &trial_answer_record, &answer, err);
    struct trial_answer *reported = g->judgement->trial = answer;
    return failed || !reported ? failed : take_verdict(g, reported->head.status, reported->head.reason, err);
}

// A kernel that never ends would keep every tool busy to the deadline.
static void sanitize(struct judging *g, struct sanitizer *sanitizer)
{
    struct judgement *j = g->judgement;
    struct error reason;
    if (!sanitizer || j->status == STATUS_TIMEOUT || j->status == STATUS_LAUNCH_ERROR) return;
    single_run_say(g->single, "running it under compute-sanitizer");
    json_t *set_up = job_setup_for_gpu(&g->single->setup, false, NULL, false);
    j->sanitized = sanitizer_end(sanitizer_begin(sanitizer, g->job, set_up, g->candidate.config,
                                                 g->candidate.compiled.cubin, g->candidate.problems, true));
    json_decref(set_up);
    enum trial_status status = sanitizer_verdict(j->sanitized, &reason);
    if (status != STATUS_OK) find(j, status, reason.message);
}

const struct final_entry_answer *judgement_entry(const struct judgement *j)
{
    for (size_t i = 0; j->final && i < j->final->entry_count; i++)
        if (j->final->entries[i].trial == JUDGE_TRIAL) return &j->final->entries[i];
    return NULL;
}

static int race(struct judging *g, struct error *err)
{
    struct judgement *j = g->judgement;
    const struct job_answer *reported = &g->single->reported;
    const struct final_candidate candidate = {.trial = JUDGE_TRIAL, .candidate = single_run_described(&g->candidate)};
    const char **baselines = arena_new(&j->memory, reported->baseline_count * sizeof *baselines);
    j->seed = (int64_t)(entropy_draw() >> 2);
    struct final_request request = {.seed = j->seed,
                                    .rounds = g->job->measure.final_rounds,
                                    .places = 1,
                                    .candidates = &candidate,
                                    .candidate_count = 1,
                                    .baselines = baselines};
    for (size_t i = 0; i < reported->baseline_count; i++)
        if (reported->baselines[i].problem_count) baselines[request.baseline_count++] = reported->baselines[i].name;
    single_run_say(g->single, "timing it");
    void *answer = NULL;
    int failed = ask(g, request_write("final", &final_request_record, &request), g->job->measure.timeout + FINAL_GRACE,
                     &final_answer_record, &answer, err);
    j->final = answer;
    if (failed || !j->final) return failed;
    if (take_verdict(g, j->final->head.status, j->final->head.reason, err)) return -1;
    const struct final_entry_answer *entry = judgement_entry(j);
    if (!entry) return j->status != STATUS_OK ? 0 : error_set(err, "the final has no entry of the candidate");
    return take_verdict(g, status_name(entry->status), entry->reason, err);
}

// This proves it once more. If it cannot be counted, the candidate is not to blame.
static int count(struct judging *g, const uint16_t *config, size_t problem, struct error *err)
{
    struct judgement *j = g->judgement;
    struct error why = {""};
    if (!g->single->counts) return 0;
    single_run_say(g->single, "counting");
    j->profile = explain_candidate(g->single, g->job, config, problem, "candidate", 0, 0, &why);
    if (!j->profile) {
        j->not_counted = why;
        return 0;
    }
    return take_verdict(g, json_get_string(j->profile, "status", ""), json_get_string(j->profile, "reason", ""), err);
}

int judge_candidate(struct single_run *single, const struct job *job, const uint16_t *config, size_t problem,
                    struct sanitizer *sanitizer, struct judgement *j, struct error *err)
{
    struct judging g = {.single = single, .job = job, .judgement = j};
    *j = (struct judgement){.status = STATUS_OK, .reason = {""}};
    int failed = single_run_compile(single, config, NULL, &g.candidate, err);
    j->config = text_copy(g.candidate.config);
    if (!failed && g.candidate.status != STATUS_OK) {
        find(j, g.candidate.status, g.candidate.reason);
    } else if (!failed) {
        failed = try_candidate(&g, err);
        if (!failed) sanitize(&g, sanitizer);
        if (!failed && j->status == STATUS_OK) failed = race(&g, err);
        if (!failed && j->status == STATUS_OK) failed = count(&g, config, problem, err);
    }
    single_run_candidate_release(&g.candidate);
    return failed;
}

void judgement_release(struct judgement *j)
{
    free(j->config);
    arena_release(&j->memory);
    json_decref(j->sanitized);
    json_decref(j->profile);
    *j = (struct judgement){.status = STATUS_OK};
}
