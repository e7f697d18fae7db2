// Private to tuner/run: the state of one run and the parts of its loop.
//
// A task is one configuration on its way:
//
//     ask -> QUEUED -> COMPILING -> READY -> ON_GPU -> committed, told -> COUNTABLE -> COUNTING -> done
//                          |          |         |
//                          +----------+---------+--> a failure is committed and told all the same
//
// Invariants: a task is told to the strategy only after its trial is committed; a worker's request belongs to exactly
// one slot; a dead or late worker fails only the request at the head of its queue, those behind it go back to READY.
//
// In lockstep (replay) nothing overlaps: a fixed number of proposals is compiled, then one is measured and told, then
// the next is asked. The sequence of asks and tells then depends on seed and results alone, so that a run that was
// killed and resumed, which answers known configurations from the store, goes the same way as one that was not.
#ifndef SWEETSPOT_RUN_H
#define SWEETSPOT_RUN_H

#include <stdio.h>

#include "search/strategy.h"
#include "tuner/run/request.h"
#include "tuner/run/tune.h"
#include "tuner/run/worker.h"
#include "tuner/store/store.h"

enum {
    RUN_MAX_GPUS = 16,
    RUN_GPU_QUEUE = 2, // requests a GPU worker holds, so that it never waits for the driver
    RUN_COUNT_BATCH =
        96, // candidates counted in one profiler session, whose opening costs as much as counting 30 of them
    RUN_LOCKSTEP_WINDOW = 8,
    RUN_MAX_COUNTERS = 128,
};

enum task_state {
    TASK_QUEUED,
    TASK_COMPILING,
    TASK_READY,
    TASK_ON_GPU,
    TASK_COUNTABLE,
    TASK_COUNTING,
    TASK_FINAL,
    TASK_DONE
};
enum task_purpose {
    TASK_TRIAL,
    TASK_COUNT,
    TASK_FINALIST
}; // measured; only counted (resumed); only compiled, for the final

struct task {
    enum task_state state;
    enum task_purpose purpose;
    uint16_t config[SPACE_MAX_PARAMETERS];
    char *text;    // canonical
    int64_t trial; // id in the store once committed
    struct compiled compiled;
    json_t *problems; // of the trial request
    struct planned_launch *launches;
    size_t launch_count;
    bool known; // its result is in the store already
    bool alone; // to be counted alone: it may have killed a worker
    double objective;
    const char *device_id; // uuid of the GPU that measured it; the slot's
};

enum gpu_state { GPU_DOWN, GPU_HELLO, GPU_JOB, GPU_READY };
enum request_kind { REQUEST_TRIAL, REQUEST_COUNT, REQUEST_FINAL };

struct gpu_request {
    enum request_kind kind;
    int64_t id;
    double timeout; // s, from when it is at the head
    size_t task_count;
    struct task **tasks; // one; a batch; none for the final
};

struct gpu_slot {
    struct worker worker;
    char name[32], device[32], uuid[80];
    enum gpu_state state;
    int64_t setup_id;
    double deadline; // of the set-up or of the head of the queue
    size_t queued;
    struct gpu_request queue[RUN_GPU_QUEUE];
    int failed_starts;
    bool stopping; // answered "crashed": its end is expected
};

struct compile_slot {
    struct worker worker;
    char name[32];
    struct task *task;
    int64_t id;
    double deadline;
    int failed_starts;
};

