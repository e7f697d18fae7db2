// Decides what a run does next: which compiler gets which proposal, how many proposals are made ahead, which GPU
// measures which candidate, when a batch is counted, and when the search ends and the final begins. It performs no I/O.
// The clock and the events are passed in, so replaying the same events gives the same decisions. The decisions are
// carried out elsewhere: by tune.c on real workers, or by a test or a simulation in simulated time.
//
//     policy_begin(p, now)
//     loop:
//         action = policy_next(p, now)          until it is POLICY_WAIT: carry it out
//         something happens                     policy_compiled, policy_gpu_answered, policy_gpu_lost, ..
//     until POLICY_DONE
//
// If there are several GPUs, each of them measures the same candidate, the reference, when it joins and from time to
// time (POLICY_CHECK), so that the caller can compare the GPUs.
//
// From the times so far, look_ahead.h computes how far proposals run ahead of the GPUs. If the kernel is slow, the
// strategy (if it can) ranks the waiting candidates whenever a GPU becomes free. The most promising candidate is then
// measured first. A hopeless candidate is forgotten if another candidate waits. At most one candidate is forgotten for
// every four that are measured.
//
// The policy manages every task from policy_add until policy_remove; the caller owns the task's memory. A request goes
// to one GPU. The GPU's worker answers requests in order, and holds a few of them so that it never waits. If a worker
// is lost, only the request at the head of its queue is lost; the requests after it are assigned again.
//
// In lockstep (replay) nothing overlaps: a fixed number of proposals is compiled, then one is measured and reported,
// then the strategy is asked for the next. The sequence of asks and tells then depends only on the seed and the
// results. A resumed run takes the results of known configurations from the store, so it proceeds like an uninterrupted
// one.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "search/model/stop.h"
#include "tuner/policy/look_ahead.h"
#include "tuner/policy/task_queue.h"

enum {
    POLICY_GPU_QUEUE = 2,    // requests that a GPU worker holds, so that it never waits for the driver
    POLICY_COUNT_BATCH = 96, // candidates per profiler session; opening one costs as much as counting 30
    POLICY_LOCKSTEP_WINDOW = 8,
    POLICY_CHECK_SECONDS = 60,
    POLICY_CHECK_SHARE = 50, // a check takes at most 1/50 of a GPU's time
    POLICY_CHECK_LATE = 20,  // at the search's end, a check is due after this many times the last check's duration
    POLICY_NODES_LOST = 3,   // nodes that may be lost while they measure a candidate, before the candidate is suspected
};

struct policy_settings {
    bool lockstep;
    bool ranks; // the strategy can rank
    size_t compilers, gpus;
    double time;         // s from policy_begin; 0: no limit
    double latest;       // s from policy_begin; after that, an ended search counts nothing more; 0: no limit
    int64_t evaluations; // in total, including those reported before the search; 0: no limit
    struct stop_rules stop;
};

enum request_kind { REQUEST_NONE, REQUEST_TRIAL, REQUEST_COUNT, REQUEST_FINAL, REQUEST_CHECK };

struct policy_request {
    enum request_kind kind;
    size_t task_count; // one for a trial; a batch for counting; none for the final and for a check
    struct queued_task **tasks;
};

struct policy_gpu {
    bool ready;
    double since; // when the request at the head of the queue began
    size_t queued;
    struct policy_request queue[POLICY_GPU_QUEUE];
    bool checking, check_again;    // the reference is in the queue; it should be measured at once
    bool checked;                  // the reference was measured on this GPU
    double checked_at, check_took; // time and duration of the last check, s
    size_t unchecked;              // trials since the last check
};

struct policy_compiler {
    struct queued_task *task; // NULL: idle
    bool absent;              // it gets no requests
};

struct policy {
    struct policy_settings settings;
    struct task_queue queue;
    struct policy_gpu *gpus;
    struct policy_compiler *compilers;
    struct stop stop; // stop.evaluations: configurations that have a result
    struct look_ahead ahead;
    double started, now;
    size_t measured, forgotten; // trials for which a GPU answered; ready trials that were forgotten
    bool ranked;                // the ranking of the waiting trials is up to date
    enum search_end end;
    bool interrupted;
    bool no_proposal; // the strategy had no proposal; it is asked again after the next result
    bool deciding;    // in the final
    bool final_sent, final_over;
    size_t final_gpu; // GPU of the final; POLICY_NO_WORKER before it is sent
    bool checks;      // there is a reference
};

