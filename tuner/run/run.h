// Private to tuner/run: the state of one run, and the parts that carry out the policy's decisions (policy.h) on the
// workers of the pool (worker_pool.h). task.h describes the life of a task. The search, the comparison of GPUs,
// watching, the final and the display each have their own struct, and their functions access no other part of the run.
//
// Invariants: a result is reported to the strategy only after its trial is committed; a dead or late worker fails only
// the request at the head of its queue.
#pragma once

#include "tuner/protocol/count_message.h"
#include "tuner/protocol/job_message.h"
#include "tuner/run/gpu_checks.h"
#include "tuner/run/run_watch.h"
#include "tuner/run/search.h"
#include "tuner/setup/job_setup.h"

// Figures of a run, for its report and its document in the store.
struct run_statistics {
    double started, search_started; // s: Unix time; by clock_now
    int64_t new_trials, cache_hits;
    double compile_seconds, gpu_busy, gpu_wall, count_wall;
    double count_busy;             // an estimate, because events for timing would be counted too
    int64_t counted;               // number of trials counted
    double clock_mhz, temperature; // last seen
};

// A trial on its way into the store.
struct finished_trial {
    struct task *task;
    bool measured;                  // a GPU has answered
    struct trial trial;             // borrows from the job and the task
    double times[JOB_MAX_PROBLEMS]; // of the tuned problems; NaN if unknown
    struct arena memory;            // of the trial
};

// Trials that are committed together.
struct commit_queue {
    size_t count;
    struct finished_trial *list;
};

// The live file and the events, for other programs that follow the run.
struct live_file {
    char *path;         // NULL: there is none
    double next, every; // next time to write it; minimum s between versions
    double next_event;  // next time to report progress as an event
    bool failed;        // writing it failed, and this was reported
};

struct run {
    struct job *job;
    const struct tune_options *options;
    struct worker_pool pool;
    struct job_setup setup;
    struct job_answer job_answer; // the first GPU worker's
    struct arena memory;          // of that answer
    json_t *ceilings;             // the store's document; NULL: unknown
    bool work_doubted;            // the warning about doubtful work has been given
    struct store *store;
    struct policy policy;
    struct search search;
    struct commit_queue finished;
    struct gpu_checks checks;
    struct run_statistics statistics;
    struct display display;
    struct run_watch watch;
    struct live_file live;
    struct final_run final;
    struct fatal_error failure; // why the run ends
};

static inline int64_t run_evaluations(const struct run *r) // configurations with a result, earlier runs included
{
    return (int64_t)r->policy.stop.evaluations;
}

// run_setup.c: workers, device, support kernels, store, environment, job. Returns 0, or an exit status with r->failure
// filled in.
int run_setup(struct run *);
void run_release(struct run *);

// run_gpu.c: requests to GPU workers and their answers. The first two functions estimate times in s: how long the best
// candidate takes on all problems together (0: unknown), and how long counting the uncounted trials takes.
double run_sum_of_times(const struct run *);
double run_count_seconds(const struct run *);
void run_measure(struct run *, struct task *, size_t gpu);
void run_count(struct run *, const struct policy_request *, size_t gpu);
void run_take_gpu_answer(struct run *, size_t gpu, const json_t *answer);
void run_take_gpu_loss(struct run *, const struct pool_event *);

// run_compile.c: requests to compilers and their answers.
void run_compile(struct run *, struct task *, size_t compiler);
void run_take_compiler_answer(struct run *, size_t compiler, const json_t *answer);
void run_take_compiler_loss(struct run *, const struct pool_event *);

// trial_record.c: the trials and counters to store.
// Fills in the trial of a task, except for its id and its counters. A trial with status ok but without a time gets the
// status crashed. `answer` is the GPU worker's answer, or NULL. It points into `memory`, and the function takes
// ownership of `memory`.
void run_record_trial(const struct run *, struct finished_trial *, enum trial_status, const char *reason,
                      const struct trial_answer *answer, struct arena *memory);
// Returns the counters in the answer for one trial (`answer` may be NULL), or NULL with *count 0 if there are none. The
// caller frees the result.
struct trial_counter *run_record_counters(const struct run *, const struct counted_trial *answer, size_t *count);

// run_commit.c: stores results and reports them to the strategy.
void run_add_proposal(struct run *, const uint16_t *config); // adds a task; the store may have its result
// Queues a trial that has ended; run_commit_all commits it. Until then the task must not be touched. The answer, if
// there is one, points into `memory`, and the function takes ownership of `memory`.
void run_commit(struct run *, struct task *, enum trial_status, const char *reason, const struct trial_answer *answer,
                struct arena *memory);
// Commits all trials that have ended, in one transaction. Then reports these trials, and frees their tasks or queues
// the tasks for counting.
void run_commit_all(struct run *);
void run_commit_counters(struct run *, struct task *, const struct counted_trial *); // NULL: no answer
void run_replay_known(struct run *, struct task *);
// Reports the store's trials that have not been reported yet. Called before the search or, in lockstep, usually after
// the search.
void run_replay_stored(struct run *);

// run_documents.c: the documents of a run in the store, and the live file next to it.
// Takes ownership of `document`. If it cannot be stored, returns -1 and sets the run's failure.
int run_put_document(struct run *, const char *kind, json_t *document);
int run_put_origin(struct run *);           // device and job file
json_t *run_document(struct run *);         // of kind "run", after the search; new reference
json_t *run_workers_document(struct run *); // of kind "workers"; new reference
double run_time_left(const struct run *);   // s; INFINITY: no limit
void run_live_begin(struct run *);          // call once the store is locked
void run_live_end(struct run *);
void run_live_look(struct run *); // polls all workers and writes the file, when due
void run_phase(struct run *, enum watch_phase);

// run_report.c: the line of progress and the summary.
void run_progress(struct run *);      // shows the line when it is due
void run_report(struct run *);        // after the search
void run_report_values(struct run *); // after the final: advice about the space's values (final_values.h)

// run_events.c: events for the option `events`. Without this option, these functions do nothing. docs/json.md documents
// the events.
void run_event_begin(const struct run *);
void run_event_baseline(const struct run *, const struct baseline_answer *, double objective);
void run_event_ceilings(const struct run *);
void run_event_best(const struct run *, bool first, bool stored, size_t problem); // of the incumbent
json_t *run_event_so_far(const struct run *);                                     // for "progress"; new reference
void run_event_progress(struct run *);                                            // every few seconds
void run_event_searched(const struct run *);
void run_event_end(const struct run *, int exit_status);
