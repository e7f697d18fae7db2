// A judgement of one candidate, by the same means as in a search and its final. The candidate is compiled, verified and
// timed as a trial, run under compute-sanitizer, raced against the baselines on data from a secret seed, and profiled
// with hardware counters.
// The judgement ends at the first failure, except that the sanitizer may still give details of a known failure.
#pragma once

#include <stdio.h>

#include "tuner/base/json.h"
#include "tuner/final/finals.h"
#include "tuner/job/job.h"
#include "tuner/setup/sanitize.h"
#include "tuner/setup/single_run.h"

// Answers are NULL if the judgement ended before they were made.
struct judgement {
    enum trial_status status;
    struct error reason; // "" for STATUS_OK
    char *config;        // canonical text
    bool compiled;       // it compiles, and its launches are possible
    struct trial_answer *trial;
    struct final_answer *final;              // the candidate is trial JUDGE_TRIAL in it
    struct arena memory;                     // memory of both answers
    json_t *sanitized;                       // sanitize.h
    json_t *profile;                         // explain.h
    int64_t seed;                            // of the final's data
    struct error not_sanitized, not_counted; // why not; "" if done or not wanted
    bool trusts;                             // the candidate is host code that runs unguarded in the GPU worker
};
enum { JUDGE_TRIAL = 1 };

// Counters are read on the first problem, if the run has metrics. `sanitizer` may be NULL. Returns -1 with a message if
// the judgement failed for reasons other than the candidate. The caller must release it, even after a failure.
int judge_candidate(struct single_run *, const struct job *, const uint16_t *config, struct sanitizer *sanitizer,
                    struct judgement *, struct error *);
void judgement_release(struct judgement *);

// A judgement as a document and as a table. The document has a version, and docs/json.md describes it. Members may be
// added without a new version, but none changes its meaning.
enum { JUDGEMENT_VERSION = 1 };

// The context of a judgement.
struct judged_job {
    const struct job *job;
    const char *path, *hash; // of the judged source or binary
    const char *compiler, *device, *driver;
    const struct device_limits *limits;
};

// New reference.
json_t *judgement_json(const struct judged_job *, const struct judgement *);
// Prints the same document for people.
void judgement_print(FILE *, const json_t *document);
