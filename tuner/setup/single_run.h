// One candidate at a time, examined closely: a compiler and a GPU worker with a job set up, and blocking questions to
// them. For the commands that explain or judge (profile, judge), as tune.h is for the one that searches.
// Nothing is stored. Of counters it takes the given set and what the job names.
#pragma once

#include "tuner/protocol/count_message.h"
#include "tuner/protocol/final_message.h"
#include "tuner/protocol/job_message.h"
#include "tuner/protocol/profile_message.h"
#include "tuner/setup/job_setup.h"
#include "tuner/setup/sanitize.h"

// What others read of it: the pool's device, compiler and limits, the setup's request and source hash, the answer.
struct single_run {
    struct job *job;
    struct worker_pool pool;
    struct job_setup setup;
    json_t *job_answer;
    struct job_answer reported; // the same, the GPU worker's answer to the job
    struct arena memory;        // of it
    char *device, *cache;
    const char *binary;                   // of the options
    const struct implementation *library; // of the options
    bool counts;                          // it was opened with metrics
    bool ended; // the worker announced its end ("restart"): another must be set up before the next question
    void (*say)(const char *text);
};

struct single_run_options {
    const char *device;  // "0"
    const char *cache;   // folder of the compile cache
    const char *metrics; // a metric set besides the basic one ("full"); NULL: no counters
    const char *binary;  // a cubin, PTX or fat binary in place of what is compiled; NULL: none. Borrowed
    const struct implementation *library; // a function of a shared library in its place; NULL: none. Borrowed
    bool baselines;                       // measure them too
    bool compiles_only;                   // the GPU worker does not get the job, so it can be asked nothing about it
    double rest;                   // s before each timed launch, unless the job says otherwise; 0: as in a search
    void (*say)(const char *text); // called before each long step; NULL: not called
};

// What those that explain take as `rest`, s: makes times repeatable and like ncu's (measure.c).
static const double single_run_rest = 400e-6;

struct single_run_candidate {
    char *config;             // canonical text
    enum trial_status status; // STATUS_OK: it can be launched; otherwise what is wrong with it
    char *reason;             // and why; "" where it can
    struct compiled compiled;
    json_t *problems; // all of them, as a request wants them
    size_t launch_count;
    struct planned_launch *launches;
};

// Starts the workers ahead of a job, up to the GPU worker's CUDA context. Returns 0 or an exit status with a message;
// *out is NULL then.
int single_run_start(struct single_run **out, const char *device, struct error *);
// Sets up the job, and starts the workers before that, unless *out has those of single_run_start for the same device;
// else *out must be NULL. Returns 0 or an exit status with a message; *out is NULL then. Builds the job's space. The
// caller closes.
int single_run_open(struct single_run **out, struct job *, const struct single_run_options *, struct error *);
void single_run_close(struct single_run *); // NULL is fine

void single_run_say(const struct single_run *, const char *text);

// Compiles a configuration, with `defines` (name -> text; may be NULL) added, and checks that it can be launched. A
// candidate that does not compile or cannot be launched says so in its status. -1 with a message when that is not the
// candidate's fault. The caller releases, also after a failure.
int single_run_compile(struct single_run *, const uint16_t *config, const json_t *defines,
                       struct single_run_candidate *, struct error *);
void single_run_candidate_release(struct single_run_candidate *);
// As requests name it; borrows.
struct candidate single_run_described(const struct single_run_candidate *);

// Asks the GPU worker (takes the reference). NULL with a message: it died, was late, or says that the request failed;
// it is of no use afterwards. One that ends as it had said ("restart") is replaced. A candidate's own failure ("wrong")
// is an answer. *late (may be NULL): it was late.
json_t *single_run_ask(struct single_run *, json_t *request, double seconds, bool *late, struct error *);
enum { SINGLE_RUN_PATIENCE = 600 }; // seconds, for requests that have no limit of their own
