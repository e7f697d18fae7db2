// A run in simulated time: the driver's own decisions (policy.h), carried out by workers whose durations the caller
// sets. Nothing is compiled, launched or waited for, and no clock is read, so the same calls give the same run. The
// bench simulates searches with it (tuner/simulate/simulate.h), and tests exercise the policy with it.
//
//     simulation_init(s, settings, calls)
//     while (simulation_decide(s) && simulation_step(s)) ..
#pragma once

#include "tuner/policy/policy.h"

struct simulation;

// Callbacks that supply the caller's knowledge about tasks. Each gets the simulation, which is the first member of the
// caller's struct.
struct simulation_calls {
    void (*propose)(struct simulation *); // policy_add, or policy_no_proposal
    // Called when a task is given to a compiler. Returns the seconds that it takes.
    double (*compile)(struct simulation *, struct queued_task *);
    // Called when a compiler is done. Calls policy_compiled, or policy_reported and policy_remove if the task does not
    // compile.
    void (*compiled)(struct simulation *, struct queued_task *);
    // Called when a request has reached the head of a GPU's queue. Returns the seconds that it takes.
    double (*begin)(struct simulation *, const struct policy_request *);
    // Called when the worker has answered or the request killed it. Reports each task, and calls policy_countable or
    // policy_remove.
    void (*answered)(struct simulation *, const struct policy_request *, bool lost);
    void (*gone)(struct simulation *, const struct policy_action *); // RECALL, DROP, FORGET: policy_remove
    void (*rank)(struct simulation *); // rates waiting tasks; NULL unless the settings say that the strategy ranks
    bool (*kills)(struct simulation *, const struct policy_request *);  // the request kills the worker; NULL: never
    void (*decided)(struct simulation *, const struct policy_action *); // every action, before it is done; may be NULL
};

struct simulation {
    struct policy policy;
    const struct simulation_calls *calls;
    double now;          // s
    double *compiled_at; // when each compiler is done; INFINITY: idle
    double *answered_at; // when each GPU answers
    double *busy;        // s that each GPU worked for the answers so far
    bool done;
};

void simulation_init(struct simulation *, const struct policy_settings *, const struct simulation_calls *);
void simulation_release(struct simulation *);

// Carries out everything that can be done now. Returns false when the policy is done.
bool simulation_decide(struct simulation *);
// Advances to the next event. Returns false if there will be none.
bool simulation_step(struct simulation *);

// These trigger an event now: a GPU answers the head of its queue, a GPU's worker is lost, or a compiler is done. A
// lost worker is not ready again before policy_gpu_ready.
void simulation_gpu_answers(struct simulation *, size_t gpu);
void simulation_gpu_lost(struct simulation *, size_t gpu, bool announced);
void simulation_compiler_answers(struct simulation *, size_t compiler);
