// A judgement of one candidate, by the same means as a search and its final: compiled, proved and timed as a trial,
// run under compute-sanitizer, raced against the baselines on data from a secret seed, and counted. It
// ends at the first thing that is wrong; but a sanitizer may say more of what is wrong already.
#pragma once

#include <stdio.h>

#include "tuner/base/json.h"
#include "tuner/final/finals.h"
#include "tuner/job/job.h"
#include "tuner/setup/sanitize.h"
#include "tuner/setup/single_run.h"

// Answers are NULL where the judgement ended before them.
struct judgement {
    enum trial_status status;
    struct error reason; // "" for STATUS_OK
    char *config;        // canonical text
    bool compiled;       // and its launches are possible
    struct trial_answer *trial;
    struct final_answer *final;              // in which the candidate is trial JUDGE_TRIAL
    struct arena memory;                     // of both
    json_t *sanitized;                       // sanitize.h
    json_t *profile;                         // explain.h
    int64_t seed;                            // of the final's data
    struct error not_sanitized, not_counted; // why; "" where it was, or where that is not wanted
    bool trusts;                             // the candidate is host code in the GPU worker, and nothing guards that
};
enum { JUDGE_TRIAL = 1 };

// `problem`: whose counters are taken, where the run has metrics. `sanitizer` may be NULL. -1 with a message when the
// judgement failed for reasons that are not the candidate's. The caller releases, also after a failure.
int judge_candidate(struct single_run *, const struct job *, const uint16_t *config, size_t problem,
                    struct sanitizer *sanitizer, struct judgement *, struct error *);
void judgement_release(struct judgement *);

// A judgement as a document and as a table. docs/json.md describes the document, which has a
// version: members are added without a new one, but none changes its meaning.
enum { JUDGEMENT_VERSION = 1 };

// The context of a judgement.
struct judged_job {
    const struct job *job;
    const char *path, *hash; // of the source or binary that is judged
    const char *compiler, *device, *driver;
    const struct device_limits *limits;
    size_t problem; // whose counters were taken
};

// New reference.
json_t *judgement_json(const struct judged_job *, const struct judgement *);
// Prints the same document for people.
void judgement_print(FILE *, const json_t *document);
