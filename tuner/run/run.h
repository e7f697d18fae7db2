// Private to tuner/run: the state of one run and the parts of its loop. What is done next is decided by the policy
// (policy.h); here it is carried out on the workers of the pool (worker_pool.h). task.h has the life of a task.
//
// Invariants: a task is told to the strategy only after its trial is committed; a dead or late worker fails only the
// request at the head of its queue.
#ifndef SWEETSPOT_RUN_H
#define SWEETSPOT_RUN_H

#include <stdio.h>

#include "search/strategies/strategy.h"
#include "tuner/final/final.h"
#include "tuner/policy/incumbent.h"
#include "tuner/policy/policy.h"
#include "tuner/pool/worker_pool.h"
#include "tuner/run/gpu_times.h"
#include "tuner/run/run_watch.h"
#include "tuner/run/trial_record.h"
#include "tuner/run/tune.h"
#include "tuner/setup/job_setup.h"
#include "tuner/setup/task.h"
#include "tuner/store/store.h"
#include "tuner/watch/display.h"

// What a run did, for its report and its document in the store.
struct run_statistics {
    double started, search_started; // wall clock since 1970; clock_now
    int64_t new_trials, counts[STATUS_COUNT], cache_hits;
    double compile_seconds, gpu_busy, gpu_wall, count_wall;
    double count_busy;             // an estimate: events would be counted too
    double clock_mhz, temperature; // last seen
};

// Configurations to measure before the strategy is asked: winners of earlier jobs.
struct start_list {
    size_t count, next;
    uint16_t configs[TUNE_STARTS][SPACE_MAX_PARAMETERS];
    size_t left_out; // beyond TUNE_STARTS
};

// What the strategy knows from elsewhere.
struct prior_list {
    size_t count;
    struct prior *list[PRIOR_MOST];
};

// What the reference of all GPUs may be made of, from a task that has ended (run_checks.c).
struct check_candidate {
    char *config, *cubin;
    json_t *problems;
    size_t gpu;
};

// A trial on its way into the store.
struct finished_trial {
    struct task *task;
    bool measured; // a GPU has answered
    struct check_candidate check;
    struct trial_record record;
};

// Which of the store's trials the strategy has been told, by their numbers.
struct reported_trials {
    int64_t *ids; // a hash table; 0: free
    size_t count, room;
};

// What compares the GPUs (run_checks.c).
struct gpu_checks {
    size_t seen;          // valid candidates, of which the best is the reference
    int64_t trial;        // the reference's; 0: there is none yet
    double objective;     // its own
    char *config, *cubin; // of it
    json_t *problems;
    struct gpu_times times;
    size_t gpu_count;
    struct checked_gpu *gpus; // by slot
    double wall;              // s of GPUs
};

struct run {
    struct job *job;
    const struct tune_options *options;
    uint64_t seed;
    struct worker_pool pool;
    struct job_setup setup;
    json_t *job_answer; // the first GPU worker's, to the job
    json_t *ceilings;   // the store's document; NULL: unknown
    bool work_doubted;  // the warning has been given
    size_t metric_count;
    char **metrics; // keys, in the order in which counters come
    struct store *store;
    const struct strategy_class *strategy_class;
    struct strategy *strategy;
    struct policy policy;
    double polled;        // when workers were last looked at
    bool pending_answers; // what they said was not all taken then
    size_t finished_count;
    struct finished_trial **finished; // to be committed together
    struct start_list starts;
    struct prior_list priors;
    struct reported_trials reported;
    struct incumbent incumbent;
    struct gpu_checks checks;
    struct run_statistics statistics;
    struct display display;
    struct run_watch watch;
    struct final_run final;
    bool final_failed; // it did not say who wins
    bool fatal;        // `failure` says why the run ends
    int fatal_status;
    struct error failure;
};

// The gain whose chance is shown where the user has not set one (`until`).
#define OUTLOOK_SHARE 0.01

static inline int64_t run_evaluations(const struct run *r) // configurations with a result, earlier runs included
{
    return (int64_t)r->policy.stop.evaluations;
}

// run_setup.c: workers, device, support kernels, store, environment, job. 0 or an exit status with r->failure filled.
int run_setup(struct run *);
void run_release(struct run *);
json_t *run_given_devices(const struct run *); // as the user named them: "device", "pool". A new reference

