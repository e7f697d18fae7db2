// The tasks of a run, in the order in which they were added, with the state of each. The list knows nothing about
// configurations: callers embed a struct queued_task in their own struct.
//
//     QUEUED -> COMPILING -> READY -> ON_GPU -> COUNTABLE -> COUNTING
//                     |
//                     +----> COUNTABLE, FINAL (for a task that is only counted, or only compiled for the final)
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum task_state {
    TASK_QUEUED,
    TASK_COMPILING,
    TASK_READY,
    TASK_ON_GPU,
    TASK_COUNTABLE,
    TASK_COUNTING,
    TASK_FINAL,
    TASK_STATES
};
enum task_purpose {
    TASK_TRIAL,    // to be measured
    TASK_COUNT,    // measured in an earlier run, to be counted
    TASK_FINALIST, // to be compiled for the final
    TASK_PURPOSES
};
// Whether an earlier run has a result for the configuration.
enum task_known { TASK_UNKNOWN, TASK_KNOWN_TO_FAIL_BEFORE_GPU, TASK_KNOWN_FROM_GPU };

struct queued_task {
    enum task_state state; // set only by task_queue_move
    enum task_purpose purpose;
    enum task_known known;
    bool alone;    // to be counted by itself, because it may have killed a worker
    bool again;    // its GPU worker was ended from outside while the task ran; this used up its retry
    int ended;     // how often its worker was ended from outside in other cases
    bool retry;    // it crashed in the search, and is measured again although the search has ended
    int lost;      // nodes that were lost while it was on one of their GPUs
    size_t worker; // the compiler or the GPU that works on it, in the states COMPILING, ON_GPU and COUNTING
    double since;  // when its compiler began
    // The strategy's rating while the task waits, set when POLICY_RANK is carried out. The task with the highest rating
    // is measured first; a task with a rating below 0 need not be measured at all.
    double acquisition;
};

struct task_queue {
    size_t count;
    struct queued_task **tasks; // borrowed
    size_t numbers[TASK_PURPOSES][TASK_STATES];
};

void task_queue_add(struct task_queue *, struct queued_task *, enum task_purpose, enum task_known); // as QUEUED
void task_queue_remove(struct task_queue *, struct queued_task *);
void task_queue_move(struct task_queue *, struct queued_task *, enum task_state);
size_t task_queue_count(const struct task_queue *, enum task_state);
struct queued_task *task_queue_first(const struct task_queue *, enum task_state); // or NULL
size_t task_queue_outstanding(const struct task_queue *);                         // trials that have no result yet
