// See judge.h.
#include "tuner/explain/judge.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/base/entropy.h"
#include "tuner/base/text.h"
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
static int take_verdict(struct judging *g, const json_t *from, struct error *err)
{
    const char *word = json_get_string(from, "status", "");
    int status = status_find(word);
    if (status < 0) return error_set(err, "the GPU worker answers '%s'", word);
    if (status != STATUS_OK) find(g->judgement, (enum trial_status)status, json_get_string(from, "reason", ""));
    return 0;
}

// Asks the worker. If the candidate kills it or hangs, that is a verdict, and *answer is NULL. -1: it failed otherwise.
static int ask(struct judging *g, json_t *request, double seconds, json_t **answer, struct error *err)
{
    bool late, dead;
    struct error why = {""};
    *answer = single_run_ask(g->single, request, seconds, &late, &why);
    dead = !*answer && single_run_died(g->single);
    if (*answer) return 0;
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
    json_t *cutoff = json_array();
    for (size_t i = 0; i < g->job->tuned_count; i++) json_array_append_new(cutoff, json_null());
    json_t *request =
        json_pack("{s:s, s:s, s:s, s:o, s:O, s:b}", "op", "trial", "cubin", g->candidate.compiled.cubin, "config",
                  g->candidate.config, "cutoff", cutoff, "problems", g->candidate.problems, "verify", 1);
    int failed = ask(g, request, g->job->measure.timeout, &g->judgement->trial, err);
    return failed || !g->judgement->trial ? failed : take_verdict(g, g->judgement->trial, err);
}

// A kernel that never ends would keep every tool busy to the deadline.
static void sanitize(struct judging *g, struct sanitizer *sanitizer)
{
    struct judgement *j = g->judgement;
    struct error reason;
    if (!sanitizer || j->status == STATUS_TIMEOUT || j->status == STATUS_LAUNCH_ERROR) return;
    single_run_say(g->single, "running it under compute-sanitizer");
    json_t *set_up = single_run_set_up(g->single);
    j->sanitized = sanitizer_end(sanitizer_begin(sanitizer, g->job, set_up, g->candidate.config,
                                                 g->candidate.compiled.cubin, g->candidate.problems, true));
    json_decref(set_up);
    enum trial_status status = sanitizer_verdict(j->sanitized, &reason);
    if (status != STATUS_OK) find(j, status, reason.message);
}

static const json_t *candidate_entry(const json_t *answer)
{
    const json_t *entries = json_object_get(answer, "entries"), *entry;
    size_t i;
    json_array_foreach(entries, i, entry)
    {
        if (json_get_integer(entry, "trial", 0) == JUDGE_TRIAL) return entry;
    }
    return NULL;
}

static int race(struct judging *g, struct error *err)
{
    struct judgement *j = g->judgement;
    json_t *baselines = json_array(), *each;
    size_t i;
    j->seed = (int64_t)(entropy_draw() >> 2);
    json_array_foreach(json_object_get(single_run_job(g->single), "baselines"), i, each)
    {
        if (json_array_size(json_object_get(each, "problems")))
            json_array_append(baselines, json_object_get(each, "name"));
    }
    single_run_say(g->single, "timing it");
    json_t *request = json_pack("{s:s, s:I, s:I, s:i, s:[{s:i, s:s, s:s, s:O}], s:o}", "op", "final", "seed",
                                (json_int_t)j->seed, "rounds", (json_int_t)g->job->measure.final_rounds, "places", 1,
                                "candidates", "trial", (int)JUDGE_TRIAL, "config", g->candidate.config, "cubin",
                                g->candidate.compiled.cubin, "problems", g->candidate.problems, "baselines", baselines);
    int failed = ask(g, request, g->job->measure.timeout + FINAL_GRACE, &j->final, err);
    if (failed || !j->final) return failed;
    if (take_verdict(g, j->final, err)) return -1;
    const json_t *entry = candidate_entry(j->final);
    if (!entry) return j->status != STATUS_OK ? 0 : error_set(err, "the final has no entry of the candidate");
    return take_verdict(g, entry, err);
}

// This proves it once more. If it cannot be counted, the candidate is not to blame.
static int count(struct judging *g, const uint16_t *config, size_t problem, struct error *err)
{
    struct judgement *j = g->judgement;
    struct error why = {""};
    if (!single_run_counts(g->single)) return 0;
    single_run_say(g->single, "counting");
    j->profile = explain_candidate(g->single, g->job, config, problem, "candidate", &why);
    if (!j->profile) {
        j->not_counted = why;
        return 0;
    }
    return take_verdict(g, j->profile, err);
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
    json_decref(j->trial);
    json_decref(j->final);
    json_decref(j->sanitized);
    json_decref(j->profile);
    *j = (struct judgement){.status = STATUS_OK};
}
