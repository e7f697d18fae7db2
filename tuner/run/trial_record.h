// A candidate's trial as it goes into the store: what the compiler, the driver and the GPU worker know of it, put
// together. Which figures these are is the table of fields (tuner/trial/trial_field.h).
#pragma once

#include "tuner/job/job.h"
#include "tuner/protocol/count_message.h"
#include "tuner/protocol/trial_message.h"
#include "tuner/setup/task.h"
#include "tuner/trial/trial.h"

// The sources of a trial record.
struct trial_facts {
    const struct job *job;
    const struct device_limits *limits;
    const struct task *task;           // without a device_id, no GPU had it
    const struct trial_answer *answer; // the GPU worker's; NULL where there is none
    struct arena *memory;              // what the answer points to: the record takes it
    bool counts;                       // an ok trial will be counted
};

struct trial_record {
    struct trial trial;
    double times[JOB_MAX_PROBLEMS]; // of the tuned problems; NaN where there is none
    struct arena memory;
};

// The trial, with everything but its id and its counters. A trial that is called ok and has no time is crashed. The
// record borrows from job and task, not from the reason or the GPU's id. The caller releases its
// memory.
void trial_record_make(struct trial_record *, const struct trial_facts *, enum trial_status, const char *reason);

// The counters in an answer for one trial (NULL: none); `keys` are those that the worker promised, in order. NULL with
// *count 0 where there is none; the caller frees.
struct trial_counter *trial_record_counters(const struct counted_trial *answer, const char *const *keys,
                                            size_t key_count, size_t *count);
