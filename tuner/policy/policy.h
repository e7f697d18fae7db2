// What a run does next: which proposal is compiled by whom, how far ahead, what is measured on which GPU, when a batch
// is counted, when the search ends and the final begins. Pure: the clock and the events are passed in, and the
// decisions are carried out elsewhere (tune.c on real workers; a test or a simulation in its own time), so that
// replaying the same events gives the same decisions.
//
//     policy_begin(p, now)
//     loop:
//         action = policy_next(p, now)          until it is POLICY_WAIT: carry it out
//         something happens                     policy_compiled, policy_gpu_answered, policy_gpu_lost, ..
//     until POLICY_DONE
//
// Where there are several GPUs, each measures one candidate, the reference, when it joins and now and then
// (POLICY_CHECK), so that the caller can compare them.
//
// Proposals run ahead of the GPUs by as much as look_ahead.h finds in the times so far. Where a kernel is slow and the
// strategy can rank waiting candidates, it does so when a GPU becomes free: the most promising is measured first, and
// those without a chance are forgotten as long as another waits, at most a quarter as many as are measured.
//
// Every task that was added is in the hands of the policy until policy_remove; its memory is the caller's. A request
// goes to one GPU, whose worker answers requests in order, a few of which it holds so that it never waits. A worker
// that is lost costs only the request at the head of its queue; the requests after it are given out again.
//
// In lockstep (replay) nothing overlaps: a fixed number of proposals is compiled, then one is measured and reported,
// then the strategy is asked for the next. The sequence of asks and tells then depends on seed and results alone, so
// that a run that was killed and resumed, which answers known configurations from the store, goes the same way as one
// that was not.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "search/model/stop.h"
#include "tuner/policy/look_ahead.h"
#include "tuner/policy/task_queue.h"

enum {
    POLICY_GPU_QUEUE = 2,    // requests that a GPU worker holds, so that it never waits for the driver
    POLICY_COUNT_BATCH = 96, // counted in one profiler session, whose opening costs as much as counting 30 candidates
    POLICY_LOCKSTEP_WINDOW = 8,
    POLICY_CHECK_SECONDS = 60,
    POLICY_CHECK_SHARE = 50, // a check takes at most 1/50 of a GPU's time
    POLICY_CHECK_LATE = 20,  // at the search's end it is due after so many times as long as it takes
    POLICY_NODES_LOST = 3,   // with a candidate on one of their GPUs, before it is doubted
};

struct policy_settings {
    bool lockstep;
    bool ranks; // the strategy can rank
    size_t compilers, gpus;
    double time;         // s from policy_begin; 0: no limit
    double latest;       // s from policy_begin after which nothing is counted once the search is over; 0: no limit
    int64_t evaluations; // in all, those reported before the search included; 0: no limit
    struct stop_rules stop;
};

enum request_kind { REQUEST_NONE, REQUEST_TRIAL, REQUEST_COUNT, REQUEST_FINAL, REQUEST_CHECK };

struct policy_request {
    enum request_kind kind;
    size_t task_count; // one of a trial; a batch; none of the final and of a check
    struct queued_task **tasks;
};

struct policy_gpu {
    bool ready;
    double since; // when the head of the queue began
    size_t queued;
    struct policy_request queue[POLICY_GPU_QUEUE];
    bool checking, check_again;    // the reference is in the queue; it is due at once
    bool checked;                  // it was measured here
    double checked_at, check_took; // when, and s
    size_t unchecked;              // trials since then
};

struct policy_compiler {
    struct queued_task *task; // NULL: idle
    bool absent;              // it gets nothing
};

struct policy {
    struct policy_settings settings;
    struct task_queue queue;
    struct policy_gpu *gpus;
    struct policy_compiler *compilers;
    struct stop stop; // stop.evaluations: configurations that have a result
    struct look_ahead ahead;
    double started, now;
    size_t measured, forgotten; // trials that a GPU answered; ready ones that were given up
    bool ranked;                // the promises of what waits are up to date
    enum search_end end;
    bool interrupted;
    bool no_proposal; // the strategy had none; it is asked again after the next result
    bool deciding;    // in the final
    bool final_sent, final_over;
    size_t final_gpu; // that decides; POLICY_NO_WORKER before it was sent
    bool checks;      // there is a reference
};