// run_gpu.c: requests to GPU workers and their answers.
void run_measure(struct run *, struct task *, size_t gpu);
void run_count(struct run *, const struct policy_request *, size_t gpu);
void run_take_gpu_answer(struct run *, size_t gpu, const json_t *answer);
void run_take_gpu_loss(struct run *, const struct pool_event *);

// run_checks.c: the same candidate on every GPU.
void run_check_ready(struct run *, size_t gpu); // its worker is set up
// What the reference may be made of; and the valid trial that it became (0: none), which that GPU has measured. Takes
// what is in it.
struct check_candidate run_check_candidate(const struct run *, const struct task *);
void run_check_note(struct run *, struct check_candidate *, int64_t trial, double objective);
void run_check_send(struct run *, size_t gpu); // the reference
void run_take_check(struct run *, size_t gpu, const struct trial_answer *);
void run_check_failed(struct run *, size_t gpu, const char *why); // it ended the worker
void run_check_release(struct run *);
json_t *run_gpus_document(const struct run *); // the GPUs of the run, with what was found

// run_compile.c: likewise for compilers.
void run_compile(struct run *, struct task *, size_t compiler);
void run_take_compiler_answer(struct run *, size_t compiler, const json_t *answer);
void run_take_compiler_loss(struct run *, const struct pool_event *);

// run_commit.c.
// A trial has ended; run_commit_all commits it. Until then the task must not be touched.
// What the answer points to, if there is one, is in `memory`, which is taken.
void run_commit(struct run *, struct task *, enum trial_status, const char *reason, const struct trial_answer *answer,
                struct arena *memory);
// Commits all that have ended, in one transaction; then tells them, and frees their tasks or queues them for counting.
void run_commit_all(struct run *);

// run_tasks.c: tasks, telling.
struct task *run_add_task(struct run *, const uint16_t *config, enum task_purpose);
struct task *run_add_proposal(struct run *, const uint16_t *config); // a trial, which the store may know already
void run_drop_task(struct run *, struct task *);                     // takes it from the policy, and frees
void run_rank(struct run *);                                         // what waits for a GPU, by the strategy
void run_forget(struct run *, struct task *);                        // the strategy has given it up
void run_free_tasks(struct run *);                                   // all that are left, before policy_release
bool run_in_flight(const struct run *, const uint16_t *config);      // whether a trial of it has no result yet
// Its trial is in the store: the strategy is told, and the task is freed or queued for counting.
void run_tell_committed(struct run *, struct task *, const struct trial_record *);
void run_tell_known(struct run *, struct task *);
void run_find_best(struct run *);    // anew from the store, after verdicts
bool run_knows_all(struct run *);    // whether the store has a result of every configuration of the space
int run_replay_stored(struct run *); // the store's trials that were not told: at the start of a live run, and where
                                     // lockstep ran out of time
// run_priors.c: from --prior, the store's other environments and the stores beside it. Before there is a strategy.
void run_collect_priors(struct run *, const struct environment *own);
void run_release_priors(struct run *); // after the strategy
void run_collect_starts(struct run *); // run_starts.c: from the job and the store's other environments
void run_commit_counters(struct run *, struct task *, const struct counted_trial *);  // NULL: it has none
void run_condemn(struct run *, int64_t trial, enum trial_status, const char *reason); // a verdict of the final
void run_fail(struct run *, int exit_status, const struct error *);                   // ends the run

// run_retry.c: after the search, candidates that crashed once and may belong into the final. Adds their tasks, at most
// RUN_RETRIES; returns how many.
enum { RUN_RETRIES = 3 };
size_t run_retry_begin(struct run *);

// run_final.c: hands the final what it works with, once the GPU workers know the job.
void run_final_open(struct run *);

void run_progress(struct run *, bool now); // run_progress.c: shows the line where it is due, or now

// run_events.c: for `events` of the options; nothing without. docs/events.md has them.
void run_event_begin(const struct run *);
void run_event_baseline(const struct run *, const json_t *baseline, double objective);
void run_event_ceilings(const struct run *);
void run_event_best(const struct run *, bool first, bool stored, size_t problem); // of the incumbent
json_t *run_event_so_far(const struct run *);                                     // of "progress"; new reference
void run_event_progress(struct run *);                                            // every few seconds
void run_event_searched(const struct run *);
void run_event_end(const struct run *, int exit_status);

#endif
