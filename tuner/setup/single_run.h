// Examines one candidate at a time: a compiler and a GPU worker with a job set up, and blocking questions to them. It
// serves the commands that explain or judge (profile, judge), as tune.h serves the command that searches. Nothing
// is stored. It counts the given metric set and the metrics that the job names.
#pragma once

#include "tuner/protocol/count_message.h"
#include "tuner/protocol/final_message.h"
#include "tuner/protocol/job_message.h"
#include "tuner/protocol/profile_message.h"
#include "tuner/setup/job_setup.h"
#include "tuner/setup/sanitize.h"

// Callers read only these parts: the pool's device, compiler and limits, the setup's request and source hash, and the
// answer.
struct single_run {
    struct job *job;
    struct worker_pool pool;
    struct job_setup setup;
    json_t *job_answer;
    struct job_answer reported; // the GPU worker's answer to the job, as a struct
    struct arena memory;        // memory of `reported`
    char *device, *cache;
    const char *binary;                   // from the options
    const struct implementation *library; // from the options
    bool counts;                          // opened with metrics, and SWEETSPOT_COUNTERS is not "none"
    bool ended; // the worker announced its end ("restart"), so another must be set up before the next question
    void (*say)(const char *text);
};

struct single_run_options {
    const char *device;  // "0"
    const char *cache;   // folder of the compile cache
    const char *metrics; // a metric set in addition to the basic one ("full"); NULL: no counters
    const char *binary;  // a cubin, PTX or fat binary to use instead of compiling; NULL: none. Borrowed
    const struct implementation *library; // a function of a shared library instead; NULL: none. Borrowed
    bool baselines;                       // also measure the job's baselines
    bool compiles_only;                   // the GPU worker does not get the job and cannot be asked about it
    double rest;                          // s before each timed launch, unless the job sets it; 0: as in a search
    void (*say)(const char *text);        // called before each long step; NULL: not called
};

// The `rest` (s) used by the commands that explain. It makes times repeatable and close to ncu's (measure.c).
static const double single_run_rest = 400e-6;

struct single_run_candidate {
    char *config;             // canonical text
    enum trial_status status; // STATUS_OK: it can be launched; otherwise the kind of failure
    char *reason;             // why not; "" if it can be launched
    struct compiled compiled;
    json_t *problems; // all problems, as in a request
    size_t launch_count;
    struct planned_launch *launches;
};

// Starts the workers before there is a job, up to the creation of the GPU worker's CUDA context. Returns 0, or an exit
// status with a message and NULL in *out.
int single_run_start(struct single_run **out, const char *device, struct error *);
// Sets up the job. If *out comes from single_run_start for the same device, uses its workers; otherwise *out must be
// NULL, and the workers are started first. Returns 0, or an exit status with a message and NULL in *out. Builds the
// job's space. The caller closes.
int single_run_open(struct single_run **out, struct job *, const struct single_run_options *, struct error *);
void single_run_close(struct single_run *); // NULL is fine

void single_run_say(const struct single_run *, const char *text);

// Compiles a configuration, with `defines` (name -> text; may be NULL) added, and checks that it can be launched. If
// the candidate does not compile or cannot be launched, its status says so. Returns -1 with a message if the failure
// has another cause. The caller releases the candidate, even after a failure.
int single_run_compile(struct single_run *, const uint16_t *config, const json_t *defines,
                       struct single_run_candidate *, struct error *);
void single_run_candidate_release(struct single_run_candidate *);
// The candidate as described in requests; borrows from the argument.
struct candidate single_run_described(const struct single_run_candidate *);

// Asks the GPU worker (takes the reference). Returns NULL with a message if the worker died, was late, or reports that
// the request failed; the worker cannot be used afterwards. A worker that announces its end ("restart") is replaced. A
// candidate's own failure ("wrong") is an answer. *late (may be NULL): whether the worker was late.
json_t *single_run_ask(struct single_run *, json_t *request, double seconds, bool *late, struct error *);
enum { SINGLE_RUN_PATIENCE = 600 }; // seconds, for requests that have no limit of their own