enum policy_action_kind {
    POLICY_WAIT,    // nothing to do before the next event, or the time `until`
    POLICY_PROPOSE, // ask the strategy: policy_add, or policy_no_proposal
    POLICY_COMPILE, // `task` on compiler `worker`: policy_compiled, or policy_remove where it failed
    POLICY_RECALL,  // `task` has a result in the store: tell it, policy_remove
    POLICY_RANK,    // set the promise of every trial in state READY (policy_waiting), from all that the strategy knows
    POLICY_FORGET,  // `task` will not be measured, and may be proposed again: tell the strategy, policy_remove
    POLICY_MEASURE, // `task` on GPU `worker`
    POLICY_COUNT,   // `request->tasks` on GPU `worker`
    POLICY_CHECK,   // the reference, on GPU `worker`
    POLICY_FINAL,   // the tasks in state FINAL, on GPU `worker`
    POLICY_DROP,    // `task` will not be measured: stop compiler `worker` unless it is POLICY_NO_WORKER, policy_remove
    POLICY_DONE,    // the search is over, or the final
};

#define POLICY_NO_WORKER ((size_t)-1)

struct policy_action {
    enum policy_action_kind kind;
    size_t worker;
    struct queued_task *task;
    const struct policy_request *request; // borrowed, until the GPU's next event
    double until;                         // of POLICY_WAIT; INFINITY: events alone
};

void policy_init(struct policy *, const struct policy_settings *);
void policy_release(struct policy *);
// There are more workers; those that there were keep their numbers. New GPUs are not ready, new compilers are there.
void policy_grow(struct policy *, size_t compilers, size_t gpus);
// Whether a compiler takes requests: its node may be gone.
void policy_compiler_there(struct policy *, size_t compiler, bool there);

void policy_begin(struct policy *, double now);                 // the search
void policy_skip_search(struct policy *);                       // only what is to be counted is done
void policy_limit(struct policy *, double time, double latest); // the settings of these names
void policy_begin_final(struct policy *);    // after the search, or another final; the finalists are added before
void policy_continue_final(struct policy *); // after policy_begin_final's is over: once more, on the same GPU
struct policy_action policy_next(struct policy *, double now);
// Sets the time of everything that is reported until the next call.
void policy_clock(struct policy *, double now);

// Proposals.
void policy_add(struct policy *, struct queued_task *, enum task_purpose, enum task_known);
void policy_no_proposal(struct policy *, bool exhausted);
// A configuration has a result, whether it was proposed or not: its objective (s), NaN for a failure.
void policy_reported(struct policy *, double objective);

// The trials in state READY, which a ranking is about. malloc'ed.
struct queued_task **policy_waiting(const struct policy *, size_t *count);

// A task is compiled. Its compiler is idle again.
void policy_compiled(struct policy *, struct queued_task *);
// A task is measured, and is to be counted.
void policy_countable(struct policy *, struct queued_task *);
// A task is done with, whatever came of it. It must not be part of a request.
void policy_remove(struct policy *, struct queued_task *);

// A GPU's worker is set up.
void policy_gpu_ready(struct policy *, size_t gpu);
// The head of a GPU's queue is answered. Returns it; the caller frees `tasks`, and ends each of them with
// policy_countable or policy_remove.
struct policy_request policy_gpu_answered(struct policy *, size_t gpu);
// A GPU's worker is lost. Returns the request at fault, to be handled as if it was answered. REQUEST_NONE when
// `announced` (the worker had answered that it would end), when it had nothing to do, and when it was counting several
// tasks: these are counted again, each alone.
struct policy_request policy_gpu_lost(struct policy *, size_t gpu, bool announced);

// A GPU is lost with its node. Whether its candidate may be retried: one that has now taken too many nodes with it
// is not. Before policy_gpu_lost.
bool policy_lost_with_node(struct policy *, size_t gpu);

// The worker that a task was with was ended from outside: the task, which may not be at fault, goes back to where it
// waited for the worker. Once if it ran there, ENDED_MOST times if a compiler had it or if it had not begun (`begun`).
// False when that is used up. A task that was with a compiler frees it.
bool policy_try_again(struct policy *, struct queued_task *, bool begun);

// A compiler was lost with its node: its task waits again, as often as it takes.
void policy_compiler_gone(struct policy *, struct queued_task *);
// The final's GPU was lost with its node: another one decides, from the beginning.
void policy_move_final(struct policy *);

// Whether there is a reference from now on. One measurement of it when a GPU joins; then at most one in
// POLICY_CHECK_SECONDS, and in so many times as long as it takes; and when the search ends, unless the last was just
// before. Never in lockstep, nor as long as there is one GPU.
void policy_use_reference(struct policy *, bool);
void policy_check_again(struct policy *, size_t gpu);  // at once
void policy_check_device(struct policy *, size_t gpu); // another device is there

// Ends the search in order: what is on a GPU is finished, nothing else.
void policy_interrupt(struct policy *);

// Whether more time would be useless.
bool policy_exhausted(const struct policy *);
