// A task is one configuration on its way through a run, or a finalist on its way through the final:
//
//     ask -> QUEUED -> COMPILING -> READY -> ON_GPU -> committed, reported -> COUNTABLE -> COUNTING -> done
//                          |          |         |
//                          +----------+---------+--> a failure is committed and reported too
#pragma once

#include "search/space/space.h"
#include "tuner/policy/policy.h"
#include "tuner/setup/request.h"

struct task {
    struct queued_task queued; // the policy's part; first, so that a pointer to it also points to the task
    uint16_t config[SPACE_MAX_PARAMETERS];
    char *text;    // canonical
    int64_t trial; // id in the store once committed
    bool by_nvcc;  // nvcc's build, in the comparison of builds
    struct compiled compiled;
    json_t *problems; // as in the trial request
    struct planned_launch *launches;
    size_t launch_count;
    double objective;      // NaN: unknown
    const char *device_id; // uuid of the GPU that measured it; owned by the slot
};

// Creates the task of a configuration and hands it to the policy.
struct task *task_add(struct policy *, const struct space *, const uint16_t *config, enum task_purpose,
                      enum task_known);
void task_drop(struct policy *, struct task *); // removes it from the policy and frees it
void task_free_all(struct policy *);            // frees the tasks that are left, before policy_release
// Whether the configuration has a trial that is still without a result.
bool task_in_flight(const struct policy *, const struct space *, const uint16_t *config);