struct run {
    struct job *job;
    const struct tune_options *options;
    bool replay, lockstep;
    char *replay_file, *gpu_program, *compile_program;
    struct store *store;
    struct strategy *strategy;
    const struct strategy_class *strategy_class;
    uint64_t seed;
    struct device_limits limits;
    int64_t memory;
    json_t *hello, *job_request, *job_answer;
    char compiler[64], arch[32], source_hash[33], device_name[128], driver[64];
    struct compiled support, reference;
    size_t metric_count;
    char *metrics[RUN_MAX_COUNTERS];
    size_t gpu_count, compile_count;
    struct gpu_slot gpus[RUN_MAX_GPUS];
    struct compile_slot *compilers;
    size_t task_count, task_room;
    struct task **tasks;            // alive, in order of asking
    size_t start_count, start_next; // configurations to measure before the strategy is asked: winners of earlier jobs
    uint16_t starts[TUNE_MAX_STARTS][SPACE_MAX_PARAMETERS];
    // the story so far
    double started, search_started, paused_until;
    int64_t evaluations, new_trials, counts[STATUS_COUNT], cache_hits;
    double compile_seconds, gpu_busy, gpu_wall, count_wall,
        count_busy; // s; count_busy is an estimate: events would be counted too
    double best;    // objective; INFINITY
    double best_times[JOB_MAX_PROBLEMS];
    char best_text[TUNE_CONFIG_TEXT];
    int64_t best_trial;
    bool *told; // by the number of a trial, told_room of them
    size_t told_room;
    double baseline; // objective of the first baseline; NAN
    char baseline_name[32];
    double clock_mhz, temperature;
    struct stop stop;
    bool ask_ended; // budget spent, space exhausted, or interrupted
    const char *stopped_by;
    bool fatal; // `failure` says why the run ends
    int fatal_status;
    struct error failure;
    json_t *final_answer;
    bool final_failed;
    FILE *log;
    double next_progress;
    bool terminal;
    size_t progress_width;
};

// run_setup.c: workers' first words, device, support kernels, store, environment, job. 0 or an exit status with
// r->failure filled.
int run_setup(struct run *);
int run_meet(struct run *);        // its first half: workers, device, space
int run_prepare_job(struct run *); // and then: support kernels, reference, the job's request
void run_release(struct run *);
int run_start_compiler(struct run *, size_t i, struct error *);
int run_start_gpu(struct run *, size_t i, struct error *); // sends hello; the loop goes on from there
json_t *run_job_request(const struct run *);               // new reference

// run_gpu.c: requests to GPU workers and their answers.
void run_dispatch_gpus(struct run *);
void run_handle_gpu(struct run *, struct gpu_slot *); // after worker_io; reads all answers
void run_gpu_died(struct run *, struct gpu_slot *, const char *why, enum trial_status);
void run_check_gpu_deadlines(struct run *, double now);
bool run_gpus_idle(const struct run *);

// run_compile.c: likewise for compilers.
bool run_dispatch_compilers(struct run *); // true after a known task was passed on: ask before anything else
void run_handle_compiler(struct run *, struct compile_slot *);
void run_compiler_died(struct run *, struct compile_slot *, const char *why);
void run_check_compile_deadlines(struct run *, double now);

// run_tasks.c: tasks, committing, telling.
struct task *run_add_task(struct run *, const uint16_t *config, enum task_purpose);
void run_drop_task(struct run *, struct task *); // removes and frees
size_t run_count_tasks(const struct run *, enum task_state);
struct task *run_first_task(const struct run *, enum task_state);
void run_commit(struct run *, struct task *, enum trial_status, const char *reason,
                const json_t *answer); // commits, tells, frees or queues for counting
void run_tell_known(struct run *, struct task *);
int run_tell_stored(struct run *);     // the store's trials that were not told: at the start of a live run, and where
                                       // lockstep ran out of time
void run_collect_starts(struct run *); // run_starts.c: from the store's other environments and --start-from
void run_commit_counters(struct run *, struct task *, const json_t *counters);
void run_fail(struct run *, int exit_status, const struct error *); // ends the run

// final.c: the final.
int run_final_begin(struct run *);      // adds the finalists' tasks; 0 none to decide between
int run_final_begin_each(struct run *); // final_each.c: the same for objective "each"
void run_final_finish_each(struct run *);
void run_put_final(struct run *, json_t *document); // into the store; takes the document
void run_final_send(struct run *, struct gpu_slot *);
void run_final_finish(struct run *); // the answer into the store, the summary onto stdout

// progress.c
void run_log(struct run *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void run_message(struct run *, const char *format, ...) __attribute__((format(printf, 2, 3))); // stderr and log
void run_progress(struct run *, bool now);
void run_progress_clear(struct run *);

#endif
