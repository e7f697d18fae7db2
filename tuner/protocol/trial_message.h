// {"id":3,"op":"trial",CANDIDATE,"verify":true,"best":[0.012,null]}
// <- {"id":3,"status":"ok"|"slow"|"wrong"|"out_of_bounds"|"nondeterministic"|"implausible"|"launch_error"|"crashed",
//     "reason":"",FIGURES of the trial,"restart":true,
//     "problems":[{"problem":0,FIGURES of a problem,"worst":[i,j],"bad":0,"got":..,"want":..}, ..],
//     "stages":[{"problem":0,"stage":0,FIGURES of a stage}, ..]}
//
// The problems are all those of the job, in the job's order. "implausible": correct, but faster (in a trial or in a
// final) than the operation's minimum work and the device's peaks allow (tuner/gpu/peaks.h). "restart": the candidate
// used the device's heap or printf buffer, which cannot be restored.
#pragma once

#include "tuner/protocol/candidate.h"
#include "tuner/protocol/message.h"
#include "tuner/trial/trial.h"

struct trial_request {
    struct candidate candidate;
    bool verify;
    const double *best; // s, times of the best candidate so far, by tuned problem; they decide what is slow; NaN: none
    size_t best_count;
};

// The results for a problem: figures and, only if it was verified, a verdict.
struct problem_answer {
    int problem;
    struct trial_problem figures;
    const int64_t *worst; // row and column of the element with the largest error; NULL: no such element
    size_t worst_count;
    int64_t bad;                 // elements outside the bound; -1: it was not verified
    double got, want;            // values of the worst element
    const char *status, *reason; // for a baseline
    double error_max, error_rms; // compared with FP64, relative to the scale of the bound
};
extern const struct record problem_answer_record;

struct stage_answer {
    int problem, stage;
    struct trial_stage figures; // as reported by the GPU driver
};

struct trial_answer {
    struct answer_head head;
    struct trial figures;
    const struct problem_answer *problems;
    const struct stage_answer *stages;
    size_t problem_count, stage_count;
};

extern const struct record trial_request_record, trial_answer_record;

// The answer's problem with this number, or NULL. The answer may be NULL.
const struct problem_answer *trial_answer_problem(const struct trial_answer *, int problem);
