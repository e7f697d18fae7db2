// {"id":4,"op":"count","trials":[{"trial":17,CANDIDATE of the tuned problems} | {"baseline":"cublas"}, ..]}
// <- {"id":4,"status":"ok","passes":2,"wall":..,
//     "trials":[{"trial":17,"counters":[{"problem":0,"stage":0,"values":[..]}, ..],"reason":""}, ..]}
//
// All launches that a library makes for a problem are one stage.
#pragma once

#include "tuner/protocol/candidate.h"
#include "tuner/protocol/message.h"

struct counted_candidate {
    int64_t trial;
    const char *baseline; // instead of a candidate
    struct candidate candidate;
};

struct count_request {
    const struct counted_candidate *trials;
    size_t trial_count;
};

struct stage_counters {
    int problem, stage;
    const double *values; // in the order of the job's "metrics"; NaN: no value
    size_t value_count;
};

struct counted_trial {
    int64_t trial;
    const struct stage_counters *counters;
    size_t counter_count;
    const char *reason; // why there are no counters
};

struct count_answer {
    struct answer_head head;
    int64_t passes;
    double wall; // s
    const struct counted_trial *trials;
    size_t trial_count;
};

extern const struct record count_request_record, count_answer_record;
