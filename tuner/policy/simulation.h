// A run in simulated time: the driver's own decisions (policy.h), carried out by workers that take as long as the
// caller says. Nothing is compiled, launched or waited for, and no clock is read, so that the same calls give the same
// run. The bench simulates searches with it (tuner/simulate/simulate.h), tests the policy.
//
//     simulation_init(s, settings, calls)
//     while (simulation_decide(s) && simulation_step(s)) ..
#pragma once

#include "tuner/policy/policy.h"

struct simulation;

// What the caller knows of tasks. Every function gets the simulation, which is the caller's struct's first member.
struct simulation_calls {
    void (*propose)(struct simulation *); // policy_add, or policy_no_proposal
    // A task is given to a compiler: the seconds that it takes.
    double (*compile)(struct simulation *, struct queued_task *);
    // A compiler is done: policy_compiled; for what does not compile, policy_reported and policy_remove.
    void (*compiled)(struct simulation *, struct queued_task *);
    // A request is at the head of a GPU's queue: the seconds that it takes.
    double (*begin)(struct simulation *, const struct policy_request *);
    // The worker answered, or the request killed it: each task is to be reported, and policy_countable or
    // policy_remove.
    void (*answered)(struct simulation *, const struct policy_request *, bool lost);
    void (*gone)(struct simulation *, const struct policy_action *); // RECALL, DROP, FORGET: policy_remove
    void (*rank)(struct simulation *); // sets promises; NULL unless the settings say that the strategy ranks
    bool (*kills)(struct simulation *, const struct policy_request *);  // the request kills the worker; NULL: never
    void (*decided)(struct simulation *, const struct policy_action *); // every action, before it is done; may be NULL
};

struct simulation {
    struct policy policy;
    const struct simulation_calls *calls;
    double now;          // s
    double *compiled_at; // when each compiler is done; INFINITY: idle
    double *answered_at; // when each GPU answers
    double *busy;        // s that each GPU worked, to the answers so far
    bool done;
};

void simulation_init(struct simulation *, const struct policy_settings *, const struct simulation_calls *);
void simulation_release(struct simulation *);

// Carries out all that can be done now. False when the policy is done.
bool simulation_decide(struct simulation *);
// The next thing that happens. False when nothing will.
bool simulation_step(struct simulation *);

// For what the caller makes happen: the head of a GPU's queue is answered now, its worker is lost now (it is not ready
// before policy_gpu_ready), a compiler is done now.
void simulation_gpu_answers(struct simulation *, size_t gpu);
void simulation_gpu_lost(struct simulation *, size_t gpu, bool announced);
void simulation_compiler_answers(struct simulation *, size_t compiler);
