// The "job" request: problems (problem_message.h), and implementations other than candidates. The answer contains the
// baselines' figures.
//
//     {"op":"job","support":"/../support.cubin","ceilings":"/../ceilings.cubin","seed":1,"problems":[PROBLEM, ..],
//      "objective":"geomean"|"mean"|"worst"|"each","reference":IMPLEMENTATION,"verify":SETTINGS,"measure":SETTINGS,
//      "counters":[".."]|null,"baselines":[IMPLEMENTATION, ..],"sizes":{..}}
//     SETTINGS: one member for each row of a table in settings.c that is not marked SETTING_JOB.
//
//     IMPLEMENTATION = {"kind":"operation","name":"gemm","by":"cublas","buffers":{"A":"A",..}} |
//       {"kind":"kernel","cubin":"..","problems":[..]}: CANDIDATE without "config" |
//       {"kind":"library","path":"x.so","function":"f","generate":"g","verify":"v","timeout":600} |
//       {"kind":"command","command":"python3 x.py","folder":"..","timeout":600} |
//       {"kind":"npy","files":{"C":"c.npy"}} | {"kind":"none"}
//     A baseline is {"kind":"operation","name":"cublas"}: a baseline of the reference's operation; with "ways" and
//                   "detail" from an earlier answer, it is computed in these ways |
//       {"kind":"kernel","name":"current","detail":"BLOCK=256",CANDIDATE} |
//       {"kind":"library","name":"cub","detail":"f of x.cu","timeout":120,CANDIDATE}: calls to a function
//     A baseline with a "reason" is not available and is not used.
#pragma once

#include "tuner/protocol/problem_message.h"
#include "tuner/protocol/trial_message.h"
#include "tuner/trial/objective.h"

struct implementation_request {
    enum implementation_kind kind;
    struct candidate candidate; // the launches; its name is the baseline's or the operation's
    struct {
        const char *path, *function, *generate, *verify;
        const char *built; // the library that was built from the source at `path`
    } library;
    const char *by, *command;
    const char *folder;                              // where a command runs
    const char *hash;                                // for a library, or for a command and the files that it names
    const char *cache;                               // folder where expected values may be kept
    double timeout;                                  // s, for a call of a function or for a command; NaN: no limit
    const struct record_named_text *buffers, *files; // role -> buffer; buffer -> file
    size_t buffer_count, file_count;
    const char *detail, *reason;
    const char *const *ways; // for a library's baseline, one per problem; "" for a problem that is not tuned
    size_t way_count;        // 0: the worker finds the fastest way
};
extern const struct record implementation_request_record;

struct job_request {
    const char *support, *ceilings; // cubins of the worker's own kernels
    int64_t seed;
    const struct problem_request *problems;
    enum objective objective;
    const struct implementation_request *reference, *baselines;
    const json_t *verify, *measure;
    const char *const *counters;     // metrics or names of metric sets, in addition to "basic"; NULL: none
    bool drawn;                      // a job with drawn sizes, whose launches are marked
    const struct job_request *sizes; // the request for drawn sizes, without counters and baselines; NULL: none
    size_t problem_count, baseline_count, counter_count;
};
extern const struct record job_request_record;

// The figures of a baseline for every tuned problem; no problem is listed if the baseline is not available.
struct baseline_answer {
    const char *name, *detail, *reason;
    bool same_result; // computes the same as a candidate, so that its result can be verified
    const struct problem_answer *problems;
    const char *const *ways; // the ways that the worker chose, for requests to other workers
    size_t problem_count, way_count;
};
extern const struct record baseline_answer_record;

// The minimum time of any kernel, according to the device's data sheet.
struct least_time {
    int problem;
    double seconds;  // NaN: the data sheet is not known
    const char *why; // "moving 201 MB takes at 4.4 TB/s"
};

// <- {"id":2,"status":"ok","baselines":[..],"least":[{"problem":0,"seconds":4.5e-5,"why":".."}, ..],
//     "energy":true,"metrics":["the keys that "count" will answer, in order"],"missing":[".."]}
struct job_answer {
    struct answer_head head;
    const struct baseline_answer *baselines;
    const struct least_time *least; // empty if the reference is not an operation
    const char *const *metrics, *const *missing;
    size_t baseline_count, least_count, metric_count, missing_count;
    bool energy; // the device can measure energy
};
extern const struct record job_answer_record;