enum policy_action_kind {
    POLICY_WAIT,    // nothing to do until the next event or the time `until`
    POLICY_PROPOSE, // ask the strategy: policy_add, or policy_no_proposal
    POLICY_COMPILE, // `task` on compiler `worker`: policy_compiled, or policy_remove if it failed
    POLICY_RECALL,  // `task` has a result in the store: tell the strategy, policy_remove
    POLICY_RANK,    // let the strategy rate every trial in state READY (policy_waiting) with the latest results
    POLICY_FORGET,  // `task` will not be measured, and may be proposed again: tell the strategy, policy_remove
    POLICY_MEASURE, // `task` on GPU `worker`
    POLICY_COUNT,   // `request->tasks` on GPU `worker`
    POLICY_CHECK,   // the reference, on GPU `worker`
    POLICY_FINAL,   // the tasks in state FINAL, on GPU `worker`
    POLICY_DROP,    // `task` will not be measured: stop compiler `worker` unless it is POLICY_NO_WORKER, policy_remove
    POLICY_DONE,    // the search or the final is over
};

#define POLICY_NO_WORKER ((size_t)-1)

struct policy_action {
    enum policy_action_kind kind;
    size_t worker;
    struct queued_task *task;
    const struct policy_request *request; // borrowed, until the GPU's next event
    double until;                         // for POLICY_WAIT; INFINITY: wait only for events
};

void policy_init(struct policy *, const struct policy_settings *);
void policy_release(struct policy *);
// Adds workers; the existing ones keep their numbers. New GPUs are not ready yet, new compilers are.
void policy_grow(struct policy *, size_t compilers, size_t gpus);
// Sets whether a compiler accepts requests; it does not if its node is gone.
void policy_compiler_there(struct policy *, size_t compiler, bool there);

void policy_begin(struct policy *, double now);                 // begins the search
void policy_skip_search(struct policy *);                       // only carries out the counting that is due
void policy_limit(struct policy *, double time, double latest); // changes the settings with these names
void policy_begin_final(struct policy *);    // after the search, or after another final; add the finalists first
void policy_continue_final(struct policy *); // once the final is over: another one on the same GPU
struct policy_action policy_next(struct policy *, double now);
// Sets the time of everything that is reported until the next call.
void policy_clock(struct policy *, double now);

// Proposals.
void policy_add(struct policy *, struct queued_task *, enum task_purpose, enum task_known);
void policy_no_proposal(struct policy *, bool exhausted);
// Reports a configuration's result, whether the configuration was proposed or not. `objective` is in s, or NaN for a
// failure.
void policy_reported(struct policy *, double objective);

// The trials in state READY, which are to be ranked; malloc'ed.
struct queued_task **policy_waiting(const struct policy *, size_t *count);

// Reports that a task has been compiled, and that its compiler is idle again.
void policy_compiled(struct policy *, struct queued_task *);
// Reports that a task has been measured, and that its hardware events are to be counted.
void policy_countable(struct policy *, struct queued_task *);
// Removes a finished task, whatever its result. The task must not be part of a request.
void policy_remove(struct policy *, struct queued_task *);

// Reports that a GPU's worker is ready for requests.
void policy_gpu_ready(struct policy *, size_t gpu);
// Reports that the request at the head of a GPU's queue has been answered, and returns this request. The caller frees
// `tasks`, and calls policy_countable or policy_remove for each of them.
struct policy_request policy_gpu_answered(struct policy *, size_t gpu);
// Reports that a GPU's worker is lost. Returns the request at fault, to be handled like an answered one. Returns
// REQUEST_NONE if the loss was `announced` (the worker had answered that it would end), if the worker had nothing to
// do, or if it was counting several tasks, which are then counted again one by one.
struct policy_request policy_gpu_lost(struct policy *, size_t gpu, bool announced);

// Reports that a GPU is lost with its node. Returns whether its candidate may be retried. The answer is false if too
// many nodes have been lost while they measured the candidate. Call this before policy_gpu_lost.
bool policy_lost_with_node(struct policy *, size_t gpu);

// Reports that the worker of a task was ended from outside. The task may not be at fault, so it waits for a worker
// again. A task that was running on a GPU (`begun`) gets one retry. A task that had not begun on a GPU, or that was
// being compiled, gets ENDED_MOST retries. Returns false if these retries are used up. If the worker was a compiler, it
// is idle again.
bool policy_try_again(struct policy *, struct queued_task *, bool begun);

// Reports that a compiler was lost with its node. Its task waits again, without a limit on the number of retries.
void policy_compiler_gone(struct policy *, struct queued_task *);
// Reports that the final's GPU was lost with its node. Another GPU runs the final from the beginning.
void policy_move_final(struct policy *);

// Sets whether there is a reference from now on. It is measured when a GPU joins, and when the search ends unless it
// was measured just before. In between, a GPU measures it again only after POLICY_CHECK_SECONDS, and only after
// POLICY_CHECK_SHARE times the duration of the last measurement. It is never measured in lockstep, or while there is
// only one GPU.
void policy_use_reference(struct policy *, bool);
void policy_check_again(struct policy *, size_t gpu);  // checks this GPU at once
void policy_check_device(struct policy *, size_t gpu); // reports that the GPU is a different device now

// Ends the search in an orderly way: only work that is already on a GPU is finished.
void policy_interrupt(struct policy *);

// Whether the search would have ended even with more time.
bool policy_exhausted(const struct policy *);
