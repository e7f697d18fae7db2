// The baselines of a "job", in the request and in the answer.
//
//     BASELINE = "cublas": a library's | {"name":"current","detail":"BLOCK=256",CANDIDATE of all problems}: the job's
//       present kernel | {"name":"cub","detail":"f of x.cu","timeout":120,CANDIDATE of functions of the user's}
//     With "reason", why it is not available, it is not used.
#ifndef SWEETSPOT_JOB_MESSAGE_H
#define SWEETSPOT_JOB_MESSAGE_H

#include "tuner/protocol/candidate.h"
#include "tuner/protocol/trial_message.h"

struct baseline_request {
    struct candidate candidate; // its name is the baseline's
    const char *detail, *reason;
    double timeout; // s, of a program
};
extern const struct record baseline_request_record;

// It has its tuned problems, none when it is not available.
struct baseline_answer {
    const char *name, *detail, *reason;
    bool same_result; // does the same as a candidate, so that it can be right or wrong
    const struct problem_answer *problems;
    size_t problem_count;
};
extern const struct record baseline_answer_record;

// What any kernel needs by the device's data sheet.
struct least_time {
    int problem;
    double seconds;  // NaN: the sheet is not known
    const char *why; // "moving 201 MB takes at 4.4 TB/s"
};

// <- {"id":2,"status":"ok","baselines":[..],"least":[{"problem":0,"seconds":4.5e-5,"why":".."}, ..],
//     "metrics":["the keys that "count" will answer, in order"],"missing":[".."]}
struct job_answer {
    struct answer_head head;
    const struct baseline_answer *baselines;
    const struct least_time *least; // empty where the reference is no operation
    const char *const *metrics, *const *missing;
    size_t baseline_count, least_count, metric_count, missing_count;
};
extern const struct record job_answer_record;

#endif
